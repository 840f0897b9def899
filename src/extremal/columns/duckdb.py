"""DuckDB relations: reports are made by a function on Arrow vectors, registered in the relation's connection.

A relation does not tell which connection it belongs to, so one that is not DuckDB's default must be given. The function
and the secret of the release live in it under a random name until it closes; the secret is in no query's text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from extremal.errors import InvalidParameter

if TYPE_CHECKING:
    from extremal.columns.engines import Reporter

INTEGERS_AND_TEXT = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "VARCHAR", "UUID"),
)  # HUGEINT is a decimal for Arrow
CHEAP_TO_CHECK = True  # one pass over the column of ids


def holds(frame: Any) -> bool:
    root = type(frame).__module__.partition(".")[0]
    return root in ("duckdb", "_duckdb") and type(frame).__name__ == "DuckDBPyRelation"


def names(frame: Any) -> list[str]:
    return list(frame.columns)


def with_reports(frame: Any, row_id: str, columns: Mapping[str, Reporter], connection: Any) -> Any:
    import duckdb
    import pyarrow as pa

    here: Any = duckdb.default_connection() if connection is None else connection
    types = dict(zip(frame.columns, frame.types, strict=True))
    empty = frame.limit(0).to_arrow_table()
    made = {}
    _refuse_type(row_id, types[row_id], ("BLOB",), "ids", "VARCHAR, BIGINT or BLOB")
    for name, column in columns.items():
        for one in column.reads:
            _refuse_type(one, types[one], ("BOOLEAN",), "labels", "VARCHAR, BIGINT or BOOLEAN")
        reports = column.reports(empty[row_id], *(empty[one] for one in column.reads))
        kind = here.from_arrow(pa.table({"reports": reports})).types[0]
        function = f"extremal_{os.urandom(8).hex()}"
        here.create_function(
            function,
            _vectors(column),
            [types[one] for one in (row_id, *column.reads)],
            kind,
            type="arrow",
            null_handling="special",
        )
        given = ", ".join(_quoted(one) for one in (row_id, *column.reads))
        made[name] = f"{function}({given}) AS {_quoted(name)}"
    try:
        return frame.project(", ".join(made.get(name, _quoted(name)) for name in frame.columns))
    except duckdb.CatalogException:
        raise InvalidParameter(
            "the relation must belong to the connection",
            parameter="connection",
            value=connection,
            hint="Give the one that made it: privatize(relation, …, connection=con).",
        ) from None


def _refuse_type(name: str, kind: Any, more: tuple[str, ...], what: str, cast: str) -> None:
    """Raise on a type that holds none of them: said now, not when somebody evaluates the relation."""
    text = str(kind)
    if text not in (*INTEGERS_AND_TEXT, *more) and not text.startswith("ENUM"):
        raise InvalidParameter(
            f"a column of this type cannot hold {what}", parameter=name, value=text, hint=f"Cast it to {cast}."
        )


def _vectors(column: Reporter) -> Any:
    def vectors(*given: Any) -> Any:
        return column.reports(*given)

    # DuckDB counts what a function takes by its signature.
    names = [f"column_{i}" for i in range(1 + len(column.reads))]
    made: Any = vectors
    made.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    return made


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def repeats(frame: Any, row_id: str) -> bool:
    ids = _quoted(row_id)
    return bool(frame.aggregate(f"count(DISTINCT {ids}) <> count(*)").fetchall()[0][0])  # a missing id is not counted


def counted(frame: Any, column: str) -> list[tuple[Any, int]]:
    name = _quoted(column)
    found = frame.aggregate(f"{name}, count(*)", name).fetchall()
    return [(tuple(v) if isinstance(v, list) else v, int(n)) for v, n in found]
