"""Frames that are plans → plans with reports, by keyed sampling; eager frames too when a row id is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extremal.columns.column import distinct
from extremal.columns.engines import Engine, engine_of
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
    if release_key is not None and not isinstance(release_key, ReleaseKey):
        raise InvalidParameter(
            "release_key must be a ReleaseKey",
            parameter="type of release_key",
            value=type(release_key).__name__,
            hint="Make one with ex.ReleaseKey.new(), or read one with ex.ReleaseKey.load(path).",
        )
    try:
        randomised = row_id in chosen
    except TypeError:
        raise InvalidParameter(
            "row_id must be the name of a column", parameter="type of row_id", value=type(row_id).__name__
        ) from None
    if randomised:
        raise InvalidParameter("the row id cannot be randomised", parameter="row_id", value=row_id)
    key = ReleaseKey.new() if release_key is None else release_key
    columns = {name: KeyedColumn(mechanism, name, key) for name, mechanism in chosen.items()}
    engine = engine_of(frame)
    if engine is None:
        return _eager(frame, row_id, columns, check_ids)
    names = engine.names(frame)
    refuse_absent(row_id, names, "row_id")
    for name in chosen:
        refuse_absent(name, names)
    _refuse_repeats(engine, frame, row_id, check_ids)
    return engine.with_reports(frame, row_id, columns, connection)


def _refuse_repeats(engine: Engine, frame: Any, row_id: str, check_ids: bool | None) -> None:
    if (engine.CHEAP_TO_CHECK if check_ids is None else check_ids) and engine.repeats(frame, row_id):
        raise InvalidParameter(UNIQUE, parameter="row_id", value=row_id, hint="Number the rows first.")


def _eager(frame: Any, row_id: Any, columns: Mapping[Any, KeyedColumn], check_ids: bool | None) -> Any:
    found = columns_of(frame, [row_id, *columns])
    ids = found.pop(row_id)
    if check_ids is not False:
        codes, _ = distinct(ids, "row_id")
        if codes.size and (codes.min() < 0 or len(set(codes.tolist())) != codes.size):
            raise InvalidParameter(UNIQUE, parameter="row_id", value=row_id, hint="Number the rows first.")
    return with_columns(frame, {name: columns[name].reports(ids, values) for name, values in found.items()})
