"""Outward rounding: every operation encloses the exact result, compared with Arb."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.interval import Interval, exponential_interval

numbers = st.floats(-1e6, 1e6)
positive = st.floats(1e-6, 1e6)


def encloses(interval: Interval, exact: flint.arb) -> bool:
    return bool(flint.arb(float(interval.lo)) <= exact) and bool(exact <= flint.arb(float(interval.hi)))


@given(numbers, numbers, positive)
def test_arithmetic_and_functions_enclose(a: float, b: float, c: float) -> None:
    with flint.ctx.workprec(3000):  # sums of the largest and the smallest float are exact
        x, y, z = (Interval.of(v) for v in (a, b, c))
        r, s, t = (flint.arb(v) for v in (a, b, c))
        assert encloses(x + y, r + s)
        assert encloses(x - y, r - s)
        assert encloses(-x, -r)
        assert encloses(x * y, r * s)
        assert encloses(x / z, r / t)
        assert encloses(z.log(), t.log())
        assert encloses(z.sqrt(), t.sqrt())
        assert encloses(Interval.of(a / 1e5).exp(), flint.arb(a / 1e5).exp())
        assert encloses(x.positive_part(), max(r, flint.arb(0)))


def test_sums_and_products_of_arrays() -> None:
    thirds = Interval.around([Fraction(1, 3), Fraction(1, 2), Fraction(1, 7)])
    assert (thirds.lo[[0, 2]] < thirds.hi[[0, 2]]).all()
    assert thirds.lo[1] == thirds.hi[1] == 0.5
    total = thirds.sum()
    assert Fraction(float(total.lo)) <= Fraction(41, 42) <= Fraction(float(total.hi))
    square = thirds.dot(thirds)
    exact = Fraction(1, 9) + Fraction(1, 4) + Fraction(1, 49)
    assert Fraction(float(square.lo)) <= exact <= Fraction(float(square.hi))
    assert float(thirds[1].hi) == 0.5


def test_integer_bounds_become_floats_around_them() -> None:
    enclosed = exponential_interval(2850325, 2850326, 20)
    assert enclosed.lo < 2850325 / 2**20 <= 2850326 / 2**20 < enclosed.hi
    assert np.isfinite(enclosed.hi)
