"""How proofs are written and read: rationals as decimal strings, whole numbers as they are, every field of a frozen
class.

A number in a proof has at most `MOST_DIGITS` characters and is a finite decimal: sums of many then stay small,
whatever a file contains.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from extremal.errors import MalformedFile
from extremal.exact import decimal_text

MOST_DIGITS = 400
LARGEST_EXPONENT = 400
LONGEST_WHOLE = 4000
LARGEST_PLAIN = 1 << 53


def number_from(text: Any) -> Fraction:
    """The decimal that a string of a proof stands for.

    >>> number_from("-1.5e-3")
    Fraction(-3, 2000)
    """
    try:
        if not isinstance(text, str) or len(text) > MOST_DIGITS:
            raise InvalidOperation
        number = Decimal(text)
        if not number.is_finite() or (number and abs(number.adjusted()) > LARGEST_EXPONENT):
            raise InvalidOperation
        return Fraction(number)
    except InvalidOperation:
        raise MalformedFile(
            "a number of a proof is a finite decimal string", parameter="number", value=str(text)[:60]
        ) from None


def count_from(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedFile("an index of a proof is a whole number", parameter="index", value=str(value)[:60])
    return value


def whole_from(value: Any) -> int:
    """A whole number of any size: beyond 2^53 it is written as a string, which every reader of JSON keeps.

    >>> whole_from("-36893488147419103232") == -(2**65)
    True
    """
    if isinstance(value, str) and len(value) <= LONGEST_WHOLE and value.removeprefix("-").isdecimal():
        whole = int(value)
        if abs(whole) >= LARGEST_PLAIN:
            return whole
    return count_from(value)


def list_from(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedFile("a list was expected in a proof", parameter="field", value=type(value).__name__)
    return value


def to_plain(value: Any) -> Any:
    """A field as JSON."""
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, int) and abs(value) >= LARGEST_PLAIN:
        return str(value)
    if isinstance(value, tuple):
        return [to_plain(v) for v in value]
    return value.to_json() if hasattr(value, "to_json") else value


Reader = Callable[[Any], Any]


def _many(read: Reader) -> Reader:
    return lambda value: tuple(map(read, list_from(value)))


def _row(*reads: Reader) -> Reader:
    return lambda value: tuple(read(v) for read, v in zip(reads, list_from(value), strict=True))


READERS: dict[str, Reader] = {
    "Number": number_from,
    "Numbers": _many(number_from),
    "Counts": _many(count_from),
    "Pairs": _many(_row(count_from, count_from)),
    "Lines": _many(_row(number_from, number_from)),
    "Multipliers": _many(_row(count_from, count_from, count_from, number_from)),
    "Trees": _many(_many(count_from)),
    "Whole": whole_from,
    "Wholes": _many(whole_from),
    "Table": _many(_many(whole_from)),
}
