"""pandas: a Series (or Index, or extension array) → input codes, and reports back in the same dtype with the same index
and name."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.release import arrow_columns
from extremal.release.values import (
    Array,
    as_objects,
    codes_of_array,
    codes_of_categories,
    codes_of_list,
    common_kind,
    refuse_value,
    reports_as_array,
)


def codes_of(labels: Labels, column: Any, name: str) -> Array:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        array = column.array if hasattr(column, "array") else column
        return codes_of_categories(labels, dtype.categories.tolist(), np.asarray(array.codes, dtype=np.int64), name)
    missing = np.flatnonzero(np.asarray(column.isna()))
    if missing.size:
        refuse_value(labels, column.iloc[int(missing[0])] if hasattr(column, "iloc") else None, name, int(missing[0]))
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        return arrow_columns.codes_of(labels, pa.array(column), name)
    if isinstance(dtype, pd.StringDtype) or (
        _holds_objects(dtype) and pd.api.types.infer_dtype(column, skipna=False) == "string"
    ):
        used, categories = pd.factorize(
            np.asarray(column) if _holds_objects(dtype) else getattr(column, "array", column)
        )
        return codes_of_categories(labels, categories.tolist(), used, name)
    if pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return codes_of_array(labels, column.to_numpy(dtype=getattr(dtype, "numpy_dtype", dtype)), name)
    return codes_of_list(labels, column.tolist(), name)


def reports_of(mechanism: Mechanism, codes: Array, column: Any) -> Any:
    import pandas as pd

    data = _data(mechanism, codes, column.dtype)
    if isinstance(column, pd.Series):
        kept = object if _holds_objects(column.dtype) else None  # pandas would guess another type for text
        reports = pd.Series(data, index=column.index, name=column.name, dtype=kept, copy=False)
        reports.attrs = dict(column.attrs)
        return reports
    if isinstance(column, pd.Index):
        return pd.Index(data, name=column.name, tupleize_cols=False)
    return data if isinstance(data, pd.api.extensions.ExtensionArray) else pd.array(data)


def _data(mechanism: Mechanism, codes: Array, dtype: Any) -> Any:
    import pandas as pd

    kind = common_kind(mechanism.output_labels) if codes.ndim == 1 else None
    outputs = mechanism.output_labels
    if isinstance(dtype, pd.CategoricalDtype) and codes.ndim == 1:
        place = (
            dtype.categories.get_indexer(pd.Index(list(outputs), dtype=dtype.categories.dtype))
            if _same_kind(dtype, kind)
            else [-1]
        )
        if min(place) >= 0:
            return pd.Categorical.from_codes(np.asarray(place)[codes], dtype=dtype)
        return pd.Categorical.from_codes(codes, categories=list(outputs))
    if isinstance(dtype, pd.StringDtype) and kind is str:
        return pd.array(list(outputs), dtype=dtype).take(codes)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(arrow_columns.reports(mechanism, codes, dtype.pyarrow_dtype))
    if kind is None or _holds_objects(dtype):
        return as_objects(mechanism, codes)
    plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", np.dtype(object))
    array = reports_as_array(mechanism, codes, plain)
    return pd.array(array, dtype=dtype) if array.dtype == plain and array.dtype.kind != "O" else array


def _holds_objects(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _same_kind(dtype: Any, kind: type | None) -> bool:
    """Whether the categories are all of the outputs' type: a look-up must not take True for 1."""
    return kind is not None and common_kind(dtype.categories.tolist()) is kind
