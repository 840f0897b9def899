"""A column of any library as integer codes and its distinct labels; pandas, polars and pyarrow are recognised, never
imported."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter

Codes = npt.NDArray[np.intp]

_WIDEST = 1 << 22  # integers in a range this wide are their own codes; others are looked up


def distinct_codes(values: Any, parameter: str) -> tuple[Codes, Sequence[Any]]:
    """(codes, labels) with labels[codes[i]] = values[i]; labels may hold some that do not occur.

    >>> codes, labels = distinct_codes(["b", "a", "b"], "reports")
    >>> codes.tolist(), labels
    ([0, 1, 0], ['b', 'a'])
    """
    library = type(values).__module__.partition(".")[0]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(f"{parameter} must be a sequence", parameter=parameter, value=values)
    if library == "pandas":
        return _pandas(values, parameter)
    if library == "polars":
        return _polars(values, parameter)
    if library == "pyarrow":
        return _arrow(values, parameter)
    if isinstance(values, np.ndarray):
        return _array(values, parameter)
    return _listed(list(values))


def refuse_missing(label: Any, parameter: str) -> None:
    """Raise when a label is None, NaN, NaT or NA."""
    if (
        label is None
        or type(label).__name__ in ("NAType", "NaTType")
        or (isinstance(label, (float, np.floating)) and label != label)
    ):
        raise InvalidParameter(
            f"{parameter} must not be missing",
            parameter=parameter,
            value=label,
            hint="Leave out those who did not report.",
        )


def pick(frame: Any, name: Any, parameter: str) -> Any:
    """A column of a pandas, polars or pyarrow table."""
    names = getattr(frame, "column_names", None)
    if names is None and hasattr(frame, "columns"):
        names = list(frame.columns)
    if names is None:
        raise InvalidParameter(
            f"{parameter} may be a name only for data frames and files", parameter=parameter, value=name
        )
    refuse_unknown(name, list(names), parameter)
    return frame[name]


def refuse_unknown(name: Any, names: Sequence[Any], parameter: str) -> None:
    """Raise unless `name` is the name of exactly one column."""
    if names.count(name) != 1:
        close = difflib.get_close_matches(str(name), [str(n) for n in names], n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Columns: {', '.join(repr(n) for n in names[:8])}."
        what = "must be the name of a column" if name not in names else "must be the name of one column, not of several"
        raise InvalidParameter(f"{parameter} {what}", parameter=parameter, value=name, hint=hint)


def _listed(values: list[Any]) -> tuple[Codes, list[Any]]:
    """Distinct labels in order of appearance. Equal labels of different types (1 and True) stay apart."""
    first: dict[Any, int] = {}
    values = [tuple(v) if type(v) is list else v for v in values]
    mixed = len(set(map(type, values))) > 1
    try:
        keys = [(type(v), v) for v in values] if mixed else values
        codes = np.fromiter((first.setdefault(key, len(first)) for key in keys), dtype=np.intp, count=len(values))
    except TypeError:
        raise InvalidParameter(
            "labels must be str, int, bool or tuples of them", parameter="reports", value=values[:3]
        ) from None
    return codes, [key[1] for key in first] if mixed else list(first)


def _array(values: npt.NDArray[Any], parameter: str) -> tuple[Codes, Sequence[Any]]:
    if values.ndim != 1:
        raise InvalidParameter(
            f"{parameter} must be one-dimensional", parameter=f"{parameter}.shape", value=values.shape
        )
    if values.dtype.kind == "b":
        return values.astype(np.intp), (False, True)
    if values.dtype.kind not in "iu" or not values.size:
        return _listed(values.tolist())
    low, high = int(values.min()), int(values.max())
    if high - low > _WIDEST:
        labels, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.intp), labels.tolist()
    if low == 0 or (low > 0 and high <= _WIDEST):
        return values.astype(np.intp, copy=False), range(high + 1)
    return (values.astype(np.int64) - low).astype(np.intp), range(low, high + 1)


def _pandas(values: Any, parameter: str) -> tuple[Codes, Sequence[Any]]:
    if getattr(values, "ndim", 1) != 1:
        raise InvalidParameter(f"{parameter} must be one column", parameter=f"{parameter}.shape", value=values.shape)
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iub":
        return _array(values.to_numpy(), parameter)
    if str(values.dtype) == "category":
        series = values.cat if hasattr(values, "cat") else values
        codes, labels = np.asarray(series.codes, dtype=np.intp), series.categories.tolist()
    elif values.dtype == object:
        return _listed(values.tolist())
    else:
        found, labels = values.factorize()
        codes, labels = np.asarray(found, dtype=np.intp), list(labels)
    return _without_gaps(codes, parameter), labels


def _without_gaps(codes: Codes, parameter: str) -> Codes:
    gaps = np.flatnonzero(codes < 0)
    if gaps.size:
        raise InvalidParameter(
            f"{parameter} must not be missing",
            parameter=f"{parameter}[{gaps[0]}]",
            value=None,
            hint=f"{gaps.size} missing: leave out those who did not report.",
        )
    return codes


def _polars(values: Any, parameter: str) -> tuple[Codes, Sequence[Any]]:
    if values.null_count():
        return _without_gaps(np.where(values.is_null().to_numpy(), -1, 0), parameter), ()
    if str(values.dtype).startswith(("Categorical", "Enum")):
        values = values.cast(str)
    if values.dtype.is_integer() or str(values.dtype) == "Boolean":
        return _array(values.to_numpy(), parameter)
    distinct = values.unique(maintain_order=True)
    if values.dtype.is_nested() or distinct.len() > values.len() // 2:
        return _listed(values.to_list())
    codes = values.replace_strict(distinct, range(distinct.len())).to_numpy()
    return codes.astype(np.intp), distinct.to_list()


def _arrow(values: Any, parameter: str) -> tuple[Codes, Sequence[Any]]:
    kind = str(values.type)
    if values.null_count:
        return _without_gaps(np.where(values.is_null().to_numpy(zero_copy_only=False), -1, 0), parameter), ()
    if kind.startswith(("list", "large_list", "fixed_size_list", "struct")):
        return _listed(values.to_pylist())
    encoded = values if kind.startswith("dictionary") else values.dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.unify_dictionaries().combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp), encoded.dictionary.to_pylist()
