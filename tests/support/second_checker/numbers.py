"""Numbers of a file, and enclosures of ln, exp and √ between rationals.

Everything is a `Fraction`; what is irrational is an `Interval` of two of them. `decimal` computes ln and exp correctly
rounded to DIGITS digits; widening the result by two units of the last digit but one encloses the true value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

ZERO, ONE = Fraction(0), Fraction(1)
INFINITE = math.inf
Vector = list[Fraction]
Bound = Fraction | float
"""A rational, or ±∞; no other float occurs."""

DIGITS = 120  # of logarithms: what cancels between ln(1+g) and g still leaves fifty
SLACK = Fraction(1, 10 ** (DIGITS - 2))
FINE = 200  # bits after the point to which e^ε is rounded up
_WIDE = {"Emin": -(10**9), "Emax": 10**9}
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, **_WIDE)  # type: ignore[arg-type]
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, **_WIDE)  # type: ignore[arg-type]


class Malformed(Exception):
    """The file does not follow the grammar: no verdict."""


class Refused(Exception):
    """A proof does not check."""


class Undecided(Exception):
    """More work than this checker takes on."""


def require(condition: bool, what: str) -> None:
    """Refuse the proof unless this holds."""
    if not condition:
        raise Refused(what)


def expect(condition: bool, what: str) -> None:
    """The file is malformed unless this holds."""
    if not condition:
        raise Malformed(what)


# -- what a file may hold --

LONGEST_NUMBER, LARGEST_EXPONENT, LONGEST_WHOLE, LARGEST_INTEGER = 400, 400, 4000, 2**53
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DIGITS_ONLY = re.compile(r"-?\d+", re.ASCII)


def number(given: Any) -> Fraction:
    """A decimal string of at most 400 characters whose leading digit stands at 10^e, |e| ≤ 400."""
    expect(isinstance(given, str) and len(given) <= LONGEST_NUMBER, "a number is a decimal string")
    expect(DECIMAL.fullmatch(given) is not None, "a number is a decimal string")
    read = Decimal(given)
    expect(read.is_zero() or abs(read.adjusted()) <= LARGEST_EXPONENT, "a number is between 10^-400 and 10^400")
    return ZERO if read.is_zero() else Fraction(read)


def count(given: Any) -> int:
    """A JSON integer, no truth value."""
    expect(isinstance(given, int) and not isinstance(given, bool), "a count is an integer")
    return int(given)


def whole(given: Any) -> int:
    """A JSON integer below 2^53 in absolute value, or a string of digits of one that is not."""
    if isinstance(given, str):
        expect(len(given) <= LONGEST_WHOLE and DIGITS_ONLY.fullmatch(given) is not None, "a whole number is digits")
        expect(abs(int(given)) >= LARGEST_INTEGER, "a whole number below 2^53 is a JSON integer")
        return int(given)
    expect(abs(count(given)) < LARGEST_INTEGER, "a whole number from 2^53 on is a string")
    return int(given)


def flag(given: Any) -> bool:
    expect(isinstance(given, bool), "a flag is true or false")
    return bool(given)


def list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """A reader of lists."""

    def read_list(given: Any) -> list[Any]:
        expect(isinstance(given, list), "a list")
        return [read(v) for v in given]

    return read_list


def entries(*readers: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A reader of lists with as many entries as there are readers."""

    def read_entries(given: Any) -> tuple[Any, ...]:
        expect(isinstance(given, list) and len(given) == len(readers), f"a list of {len(readers)} entries")
        return tuple(read(v) for read, v in zip(readers, given, strict=True))

    return read_entries


def rational(given: Any) -> Fraction:
    """A decimal or a quotient a/b, as notions and goals hold them."""
    expect(isinstance(given, str) and len(given) <= 20_000, "a rational is a string")
    top, slash, bottom = given.partition("/")
    for part in (top, bottom) if slash else (top,):
        expect(DECIMAL.fullmatch(part) is not None, "a rational is a decimal or a/b")
        expect(abs(Decimal(part).adjusted()) <= 20_000, "a rational of reasonable size")
    expect(not slash or Decimal(bottom) != 0, "a quotient is not by 0")
    return Fraction(Decimal(top)) / (Fraction(Decimal(bottom)) if slash else 1)


def double(given: Any) -> Fraction:
    """The double that a decimal prints, exactly."""
    expect(isinstance(given, str) and DECIMAL.fullmatch(given) is not None, "a double is a decimal string")
    expect(math.isfinite(float(given)), "a double is finite")
    return Fraction(float(given))


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

    def __truediv__(self, other: Fraction | int) -> Interval:
        return self * (ONE / other)

    def __radd__(self, other: Fraction | int) -> Interval:
        return self + other

    def __rsub__(self, other: Fraction | int) -> Interval:
        return -self + other

    def __rmul__(self, other: Fraction | int) -> Interval:
        return self * other

    def positive(self) -> Interval:
        """max(0, x)."""
        return Interval(max(ZERO, self.low), max(ZERO, self.high))


def ends(value: Interval | Fraction | int) -> Interval:
    return value if isinstance(value, Interval) else Interval(Fraction(value), Fraction(value))


def quotient(context: Context, x: Fraction) -> Decimal:
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def widened(low: Decimal, high: Decimal) -> Interval:
    """Two results that are rounded correctly, and the numbers around them."""
    a, b = Fraction(low), Fraction(high)
    return Interval(a - abs(a) * SLACK, b + abs(b) * SLACK)


def ln(x: Fraction) -> Interval:
    """ln x for x > 0; exactly 0 at 1."""
    if x == 1:
        return Interval(ZERO, ZERO)
    return widened(DOWN.ln(quotient(DOWN, x)), UP.ln(quotient(UP, x)))


def exp(x: Fraction | Interval) -> Interval:
    """e^x; exactly 1 at 0."""
    x = ends(x)
    if x.low == x.high == 0:
        return Interval(ONE, ONE)
    return widened(DOWN.exp(quotient(DOWN, x.low)), UP.exp(quotient(UP, x.high)))


def root(x: Fraction) -> Interval:
    """√x for x ≥ 0."""
    shift = FINE * 2 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    below = math.isqrt((x.numerator << (2 * shift)) // x.denominator)
    return Interval(Fraction(below, 1 << shift), Fraction(below + 1, 1 << shift))


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
    return sum((Fraction(x * y) for x, y in zip(a, b, strict=True) if x and y), ZERO)


def total(values: Sequence[Fraction]) -> Fraction:
    return sum(values, ZERO)


def solution(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """x with rows·x = right, by elimination; a matrix that has no inverse is refused."""
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for i in range(len(table)):
        pivot = next((j for j in range(i, len(table)) if table[j][i]), i)
        require(bool(table[pivot][i]), "a matrix that has an inverse")
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        table = [row if j == i else _less(row, row[i], table[i]) for j, row in enumerate(table)]
    return [row[-1] for row in table]


def _less(row: Vector, factor: Fraction, other: Vector) -> Vector:
    """row − factor·other."""
    return [v - factor * w for v, w in zip(row, other, strict=True)]
