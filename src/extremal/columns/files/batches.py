"""What Parquet and Feather share: record batches, schemas with metadata, and pyarrow.

What is written is cut into groups of rows by the bytes of the columns that stay as they are: neither how the source was
cut nor how long the values were that are randomised has a part in it. Everything that was read is validated before it
is used, for pyarrow trusts the files it reads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.columns.arrow import schema_of_reports
from extremal.columns.files.format import Change
from extremal.columns.files.note import Hashes, extended, in_metadata, metadata_with
from extremal.columns.frames import refuse_absent
from extremal.errors import ExtremalError, MalformedFile, MissingDependency

MOST_ROWS = 1 << 20  # in one group
UNIT = 1 << 8  # rows read and randomised at a time, at first
LARGEST_UNIT = 1 << 14  # rows randomised at a time, where the other columns take few bytes
UNIT_BYTES = 1 << 20  # of the other columns; groups are whole units
GROUP_BYTES = 32 << 20  # of the other columns in one group: several copies of it stay far below half a gigabyte


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
    except ExtremalError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # Not what pyarrow says: it may quote a value.
        hint = "Is it damaged, or larger than the memory when it is unpacked?"
        raise MalformedFile(
            f"{path.name} must be a whole {title} file", parameter="path", value=str(path), hint=hint
        ) from None


def validated(batch: Any) -> Any:
    """The batch, every offset and index of it looked at: following a wrong one would end the process."""
    batch.validate(full=True)
    return batch


def changed_schema(schema: Any, changes: Mapping[str, Change], made: Hashes, path: Path) -> Any:
    """The schema with the types of the new columns, and the note about who made them."""
    import pyarrow as pa

    hashes = extended(in_metadata(schema.metadata, path), made)
    types = {}
    for name, change in changes.items():
        refuse_absent(name, schema.names)
        types[name] = change.apply(pa.nulls(0, schema.field(name).type), 0).type
    clean = schema_of_reports(schema, types)
    return clean.with_metadata(metadata_with(clean.metadata, hashes))


def changed_groups(source: Iterable[Any], schema: Any, changes: Mapping[str, Change]) -> Iterator[Any]:
    """Tables of `schema` that together hold the rows of the batches in `source`, with their new columns."""
    import pyarrow as pa

    held: list[Any] = []
    rows = size = first = 0
    for unit, taken in _units(source, list(changes)):
        held.append(_changed(unit, schema, changes, first))
        first, rows, size = first + unit.num_rows, rows + unit.num_rows, size + taken
        if size >= GROUP_BYTES or rows >= MOST_ROWS:
            yield pa.concat_tables(held).combine_chunks()
            held, rows, size = [], 0, 0
    if held:
        yield pa.concat_tables(held).combine_chunks()


def _units(source: Iterable[Any], changed: list[str]) -> Iterator[tuple[Any, int]]:
    """Tables of one piece, with the bytes that their other columns take, which decide how many rows the next one has:
    however the batches were cut."""
    import pyarrow as pa

    def joined() -> tuple[Any, int]:
        table = pa.Table.from_batches(held).combine_chunks()
        others = table.drop_columns(changed)
        return table, sum(map(pa.ipc.get_record_batch_size, others.to_batches())) if others.num_columns else 0

    held: list[Any] = []
    wanted = missing = UNIT
    for batch in source:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, missing)
            held.append(part)
            start, missing = start + part.num_rows, missing - part.num_rows
            if not missing:
                unit, size = joined()
                yield unit, size
                held.clear()
                wanted = min(2 * wanted, LARGEST_UNIT) if size < UNIT_BYTES else max(wanted // 2, UNIT)
                missing = wanted
    if held:
        yield joined()


def _changed(unit: Any, schema: Any, changes: Mapping[str, Change], first: int) -> Any:
    """The rows, which start at row `first` of the file, with their new columns."""
    columns = unit.columns
    for name, change in changes.items():
        place = schema.get_field_index(name)
        kind = schema.field(place).type
        made = change.apply(columns[place], first)
        columns[place] = made if made.type == kind else made.cast(kind)
    return type(unit).from_arrays(columns, schema=schema)


def picked(batch: Any, columns: Sequence[str]) -> dict[str, Any]:
    return {name: batch.column(name) for name in columns}
