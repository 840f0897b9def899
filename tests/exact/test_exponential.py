"""e^ε against Arb and mpmath, and decisions at the last digit."""

import math
from fractions import Fraction

import flint
import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, exp_bounds, level_of_ratio, log_of_ratio


@given(st.fractions(0, 100, max_denominator=10**9), st.sampled_from([64, 160, 320]))
@example(Fraction(0), 160)
@example(Fraction(100), 160)
def test_bounds_enclose_e_to_epsilon_tightly(exponent: Fraction, bits: int) -> None:
    lower, upper = exp_bounds(exponent, bits)
    with flint.ctx.workprec(1000):
        ball = flint.arb(flint.fmpq(exponent.numerator, exponent.denominator)).exp() * flint.arb(2) ** bits
        assert ball >= lower
        assert ball <= upper
    assert upper - lower <= 2


@given(st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6), st.integers(1, 2**62))
def test_at_least_decides_at_the_last_unit(exponent: Fraction, b: int) -> None:
    exponential = Exponential(exponent)
    a = exponential.floor_times(b)
    assert exponential.at_least(a, b)
    assert not exponential.at_least(a + 1, b)
    with mpmath.workdps(120):
        assert a == int(mpmath.floor(mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator) * b))


def test_precision_grows_until_it_decides() -> None:
    one = Exponential(1)
    lower, upper = one.bounds(400)
    assert one.at_least(lower, 1 << 400)  # within 2^-399 of e: undecided at 160 and 320 bits
    assert not one.at_least(upper, 1 << 400)


def test_zero_weights() -> None:
    assert Exponential(1).at_least(0, 0)
    assert not Exponential(1).at_least(1, 0)
    assert Exponential(0).at_least(5, 5)
    assert not Exponential(0).at_least(6, 5)


def test_an_exact_ratio_is_exact() -> None:
    three = Exponential.of_ratio(Fraction(3))
    assert three.at_least(3, 1)
    assert not three.at_least(3 * 10**30 + 1, 10**30)
    assert three.epsilon == pytest.approx(math.log(3), rel=1e-15)
    assert three.bounds(2) == (12, 12)
    assert three.floor_times(7) == 21
    assert Exponential.from_json(three.to_json()) == three
    assert repr(three) == "Exponential(of_ratio(3))"
    assert Exponential.of_ratio(1).epsilon == 0


def test_equality_and_files() -> None:
    tenth = Exponential(0.1)
    assert tenth == Exponential("1/10")
    assert hash(tenth) == hash(Exponential("0.1"))
    assert tenth != Exponential.of_ratio(2)
    assert Exponential.from_json(tenth.to_json()) == tenth
    assert repr(tenth) == "Exponential(0.1)"


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (-1, "epsilon must not be negative; got epsilon=-1"),
        (1e-10, "epsilon must be 0 or between 1e-9 and 100 nats; got epsilon=1e-10"),
        (101, "epsilon must be 0 or between 1e-9 and 100 nats; got epsilon=101"),
        (float("nan"), "epsilon must be finite; got epsilon=nan"),
        (float("inf"), "epsilon must be finite; got epsilon=inf"),
        ("strong", "epsilon must be a finite number; got epsilon='strong'"),
    ],
)
def test_bad_epsilon(epsilon: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Exponential(epsilon)


def test_bad_ratio() -> None:
    with pytest.raises(InvalidParameter, match="ratio is e\\^epsilon and must be at least 1; got ratio=0.5"):
        Exponential.of_ratio(0.5)
    with pytest.raises(InvalidParameter, match="ratio must be 1 or between"):
        Exponential.of_ratio(Fraction(10**12 + 1, 10**12))


@given(st.integers(1, 2**62), st.integers(1, 2**62))
def test_level_of_ratio_is_the_smallest_float_that_suffices(a: int, b: int) -> None:
    level = level_of_ratio(a, b)
    if a <= b:
        assert level == 0
        return
    assert Exponential(level).at_least(a, b)
    if level > 1e-9:
        assert not Exponential.unchecked(Fraction(repr(math.nextafter(level, 0)))).at_least(a, b)


def test_logarithms_next_to_one_and_beyond_the_floats() -> None:
    assert log_of_ratio(10**18 + 1, 10**18) == pytest.approx(1e-18, rel=1e-12)
    assert log_of_ratio(10**400, 1) == pytest.approx(400 * math.log(10), rel=1e-14)
    assert level_of_ratio(1, 0) == math.inf
    assert level_of_ratio(2**62, 2**62 - 1) == 1e-9
