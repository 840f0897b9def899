"""polars LazyFrame: reports are made batch by batch inside the plan, which stays a plan and keeps streaming."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from extremal.errors import InvalidParameter

if TYPE_CHECKING:
    from extremal.columns.engines import Reporter

CHEAP_TO_CHECK = True  # one pass over the column of ids


def holds(frame: Any) -> bool:
    return type(frame).__module__.partition(".")[0] == "polars" and type(frame).__name__ == "LazyFrame"


def names(frame: Any) -> list[str]:
    return list(frame.collect_schema().names())


def _columns(*names: str) -> Any:
    """Columns by their names as they are: elsewhere polars reads "^…$" as a pattern and "*" as all of them."""
    from polars import selectors

    return selectors.by_name(*names)


def with_reports(frame: Any, row_id: str, columns: Mapping[str, Reporter], _connection: Any) -> Any:
    import polars as pl

    schema = frame.collect_schema()
    for name in dict.fromkeys((row_id, *(one for column in columns.values() for one in column.reads))):
        if schema[name] == pl.Object:
            raise InvalidParameter(
                "a plan of polars cannot work on objects", parameter=name, value="Object", hint="Cast the column first."
            )

    def replaced(name: str, column: Reporter) -> Any:
        def batch(given: Any) -> Any:
            every = given.struct.unnest()
            return column.reports(*(every.to_series(every.columns.index(one)) for one in (row_id, *column.reads)))

        made = column.reports(*(pl.Series(one, [], dtype=schema[one]) for one in (row_id, *column.reads)))
        # Element by element is what it is: each report depends on its row alone, so that polars may cut as it likes.
        return (
            pl.struct(_columns(row_id, *column.reads))
            .map_batches(batch, return_dtype=made.dtype, is_elementwise=True)
            .alias(name)
        )

    return frame.with_columns(replaced(name, column) for name, column in columns.items())


def repeats(frame: Any, row_id: str) -> bool:
    import polars as pl

    ids = _columns(row_id).as_expr()
    found = frame.select((ids.n_unique() != pl.len()) | ids.is_null().any()).collect(engine="streaming")
    return bool(found.item())


def counted(frame: Any, column: str) -> list[tuple[Any, int]]:
    import polars as pl

    found = frame.group_by(_columns(column).as_expr()).agg(pl.len().alias("how many")).collect(engine="streaming")
    return [(tuple(v) if isinstance(v, list) else v, int(n)) for v, n in found.rows()]
