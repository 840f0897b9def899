"""Data frames: one column or several randomised, everything else untouched.

Works on eager frames through narwhals: pandas, polars, pyarrow and what behaves like them. Index, order, dtypes and the
other columns stay as they are. Lazy frames are refused: evaluated twice they would report twice about the same person.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from extremal.errors import InvalidParameter, MissingDependency
from extremal.mechanism import Mechanism
from extremal.release.columns import privatize_column, refuse_lazy
from extremal.release.words import WordSource, refuse_seed


def privatize(
    frame: Any,
    columns: Mapping[Any, Mechanism] | None = None,
    *,
    column: Any = None,
    mechanism: Mechanism | None = None,
    **options: Any,
) -> Any:
    """Randomise columns of a data frame, exactly by each mechanism's weights and with the operating system's
    randomness.

    Guarantee: each row's report in a column depends on that row's value alone and satisfies the mechanism's privacy
    claim. Reports in several columns of the same row add up: ε₁ + ε₂ for two columns about the same person.

    Args:
        frame: a pandas or polars DataFrame, a pyarrow Table, or another eager frame that narwhals knows.
        columns: mechanisms by column name; or else
        column, mechanism: one of each.

    Returns:
        A new frame of the same type. The one given is not changed.

    Raises:
        InvalidParameter: the column is not there, is there twice, the frame is lazy, or a seed is given.
        UnknownLabel: a value is missing or is no label of the mechanism. Nothing is released then.

    >>> import pandas, extremal as ex
    >>> frame = pandas.DataFrame({"id": [1, 2], "answer": ["no", "yes"]})
    >>> m = ex.randomized_response(2, 50, inputs=["no", "yes"])
    >>> ex.privatize(frame, column="answer", mechanism=m)["answer"].tolist()
    ['no', 'yes']
    """
    refuse_seed(options)
    return privatize_frame(frame, columns_and_mechanisms(columns, column, mechanism))


def columns_and_mechanisms(
    columns: Mapping[Any, Mechanism] | None, column: Any, mechanism: Mechanism | None
) -> dict[Any, Mechanism]:
    """The two ways of saying which column gets which mechanism, as one."""
    if (columns is None) == (column is None) or (column is None) != (mechanism is None):
        raise InvalidParameter(
            "say which column gets which mechanism, once",
            parameter="columns",
            value=columns,
            hint="privatize(frame, column='answer', mechanism=m) or privatize(frame, {'answer': m}).",
        )
    chosen: dict[Any, Any] = dict(columns) if columns is not None else {column: mechanism}
    if not chosen:
        raise InvalidParameter("at least one column must be named", parameter="columns", value=columns)
    for name, m in chosen.items():
        if not isinstance(m, Mechanism):
            raise InvalidParameter(
                "a column needs a Mechanism", parameter=f"columns[{name!r}]", value=m, hint="Load files with ex.load."
            )
    return chosen


def refuse_absent(name: Any, present: list[Any]) -> None:
    """Raise when a column is not there, or there more than once."""
    count = present.count(name)
    if count == 1:
        return
    if count > 1:
        raise InvalidParameter(
            f"column names must be unique: {name!r} appears {count} times", parameter="column", value=name
        )
    close = difflib.get_close_matches(str(name), [str(p) for p in present], n=1)
    shown = ", ".join(repr(p) for p in present[:8]) + (", …" if len(present) > 8 else "")
    hint = f"Did you mean {close[0]!r}? Columns: {shown}." if close else f"Columns: {shown}."
    raise InvalidParameter("the column must be in the frame", parameter="column", value=name, hint=hint)


def privatize_frame(frame: Any, chosen: Mapping[Any, Mechanism], source: WordSource | None = None) -> Any:
    refuse_lazy(frame, "frame")
    try:
        import narwhals as nw
    except ImportError:
        raise MissingDependency("data frames need narwhals", hint="pip install 'extremal[frames]'.") from None
    names = getattr(
        frame, "column_names", getattr(frame, "columns", None)
    )  # pyarrow has both, and means data by `columns`
    if names is None or not nw.dependencies.is_into_dataframe(frame):
        raise InvalidParameter(
            "frame must be an eager data frame (pandas, polars, pyarrow)",
            parameter="frame",
            value=type(frame).__name__,
            hint="For a list, an array or a series use mechanism.privatize(values).",
        )
    for name in chosen:
        refuse_absent(name, list(names))
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidParameter(
            "column names must be unique", parameter="frame", value=repeated, hint="Rename the columns."
        )
    table = nw.from_native(frame, eager_only=True)
    made = {}
    for name, mechanism in chosen.items():  # every column is done before any is put in place
        reports = privatize_column(mechanism, nw.to_native(table.get_column(name)), name=str(name), source=source)
        made[name] = nw.from_native(reports, series_only=True)
    return nw.to_native(table.with_columns(*(series.alias(name) for name, series in made.items())))
