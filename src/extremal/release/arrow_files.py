"""Parquet and Feather files, a batch at a time, through pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from extremal.mechanism import Mechanism
from extremal.release.arrow_columns import is_text, reports
from extremal.release.columns import privatize_column
from extremal.release.files import METADATA_KEY, Progress, complete_or_absent, numbered_from, stored_note
from extremal.release.privatize import refuse_absent

BATCH_BYTES = 32 << 20  # of uncompressed data held at a time: several copies of it stay far below half a gigabyte
MOST_ROWS = 1 << 20
FEWEST_ROWS = 1 << 10
READ_AHEAD = 1 << 20  # bytes read from the source at a time, instead of a whole column chunk


def _new_schema(schema: Any, chosen: Mapping[str, Mechanism]) -> Any:
    """The schema with the types of the reports, and the note about their mechanisms."""
    import numpy as np

    for name in chosen:
        refuse_absent(name, schema.names)
    metadata = dict(schema.metadata or {})
    for name, mechanism in chosen.items():
        place = schema.get_field_index(name)
        field = schema.field(place)
        made = reports(mechanism, np.zeros(0, dtype=np.int64), field.type)
        schema = schema.set(place, field.with_type(made.type))
    metadata[METADATA_KEY.encode()] = stored_note(metadata.get(METADATA_KEY.encode()), chosen).encode()
    return schema.with_metadata(metadata)


def _randomised(batch: Any, schema: Any, chosen: Mapping[str, Mechanism], done: int) -> Any:
    """The batch with its reports. `done` rows came before it: an error names the row of the file."""
    import pyarrow as pa

    columns = batch.columns
    for name, mechanism in chosen.items():
        place = schema.get_field_index(name)
        with numbered_from(done, name):
            made = privatize_column(mechanism, columns[place], name=name)
            columns[place] = made if made.type == schema.field(place).type else made.cast(schema.field(place).type)
    return pa.record_batch(columns, schema=schema)


def privatize_parquet(
    source: Path, target: Path, chosen: Mapping[str, Mechanism], overwrite: bool, progress: Progress
) -> int:
    import pyarrow.parquet as pq

    stored = pq.read_schema(source)
    schema = _new_schema(stored, chosen)
    text = [
        name for name in chosen if is_text(stored.field(name).type)
    ]  # read as dictionaries, their labels are looked up once
    reader = pq.ParquetFile(source, buffer_size=READ_AHEAD, pre_buffer=False, read_dictionary=text)
    with reader, complete_or_absent(target, overwrite) as temporary:
        about = reader.metadata
        size = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
        rows = min(MOST_ROWS, max(FEWEST_ROWS, BATCH_BYTES * about.num_rows // max(size, 1)))
        codec = about.row_group(0).column(0).compression if about.num_row_groups and about.num_columns else "SNAPPY"
        with pq.ParquetWriter(
            temporary, schema, compression="none" if codec == "UNCOMPRESSED" else codec.lower()
        ) as writer:
            done = 0
            for batch in reader.iter_batches(batch_size=rows):
                writer.write_batch(_randomised(batch, schema, chosen, done))
                done += batch.num_rows
                progress(done, about.num_rows)
    return done


def privatize_feather(
    source: Path, target: Path, chosen: Mapping[str, Mechanism], overwrite: bool, progress: Progress
) -> int:
    import pyarrow as pa

    with source.open("rb") as file:
        reader = pa.ipc.open_file(file)
        schema = _new_schema(reader.schema, chosen)
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with (
            complete_or_absent(target, overwrite) as temporary,
            pa.ipc.new_file(str(temporary), schema, options=options) as writer,
        ):
            done = 0
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                for start in range(0, batch.num_rows, MOST_ROWS):
                    part = batch.slice(start, MOST_ROWS)
                    writer.write_batch(_randomised(part, schema, chosen, done))
                    done += part.num_rows
                    progress(done, None)
    return done


def stored_metadata(path: Path, kind: str) -> bytes | None:
    """The note that `privatize_file` left in a Parquet or Feather file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kind == "parquet":
        metadata = pq.read_schema(path).metadata
    else:
        with path.open("rb") as file:
            metadata = pa.ipc.open_file(file).schema.metadata
    found = (metadata or {}).get(METADATA_KEY.encode())
    return None if found is None else bytes(found)
