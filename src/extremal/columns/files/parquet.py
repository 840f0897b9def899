"""Parquet, through pyarrow: a few megabytes at a time, compressed as the source is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.arrow import is_text
from extremal.columns.files import batches
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, in_metadata
from extremal.columns.frames import refuse_absent
from extremal.errors import MalformedFile
from extremal.mechanism.labels import Labels

TITLE: str = "Parquet"
ENDINGS: tuple[str, ...] = (".parquet", ".pq")

READ_AHEAD = 1 << 20  # bytes read from the source at a time, instead of a whole column chunk
CODECS = {"UNCOMPRESSED": "none"} | {name.upper(): name for name in ("snappy", "gzip", "brotli", "zstd", "lz4")}
LARGEST_UNPACKED, MOST_UNPACKED = 256 << 20, 200  # bytes of a column in a row group; times what it takes in the file
COUNTED_ROWS = 1 << 18  # of a few columns that are read to be counted
BATCH_ROWS, BATCH_BYTES = 1 << 16, 4 << 20  # read at a time, as far as the rows before and the file's own account tell


def hashes(path: Path) -> Hashes:
    with batches.whole(path, TITLE):
        import pyarrow.parquet as pq

        return in_metadata(pq.read_schema(path).metadata, path)


def read(path: Path, columns: Sequence[str], _alphabets: Mapping[str, Labels]) -> Iterator[dict[str, Any]]:
    with batches.whole(path, TITLE):
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            _refuse_bomb(file.metadata, path)
            for name in columns:
                refuse_absent(name, file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=COUNTED_ROWS, columns=list(columns)):
                yield batches.picked(batches.validated(batch), columns)


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    with batches.whole(source, TITLE):
        import pyarrow as pa
        import pyarrow.parquet as pq

        stored = pq.read_schema(source)
        schema = batches.changed_schema(stored, changes, made, source)
        # Read as dictionaries, labels are looked up once each.
        kinds = {name: stored.field(name).type for name in changes}
        text = [name for name, kind in kinds.items() if is_text(kind) and not pa.types.is_string_view(kind)]
        reader = pq.ParquetFile(source, buffer_size=READ_AHEAD, pre_buffer=False, read_dictionary=text)
        with reader, complete_or_absent(target, overwrite) as temporary:
            about = reader.metadata
            _refuse_bomb(about, source)
            codec = about.row_group(0).column(0).compression if about.num_row_groups and about.num_columns else "SNAPPY"
            with pq.ParquetWriter(temporary, schema, compression=CODECS.get(codec, "snappy")) as writer:
                done = 0
                for group in batches.changed_groups(_stored(reader), schema, changes):
                    writer.write_table(group, row_group_size=group.num_rows)
                    done += group.num_rows
                    report(done, about.num_rows)
        return done


def _refuse_bomb(about: Any, path: Path) -> None:
    """Raise where a column of a row group unpacks to far more than it takes: pyarrow holds its pages whole."""
    for number in range(about.num_row_groups):
        group = about.row_group(number)
        for column in map(group.column, range(group.num_columns)):
            unpacked = column.total_uncompressed_size
            if unpacked > LARGEST_UNPACKED and unpacked > MOST_UNPACKED * column.total_compressed_size:
                raise MalformedFile(
                    f"{path.name} unpacks to more than {MOST_UNPACKED} times its size",
                    parameter="bytes of a column",
                    value=unpacked,
                    hint="Write it again with smaller row groups, or without compression.",
                )


def _stored(reader: Any) -> Iterator[Any]:
    """All rows in batches of a few megabytes: their number in each row group follows from its size and its first rows.
    (How the source is cut is not seen in what is written.)"""
    for number in range(reader.num_row_groups):
        group, rows = reader.metadata.row_group(number), batches.UNIT
        if group.num_rows > BATCH_ROWS >> 4:
            first = next(reader.iter_batches(batch_size=rows, row_groups=[number]))
            widest = max(group.total_byte_size / group.num_rows, first.nbytes / rows, 1)
            rows = max(rows, min(BATCH_ROWS, int(BATCH_BYTES / widest)))
        yield from map(batches.validated, reader.iter_batches(batch_size=rows, row_groups=[number]))
