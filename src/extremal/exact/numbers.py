"""Numbers as people write them, read exactly.

A float means the decimal that it prints as: `0.1` is 1/10, not the binary fraction next to it. A string is a decimal or
a ratio ("0.1", "1/3"). NaN, infinities, booleans and anything else are refused by name.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from extremal.errors import InvalidParameter

Number: TypeAlias = "int | float | str | Fraction | Decimal"

_LONGEST_TEXT = 20_000  # characters: reading takes time that grows with their square
_LARGEST = Fraction(sys.float_info.max)  # what is shown, summed and compared as a double must be one
_LARGEST_EXPONENT = 400  # decimal exponents beyond ±400 are refused: they would only build huge integers


def as_fraction(value: object, parameter: str) -> Fraction:
    """The exact rational that `value` stands for.

    Raises:
        InvalidParameter: not a finite number, beyond what a double can be, or not readable as a number.

    >>> as_fraction(0.1, "epsilon"), as_fraction("1/3", "epsilon")
    (Fraction(1, 10), Fraction(1, 3))
    """
    found = _read(value, parameter)
    if abs(found) > _LARGEST:
        raise InvalidParameter(f"{parameter} must be a number of at most 1.8e308", parameter=parameter, value=value)
    return found


def _read(value: object, parameter: str) -> Fraction:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise InvalidParameter(f"{parameter} must be a number, not a truth value", parameter=parameter, value=value)
    if isinstance(value, Rational):  # int, Fraction and NumPy integers
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        return _from_text(value, parameter)
    if isinstance(value, Decimal):
        return _from_text(str(value), parameter)
    if isinstance(value, Real):
        number = float(value)
        if not math.isfinite(number):
            raise InvalidParameter(f"{parameter} must be finite", parameter=parameter, value=value)
        return Fraction(str(value))  # str, not float: a float32 prints fewer digits than its float64 image
    raise InvalidParameter(
        f"{parameter} must be a number (int, float, Fraction, Decimal or a decimal string)",
        parameter=parameter,
        value=value,
    )


def _from_text(text: str, parameter: str) -> Fraction:
    if len(text) > _LONGEST_TEXT:
        raise InvalidParameter(
            f"{parameter} must be written with at most {_LONGEST_TEXT:,} characters",
            parameter=f"len({parameter})",
            value=len(text),
        )
    parts = text.split("/")
    try:
        decimals = [Decimal(part.strip()) for part in parts]
        if len(parts) > 2 or not all(_within_reach(d) for d in decimals):
            raise InvalidOperation
        return Fraction(decimals[0]) / Fraction(decimals[1]) if len(parts) == 2 else Fraction(decimals[0])
    except (InvalidOperation, ZeroDivisionError):
        raise InvalidParameter(
            f"{parameter} must be a finite number", parameter=parameter, value=text, hint='Write "0.1" or "1/3".'
        ) from None


def _within_reach(number: Decimal) -> bool:
    return number.is_finite() and (not number or abs(number.adjusted()) <= _LARGEST_EXPONENT)


def as_count(value: object, parameter: str, least: int) -> int:
    """`value` as a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidParameter(f"{parameter} must be a whole number", parameter=parameter, value=value)
    if value < least:
        raise InvalidParameter(f"{parameter} must be at least {least}", parameter=parameter, value=value)
    return int(value)


def decimal_text(number: Fraction) -> str:
    """`number` as a short decimal when it has one, else as a ratio: what files store.

    >>> decimal_text(Fraction(1, 10)), decimal_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    denominator = number.denominator
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > _LARGEST_EXPONENT:
        return str(number)
    digits = str(abs(number.numerator) * 10**places // denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
