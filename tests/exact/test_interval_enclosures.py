"""Every operation of an interval encloses the true result, computed in rationals or in 60-digit arithmetic."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.interval import Interval, exponential_interval

positive = st.floats(1e-6, 1e6)


def _holds(interval: Interval, truth: Fraction) -> bool:
    return Fraction(float(interval.lo)) <= truth <= Fraction(float(interval.hi))


@given(positive, positive)
def test_arithmetic(a: float, b: float) -> None:
    x, y, fa, fb = Interval.of(a), Interval.of(b), Fraction(a), Fraction(b)
    for found, truth in ((x + y, fa + fb), (x - y, fa - fb), (x * y, fa * fb), (x / y, fa / fb), (-x, -fa)):
        assert _holds(found, truth)
    assert _holds((x - y).positive_part(), max(fa - fb, Fraction(0)))


@given(positive)
def test_functions(a: float) -> None:
    with mpmath.workdps(60):
        for found, truth in (
            (Interval.of(a).log(), mpmath.log(mpmath.mpf(a))),
            (Interval.of(a).sqrt(), mpmath.sqrt(mpmath.mpf(a))),
            (Interval.of(min(a, 600)).exp(), mpmath.exp(mpmath.mpf(min(a, 600)))),
        ):
            assert mpmath.mpf(float(found.lo)) <= truth <= mpmath.mpf(float(found.hi))
    assert Interval.of(0.0).log().lo == -np.inf


@given(st.lists(positive, min_size=1, max_size=20))
def test_sums(numbers: list[float]) -> None:
    x = Interval.of(numbers)
    assert _holds(x.sum(), sum((Fraction(n) for n in numbers), Fraction(0)))
    assert _holds(x.dot(x), sum((Fraction(n) ** 2 for n in numbers), Fraction(0)))
    assert _holds(x[0], Fraction(numbers[0]))


def test_rationals_and_the_exponential() -> None:
    exact = Interval.around([Fraction(1, 3), Fraction(1, 2)])
    assert _holds(exact[0], Fraction(1, 3))
    assert exact.lo[1] == exact.hi[1] == 0.5
    e = exponential_interval(2850325, 2850326, 20)
    assert float(e.lo) < np.e < float(e.hi)
    assert float((Interval.of(0.0) * Interval(np.array(1.0), np.array(np.inf))).hi) == pytest.approx(0, abs=1e-300)
