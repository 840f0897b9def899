"""The tables of a study, the same in SQLite and in PostgreSQL, and the connections to both.

settings     name, value: the study, the day on which it was closed, whether its reports are in a database
reports      id (16 bytes drawn by the device), day, content (the reports as JSON, in the questionnaire's order)
invitations  SHA-256 of a code, spent or not; nothing says by which report
tallies      for each writer how many reports it stored, and the sum of their SHA-256 modulo 2^256
rejects      how many uploads were refused, by day and reason
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from extremal.errors import InvalidParameter, MissingDependency

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
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "busy_timeout=30000", "cache_size=-65536")
REQUIRED = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}  # of PostgreSQL, for durability

Row = tuple[bytes, int, str]
"""id, day, content."""


def row_hash(row: Row) -> int:
    """SHA-256 of a stored report as a number."""
    key, day, content = row
    return int.from_bytes(hashlib.sha256(key + day.to_bytes(4, "big") + content.encode()).digest(), "big")


# -- connections


def sqlite_engine(path: Path, *pragmas: str, begin: str = "BEGIN") -> sql.Engine:
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


def postgresql_engine(url: str, schema: str) -> sql.Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingDependency("PostgreSQL needs psycopg", hint="pip install 'extremal[collect]'") from None
    if not re.match(r"postgres(ql)?://", url):
        raise InvalidParameter(
            "the store must be a PostgreSQL URL",
            parameter="store",
            value=without_password(url),
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


def without_password(url: str) -> str:
    """What of a URL may be said: host and database."""
    return (url.rpartition("@")[2] if "@" in url else url).partition("?")[0]


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
