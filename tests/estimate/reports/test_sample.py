"""One value says how the sample was drawn, wherever it is taken."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal import Sample

M = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
REPORTS = ["a", "b", "c", "a"] * 30
FRAME = pd.DataFrame(
    {
        "answer": REPORTS,
        "w": np.arange(1.0, 121),
        "region": np.where(np.arange(120) // 5 % 3 == 0, "n", "s"),
        "school": np.arange(120) // 5,
        "yes": ["no", "yes"] * 60,
        "z": np.arange(120) % 7 - 3.0,
    }
)
DESCRIBED: list[dict[str, Any]] = [
    {"weights": "w"},
    {"strata": "region"},
    {"cluster": "school"},
    {"strata": "region", "cluster": FRAME["school"], "weights": FRAME["w"]},
    {"strata": "region", "population": {"n": 1000, "s": 3000}},
    {"population": 500},
]


@pytest.mark.parametrize("described", DESCRIBED)
def test_keywords_make_a_sample(described: dict[str, Any]) -> None:
    by_keyword = ex.estimate_frequencies(FRAME, M, column="answer", **described)
    by_value = ex.estimate_frequencies(FRAME, M, column="answer", sample=Sample(**described))
    assert by_value.estimate.tolist() == by_keyword.estimate.tolist()
    assert by_value.interval().tolist() == by_keyword.interval().tolist()


def test_a_sample_stands_alone() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="weights cannot be given beside sample"):
        ex.estimate_frequencies(FRAME, M, column="answer", weights="w", sample=Sample(strata="region"))
    with pytest.raises(ex.errors.InvalidParameter, match="sample must be a Sample; got sample='dict'"):
        ex.estimate_frequencies(FRAME, M, column="answer", sample={"weights": "w"})  # type: ignore[call-overload]


def test_weights_of_a_sample_are_used_by_every_estimator() -> None:
    drawn, mean = Sample(weights="w"), ex.Mean([0, 1, 5])
    yes = ex.randomized_response(2, 1, inputs=["no", "yes"])
    workload = ex.estimate_workload(FRAME, M, mean, column="answer", sample=drawn)
    assert workload.estimate == ex.estimate_workload(FRAME, M, mean, column="answer", weights="w").estimate
    columns = {"answer": M, "yes": yes}
    table = ex.estimate_crosstab(FRAME, columns, sample=drawn)
    assert table.estimate.tolist() == ex.estimate_crosstab(FRAME, columns, weights="w").estimate.tolist()
    fitted = ex.regress("yes ~ z", FRAME, yes, sample=drawn)
    assert fitted.values.tolist() == ex.regress("yes ~ z", FRAME, yes, "w").values.tolist()


def test_an_iterator_is_read_once() -> None:
    listed = ex.estimate_frequencies(REPORTS, M, cluster=FRAME["school"].tolist())
    once = ex.estimate_frequencies(iter(REPORTS), M, cluster=FRAME["school"].tolist())
    assert once.standard_error.tolist() == listed.standard_error.tolist()


def test_missing_reports_may_be_dropped_from_a_sample() -> None:
    gone = FRAME.assign(answer=[None, *REPORTS[1:]])
    found = ex.estimate_frequencies(gone, M, column="answer", missing="drop", cluster="school")
    kept = ex.estimate_frequencies(gone[1:], M, column="answer", cluster="school")
    assert found.fit.observed.dropped == 1
    assert found.standard_error.tolist() == kept.standard_error.tolist()


def test_labels_that_do_not_occur_are_not_asked_for() -> None:
    years = ex.randomized_response(2, 1, inputs=[3, 7])
    reports = np.array([3, 7, 7, 3, 7, 3])
    clustered = ex.estimate_frequencies(reports, years, cluster=np.arange(6) // 2)
    assert clustered.estimate == pytest.approx(ex.estimate_frequencies(reports, years).estimate)


def test_a_sample_is_not_read_from_a_file_or_a_plan(tmp_path: Any) -> None:
    pl = pytest.importorskip("polars")
    with pytest.raises(ex.errors.InvalidParameter, match="strata and clusters cannot be read from a file.*data frame"):
        ex.estimate_frequencies(tmp_path / "reports.csv", M, column="answer", strata="region")
    plan = pl.LazyFrame({"answer": REPORTS, "region": FRAME["region"].tolist()})
    with pytest.raises(ex.errors.InvalidParameter, match="reports must be in memory.*collect"):
        ex.estimate_frequencies(plan, M, column="answer", strata="region", population={"n": 1000, "s": 3000})


def test_a_cluster_lies_in_one_stratum() -> None:
    again = FRAME.assign(number=FRAME["school"] % 8)  # starts again in each region
    with pytest.raises(
        ex.errors.InvalidParameter, match=r"8 clusters make 16 combinations.*\(\"stratum\", \"cluster\"\)"
    ):
        ex.estimate_frequencies(again, M, column="answer", strata="region", cluster="number")
    with pytest.raises(ex.errors.InvalidParameter, match="every cluster must lie in one stratum"):
        ex.regress("yes ~ z", again, ex.randomized_response(["no", "yes"], 1), sample=Sample(None, "region", "number"))
    pairs = list(zip(again["region"], again["number"], strict=True))
    by_hand = ex.estimate_frequencies(again, M, column="answer", strata="region", cluster=pairs)
    for cluster in (("region", "number"), ["region", "number"]):
        named = ex.estimate_frequencies(again, M, column="answer", strata="region", cluster=cluster)
        assert named.standard_error.tolist() == by_hand.standard_error.tolist()
        assert named.sample == by_hand.sample
    assert "16 clusters" in by_hand.sample


def test_several_columns_are_strata_together() -> None:
    joint = ex.estimate_frequencies(
        FRAME,
        M,
        column="answer",
        strata=("region", "yes"),
        population={(region, yes): 100 for region in "ns" for yes in ("no", "yes")},
    )
    assert "4 strata" in joint.sample
    with pytest.raises(ex.errors.InvalidParameter, match="strata must have 120 entries.*Several names.*all there"):
        ex.estimate_frequencies(FRAME, M, column="answer", strata=["region", "yess"])
    rows = ["region", "yes"] * 60  # as many as reports: the column itself, though frames have such names
    assert "2 strata" in ex.estimate_frequencies(FRAME, M, column="answer", strata=rows).sample


def test_raking_again_keeps_the_margins_before() -> None:
    yes, region = {"no": 0.3, "yes": 0.7}, {"n": 0.5, "s": 0.5}
    once = Sample(weights="w").raked({"yes": yes, "region": region})
    twice = Sample(weights="w").raked({"yes": yes}).raked({"region": region})
    whole, parts = (ex.estimate_frequencies(FRAME, M, column="answer", sample=one) for one in (once, twice))
    assert parts.estimate.tolist() == whole.estimate.tolist()
    assert parts.standard_error.tolist() == whole.standard_error.tolist()
    with pytest.raises(ex.errors.InvalidParameter, match="raked to a margin only once; got margins=\"margins\\['yes'"):
        twice.raked({"yes": yes})


def test_a_margin_is_its_totals_or_a_pair() -> None:
    for given in ((FRAME["yes"],), (), (1, 2, 3)):
        with pytest.raises(ex.errors.InvalidParameter, match="or the pair of a column and its totals"):
            Sample().raked({"yes": given})
    with pytest.raises(ex.errors.InvalidParameter, match=r"margins\['sex'\] must be the name of a column"):
        ex.estimate_frequencies(FRAME, M, column="answer", sample=Sample().raked({"sex": {"f": 1, "m": 1}}))
    gone = FRAME.assign(yes=FRAME["yes"].where(np.arange(120) != 7, None))
    with pytest.raises(ex.errors.InvalidParameter, match=r"margins\['yes'\]\[7\] must not be missing"):
        ex.estimate_frequencies(gone, M, column="answer", sample=Sample().raked({"yes": {"no": 1, "yes": 1}}))


def test_columns_may_be_called_by_whole_numbers() -> None:
    numbered = FRAME.set_axis(range(FRAME.shape[1]), axis="columns")
    drawn = Sample(weights=1, strata=2, cluster=3).raked({4: {"no": 1, "yes": 2}})
    found = ex.estimate_frequencies(numbered, M, column=0, sample=drawn)  # type: ignore[call-overload]
    named = Sample(weights="w", strata="region", cluster="school").raked({"yes": {"no": 1, "yes": 2}})
    expected = ex.estimate_frequencies(FRAME, M, column="answer", sample=named)
    assert found.standard_error.tolist() == expected.standard_error.tolist()
    with pytest.raises(ex.errors.InvalidParameter, match="weights must be the name of a column; got weights=9"):
        ex.estimate_frequencies(numbered, M, column=0, weights=9)  # type: ignore[call-overload]


def test_missing_reports_may_be_an_answer_of_a_raked_sample() -> None:
    gone = FRAME.assign(answer=[None, *REPORTS[1:]])
    raked = Sample(weights="w").raked({"yes": {"no": 1, "yes": 3}})
    found = ex.estimate_frequencies(gone, M, column="answer", missing="category", sample=raked)
    filled = ["(missing)", *REPORTS[1:]]
    wider = np.zeros((4, 4))
    wider[:3, :3], wider[3, 3] = M.matrix, 1
    told = ex.Mechanism.from_matrix(wider, inputs=["a", "b", "c", "(missing)"], outputs=["a", "b", "c", "(missing)"])
    expected = ex.estimate_frequencies(FRAME.assign(answer=filled), told, column="answer", sample=raked)
    assert found.estimate.tolist() == expected.estimate.tolist()
    assert found.standard_error.tolist() == expected.standard_error.tolist()


YES_NO = ex.randomized_response(["no", "yes"], 1)
PEOPLE = pd.DataFrame(
    {
        "x": ["no", "yes"] * 100,
        "y": ["no", "no", "yes", "yes"] * 50,
        "w": np.arange(200) % 7 + 0.5,
        "c": np.arange(200) // 10,
    }
)
REPLICATES = PEOPLE[["w"]].to_numpy() * np.random.default_rng(1).uniform(0.5, 1.5, (200, 6))


def _shuffled(column: Any, seed: int) -> Any:
    return column.sample(frac=1, random_state=seed)


def test_columns_of_a_mapping_are_matched_by_their_index() -> None:
    both = {"x": YES_NO, "y": YES_NO}
    right = ex.estimate_crosstab(PEOPLE, both, weights="w")
    mapping = {name: _shuffled(PEOPLE[name], i) for i, name in enumerate(PEOPLE)}
    for weights in ("w", PEOPLE["w"], mapping["w"]):
        found = ex.estimate_crosstab(mapping, both, weights=weights)
        assert found.estimate == pytest.approx(right.estimate)
        assert found.bse.to_numpy() == pytest.approx(right.bse.to_numpy())
    clusters = ex.Sample(cluster=mapping["c"])
    change = ex.estimate_change(PEOPLE, "x", "y", YES_NO, sample=ex.Sample(cluster="c"))
    assert ex.estimate_change(mapping, "x", "y", YES_NO, sample=clusters).bse.tolist() == pytest.approx(
        change.bse.tolist()
    )
    table = pd.DataFrame(REPLICATES)
    by_row = ex.Sample(weights="w", replicate_weights={"bootstrap": table})
    shuffled = ex.Sample(weights="w", replicate_weights={"bootstrap": _shuffled(table, 9)})
    expected = ex.estimate_crosstab(PEOPLE, both, sample=by_row).bse.tolist()
    assert ex.estimate_crosstab(mapping, both, sample=shuffled).bse.tolist() == pytest.approx(expected)
    independent = ex.test_independence(PEOPLE, both, sample=ex.Sample(cluster="c")).p_value
    assert ex.test_independence(mapping, both, sample=clusters).p_value == pytest.approx(independent)


def test_a_questionnaire_reads_a_mapping_as_it_reads_a_frame() -> None:
    asked = ex.Questionnaire({"x": YES_NO, "y": YES_NO})
    mapping = {name: _shuffled(PEOPLE[name], i) for i, name in enumerate(PEOPLE)}
    records = PEOPLE.to_dict("records")
    right = asked.estimate(PEOPLE, weights="w", cluster="c")["y"].bse.tolist()
    for given in (mapping, records):
        assert asked.estimate(given, weights="w", cluster="c")["y"].bse.tolist() == pytest.approx(right)
        told = ex.Sample(weights="w", cluster="c")
        assert asked.estimate(given, sample=told)["y"].bse.tolist() == pytest.approx(right)
    by_index = asked.estimate(mapping, weights=_shuffled(PEOPLE["w"], 5), cluster=PEOPLE["c"])["y"]
    assert by_index.bse.tolist() == pytest.approx(right)
    by = asked.estimate(mapping, by=_shuffled(PEOPLE["c"], 6))["y"]
    assert by[3].params.tolist() == pytest.approx(asked.estimate(PEOPLE, by="c")["y"][3].params.tolist())
    cells = asked.crosstab(PEOPLE, "x", "y").estimate
    assert asked.crosstab(mapping, "x", "y").estimate == pytest.approx(cells)
    with pytest.raises(ex.errors.InvalidParameter, match="columns must be of one length"):
        asked.estimate_one({"x": ["no"] * 3, "g": ["a"] * 2}, "x", by="g")


def test_columns_whose_order_nobody_knows_are_refused() -> None:
    both, x, y = {"x": YES_NO, "y": YES_NO}, PEOPLE["x"], _shuffled(PEOPLE["y"], 1)
    again = [i // 2 for i in range(200)]
    for mapping in (
        {"x": x, "y": y.set_axis(range(200, 400))},
        {"x": x, "y": y[:100]},
        {"x": x.set_axis(again), "y": y.set_axis(again[::-1])},
        {"x": x, "y": y, "z": ["a plain list"] * 200},
    ):
        with pytest.raises(ex.errors.InvalidParameter, match="y must have the index of the reports.*Reindex"):
            ex.estimate_crosstab(mapping, both)
    assert ex.estimate_crosstab({"x": x.set_axis(again), "y": PEOPLE["y"].set_axis(again)}, both).n == 200
    weights, plain = PEOPLE["w"], x.tolist()
    for sample in (
        ex.Sample(weights=weights, cluster=_shuffled(PEOPLE["c"], 1)),
        ex.Sample(weights=weights).raked({"y": (y, {"no": 1, "yes": 1})}),
        ex.Sample(weights=weights, replicate_weights={"bootstrap": _shuffled(pd.DataFrame(REPLICATES), 1)}),
    ):
        with pytest.raises(ex.errors.InvalidParameter, match="must have the index of the reports"):
            ex.estimate_frequencies(plain, YES_NO, sample=sample)
    with pytest.raises(ex.errors.InvalidParameter, match=r"by\[0\] must have the index"):
        ex.estimate_frequencies(plain, YES_NO, by=y, weights=weights)
    groups = ex.estimate_frequencies(x, YES_NO, by=[y, _shuffled(PEOPLE["c"], 2)])
    assert groups["no", 0].n == ex.estimate_frequencies(PEOPLE, YES_NO, column="x", by=["y", "c"])["no", 0].n


def test_a_population_is_numbers_and_no_column() -> None:
    for population in ([1000], np.full(200, 1000), pd.Series([500, 500], index=["a", "a"])):
        with pytest.raises(ex.errors.InvalidParameter, match="single numbers, and no column"):
            ex.estimate_frequencies(PEOPLE["x"], YES_NO, population=population)
    by = ex.estimate_frequencies(PEOPLE, YES_NO, column="x", by="y")
    with pytest.raises(ex.errors.InvalidParameter, match="map each stratum to its size, once"):
        by.poststratified(pd.Series([1, 2, 3], index=["no", "yes", "no"]))
    twice = pd.DataFrame(REPLICATES[:, :2], columns=["r", "r"])
    with pytest.raises(ex.errors.InvalidParameter, match="not of several: 'r' appears 2 times"):
        ex.estimate_frequencies(
            PEOPLE["x"], YES_NO, sample=ex.Sample(weights=PEOPLE["w"], replicate_weights={"bootstrap": twice})
        )
