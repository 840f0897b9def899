"""pandas: a Series, Index or extension array; index and name stay, and the dtype but for the width of integers.

Categories are always the mechanism's labels in its order, and unordered: those of the column may have been collected
from the values, as may have been its `attrs`, which are left out. A sparse column becomes a dense one, a
subclass of Series a Series.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.columns import arrays, arrow, lists
from extremal.columns.lists import Array, Codes, comes_from, common_kind, unlistable, without_missing
from extremal.errors import InvalidParameter
from extremal.mechanism.labels import Labels


def holds(column: Any) -> bool:
    return comes_from(column, "pandas") and hasattr(column, "isna") and getattr(column, "ndim", 1) == 1


def distinct(column: Any, name: str) -> tuple[Codes, Sequence[Any]]:
    """Categories as they are listed, in use or not; the order of what else there is, is that of appearance."""
    import pandas as pd

    if isinstance(column, pd.MultiIndex):
        raise InvalidParameter(
            "a column has one value a row",
            parameter=name,
            value="MultiIndex",
            hint="index.get_level_values(level) is one of its columns.",
        )
    dtype, stored = column.dtype, getattr(column, "array", column)
    if isinstance(dtype, pd.CategoricalDtype):
        return without_missing(np.asarray(stored.codes, dtype=np.intp), dtype.categories.tolist())
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        return arrow.distinct(pa.array(column), name)
    if isinstance(dtype, pd.SparseDtype):
        return arrays.distinct(np.asarray(column), name)
    own = np.asarray(column) if isinstance(dtype, np.dtype) and dtype.kind == "b" else integers(column)
    if own is not None:
        return arrays.distinct(own, name)
    if _holds_objects(dtype) and pd.api.types.infer_dtype(column, skipna=False) != "string":
        return lists.distinct(column.tolist(), name)
    codes, labels = pd.factorize(np.asarray(column) if _holds_objects(dtype) else stored)
    return without_missing(codes.astype(np.intp, copy=False), labels.tolist())


def integers(column: Any) -> Array | None:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return np.asarray(column) if dtype.kind in "iu" else None
    if isinstance(dtype, pd.SparseDtype):
        return arrays.integers(np.asarray(column))
    if isinstance(dtype, pd.ArrowDtype) or not pd.api.types.is_integer_dtype(dtype) or column.isna().any():
        return None
    return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype))


def filled(codes: Array, labels: Labels, like: Any) -> Any:
    import pandas as pd

    data = _data(codes, labels, like.dtype)
    if isinstance(like, pd.Series):
        kept = object if _holds_objects(like.dtype) else None  # pandas would guess another type for text
        return pd.Series(data, index=like.index, name=like.name, dtype=kept, copy=False)
    if isinstance(like, pd.Index):
        return pd.Index(data, name=like.name, tupleize_cols=False)
    return data if isinstance(data, pd.api.extensions.ExtensionArray) else pd.array(data)


def with_gaps(values: list[Any], _labels: Labels, like: Any) -> Any:
    import pandas as pd

    return pd.Series(values, index=like.index, name=like.name, dtype=object)


def _data(codes: Array, labels: Labels, dtype: Any) -> Any:
    """The labels of the codes in an array of pandas, of type `dtype` when that can hold them."""
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(arrow.filled_as(codes, labels, dtype.pyarrow_dtype))
    if codes.ndim == 2 or _holds_objects(dtype):
        return arrays.as_objects(codes, labels)
    if isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) and unlistable(labels):
        dtype = np.dtype(np.int64)
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(codes, categories=pd.Index(list(labels), tupleize_cols=False))
    kind = common_kind(labels)
    if isinstance(dtype, pd.StringDtype) and kind is str:
        return pd.array(list(labels), dtype=dtype).take(codes)
    return arrays.as_objects(codes, labels) if kind in (None, tuple) else _numbers(codes, labels, dtype)


def _numbers(codes: Array, labels: Labels, dtype: Any) -> Any:
    """Where `dtype` has a type of NumPy behind it."""
    import pandas as pd

    if isinstance(dtype, pd.SparseDtype):
        return arrays.filled_as(codes, labels, dtype.subtype)
    plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", np.dtype(object))
    array = arrays.filled_as(codes, labels, plain)
    nullable = not isinstance(dtype, np.dtype) and array.dtype.kind in "ib"
    return pd.array(array, dtype="Int64" if array.dtype.kind == "i" else "boolean") if nullable else array


def _holds_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"
