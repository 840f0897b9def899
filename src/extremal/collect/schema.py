"""The tables of a study, the same in SQLite and in PostgreSQL.

settings     name, value: the study, the day on which it was closed, whether its reports are in a database
reports      id (16 bytes drawn by the device), day, content (the reports as JSON, in the questionnaire's order)
invitations  SHA-256 of a code, spent or not; nothing says by which report
tallies      for each writer how many reports it stored, and the sum of their SHA-256 modulo 2^256
rejects      how many uploads were refused, by day and reason
"""

from __future__ import annotations

import hashlib

import sqlalchemy as sql

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

Row = tuple[bytes, int, str]
"""id, day, content."""


def row_hash(row: Row) -> int:
    """SHA-256 of a stored report as a number."""
    key, day, content = row
    return int.from_bytes(hashlib.sha256(key + day.to_bytes(4, "big") + content.encode()).digest(), "big")
