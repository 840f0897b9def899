"""Counts are matched by label, columns by index; what could be read in two ways is refused."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import extremal as ex
from extremal.estimate.reports.counts import whole_counts

M = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
REPORTS = pd.Series(["c"] * 500 + ["a"] * 300 + ["b"] * 200)
EXPECTED = ex.estimate_frequencies(REPORTS, M).estimate


def test_value_counts_are_matched_by_label_whatever_their_order() -> None:
    for counts in (REPORTS.value_counts(), REPORTS.value_counts().sort_index(), REPORTS.value_counts(ascending=True)):
        assert ex.estimate_frequencies(counts, M, counts=True).estimate.tolist() == EXPECTED.tolist()
    with pytest.raises(ex.errors.UnknownLabel, match="that is no label"):
        ex.estimate_frequencies(pd.Series([3, 4], index=["a", "z"]), M, counts=True)


def test_value_counts_are_not_taken_for_reports() -> None:
    numbers = ex.randomized_response(3, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="value_counts\\(\\) holds counts.*counts=True"):
        ex.estimate_frequencies(pd.Series([0] * 3 + [1] * 2 + [2]).value_counts(), numbers)


def test_a_frame_of_counts_names_its_column() -> None:
    table = REPORTS.value_counts().rename_axis("report").reset_index(name="n")
    found = ex.estimate_frequencies(table, M, column="report", counts="n")
    assert found.estimate.tolist() == EXPECTED.tolist()
    assert found.n == 1000
    polars = pl.DataFrame({"report": table["report"].tolist(), "n": table["n"].tolist()})
    assert ex.estimate_frequencies(polars, M, column="report", counts="n").estimate.tolist() == EXPECTED.tolist()
    with pytest.raises(
        ex.errors.InvalidParameter, match="every report occurs once beside a column of counts.*counts='n'"
    ):
        ex.estimate_frequencies(table, M, column="report")
    with pytest.raises(ex.errors.InvalidParameter, match="name its columns"):
        ex.estimate_frequencies(table, M, counts=True)
    with pytest.raises(ex.errors.InvalidParameter, match="counts may be a name only for data frames"):
        ex.estimate_frequencies(["a", "b"], M, counts="n")


def test_counts_with_strata_are_those_of_the_raw_reports() -> None:
    raw = pd.DataFrame({"report": REPORTS, "region": ["north", "south"] * 500})
    table = raw.groupby(["region", "report"]).size().reset_index(name="times")
    counted = ex.estimate_frequencies(table, M, column="report", by="region", counts="times")
    plain = ex.estimate_frequencies(raw, M, column="report", by="region")
    for name in ("north", "south"):
        assert counted[name].estimate == pytest.approx(plain[name].estimate)
        assert counted[name].interval() == pytest.approx(plain[name].interval())


def test_weights_and_strata_follow_the_index_of_the_reports() -> None:
    x = pd.Series(["a", "b", "c"] * 100)
    w = pd.Series(np.where(x == "a", 9.0, 1.0))
    right = ex.estimate_frequencies(x, M, weights=w)
    assert ex.estimate_frequencies(x, M, weights=w.sort_values()).estimate == pytest.approx(right.estimate)
    group = pd.Series(np.where(x == "a", "north", "south"))
    shuffled = ex.estimate_frequencies(x, M, by=group.sample(frac=1, random_state=1))
    assert shuffled["north"].n == 100
    assert shuffled["north"].fit.observed.distinct == 1
    with pytest.raises(ex.errors.InvalidParameter, match="weights must have the index of the reports"):
        ex.estimate_frequencies(x, M, weights=pd.Series(np.ones(300), index=range(1, 301)))
    assert ex.estimate_frequencies(x, M, weights=w.to_numpy()[::-1]).n == 300  # an array has no index


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.5, 2], "whole and not negative; got counts\\[0\\]=1.5"),
        ([3, -1], "whole and not negative; got counts\\[1\\]=-1"),
        ([3, float("nan")], "got counts\\[1\\]=nan"),
        ([3, True], "whole"),
        (["3", "x"], "whole numbers"),
        ([[1]], "one column"),
    ],
)
def test_counts_must_be_whole(given: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        whole_counts(np.array(given, dtype=object) if True in given else given)


def test_whole_floats_are_counts_and_a_set_is_no_sample() -> None:
    floats = ex.estimate_frequencies(np.array([300.0, 200.0, 500.0]), M, counts=True)
    assert floats.estimate.tolist() == EXPECTED.tolist()
    with pytest.raises(ex.errors.InvalidParameter, match="a set holds each only once"):
        ex.estimate_frequencies({"a", "b"}, M)


def test_missing_reports() -> None:
    values = ["a", None, "b", "c", "a", None] * 30
    with pytest.raises(ex.errors.InvalidParameter, match="missing"):
        ex.estimate_frequencies(values, M)
    dropped = ex.estimate_frequencies(values, M, missing="drop")
    assert dropped.n == 120
    assert any("60 missing reports were dropped" in note for note in dropped.notes)
    told = ex.estimate_frequencies(values, M, missing="category")
    assert told.inputs[-1] == "(missing)"
    assert told.estimate[-1] == pytest.approx(1 / 3)
    assert told.estimate[:3] == pytest.approx(dropped.estimate * 2 / 3)
    with pytest.raises(ex.errors.InvalidParameter, match="missing must be one of refuse, drop, category"):
        ex.estimate_frequencies(values, M, missing="ignore")
    with pytest.raises(ex.errors.InvalidParameter, match="counts hold no missing"):
        ex.estimate_frequencies({"a": 3}, M, missing="category")


def test_a_stratum_of_one_does_not_stop_the_rest() -> None:
    both = ex.estimate_frequencies(["a"] * 50 + ["b"], M, by=["north"] * 50 + ["south"])
    assert list(both) == ["north"]
    assert both.omitted == {"south": 1}
    assert both.summary().endswith("stratum 'south': not estimated, 1 report")
    with pytest.raises(ex.errors.InvalidParameter, match="at least two reports in some stratum"):
        ex.estimate_frequencies(["a", "b"], M, by=["north", "south"])


YES_NO = ex.randomized_response(["no", "yes"], 2)
TABLE = pd.DataFrame({"y": ["no", "yes", "no", "yes"], "g": ["a", "a", "b", "b"], "count": [60, 40, 30, 70]})
READ = {
    "estimate": lambda f: ex.estimate_frequencies(f[:2], YES_NO, column="y"),
    "by": lambda f: ex.estimate_frequencies(f, YES_NO, column="y", by="g"),
    "by columns": lambda f: ex.estimate_frequencies(f, YES_NO, column="y", by=[f["g"]]),
    "workload": lambda f: ex.estimate_workload(f[:2], YES_NO, ex.Mean([0, 1]), column="y"),
    "crosstab": lambda f: ex.estimate_crosstab(f, {"y": YES_NO, "g": None}),
    "change": lambda f: ex.estimate_change(
        f if not isinstance(f, pd.DataFrame) else f.assign(z=["no", "no", "yes", "yes"]), "y", "z", YES_NO
    ),
    "homogeneity": lambda f: ex.test_homogeneity(f, YES_NO, "g", column="y"),
    "homogeneity, clusters": lambda f: ex.test_homogeneity(
        f, YES_NO, "g", column="y", sample=ex.Sample(cluster=[1, 2, 3, 4])
    ),
    "independence": lambda f: ex.test_independence(f, {"y": YES_NO, "g": None}),
    "independence, clusters": lambda f: ex.test_independence(
        f, {"y": YES_NO, "g": None}, sample=ex.Sample(cluster=[1, 2, 3, 4])
    ),
    "regression": lambda f: ex.regress("y ~ g", f, YES_NO),
    "pool": lambda f: ex.pool([(f[:2], YES_NO), (f[2:], YES_NO)], column="y"),
    "count_reports": lambda f: ex.count_reports(f[:2], "y", YES_NO),
}


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_a_table_of_counts_is_never_read_as_single_rows(read: Any) -> None:
    for frame in (TABLE, TABLE.astype({"count": float}), TABLE.rename(columns={"count": "n"})):
        with pytest.raises(ex.errors.InvalidParameter, match="every report occurs once beside a column of counts"):
            read(frame)


def test_counts_in_other_containers_are_not_read_as_rows() -> None:
    columns = {name: TABLE[name].tolist() for name in TABLE}
    asked = ex.Questionnaire({"y": YES_NO, "z": YES_NO})
    for read in (
        lambda: ex.estimate_crosstab(columns, {"y": YES_NO, "g": None}),
        lambda: ex.estimate_crosstab(pl.DataFrame(columns), {"y": YES_NO, "g": None}),
        lambda: ex.estimate_crosstab(TABLE.astype({"count": "Int64"}), {"y": YES_NO, "g": None}),
        lambda: ex.estimate_frequencies(pl.DataFrame(columns)[:2].lazy(), YES_NO, column="y"),
        lambda: ex.estimate_frequencies(TABLE[:2].assign(y=["no", None]), YES_NO, column="y", missing="drop"),
        lambda: ex.estimate_frequencies(TABLE[:3].assign(y=["no", "yes", None]), YES_NO, column="y", missing="drop"),
        lambda: asked.estimate_one(columns, "y", by="g"),
    ):
        with pytest.raises(ex.errors.InvalidParameter, match="every report occurs once beside a column of counts"):
            read()


def test_people_who_differ_are_no_table_of_counts() -> None:
    generator = np.random.default_rng(1)
    people = pd.DataFrame(
        {"y": ["no", "yes"] * 100, "x": generator.normal(size=200), "n": generator.integers(1, 8, 200)}
    )
    assert ex.regress("y ~ x", people, YES_NO).nobs == 200
    assert ex.estimate_crosstab(people, {"y": YES_NO, "x": None}, weights=people["n"] * 100).n == 200
    hashed = ex.local_hashing(1000, 2)
    reports = pd.DataFrame({"h": hashed.privatize([3] * 200), "n": people["n"]})
    assert ex.estimate_frequencies(reports, hashed, column="h", weights=reports["n"] * 10).n == 200
    assert ex.estimate_crosstab(TABLE, {"y": YES_NO, "g": None}, counts="count").n == 200
    ones = TABLE.assign(count=1)
    assert ex.estimate_crosstab(ones, {"y": YES_NO, "g": None}).n == 4


def test_weights_that_are_counts_are_refused_and_those_that_may_be_are_noted() -> None:
    table = TABLE.rename(columns={"count": "w"})
    for read in (
        lambda: ex.estimate_frequencies(table, YES_NO, column="y", by="g", weights="w"),
        lambda: ex.estimate_frequencies(table["y"].tolist(), YES_NO, by=table["g"].tolist(), weights=table["w"]),
        lambda: ex.estimate_crosstab(table, {"y": YES_NO, "g": None}, weights="w"),
        lambda: ex.test_independence(table, {"y": YES_NO, "g": None}, sample=ex.Sample(weights="w")),
        lambda: ex.regress("y ~ g", table, YES_NO, weights="w"),
        lambda: ex.test_distribution(["no", "yes"], YES_NO, [0.5, 0.5], sample=ex.Sample(weights=[600, 400])),
    ):
        with pytest.raises(ex.errors.InvalidParameter, match="whole number of weight: these are counts"):
            read()
    people = pd.concat([table] * 5, ignore_index=True).assign(z=["no", "yes"] * 10)
    noted = [
        ex.estimate_frequencies(["no", "yes", "no"], YES_NO, weights=[600, 400, 100]),
        ex.estimate_crosstab(people, {"y": YES_NO, "g": None}, weights="w"),
        ex.estimate_change(people, "y", "z", YES_NO, sample=ex.Sample(weights="w")),
        ex.regress("y ~ g", people, YES_NO, weights="w"),
        ex.test_distribution(people, YES_NO, [0.5, 0.5], column="y", sample=ex.Sample(weights="w")),
        ex.test_hypotheses(people, YES_NO, [0.5, 0.5], [0.2, 0.8], column="y", sample=ex.Sample(weights="w")),
        ex.test_homogeneity(people, YES_NO, "g", column="y", sample=ex.Sample(weights="w")),
    ]
    for found in noted:
        assert any("The weights are whole numbers" in note for note in found.notes)
        assert "The weights are whole numbers" in found.summary()
    fractions = ex.estimate_crosstab(people, {"y": YES_NO, "g": None}, weights=people["w"] / 7)
    assert fractions.notes == ()


def test_every_reader_of_a_list_says_where_it_looks_like_counts() -> None:
    five, equal, other = ex.randomized_response(5, 1), [0.2] * 5, [0.6, 0.1, 0.1, 0.1, 0.1]
    reports = [1, 4, 2, 0, 3]
    for found in (
        ex.estimate_frequencies(reports, five),
        ex.test_distribution(reports, five, equal),
        ex.test_hypotheses(reports, five, equal, other),
        ex.test_hypotheses(reports, five, [equal, other]),
        ex.pool([(reports, five), (list(reports), five)]),
    ):
        assert "for counts pass counts=True" in " ".join(found.notes)
        assert "as many reports as outputs" in found.summary()
