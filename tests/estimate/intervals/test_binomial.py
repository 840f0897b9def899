"""Exact limits: coverage by enumeration, never below nominal, never wider than Clopper and Pearson's."""

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom

from extremal.estimate.intervals.binomial import beta_limits, mapped, mapped_limits

LEVELS = (0.8, 0.95, 0.99)
GRID = np.linspace(0, 1, 401)


def _question(epsilon: float) -> tuple[float, float]:
    inside = 1 / (1 + np.exp(-epsilon))
    return inside, 1 - inside


def _coverage(found: np.ndarray, n: int, inside: float, outside: float) -> np.ndarray:
    weight = binom.pmf(np.arange(n + 1), n, (outside + (inside - outside) * GRID)[:, None])
    return np.asarray((weight * ((found[:, 0] <= GRID[:, None]) & (GRID[:, None] <= found[:, 1]))).sum(axis=1))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1, 2, 3, 5])
def test_coverage_of_a_yes_no_question_is_never_below_nominal_and_widths_are_at_most_clopper_pearson(
    level: float, epsilon: float
) -> None:
    inside, outside = _question(epsilon)
    for n in (20, 50, 100, 300):
        x = np.arange(n + 1)
        ours = mapped_limits(x, n, level, inside, outside)
        assert _coverage(ours, n, inside, outside).min() >= level
        low = beta_limits(np.minimum(x, np.floor(n * inside)), n, level)[:, 0]
        high = beta_limits(np.maximum(x, np.ceil(n * outside)), n, level)[:, 1]
        peer = mapped(low, high, np.asarray(inside), np.asarray(outside))
        assert (ours[:, 0] >= peer[:, 0] - 1e-8).all()
        assert (ours[:, 1] <= peer[:, 1] + 1e-8).all()
        assert (ours[:, 1] > ours[:, 0]).all()  # none is empty
        assert (np.diff(ours, axis=0) >= -1e-12).all()


def test_the_enumeration_catches_an_interval_that_does_not_hold() -> None:
    inside, outside = _question(5)
    x, n, z = np.arange(21), 20, 1.959964
    wilson = (x / n + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(x / n * (1 - x / n) / n + z**2 / (4 * n**2))
    found = mapped(wilson - reach, wilson + reach, np.asarray(inside), np.asarray(outside))
    assert _coverage(found, n, inside, outside).min() < 0.93


@pytest.mark.parametrize(("n", "level"), [(5, 0.5), (10, 0.95), (13, 0.8), (17, 0.99), (40, 0.95)])
def test_limits_are_the_outermost_acceptable_shares(n: int, level: float) -> None:
    grid = np.linspace(0, 1, 20_001)[1:-1]
    mass = binom.pmf(np.arange(n + 1), n, grid[:, None])
    tail = np.minimum(np.cumsum(mass, axis=1), np.cumsum(mass[:, ::-1], axis=1)[:, ::-1])
    for x in range(n + 1):
        accepted = (mass * (tail <= tail[:, [x]] * (1 + 1e-12))).sum(axis=1)
        kept = grid[accepted > 1 - level]
        low, high = mapped_limits([x], n, level, 1, 0)[0]
        assert low == pytest.approx(kept.min() if x else 0.0, abs=1e-4)
        assert high == pytest.approx(kept.max() if x < n else 1.0, abs=1e-4)


def test_intervals_are_nested_in_the_level_and_hold_the_observed_share() -> None:
    x = np.arange(31)
    before = mapped_limits(x, 30, 0.3, 1, 0)
    for level in (0.5, 0.8, 0.95, 0.999):
        after = mapped_limits(x, 30, level, 1, 0)
        assert (after[:, 0] <= before[:, 0] + 1e-12).all()
        assert (after[:, 1] >= before[:, 1] - 1e-12).all()
        assert ((after[:, 0] <= x / 30) & (x / 30 <= after[:, 1])).all()
        before = after


def test_ten_million_reports() -> None:
    n = 10**7
    x = np.array([0, 1, 10, 12_345, n // 2, n - 1, n])
    found = mapped_limits(x, n, 0.95, 1, 0)
    peer = beta_limits(x, n, 0.95)
    assert (found[:, 0] >= peer[:, 0] * (1 - 1e-8)).all()
    assert (found[:, 1] <= peer[:, 1] + 1e-12).all()
    # Far from the ends Blaker's tails are Clopper and Pearson's up to one count.
    assert found[4] == pytest.approx(peer[4], abs=1 / n)
    assert betainc(12_345, n - 12_344, found[3, 0]) == pytest.approx(0.025, abs=3e-4)


def test_a_count_outside_the_possible_range_is_moved_into_it() -> None:
    found = mapped_limits([0, 25, 75, 100], 100, 0.95, 0.75, 0.25)
    assert found[0].tolist() == found[1].tolist()
    assert found[2].tolist() == found[3].tolist()
    assert found[0, 0] == 0
    assert 0.1 < found[0, 1] < 0.3


def test_counts_that_are_not_whole_have_limits_between_those_of_their_neighbours() -> None:
    between, around = beta_limits([3.5], 10, 0.9), beta_limits([3, 4], 10, 0.9)
    assert around[0, 0] < between[0, 0] < around[1, 0]
    assert around[0, 1] < between[0, 1] < around[1, 1]
