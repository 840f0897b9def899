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
