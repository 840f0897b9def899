"""Feather, which is Arrow's file format, through pyarrow: a record batch of the source is held whole at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.files import batches
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, in_metadata
from extremal.columns.frames import refuse_absent
from extremal.mechanism.labels import Labels

TITLE: str = "Feather"
ENDINGS: tuple[str, ...] = (".feather", ".arrow", ".ipc")


def hashes(path: Path) -> Hashes:
    with batches.whole(path, TITLE), path.open("rb") as file:
        import pyarrow as pa

        return in_metadata(pa.ipc.open_file(file).schema.metadata, path)


def read(path: Path, columns: Sequence[str], _alphabets: Mapping[str, Labels]) -> Iterator[dict[str, Any]]:
    with batches.whole(path, TITLE), path.open("rb") as file:
        import pyarrow as pa

        reader = pa.ipc.open_file(file)
        for name in columns:
            refuse_absent(name, reader.schema.names)
        for number in range(reader.num_record_batches):
            yield batches.picked(batches.validated(reader.get_batch(number)), columns)


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    with batches.whole(source, TITLE), source.open("rb") as file:
        import pyarrow as pa

        reader = pa.ipc.open_file(file)
        schema = batches.changed_schema(reader.schema, changes, made, source)
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with (
            complete_or_absent(target, overwrite) as temporary,
            pa.ipc.new_file(str(temporary), schema, options=options) as writer,
        ):
            done = 0
            stored = (batches.validated(reader.get_batch(n)) for n in range(reader.num_record_batches))
            for group in batches.changed_groups(stored, schema, changes):
                writer.write_table(group)
                done += group.num_rows
                report(done, None)
        return done
