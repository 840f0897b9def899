"""Exponents of the best tests, and the lower bounds of Le Cam and Fano."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.theory import chernoff_information, fano, identity_testing, le_cam


def _best_error(m0: np.ndarray, m1: np.ndarray, n: int) -> tuple[float, float]:
    """(least sum of both errors, least miss at false alarm ≤ ½) of n reports with two outputs."""
    weights = np.array([math.comb(n, i) for i in range(n + 1)], dtype=float)
    i = np.arange(n + 1)
    a, b = (weights * p[0] ** i * p[1] ** (n - i) for p in (m0, m1))
    total = float(np.minimum(a, b).sum())
    order = np.argsort(-(a / b))
    covered = np.cumsum(a[order])
    inside = order[: int(np.searchsorted(covered, 0.5)) + 1]
    return total, float(b[inside].sum())


def test_exponents_are_the_rates_at_which_errors_vanish() -> None:
    p0, p1, m = [0.7, 0.3], [0.4, 0.6], ex.randomized_response(2, 2)
    found = ex.error_exponent(m, p0, p1)
    m0, m1 = m.marginal(p0), m.marginal(p1)
    rates = {n: [-math.log(v) / n for v in _best_error(m0, m1, n)] for n in (100, 400)}
    for kind, limit in ((0, found.chernoff), (1, found.stein)):
        first, second = (abs(rates[n][kind] - limit) for n in (100, 400))
        assert second < first / 2
        assert second < math.log(400) / 400  # the factor before the exponential is a power of n
    assert found.chernoff < min(found.stein, found.reverse_stein)


@given(st.integers(0, 2**12))
def test_chernoff_information_is_the_maximum_over_tilts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4))
    value, tilt = chernoff_information(a, b)
    grid = np.linspace(0, 1, 2001)
    curve = -np.log((a[:, None] ** grid * b[:, None] ** (1 - grid)).sum(axis=0))
    assert value == pytest.approx(curve.max(), abs=1e-6)
    assert value >= curve.max() - 1e-12
    assert 0 <= tilt <= 1
    assert value == pytest.approx(chernoff_information(b, a)[0], rel=1e-9, abs=1e-15)


def test_chernoff_information_at_the_edges() -> None:
    assert chernoff_information([1, 0], [0, 1])[0] == math.inf
    near = chernoff_information([0.5, 0.5], [0.5 + 1e-7, 0.5 - 1e-7])[0]
    assert near == pytest.approx(1e-14 / 2, rel=1e-5)  # (Σ(√a−√b)²)/2 to first order
    assert chernoff_information([1, 0], [0.5, 0.5])[0] == pytest.approx(math.log(2), rel=1e-9)


def test_privacy_shrinks_the_sample_like_epsilon_squared() -> None:
    """KOV Section 3: the effective sample size is of order ε²n."""
    p0, p1 = [0.7, 0.3], [0.4, 0.6]
    shares = [ex.error_exponent(ex.binary(p0, p1, e), p0, p1).efficiency for e in (0.1, 0.01)]
    assert shares[0] / shares[1] == pytest.approx(100, rel=0.05)
    found = ex.error_exponent(ex.binary(p0, p1, 1), p0, p1)
    assert found.effective(1000) == pytest.approx(1000 * found.efficiency)
    assert math.exp(-found.stein * found.reports_for(0.01)) <= 0.01
    assert "effective share" in str(found)
    assert list(found.to_frame()["exponent"])[2] == "Chernoff"
    with pytest.raises(InvalidParameter, match="error must lie between 0 and 1"):
        found.reports_for(0)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("n", [1, 10, 50])
def test_no_test_of_private_reports_beats_le_cam(epsilon: float, n: int) -> None:
    p0, p1 = [0.55, 0.45], [0.45, 0.55]
    m = ex.binary(p0, p1, epsilon)  # optimal for two symbols
    total, _ = _best_error(m.marginal(p0), m.marginal(p1), n)
    assert total / 2 >= le_cam(p0, p1, epsilon, n)


def test_no_guess_from_private_reports_beats_fano() -> None:
    generator = np.random.default_rng(4)
    for _ in range(20):
        k, epsilon = int(generator.integers(3, 9)), float(generator.uniform(0.1, 2))
        hypotheses = generator.dirichlet(np.ones(k), size=k)
        m = ex.randomized_response(k, round(epsilon, 4))
        marginals = hypotheses @ m.matrix
        error = 1 - marginals.max(axis=0).sum() / k  # the best guess from one report
        assert error >= fano(list(hypotheses), round(epsilon, 4), 1)
        assert fano(list(hypotheses), round(epsilon, 4), 1) >= fano(k, round(epsilon, 4), 1)


def test_bounds_are_vacuous_rather_than_negative() -> None:
    assert le_cam([1, 0], [0, 1], 5, 1000) == 0.0
    assert fano(4, 5, 1000) == 0.0
    assert le_cam([1, 0], [0, 1], 0, 10) == 0.5
    with pytest.raises(InvalidParameter, match="at least 2 hypotheses"):
        fano(1, 1, 1)


@pytest.mark.parametrize(("k", "distance"), [(2, 0.3), (4, 0.45), (5, 0.4)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_test_of_uniformity_beats_the_bound(k: int, distance: float, epsilon: float) -> None:
    """The best test between uniform reports and the mixture over all signs, by listing every sequence of reports."""
    pairs = k // 2
    moved = distance * k / (2 * pairs)
    mixture = []
    for signs in itertools.product((1, -1), repeat=pairs):
        p = np.full(k, 1 / k)
        for i, z in enumerate(signs):
            p[2 * i : 2 * i + 2] += np.array([1, -1]) * z * 2 * moved / k
        assert np.abs(p - 1 / k).sum() / 2 == pytest.approx(distance)
        mixture.append(p)
    for m in (ex.randomized_response(k, epsilon), ex.subset_selection(k, epsilon, size=max(1, k // 2))):
        for n in (1, 2, 4):
            uniform, mixed = (_sequences([p @ m.matrix for p in given], n) for given in ([np.full(k, 1 / k)], mixture))
            errors = float(np.minimum(uniform, mixed).sum())
            assert errors >= identity_testing(k, epsilon, distance, n) - 1e-12


def _sequences(marginals: list[np.ndarray], n: int) -> np.ndarray:
    """The probability of every sequence of n reports, averaged over the hypotheses."""
    found = []
    for m in marginals:
        product = np.ones(1)
        for _ in range(n):
            product = np.outer(product, m).ravel()
        found.append(product)
    return np.mean(found, axis=0)


def test_identity_testing_needs_a_number_of_people_of_order_k() -> None:
    """8nγ²·tanh²(ε/2)/k for e^ε ≤ 3, and kc/4 in place of 2k·tanh² beyond."""
    s = 8 * 1000 * 0.1**2 * math.tanh(0.5) ** 2 / 100
    assert identity_testing(100, 1, 0.1, 1000) == pytest.approx(1 - math.sqrt((1 - s * s) ** -0.5 - 1) / 2, rel=1e-12)
    s = 100 * (2 * 0.1 / 100) ** 2 * 100 * math.expm1(3) / 4
    assert identity_testing(100, 3, 0.1, 100) == pytest.approx(1 - math.sqrt((1 - s * s) ** -0.5 - 1) / 2, rel=1e-12)
    assert identity_testing(10, 0, 0.2, 10**6) == 1.0
    with pytest.raises(InvalidParameter, match="at most ½"):
        identity_testing(10, 1, 0.6, 10)
