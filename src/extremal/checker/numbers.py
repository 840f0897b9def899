"""Numbers: rationals, intervals of them, and ln, exp and √ between two rationals.

Everything is a `Fraction` or an integer; what is irrational is an `Interval` of two rationals. `decimal` computes ln
and exp correctly rounded; the result is widened by fifty units of its last digit. No float decides anything: ±∞ are
the only ones. Where an interval is too wide to decide a comparison, the question is asked again with more digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeVar

ZERO, ONE = Fraction(0), Fraction(1)
INFINITE = math.inf
Vector = list[Fraction]
Bound = Fraction | float
"""A rational, or ±∞; no other float occurs."""
Answer = TypeVar("Answer")


class Malformed(Exception):
    """The file does not follow the grammar: no verdict (exit code 2)."""


class Rejected(Exception):
    """A proof does not check."""


class Uncheckable(Exception):
    """Nothing that can be checked: a user's function, an output without losses, other inputs."""


class Undecided(Exception):
    """More work than this checker takes on: not decided here, which is never a pass."""


class Unsettled(Exception):
    """A comparison that needs more digits."""


def require(condition: bool, what: str) -> None:
    """Refuse the proof unless this holds."""
    if not condition:
        raise Rejected(what)


def of_kind(value: object, kind: type[Answer], what: str) -> Answer:
    """The value, if it is of this kind; otherwise the proof is refused."""
    if not isinstance(value, kind):
        raise Rejected(what)
    return value


def one_of(value: Answer | None, what: str) -> Answer:
    """The value, if there is one; otherwise the proof is refused."""
    if value is None:
        raise Rejected(what)
    return value


def expect(condition: bool, what: str) -> None:
    """The file is malformed unless this holds."""
    if not condition:
        raise Malformed(what)


class Work:
    """What was spent on the present file, in thousandths of what one question may take at most: half a minute or so."""

    spent: int = 0


MOST_SPENT = 3000  # thousandths: three such questions in one file


def afford(cost: int, most: int, what: str) -> None:
    """Leave a question undecided before any work, where the work would be too much: for it, or for its file."""
    Work.spent += 1000 * cost // most
    if cost > most:
        raise Undecided(f"{what}: {cost} steps, at most {most} here")
    if Work.spent > MOST_SPENT:
        raise Undecided("all questions of the file together are too much work")


# -- digits --

DIGITS = (120, 480, 1920)  # of logarithms: of 120, fifty are left where ln(1+g) and g cancel; then four times as many
FINE = 200  # bits after the point to which e^ε is rounded up
SLACK_DIGITS = 2  # a result is widened by fifty units of its last digit, a hundred times its rounding
WIDEST_EXPONENT = 4 * 10**8  # of ten, in `decimal`: beyond what any number of a file makes, and 32 bits hold it


class Working:
    """How many decimal digits logarithms and exponentials have at the moment."""

    digits: int = DIGITS[0]

    @classmethod
    def context(cls, rounding: str) -> Context:
        return Context(prec=cls.digits, rounding=rounding, Emin=-WIDEST_EXPONENT, Emax=WIDEST_EXPONENT)


def settled(question: Callable[[], Answer]) -> Answer:
    """The answer to a question, asked with more digits until its comparisons are decided."""
    try:
        for digits in DIGITS:
            Working.digits = digits
            try:
                return question()
            except Unsettled:
                continue
    finally:
        Working.digits = DIGITS[0]
    raise Undecided(f"a comparison that {DIGITS[-1]} digits do not decide")


# -- intervals --


@dataclass(frozen=True)
class Interval:
    """A real number that lies between two rationals."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Interval | Fraction | int) -> Interval:
        other = ends(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval | Fraction | int) -> Interval:
        return self + -ends(other)

    def __mul__(self, other: Interval | Fraction | int) -> Interval:
        other = ends(other)
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(products), max(products))

    def __truediv__(self, other: Interval | Fraction | int) -> Interval:
        """x/y, y an interval without 0."""
        other = ends(other)
        if other.low <= 0 <= other.high:
            raise Unsettled
        return self * Interval(ONE / other.high, ONE / other.low)

    def __radd__(self, other: Fraction | int) -> Interval:
        return self + other

    def __rsub__(self, other: Fraction | int) -> Interval:
        return -self + other

    def __rmul__(self, other: Fraction | int) -> Interval:
        return self * other

    def positive(self) -> Interval:
        """max(0, x)."""
        return Interval(max(ZERO, self.low), max(ZERO, self.high))

    def rounded(self, bits: int) -> Interval:
        """A wider interval whose ends are multiples of 2^-bits, so that long sums stay short."""
        return Interval(-rounded_up(-self.low, bits), rounded_up(self.high, bits))


def ends(value: Interval | Fraction | int) -> Interval:
    """A number as an interval of width 0."""
    return value if isinstance(value, Interval) else Interval(Fraction(value), Fraction(value))


def quotient(context: Context, x: Fraction) -> Decimal:
    """x rounded as the context says."""
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def around(x: Interval, function: Callable[[Context, Decimal], Decimal]) -> Interval:
    """An increasing function of an interval: each end rounded outwards, the function of it, and the slack around."""
    floor, ceiling = Working.context(ROUND_FLOOR), Working.context(ROUND_CEILING)
    low, high = (
        Fraction(function(floor, quotient(floor, x.low))),
        Fraction(function(ceiling, quotient(ceiling, x.high))),
    )
    slack = Fraction(1, 10 ** (Working.digits - SLACK_DIGITS))
    return Interval(low - abs(low) * slack, high + abs(high) * slack)


def ln(x: Fraction) -> Interval:
    """ln x for x > 0; exactly 0 at 1."""
    return ends(ZERO) if x == 1 else around(ends(x), Context.ln)


LARGEST_EXPONENT = 10**6  # of e: numbers of half a million digits are long enough


def exp(x: Fraction | Interval) -> Interval:
    """e^x; exactly 1 at 0."""
    x = ends(x)
    if x.low == x.high == 0:
        return ends(ONE)
    afford(math.ceil(max(abs(x.low), abs(x.high))), LARGEST_EXPONENT, "an exponential")
    return around(x, Context.exp)


def root(x: Fraction) -> Interval:
    """√x for x ≥ 0."""
    shift = 4 * Working.digits + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    below = math.isqrt((x.numerator << (2 * shift)) // x.denominator)
    exact = below * below * x.denominator == x.numerator << (2 * shift)
    return Interval(Fraction(below, 1 << shift), Fraction(below + (not exact), 1 << shift))


def rounded_up(x: Fraction, bits: int) -> Fraction:
    """The next multiple of 2^-bits."""
    return Fraction(-((-x.numerator << bits) // x.denominator), 1 << bits)


def shortened(x: Fraction) -> Fraction:
    """A rational above with about 2·FINE bits, so that sums of many stay short."""
    if x == 0:
        return ZERO
    bits = 2 * FINE - (abs(x.numerator).bit_length() - x.denominator.bit_length())
    return rounded_up(x, bits) if bits > 0 else Fraction(math.ceil(x))


# -- vectors --


def dot(a: Sequence[Fraction | int], b: Sequence[Fraction | int]) -> Fraction:
    """Σ a_i·b_i."""
    return sum((Fraction(x * y) for x, y in zip(a, b, strict=True) if x and y), ZERO)


def total(values: Sequence[Fraction]) -> Fraction:
    """Σ a_i."""
    return sum(values, ZERO)


def whole_numbers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Numbers as integers over their common denominator."""
    below = math.lcm(*(v.denominator for v in values))
    return [v.numerator * (below // v.denominator) for v in values], below


def solution(rows: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """X with rows·X = right, by elimination; a matrix that has no inverse is refused."""
    table = [[*row, *b] for row, b in zip(rows, right, strict=True)]
    for i in range(len(table)):
        pivot = next((j for j in range(i, len(table)) if table[j][i]), i)
        require(bool(table[pivot][i]), "a matrix that has an inverse")
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        table = [row if j == i else reduced_by(row, row[i], table[i]) for j, row in enumerate(table)]
    return [row[len(table) :] for row in table]


def reduced_by(row: Vector, factor: Fraction, other: Vector) -> Vector:
    """row − factor·other."""
    return [v - factor * w for v, w in zip(row, other, strict=True)] if factor else row
