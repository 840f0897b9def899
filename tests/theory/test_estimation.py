"""Lower bounds on the error of any estimate: below estimators that exist, sharp for many people, to twelve digits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import diff, findroot, mp, mpf, pi, sinh, sqrt, tanh

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.theory import mean_estimation, share_estimation


def _worst_shrunk(epsilon: float, n: int) -> float:
    """The worst error over p of the best ½ + a·(p̂ − ½), p̂ unbiased from randomised response: (¼ − τ²d²)a²/(τ²n) +
    (1−a)²d² at d = p − ½, which is linear in d²."""
    kept = math.tanh(epsilon / 2) ** 2
    a = np.linspace(0, 1, 20_001)
    ends = [a**2 * (0.25 - kept * d) / (kept * n) + (1 - a) ** 2 * d for d in (0.0, 0.25)]
    return float(np.maximum(*ends).min())


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
def test_no_bound_is_above_what_an_estimator_attains(epsilon: float, n: int) -> None:
    assert 0 < mean_estimation(epsilon, n) <= _worst_shrunk(epsilon, n)
    assert share_estimation(2, epsilon, n) == 2 * mean_estimation(epsilon, n)
    for k in (3, 10, 50):
        attained = ex.Frequencies(k)(ex.subset_selection(k, epsilon)) / n  # the variance is concave: worst if uniform
        assert 0 < share_estimation(k, epsilon, n) <= min(attained, 1 - 1 / k)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_many_people_make_the_bounds_sharp(epsilon: float) -> None:
    n = 10**12
    assert n * mean_estimation(epsilon, n) == pytest.approx(1 / (4 * math.tanh(epsilon / 2) ** 2), rel=1e-4)
    best = ex.Frequencies(10)(ex.subset_selection(10, epsilon))
    assert n * share_estimation(10, epsilon, n) == pytest.approx(best, rel=1e-2)
    assert n * share_estimation(10, epsilon, n) < best


@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 3), (2.0, 2), (1.0, 5)])
def test_no_rule_beats_the_bound_on_a_mean_for_two_points(epsilon: float, n: int) -> None:
    """The mean risk of the best rule for two means, by listing all reports, at the best distance, is above."""
    tau, largest = math.tanh(epsilon / 2), 0.0
    counts = np.arange(n + 1)
    ways = np.array([math.comb(n, i) for i in counts], dtype=float)
    for t in np.linspace(0.01, 1, 200):
        laws = [ways * (0.5 + s * tau * t / 2) ** counts * (0.5 - s * tau * t / 2) ** (n - counts) for s in (1, -1)]
        largest = max(largest, float(t**2 * (laws[0] * laws[1] / (2 * (laws[0] + laws[1]))).sum()))
    points = (mpf(epsilon), n)
    assert float(_most(lambda t: _two_points(t, *points))) <= largest


def _two_points(t: Any, epsilon: Any, n: int) -> Any:
    return t**2 / 4 * (1 - sqrt(1 - (1 - (tanh(epsilon / 2) * t) ** 2) ** n))


def _most(risk: Any) -> Any:
    """The largest value over (0, 1), by a grid and the root of the derivative, or at the right end."""
    step = mpf(1) / 400
    start = max((i * step for i in range(1, 400)), key=risk)
    end = 1 - mpf(2) ** -50
    if risk(end) > risk(start):
        return risk(end)
    return risk(findroot(lambda t: diff(risk, t), (start - step / 2, start + step / 2), solver="anderson"))


@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 10), ("1", 10_000), ("3", 7)])
def test_the_bound_on_a_mean_to_twelve_digits(epsilon: str, n: int) -> None:
    with mp.workdps(40):
        e = mpf(epsilon)
        tau = tanh(e / 2)
        cosines = _most(lambda t: 1 / (4 * n * tau**2 / (1 - (tau * t) ** 2) + 4 * pi**2 / t**2))
        wanted = max(cosines, _most(lambda t: _two_points(t, e, n)))
    assert mean_estimation(epsilon, n) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize(("k", "epsilon", "n"), [(10, "1", 10_000), (7, "2", 50), (100, "0.5", 10**6), (5, "1", 10**9)])
def test_the_bound_on_shares_to_twelve_digits(k: int, epsilon: str, n: int) -> None:
    with mp.workdps(40):
        e, d = mpf(epsilon), k // 2
        c, loss = mp.expm1(e), 2 * sinh(e / 2) * sqrt(mpf(d) * n / k)
        whole = max(c**2 * m * (k - m) * k / (k + c * m) ** 2 for m in range(1, k))
        split = max(c**2 * m * k**2 / (2 * (k + c * m) ** 2) for m in range(1, d + 1))
        kinds = [(k - 1, whole, (k - 1) ** 3 * k * pi**2), (d, split, d * pi**2 * k**2 / 2)]
        found = [
            _most(lambda t, D=D, T=T, S=S: D**2 / (n * T / (1 - t) + S / t**2))  # type: ignore[misc]
            for D, T, S in kinds
        ]
        found.append(_most(lambda t: 2 * (t / k) ** 2 * (d - loss * t / sqrt(1 - t**2))))
        wanted = max(found)
    assert share_estimation(k, epsilon, n) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize(("k", "epsilon", "n"), [(4, 2.0, 2), (5, 1.0, 4)])
def test_no_estimate_of_shares_beats_the_bound_for_few_people(k: int, epsilon: float, n: int) -> None:
    """The least mean risk over all signs, by listing every sequence of reports, at some size of the moves."""
    for m in (ex.randomized_response(k, epsilon), ex.subset_selection(k, epsilon, size=max(1, k // 2))):
        largest = 0.0
        for t in np.linspace(0.02, 0.98, 25):
            shares = []
            for signs in itertools.product((1, -1), repeat=k // 2):
                p = np.full(k, 1 / k)
                for i, z in enumerate(signs):
                    p[2 * i : 2 * i + 2] += np.array([1, -1]) * z * t / k
                shares.append(p)
            stack = np.array(shares)
            likely = np.array([_sequences(p @ m.matrix, n) for p in shares]) / len(shares)
            best = (likely.T @ stack) / likely.sum(axis=0)[:, None]
            risk = float((likely * ((stack[:, None, :] - best[None, :, :]) ** 2).sum(axis=2)).sum())
            largest = max(largest, risk)
        assert 0 < share_estimation(k, epsilon, n) <= largest


def _sequences(marginal: np.ndarray, n: int) -> np.ndarray:
    """The probability of every sequence of n reports."""
    product = np.ones(1)
    for _ in range(n):
        product = np.outer(product, marginal).ravel()
    return product


def test_the_ends_of_the_scale() -> None:
    assert mean_estimation(0, 5) == pytest.approx(0.25, rel=1e-9)
    assert share_estimation(10, 0, 100) == pytest.approx(2 * 5 / 100, rel=1e-9)
    assert 0 < mean_estimation(50, 10**6) < 1e-6
    with pytest.raises(InvalidParameter, match="n must"):
        mean_estimation(1, 0)
