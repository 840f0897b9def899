"""Tail bounds: never below the truth, and equal to it where they say so."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.estimate.hypothesis_tests import tails
from extremal.estimate.hypothesis_tests.likelihood_ratio import critical_value
from extremal.estimate.hypothesis_tests.tails import Tail, chernoff, on_grid


def enumerated(values: np.ndarray, probabilities: np.ndarray, n: int, s: float) -> float:
    """P(S ≥ s) over every sequence."""
    every = np.array(list(itertools.product(range(values.size), repeat=n)))
    reached = values[every].sum(axis=1) >= s
    return math.fsum(probabilities[every[reached]].prod(axis=1).tolist())


@given(st.integers(2, 4), st.integers(1, 5), st.integers(0, 10_000))
def test_the_bound_is_the_enumerated_probability(size: int, n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, step = on_grid(generator.normal(size=size), n)
    probabilities = generator.dirichlet(np.ones(size))
    tail = Tail(values, probabilities, n, step)
    assert tail.exact
    sums = {float(sum(values[list(c)])) for c in itertools.product(range(size), repeat=n)}
    for s in sorted(sums)[:: 1 + len(sums) // 20]:
        truth = enumerated(values, probabilities, n, s)
        assert truth * (1 - 1e-14) <= tail.at_least(s) <= truth * (1 + 1e-9) + 1e-15
        above = enumerated(values, probabilities, n, s + step / 2)
        assert above * (1 - 1e-14) <= tail.at_least(s + step / 2) <= above * (1 + 1e-9) + 1e-15


@given(st.integers(0, 10_000))
def test_impossible_values_stop_the_sum(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, step = on_grid(np.append(generator.normal(size=3), [-math.inf, math.inf]), 4)
    probabilities = np.append(generator.dirichlet(np.ones(4)), 0.0)
    tail = Tail(values, probabilities, 4, step)
    for s in (-5.0, 0.0, 1.5):
        assert tail.at_least(s) == pytest.approx(enumerated(values[:4], probabilities[:4], 4, s), rel=1e-9, abs=1e-15)
    assert tail.at_least(-math.inf) == 1.0
    assert tail.at_least(math.inf) == 0.0


def test_nothing_finite_can_occur() -> None:
    tail = Tail(np.array([-math.inf, 1.0]), np.array([1.0, 0.0]), 3, 1.0)
    assert tail.at_least(-10.0) == 0.0
    assert tail.at_least(-math.inf) == 1.0
    assert critical_value(tail, 0.05) == math.inf


@pytest.mark.parametrize("n", [30, 300, 5_000, 40_000])
def test_a_long_sum_is_that_of_a_binomial(n: int) -> None:
    """Three values of which two nearly agree: cutting, squaring and the grid against a formula."""
    from scipy.stats import binom

    step = 2.0**-4
    values, probabilities = np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25])  # the sum of two fair ±½
    tail = Tail(values, probabilities, n, step)
    for deviation in (-2.0, 0.0, 1.5, 3.0, 8.0):
        s = float(math.floor(deviation * math.sqrt(n / 2)))
        truth = float(binom.sf(n + s - 1, 2 * n, 0.5))
        assert truth * (1 - 1e-10) <= tail.at_least(s) <= truth * (1 + 1e-5) + 1e-18


def test_ends_that_are_cut_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.stats import binom

    monkeypatch.setattr(tails, "LONG", 8)
    monkeypatch.setattr(tails, "DROPPED", 1e-4)
    tail = Tail(np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]), 64, 1.0)
    for s in (0, 8, 16, 24):
        truth = float(binom.sf(64 + s - 1, 128, 0.5))
        assert truth <= tail.at_least(float(s)) <= truth + 0.05


def test_millions_of_reports_get_chernoffs_bound() -> None:
    n = 10_000_000
    values, step = on_grid(np.array([-0.1, 0.03, 0.11]), n)
    probabilities = np.array([0.4, 0.3, 0.3])
    tail = Tail(values, probabilities, n, step)
    assert not tail.exact
    mean, spread = (
        float(probabilities @ values),
        float(np.sqrt(probabilities @ values**2 - (probabilities @ values) ** 2)),
    )
    from scipy.special import ndtr

    for z in (2.0, 5.0):
        bound = tail.at_least(n * mean + z * spread * math.sqrt(n))
        assert float(ndtr(-z)) <= bound <= math.exp(-z * z / 2) * 1.01


@given(st.integers(0, 10_000))
def test_chernoffs_bound_is_one(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, masses = generator.normal(size=3), generator.dirichlet(np.ones(3))
    for s in generator.normal(size=5) * 4:
        assert chernoff(values, masses, 4, float(s)) >= enumerated(values, masses, 4, float(s)) * (1 - 1e-12)


@given(st.floats(1e-9, 50), st.integers(1, 10**9), st.integers(0, 1000))
def test_sums_on_the_grid_are_exact(size: float, n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=3) * size
    rounded, step = on_grid(values, n)
    assert math.frexp(step)[0] == 0.5  # a power of two
    assert np.all(rounded / step == np.rint(rounded / step))
    assert n * float(np.abs(rounded).max()) / step <= 2**53
    assert float(np.abs(rounded - values).max()) <= step / 2


@given(st.integers(1, 40), st.floats(0.001, 0.5), st.integers(0, 1000))
def test_the_critical_value_is_the_smallest(n: int, alpha: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, step = on_grid(generator.normal(size=3), n)
    tail = Tail(values, generator.dirichlet(np.ones(3)), n, step)
    critical = critical_value(tail, alpha)
    if math.isfinite(critical):
        assert tail.at_least(critical) <= alpha
        assert tail.at_least(critical - step) > alpha
    else:
        assert tail.at_least(tail.highest) > alpha
