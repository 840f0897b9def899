"""Intervals enclose: against Arb and exact rationals."""

from fractions import Fraction

import flint
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extremal.exact.interval import Interval, exponential_interval

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


def _holds(interval: Interval, exact: Fraction) -> bool:
    return Fraction(float(interval.lo)) <= exact <= Fraction(float(interval.hi))


@given(NUMBERS, NUMBERS)
def test_arithmetic_encloses(a: float, b: float) -> None:
    x, y, p, q = Interval.of(a), Interval.of(b), Fraction(a), Fraction(b)
    assert _holds(x + y, p + q)
    assert _holds(x - y, p - q)
    assert _holds(-x, -p)
    assert _holds(x * y, p * q)
    if b > 0:
        assert _holds(x / y, p / q)
    assert _holds(x.positive_part(), max(p, Fraction(0)))


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_sums_enclose(values: list[float]) -> None:
    interval = Interval.of(values)
    exact = sum((Fraction(v) for v in values), Fraction(0))
    assert _holds(interval.sum(), exact)
    assert _holds(interval.dot(interval), sum((Fraction(v) ** 2 for v in values), Fraction(0)))
    assert _holds(interval[0], Fraction(values[0]))


def test_functions_enclose_on_a_grid() -> None:
    """The allowance for NumPy's library functions, compared with Arb."""
    grid = np.concatenate([np.logspace(-300, 300, 400), np.linspace(0.5, 2, 400)])
    logs, roots = Interval.of(grid).log(), Interval.of(grid).sqrt()
    small = np.linspace(-50, 50, 400)
    powers = Interval.of(small).exp()
    with flint.ctx.workprec(200):
        for i, x in enumerate(grid.tolist()):
            assert flint.arb(float(logs.lo[i])) <= flint.arb(x).log() <= flint.arb(float(logs.hi[i]))
            assert flint.arb(float(roots.lo[i])) <= flint.arb(x).sqrt() <= flint.arb(float(roots.hi[i]))
        for i, x in enumerate(small.tolist()):
            assert flint.arb(float(powers.lo[i])) <= flint.arb(x).exp() <= flint.arb(float(powers.hi[i]))


def test_rationals_and_bounds_are_enclosed() -> None:
    third = Interval.around([Fraction(1, 3), Fraction(1, 2)])
    assert third.lo[0] < third.hi[0]
    assert third.lo[1] == third.hi[1] == 0.5
    assert _holds(exponential_interval(5, 6, 1), Fraction(11, 4))
