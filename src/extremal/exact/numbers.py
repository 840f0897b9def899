"""Numbers as people write them, read exactly.

A float means the decimal that it prints as: `0.1` is 1/10, not the binary fraction next to it. A string is a decimal or
a ratio ("0.1", "1/3"). NaN, infinities, booleans and anything else are refused by name.

Several numbers are read in the order of the inputs. Where a series or a frame names them, the names decide, not the
order: they are matched with the labels of the inputs, or refused where these are not known. 0, 1, … in this order name
nothing: a library numbers what has no names.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, Final, TypeAlias

import numpy as np

from extremal.errors import InvalidParameter

Number: TypeAlias = "int | float | str | Fraction | Decimal"

_LONGEST_TEXT = 20_000  # characters: reading takes time that grows with their square
_LARGEST = Fraction(sys.float_info.max)  # what is shown, summed and compared as a double must be one
_LARGEST_EXPONENT = 400  # decimal exponents beyond ±400 are refused: they would only build huge integers

ANY_LABELS: Final[tuple[Any, ...]] = ()
"""Of an axis that may be named as one likes."""
_NAMELESS = (np.ndarray, list, tuple)
_MOST_SHOWN = 6  # labels in a message
_UNNAMED = "column_"  # and a number: what polars calls a column without a name


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


def pandas_index(given: Any) -> Any:
    """The index of a pandas series or frame; None for anything else."""
    pandas = any(kind.__module__.partition(".")[0] == "pandas" for kind in type(given).__mro__)
    return given.index if pandas and hasattr(given, "index") and hasattr(given, "loc") else None


def in_order(given: Any, parameter: str, labels: Iterable[Any] | None = None) -> Any:
    """Numbers in the order of `labels`, which are None where they are not known; what has no names is left as it is.

    >>> import pandas
    >>> in_order(pandas.Series({"yes": 0.1, "no": 0.9}), "prior", ["no", "yes"])
    [0.9, 0.1]

    Raises:
        InvalidParameter: the names are not those of the labels, each once, or the labels are not known.
    """
    if isinstance(given, _NAMELESS):
        return given
    if _column_names(given) is not None:
        raise InvalidParameter(
            f"{parameter} must be one-dimensional, and not a frame", parameter=f"{parameter}.shape", value=given.shape
        )
    index = pandas_index(given)
    order = None if index is None else _order(index.tolist(), labels, parameter, "index")
    if order is None:
        return given
    values = list(given)
    return [values[x] for x in order]


def matrix_in_order(
    given: Any, parameter: str, rows: Iterable[Any] | None = None, columns: Iterable[Any] | None = None
) -> Any:
    """A matrix with its rows and its columns in the order of these labels, as `in_order` has it.

    >>> import pandas
    >>> matrix_in_order(pandas.DataFrame([[1, 0]], columns=["yes", "no"]), "matrix", ANY_LABELS, ["no", "yes"]).tolist()
    [[0, 1]]
    """
    if isinstance(given, (list, tuple)):
        return [
            in_order(row, f"{parameter}[{i}]", None if columns is ANY_LABELS else columns)
            for i, row in enumerate(given)
        ]
    names, index = _column_names(given), pandas_index(given)
    if names is None:
        return given
    array = np.asarray(given)
    if index is not None and rows is not ANY_LABELS:
        array = _taken(array, 0, _order(index.tolist(), rows, parameter, "index"))
    return array if columns is ANY_LABELS else _taken(array, 1, _order(names, columns, parameter, "columns"))


def _column_names(given: Any) -> list[Any] | None:
    """Of a frame; None for anything else."""
    if pandas_index(given) is not None:
        return given.columns.tolist() if hasattr(type(given), "columns") else None
    if type(given).__module__.partition(".")[0] not in ("polars", "pyarrow"):
        return None
    names = getattr(given, "column_names", getattr(given, "columns", None))
    unnamed = [f"{_UNNAMED}{x}" for x in range(len(names or ()))]
    return list(range(len(unnamed))) if names == unnamed else names


def _taken(array: Any, axis: int, order: list[int] | None) -> Any:
    return array if order is None else array.take(order, axis)


def _order(names: list[Any], labels: Iterable[Any] | None, parameter: str, axis: str) -> list[int] | None:
    """Where each label stands among the names; None where these only number."""
    found, wanted = _typed(names), None if labels is None else _typed(labels)
    numbered = found == _typed(range(len(found)))
    if numbered and (wanted is None or set(found) != set(wanted)):
        return None
    if wanted is None:
        raise InvalidParameter(
            f"{parameter} must be without labels here, where those of the inputs are not known",
            parameter=f"len({parameter}.{axis})",
            value=len(found),
            hint="Put the numbers into the order of the inputs, then add .to_numpy().",
        )
    where = {name: place for place, name in enumerate(found)}
    _refuse_other_labels(found, where, wanted, parameter, axis)
    return [where[label] for label in wanted]


def _refuse_other_labels(
    found: list[Any], where: dict[Any, int], wanted: list[tuple[type, Any]], parameter: str, axis: str
) -> None:
    """Raise unless these are the labels that are wanted, each once."""
    if where.keys() != set(wanted) or len(where) < len(found):
        missing, unknown = len(set(wanted) - where.keys()), len(where.keys() - set(wanted))
        shown = ", ".join(repr(label) for _, label in wanted[:_MOST_SHOWN]) + (", …" if wanted[_MOST_SHOWN:] else "")
        raise InvalidParameter(
            f"the labels of {parameter} must be {shown}, each once: {missing} missing, {unknown} unknown, "
            f"{len(found) - len(where)} repeated",
            parameter=f"len({parameter}.{axis})",
            value=len(found),
            hint="Add the others with .reindex(…, fill_value=0), or give .to_numpy() in the order of these labels.",
        )


def _typed(labels: Iterable[Any]) -> list[tuple[type, Any]]:
    """Labels of which 1 is not True; what NumPy hands out for a number or a text is that."""
    plain = [label.item() if type(label).__module__ == "numpy" else label for label in labels]
    return list(zip(map(type, plain), plain, strict=True))


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
