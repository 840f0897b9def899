"""NumPy arrays; and integers, whatever the container: within a moderate range they are their own codes. And columns of
any container that are amounts, as floats.

Reports that are integers have 64 bits, whatever the values had: how wide a type was chosen may tell the largest value.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from extremal.columns import lists
from extremal.columns.lists import MISSING, Array, Codes, common_kind, labels_at
from extremal.errors import InvalidParameter
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Labels

_NO_AMOUNT = {
    str: "Text must be converted first: .astype(float), or float(…) of each.",
    bool: "Leave out the rows that do not count; if True means 1: .astype(float).",
}
WIDEST = 1 << 22  # integers in a range this wide are their own codes; others are looked up


def holds(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.ndim > 0


def distinct(column: Array, name: str) -> tuple[Codes, Sequence[Any]]:
    """Integers and truth values by their size; everything else in order of appearance."""
    if column.ndim != 1:
        raise InvalidParameter(f"{name} must be one-dimensional", parameter=f"{name}.shape", value=column.shape)
    if isinstance(column, np.ma.MaskedArray):
        codes, labels = distinct(np.asarray(column), name)
        return np.where(np.ma.getmaskarray(column), MISSING, codes), labels
    if column.dtype.kind == "b":
        return column.astype(np.intp), (False, True)
    if column.dtype.kind not in "iu" or not column.size:
        return lists.distinct(column.tolist(), name)
    low, high = int(column.min()), int(column.max())
    if high - low > WIDEST:
        found, places = np.unique(column, return_inverse=True)
        return places.astype(np.intp), found.tolist()
    if low >= 0 and high <= WIDEST:
        return column.astype(np.intp, copy=False), range(high + 1)
    # The difference first as 64 bits, where it cannot overflow however narrow the type.
    wide = column if column.dtype.kind == "u" else column.astype(np.int64)
    return (wide - low).astype(np.intp), range(low, high + 1)


def integers(column: Array) -> Array | None:
    plain = column.dtype.kind in "iu" and column.ndim == 1 and not isinstance(column, np.ma.MaskedArray)
    return column if plain else None


def filled(codes: Array, labels: Labels, like: Array) -> Array:
    return filled_as(codes, labels, like.dtype)


def with_gaps(values: list[Any], _labels: Labels, _like: Array) -> Array:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def filled_as(codes: Array, labels: Labels, like: np.dtype[Any]) -> Array:
    """Of the labels' own type, text as `like` has it; else Python objects."""
    kind = common_kind(labels) if codes.ndim == 1 and like.kind != "O" else None
    if kind in (None, tuple):
        return as_objects(codes, labels)
    if labels.numbered:
        return codes.astype(np.int64, copy=False)
    values: list[Any] = list(labels)
    if kind is int and not -(1 << 63) <= min(values) <= max(values) < 1 << 63:
        return as_objects(codes, labels)
    return np.array(values, dtype=like if like.kind == "T" and kind is str else None)[codes]


def as_objects(codes: Array, labels: Labels) -> Array:
    """An array of Python objects."""
    return np.fromiter(labels_at(codes, labels), dtype=object, count=len(codes))


# -- amounts, whatever the container


def numbers(column: Any, parameter: str) -> Floats:
    """Weights, sizes, answers that are numbers: a column (or a table) of any container as floats, NaN where one is
    missing. Text and truth values are none.

    >>> numbers([1, None, Decimal("0.5")], "weights").tolist()
    [1.0, nan, 0.5]
    """
    refuse_other_types(column, parameter)
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"{parameter} must be numbers", parameter=parameter, value=type(column).__name__
        ) from None


def refuse_other_types(column: Any, parameter: str, needed: str = "numbers") -> None:
    """Raise where a value is neither a number nor missing, with its type."""
    # NumPy would make one type of a list's: of True and 2.5 two numbers, of "1" and 2.5 two texts.
    cells = np.asarray(column, dtype=object if isinstance(column, (list, tuple)) else None)
    if cells.dtype.kind in "iuf":
        return
    wrong = next((kind for kind in set(map(type, cells.ravel().tolist())) if not _is_amount(kind)), None)
    if wrong is not None:
        hint = next((hint for kind, hint in _NO_AMOUNT.items() if issubclass(wrong, kind)), None)
        raise InvalidParameter(
            f"{parameter} must be {needed}", parameter=f"type of {parameter}", value=wrong.__name__, hint=hint
        )


def _is_amount(kind: type) -> bool:
    missing = kind is type(None) or kind.__name__ in lists.MISSING_TYPES
    return missing or (issubclass(kind, (Real, Decimal)) and not issubclass(kind, bool))
