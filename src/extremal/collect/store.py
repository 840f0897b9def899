"""The tables of a study, in an SQLite file or a PostgreSQL schema, and what may be read from them.

    settings     name, value: the study, and the day on which it was closed
    reports      id (16 bytes drawn by the device), day, content (the reports as JSON, in the questionnaire's order)
    invitations  SHA-256 of a code, spent or not; nothing says by which report
    tallies      for each writer how many reports it stored, and the sum of their SHA-256 modulo 2^256
    rejects      how many uploads were refused, by day and reason

*Durable.* SQLite runs in WAL mode with synchronous=FULL: a commit returns after fsync. PostgreSQL must have its
defaults, `fsync` and `synchronous_commit` on; they are looked at.

*Checked.* A tally changes in the transaction that stores the reports. The sum does not depend on their order, so that
`check` finds a report that is lost, doubled or altered, whatever happened in between. It guards against damage, not
against somebody who rewrites the tallies, too. Each writer has its own row: a counter that all writers share would make
them wait for one another.

*Settled.* The rows of a B-tree lie in the order of their random keys, but inside a page new rows stand before old ones,
and the WAL holds what came last. `settle` rewrites the file in the order of the keys and empties the WAL; after that no
byte depends on the order in which reports came within a day. The writer settles when nothing comes for two seconds,
from time to time while something does, and at its end.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from extremal.atomic import complete_or_absent, refuse_existing, refuse_unusable, write_atomically
from extremal.collect.study import FILE, today
from extremal.errors import InvalidParameter, MalformedFile, MissingDependency

META = sql.MetaData()
SETTINGS = sql.Table(
    "settings",
    META,
    sql.Column("name", sql.Text, primary_key=True),
    sql.Column("value", sql.Text, nullable=False),
    sqlite_with_rowid=False,
)
REPORTS = sql.Table(
    "reports",
    META,
    sql.Column("id", sql.LargeBinary, primary_key=True),
    sql.Column("day", sql.Integer, nullable=False),
    sql.Column("content", sql.Text, nullable=False),
    sqlite_with_rowid=False,
)
INVITATIONS = sql.Table(
    "invitations",
    META,
    sql.Column("code", sql.LargeBinary, primary_key=True),
    sql.Column("spent", sql.Integer, nullable=False),
    sqlite_with_rowid=False,
)
TALLIES = sql.Table(
    "tallies",
    META,
    sql.Column("writer", sql.LargeBinary, primary_key=True),
    sql.Column("reports", sql.BigInteger, nullable=False),
    sql.Column("total", sql.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
REJECTS = sql.Table(
    "rejects",
    META,
    sql.Column("day", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("reason", sql.Text, primary_key=True),
    sql.Column("number", sql.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

MODULUS = 1 << 256  # of the sum of hashes
BATCH = 10_000  # rows read or copied at a time
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "busy_timeout=30000", "cache_size=-65536")
REQUIRED = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}  # of PostgreSQL, for durability

Row = tuple[bytes, int, str]
"""id, day, content."""


def row_hash(row: Row) -> int:
    """SHA-256 of a stored report as a number."""
    key, day, content = row
    return int.from_bytes(hashlib.sha256(key + day.to_bytes(4, "big") + content.encode()).digest(), "big")


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
        return self.engine if self.path is None else _sqlite_engine(self.path, *PRAGMAS, begin="BEGIN IMMEDIATE")

    @property
    def is_sqlite(self) -> bool:
        return self.path is not None

    # -- made and opened

    @classmethod
    def made(cls, path: Path, settings: Mapping[str, str], codes: Iterable[bytes] = ()) -> Store:
        """A new file, whole or absent."""
        with complete_or_absent(path, overwrite=False) as temporary:
            with cls(_sqlite_engine(temporary, "journal_mode=DELETE"), temporary) as store:
                store._fill(settings, ((code, 0) for code in codes))
            temporary.chmod(0o600)
        path.chmod(0o600)  # the reports and hashes are the owner's
        return cls.opened(path)

    @classmethod
    def opened(cls, path: Path) -> Store:
        refuse_unusable(path)
        store = cls(_sqlite_engine(path, *PRAGMAS), path)
        try:
            with store.reading() as connection:
                found = {
                    name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                    for name in ("journal_mode", "synchronous", "secure_delete")
                }
                connection.execute(sql.select(SETTINGS.c.name).limit(1)).all()
        except (sql.exc.DatabaseError, sqlite3.DatabaseError) as error:
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
        """The tables of a study in PostgreSQL, filled from `origin` the first time, by whoever comes first."""
        schema = f"extremal_{key}"
        store = cls(_postgresql_engine(url, schema), None)
        try:
            store._filled_from(origin, schema)
        except BaseException:
            store.engine.dispose()
            raise
        return store

    def _filled_from(self, origin: Store, schema: str) -> None:
        with self.engine.begin() as connection:
            connection.execute(sql.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": schema})
            refuse_lossy(connection)
            connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            if sql.inspect(connection).has_table("settings", schema=schema):
                return
            META.create_all(connection)
            with origin.reading() as source:
                for table in META.sorted_tables:
                    for rows in source.execution_options(yield_per=BATCH).execute(sql.select(table)).partitions():
                        connection.execute(sql.insert(table), [dict(row._mapping) for row in rows])

    def _fill(self, settings: Mapping[str, str], invitations: Iterable[tuple[bytes, int]]) -> None:
        with self.engine.begin() as connection:
            META.create_all(connection)
            rows = [{"name": name, "value": value} for name, value in settings.items()]
            connection.execute(sql.insert(SETTINGS), [*rows, {"name": "closed", "value": ""}])
            codes = [{"code": code, "spent": spent} for code, spent in sorted(invitations)]
            if codes:
                connection.execute(sql.insert(INVITATIONS), codes)

    # -- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """One consistent view."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    def settings(self) -> dict[str, str]:
        with self.reading() as connection:
            found = connection.execute(sql.select(SETTINGS.c.name, SETTINGS.c.value)).all()
            return {row.name: row.value for row in found}

    def closed(self) -> str:
        """The day on which the study was closed, or nothing."""
        return self.settings()["closed"]

    def rows(self, day: int | None = None) -> Iterator[tuple[int, str]]:
        """Day and content of all reports, in the order of their random ids."""
        asked = sql.select(REPORTS.c.day, REPORTS.c.content).order_by(REPORTS.c.id)
        asked = asked if day is None else asked.where(REPORTS.c.day == day)
        with self.reading() as connection:
            for rows in connection.execution_options(yield_per=BATCH).execute(asked).partitions():
                yield from ((row[0], row[1]) for row in rows)

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

    def settle(self) -> None:
        """Rewrite what is stored so that it does not depend on the order in which it came.

        PostgreSQL: rows are put in the order of their ids by one transaction. Its own log and archives keep what they
        kept (docs/collect/linking.md).
        """
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                connection.exec_driver_sql("LOCK TABLE reports IN ACCESS EXCLUSIVE MODE")
                connection.exec_driver_sql("CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM reports")
                connection.exec_driver_sql("TRUNCATE reports")
                connection.exec_driver_sql("INSERT INTO reports SELECT * FROM kept ORDER BY id")
            return
        self._alone("VACUUM")
        self._alone("PRAGMA wal_checkpoint(TRUNCATE)")

    def _alone(self, statement: str, *values: str) -> None:
        """What SQLite does outside of transactions."""
        connection = self.engine.raw_connection()
        try:
            connection.driver_connection.execute(statement, values)  # type: ignore[union-attr]
        finally:
            connection.close()

    def copy(self, path: Path, overwrite: bool = False) -> None:
        """Write everything as one settled SQLite file, complete or absent, of one moment."""
        with complete_or_absent(path, overwrite) as temporary:
            if self.is_sqlite:
                self._alone("VACUUM INTO ?", str(temporary))  # SQLite takes a file that is empty
            else:
                self._copy_rows(temporary)

    def _copy_rows(self, path: Path) -> None:
        with Store(_sqlite_engine(path, "journal_mode=DELETE"), path) as made, made.engine.begin() as target:
            META.create_all(target)
            with self.reading() as connection:
                for table in META.sorted_tables:
                    asked = sql.select(table).order_by(*table.primary_key)
                    for rows in connection.execution_options(yield_per=BATCH).execute(asked).partitions():
                        target.execute(sql.insert(table), [dict(row._mapping) for row in rows])


# -- engines


def _sqlite_engine(path: Path, *pragmas: str, begin: str = "BEGIN") -> sql.Engine:
    engine = sql.create_engine(f"sqlite:///{path}", poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def opened(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # this module says when a transaction begins
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begun(connection: sql.Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _postgresql_engine(url: str, schema: str) -> sql.Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingDependency("PostgreSQL needs psycopg", hint="pip install 'extremal[collect]'") from None
    if not re.match(r"postgres(ql)?://", url):
        raise InvalidParameter(
            "the store must be a PostgreSQL URL",
            parameter="store",
            value=url.partition("@")[2] or url[:40],  # never a password
            hint="postgresql://user:password@host/database; without --store the study's own file is used.",
        )
    own = re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", url)
    return sql.create_engine(
        own,
        pool_pre_ping=True,
        pool_size=4,
        hide_parameters=True,
        connect_args={"options": f"-c search_path={schema}", "connect_timeout": 10},
    )


def refuse_lossy(connection: sql.Connection) -> None:
    """Raise where a commit of PostgreSQL may return before the disk has it."""
    found = {name: str(connection.exec_driver_sql(f"SHOW {name}").scalar_one()) for name in REQUIRED}
    lossy = {
        name: value for name, value in found.items() if value not in (REQUIRED[name], "remote_apply", "remote_write")
    }
    if lossy:
        raise InvalidParameter(
            "the database must flush at every commit", parameter="settings", value=lossy, hint="Set them to on."
        )


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
    with Store(_sqlite_engine(backup, "query_only=ON"), backup) as source:
        found = source.check()
        if not found.sound:
            raise MalformedFile("the backup must be whole", parameter="backup", value=str(backup))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(target, backup.read_bytes(), overwrite=False)
    target.chmod(0o600)
    return found
