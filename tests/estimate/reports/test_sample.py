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
        "region": ["n", "s", "s"] * 40,
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
