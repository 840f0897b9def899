"""Two data sets that differ in one person's value, in every container, type and file format that is known.

At ε = 0 a report says nothing, so that with the same random words whatever is released must be the same byte for byte:
values, types, categories, dictionaries, metadata, the sizes of row groups. `makers` make a column of values as people
make them (types and categories often follow from the values); `write_files` writes files of it; `released_…` and `ways`
give all that can be seen of what is released.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures import Structure
from extremal.release.engines.key import ReleaseKey
from extremal.release.files import privatize_file
from extremal.release.privatize import privatize, privatize_column, privatize_frame
from extremal.release.sampling import sampler
from extremal.release.sampling.words import CipherWords
from support.files.views import Views, fingerprint, views

TEXT = ("no", "maybe", "yes, a long answer that takes many bytes", "other")
NUMBERS = (3, -2, 300, 70_000)
TRUTHS = (False, True)

Maker = Callable[[list[Any]], Any]


class FixedWords(CipherWords):
    """The same words for every call."""

    def __init__(self) -> None:
        super().__init__(bytes(32))


def constant(labels: tuple[Any, ...], outputs: tuple[Any, ...] | None = None) -> Mechanism:
    """A mechanism at ε = 0: every input has the same row."""
    names = labels if outputs is None else outputs
    return Mechanism.from_matrix([[1 / len(names)] * len(names)] * len(labels), None, labels, names)


class _Blind:
    """A sampler that draws for the first input whatever the value is."""

    def __init__(self, sampler: Any) -> None:
        self.sampler, self.size = sampler, sampler.size

    def draw(self, rows: Any, source: Any, loops: Any, buffer: Any) -> Any:
        return self.sampler.draw(np.zeros_like(rows), source, loops, buffer)


def blind(structure: Structure, labels: tuple[Any, ...], outputs: Labels | None = None) -> Mechanism:
    """What a structure that exists for ε > 0 alone would be at ε = 0: the draws do not depend on the values."""
    made = Mechanism.from_structure(structure, None, labels, outputs)
    sampler._prepared[made.structure] = _Blind(sampler.prepared(made.structure))
    return made


def makers() -> dict[str, Maker]:
    """Columns of values by the name of what they are."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def extra(values: list[Any]) -> list[Any]:
        """Categories as they appear, and one that only the raw data knows."""
        return [*dict.fromkeys(values), "withdrawn" if isinstance(values[0], str) else 987_654]

    def noted(values: list[Any]) -> Any:
        column = pd.Series(values, name="x")
        column.attrs = {"mean": str(values)}
        return column

    def dictionary(values: list[Any], index: Any) -> Any:
        found = pa.array(values).dictionary_encode()
        return pa.DictionaryArray.from_arrays(found.indices.cast(index), found.dictionary, ordered=values[0] == "no")

    def chunks(values: list[Any]) -> Any:
        whole, cut = pa.array(values), values.count(values[0])
        return pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])

    made: dict[str, Maker] = {
        "list": list,
        "numpy": np.array,
        "numpy objects": lambda v: np.array(v, dtype=object),
        "pandas": pd.Series,
        "pandas objects": lambda v: pd.Series(v, dtype=object),
        "pandas nullable": lambda v: pd.Series(v).convert_dtypes(),
        "pandas categories": lambda v: pd.Series(v).astype("category"),
        "pandas categories as they appear": lambda v: pd.Series(pd.Categorical(v, categories=list(dict.fromkeys(v)))),
        "pandas ordered": lambda v: pd.Series(pd.Categorical(v, list(dict.fromkeys(v)), ordered=v[0] == "no")),
        "pandas unused category": lambda v: pd.Series(pd.Categorical(v, categories=extra(v))),
        "pandas categorical index": lambda v: pd.CategoricalIndex(v),
        "pandas categorical array": lambda v: pd.Categorical(v),
        "pandas attrs": noted,
        "pandas index": pd.Index,
        "pandas arrow": lambda v: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(v))),
        "pandas arrow dictionary": lambda v: pd.Series(
            pd.arrays.ArrowExtensionArray(pa.array(v).dictionary_encode())  # in order of appearance
        ),
        "polars": pl.Series,
        "pyarrow": pa.array,
        "pyarrow chunks": chunks,
        "pyarrow dictionary": lambda v: dictionary(v, pa.int32()),
        "pyarrow small dictionary": lambda v: dictionary(v, pa.int8()),
        "pyarrow unsigned dictionary": lambda v: dictionary(v, pa.uint32()),
    }
    return made


def text_makers() -> dict[str, Maker]:
    """Those that hold text only."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return {
        "numpy strings": lambda v: np.array(v, dtype=np.dtypes.StringDType()),
        "pandas string": lambda v: pd.Series(v, dtype="string"),
        "polars categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
        "polars enum": lambda v: pl.Series(v, dtype=pl.Enum(list(dict.fromkeys(v)))),
        "pyarrow large text": lambda v: pa.array(v, pa.large_string()),
        "pyarrow text view": lambda v: pa.array(v, pa.string_view()),
    }


def number_makers() -> dict[str, Maker]:
    """Those that hold integers only."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return {
        "numpy 32 bits": lambda v: np.array(v, dtype=np.int32),
        "numpy as wide as needed": lambda v: np.array(v, dtype=np.min_scalar_type([min(v), max(v)])),
        "pandas as wide as needed": lambda v: pd.to_numeric(pd.Series(v), downcast="integer"),
        "pandas nullable as wide as needed": lambda v: pd.to_numeric(pd.Series(v, dtype="Int64"), downcast="integer"),
        "polars as wide as needed": lambda v: pl.Series(v).shrink_dtype(),
        "pyarrow as wide as needed": lambda v: pa.array(np.array(v, dtype=np.result_type(*map(np.min_scalar_type, v)))),
        "pandas 64 bits": lambda v: pd.Series(v, dtype="Int64"),
        "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
        "polars 128 bits": lambda v: pl.Series(v, dtype=pl.Int128),
        "pyarrow 32 bits": lambda v: pa.array(v, pa.int32()),
    }


def frames(column: str = "x") -> dict[str, Maker]:
    """Frames with the values in one column and others beside it, which are the same whatever the values."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    def table(values: list[Any], **options: Any) -> Any:
        return pd.DataFrame({"id": range(len(values)), column: pd.Series(values, **options)})

    def noted(values: list[Any]) -> Any:
        frame = table(values, dtype="category")
        frame.attrs = {"most": str(max(set(map(str, values)), key=list(map(str, values)).count))}
        return frame

    def fields(values: list[Any]) -> Any:
        kept = pa.table({"id": range(len(values)), column: values})
        place = kept.schema.get_field_index(column)
        about = kept.schema.field(place).with_metadata({"distinct": str(len(set(values)))})
        return kept.cast(kept.schema.set(place, about)).replace_schema_metadata({"values": str(values)})

    return {
        "pandas frame": table,
        "pandas frame with categories": lambda v: table(v, dtype="category"),
        "pandas frame with attrs": noted,
        "polars frame": lambda v: pl.DataFrame({"id": range(len(v)), column: v}),
        "polars frame of categories": lambda v: pl.DataFrame(
            {"id": range(len(v)), column: pl.Series(v, dtype=pl.Categorical if isinstance(v[0], str) else None)}
        ),
        "pyarrow table": lambda v: pa.Table.from_pandas(table(v)),
        "pyarrow table of categories": lambda v: pa.Table.from_pandas(noted(v)),
        "pyarrow table with metadata": fields,
        "pyarrow batch": lambda v: pa.record_batch({"id": pa.array(range(len(v))), column: pa.array(v)}),
    }


def write_files(folder: Path, values: list[Any]) -> dict[str, Path]:
    """Files with the values in column x, as several libraries write them, and columns beside it."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    text = isinstance(values[0], str)
    others = {"id": list(range(len(values))), "note": [f"n{i % 7}" for i in range(len(values))]}
    plain = pd.DataFrame({**others, "x": values})
    noted = plain.assign(x=plain["x"].astype("category"))
    noted.attrs = {"first": str(values[0])}
    table, coloured = pa.table({**others, "x": values}), pl.DataFrame({**others, "x": values})
    cut = max(1, values.count(values[0]))  # batches and row groups that depend on the values
    paths = {
        name: folder / name
        for name in (
            "plain.csv",
            "tabs.tsv",
            "pandas.parquet",
            "pyarrow.parquet",
            "cut.parquet",
            "polars.parquet",
            "pandas.feather",
            "cut.feather",
            "polars.arrow",
        )
    }
    plain.to_csv(paths["plain.csv"], index=False)
    plain.to_csv(paths["tabs.tsv"], index=False, sep="\t")
    noted.to_parquet(paths["pandas.parquet"])
    pq.write_table(table, paths["pyarrow.parquet"], use_dictionary=False)
    pq.write_table(table, paths["cut.parquet"], row_group_size=cut)
    coloured.with_columns(pl.col("x").cast(pl.Categorical) if text else pl.col("x")).write_parquet(
        paths["polars.parquet"]
    )
    feather.write_feather(noted, paths["pandas.feather"])
    feather.write_feather(table, paths["cut.feather"], chunksize=cut)
    coloured.with_columns(pl.col("x").cast(pl.Categorical) if text else pl.col("x")).write_ipc(paths["polars.arrow"])
    return paths


def released_column(mechanism: Mechanism, column: Any) -> bytes:
    """What `mechanism.privatize(column)` gives with fixed words."""
    return fingerprint(privatize_column(mechanism, column, source=FixedWords()))


def released_frame(mechanism: Mechanism, frame: Any, column: str = "x") -> bytes:
    """What `ex.privatize(frame, …)` gives with fixed words."""
    return fingerprint(privatize_frame(frame, {column: mechanism}, FixedWords()))


def released_files(mechanism: Mechanism, values: list[Any], folder: Path) -> dict[str, bytes]:
    """What `extremal privatize` writes for each file of `write_files`, with fixed words; notes too."""
    found = {}
    kept = vars(sampler)["SecureWords"]
    vars(sampler)["SecureWords"] = FixedWords
    try:
        for name, path in write_files(folder, values).items():
            target = path.with_stem(path.stem + "-out")
            privatize_file(path, target, {"x": mechanism})
            found[name] = target.read_bytes()
            note = target.with_name(target.name + ".extremal.json")
            if note.exists():
                found[note.name] = note.read_bytes()
    finally:
        vars(sampler)["SecureWords"] = kept
    return found


KEY = ReleaseKey._of(bytes(32))


def ways(labels: tuple[Any, ...]) -> dict[str, Callable[[Mechanism, list[Any]], Views]]:
    """Every way of releasing values of these labels but files: columns, frames, keyed frames, plans."""
    kind = type(labels[0])
    special = {str: text_makers, int: number_makers}.get(kind, dict)()

    def column(make: Maker) -> Any:
        return lambda m, values: views(privatize_column(m, make(values), source=FixedWords()))

    def frame(make: Maker) -> Any:
        return lambda m, values: views(privatize_frame(make(values), {"x": m}, FixedWords()))

    def keyed(make: Maker) -> Any:
        return lambda m, values: views(privatize(make(values), {"x": m}, row_id="id", release_key=KEY))

    def plan(make: Maker) -> Any:
        def released(m: Mechanism, values: list[Any]) -> Views:
            made = privatize(make(values).lazy(), {"x": m}, row_id="id", release_key=KEY)
            return {"schema": repr(made.collect_schema()).encode(), **views(made.collect())}

        return released

    def duckdb(m: Mechanism, values: list[Any]) -> Views:
        import duckdb as engine
        import pyarrow as pa

        con = engine.connect()
        table = con.from_arrow(pa.table({"id": range(len(values)), "x": makers()["pyarrow dictionary"](values)}))
        made = privatize(table, {"x": m}, row_id="id", release_key=KEY, connection=con)
        return {"types": repr((made.columns, made.types)).encode(), **views(made.to_arrow_table())}

    plans = {name: make for name, make in frames().items() if name.startswith("polars")}
    return {
        **{name: column(make) for name, make in {**makers(), **special}.items()},
        **{name: frame(make) for name, make in frames().items()},
        **{f"{name}, keyed": keyed(make) for name, make in frames().items()},
        **{f"{name}, lazy": plan(make) for name, make in plans.items()},
        "duckdb": duckdb,
    }


def different(first: Views, second: Views) -> list[str]:
    """The names of the views in which two releases differ."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
