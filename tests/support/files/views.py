"""Everything that somebody who is given a released column or frame can look at: types, physical values, dictionaries,
buffers, sizes, and every form in which it can be written down."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

Views = dict[str, bytes]


def views(released: Any) -> Views:
    """Each way of looking at it, as bytes."""
    root = type(released).__module__.partition(".")[0]
    look = {"numpy": _numpy, "pandas": _pandas, "polars": _polars, "pyarrow": _arrow}.get(root, _plain)
    return {**look(released), "pickle": pickle.dumps(released), "type": repr(type(released)).encode()}


def fingerprint(released: Any) -> bytes:
    """All of them in one."""
    return repr(sorted(views(released).items())).encode()


def _plain(released: Any) -> Views:
    return {"values": repr(released).encode()}


def _numpy(array: Any) -> Views:
    file, objects = io.BytesIO(), array.dtype.kind in "OT"  # which np.save pickles
    if not objects:
        np.save(file, array)
    return {
        "type": repr((array.dtype, array.shape, array.strides, array.flags.num)).encode(),
        "values": repr(array.tolist()).encode(),
        "bytes": b"" if objects else array.tobytes(),
        "file": file.getvalue(),
    }


def _pandas(released: Any) -> Views:
    import pandas as pd
    import pyarrow as pa

    frame = released if isinstance(released, pd.DataFrame) else pd.Series(released, name="x", copy=False).to_frame()
    seen: list[Any] = [type(released).__name__, getattr(released, "attrs", None), frame.index.tolist()]
    for name in frame:
        column = frame[name]
        categories = getattr(column.dtype, "categories", None)
        if categories is not None:
            codes = column.cat.codes.to_numpy()
            seen += [categories.tolist(), column.dtype.ordered, str(categories.dtype), codes.dtype, codes.tobytes()]
        seen += [name, str(column.dtype), column.tolist(), column.attrs]
    file = io.BytesIO()
    table = frame.rename(columns=str)
    table.to_parquet(file)
    return {
        "values": repr(seen).encode(),
        "sizes": repr((frame.memory_usage(deep=True).tolist(), list(frame.shape))).encode(),
        "csv": frame.to_csv().encode(),
        "parquet": file.getvalue(),
        **{f"arrow {name}": data for name, data in _arrow(pa.Table.from_pandas(table)).items()},
    }


def _polars(released: Any) -> Views:
    import polars as pl

    frame = released if isinstance(released, pl.DataFrame) else released.to_frame("x")
    files = {way: io.BytesIO() for way in ("ipc", "ipc_stream", "parquet", "csv", "ndjson")}
    nested = any(kind.is_nested() for kind in frame.dtypes)
    for way, file in files.items():
        if not (nested and way == "csv"):
            getattr(frame, f"write_{way}")(file)
    seen = [
        (c.name, repr(c.dtype), c.to_physical().to_list(), c.flags, c.chunk_lengths(), c.estimated_size(), len(c))
        for c in frame
    ]
    return {
        "values": repr((seen, frame.rows(), frame.schema, frame.estimated_size())).encode(),
        **{way: file.getvalue() for way, file in files.items()},
        **{f"arrow {name}": data for name, data in _arrow(frame.to_arrow()).items()},
        **{f"pandas {name}": data for name, data in _pandas(frame.to_pandas()).items()},
    }


def _arrow(released: Any) -> Views:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    table = released if isinstance(released, (pa.Table, pa.RecordBatch)) else pa.table({"x": released})
    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    stream, files = pa.BufferOutputStream(), (io.BytesIO(), io.BytesIO())
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write(table)
    pq.write_table(whole, files[0])
    feather.write_feather(whole, files[1])
    seen = [
        (str(part.type), part.offset, part.null_count, part.nbytes, part.get_total_buffer_size(), *_buffers(part))
        for column in whole.columns
        for part in column.chunks
    ]
    return {
        "schema": bytes(table.schema.serialize()) + str(table.schema).encode(),
        "buffers": repr(seen).encode(),
        "stream": bytes(stream.getvalue()),
        "parquet": files[0].getvalue(),
        "feather": files[1].getvalue(),
    }


def _buffers(array: Any) -> list[Any]:
    import pyarrow as pa

    own = [None if buffer is None else (buffer.size, buffer.to_pybytes()) for buffer in array.buffers()]
    return [*own, _buffers(array.dictionary)] if pa.types.is_dictionary(array.type) else own
