"""One value, or a column of values in any container → reports in the same container.

A list, a NumPy array, a pandas or polars Series, a pyarrow Array or ChunkedArray is a sequence of values; anything else
is one value.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.release.sampler import BadCode, sample_codes
from extremal.release.values import (
    Array,
    codes_of_array,
    codes_of_list,
    labels_of_codes,
    refuse_value,
    reports_as_array,
)
from extremal.release.words import WordSource

Encode = Callable[[Labels, Any, str], Array]
Decode = Callable[[Mechanism, Array, Any], Any]

LAZY = {
    "LazyFrame": "frame.collect()",
    "Expr": "frame.select(...).collect()",
    "DuckDBPyRelation": "relation.arrow().read_all()",
    "DataFrame": "frame.toPandas() or frame.compute()",  # Spark's and Dask's; eager frames are found before
    "Series": "series.compute()",
    "Table": "table.to_pyarrow()",  # Ibis
}
LAZY_ENGINES = ("duckdb", "_duckdb", "pyspark", "dask", "dask_expr", "ibis", "sqlframe")
FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}


def root_of(container: Any) -> str:
    """The package that a container comes from."""
    return type(container).__module__.partition(".")[0]


def refuse_lazy(container: Any, parameter: str) -> None:
    """Raise on anything that is a plan rather than data: evaluated twice it would report twice."""
    root, kind = root_of(container), type(container).__name__
    if root in LAZY_ENGINES or (root == "polars" and kind in ("LazyFrame", "Expr")):
        raise InvalidParameter(
            "a lazy frame cannot be randomised: evaluated twice it would make two reports about the same person",
            parameter=parameter,
            value=f"{root.lstrip('_')} {kind}",
            hint=f"Collect it once, then randomise: {LAZY.get(kind, 'collect()')}.",
        )


def _adapter(values: Any) -> ModuleType | None:
    root, kind = root_of(values), type(values).__name__
    if (root, kind) in FRAMES:
        raise InvalidParameter(
            "a mechanism randomises one column",
            parameter="values",
            value=f"{root} {kind}",
            hint="Use ex.privatize(frame, column=..., mechanism=...) or ex.privatize(frame, {column: mechanism}).",
        )
    if root == "pandas" and hasattr(values, "dtype") and hasattr(values, "isna"):
        from extremal.release import pandas_columns

        return pandas_columns
    if root == "polars" and kind == "Series":
        from extremal.release import polars_columns

        return polars_columns
    if root == "pyarrow" and hasattr(values, "null_count"):
        from extremal.release import arrow_columns

        return arrow_columns
    return None


def _array_reports(mechanism: Mechanism, codes: Array, values: Array) -> Array:
    return reports_as_array(mechanism, codes, values.dtype)


def _list_reports(mechanism: Mechanism, codes: Array, _: list[Any]) -> list[Any]:
    return labels_of_codes(mechanism, codes)


def _functions(values: Any) -> tuple[Encode, Decode] | None:
    if isinstance(values, list):
        return codes_of_list, _list_reports
    if isinstance(values, np.ndarray) and values.ndim:
        return codes_of_array, _array_reports
    adapter = _adapter(values)
    return None if adapter is None else (adapter.codes_of, adapter.reports_of)


def privatize_column(
    mechanism: Mechanism, values: Any, *, name: str = "values", source: WordSource | None = None
) -> Any:
    """Reports for values, in the same kind of container; `source` is for simulation."""
    refuse_lazy(values, name)
    functions = _functions(values)
    if functions is None:
        return _one(mechanism, values, source)
    encode, decode = functions
    codes = encode(mechanism.input_labels, values, name)
    try:
        drawn = sample_codes(mechanism, codes, source=source)
    except BadCode as error:
        _refuse_code(mechanism, codes, name, error.position)
    return decode(mechanism, drawn, values)


def _refuse_code(mechanism: Mechanism, codes: Array, name: str, position: int) -> NoReturn:
    refuse_value(mechanism.input_labels, codes[position], name, position)


def _one(mechanism: Mechanism, value: Any, source: WordSource | None) -> Any:
    plain = value.item() if isinstance(value, np.ndarray) else value
    code = mechanism.input_labels.code(plain)
    return labels_of_codes(mechanism, sample_codes(mechanism, np.array([code]), source=source))[0]
