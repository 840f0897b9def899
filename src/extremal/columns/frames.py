"""Data frames: their names, a column of theirs, and a copy with some columns replaced.

Frames of pandas, polars and pyarrow, and what behaves like them. Index, order, dtypes and the other columns stay as
they are; what a frame notes about itself beside them (`attrs`, the metadata of a schema) may have been computed from
the columns that are replaced, and is left out.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

from extremal.columns.arrow import schema_of_reports
from extremal.errors import InvalidParameter, MissingDependency
from extremal.exact import pandas_index

FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}


def is_frame(values: Any) -> bool:
    """Whether this is a data frame of a library that we know."""
    return (type(values).__module__.partition(".")[0], type(values).__name__) in FRAMES


def names_of(frame: Any) -> list[Any] | None:
    """The names of the columns, of a mapping from name to column as well; None for what is no frame."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)  # pyarrow has both, and means data by `columns`
    if names is None:
        names = getattr(frame, "columns", None)
    return None if names is None else list(names)


def pick(frame: Any, name: Any, parameter: str) -> Any:
    """A column of a frame by its name; of a mapping from name to column in the order of the others."""
    names = names_of(frame)
    if names is None:
        raise InvalidParameter(
            f"{parameter} may be a name only for data frames and files", parameter=parameter, value=name
        )
    if not isinstance(name, Hashable):
        raise InvalidParameter(
            f"{parameter} must be the name of a column", parameter=parameter, value=type(name).__name__
        )
    refuse_absent(name, names, parameter)
    return _in_order(frame, frame[name], str(name)) if isinstance(frame, Mapping) else frame[name]


def column_of(source: Any, column: Any, parameter: str) -> Any:
    """A column beside `source`: by its name in that frame, or given itself, in the order of the frame or column.

    The order is that of the index where both have one (pandas): a column that was sorted otherwise looks like the same
    column, and would be read without an error.
    """
    return pick(source, column, parameter) if is_name(column) else _in_order(source, column, parameter)


def _in_order(source: Any, column: Any, parameter: str) -> Any:
    """A column in the order of the index of `source`, where both have one."""
    mine, theirs = pandas_index(column), _order_of(source)
    if mine is None or theirs is None or mine.equals(theirs):
        return column
    same = len(mine) == len(theirs) and mine.is_unique and theirs.is_unique and bool(mine.isin(theirs).all())
    if same and _sortable(source):
        return column.loc[theirs]
    raise InvalidParameter(
        f"{parameter} must have the index of the reports",
        parameter=f"{parameter}.index",
        value=f"{len(mine)} entries, in another order" if same else f"{len(mine)} entries",
        hint=f"Reindex it, or pass {parameter}.to_numpy() if the order is right.",
    )


def _order_of(source: Any) -> Any:
    """The index whose order `source` is in; of a mapping from name to column that of the first column with one."""
    if not isinstance(source, Mapping):
        return pandas_index(source)
    return next((index for index in map(pandas_index, source.values()) if index is not None), None)


def _sortable(source: Any) -> bool:
    """Whether all that goes together has an index: a plain list has the order of one column, nobody knows of which."""
    return not isinstance(source, Mapping) or all(pandas_index(column) is not None for column in source.values())


def refuse_other_orders(source: Any, columns: Mapping[str, Any]) -> None:
    """Raise where the columns beside a `source` without an index have indexes in different orders."""
    if _order_of(source) is None:
        for name, column in columns.items():
            _in_order({"reports": source, **columns}, column, name)


def is_name(column: Any) -> bool:
    """Whether this is the name of a column and no column: a text, or a whole number, as pandas counts columns."""
    return isinstance(column, (str, Integral)) and not isinstance(column, bool)


def refuse_absent(name: Any, names: Sequence[Any], parameter: str = "column", listed: bool = True) -> None:
    """Raise unless `name` is the name of exactly one column. What names there are is said only if `listed`: the first
    line of a CSV file without a header is somebody's data."""
    count = names.count(name)
    if count == 1:
        return
    if count > 1:
        raise InvalidParameter(
            f"{parameter} must be the name of one column, not of several: {name!r} appears {count} times",
            parameter=parameter,
            value=name,
            hint="Rename the columns.",
        )
    if not listed:
        raise InvalidParameter(
            f"{parameter} must be the name of a column",
            parameter=parameter,
            value=name,
            hint=f"None of the {len(names)} cells of the first line is this name. Has the file a header?",
        )
    folded = {str(n).strip().casefold(): n for n in reversed(names)}
    twin = folded.get(str(name).strip().casefold())
    close = [twin] if twin is not None else difflib.get_close_matches(str(name), [str(n) for n in names], n=1)
    shown = ", ".join(repr(n) for n in names[:8]) + (", …" if len(names) > 8 else "")
    hint = f"Did you mean {close[0]!r}? Columns: {shown}." if close else f"Columns: {shown}."
    raise InvalidParameter(f"{parameter} must be the name of a column", parameter=parameter, value=name, hint=hint)


def columns_of(frame: Any, chosen: Sequence[Any]) -> dict[Any, Any]:
    """The chosen columns of an eager frame, each as its library has it.

    Raises:
        InvalidParameter: no eager frame; a column that is not there; names that are not unique.
    """
    names, kind = names_of(frame), _kind(frame)
    if names is None or isinstance(frame, Mapping) or not (kind or _narwhals().dependencies.is_into_dataframe(frame)):
        raise InvalidParameter(
            "frame must be an eager data frame (pandas, polars, pyarrow)",
            parameter="frame",
            value=type(frame).__name__,
            hint="For a list, an array or a series use mechanism.privatize(values).",
        )
    for name in chosen:
        refuse_absent(name, names)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidParameter(
            "column names must be unique", parameter="frame", value=repeated, hint="Rename the columns."
        )
    return {name: _nth_column(frame, kind, names.index(name)) for name in chosen}


def _nth_column(frame: Any, kind: str | None, place: int) -> Any:
    """A column by its place: by name a library may read a pattern, or find an index."""
    if kind == "pandas":
        return frame.iloc[:, place]
    if kind == "polars":
        return frame.to_series(place)
    if kind == "pyarrow":
        return frame.column(place)
    nw = _narwhals()
    table = nw.from_native(frame, eager_only=True)
    return nw.to_native(table.get_column(table.columns[place]))


def with_columns(frame: Any, made: Mapping[Any, Any]) -> Any:
    """A copy of an eager frame with these columns in place of its own."""
    kind, names = _kind(frame), names_of(frame) or []
    if kind == "pandas":
        copy = frame.copy(deep=False)
        copy.attrs = {}
        for name, column in made.items():
            copy.isetitem(names.index(name), column)
        return copy
    if kind == "polars":
        copy = frame.clone()
        for name, column in made.items():
            copy.replace_column(names.index(name), column.alias(name))
        return copy
    if kind == "pyarrow":
        columns = [made.get(name, column) for name, column in zip(names, frame.columns, strict=True)]
        schema = schema_of_reports(frame.schema, {name: column.type for name, column in made.items()})
        return type(frame).from_arrays(columns, schema=schema)
    nw = _narwhals()
    series = (nw.from_native(column, series_only=True).alias(name) for name, column in made.items())
    return nw.to_native(nw.from_native(frame, eager_only=True).with_columns(*series))


def _kind(frame: Any) -> str | None:
    """The library of a frame that we know."""
    return type(frame).__module__.partition(".")[0] if is_frame(frame) else None


def _narwhals() -> Any:
    try:
        import narwhals as nw
    except ImportError:
        raise MissingDependency(
            "frames of other libraries need narwhals", hint="pip install 'extremal[frames]'."
        ) from None
    return nw
