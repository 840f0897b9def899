"""Lists of Python values, and what every container knows of values: what is missing, and what type labels have.

Equal values of different types (1 and True) are different labels. What is missing (None, NaN, NaT, NA) has no label:
its code is `MISSING`. A list inside a list is a set of labels, and becomes a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidLabel, InvalidParameter
from extremal.mechanism.labels import Label, Labels

Array: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.intp]

MISSING = -1  # the code of a value that is not there
MISSING_TYPES = ("NAType", "NaTType")  # of pandas
SETS_AT_A_TIME = 128  # rows of codes that are made into tuples together
MOST_LISTED = 1 << 20  # numbers 0..n−1 up to which a column lists them (categories, dictionaries); others are integers


def holds(column: Any) -> bool:
    return isinstance(column, list)


def distinct(column: list[Any], name: str) -> tuple[Codes, Sequence[Any]]:
    """Labels in order of appearance."""
    kinds = set(map(type, column))
    values = [tuple(v) if type(v) is list else v for v in column] if list in kinds else column
    mixed = len(kinds) > 1
    keys = list(zip(map(type, values), values, strict=True)) if mixed else values
    try:
        place = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(place.__getitem__, keys), dtype=np.intp, count=len(keys))
    except TypeError:
        wrong = sorted({type(v).__name__ for v in values if not _hashable(v)})
        raise InvalidLabel(
            "labels must be str, int, bool or tuples of them", parameter=name, value=", ".join(wrong)
        ) from None
    return without_missing(codes, list(map(itemgetter(1), place)) if mixed else list(place))


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def integers(_column: list[Any]) -> Array | None:
    """Not before every value was looked at."""
    return None


def filled(codes: Array, labels: Labels, _like: Any) -> list[Any]:
    return labels_at(codes, labels)


def with_gaps(values: list[Any], _labels: Labels, _like: Any) -> list[Any]:
    return values


# -- what every container knows


def comes_from(column: Any, package: str, name: str | None = None) -> bool:
    """Whether its class, or one that it extends, is of this package (and has this name)."""
    return any(
        kind.__module__.partition(".")[0] == package and name in (None, kind.__name__) for kind in type(column).__mro__
    )


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pd.NA and whatever else is not equal to itself."""
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def plain(label: Any) -> Any:
    """A label as Python has it: what NumPy hands out for a number or a text is no label."""
    return label.item() if isinstance(label, np.generic) else label


def without_missing(codes: Codes, labels: Sequence[Any]) -> tuple[Codes, Sequence[Any]]:
    """`codes` with MISSING where the label stands for nothing."""
    gone = [code for code, label in enumerate(labels) if is_missing(label)]
    return (np.where(np.isin(codes, gone), MISSING, codes) if gone else codes), labels


def labels_at(codes: Array, labels: Labels) -> list[Any]:
    """The labels of the codes; a row of codes is a set, and gives a tuple."""
    if codes.ndim == 2:
        return _sets_at(codes, labels)
    return list(codes.tolist()) if labels.numbered else [labels[c] for c in codes.tolist()]


def _sets_at(codes: Array, labels: Labels) -> list[Any]:
    """Tuples of labels. Many of them share the labels of one table, which is several times as fast as making each
    label anew; a few rows at a time stay in the processor's memory."""
    if codes.size < len(labels):
        return [tuple(row if labels.numbered else map(labels.__getitem__, row)) for row in codes.tolist()]
    table = np.empty(len(labels), dtype=object)
    table[:] = list(labels)
    found: list[Any] = []
    for start in range(0, len(codes), SETS_AT_A_TIME):
        found += map(tuple, table[codes[start : start + SETS_AT_A_TIME]].tolist())
    return found


def common_kind(labels: Iterable[Any]) -> type | None:
    """str, int, bool or tuple when all labels are of that type, else None."""
    kinds = {labels.kind} if isinstance(labels, Labels) else set(map(type, labels))  # sets of labels are not listed
    only = kinds.pop() if len(kinds) == 1 else None
    return only if only in (str, int, bool, tuple) else None


def only_kind(labels: Iterable[Any]) -> type:
    """The type of the labels; a typed column cannot hold labels of several."""
    kind = common_kind(labels)
    if kind is None:
        raise InvalidParameter(
            "a typed column needs output labels of one type",
            parameter="outputs",
            value=[label for label, _ in zip(labels, range(6), strict=False)],
            hint="Rename the outputs with mechanism.then({...}).",
        )
    return kind


def unlistable(labels: Labels) -> bool:
    """Whether they are more numbers than a column lists."""
    return labels.numbered and labels.count > MOST_LISTED


def as_lists(values: Iterable[Any]) -> list[Any]:
    """Sets of labels as typed columns take them; anything else as it is."""
    return [list(value) if isinstance(value, tuple) else value for value in values]


def refuse_wide(values: Sequence[Any]) -> None:
    """Raise on integers that no typed column holds."""
    wide = [v for v in values if type(v) is int and not -(1 << 63) <= v < 1 << 63]
    if wide:
        raise InvalidParameter(
            "a typed column holds integers of 64 bits",
            parameter="outputs",
            value=wide[:6],
            hint="Give labels as text, or values in a list.",
        )


def members(codes: Array, labels: Labels) -> tuple[Codes, list[int], list[Label]] | None:
    """Sets of labels as typed columns store them: a code for each member of each set, one set after the other, the size
    of each set, and the labels of the members. None when the reports are no sets."""
    if codes.ndim == 2:
        return codes.ravel(), [codes.shape[1]] * codes.shape[0], list(labels)
    if common_kind(labels) is not tuple:
        return None
    sets: list[Any] = list(labels)
    parts = list(dict.fromkeys((type(part), part) for one in sets for part in one))
    place = {part: code for code, part in enumerate(parts)}
    each = [[place[type(part), part] for part in one] for one in sets]
    chosen = [each[code] for code in codes.tolist()]
    flat = np.array(list(chain.from_iterable(chosen)), dtype=np.intp)
    return flat, list(map(len, chosen)), [part for _, part in parts]
