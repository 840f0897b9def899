"""Bisection ends on the side where the condition holds, next to where it does not."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.bisection import bisected


@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(0, 1000))
def test_integers_end_next_to_the_change(low: int, length: int, where: int) -> None:
    high = low + length
    change = low + 1 + where % length  # the first that holds
    assert bisected(lambda n: n >= change, low, high) == change
    assert bisected(lambda n: n < change, high, low) == change - 1


@given(st.floats(0, 1e6), st.floats(1e-9, 1e6), st.floats(0, 1))
def test_floats_end_at_neighbours(low: float, length: float, share: float) -> None:
    high = low + length
    change = low + share * length
    up = bisected(lambda x: x >= change, low, high)
    assert up == high or (up >= change and math.nextafter(up, -math.inf) <= max(change, low))
    down = bisected(lambda x: x <= change, high, low)
    assert down == low or (down <= change and math.nextafter(down, math.inf) >= min(change, high))


def test_the_ends_are_not_asked() -> None:
    asked: list[int] = []
    assert bisected(lambda n: bool(asked.append(n)), 0, 8) == 8
    assert asked == [4, 6, 7]


def test_an_own_middle_and_a_width_end_it_earlier() -> None:
    assert bisected(lambda x: x >= 1e-5, 1e-9, 1.0, between=lambda a, b: math.sqrt(a * b), width=1e-9) == pytest.approx(
        1e-5, abs=1e-9
    )
    assert bisected(lambda x: x >= Fraction(1, 3), Fraction(0), Fraction(1), width=0.25) == Fraction(1, 2)
    assert bisected(lambda x: x > 0.1, 0.0, 1.0, between=lambda a, b: max((a + b) / 2, 0.25)) == 0.25
