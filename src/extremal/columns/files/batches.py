"""What Parquet and Feather share: record batches, schemas with metadata, and pyarrow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.columns.files.format import Change
from extremal.columns.files.note import Hashes, extended, in_metadata, metadata_with
from extremal.columns.frames import refuse_absent
from extremal.errors import MalformedFile, MissingDependency

MOST_ROWS = 1 << 20  # held at a time


@contextlib.contextmanager
def whole(path: Path, title: str) -> Iterator[None]:
    """What pyarrow says about a broken file becomes MalformedFile; without pyarrow, MissingDependency."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingDependency(
            "Parquet and Feather files need pyarrow", hint="pip install 'extremal[frames]'."
        ) from None
    try:
        yield
    except pa.ArrowException as error:
        raise MalformedFile(
            f"{path.name} must be a whole {title} file", parameter="path", value=str(path), hint=str(error)
        ) from error


def changed_schema(schema: Any, changes: Mapping[str, Change], made: Hashes, path: Path) -> Any:
    """The schema with the types of the new columns, and the note about who made them."""
    import pyarrow as pa

    hashes = extended(in_metadata(schema.metadata, path), made)
    metadata = metadata_with(schema.metadata, hashes)
    for name, change in changes.items():
        refuse_absent(name, schema.names)
        place = schema.get_field_index(name)
        field = schema.field(place)
        schema = schema.set(place, field.with_type(change.apply(pa.nulls(0, field.type), 0).type))
    return schema.with_metadata(metadata)


def changed_batch(batch: Any, schema: Any, changes: Mapping[str, Change], first: int) -> Any:
    """The batch, which starts at row `first` of the file, with its new columns."""
    import pyarrow as pa

    columns = batch.columns
    for name, change in changes.items():
        place = schema.get_field_index(name)
        kind = schema.field(place).type
        made = change.apply(columns[place], first)
        columns[place] = made if made.type == kind else made.cast(kind)
    return pa.record_batch(columns, schema=schema)


def picked(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    return {name: batch.column(name) for name in columns}
