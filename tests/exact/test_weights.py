"""Sums beyond 64 bits come out exact."""

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


def test_floats_that_add_up_to_too_much_are_refused() -> None:
    for values in ([2.0, 2.0], [np.inf, 0.0], [np.nan, 0.0]):
        with pytest.raises(OverflowError, match="less than 4"):
            exact_float_sums(np.array(values), np.zeros(2, dtype=np.intp), 1)
