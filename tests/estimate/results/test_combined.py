"""Differences of waves and groups, and totals over strata."""

import numpy as np
import pytest
from scipy.stats import binom

import extremal as ex

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
FIRST = ex.estimate_frequencies({"a": 500, "b": 300, "c": 200}, M)
SECOND = ex.estimate_frequencies({"a": 900, "b": 700, "c": 400}, M)


def test_a_difference_has_the_delta_methods_standard_error() -> None:
    found = FIRST.difference(SECOND)
    inverse, variance = np.linalg.inv(M.matrix.T), np.zeros(3)
    for f, n in ((np.array([0.5, 0.3, 0.2]), 1000), (np.array([0.45, 0.35, 0.2]), 2000)):
        variance += (inverse**2 @ f - (inverse @ f) ** 2) / n
    assert found.estimate == pytest.approx(FIRST.estimate - SECOND.estimate)
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert np.diagonal(found.covariance) == pytest.approx(variance, rel=1e-9)
    limits = found.interval()
    # Away from the bounds recovered variances are the normal interval.
    assert limits[:, 1] - limits[:, 0] == pytest.approx(2 * 1.96 * found.standard_error, rel=0.03)
    assert (limits[:, 0] < found.shown).all()
    assert (found.interval(simultaneous=True)[:, 1] > limits[:, 1]).all()
    assert found.conf_int(0.05).to_numpy() == pytest.approx(limits)


@pytest.mark.slow
def test_intervals_of_differences_hold_at_small_samples() -> None:
    p, q, m = np.array([0.95, 0.05]), np.array([0.8, 0.2]), ex.randomized_response(2, 3)
    generator, held = np.random.default_rng(8), 0
    for _ in range(600):
        one = ex.estimate_frequencies(generator.multinomial(30, m.marginal(p)), m, counts=True)
        two = ex.estimate_frequencies(generator.multinomial(30, m.marginal(q)), m, counts=True)
        low, high = one.difference(two).interval()[1]
        held += low <= p[1] - q[1] <= high
    assert held >= 0.925 * 600  # 0.95 less 2.8 standard errors


@pytest.mark.parametrize(("n", "p"), [((20, 600), (1.0, 0.02)), ((510, 3000), (1.0, 0.005))])
def test_differences_beside_many_reports_hold(n: tuple[int, int], p: tuple[float, float]) -> None:
    """Enumerated, 99%, by Newcombe's method: 0.985 and 0.989. What is left out is taken to miss."""
    m = ex.randomized_response(2, 6)
    found, chance = [], []
    for size, share in zip(n, p, strict=True):
        chances = binom.pmf(np.arange(size + 1), size, m.marginal([1 - share, share])[1])
        likely = np.flatnonzero(chances > 1e-3 * chances.max())
        chance.append(chances[likely])
        found.append([ex.estimate_frequencies([size - y, y], m, counts=True) for y in likely.tolist()])
    limits = np.array([[one.difference(other).interval(0.99)[1] for other in found[1]] for one in found[0]])
    held = (limits[..., 0] <= p[0] - p[1]) & (p[0] - p[1] <= limits[..., 1])
    assert chance[0] @ held @ chance[1] >= 0.99


def test_differences_of_strata() -> None:
    three = ex.estimate_frequencies(["a", "b", "c"] * 100, M, by=["x"] * 100 + ["y"] * 100 + ["z"] * 100)
    assert set(three.differences()) == {("y", "x"), ("z", "x"), ("z", "y")}
    assert set(three.differences(reference="y")) == {("x", "y"), ("z", "y")}
    frame = three.differences(reference="y")["x", "y"].to_frame()
    assert frame.columns.tolist() == ["input", "shown", "low", "high", "estimate", "standard_error"]
    assert (
        "Estimate: difference of frequencies; n = 100 + 100 reports"
        in three.differences(reference="y")["x", "y"].summary()
    )


def test_all_differences_are_one_result() -> None:
    names = np.repeat(["x", "y", "z"], [120, 150, 200])
    three = ex.estimate_frequencies(["a", "b", "a", "c", "c"] * 94, M, by=names)
    found = three.differences()
    assert found.summary().startswith("Estimate: differences of frequencies between 3 strata; n = 470 reports\n")
    assert "z − y: c" in found.summary()
    assert found.nobs == 470
    assert found.params["y", "x", "b"] == pytest.approx(three["y"].estimate[1] - three["x"].estimate[1])
    assert found.conf_int().loc["z", "y"].to_numpy() == pytest.approx(found["z", "y"].interval())
    # Three pairs and three inputs are nine statements.
    together = found.interval(simultaneous=True)
    assert together[:3] == pytest.approx(found["y", "x"].interval(1 - 0.05 / 9))
    frame = found.to_frame()
    assert frame.columns.tolist()[:3] == ["stratum", "minus", "input"]
    assert frame["minus"].tolist() == ["x"] * 6 + ["y"] * 3
    assert len(found.plot().axes[0].collections) == 3
    assert "z − x: a" in found._repr_html_()
    assert repr(found) == "Differences([('y', 'x'), ('z', 'x'), ('z', 'y')], n=470)"
    against = three.differences("x")
    assert list(against) == [("y", "x"), ("z", "x")]
    assert against.nobs == 470
    with pytest.raises(ex.errors.UnknownLabel, match="a difference of that pair"):
        against["y", "z"]
    with pytest.raises(ex.errors.UnknownLabel, match="reports in that stratum"):
        three.differences("w")
    with pytest.raises(ex.errors.InvalidParameter, match="two strata to compare"):
        ex.estimate_frequencies(["a", "b"], M, by=["x", "x"]).differences()


def test_differences_that_share_a_stratum_move_together() -> None:
    """Var((p_y − p_x) − (p_z − p_x)) = Var(p_y − p_z), whatever the shared stratum is."""
    three = ex.estimate_frequencies(["a", "b", "a", "c", "c"] * 60, M, by=np.repeat(["x", "y", "z"], 100))
    found = three.differences()
    whole = found.covariance
    assert np.sqrt(np.diagonal(whole)) == pytest.approx(found.standard_error)
    one, two = whole[:3, :3], whole[3:6, 3:6]
    assert one + two - whole[:3, 3:6] - whole[3:6, :3] == pytest.approx(found["z", "y"].covariance)
    assert found.cov_params().loc["y", "x"].shape == (3, 9)


def test_post_stratified_frequencies() -> None:
    both = ex.estimate_frequencies(["a"] * 60 + ["b"] * 40 + ["c"] * 100, M, by=["x"] * 100 + ["y"] * 100)
    found = both.poststratified({"x": 300, "y": 100})
    assert found.estimate == pytest.approx(0.75 * both["x"].estimate + 0.25 * both["y"].estimate)
    assert found.standard_error == pytest.approx(
        np.hypot(0.75 * both["x"].standard_error, 0.25 * both["y"].standard_error)
    )
    with pytest.raises(ex.errors.UnknownLabel, match="a size for every estimated stratum"):
        both.poststratified({"x": 3})
    with pytest.raises(ex.errors.InvalidParameter, match="positive sizes"):
        both.poststratified({"x": 3, "y": 0})


def test_different_inputs_are_refused() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="same inputs"):
        FIRST.difference(ex.estimate_frequencies([5, 5], ex.randomized_response(2, 1), counts=True))


def test_strata_and_single_numbers_have_the_words_of_statsmodels() -> None:
    by = ex.estimate_frequencies(["a", "b", "a", "c"] * 50, M, by=["n", "s"] * 100)
    assert by.nobs == 200
    assert by.summary().startswith("Estimate: frequencies in 2 strata; n = 200 reports\n")
    assert by.params["s"].tolist() == by["s"].params.tolist()
    assert by.bse["n"].tolist() == by["n"].bse.tolist()
    assert by.conf_int(0.2).loc["s"].to_numpy() == pytest.approx(by["s"].interval(0.8))
    assert np.diag(by.cov_params()) == pytest.approx(by.bse.to_numpy() ** 2)
    assert (by.cov_params().loc["n", "s"].to_numpy() == 0).all()
    mean = ex.estimate_frequencies(["a", "b"] * 50, M, cluster=np.arange(100) // 5).mean([0, 1, 5])
    assert mean.summary().startswith("Estimate: mean; n = 100 reports (20 clusters")
    assert (mean.nobs, mean.params.tolist(), mean.bse.tolist()) == (100, [mean.estimate], [mean.standard_error])
    assert mean.conf_int().to_numpy().tolist() == [list(mean.interval())]
    assert mean.cov_params().loc["mean", "mean"] == pytest.approx(mean.standard_error**2)
    assert mean.to_frame()["statistic"].tolist() == ["mean"]
    assert str(mean) == repr(mean)
    asked = ex.estimate_frequencies([0, 1, 2] * 30, ex.randomized_response(3, 2)).quantile()
    assert asked.summary() == f"Estimate: quantile 0.5; n = 90 reports: {asked!r}"
