"""What a result says: intervals, design effects, functions, robustness, fit, and how it is shown."""

import math
import subprocess
import sys
from statistics import NormalDist

import numpy as np
import pytest

import extremal as ex
from extremal.estimate.results.linear import GoodnessOfFit

M = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
RESULT = ex.estimate_frequencies({"a": 600, "b": 300, "c": 300}, M)
NEGATIVE = ex.estimate_frequencies({"a": 770, "b": 420, "c": 310}, M)


def test_intervals() -> None:
    z = NormalDist().inv_cdf(0.975)
    plain = RESULT.interval(bounded=False)
    assert plain[:, 1] - plain[:, 0] == pytest.approx(2 * z * RESULT.standard_error)
    assert plain.mean(axis=1) == pytest.approx(RESULT.estimate)
    # A negative estimate is reported; its interval starts at 0 and keeps about its reach.
    assert NEGATIVE.estimate[2] < 0
    assert NEGATIVE.interval()[2] == pytest.approx([0, z * NEGATIVE.standard_error[2]], rel=0.06)
    assert NEGATIVE.interval()[0, 1] <= 1
    assert NEGATIVE.exact
    together = RESULT.interval(simultaneous=True, bounded=False)
    bonferroni = NormalDist().inv_cdf(1 - 0.05 / 6)
    assert together[:, 1] - together[:, 0] == pytest.approx(2 * bonferroni * RESULT.standard_error)
    assert (RESULT.interval(simultaneous=True)[:, 1] > RESULT.interval()[:, 1]).all()
    for level in (0, 1, 95, -0.1, "0.95"):
        with pytest.raises(ex.errors.InvalidParameter, match="level must lie between 0 and 1.*Write 95% as 0.95"):
            RESULT.interval(level)  # type: ignore[arg-type]


def test_simultaneous_intervals_hold_together() -> None:
    m, p = ex.randomized_response(8, 2), np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05, 0.0, 0.0])
    draws = np.random.default_rng(4).multinomial(20_000, m.marginal(p), size=1_500)
    held = 0
    for counts in draws:
        limits = ex.estimate_frequencies(counts, m, counts=True).interval(simultaneous=True, bounded=False)
        held += bool(((limits[:, 0] <= p) & (p <= limits[:, 1])).all())
    # At least 0.95 up to sampling error; 4 standard errors are 2.3 points.
    assert 0.927 <= held / 1_500 <= 0.98


def test_the_cost_of_privacy_and_the_sample_without_it() -> None:
    p, c = RESULT.estimate, M.matrix[0, 0] - M.matrix[0, 1]
    w = M.matrix[0, 1] + c * p
    assert RESULT.privacy_cost == pytest.approx(w * (1 - w) / c**2 / (p * (1 - p)))
    assert RESULT.design_effect == pytest.approx(np.ones(3))  # a simple random sample
    assert RESULT.equivalent_n() == pytest.approx(1200 * (p * (1 - p)).sum() / (w * (1 - w) / c**2).sum())
    assert NEGATIVE.privacy_cost[2] == math.inf
    # Without privacy there is no price.
    open_answers = ex.Mechanism.from_matrix(np.eye(3))
    plain = ex.estimate_frequencies([50, 30, 20], open_answers, counts=True)
    assert plain.privacy_cost == pytest.approx(np.ones(3))
    assert plain.equivalent_n() == pytest.approx(100)
    assert ex.estimate_frequencies([50, 0, 0], open_answers, counts=True).equivalent_n() == math.inf


def test_linear_functions() -> None:
    values = np.array([1.0, 2.0, 4.0])
    mean = RESULT.mean(values)
    assert mean.estimate == pytest.approx(values @ RESULT.estimate)
    assert mean.standard_error == pytest.approx(math.sqrt(values @ RESULT.covariance @ values))
    assert RESULT.mean({"a": 1, "b": 2, "c": 4}) == mean
    total = RESULT.total(10_000, values)
    assert (total.estimate, total.standard_error) == pytest.approx(
        (10_000 * mean.estimate, 10_000 * mean.standard_error)
    )
    contrast = RESULT.contrast({"a": 1, "b": -1})
    assert contrast.estimate == pytest.approx(RESULT.estimate[0] - RESULT.estimate[1])
    assert contrast.interval(0.9)[0] == pytest.approx(
        contrast.estimate - NormalDist().inv_cdf(0.95) * contrast.standard_error, rel=0.01
    )
    assert -1 <= contrast.interval(0.9999)[0] <= contrast.interval(0.9999)[1] <= 1
    assert RESULT.linear({"a": 1, "b": 1, "c": 1}).standard_error == pytest.approx(0, abs=1e-7)
    assert "95% interval" in repr(mean)
    numbers = ex.estimate_frequencies([60, 30, 30], ex.randomized_response(3, 1), counts=True)
    assert numbers.mean().estimate == pytest.approx(numbers.estimate @ [0, 1, 2])


def test_ratios_and_any_function_agree_with_the_delta_method() -> None:
    ratio = RESULT.ratio("a", ["a", "b"])
    by_hand = RESULT.function(lambda p: p[0] / (p[0] + p[1]))
    exact = RESULT.function(lambda p: p[0] / (p[0] + p[1]), lambda p: np.array([p[1], -p[0], 0]) / (p[0] + p[1]) ** 2)
    assert ratio.estimate == pytest.approx(exact.estimate)
    assert ratio.standard_error == pytest.approx(exact.standard_error)
    assert by_hand.standard_error == pytest.approx(exact.standard_error, rel=1e-6)
    assert RESULT.ratio({"a": 2}, {"b": 1}).estimate == pytest.approx(2 * RESULT.estimate[0] / RESULT.estimate[1])


def test_a_function_that_is_flat_at_the_estimate_has_limits() -> None:
    """Σp² at equal frequencies: its tangent is flat, and the limits are those of its bend, n = 100, by every count."""
    from scipy.stats import binom

    m, levels = ex.randomized_response(2, 3), (0.8, 0.95, 0.99)
    found = [ex.estimate_frequencies([100 - c, c], m, counts=True).function(lambda p: float(p @ p)) for c in range(101)]
    variance = ex.estimate_frequencies([50, 50], m, counts=True).standard_error[0] ** 2
    assert found[50].interval()[1] == pytest.approx(0.5 + 1.959964 * 12**0.5 * variance)
    limits = np.array([[one.interval(level) for level in levels] for one in found])
    for p in (0.5, 0.52, 0.55, 0.6):
        truth, chance = p**2 + (1 - p) ** 2, binom.pmf(range(101), 100, m.marginal([1 - p, p])[1])
        assert (chance @ ((limits[..., 0] <= truth) & (truth <= limits[..., 1])) >= levels).all()
    assert "bend" in found[50].note


def test_a_function_that_ends_near_the_estimate_has_those_of_its_tangent() -> None:
    m = ex.randomized_response(2, 1)
    rare = ex.estimate_frequencies([270, 730], m, counts=True)
    for log in (math.log, np.log):
        found = rare.function(lambda p, log=log: float(log(p[0])))
        assert "rough where it bends" in found.notes[0]
        assert found.standard_error == pytest.approx(rare.standard_error[0] / rare.estimate[0], rel=1e-4)


def test_ratios_of_small_surveys_hold() -> None:
    m, p = ex.randomized_response(3, 6), np.array([0.5, 0.48, 0.02])
    draws = np.random.default_rng(3).multinomial(50, m.marginal(p), size=250)
    counts, often = np.unique(draws, axis=0, return_counts=True)
    held = np.zeros(2)
    for row, times in zip(counts, often.tolist(), strict=True):
        ratio = ex.estimate_frequencies(row.tolist(), m, counts=True).ratio(2, [1, 2])
        limits = np.array([ratio.interval(level) for level in (0.8, 0.95)])
        assert (limits[:, 1] > limits[:, 0]).all()
        held += times * ((limits[:, 0] <= 0.04) & (limits[:, 1] >= 0.04))
    assert (held >= np.array([0.7, 0.89]) * 250).all()  # 4 standard errors below; Fieller's held in 0.64 and 0.68


def test_a_ratio_holds_what_the_linear_limits_of_its_difference_do_not_exclude() -> None:
    found = ex.estimate_frequencies([60, 45, 30, 15], ex.randomized_response(4, 2), counts=True)
    ratio = found.ratio({0: 1, 1: 2}, {2: 1, 3: 1})
    for end in ratio.interval(0.9):
        limits = found.fit.limits(np.array([[1.0, 2.0, -end, -end]]), 0.9, cut=False)[0]
        assert np.abs(limits).min() < 1e-6
    # Where reports are not listed, of score limits; of the whole, those of the share itself.
    many = ex.subset_selection(60, 3)
    sets = ex.estimate_frequencies(many.privatize([0, 1, 1, 2] * 100), many)
    for end in sets.ratio(1, [0, 1, 2]).interval(0.9):
        row = np.zeros((1, 60))
        row[0, :3] = [-end, 1 - end, -end]
        assert np.abs(sets.fit.limits(row, 0.9, cut=False)[0]).min() < 1e-6
    assert found.ratio(0, [0, 1, 2, 3]).interval() == pytest.approx(found.interval()[0].tolist())


def test_a_ratio_to_what_may_be_zero_is_not_known() -> None:
    found = ex.estimate_frequencies([80, 30, 29], ex.randomized_response(3, 0.5), counts=True)
    assert found.ratio(0, [0, 1]).interval()[0] >= 0
    assert found.ratio(1, 2).interval() == (-math.inf, math.inf)
    assert found.ratio(1, [1, 2]).interval() == (0.0, 1.0)


def test_ratio_standard_errors_match_simulation() -> None:
    p = np.array([0.5, 0.3, 0.2])
    draws = np.random.default_rng(2).multinomial(100_000, M.marginal(p), size=800)
    runs = [ex.estimate_frequencies(c, M, counts=True).ratio("a", "b") for c in draws]
    # 800 runs know a standard deviation to 2.5%; 4 of those.
    assert runs[0].standard_error == pytest.approx(np.std([r.estimate for r in runs]), rel=0.1 + 0.05)


def test_functions_check_their_arguments() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="coefficients of a contrast must sum to zero; got sum=1.0"):
        RESULT.contrast({"a": 1})
    with pytest.raises(ex.errors.InvalidParameter, match="a mean needs a number for each input"):
        RESULT.mean()
    with pytest.raises(ex.errors.InvalidParameter, match="a mean needs a number for each input; got missing='b'"):
        RESULT.mean({"a": 1})
    with pytest.raises(
        ex.errors.InvalidParameter, match="there must be 3 numbers, one for each input; got shape=\\(2,\\)"
    ):
        RESULT.linear([1, 2])
    with pytest.raises(ex.errors.InvalidParameter, match="the numbers must be finite"):
        RESULT.linear([1, 2, math.nan])
    with pytest.raises(ex.errors.UnknownLabel, match="coefficients must be for estimated inputs; got label='z'"):
        RESULT.linear({"z": 1})
    with pytest.raises(ex.errors.InvalidParameter, match="population must be a positive number"):
        RESULT.total(-1, [1, 2, 3])
    with pytest.raises(ex.errors.InvalidParameter, match="the denominator must not be estimated as zero"):
        RESULT.ratio("a", {"b": 0})
    with pytest.raises(ex.errors.InvalidParameter, match="the gradient must have 3 entries"):
        RESULT.function(lambda p: p[0], lambda _: [1])
    with pytest.raises(ex.errors.InvalidParameter, match="finite and smooth"):
        RESULT.function(lambda _: math.nan)


def test_poisoning_is_a_bound_and_is_attained() -> None:
    """Replace 1% of the reports by anything: the honest estimate stays within the limits, and the worst report reaches
    them."""
    generator = np.random.default_rng(6)
    m = ex.Mechanism.from_matrix(
        np.hstack([ex.randomized_response(4, 1).matrix, ex.Mechanism.from_windows(4, 2, ex.LDP(1)).matrix]) / 2
    )
    honest = generator.multinomial(9_900, m.marginal([0.4, 0.3, 0.2, 0.1]))
    truth = ex.estimate_frequencies(honest, m, counts=True).estimate
    reached = np.zeros((4, 2), dtype=bool)
    for y in range(m.m):
        poisoned = ex.estimate_frequencies(honest + 100 * (np.arange(m.m) == y), m, counts=True)
        limits = poisoned.poisoning(0.01)
        assert (limits[:, 0] <= truth + 1e-12).all()
        assert (truth <= limits[:, 1] + 1e-12).all()
        reached |= np.isclose(limits, truth[:, None], atol=1e-12)
    assert reached.all()
    with pytest.raises(
        ex.errors.InvalidParameter, match="share must be at least 0 and less than 1; got share=1. Write 1% as 0.01"
    ):
        RESULT.poisoning(1)


def test_noncompliance_is_taken_out_exactly() -> None:
    p, share = np.array([0.5, 0.3, 0.2]), 0.1
    for reports, other in (
        (None, np.full(3, 1 / 3)),
        ("b", np.array([0, 1, 0])),
        ({"a": 0.5, "c": 0.5}, np.array([0.5, 0, 0.5])),
    ):
        mixed = (1 - share) * M.marginal(p) + share * other
        seen = ex.estimate_frequencies(np.rint(mixed * 10**12).astype(int), M, counts=True)
        assert seen.noncompliance(share, reports) == pytest.approx(p, abs=1e-9)
        assert abs(seen.estimate - p).max() > 0.01
    with pytest.raises(ex.errors.InvalidParameter, match="probabilities of reports must be non-negative and sum to 1"):
        RESULT.noncompliance(0.1, {"a": 0.5})


def wide() -> ex.Mechanism:
    return ex.Mechanism.from_matrix(
        np.hstack([ex.randomized_response(4, 2).matrix, ex.Mechanism.from_windows(4, 2, ex.LDP(2)).matrix]) / 2
    )


def test_goodness_of_fit_has_its_level() -> None:
    """P-values under the mechanism are at most uniform, and not much less, where the frequencies are inside the
    simplex."""
    m = wide()
    w = m.marginal([0.4, 0.3, 0.2, 0.1])
    draws = np.random.default_rng(9).multinomial(20_000, w / w.sum(), size=1_000)
    tests = [ex.estimate_frequencies(c, m, counts=True).goodness_of_fit() for c in draws]
    assert tests[0].degrees == 4
    rate = np.mean([t.p_value_range < 0.1 for t in tests])
    assert 0.06 <= rate <= 0.14  # 0.1 ± 4 standard errors of 0.0095
    assert np.mean([t.p_value < 0.1 for t in tests]) <= 0.14


def test_goodness_of_fit_sees_another_mechanism() -> None:
    m, other = wide(), ex.randomized_response(8, 1)
    w = other.marginal([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    wrong = ex.estimate_frequencies(np.random.default_rng(1).multinomial(20_000, w / w.sum()), m, counts=True)
    assert wrong.goodness_of_fit().p_value < 1e-6
    assert any("do not look as if this mechanism had made them" in note for note in wrong.notes)
    # A square mechanism shows it by a negative frequency: reports that are too uneven.
    uneven = ex.estimate_frequencies({"a": 900, "b": 90, "c": 10}, M)
    test = uneven.goodness_of_fit()
    assert test.degrees == 0
    assert test.p_value < 1e-6
    assert test.distance < -5
    assert "standard errors outside its range" in str(test)
    assert str(GoodnessOfFit(0.5, 3.0, 2, 0.4, "a", 1.0, 1.0)) == "no sign of misfit (p = 0.5)"
    assert str(GoodnessOfFit(0.01, 9.0, 2, 0.01, "a", 1.0, 1.0)) == "p = 0.01, X² = 9 on 2 degrees of freedom"
    assert (
        ex.estimate_frequencies([50, 30, 0], ex.Mechanism.from_matrix(np.eye(3)), counts=True).goodness_of_fit().p_value
        == 1
    )


def test_summary_says_what_a_reader_must_know() -> None:
    text = NEGATIVE.summary()
    for part in (
        "Estimate: frequencies of 3 inputs, 3 outputs, LDP(epsilon=1.0), method unbiased; n = 1500 reports",
        "projected      95% interval  unbiased    s.e.",
        "Intervals are exact",
        "the same precision without privacy needs n = ",
        "Fit of the reports to the mechanism: no sign of misfit (p = ",
        "1 of 3 unbiased estimates lie outside their possible range (first: 'c')",
    ):
        assert part in text
    assert "simultaneous 90% interval" in RESULT.summary(0.9, simultaneous=True)
    likely = ex.estimate_frequencies({"a": 770, "b": 420, "c": 310}, M, method="mle")
    assert "The mean log-likelihood is within" in likely.summary()
    assert likely.estimate.min() >= 0
    assert repr(RESULT).startswith("FrequencyEstimate({'a': 0.7")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library: str) -> None:
    frame = RESULT.to_frame(0.9, library=library)
    columns = {
        name: list(frame[name].to_pylist() if library == "pyarrow" else frame[name])
        for name in ("input", "estimate", "low", "high")
    }
    assert columns["input"] == ["a", "b", "c"]
    assert columns["estimate"] == pytest.approx(RESULT.estimate.tolist())
    assert columns["high"] == pytest.approx(RESULT.interval(0.9)[:, 1].tolist())
    with pytest.raises(
        ex.errors.InvalidParameter, match='library must be "pandas", "polars" or "pyarrow"; got library=\'R\''
    ):
        RESULT.to_frame(library="R")


def test_plots() -> None:
    axes = RESULT.plot(truth=[0.7, 0.2, 0.1]).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b", "c"]
    assert axes.get_xlabel() == "share of respondents"
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["95% interval", "projected", "true frequency"]
    assert RESULT.plot(ax=axes) is axes.figure
    many = ex.estimate_frequencies(np.full(100, 50), ex.randomized_response(100, 3), counts=True)
    assert "first 60 of 100" in many.plot(simultaneous=True).axes[0].get_title()
    with pytest.raises(ex.errors.InvalidParameter, match="truth must have 3 entries"):
        RESULT.plot(truth=[1.0])


@pytest.mark.parametrize(
    ("module", "call"), [("pandas", "to_frame()"), ("matplotlib", "plot()"), ("pyarrow", "to_frame(library='pyarrow')")]
)
def test_missing_libraries_are_named(module: str, call: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\nimport extremal as ex\n"
        f"r = ex.estimate_frequencies([0, 1, 0], ex.randomized_response(2, 1))\n"
        f"try: r.{call}\nexcept ex.errors.MissingDependency as e: print(e)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"needs {module}" in found.stdout
    assert "pip install 'extremal[" in found.stdout
