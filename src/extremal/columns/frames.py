"""Data frames: their names, a column of theirs, and a copy with some columns replaced.

Frames of pandas, polars and pyarrow, and what behaves like them. Index, order, dtypes and the other columns stay as
they are.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from extremal.errors import InvalidParameter, MissingDependency

FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}


def is_frame(values: Any) -> bool:
    """Whether this is a data frame of a library that we know."""
    return (type(values).__module__.partition(".")[0], type(values).__name__) in FRAMES


def names_of(frame: Any) -> list[Any] | None:
    """The names of the columns; None for what is no frame."""
    names = getattr(frame, "column_names", None)  # pyarrow has both, and means data by `columns`
    if names is None:
        names = getattr(frame, "columns", None)
    return None if names is None else list(names)


def pick(frame: Any, name: Any, parameter: str) -> Any:
    """A column of a frame by its name."""
    names = names_of(frame)
    if names is None:
        raise InvalidParameter(
            f"{parameter} may be a name only for data frames and files", parameter=parameter, value=name
        )
    refuse_absent(name, names, parameter)
    return frame[name]


def refuse_absent(name: Any, names: Sequence[Any], parameter: str = "column") -> None:
    """Raise unless `name` is the name of exactly one column."""
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
    close = difflib.get_close_matches(str(name), [str(n) for n in names], n=1)
    shown = ", ".join(repr(n) for n in names[:8]) + (", …" if len(names) > 8 else "")
    hint = f"Did you mean {close[0]!r}? Columns: {shown}." if close else f"Columns: {shown}."
    raise InvalidParameter(f"{parameter} must be the name of a column", parameter=parameter, value=name, hint=hint)


def columns_of(frame: Any, chosen: Sequence[Any]) -> dict[Any, Any]:
    """The chosen columns of an eager frame, each as its library has it.

    Raises:
        InvalidParameter: no eager frame; a column that is not there; names that are not unique.
    """
    nw = _narwhals()
    names = names_of(frame)
    if names is None or not nw.dependencies.is_into_dataframe(frame):
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
    table = nw.from_native(frame, eager_only=True)
    return {name: nw.to_native(table.get_column(name)) for name in chosen}


def with_columns(frame: Any, made: Mapping[Any, Any]) -> Any:
    """A copy of an eager frame with these columns in place of its own."""
    nw = _narwhals()
    series = (nw.from_native(column, series_only=True).alias(name) for name, column in made.items())
    return nw.to_native(nw.from_native(frame, eager_only=True).with_columns(*series))


def _narwhals() -> Any:
    try:
        import narwhals as nw
    except ImportError:
        raise MissingDependency("data frames need narwhals", hint="pip install 'extremal[frames]'.") from None
    return nw
