"""Every result has the same words: those of statsmodels, the head of its summary, a frame and a picture."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.estimate.results.tabled import Tabled

M, YES = ex.randomized_response(["a", "b", "c"], 2), ex.randomized_response(["no", "yes"], 1)
FRAME = pd.DataFrame(
    {
        "y": ["a", "b", "c", "a", "b"] * 24,
        "later": ["a", "a", "c", "b", "b"] * 24,
        "z": ["no", "yes", "yes"] * 40,
        "x": np.arange(120) % 7,
        "cluster": np.arange(120) // 4,
    }
)
DRAWN = ex.Sample(cluster="cluster")


def _frequencies(**more: Any) -> Any:
    return ex.estimate_frequencies(FRAME, M, column="y", **more)


def _chosen() -> Any:
    hashed = ex.local_hashing(1_000, 4)
    return ex.estimate_frequencies(hashed.privatize([3, 4, 5] * 30), hashed, labels=[3, 4])


RESULTS: dict[str, Callable[[], Any]] = {
    "FrequencyEstimate": lambda: _frequencies(sample=DRAWN),
    "WorkloadEstimate": lambda: ex.estimate_workload(FRAME, M, ex.CDF(3), column="y", sample=DRAWN),
    "CrosstabEstimate": lambda: ex.estimate_crosstab(FRAME, {"y": M, "z": YES}, sample=DRAWN),
    "ChangeEstimate": lambda: ex.estimate_change(FRAME, "y", "later", M, sample=DRAWN),
    "RegressionResult": lambda: ex.regress("z ~ x", FRAME, YES, sample=DRAWN),
    "CombinedEstimate": lambda: _frequencies(by="z")["yes"].difference(_frequencies(by="z")["no"]),
    "Differences": lambda: _frequencies(by="z").differences(),
    "StratifiedEstimate": lambda: _frequencies(by=["z", "x"]),
    "CDFEstimate": lambda: _frequencies(sample=DRAWN).cdf(),
    "FunctionEstimate": lambda: _frequencies(sample=DRAWN).mean([0, 1, 2]),
    "ChosenEstimate": _chosen,
}


def _below(kind: type) -> set[type]:
    return {kind}.union(*(_below(one) for one in kind.__subclasses__()))


def test_every_kind_of_result_is_here() -> None:
    here = {one.__name__ for one in _below(Tabled) if one.__module__.startswith("extremal.estimate.")}
    # Two that only others are made of, and cross-tables of questions that were randomised together.
    assert here == {*RESULTS, "Tabled", "LinearEstimate", "PairEstimate"}


@pytest.mark.parametrize("kind", RESULTS)
def test_words_of_statsmodels_head_frame_and_picture(kind: str) -> None:
    found = RESULTS[kind]()
    assert type(found).__name__ == kind
    size = len(found.params)
    assert found.nobs == found.n
    assert found.params.index.tolist() == found.bse.index.tolist() == found.conf_int().index.tolist()
    assert found.cov_params().shape == (size, size)
    assert np.diag(found.cov_params()) == pytest.approx(found.bse.to_numpy() ** 2, rel=1e-6)
    narrow, wide = found.conf_int(0.2).to_numpy(), found.conf_int(0.01).to_numpy()
    assert (narrow[:, 0] >= wide[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    assert found.summary().startswith("Estimate: ")
    assert found.summary().split("\n")[0].count("reports") == 1
    assert len(found.to_frame()) == size
    assert found._repr_html_().startswith("<")
    assert found.plot().axes


def test_what_is_said_of_a_finite_population_is_what_was_done() -> None:
    drawn = ex.Sample(cluster="cluster", clusters_in_population=100)
    assert "finite population" in _frequencies(sample=drawn).summary()
    words = [
        ex.test_distribution(FRAME, M, [0.4, 0.3, 0.3], column="y", sample=drawn).summary(),
        ex.test_hypotheses(FRAME, M, [0.4, 0.3, 0.3], [0.2, 0.4, 0.4], column="y", sample=drawn).summary(),
        ex.regress("z ~ x", FRAME, YES, sample=drawn).summary(),
    ]
    assert all("30 clusters" in one and "finite" not in one for one in words)


def test_shares_of_a_cross_table_are_named_by_both_questions() -> None:
    found = RESULTS["CrosstabEstimate"]()
    assert list(found.params.index.names) == ["y", "z"]
    assert found.params["b", "yes"] == found.estimate[1, 1]
    assert found.conf_int().loc[("b", "yes")].tolist() == found.interval()[1, 1].tolist()
    assert found.cov_params().loc[("a", "no"), ("b", "yes")] == found.covariance[0, 3]


def test_numbers_of_reports_and_limits_have_their_names_everywhere() -> None:
    m = ex.randomized_response(3, 2)
    reports, groups = [0, 1, 2, 1] * 50, ["a", "a", "b", "b"] * 50
    tests = (
        ex.test_distribution(reports, m, [0.2, 0.3, 0.5]),
        ex.test_homogeneity(reports, m, groups),
        ex.test_hypotheses(reports, m, [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]),
        ex.test_hypotheses(reports, m, [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]),
        ex.estimate_frequencies(reports, m).quantile(0.5),
    )
    assert [one.nobs for one in tests] == [200] * len(tests)
    by = ex.estimate_frequencies(reports, m, by=groups)
    assert by.interval(0.9) == pytest.approx(by.conf_int(0.1).to_numpy())
    assert by.interval(simultaneous=True)[3:] == pytest.approx(by["b"].interval(simultaneous=True))


def test_estimates_by_group_have_the_points_of_their_groups() -> None:
    by = _frequencies(by=["z", "x"])
    for name in ("estimate", "standard_error", "shown", "points"):
        of_each = np.concatenate([getattr(one, name) for one in by.values()])
        assert getattr(by, name).tolist() == of_each.tolist(), name
    assert by.labels[0] == (*next(iter(by)), "a")
    assert by.params[by.labels[4]] == by.estimate[4]
    assert by.shown.tolist() == by.to_frame()["shown"].tolist()
    assert (by.n, by.title, by.sample) == (by.nobs, f"frequencies in {len(by)} strata", "")
    assert set(by.notes) == {note for one in by.values() for note in one.notes}
    assert by.shown_within(by.interval(0.5)).shape == (3 * len(by),)


def test_a_quantile_has_limits_frames_and_notes_of_its_labels() -> None:
    few = ex.Sample(cluster=[0] * 100 + [1] * 10 + [2] * 10)
    for result in (_frequencies(sample=DRAWN), _frequencies(sample=few)):
        found, wide = result.quantile(0.5, level=0.8), result.quantile(0.5, level=0.99)
        assert (
            found.summary().split("\n")[0]
            == result.mean([0, 1, 2]).head.replace("mean", "quantile 0.5") + f": {found!r}"
        )
        assert found.interval() == (found.low, found.high)
        assert found.interval(0.99) == (wide.low, wide.high)
        assert found.conf_int().loc["quantile 0.5"].tolist() == [found.low, found.high]
        assert found.conf_int(0.01).loc["quantile 0.5"].tolist() == [wide.low, wide.high]
        assert found.params.tolist() == [found.estimate]
        row = {"statistic": "quantile 0.5", "shown": found.estimate, "low": wide.low, "high": wide.high}
        for library in ("pandas", "polars"):
            frame = found.to_frame(0.99, library=library)
            assert [frame[name][0] for name in row] == list(row.values())
        assert found.notes == result.cdf().notes == result.fit.notes
        assert all(note.split()[0] in found.summary(0.99) for note in found.notes)
    assert found.notes  # one cluster dominates
