"""Asking again: what each person reported, kept, so that a second wave repeats it instead of spending more.

Averaging many independent reports about one person uncovers the truth: T reports at ε cost Tε. A memory answers the
same question about the same person with the *stored* report, whatever the value is now: T equal reports tell what one
tells, and cost ε once. A new report on purpose (`renew`) is counted, and refused when the sum of ε passes the limit
(basic composition). `TwoLevels` keeps a permanent report that is never shown, and makes a fresh one about it each time;
where its reports follow a value that changes, every class that the value enters has a row and is counted.

A report is on the disk before anyone sees it: SQLite with a write-ahead log and synchronous=FULL, one transaction a
call, so that a killed process or a power cut loses no report that was given out and doubles none.

Rows are authenticated. Beside the file stands its guard, with a secret key and a counter: every row and the state of
the whole (how many rows, the limit, how many changes there were) have a tag under the key, all of which are checked
when the file is opened; the counter follows each change, before the report is given out. So an edited, added or
removed row, a copy without its log and an older copy put back are noticed. What is not: both files put back from the
same older copy, both deleted, or changed by somebody who can read the guard.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import sqlite3
import stat
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile, NoSecureRandomness, PrivacyViolation
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.paths import refuse_unusable
from extremal.release.privatize import unknown
from extremal.release.two_levels import HashSeeds, TwoLevels, cost

APPLICATION, VERSION = 0x65787472, 2  # "extr"
WAIT = 60.0  # seconds for another process that writes
TAG_BYTES = 32  # of HMAC-SHA256
LONGEST_NAME = 1000  # characters of a person or a question
CLASS = "\x1f"  # stands between a question and a class of its value; no name of a question can hold it
SCHEMA = (
    """CREATE TABLE reports (
  person TEXT NOT NULL, question TEXT NOT NULL, wave INTEGER NOT NULL, mechanism TEXT NOT NULL, report TEXT NOT NULL,
  epsilon TEXT NOT NULL, tag BLOB NOT NULL, PRIMARY KEY (person, question, wave)) WITHOUT ROWID""",
    "CREATE TABLE state (changes INTEGER NOT NULL, rows INTEGER NOT NULL, most TEXT, tag BLOB NOT NULL)",
)
CHANGED = "Somebody changed it, or copied it while it was in use. Put back the last copy of all its files."
OLDER = "Reports that were given out are missing, and would be made again. Put back the last copy of all its files."


class Reporting(Protocol):
    """What reports on values at a claimed level: a mechanism, or all questions of a questionnaire on a record."""

    @property
    def input_labels(self) -> Any: ...
    @property
    def privacy(self) -> Any: ...
    @property
    def hash(self) -> str: ...
    def privatize(self, values: Any) -> Any: ...


class Guard:
    """A small file beside a memory: the key of its tags, and how many changes it has had at least.

    The counter stands in two places that are written in turn, each with a tag: a write that is cut off leaves the one
    before. It is never lowered.
    """

    HEADER = b"extremal memory guard 1\n"
    SLOT = 8 + TAG_BYTES  # a counter and its tag

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".guard")
        refuse_unusable(self.path)
        if not self.path.exists():
            if path.exists() and path.stat().st_size:
                raise MalformedFile(
                    "the guard of a memory must stand beside it",
                    parameter="path",
                    value=str(self.path),
                    hint="Copy both files, and the log if there is one, while nobody uses them.",
                )
            self._make()
        refuse_open(self.path)
        content = self.path.read_bytes()
        if not content.startswith(self.HEADER) or len(content) != len(self.HEADER) + TAG_BYTES + 2 * self.SLOT:
            raise MalformedFile("the file must be the guard of a memory", parameter="path", value=str(self.path))
        self._key = content[len(self.HEADER) :][:TAG_BYTES]

    def _make(self) -> None:
        """All of it under another name first; who comes second takes what is there."""
        try:
            self._key = os.urandom(TAG_BYTES)
        except (NotImplementedError, OSError) as error:
            raise NoSecureRandomness(
                "a memory needs the operating system's random generator", parameter="cause", value=str(error)
            ) from error
        temporary = self.path.with_name(f".{self.path.name[:40]}.{os.urandom(6).hex()}.tmp")
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(self.HEADER + self._key + 2 * self._slot(0))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(temporary, self.path)
        finally:
            temporary.unlink(missing_ok=True)

    def tag(self, *fields: Any) -> bytes:
        """The tag of a row or of the state."""
        return hmac.digest(self._key, json.dumps(fields).encode(), "sha256")

    def _slot(self, changes: int) -> bytes:
        return changes.to_bytes(8, "little") + self.tag("guard", changes)

    def changes(self) -> int:
        """How many there were at least."""
        with self.path.open("rb") as file:
            return self._read(file)

    def _read(self, file: Any) -> int:
        start = len(self.HEADER) + TAG_BYTES
        file.seek(start)
        content = file.read(2 * self.SLOT)
        slots = [content[: self.SLOT], content[self.SLOT :]]
        numbers = [int.from_bytes(slot[:8], "little") for slot in slots]
        known = [number for number, slot in zip(numbers, slots, strict=True) if slot == self._slot(number)]
        if not known:
            raise MalformedFile("the file must be the guard of a memory", parameter="path", value=str(self.path))
        return max(known)

    def follow(self, changes: int) -> None:
        """So many have been made; on the disk when this returns."""
        with self.path.open("rb+") as file, _alone_with(file):
            if self._read(file) < changes:
                file.seek(len(self.HEADER) + TAG_BYTES + (changes % 2) * self.SLOT)
                file.write(self._slot(changes))
                file.flush()
                os.fsync(file.fileno())


@contextlib.contextmanager
def _alone_with(file: Any) -> Iterator[None]:
    """No other process writes the file meanwhile, where the system has locks."""
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file is closed
    yield


def refuse_open(path: Path) -> None:
    """Raise when others than its owner may read or write a file."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise InvalidParameter(
            "a memory must be readable and writable by its owner alone",
            parameter=f"mode of {path.name}",
            value=f"{mode:04o}",
            hint=f"chmod 600 {path}; others may have read the permanent reports in it.",
        )


class _Own:
    """A thread's connection, closed when the thread ends: nobody tells a memory, and SQLite's own objects wait for the
    garbage collector."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database, self.process = database, os.getpid()

    def __del__(self) -> None:
        if self.process == os.getpid():  # a parent's is not to be closed here
            self.database.close()


class Memory:
    """Each person's stored reports, by question, in a SQLite file that only its owner can read.

    Guarantee: a person's reports on all questions together satisfy LDP at `spent(person)`, which never passes `limit`;
    asking again costs nothing. What was returned is on the disk, and what others changed there is noticed.

    Args:
        path: the file; made (mode 0600), with a guard beside it (`path` + ".guard"), if there is none.
        limit: the largest sum of ε for one person; kept in the file, where it can only be lowered. None: as the file
            says, and no limit if it says none.

    A person is an int or a text, a question a text. Blanks at the ends count for nothing, inside for one, texts are
    compared in Unicode's normal form NFC, and 1 is "1"; capital letters matter.

    Raises:
        MalformedFile: the file is no memory, was changed, or is older than its guard.
        InvalidParameter: others may read or write it; a limit above the one in the file.

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
        wanted = None if limit is None else as_fraction(limit, "limit")
        if wanted is not None and wanted < 0:
            raise InvalidParameter("limit must not be negative", parameter="limit", value=limit)
        refuse_unusable(self.path)
        if self.path.is_dir():
            raise MalformedFile("the file must be a memory", parameter="path", value=str(path))
        self._guard = Guard(self.path)
        if self._guard.changes() and not (self.path.exists() and self.path.stat().st_size):
            raise self._older("the memory that this guard belongs to must be there")
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        refuse_open(self.path)
        self._local, self._inherited = threading.local(), list[_Own]()
        self.limit: Fraction | None = None
        try:
            with self._saying():
                self._start()
                self._refuse_changed()
            self._lower(wanted)
        except BaseException:
            self.close()
            raise

    @property
    def _database(self) -> sqlite3.Connection:
        """A connection of this process and thread: transactions of two threads must not mix."""
        own: _Own | None = getattr(self._local, "own", None)
        if own is None or own.process != os.getpid():
            if own is not None:
                self._inherited.append(own)
            # No other thread uses it, but another may be the last to let go of it.
            own = _Own(sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False))
            try:
                own.database.execute("PRAGMA synchronous=FULL")  # a commit is on the disk when it returns
            except sqlite3.Error:
                own.database.close()
                raise
            self._local.own = own
        return own.database

    @contextlib.contextmanager
    def _saying(self) -> Iterator[None]:
        """What SQLite says about a file or a disk, as errors that name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(5, f"the memory cannot be read or written ({error})", str(self.path)) from None
        except sqlite3.DatabaseError:
            raise MalformedFile("the file must be a memory", parameter="path", value=str(self.path)) from None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[list[int]]:
        """The only writer: how many changes and rows there are, put down again at the end, and then in the guard. All
        of it happens, or nothing does."""
        with self._saying():
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")  # two processes never make two reports
                changes, rows = self._state()
                if changes < self._guard.changes():
                    raise self._older("the memory must not be older than its guard")
                counts = [changes, rows]
                before = (*counts, self.limit)
                yield counts
                if (*counts, self.limit) != before:
                    self._put_down(counts[0] + 1, counts[1])
            # Not before the commit: a guard that is ahead would accuse a memory that was only interrupted.
            self._guard.follow(counts[0] + 1 if (*counts, self.limit) != before else counts[0])

    def _start(self) -> None:
        ask = self._database.execute
        tables = ask("SELECT count(*) FROM sqlite_master").fetchone()[0]
        found = (ask("PRAGMA application_id").fetchone()[0], ask("PRAGMA user_version").fetchone()[0])
        if found != (APPLICATION, VERSION) and (tables or found != (0, 0)):
            raise MalformedFile("the file must be a memory of this version", parameter="path", value=str(self.path))
        ask("PRAGMA journal_mode=WAL")
        with self._database:
            ask("BEGIN IMMEDIATE")
            if not ask("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                if self._guard.changes():
                    raise self._older("a memory must have its tables")
                for table in SCHEMA:
                    ask(table)
                ask(f"PRAGMA application_id={APPLICATION}")
                ask(f"PRAGMA user_version={VERSION}")
                ask("INSERT INTO state VALUES (0, 0, NULL, ?)", (self._guard.tag("state", 0, 0, None),))

    def _state(self) -> tuple[int, int]:
        """How many changes and rows there are; the limit becomes the one that is stored.

        Raises:
            MalformedFile: the state is not what was put down.
        """
        found = self._database.execute("SELECT changes, rows, most, tag FROM state").fetchall()
        if len(found) != 1 or found[0][3] != self._guard.tag("state", *found[0][:3]):
            raise self._changed("state")
        changes, rows, most, _ = found[0]
        self.limit = None if most is None else Fraction(most)
        return changes, rows

    def _put_down(self, changes: int, rows: int) -> None:
        most = None if self.limit is None else str(self.limit)
        tag = self._guard.tag("state", changes, rows, most)
        self._database.execute("UPDATE state SET changes = ?, rows = ?, most = ?, tag = ?", (changes, rows, most, tag))

    def _refuse_changed(self) -> None:
        """Raise unless every row is one that was put down, and none is missing."""
        least = self._guard.changes()  # before the rows: another process may add to both meanwhile
        with self._database:
            self._database.execute("BEGIN")
            changes, rows = self._state()
            if sum(1 for _ in self._rows("TRUE")) != rows:
                raise self._changed("number of rows")
        if changes < least:
            raise self._older("the memory must not be older than its guard")
        self._guard.follow(changes)

    def _changed(self, what: str) -> MalformedFile:
        return MalformedFile("a memory must be as it was put down", parameter="changed", value=what, hint=CHANGED)

    def _older(self, why: str) -> MalformedFile:
        return MalformedFile(why, parameter="path", value=str(self.path), hint=OLDER)

    def _lower(self, wanted: Fraction | None) -> None:
        """Make the limit the wanted one."""
        with self._writing():
            if wanted is None or wanted == self.limit:
                return
            if self.limit is not None and wanted > self.limit:
                raise InvalidParameter(
                    "the limit of a memory can only be lowered",
                    parameter="limit",
                    value=float(wanted),
                    hint=f"The file says {float(self.limit):g}: people were told so.",
                )
            self.limit = wanted

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
        """A fresh report about the stored permanent one, which is made if there is none and never returned.

        Where `levels` follow a value that changes, there is a permanent report for each class that it was in.
        """
        return self.instantaneous_reports([person], question, [value], levels)[0]

    def instantaneous_reports(
        self, persons: Sequence[str | int], question: str, values: Sequence[Any], levels: TwoLevels
    ) -> list[Label]:
        """`instantaneous` for several persons; permanent reports are all stored before any report is made, or none.

        Raises:
            PrivacyViolation: a person's value entered a class that the limit has no room for; `levels.classes` times
                the cost of the permanent mechanism is always room enough.
        """
        if not levels.changing:
            return levels.about(self.reports(persons, question, values, levels.permanent))
        classes, seeds = self._places(values, levels.input_labels), None
        if levels.hashed is not None:
            functions: list[Any] = self._asked(persons, question, values, HashSeeds(levels), renew=False)
            seeds = [int(function) for function in functions]
            classes = [levels.class_of(place, seed) for place, seed in zip(classes, seeds, strict=True)]
        inside = [levels.permanent.inputs[c] for c in classes]
        kept = self._asked(persons, question, inside, levels.permanent, renew=False, classes=classes)
        return levels.about(kept, seeds)

    def spent(self, person: str | int) -> Fraction:
        """The sum of ε of all stored reports of a person."""
        with self._saying():
            return self._spent(_normal(person, "person"))

    def _spent(self, key: str) -> Fraction:
        return sum((Fraction(row[5]) for row in self._rows("person = ?", (key,))), Fraction(0))

    def _rows(self, where: str, values: tuple[str, ...] = ()) -> Iterator[Any]:
        """Rows, each as it was put down."""
        asked = f"SELECT person, question, wave, mechanism, report, epsilon, tag FROM reports WHERE {where}"
        for *fields, tag in self._database.execute(asked, values):
            if tag != self._guard.tag(*fields):
                raise self._changed("a row")
            yield fields

    def _asked(
        self,
        persons: Sequence[str | int],
        question: str,
        values: Sequence[Any],
        mechanism: Reporting,
        renew: bool,
        classes: Sequence[int] | None = None,
    ) -> list[Label]:
        price, keys = cost(mechanism), [_normal(person, "person") for person in persons]
        if not isinstance(question, str):
            raise InvalidParameter("a question needs a name", parameter="question", value=type(question).__name__)
        name = _normal(question, "question")
        if len(set(keys)) != len(keys) or len(values) != len(keys):
            raise InvalidParameter(
                "every person needs one value", parameter="number of persons and values", value=[len(keys), len(values)]
            )
        self._places(values, mechanism.input_labels)
        names = [name] * len(keys) if classes is None else [f"{name}{CLASS}{c}" for c in classes]
        with self._writing() as counts:
            made = list[Label]()
            for key, row, value in zip(keys, names, values, strict=True):
                made.append(self._one(key, row, value, mechanism, price, renew, counts))
        return made  # once the guard has followed

    @staticmethod
    def _places(values: Sequence[Any], labels: Any) -> list[int]:
        """The number of each value among the labels; also of people who have reported: an error must not tell who."""
        found: list[int] = []
        for place, value in enumerate(values):
            code = labels.find(value)
            if code is None:
                raise unknown(labels, value, f"values[{place}]")
            found.append(code)
        return found

    def _one(
        self, key: str, question: str, value: Any, mechanism: Reporting, price: Fraction, renew: bool, counts: list[int]
    ) -> Label:
        last = next(self._rows("person = ? AND question = ? ORDER BY wave DESC LIMIT 1", (key, question)), None)
        if last is not None and not renew:
            if last[3] != mechanism.hash:
                raise InvalidParameter(
                    "the question was asked with another mechanism",
                    parameter="mechanism.hash",
                    value=mechanism.hash[:12],
                    hint="Use that one, or memory.renew(...), which costs its ε.",
                )
            return _label(last[4])
        if self.limit is not None and self._spent(key) + price > self.limit:
            raise PrivacyViolation(
                "a new report would pass the limit of this memory",
                parameter="limit",
                value=float(self.limit),
                hint=f"The report costs ε = {float(price):g}. Repeat a stored report instead.",
            )
        made: Any = mechanism.privatize([value])[0]
        text = json.dumps(made.item() if isinstance(made, np.generic) else made)
        row = (key, question, 0 if last is None else last[2] + 1, mechanism.hash, text, str(price))
        self._database.execute("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, self._guard.tag(*row)))
        counts[1] += 1
        return _label(text)

    def close(self) -> None:
        """Let go of the file in this thread; the next call opens it again. Other threads let go when they end."""
        own: _Own | None = getattr(self._local, "own", None)
        if own is not None and own.process == os.getpid():
            own.database.close()
            del self._local.own

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({str(self.path)!r}, limit={None if self.limit is None else float(self.limit)})"


def _normal(name: object, parameter: str) -> str:
    """A person or a question as it is compared."""
    if type(name) not in (str, int):
        raise InvalidParameter("a person is a str or an int", parameter="type of person", value=type(name).__name__)
    text = " ".join(unicodedata.normalize("NFC", str(name)).split())
    if not text or len(text) > LONGEST_NAME or not text.isprintable():
        raise InvalidParameter(
            f"a {parameter} needs a name of up to {LONGEST_NAME:,} characters that can be printed",
            parameter=f"length of the {parameter}'s name",
            value=len(text),
            hint="Number them, or use another key.",
        )
    return text


def _label(text: str) -> Label:
    value: Any = json.loads(text)
    return tuple(value) if isinstance(value, list) else value
