"""pyarrow: an Array or ChunkedArray (dictionaries too) → input codes, and reports back in the same type and chunks
joined."""

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
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        whole = column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        used = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes_of_categories(labels, whole.dictionary.to_pylist(), used, name)
    if column.null_count:
        refuse_value(labels, None, name, int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]))
    if is_text(kind):
        known = label_codes(labels, str)
        plain = (
            column.cast(pa.large_string()) if pa.types.is_string_view(kind) else column
        )  # views have no look-up in Arrow yet
        found = pc.index_in(plain, value_set=pa.array(list(known), type=plain.type)).fill_null(UNKNOWN)
        table = np.array([*known.values(), UNKNOWN], dtype=np.int64)
        return checked(labels, table[as_numpy(found)], _Values(column), name)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return codes_of_array(labels, as_numpy(column), name)
    return codes_of_list(labels, column.to_pylist(), name)


class _Values:
    """Python values of an Arrow column, one at a time."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __getitem__(self, position: int) -> Any:
        return self._column[position].as_py()


def as_numpy(column: Any) -> Array:
    import pyarrow as pa

    return np.asarray(
        column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    )


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def reports_of(mechanism: Mechanism, codes: Array, column: Any) -> Any:
    import pyarrow as pa

    made = reports(mechanism, codes, column.type)
    return pa.chunked_array([made]) if isinstance(column, pa.ChunkedArray) else made


def reports(mechanism: Mechanism, codes: Array, like: Any) -> Any:
    """The reports as an Arrow array of type `like`, or of the outputs' own type when that cannot hold them."""
    import pyarrow as pa

    if codes.ndim == 2:
        return pa.array([list(report) for report in labels_of_codes(mechanism, codes)])
    kind, outputs = only_kind(mechanism), list(mechanism.output_labels)
    own = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}[kind]
    inner = like.value_type if pa.types.is_dictionary(like) else like
    suits = {str: is_text, int: pa.types.is_integer, bool: pa.types.is_boolean}[kind](inner)
    try:
        values = pa.array(outputs, type=inner if suits else own)
    except (pa.ArrowInvalid, OverflowError):
        values = pa.array(outputs, type=own)
    if not pa.types.is_dictionary(like):
        plain = values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values
        return plain.take(pa.array(codes)).cast(values.type)
    fits = len(outputs) - 1 <= np.iinfo(like.index_type.to_pandas_dtype()).max
    indices = pa.array(codes, type=like.index_type if fits else pa.int32())
    return pa.DictionaryArray.from_arrays(indices, values, ordered=like.ordered and suits)
