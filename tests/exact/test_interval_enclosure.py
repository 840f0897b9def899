"""Every operation of `Interval` encloses the exact result: rationals by Fractions, the rest by Arb."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.interval import Interval, exponential_interval

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)


def encloses(found: Interval, exact: Fraction) -> bool:
    return bool(Fraction(float(found.lo)) <= exact <= Fraction(float(found.hi)))


@given(numbers, numbers)
def test_arithmetic_encloses_the_rational_result(a: Fraction, b: Fraction) -> None:
    both = Interval.around([a, b])
    x, y = both[0], both[1]
    assert encloses(x + y, a + b)
    assert encloses(x - y, a - b)
    assert encloses(-x, -a)
    assert encloses(x * y, a * b)
    assert encloses(both.sum(), a + b)
    assert encloses(both.dot(both), a * a + b * b)
    assert encloses(x.positive_part(), max(a, Fraction(0)))
    if b > 0:
        assert encloses(x / y, a / b)


@given(st.floats(1e-300, 700))
def test_elementary_functions_enclose_what_arb_says(x: float) -> None:
    flint.ctx.prec = 200
    ball = flint.arb(x)
    for found, exact in ((Interval.of(x).log(), ball.log()), (Interval.of(x).exp(), ball.exp()), (Interval.of(x).sqrt(), ball.sqrt())):
        assert flint.arb(float(found.lo)) < exact < flint.arb(float(found.hi))


def test_integer_bounds_of_the_exponential() -> None:
    found = exponential_interval(3 << 60, (3 << 60) + 1, 60)
    assert found.lo < 3 < found.hi
    assert float(Interval.of(0.0).log().lo) == -np.inf
    assert float(found.hi - found.lo) == pytest.approx(0, abs=1e-15)
