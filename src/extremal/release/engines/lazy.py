"""Frames that are plans → plans with reports, by keyed sampling; eager frames too when a row id is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extremal.columns.column import distinct
from extremal.columns.engines import Engine, Reporter, engine_of
from extremal.columns.frames import columns_of, refuse_absent, with_columns
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.release.engines.key import ReleaseKey
from extremal.release.engines.keyed import KeyedColumn

UNIQUE = "every row needs an id of its own: two rows with one id would share their random words"


def privatize_keyed(
    frame: Any,
    chosen: Mapping[Any, Mechanism],
    row_id: Any,
    release_key: ReleaseKey | None,
    check_ids: bool | None = None,
    connection: Any = None,
) -> Any:
    """`frame` with the chosen columns replaced by keyed reports: evaluated again, they are the same."""
    key = checked_key(release_key)
    try:
        randomised = row_id in chosen
    except TypeError:
        raise InvalidParameter(
            "row_id must be the name of a column", parameter="type of row_id", value=type(row_id).__name__
        ) from None
    if randomised:
        raise InvalidParameter("the row id cannot be randomised", parameter="row_id", value=row_id)
    columns = {name: KeyedColumn(mechanism, name, key) for name, mechanism in chosen.items()}
    return with_keyed_columns(frame, row_id, columns, check_ids, connection)


def checked_key(given: Any) -> ReleaseKey:
    """The key of a release; a new one where none is given."""
    if given is not None and not isinstance(given, ReleaseKey):
        raise InvalidParameter(
            "release_key must be a ReleaseKey",
            parameter="type of release_key",
            value=type(given).__name__,
            hint="Make one with ex.ReleaseKey.new(), or read one with ex.ReleaseKey.load(path).",
        )
    return ReleaseKey.new() if given is None else given


def with_keyed_columns(
    frame: Any, row_id: Any, columns: Mapping[Any, Reporter], check_ids: bool | None, connection: Any
) -> Any:
    """`frame`, a plan or not, with these columns replaced by what their reporters make of what they read."""
    engine = engine_of(frame)
    if engine is None:
        return _eager(frame, row_id, columns, check_ids)
    names = engine.names(frame)
    refuse_absent(row_id, names, "row_id")
    for name in dict.fromkeys(one for column in columns.values() for one in column.reads):
        refuse_absent(name, names)
    _refuse_repeats(engine, frame, row_id, check_ids)
    return engine.with_reports(frame, row_id, columns, connection)


def _refuse_repeats(engine: Engine, frame: Any, row_id: str, check_ids: bool | None) -> None:
    if (engine.CHEAP_TO_CHECK if check_ids is None else check_ids) and engine.repeats(frame, row_id):
        raise InvalidParameter(UNIQUE, parameter="row_id", value=row_id, hint="Number the rows first.")


def _eager(frame: Any, row_id: Any, columns: Mapping[Any, Reporter], check_ids: bool | None) -> Any:
    found = columns_of(frame, list(dict.fromkeys([row_id, *(one for c in columns.values() for one in c.reads)])))
    ids = found[row_id]
    if check_ids is not False:
        codes, _ = distinct(ids, "row_id")
        if codes.size and (codes.min() < 0 or len(set(codes.tolist())) != codes.size):
            raise InvalidParameter(UNIQUE, parameter="row_id", value=row_id, hint="Number the rows first.")
    made = {name: one.reports(ids, *(found[read] for read in one.reads)) for name, one in columns.items()}
    return with_columns(frame, made)
