"""How the numbers of proofs are written and read; a field's reader is part of its type.

A number in a proof has at most `MOST_DIGITS` characters and is a decimal in its shortest form: sums of many then stay
small, whatever a file contains. A field is annotated with one of the types below, and `Annotated` holds what reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from extremal.errors import MalformedFile
from extremal.exact import decimal_text
from extremal.exact.written import DECIMAL, WHOLE

MOST_DIGITS = 400  # characters: eight times the digits that a search ever writes
LONGEST_WHOLE = 4000  # characters: below where Python refuses to read a whole number
LARGEST_PLAIN = 1 << 53  # from here on readers of JSON may round a whole number

Reader = Callable[[Any], Any]


def number_from(text: Any) -> Fraction:
    """The decimal that a string of a proof stands for.

    >>> number_from("-0.0015")
    Fraction(-3, 2000)
    """
    if not isinstance(text, str) or len(text) > MOST_DIGITS or DECIMAL.fullmatch(text) is None:
        raise MalformedFile(
            "a number of a proof is a decimal as it is written", parameter="number", value=str(text)[:60]
        )
    return Fraction(text)


def count_from(value: Any) -> int:
    """An index or a count, as JSON has it."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedFile("an index of a proof is a whole number", parameter="index", value=str(value)[:60])
    return value


def whole_from(value: Any) -> int:
    """A whole number of any size: from 2^53 on it is written as a string, which every reader of JSON keeps.

    >>> whole_from("-36893488147419103232") == -(2**65)
    True
    """
    if isinstance(value, str) and len(value) <= LONGEST_WHOLE and WHOLE.fullmatch(value) is not None:
        whole = int(value)
        if abs(whole) >= LARGEST_PLAIN:
            return whole
    return count_from(value)


def flag_from(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MalformedFile("a truth value was expected in a proof", parameter="field", value=str(value)[:60])
    return value


def list_from(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedFile("a list was expected in a proof", parameter="field", value=type(value).__name__)
    return value


def many(read: Reader) -> Reader:
    """Reads a list of any length."""
    return lambda value: tuple(map(read, list_from(value)))


def _row(*reads: Reader) -> Reader:
    """Reads a list of as many entries as there are readers."""
    return lambda value: tuple(read(v) for read, v in zip(reads, list_from(value), strict=True))


Flag = Annotated[bool, flag_from]
Number = Annotated[Fraction, number_from]
Numbers = Annotated[tuple[Fraction, ...], many(number_from)]
Whole = Annotated[int, whole_from]
Wholes = Annotated[tuple[int, ...], many(whole_from)]
Counts = Annotated[tuple[int, ...], many(count_from)]
Pairs = Annotated[tuple[tuple[int, int], ...], many(_row(count_from, count_from))]
Prices = Annotated[tuple[tuple[int, int, Fraction], ...], many(_row(count_from, count_from, number_from))]
Multipliers = Annotated[
    tuple[tuple[int, int, int, Fraction], ...], many(_row(count_from, count_from, count_from, number_from))
]
PriceLines = Annotated[tuple[tuple[Fraction, Fraction], ...], many(_row(number_from, number_from))]
Trees = Annotated[tuple[tuple[int, ...], ...], many(many(count_from))]
Table = Annotated[tuple[tuple[int, ...], ...], many(many(whole_from))]


def to_plain(value: Any) -> Any:
    """A field as JSON."""
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, int) and abs(value) >= LARGEST_PLAIN:
        return str(value)
    if isinstance(value, tuple):
        return [to_plain(v) for v in value]
    return value.to_json() if hasattr(value, "to_json") else value
