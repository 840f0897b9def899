"""polars: a Series → input codes, and reports back in the same dtype (String, Categorical, Enum, integers, Boolean) and
name."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.release.values import (
    UNKNOWN,
    Array,
    checked,
    codes_of_array,
    codes_of_categories,
    codes_of_list,
    label_codes,
    labels_of_codes,
    only_kind,
    refuse_value,
)


def codes_of(labels: Labels, column: Any, name: str) -> Array:
    import polars as pl

    if column.null_count():
        refuse_value(labels, None, name, int(column.is_null().arg_true()[0]))
    if column.dtype == pl.Enum:
        used = column.to_physical().to_numpy().astype(np.int64)
        return codes_of_categories(labels, column.dtype.categories.to_list(), used, name)
    if column.dtype in (pl.String, pl.Categorical):
        known = label_codes(labels, str)
        if not known:
            return codes_of_list(labels, column.to_list(), name)
        codes = column.replace_strict(list(known), list(known.values()), default=UNKNOWN, return_dtype=pl.Int64)
        return checked(labels, codes.to_numpy(), column, name)
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return codes_of_array(labels, column.to_numpy(), name)
    return codes_of_list(labels, column.to_list(), name)


def reports_of(mechanism: Mechanism, codes: Array, column: Any) -> Any:
    import polars as pl

    if codes.ndim == 2:
        return pl.Series(column.name, [list(report) for report in labels_of_codes(mechanism, codes)])
    kind, dtype = only_kind(mechanism), column.dtype
    outputs: list[Any] = list(mechanism.output_labels)
    if kind is str:
        listed = dtype.categories.to_list() if dtype == pl.Enum else outputs
        keep = dtype in (pl.String, pl.Categorical, pl.Enum) and set(outputs) <= set(listed)
        target = dtype if keep else pl.Enum(outputs) if dtype == pl.Enum else pl.String
    elif kind is bool:
        target = pl.Boolean
    else:
        target = dtype if dtype.is_integer() and _fits(outputs, dtype) else pl.Int64
    return pl.Series(column.name, outputs, dtype=target).gather(codes)


def _fits(outputs: list[Any], dtype: Any) -> bool:
    import polars as pl

    least, most = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    return bool(least <= min(outputs) and max(outputs) <= most)
