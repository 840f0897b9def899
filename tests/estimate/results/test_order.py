"""The distribution function and its quantiles."""

import numpy as np
import pytest
from scipy.stats import binom

import extremal as ex

M = ex.randomized_response(6, 2)
P = np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])


def test_the_distribution_function_adds_up() -> None:
    found = ex.estimate_frequencies((1000 * M.marginal(P)).round().astype(int), M, counts=True)
    cdf = found.cdf()
    assert cdf.estimate == pytest.approx(np.cumsum(found.estimate))
    one = found.linear([1, 1, 1, 0, 0, 0])
    assert cdf.interval()[2] == pytest.approx(one.interval())
    assert cdf.standard_error[2] == pytest.approx(one.standard_error)
    assert cdf.standard_error[-1] == 0
    assert cdf.interval()[-1].tolist() == [1, 1]
    assert (np.diff(cdf.shown) >= 0).all()
    band = cdf.interval(simultaneous=True)
    assert (np.diff(band, axis=0) >= 0).all()
    assert (band[:-1, 1] - band[:-1, 0] > (cdf.interval()[:-1, 1] - cdf.interval()[:-1, 0])).all()
    assert cdf.to_frame().columns.tolist() == ["input", "shown", "low", "high", "estimate", "standard_error"]


def test_sums_of_frequencies_have_exact_limits_under_randomised_response() -> None:
    m, n = ex.randomized_response(4, 2), 30
    low, step = m.matrix[0, 1], m.matrix[0, 0] - m.matrix[0, 1]
    limits = np.array(
        [ex.estimate_frequencies([x, 0, n - x, 0], m, counts=True).cdf().interval(0.9)[1] for x in range(n + 1)]
    )
    for p in np.linspace(0, 1, 101):
        weight = binom.pmf(np.arange(n + 1), n, 2 * low + step * p)
        assert weight[(limits[:, 0] <= p) & (p <= limits[:, 1])].sum() >= 0.9


def test_a_quantiles_interval_holds_it() -> None:
    generator, held, narrow = np.random.default_rng(3), 0, 0
    for _ in range(400):
        found = ex.estimate_frequencies(generator.multinomial(150, M.marginal(P)), M, counts=True).quantile(0.5)
        assert found.low <= found.estimate <= found.high
        held += found.low <= 1 <= found.high  # F(0) = 0.3, F(1) = 0.55
        narrow += found.high - found.low < 5
    assert held >= 0.93 * 400
    assert narrow == 400
    assert repr(found).startswith("1 (95% interval") or found.estimate != 1


def test_bad_quantiles() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="The median is 0.5"):
        ex.estimate_frequencies([0, 1, 2], M).quantile(50)
