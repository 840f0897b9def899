"""Interval arithmetic encloses the exact result of every operation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact import Exponential
from extremal.exact.interval import Interval, exponential_interval

NUMBERS = st.lists(st.fractions(min_value=Fraction(1, 900), max_value=1000, max_denominator=997), min_size=1, max_size=5)


@given(NUMBERS, st.data())
def test_arithmetic(a: list[Fraction], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.fractions(min_value=Fraction(1, 90), max_value=9, max_denominator=97), min_size=len(a), max_size=len(a)))
    x, y = Interval.around(a), Interval.around(b)
    exact = {
        "+": [p + q for p, q in zip(a, b, strict=True)],
        "-": [p - q for p, q in zip(a, b, strict=True)],
        "*": [p * q for p, q in zip(a, b, strict=True)],
        "/": [p / q for p, q in zip(a, b, strict=True)],
    }
    for result, numbers in zip((x + y, x - y, x * y, x / y), exact.values(), strict=True):
        assert all(Fraction(float(lo)) <= n <= Fraction(float(hi)) for lo, n, hi in zip(result.lo, numbers, result.hi, strict=True))
    dot = x.dot(y)
    assert Fraction(float(dot.lo)) <= sum(exact["*"]) <= Fraction(float(dot.hi))
    difference = x - y
    part = difference.positive_part()
    assert (part.lo >= 0).all()
    assert (part.hi >= difference.hi).all()
    assert bool(((-x).hi == -x.lo).all())
    assert float(x[0].lo) <= float(a[0]) <= float(x[0].hi)


def test_functions() -> None:
    x = Interval.of(np.array([0.0, 0.5, 1.0, 7.0]))
    assert np.isneginf(x.log().lo[0])
    for enclosed, value in ((x.exp(), np.exp([0.0, 0.5, 1.0, 7.0])), (x.sqrt(), np.sqrt([0.0, 0.5, 1.0, 7.0]))):
        assert (enclosed.lo <= value).all()
        assert (enclosed.hi >= value).all()
    e = exponential_interval(*Exponential(1).bounds(80), 80)
    assert float(e.lo) < 2.718281828459045235 < float(e.hi)
