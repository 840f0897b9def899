"""pyarrow: an Array or ChunkedArray, dictionaries too. The type stays but for the width of integers, chunks are joined,
sets of labels are lists.

What depended on the values goes with them: a dictionary of reports is the mechanism's labels in its order, numbered
with 32 bits and unordered whatever the column's was, and a schema keeps nothing that was noted about the column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from extremal.columns import arrays, lists
from extremal.columns.lists import MISSING, Array, Codes, members, only_kind, refuse_wide, unlistable, without_missing
from extremal.errors import TooLarge
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import ByteLabels

MOST_MEMBERS = (1 << 31) - 1  # a list says in 32 bits where it ends


def holds(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "pyarrow" and hasattr(column, "null_count")


def distinct(column: Any, name: str) -> tuple[Codes, Sequence[Any]]:
    """A dictionary as it is stored, in use or not; the order of everything but integers is that of appearance."""
    import pyarrow as pa

    kind = column.type
    if (pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and not column.null_count:
        return arrays.distinct(_as_numpy(column), name)
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):  # of which Arrow makes no dictionary
        return lists.distinct(column.to_pylist(), name)
    if pa.types.is_string_view(kind):  # views cannot be looked up in Arrow yet
        column = column.cast(pa.large_string())
    whole = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.unify_dictionaries().combine_chunks()
        whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    codes = whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return without_missing(codes.astype(np.intp), whole.dictionary.to_pylist())


def integers(column: Any) -> Array | None:
    import pyarrow as pa

    return _as_numpy(column) if pa.types.is_integer(column.type) and not column.null_count else None


def _as_numpy(column: Any) -> Array:
    import pyarrow as pa

    return np.asarray(
        column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    )


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def filled(codes: Array, labels: Labels, like: Any) -> Any:
    import pyarrow as pa

    made = filled_as(codes, labels, like.type)
    return pa.chunked_array([made]) if isinstance(like, pa.ChunkedArray) else made


def with_gaps(values: list[Any], labels: Labels, like: Any) -> Any:
    import pyarrow as pa

    kind = filled(np.zeros(0, dtype=np.int64), labels, like).type
    made = pa.array(lists.as_lists(values), type=kind.value_type if pa.types.is_dictionary(kind) else kind)
    return pa.chunked_array([made]) if isinstance(like, pa.ChunkedArray) else made


def filled_as(codes: Array, labels: Labels, like: Any) -> Any:
    """An Arrow array of the labels' own type; text and dictionaries as `like` has them."""
    import pyarrow as pa

    if (sets := members(codes, labels)) is not None:
        flat, sizes, parts = sets
        if len(flat) > MOST_MEMBERS:
            raise TooLarge(
                f"a list column of Arrow holds at most {MOST_MEMBERS:,} labels",
                parameter="reports",
                value=f"{len(flat):,} labels in sets",
                hint="Release fewer rows at a time, or ask for shorter reports: design(…, report_bits=16).",
            )
        edges = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int32)
        inner = pa.uint8() if isinstance(labels, ByteLabels) else _own(parts)
        return pa.ListArray.from_arrays(pa.array(edges), pa.array(parts, type=inner).take(pa.array(flat)))
    encoded = pa.types.is_dictionary(like)
    if unlistable(labels) or (labels.numbered and not encoded):
        return pa.array(codes, type=pa.int64())
    stored = _stored(list(labels), like.value_type if encoded else like)
    # Views can neither be looked up nor, in compressed dictionaries, be read everywhere.
    plain = stored.cast(pa.large_string()) if pa.types.is_string_view(stored.type) else stored
    if encoded:
        return pa.DictionaryArray.from_arrays(pa.array(codes, type=pa.int32()), plain, ordered=False)
    return plain.take(pa.array(codes)).cast(stored.type)


def _stored(values: list[Any], like: Any) -> Any:
    """Labels of one type as an array of it, or of the type of text that `like` is."""
    import pyarrow as pa

    refuse_wide(values)
    own = _own(values)
    return pa.array(values, type=like if is_text(own) and is_text(like) else own)


def schema_of_reports(schema: Any, types: Mapping[str, Any]) -> Any:
    """The schema with columns of these types instead of its own, and without what may have been computed from the old
    ones: the metadata of their fields and of the whole table, but for what pandas needs to find its index again."""
    import pyarrow as pa

    for name, kind in types.items():
        place = schema.get_field_index(name)
        schema = schema.set(place, pa.field(name, kind, nullable=schema.field(place).nullable))
    kept = _of_pandas((schema.metadata or {}).get(b"pandas"), set(types))
    return schema.with_metadata({b"pandas": kept} if kept else None)


def _of_pandas(text: bytes | None, changed: set[str]) -> bytes | None:
    """What pandas noted about a table, without the columns that changed (number of categories) and without `attrs`."""
    try:
        content = json.loads(text or b"null")
        noted = [c for c in content["columns"] if c["field_name"] not in changed]
        kept = {key: content[key] for key in ("index_columns", "column_indexes", "creator", "pandas_version")}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return json.dumps({**kept, "columns": noted}).encode()


def _own(labels: list[Any]) -> Any:
    import pyarrow as pa

    return {str: pa.string(), int: pa.int64(), bool: pa.bool_()}[only_kind(labels)]
