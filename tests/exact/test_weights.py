"""Sums beyond 64 bits come out exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.weights import DENOMINATOR, as_probabilities, exact_float_sums, exact_sums, halves, joined

WEIGHT = st.integers(0, DENOMINATOR)


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.lists(WEIGHT, min_size=m, max_size=m), min_size=1, max_size=6)))
def test_sums_are_those_of_python_integers(rows: list[list[int]]) -> None:
    weights = np.array(rows, dtype=np.int64)
    assert exact_sums(weights, axis=1) == [sum(row) for row in rows]
    assert exact_sums(weights, axis=0) == [sum(column) for column in zip(*rows, strict=True)]


@given(WEIGHT)
def test_halves_join_to_the_whole(weight: int) -> None:
    high, low = halves(np.array([weight], dtype=np.int64))
    assert joined(int(high[0]), int(low[0])) == weight


def test_probabilities_are_rounded_once() -> None:
    third = DENOMINATOR // 3
    assert as_probabilities(np.array([0, third, DENOMINATOR], dtype=np.int64)).tolist() == [
        0.0,
        third / DENOMINATOR,
        1.0,
    ]


def test_floats_add_up_exactly() -> None:
    rng = np.random.default_rng(4)
    values = rng.dirichlet(np.ones(70_000)) * np.where(rng.random(70_000) < 0.1, 1e-30, 1.0)
    values[:3] = 0.0, 5e-324, 0.75
    cell = rng.integers(0, 5, size=values.size)
    sums, unit = exact_float_sums(values, cell.astype(np.int16), 6)
    for i in range(6):
        assert Fraction(sums[i], unit) == sum(map(Fraction, values[cell == i].tolist()), Fraction(0))


@pytest.mark.parametrize("count", [1, 2, 40])
@given(st.lists(st.floats(0, 0.01) | st.sampled_from([0.0, 5e-324, 2.0**-37, 2.0**-58, 0.75, 1.0]), max_size=60))
def test_any_floats_add_up_exactly(count: int, given: list[float]) -> None:
    values = np.array(given)[np.cumsum(given) < 3] if given else np.array(given)
    cell = np.arange(values.size) % count
    sums, unit = exact_float_sums(values, cell, count)
    exact = [sum((Fraction(v) for v in values[cell == i].tolist()), Fraction(0)) for i in range(count)]
    assert [Fraction(s, unit) for s in sums] == exact


def test_as_many_small_floats_as_there_may_be_add_up_exactly() -> None:
    """The largest sums of rests, and of small floats that are multiplied: all alike, all bits set."""
    for v in (math.nextafter(2.0**-37, 0), math.nextafter(2.0**-20, 0), 2.0**-17 + 2.0**-52, 2.0**-51 + 2.0**-90):
        values = np.full(100_000, v)
        (total,), unit = exact_float_sums(values, np.zeros(values.size, dtype=np.int8), 1)
        assert Fraction(total, unit) == 100_000 * Fraction(v)


def test_floats_that_add_up_to_too_much_are_refused() -> None:
    for values in ([2.0, 2.0], [np.inf, 0.0], [np.nan, 0.0]):
        with pytest.raises(OverflowError, match="less than 4"):
            exact_float_sums(np.array(values), np.zeros(2, dtype=np.intp), 1)
