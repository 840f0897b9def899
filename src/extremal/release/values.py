"""Lists and NumPy arrays: values → input codes, and output codes → reports of the same kind.

Labels are looked up strictly (True is not 1, "1" is not 1, a trailing space is another label), and what is missing
(None, NaN, NaT) is refused by its position. The first value at fault is named; nothing is sampled before every value
has its code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label, Labels

Array = npt.NDArray[Any]

WIDEST_LOOKUP = 1 << 20  # integer labels spread no wider than this are found in a table
UNKNOWN = -1


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pd.NA and whatever else is not equal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def refuse_value(labels: Labels, value: Any, name: str, position: int) -> NoReturn:
    """Say why `value` has no code."""
    where = f"{name}[{position}]"
    if is_missing(value):
        raise UnknownLabel(
            f"{where} must not be missing",
            parameter=where,
            value=value,
            hint="Drop or fill missing values first, or give them a label of their own: who does not answer also tells "
            "something.",
        )
    labels.code(value, where)
    raise UnknownLabel(
        f"{where} must be one of the mechanism's labels", parameter=where, value=value
    )  # pragma: no cover - code() raised


def label_codes(labels: Labels, kind: type) -> dict[Label, int]:
    """The codes of the labels of one type: within a type equality is strict."""
    return {label: code for code, label in enumerate(labels) if type(label) is kind}


def codes_of_list(labels: Labels, items: list[Any], name: str) -> Array:
    """The codes of a list of Python values."""
    kinds = set(map(type, items))
    if len(kinds) == 1 and kinds <= {str, int, bool}:
        get = label_codes(labels, kinds.pop()).get
        codes = np.fromiter((get(item, UNKNOWN) for item in items), dtype=np.int64, count=len(items))
        return checked(labels, codes, items, name)
    codes = np.empty(len(items), dtype=np.int64)
    for position, item in enumerate(items):
        if is_missing(item):
            refuse_value(labels, item, name, position)
        codes[position] = labels.code(item, f"{name}[{position}]")
    return codes


def checked(labels: Labels, codes: Array, values: Any, name: str) -> Array:
    """`codes`, unless one of them is UNKNOWN: then the value there is refused."""
    unknown = np.flatnonzero(codes == UNKNOWN)
    if unknown.size:
        position = int(unknown[0])
        refuse_value(labels, values[position], name, position)
    return codes


def codes_of_categories(labels: Labels, categories: Iterable[Any], used: Array, name: str) -> Array:
    """Codes for a column stored as positions in a list of categories; negative positions are missing.

    Categories that no row uses need not be labels. The order of the categories plays no part.
    """
    listed = list(categories)
    missing = np.flatnonzero(used < 0)
    if missing.size:
        refuse_value(labels, None, name, int(missing[0]))
    table = np.full(len(listed) + 1, UNKNOWN, dtype=np.int64)
    for category in np.unique(used).tolist():
        try:
            table[category] = labels.code(listed[category])
        except UnknownLabel:
            refuse_value(labels, listed[category], name, int(np.flatnonzero(used == category)[0]))
    return table[used]


def codes_of_array(labels: Labels, array: Array, name: str) -> Array:
    """The codes of a one-dimensional NumPy array. Integers under numbered labels are their own codes, checked by the
    sampler."""
    if array.ndim != 1:
        raise InvalidParameter(f"{name} must be one-dimensional", parameter=f"{name}.shape", value=array.shape)
    if isinstance(array, np.ma.MaskedArray):
        missing = np.flatnonzero(np.ma.getmaskarray(array))
        if missing.size:
            refuse_value(labels, None, name, int(missing[0]))
        array = np.asarray(array)
    if array.dtype.kind in "iu":
        return array if labels.numbered else _codes_of_integers(labels, array, name)
    if array.dtype.kind == "b":
        table = np.array([label_codes(labels, bool).get(value, UNKNOWN) for value in (False, True)], dtype=np.int64)
        return checked(labels, table[array.view(np.uint8)], array, name)
    return codes_of_list(labels, array.tolist(), name)


def _codes_of_integers(labels: Labels, array: Array, name: str) -> Array:
    codes = {int(label): code for label, code in label_codes(labels, int).items()}  # type: ignore[arg-type]
    if not codes or max(codes) - min(codes) > WIDEST_LOOKUP:
        return codes_of_list(labels, array.tolist(), name)
    lowest, highest = min(codes), max(codes)
    table = np.full(highest - lowest + 2, UNKNOWN, dtype=np.int64)
    table[np.array(list(codes)) - lowest] = list(codes.values())
    inside = (array >= lowest) & (array <= highest)
    return checked(labels, table[np.where(inside, array.astype(np.int64) - lowest, -1)], array, name)


def labels_of_codes(mechanism: Mechanism, codes: Array) -> list[Any]:
    """The reports as a list of labels; sets of inputs as sorted tuples of labels."""
    if codes.ndim == 2:
        names = mechanism.input_labels
        return [tuple(names[c] for c in row) for row in codes.tolist()]
    if mechanism.output_labels.numbered:
        return list(codes.tolist())
    names = mechanism.output_labels
    return [names[c] for c in codes.tolist()]


def as_objects(mechanism: Mechanism, codes: Array) -> Array:
    """The reports as an array of Python objects."""
    return np.fromiter(labels_of_codes(mechanism, codes), dtype=object, count=len(codes))


def common_kind(labels: Iterable[Any]) -> type | None:
    """str, int or bool when all labels are of that type, else None."""
    kinds = {labels.kind} if isinstance(labels, Labels) else set(map(type, labels))
    only = kinds.pop() if len(kinds) == 1 else None
    return only if only in (str, int, bool) else None


def only_kind(mechanism: Mechanism) -> type:
    """The type of the output labels; a typed column cannot hold labels of several."""
    kind = common_kind(mechanism.output_labels)
    if kind is None:
        raise InvalidParameter(
            "a typed column needs output labels of one type",
            parameter="outputs",
            value=mechanism.outputs[:6],
            hint="Rename the outputs with mechanism.then({...}).",
        )
    return kind


def reports_as_array(mechanism: Mechanism, codes: Array, like: np.dtype[Any]) -> Array:
    """The reports as a NumPy array: of the same type as the values when that can hold every output."""
    labels = mechanism.output_labels
    if codes.ndim == 1 and labels.numbered and like.kind != "O":
        return codes.astype(fitting(like, 0, len(labels) - 1), copy=False)
    kind = None if codes.ndim == 2 else common_kind(labels)
    if kind is None or like.kind == "O":
        return as_objects(mechanism, codes)
    outputs: list[Any] = list(labels)
    if kind is int:
        return np.array(outputs, dtype=fitting(like, min(outputs), max(outputs)))[codes]
    return np.array(outputs, dtype=like if like.kind == "T" and kind is str else None)[codes]


def fitting(like: np.dtype[Any], least: int, most: int) -> np.dtype[Any]:
    """`like` if it is an integer type that holds least..most, else int64."""
    if like.kind in "iu" and np.iinfo(like).min <= least and most <= np.iinfo(like).max:
        return like
    return np.dtype(np.int64)
