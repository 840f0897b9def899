"""The store of a study, an SQLite file or a PostgreSQL schema, and what may be read from it.

*Durable.* SQLite runs in WAL mode with synchronous=FULL: a commit returns after fsync. PostgreSQL must have its
defaults, `fsync` and `synchronous_commit` on; they are looked at.

*Checked.* A tally changes in the transaction that stores the reports. The sum does not depend on their order, so that
`check` finds a report that is lost, doubled or altered, whatever happened in between. It guards against damage, not
against somebody who rewrites the tallies, too. Each writer has its own row: a counter that all writers share would make
them wait for one another.

*Settled.* The rows of a B-tree lie in the order of their random keys, but inside a page new rows stand before old ones,
and the WAL holds what came last. `settle` rewrites the file in the order of the keys and empties the WAL; after that no
byte depends on the order in which reports came within a day. The writer settles when nothing comes for two seconds,
from time to time while something does, and at its end. Nobody waits for it: while somebody reads, it is put off.

*In one place.* A study whose reports went into a database says so in its file, which then takes and counts none.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sql

from extremal.atomic import complete_or_absent, refuse_existing
from extremal.collect.schema import (
    INVITATIONS,
    META,
    MODULUS,
    PRAGMAS,
    REJECTS,
    REPORTS,
    SETTINGS,
    TALLIES,
    postgresql_engine,
    refuse_lossy,
    row_hash,
    sqlite_engine,
    without_password,
)
from extremal.collect.study import CHANGEABLE, FILE, today
from extremal.errors import InvalidParameter, MalformedFile
from extremal.paths import refuse_unusable

BATCH = 10_000  # rows read or copied at a time


@dataclass(frozen=True)
class Checked:
    """What `Store.check` found."""

    reports: int
    tallied: int
    whole: bool
    damage: str = ""

    @property
    def sound(self) -> bool:
        return self.whole and self.reports == self.tallied


class Store:
    """The tables of one study. Reading is for everyone; `extremal.collect.writing` writes."""

    def __init__(self, engine: sql.Engine, path: Path | None) -> None:
        self.engine = engine
        self.path = path

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.dispose()

    def writer(self) -> sql.Engine:
        """For whoever writes: SQLite's lock is taken when a transaction begins, not in its middle."""
        return self.engine if self.path is None else sqlite_engine(self.path, *PRAGMAS, begin="BEGIN IMMEDIATE")

    @property
    def is_sqlite(self) -> bool:
        return self.path is not None

    # -- made and opened

    @classmethod
    def made(cls, path: Path, settings: Mapping[str, str], codes: Iterable[bytes] = ()) -> Store:
        """A new file, whole or absent."""
        with complete_or_absent(path, overwrite=False) as temporary:
            with cls(sqlite_engine(temporary, "journal_mode=DELETE"), temporary) as store:
                store._fill(settings, ((code, 0) for code in codes))
            temporary.chmod(0o600)
        path.chmod(0o600)  # the reports and hashes are the owner's
        return cls.opened(path)

    @classmethod
    def opened(cls, path: Path) -> Store:
        refuse_unusable(path)
        store = cls(sqlite_engine(path, *PRAGMAS), path)
        try:
            with store.reading() as connection:
                found = {
                    name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                    for name in ("journal_mode", "synchronous", "secure_delete")
                }
                connection.execute(sql.select(SETTINGS.c.name).limit(1)).all()
        except (sql.exc.DatabaseError, sqlite3.DatabaseError) as error:
            store.engine.dispose()
            if isinstance(getattr(error, "orig", error), sqlite3.OperationalError):  # not what is in it
                raise InvalidParameter(
                    "a study's file and folder must be writable",
                    parameter="study",
                    value=str(path),
                    hint="Is the disk read-only or full, or is the file another user's?",
                ) from error
            raise MalformedFile(
                "a study must be an SQLite file that can be read", parameter="study", value=str(path)
            ) from error
        if found != {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}:
            raise InvalidParameter(
                "the file must be in WAL mode and flushed at every commit",
                parameter="pragmas",
                value=found,
                hint="Is the folder read-only, or on a network file system? SQLite needs a local disk.",
            )
        return store

    @classmethod
    def in_database(cls, url: str, key: str, origin: Store) -> Store:
        """The tables of a study in PostgreSQL, filled from `origin` the first time, by whoever comes first.

        `origin` is locked meanwhile and says afterwards that its reports are elsewhere, so that none is stored where
        nobody looks for it.
        """
        schema = f"extremal_{key}"
        store = cls(postgresql_engine(url, schema), None)
        try:
            with origin.writer().begin() as source:
                store._filled_from(source, schema)
                source.execute(sql.update(SETTINGS).where(SETTINGS.c.name == "elsewhere").values(value="yes"))
        except sql.exc.DBAPIError as error:
            store.engine.dispose()
            raise InvalidParameter(
                "the database must be reachable and its user allowed to make a schema",
                parameter="store",
                value=without_password(url),
                hint=str(error.orig).partition("\n")[0],
            ) from error
        except BaseException:  # whatever else ends this: the connections are given back, and it goes on
            store.engine.dispose()
            raise
        return store

    def _filled_from(self, source: sql.Connection, schema: str) -> None:
        with self.engine.begin() as connection:
            connection.execute(sql.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": schema})
            refuse_lossy(connection)
            connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            if sql.inspect(connection).has_table("settings", schema=schema):
                return
            META.create_all(connection)
            _copy_tables(source, connection)

    def _fill(self, settings: Mapping[str, str], invitations: Iterable[tuple[bytes, int]]) -> None:
        with self.engine.begin() as connection:
            META.create_all(connection)
            rows = [{"name": name, "value": value} for name, value in settings.items()]
            unset = [{"name": name, "value": ""} for name in CHANGEABLE]
            connection.execute(sql.insert(SETTINGS), [*rows, *unset])
            codes = [{"code": code, "spent": spent} for code, spent in sorted(invitations)]
            if codes:
                connection.execute(sql.insert(INVITATIONS), codes)

    # -- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """One consistent view. PostgreSQL shows an older view an empty table once it was rewritten, so that the lock
        comes before the view."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
                connection.exec_driver_sql("LOCK TABLE reports, invitations IN ACCESS SHARE MODE")
            yield connection

    def settings(self) -> dict[str, str]:
        with self.engine.connect() as connection:
            found = connection.execute(sql.select(SETTINGS.c.name, SETTINGS.c.value)).all()
            return {row.name: row.value for row in found}

    def closed(self) -> str:
        """The day on which the study was closed, or nothing."""
        return self.settings()["closed"]

    def rows(self) -> Iterator[tuple[int, str]]:
        """Day and content of all reports, in the order of their random ids."""
        asked = sql.select(REPORTS.c.day, REPORTS.c.content).order_by(REPORTS.c.id)
        with self.reading() as connection:
            for rows in connection.execution_options(yield_per=BATCH).execute(asked).partitions():
                yield from rows

    def contents(self) -> Iterator[tuple[str, int]]:
        """Every content that there is, with how many people reported it."""
        asked = sql.select(REPORTS.c.content, sql.func.count()).group_by(REPORTS.c.content)
        with self.reading() as connection:
            for rows in connection.execution_options(yield_per=BATCH).execute(asked).partitions():
                yield from ((row[0], row[1]) for row in rows)

    def by_day(self) -> dict[int, int]:
        """How many reports each day has."""
        asked = sql.select(REPORTS.c.day, sql.func.count()).group_by(REPORTS.c.day).order_by(REPORTS.c.day)
        with self.reading() as connection:
            return {int(day): int(number) for day, number in connection.execute(asked)}

    def tallied(self) -> int:
        """How many reports the writers have stored; one row each, so that it is quick."""
        with self.reading() as connection:
            return int(
                connection.execute(sql.select(sql.func.coalesce(sql.func.sum(TALLIES.c.reports), 0))).scalar_one()
            )

    def rejects(self) -> dict[str, int]:
        """How many uploads were refused, by reason."""
        asked = sql.select(REJECTS.c.reason, sql.func.sum(REJECTS.c.number)).group_by(REJECTS.c.reason)
        with self.reading() as connection:
            return {reason: int(number) for reason, number in sorted(map(tuple, connection.execute(asked)))}

    def invitations(self) -> tuple[int, int]:
        """How many codes were spent, and how many there are."""
        asked = sql.select(sql.func.coalesce(sql.func.sum(INVITATIONS.c.spent), 0), sql.func.count())
        with self.reading() as connection:
            spent, number = connection.execute(asked.select_from(INVITATIONS)).one()
            return int(spent), int(number)

    def check(self) -> Checked:
        """Read every report and compare with what the writers tallied; SQLite's file is looked at, too."""
        try:
            with self.reading() as connection:
                tallies = connection.execute(sql.select(TALLIES.c.reports, TALLIES.c.total)).all()
                number, total = 0, 0
                asked = sql.select(REPORTS.c.id, REPORTS.c.day, REPORTS.c.content)
                for rows in connection.execution_options(yield_per=BATCH).execute(asked).partitions():
                    number += len(rows)
                    total += sum(row_hash((bytes(row[0]), row[1], row[2])) for row in rows)
                damage = "" if not self.is_sqlite else _damage(connection)
        except (sql.exc.DatabaseError, sqlite3.DatabaseError) as error:
            return Checked(0, 0, False, type(error).__name__)
        expected = sum(int.from_bytes(row.total, "big") for row in tallies)
        tallied = sum(int(row.reports) for row in tallies)
        return Checked(number, tallied, not damage and (expected - total) % MODULUS == 0, damage)

    # -- changed as a whole

    def close(self) -> None:
        """Take no more reports, and settle. An upload that is being written is stored before or refused."""
        with self.engine.begin() as connection:
            changed = sql.update(SETTINGS).where(SETTINGS.c.name == "closed").values(value=today().isoformat())
            connection.execute(changed.where(SETTINGS.c.value == ""))
        self.settle()

    def settle(self) -> bool:
        """Rewrite what is stored so that it does not depend on the order in which it came; False if somebody reads or
        writes an SQLite file now.

        PostgreSQL: rows are put in the order of their keys by one transaction, which also takes away that those of one
        transaction can be told by it. Its own log and archives keep what they kept (docs/collect/linking.md).
        """
        if self.is_sqlite:
            return self._settle_file()
        with self.engine.begin() as connection:
            connection.exec_driver_sql("LOCK TABLE reports, invitations IN ACCESS EXCLUSIVE MODE")
            for table, key in (("reports", "id"), ("invitations", "code")):
                connection.exec_driver_sql(f"CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM {table}")
                connection.exec_driver_sql(f"TRUNCATE {table}")
                connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM kept ORDER BY {key}")
                connection.exec_driver_sql("DROP TABLE kept")
        return True

    def _settle_file(self) -> bool:
        """Rewrite the file and empty its log, without waiting for anybody; first it is seen whether the log can be
        emptied, since rewriting costs more."""
        with contextlib.closing(self.engine.raw_connection()) as connection:
            raw: Any = connection.driver_connection
            raw.execute("PRAGMA busy_timeout=0")
            try:
                if not _emptied(raw):
                    return False
                raw.execute("VACUUM")
                return _emptied(raw)
            except sqlite3.OperationalError:  # somebody writes, or there is no room for a copy
                return False

    def _alone(self, statement: str, *values: str) -> None:
        """What SQLite does outside of transactions."""
        with contextlib.closing(self.engine.raw_connection()) as connection:
            connection.driver_connection.execute(statement, values)  # type: ignore[union-attr]

    def copy(self, path: Path, overwrite: bool = False) -> None:
        """Write everything as one settled SQLite file, complete or absent, of one moment."""
        with complete_or_absent(path, overwrite) as temporary:
            if self.is_sqlite:
                self._alone("VACUUM INTO ?", str(temporary))  # SQLite takes a file that is empty
            else:
                self._copy_rows(temporary)

    def _copy_rows(self, path: Path) -> None:
        with Store(sqlite_engine(path, "journal_mode=DELETE"), path) as made, made.engine.begin() as target:
            META.create_all(target)
            with self.reading() as connection:
                _copy_tables(connection, target)


def _copy_tables(source: sql.Connection, target: sql.Connection) -> None:
    """All rows, in the order of their keys."""
    for table in META.sorted_tables:
        asked = sql.select(table).order_by(*table.primary_key).execution_options(yield_per=BATCH)
        for rows in source.execute(asked).partitions():
            target.execute(sql.insert(table), [dict(row._mapping) for row in rows])


def _emptied(connection: sqlite3.Connection) -> bool:
    """Move the log of a file into it; False while somebody reads what stands there."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _damage(connection: sql.Connection) -> str:
    found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
    return "" if found == "ok" else str(found)[:120]


def restored(backup: Path, folder: Path) -> Checked:
    """Make a study's folder of a backup, after checking it; the folder must not hold a study.

    Raises:
        MalformedFile: the backup is damaged.
        FileConflict: there is a study already.
    """
    refuse_unusable(backup)
    if not backup.is_file():
        raise FileNotFoundError(2, "No such file", str(backup))
    target = folder / FILE
    refuse_existing(target, False)
    with Store(sqlite_engine(backup, "query_only=ON"), backup) as source:
        found = source.check()
        if not found.sound:
            raise MalformedFile("the backup must be whole", parameter="backup", value=str(backup))
    folder.mkdir(parents=True, exist_ok=True)
    with complete_or_absent(target, overwrite=False) as temporary:
        shutil.copyfile(backup, temporary)
    target.chmod(0o600)
    return found
