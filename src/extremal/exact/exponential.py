"""The number e^ε, decided exactly against ratios of integers.

`Exponential(ε).at_least(a, b)` answers "is a ≤ e^ε·b?" for integers a, b ≥ 0 and never guesses: it compares with
rational lower and upper bounds on e^ε and doubles their precision until one of them decides. It ends because e^ε is
irrational for every rational ε ≠ 0 (Lindemann), so a = e^ε·b cannot happen unless a = b = 0. The bounds are integer
Taylor sums whose terms are all rounded down, or all up; no float takes part.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from extremal.errors import InvalidParameter
from extremal.exact.numbers import as_fraction, decimal_text
from extremal.exact.written import level_field, written_fraction

FIRST_BITS = 160  # decides ratios of 62-bit weights almost always at the first try
_ROOT_BITS = 192  # where the search for a weight starts: it then ends within a few steps, each decided exactly
_GUARD_BITS = 32  # and 3/2 for each nat: a Taylor sum of n rounded terms is off by at most about n·e^ε units

SMALLEST_EPSILON = Fraction(1, 10**9)
LARGEST_EPSILON = Fraction(100)


@lru_cache(maxsize=4096)
def exp_bounds(exponent: Fraction, bits: int = FIRST_BITS) -> tuple[int, int]:
    """Integers (lower, upper) with lower ≤ 2^bits·e^exponent ≤ upper, for exponent ≥ 0.

    >>> lower, upper = exp_bounds(Fraction(1), 20)
    >>> lower, upper, round(math.e * 2**20)
    (2850325, 2850326, 2850325)
    """
    numerator, denominator = exponent.numerator, exponent.denominator
    guard = _GUARD_BITS + 3 * int(exponent) // 2
    shift = bits + guard
    term, lower, j = 1 << shift, 0, 0
    while term:
        lower += term
        j += 1
        term = term * numerator // (denominator * j)
    term, upper, j = 1 << shift, 0, 0
    while term > 1 or j * denominator <= 2 * numerator:
        upper += term
        j += 1
        term = -(-term * numerator // (denominator * j))
    # Past j ≥ 2·exponent the terms halve, so all that is left out is at most twice the last one.
    upper += 2 * term
    return lower >> guard, -(-upper >> guard)


class Exponential:
    """The constant e^ε of a privacy notion: ε an exact rational, or e^ε itself one.

    >>> Exponential(1).at_least(2718281828, 10**9), Exponential(1).at_least(2718281829, 10**9)
    (True, False)
    >>> Exponential.of_ratio(3).at_least(3, 1)
    True
    """

    __slots__ = ("exponent", "ratio")

    def __init__(self, epsilon: object, parameter: str = "epsilon") -> None:
        exponent = as_fraction(epsilon, parameter)
        if exponent < 0:
            raise InvalidParameter(
                f"{parameter} must not be negative", parameter=parameter, value=epsilon, hint="Give ε in nats."
            )
        if exponent and not SMALLEST_EPSILON <= exponent <= LARGEST_EPSILON:
            raise InvalidParameter(
                f"{parameter} must be 0 or between 1e-9 and 100 nats",
                parameter=parameter,
                value=epsilon,
                hint="Above about 42 nats nothing is hidden; 0 is the constant mechanism.",
            )
        self.exponent: Fraction | None = exponent
        self.ratio: Fraction | None = None if exponent else Fraction(1)

    @classmethod
    def unchecked(cls, exponent: Fraction) -> Exponential:
        """e^exponent for any exponent ≥ 0: for products such as ε·d(x,x') that are no claim of their own."""
        self = cls.__new__(cls)
        self.exponent, self.ratio = exponent, None if exponent else Fraction(1)
        return self

    @classmethod
    def unchecked_ratio(cls, ratio: Fraction) -> Exponential:
        """The constant that is `ratio` ≥ 1 exactly, however near to 1 or large: for bounds, which claim nothing."""
        self = cls.__new__(cls)
        self.exponent, self.ratio = None, ratio
        return self

    @classmethod
    def of_ratio(cls, ratio: object) -> Exponential:
        """The constant whose value e^ε is exactly `ratio` ≥ 1."""
        exact = as_fraction(ratio, "ratio")
        if exact < 1:
            raise InvalidParameter(
                "ratio is e^epsilon and must be at least 1",
                parameter="ratio",
                value=ratio,
                hint="Use 3 for e^ε = 3.",
            )
        self = cls.unchecked_ratio(exact)
        if self.epsilon and not SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON:
            raise InvalidParameter(
                "ratio must be 1 or between e^1e-9 and e^100",
                parameter="ratio",
                value=ratio,
                hint="1 is the constant mechanism.",
            )
        return self

    @property
    def epsilon(self) -> float:
        """ε in nats as a float, correctly rounded up to one unit in the last place."""
        if self.exponent is not None:
            return float(self.exponent)
        ratio = self.ratio or Fraction(1)
        return log_of_ratio(ratio.numerator, ratio.denominator)

    def bounds(self, bits: int = FIRST_BITS) -> tuple[int, int]:
        """Integers (lower, upper) around 2^bits·e^ε."""
        if self.ratio is not None:
            lower = (self.ratio.numerator << bits) // self.ratio.denominator
            return lower, -(-(self.ratio.numerator << bits) // self.ratio.denominator)
        return exp_bounds(self.exponent or Fraction(0), bits)

    def least_low(self, total: int, highs: int = 1, lows: int = 1, power: int = 1) -> int:
        """The smallest low ≥ 1 with high^power ≤ e^ε·low^power, where `highs` weights high and `lows` weights low share
        a total: high = (total − lows·low)//highs.

        >>> Exponential.of_ratio(3).least_low(100), Exponential.of_ratio(9).least_low(100, power=2)
        (25, 25)
        """
        lower, _ = self.bounds(_ROOT_BITS)
        root = integer_root(lower << (_ROOT_BITS * (power - 1)), power)
        low = max(1, (total << _ROOT_BITS) // (highs * root + (lows << _ROOT_BITS)) - 1)
        while not self.at_least(((total - lows * low) // highs) ** power, low**power):
            low += 1
        return low

    def at_least(self, a: int, b: int) -> bool:
        """Whether a ≤ e^ε·b, exactly, for integers a of any sign and b ≥ 0."""
        if self.ratio is not None:
            return a * self.ratio.denominator <= self.ratio.numerator * b
        if a <= b:
            return True
        if b == 0:
            return False
        bits = FIRST_BITS
        while True:
            lower, upper = self.bounds(bits)
            if a << bits <= lower * b:
                return True
            if a << bits >= upper * b:
                return False
            bits *= 2

    def floor_times(self, b: int) -> int:
        """The largest integer a with a ≤ e^ε·b."""
        lower, _ = self.bounds(FIRST_BITS + b.bit_length())
        a = lower * b >> (FIRST_BITS + b.bit_length())
        return a + 1 if self.at_least(a + 1, b) else a

    def to_json(self) -> dict[str, str]:
        if self.exponent is not None:
            return {"epsilon": decimal_text(self.exponent)}
        return {"ratio": decimal_text(self.ratio or Fraction(1))}

    @classmethod
    def from_json(cls, content: dict[str, object]) -> Exponential:
        """What `to_json` wrote, among other fields."""
        if level_field(content) == "ratio":
            return cls.of_ratio(written_fraction(content["ratio"], "ratio"))
        return cls(written_fraction(content["epsilon"], "epsilon"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exponential) and (self.exponent, self.ratio) == (other.exponent, other.ratio)

    def __hash__(self) -> int:
        return hash((self.exponent, self.ratio))

    def __repr__(self) -> str:
        inside = repr(float(self.exponent)) if self.exponent is not None else f"of_ratio({self.ratio})"
        return f"Exponential({inside})"


def log_of_ratio(a: int, b: int) -> float:
    """log(a/b) for integers a ≥ b > 0, relatively accurate also when a/b is next to 1 or beyond the floats."""
    if a <= 2 * b:
        return math.log1p((a - b) / b)
    try:
        return math.log(a / b)  # the quotient of integers is correctly rounded
    except OverflowError:
        return math.log(a) - math.log(b)


def level_of_ratio(a: int, b: int) -> float:
    """The smallest accepted float ε with a ≤ e^ε·b: 0 if a ≤ b, infinity if b = 0 < a.

    A positive ε below the smallest accepted one is rounded up to it.

    >>> level_of_ratio(3, 1), level_of_ratio(1, 1), level_of_ratio(1, 0)
    (1.0986122886681098, 0.0, inf)
    """
    if a <= b:
        return 0.0
    if b == 0:
        return math.inf
    candidate = max(log_of_ratio(a, b), float(SMALLEST_EPSILON))
    while candidate > float(SMALLEST_EPSILON) and _reaches(math.nextafter(candidate, 0), a, b):
        candidate = math.nextafter(candidate, 0)
    while not _reaches(candidate, a, b):
        candidate = math.nextafter(candidate, math.inf)
    return candidate


def _reaches(epsilon: float, a: int, b: int) -> bool:
    # Levels above 100 nats are reported too, though they cannot be claimed.
    return Exponential.unchecked(Fraction(repr(epsilon))).at_least(a, b)


def integer_root(number: int, power: int) -> int:
    """The largest whole number whose power is at most `number`.

    >>> integer_root(10**30, 3), integer_root(10**30 - 1, 3), integer_root(15, 4), integer_root(16, 4)
    (10000000000, 9999999999, 1, 2)
    """
    found = 1 << -(-number.bit_length() // power)  # not below the root: Newton falls towards it
    while True:
        closer = ((power - 1) * found + number // found ** (power - 1)) // power
        if closer >= found:
            return found
        found = closer
