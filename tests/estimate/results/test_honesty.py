"""What was once wrong, one test for each: intervals, standard errors, points and alarms of surveys of every size."""

import numpy as np
import pytest
from scipy.stats import binom

import extremal as ex


def _covered(mechanism: ex.Mechanism, p: np.ndarray, n: int, method: str, surveys: int, seed: int = 1) -> np.ndarray:
    generator, held = np.random.default_rng(seed), np.zeros(len(p))
    q = mechanism.marginal(p)
    for counts in generator.multinomial(n, q / q.sum(), size=surveys):
        limits = ex.estimate_frequencies(counts, mechanism, method, counts=True).interval()  # type: ignore[call-overload]
        held += (limits[:, 0] <= p) & (p <= limits[:, 1])
    return held / surveys


@pytest.mark.parametrize("n", [50, 100, 1000])
def test_mle_intervals_with_more_outputs_than_inputs_hold(n: int) -> None:
    assert _covered(ex.quaternary(1, 0.1), np.array([0.99, 0.01]), n, "mle", 300).min() >= 0.91
    result = ex.estimate_frequencies([10, 0, 24, 66], ex.quaternary(1, 0.1), "mle", counts=True)
    assert result.interval()[1, 1] > 0.05


def test_standard_errors_of_large_cells_among_many_are_not_too_small() -> None:
    k, n = 1000, 31_053
    m, p = ex.randomized_response(k, 1), np.r_[0.5, np.full(k - 1, 0.5 / (k - 1))]
    w = m.marginal(p)[0]
    draws = np.random.default_rng(2).multinomial(n, m.marginal(p) / m.marginal(p).sum(), size=60)
    errors = [ex.estimate_frequencies(c, m, counts=True).standard_error[0] for c in draws]
    estimates = [ex.estimate_frequencies(c, m, counts=True).estimate[0] for c in draws]
    step = (np.e - 1) / (np.e + k - 1)
    expected = np.sqrt(w * (1 - w) / n) / step
    assert np.mean(errors) == pytest.approx(expected, rel=0.05)
    assert np.std(estimates) == pytest.approx(expected, rel=0.3)


def test_a_yes_no_question_of_twenty_respondents_is_covered_exactly() -> None:
    m, n = ex.surveys.warner(epsilon=5), 20
    limits = np.array([ex.estimate_frequencies({"no": n - c, "yes": c}, m).interval()[1] for c in range(n + 1)])
    for p in np.linspace(0, 1, 401):
        weight = binom.pmf(np.arange(n + 1), n, m.matrix[0, 1] * (1 - p) + m.matrix[1, 1] * p)
        assert weight[(limits[:, 0] <= p) & (p <= limits[:, 1])].sum() >= 0.95


def test_identical_reports_do_not_make_certainty() -> None:
    for mechanism in (ex.surveys.triangular(p=0.3), ex.Mechanism.from_matrix(np.eye(2), inputs=["no", "yes"])):
        limits = ex.estimate_frequencies([mechanism.outputs[1]] * 20, mechanism).interval()
        assert (limits[:, 1] - limits[:, 0] > 0.05).all()


@pytest.mark.parametrize("method", ["unbiased", "mle", "projected", "shrunk"])
@pytest.mark.parametrize("k", [2, 10, 100])
def test_every_point_shown_lies_inside_its_interval(method: str, k: int) -> None:
    m = ex.randomized_response(k, 1)
    p = np.arange(1, k + 1) ** -1.5
    q = m.marginal(p / p.sum())
    counts = np.random.default_rng(k).multinomial(500, q / q.sum())
    result = ex.estimate_frequencies(counts, m, method, counts=True)  # type: ignore[call-overload]
    for level in (0.5, 0.95):
        limits = result.interval(level)
        frame = result.to_frame(level)
        assert ((frame["low"] <= frame["shown"]) & (frame["shown"] <= frame["high"])).all()
        assert frame["shown"].to_numpy() == pytest.approx(result.shown_within(limits), abs=1e-15)
        assert not ((frame["shown"] > 0) & (frame["shown"] < 1e-15)).any()
    assert result.candidate[0] in result.summary()
    assert result.estimate.tolist() == frame["estimate"].tolist()


def test_what_is_shown_depends_on_the_number_of_cells() -> None:
    few = ex.estimate_frequencies([5] * 9, ex.randomized_response(9, 1), counts=True)
    many = ex.estimate_frequencies([5] * 20, ex.randomized_response(20, 1), counts=True)
    assert (few.candidate[0], many.candidate[0]) == ("projected", "shrunk")
    assert "Points shown: shrunk (the reports speak for: all equal)." in many.summary()
    assert few.reason == ""


@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
def test_rare_reports_raise_no_false_alarm(epsilon: float) -> None:
    delta_like = ex.quaternary(1, epsilon / 1000)
    rare = np.hstack([0.95 * ex.randomized_response(4, 1).matrix, np.full((4, 100), 0.05 / 100)])
    for mechanism, p, n in (
        (delta_like, np.array([0.74, 0.26]), 50),
        (ex.Mechanism.from_matrix(rare), np.full(4, 0.25), 1000),
    ):
        q = mechanism.marginal(p)
        draws = np.random.default_rng(6).multinomial(n, q / q.sum(), size=500)
        alarms = sum(ex.estimate_frequencies(c, mechanism, counts=True).goodness_of_fit().p_value < 1e-3 for c in draws)
        assert alarms <= 4  # 0.5 expected; more than 4 has probability 2e-4


def test_a_wrong_mechanism_is_still_caught() -> None:
    right = np.hstack([0.5 * ex.randomized_response(4, 1).matrix, 0.5 * ex.randomized_response(4, 3).matrix])
    counts = np.array([900, 50, 20, 30, 200, 300, 300, 200])
    assert (
        ex.estimate_frequencies(counts, ex.Mechanism.from_matrix(right), counts=True).goodness_of_fit().p_value < 1e-6
    )
    square = ex.estimate_frequencies([950, 40, 10], ex.randomized_response(3, 0.5), counts=True)
    assert square.goodness_of_fit().p_value < 1e-6


def test_without_degrees_of_freedom_nothing_is_claimed() -> None:
    text = str(ex.estimate_frequencies([400, 300, 300], ex.randomized_response(3, 1), counts=True).goodness_of_fit())
    assert "cannot be tested here" in text
    assert "p = " not in text


def test_exact_intervals_hold_together_and_one_question_needs_no_correction() -> None:
    two = ex.estimate_frequencies([30, 70], ex.randomized_response(2, 1), counts=True)
    assert two.interval(simultaneous=True).tolist() == two.interval().tolist()
    m, p = ex.randomized_response(20, 5), np.full(20, 0.05)
    q = m.marginal(p)
    held = 0
    for counts in np.random.default_rng(5).multinomial(50, q / q.sum(), size=300):
        limits = ex.estimate_frequencies(counts, m, counts=True).interval(simultaneous=True)
        held += bool(((limits[:, 0] <= p) & (p <= limits[:, 1])).all())
    assert held >= 0.93 * 300


def test_weights_of_one_to_a_hundred() -> None:
    generator, m, p = np.random.default_rng(9), ex.randomized_response(3, 2), np.array([0.7, 0.2, 0.1])
    held = np.zeros(3)
    for _ in range(200):
        reports = generator.choice(3, size=150, p=m.marginal(p))
        weights = np.where(generator.random(150) < 0.05, 100.0, 1.0)
        result = ex.estimate_frequencies(reports, m, weights=weights)
        limits = result.interval()
        held += (limits[:, 0] <= p) & (p <= limits[:, 1])
        assert not result.exact
    assert (held >= 0.9 * 200).all()


def test_a_fraction_that_must_lie_in_the_unit_interval_does() -> None:
    result = ex.estimate_frequencies([30, 40, 35], ex.randomized_response(3, 1), counts=True)
    low, high = result.ratio(0, [0, 1]).interval()
    assert 0 <= low <= high <= 1
    low, high = result.mean([0, 1, 5]).interval()
    assert 0 <= low < high <= 5


def test_names_of_statsmodels() -> None:
    result = ex.estimate_frequencies([30, 40, 35], ex.randomized_response(3, 1), counts=True)
    assert result.conf_int(0.1).to_numpy().tolist() == result.interval(0.9).tolist()
    assert result.conf_int().index.tolist() == [0, 1, 2]
    assert result.bse[1] == result.standard_error[1]
    assert result.params.tolist() == result.estimate.tolist()
    assert result.cov_params().loc[0, 2] == result.covariance[0, 2]
    assert result.nobs == result.n == 105


def test_a_summary_of_seven_answers_fits_a_screen_and_speaks_of_fakes_only_when_asked() -> None:
    result = ex.estimate_frequencies([300, 200, 150, 120, 100, 90, 90], ex.randomized_response(7, 2), counts=True)
    text = result.summary()
    assert len(text.splitlines()) <= 24
    assert max(map(len, text.splitlines()[:12])) <= 100
    assert "fake" not in text
    assert "fake" in result.summary(robustness=True)
