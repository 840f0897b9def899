"""Score limits: Wilson's where two values occur, never empty, and honest at the boundary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.estimate.intervals.levels import each, quantile
from extremal.estimate.intervals.score import score_limits


@given(x=st.integers(0, 40), n=st.integers(40, 400))
def test_for_two_values_they_are_wilsons(x: int, n: int) -> None:
    p, z = x / n, 1.959963984540054
    middle, reach = (
        (p + z**2 / (2 * n)) / (1 + z**2 / n),
        z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5,
    )
    one = np.array([1.0])
    found = score_limits(one * p, n, z, (one * 0, one), one * p, one * p * (1 - p), (one * 0, one * p, one))
    assert found[0] == pytest.approx([max(0, middle - reach), min(1, middle + reach)], abs=1e-12)


def test_limits_satisfy_their_equation() -> None:
    rng = np.random.default_rng(1)
    least, most, fitted, estimate = np.zeros(50), np.ones(50), rng.uniform(0.2, 0.8, 50), rng.uniform(0.2, 0.8, 50)
    at = fitted + rng.uniform(0.5, 3, 50)
    ends = (rng.uniform(0.5, 3, 50), at, 1 + rng.uniform(0.5, 3, 50))
    variance = at - fitted**2
    found = score_limits(estimate, 400.0, 2.0, (least, most), fitted, variance, ends)
    up, down = (ends[2] - at) / (most - fitted), (at - ends[0]) / (fitted - least)
    for theta in found.T:
        slope = np.where(theta > fitted, up, down)
        there = variance + slope * (theta - fitted) - theta**2 + fitted**2
        assert (theta - estimate) ** 2 == pytest.approx(4 / 400 * there, rel=1e-9)


@given(
    counts=st.lists(st.integers(0, 60), min_size=7, max_size=7).filter(lambda c: sum(c) >= 2),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)
def test_no_interval_is_empty_or_of_width_zero(counts: list[int], level: float) -> None:
    matrix = np.hstack([ex.randomized_response(3, 1).matrix * 0.8, np.full((3, 4), 0.05)])
    mechanism = ex.Mechanism.from_matrix(matrix)
    for method in ("unbiased", "mle"):
        result = ex.estimate_frequencies(counts, mechanism, method, counts=True)
        found = result.interval(level)
        assert (found[:, 0] < found[:, 1]).all()
        assert ((found >= 0) & (found <= 1)).all()
        shown = result.shown_within(found)
        assert ((found[:, 0] <= shown) & (shown <= found[:, 1])).all()


def test_levels() -> None:
    assert quantile(0.95) == pytest.approx(1.959963984540054)
    assert each(0.95, 100) == pytest.approx(0.9995)
    with pytest.raises(ex.errors.InvalidParameter, match="Write 95% as 0.95"):
        each(95, 2)
