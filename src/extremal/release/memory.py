"""Asking again: what each person reported, kept, so that a second wave repeats it instead of spending more.

Averaging many independent reports about one person uncovers the truth: T reports at ε cost Tε. A memory answers the
same question about the same person with the *stored* report, whatever the value is now: T equal reports tell what one
tells, and cost ε once. A new report on purpose (`renew`) is counted, and refused when the sum of ε passes the limit
(basic composition). `TwoLevels` keeps a permanent report that is never shown, and makes a fresh one about it each time.

A report is on the disk before anyone sees it: SQLite with a write-ahead log and synchronous=FULL, one transaction a
call, so that a killed process or a power cut loses no report that was given out and doubles none.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile, PrivacyViolation
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.release.privatize import unknown
from extremal.release.two_levels import TwoLevels, cost

APPLICATION, VERSION = 0x65787472, 1  # "extr"
WAIT = 60.0  # seconds for another process that writes
SCHEMA = """CREATE TABLE IF NOT EXISTS reports (
  person TEXT NOT NULL, question TEXT NOT NULL, wave INTEGER NOT NULL, mechanism TEXT NOT NULL, report TEXT NOT NULL,
  epsilon TEXT NOT NULL, PRIMARY KEY (person, question, wave)) WITHOUT ROWID"""


class Reporting(Protocol):
    """What reports on values at a claimed level: a mechanism, or all questions of a questionnaire on a record."""

    @property
    def input_labels(self) -> Any: ...
    @property
    def privacy(self) -> Any: ...
    @property
    def hash(self) -> str: ...
    def privatize(self, values: Any) -> Any: ...


class Memory:
    """Each person's stored reports, by question, in a SQLite file that only its owner can read.

    Guarantee: a person's reports on all questions together satisfy LDP at `spent(person)`, which never passes `limit`;
    asking again costs nothing. What was returned is on the disk.

    Args:
        path: the file; made (mode 0600) if there is none.
        limit: the largest sum of ε for one person, or None for no limit.

    Reference: Ú. Erlingsson, V. Pihur, A. Korolova, RAPPOR (2014), on permanent responses.

    >>> import extremal as ex, tempfile, pathlib
    >>> m = ex.randomized_response(3, 1)
    >>> with Memory(pathlib.Path(tempfile.mkdtemp()) / "memory.db", limit=2) as memory:
    ...     first = memory.report("ann", "cigarettes", 2, m)
    ...     again = [memory.report("ann", "cigarettes", 0, m) for _ in range(5)]
    ...     set(again) == {first}, memory.spent("ann")
    (True, Fraction(1, 1))
    """

    def __init__(self, path: str | Path, limit: Any = None) -> None:
        self.path = Path(path)
        self.limit = None if limit is None else as_fraction(limit, "limit")
        if self.limit is not None and self.limit < 0:
            raise InvalidParameter("limit must not be negative", parameter="limit", value=limit)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self._database = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            self._database.close()
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise MalformedFile("the file must be a memory", parameter="path", value=str(path)) from None
        except MalformedFile:
            self._database.close()
            raise

    def _open(self) -> None:
        ask = self._database.execute
        ask("PRAGMA synchronous=FULL")  # a commit is on the disk when it returns
        tables = ask("SELECT count(*) FROM sqlite_master").fetchone()[0]
        found = (ask("PRAGMA application_id").fetchone()[0], ask("PRAGMA user_version").fetchone()[0])
        if found != (APPLICATION, VERSION) and (tables or found != (0, 0)):
            raise MalformedFile("the file must be a memory of this version", parameter="path", value=str(self.path))
        ask("PRAGMA journal_mode=WAL")
        if not tables:
            ask("BEGIN IMMEDIATE")
            ask(SCHEMA)
            ask(f"PRAGMA application_id={APPLICATION}")
            ask(f"PRAGMA user_version={VERSION}")
            ask("COMMIT")

    def report(self, person: str | int, question: str, value: Any, mechanism: Mechanism) -> Label:
        """The stored report; a new one, stored first, if this person was not asked yet.

        Raises:
            InvalidParameter: the question was asked with another mechanism (`renew` spends anew).
            PrivacyViolation: the person's sum of ε would pass the limit, or the mechanism claims no pure LDP.
        """
        return self.reports([person], question, [value], mechanism)[0]

    def reports(
        self, persons: Sequence[str | int], question: str, values: Sequence[Any], mechanism: Reporting
    ) -> list[Label]:
        """`report` for several persons in one transaction: all are stored, or none."""
        return self._asked(persons, question, values, mechanism, renew=False)

    def renew(self, person: str | int, question: str, value: Any, mechanism: Mechanism) -> Label:
        """A new, independent report that costs its ε again; from now on it is the stored one."""
        return self._asked([person], question, [value], mechanism, renew=True)[0]

    def instantaneous(self, person: str | int, question: str, value: Any, levels: TwoLevels) -> Label:
        """A fresh report about the stored permanent one, which is made if there is none and never returned."""
        return levels.about(self.report(person, question, value, levels.permanent))

    def spent(self, person: str | int) -> Fraction:
        """The sum of ε of all stored reports of a person."""
        return self._spent(_key(person))

    def _spent(self, key: str) -> Fraction:
        rows = self._database.execute("SELECT epsilon FROM reports WHERE person = ?", (key,))
        return sum((Fraction(epsilon) for (epsilon,) in rows), Fraction(0))

    def _asked(
        self, persons: Sequence[str | int], question: str, values: Sequence[Any], mechanism: Reporting, renew: bool
    ) -> list[Label]:
        price, keys = cost(mechanism), [_key(person) for person in persons]
        if not isinstance(question, str) or not question:
            raise InvalidParameter("a question needs a name", parameter="question", value=question)
        if len(set(keys)) != len(keys) or len(values) != len(keys):
            raise InvalidParameter(
                "every person needs one value", parameter="number of persons and values", value=[len(keys), len(values)]
            )
        for place, value in enumerate(values):  # also of those who have reported: an error must not tell who has
            if mechanism.input_labels.find(value) is None:
                raise unknown(mechanism.input_labels, value, f"values[{place}]")
        with self._database:  # all of them or, whatever happens, none
            self._database.execute("BEGIN IMMEDIATE")  # two processes never make two reports
            return [
                self._one(key, question, value, mechanism, price, renew)
                for key, value in zip(keys, values, strict=True)
            ]

    def _one(self, key: str, question: str, value: Any, mechanism: Reporting, price: Fraction, renew: bool) -> Label:
        last = self._database.execute(
            "SELECT wave, mechanism, report FROM reports WHERE person = ? AND question = ? ORDER BY wave DESC LIMIT 1",
            (key, question),
        ).fetchone()
        if last is not None and not renew:
            if last[1] != mechanism.hash:
                raise InvalidParameter(
                    "the question was asked with another mechanism",
                    parameter="mechanism.hash",
                    value=mechanism.hash[:12],
                    hint="Use that one, or memory.renew(...), which costs its ε.",
                )
            return _label(last[2])
        if self.limit is not None and self._spent(key) + price > self.limit:
            raise PrivacyViolation(
                "a new report would pass the limit of this memory",
                parameter="limit",
                value=float(self.limit),
                hint=f"The report costs ε = {float(price):g}. Repeat a stored report instead.",
            )
        made: Any = mechanism.privatize([value])[0]
        plain = made.item() if isinstance(made, np.generic) else made
        self._database.execute(
            "INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?)",
            (key, question, 0 if last is None else last[0] + 1, mechanism.hash, json.dumps(plain), str(price)),
        )
        return _label(json.dumps(plain))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({str(self.path)!r}, limit={None if self.limit is None else float(self.limit)})"


def _key(person: object) -> str:
    if type(person) not in (str, int):
        raise InvalidParameter("a person is a str or an int", parameter="type of person", value=type(person).__name__)
    return json.dumps(person)


def _label(text: str) -> Label:
    value: Any = json.loads(text)
    return tuple(value) if isinstance(value, list) else value
