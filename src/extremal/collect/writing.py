"""The one writer: what has arrived while the disk was busy is stored as one transaction, and acknowledged afterwards.

`Writer` stores a group of uploads and says what became of each. `Intake` is its queue: bounded, so that a server under
more load than its disk takes says so (429) instead of filling its memory; and it settles the store when it may.

Within a group reports are inserted in the order of their random ids, so that the order in which they came is nowhere.
An upload of several reports is stored whole or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sqlite3
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sql

from extremal.collect.schema import INVITATIONS, MODULUS, REPORTS, SETTINGS, TALLIES, Row, row_hash
from extremal.collect.store import Store
from extremal.collect.study import CHANGEABLE, Study, day_number, today

State = Literal["stored", "conflict", "invitation", "closed", "unavailable"]

MOST_WAITING = 100_000  # reports in the queue: about 50 MB, and two seconds of writing
MOST_TOGETHER = 20_000  # reports in one transaction, which takes half a second
ASKED_TOGETHER = 5_000  # ids in one statement; SQLite takes 32,766 parameters
ATTEMPTS = 5  # at a transaction that another process's came between
IDLE = 2.0  # seconds without an upload after which the store is settled
BUSY = 60.0  # seconds between settlings while uploads come
SHARE = 200  # a settling that took t seconds is followed by at least this many t without one
ONE_WRITER = bytes(16)  # the tally of an SQLite file; its transactions exclude one another
FAILURES = (sql.exc.SQLAlchemyError, sqlite3.Error)  # a full disk, a read-only file, a database that is gone

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of an upload.

    Attributes:
        state: "stored" if all of it is on disk.
        new: how many reports were stored now; the others were there with the same content.
        at: the positions of the reports that are to blame.
    """

    state: State
    new: int = 0
    at: tuple[int, ...] = ()


@dataclass(eq=False, slots=True)
class Arrival:
    """An upload that was read and found valid: ids, contents, and the hash of an invitation for each, or None."""

    ids: list[bytes]
    contents: list[str]
    codes: list[bytes | None]


class Writer:
    """Stores uploads in transactions; used by one thread at a time."""

    def __init__(self, study: Study, store: Store) -> None:
        self.study, self.store = study, store
        self._engine = store.writer()
        self._own = ONE_WRITER if store.is_sqlite else secrets.token_bytes(16)
        self._connection: sql.Connection | None = None
        self._failing = False

    def end(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*FAILURES):
                self._connection.close()
        self._connection = None

    def write(self, arrivals: Sequence[Arrival]) -> list[WriteOutcome]:
        """Store what can be stored; when this returns it is on disk."""
        try:
            for attempt in range(ATTEMPTS):
                found = self._attempt(arrivals, plain=attempt == 0)
                if found is not None:
                    self._failing = False
                    return found
        except FAILURES as error:
            self.end()
            self._say(error)
        return [WriteOutcome("unavailable")] * len(arrivals)

    def _say(self, error: Exception) -> None:
        """Tell the server's log once why reports are refused. The message itself might quote one."""
        if not self._failing:
            cause = getattr(error, "orig", None) or error
            name = getattr(cause, "sqlite_errorname", type(cause).__name__)
            log.warning("The store cannot be written (%s); uploads are answered with 503 until it can.", name)
        self._failing = True

    def _attempt(self, arrivals: Sequence[Arrival], plain: bool) -> list[WriteOutcome] | None:
        """None when somebody else's transaction came between, or reports turned out not to be all new."""
        if self._connection is None:
            self._connection = self._engine.connect()
        with self._connection.begin() as transaction:
            day, ended = today(), self._ended(self._connection)
            if "elsewhere" in ended:
                transaction.rollback()
                return [WriteOutcome("unavailable")] * len(arrivals)
            if "closed" in ended or self.study.over(day):
                transaction.rollback()
                return self._after_the_end(arrivals)
            simple = plain and not self.study.invited
            decided = _all_new(arrivals) if simple else self._decided(self._connection, arrivals)
            if decided is None or not self._inserted(self._connection, decided.rows(day_number(day))):
                transaction.rollback()
                return None
            self._spent(self._connection, decided.codes)
            return decided.outcomes

    def _ended(self, connection: sql.Connection) -> set[str]:
        """Why nothing is stored here any more: the study was closed, or went into a database."""
        asked = sql.select(SETTINGS.c.name, SETTINGS.c.value).where(SETTINGS.c.name.in_(CHANGEABLE))
        if not self.store.is_sqlite:
            asked = asked.with_for_update(read=True)  # closing waits for what is being written
        return {name for name, value in connection.execute(asked) if value}

    def _after_the_end(self, arrivals: Sequence[Arrival]) -> list[WriteOutcome]:
        """A retry of what is stored is acknowledged after the end, too; everything else is refused."""
        with self.store.reading() as connection:
            there = _existing(connection, [key for one in arrivals for key in one.ids])
        same = [
            all(there.get(key) == content for key, content in zip(one.ids, one.contents, strict=True))
            for one in arrivals
        ]
        return [WriteOutcome("stored") if known else WriteOutcome("closed") for known in same]

    def _decided(self, connection: sql.Connection, arrivals: Sequence[Arrival]) -> _Decided:
        """What of the arrivals is new, the same again, or refused."""
        there = _existing(connection, [key for one in arrivals for key in one.ids])
        codes = self._unspent(connection, arrivals) if self.study.invited else set()
        decided = _Decided([], {}, [])
        for one in arrivals:
            decided.outcomes.append(_decide(one, there, codes, decided, self.study.invited))
        return decided

    def _unspent(self, connection: sql.Connection, arrivals: Sequence[Arrival]) -> set[bytes]:
        """The codes among these that nobody has used."""
        given = sorted({code for one in arrivals for code in one.codes if code is not None})
        found: set[bytes] = set()
        for some in _pieces(given, ASKED_TOGETHER):
            asked = sql.select(INVITATIONS.c.code).where(INVITATIONS.c.code.in_(some), INVITATIONS.c.spent == 0)
            asked = asked if self.store.is_sqlite else asked.order_by(INVITATIONS.c.code).with_for_update()
            found |= {bytes(code) for code in connection.execute(asked).scalars()}
        return found

    def _spent(self, connection: sql.Connection, codes: list[bytes]) -> None:
        for some in _pieces(sorted(codes), ASKED_TOGETHER):
            connection.execute(sql.update(INVITATIONS).where(INVITATIONS.c.code.in_(some)).values(spent=1))

    def _inserted(self, connection: sql.Connection, rows: list[Row]) -> bool:
        """Insert rows and tally them; False when some id was there."""
        if not rows:
            return True
        rows.sort()
        if self.store.is_sqlite:
            statement = "INSERT INTO reports (id, day, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            done = connection.exec_driver_sql(statement, rows)
        else:
            statement = (
                "INSERT INTO reports (id, day, content) SELECT * FROM unnest(%b::bytea[], %b::int[], %b::text[]) "
                "ON CONFLICT DO NOTHING"
            )
            done = connection.exec_driver_sql(statement, tuple(list(column) for column in zip(*rows, strict=True)))
        if done.rowcount != len(rows):
            return False
        self._tally(connection, len(rows), sum(map(row_hash, rows)))
        return True

    def _tally(self, connection: sql.Connection, number: int, total: int) -> None:
        own = TALLIES.c.writer == self._own
        before = connection.execute(sql.select(TALLIES.c.reports, TALLIES.c.total).where(own)).one_or_none()
        stored = (0, 0) if before is None else (before.reports, int.from_bytes(before.total, "big"))
        values = {
            "reports": stored[0] + number,
            "total": ((stored[1] + total) % MODULUS).to_bytes(32, "big"),
        }
        if before is None:
            connection.execute(sql.insert(TALLIES).values(writer=self._own, **values))
        else:
            connection.execute(sql.update(TALLIES).where(own).values(**values))

    def note(self, rejects: Counter[str]) -> None:
        """Add to the numbers of refused uploads, in a transaction of its own: a count that is lost loses no report."""
        if not rejects:
            return
        statement = (
            "INSERT INTO rejects (day, reason, number) VALUES (:day, :reason, :number) "
            "ON CONFLICT (day, reason) DO UPDATE SET number = rejects.number + excluded.number"
        )
        rows = [{"day": day_number(today()), "reason": r, "number": n} for r, n in sorted(rejects.items())]
        with contextlib.suppress(*FAILURES), self._engine.begin() as connection:
            connection.execute(sql.text(statement), rows)

    def settle(self) -> bool:
        """Settle the store; False if that must be tried again."""
        try:
            return self.store.settle()
        except FAILURES:
            return False

    @property
    def settles(self) -> bool:
        """Whether the store is settled while it is served. Rewriting a large table of PostgreSQL makes all its writers
        wait, and is left to `close`; but where there are invitations, one that was spent in the transaction of a report
        would be linked to it until then."""
        return self.store.is_sqlite or self.study.invited


@dataclass(eq=False, slots=True)
class _Decided:
    outcomes: list[WriteOutcome]
    new: dict[bytes, str]
    codes: list[bytes]

    def rows(self, day: int) -> list[Row]:
        return [(key, day, content) for key, content in self.new.items()]


def _all_new(arrivals: Sequence[Arrival]) -> _Decided | None:
    """The common case, decided without a look at the store: every id once in the group. Inserting finds the rest."""
    new = {key: content for one in arrivals for key, content in zip(one.ids, one.contents, strict=True)}
    if len(new) < sum(len(one.ids) for one in arrivals):
        return None
    return _Decided([WriteOutcome("stored", len(one.ids)) for one in arrivals], new, [])


def _decide(
    one: Arrival, there: dict[bytes, str], unspent: set[bytes], decided: _Decided, invited: bool
) -> WriteOutcome:
    """What becomes of one upload; `there` and `unspent` are brought up to date."""
    new: dict[bytes, str] = {}
    codes: dict[int, bytes | None] = {}
    conflicts = []
    for place, (key, content) in enumerate(zip(one.ids, one.contents, strict=True)):
        known = there.get(key, new.get(key))
        if known is None:
            new[key] = content
            codes[place] = one.codes[place] if invited else None
        elif known != content:
            conflicts.append(place)
    if conflicts:
        return WriteOutcome("conflict", 0, tuple(conflicts))
    given = Counter(codes.values())
    bad = [place for place, code in codes.items() if code not in unspent or given[code] > 1] if invited else []
    if bad:
        return WriteOutcome("invitation", 0, tuple(bad))
    there |= new
    decided.new |= new
    used = [code for code in codes.values() if code is not None]
    unspent.difference_update(used)
    decided.codes.extend(used)
    return WriteOutcome("stored", len(new))


def _existing(connection: sql.Connection, keys: list[bytes]) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for some in _pieces(keys, ASKED_TOGETHER):
        asked = sql.select(REPORTS.c.id, REPORTS.c.content).where(REPORTS.c.id.in_(some))
        found |= {bytes(row[0]): row[1] for row in connection.execute(asked)}
    return found


def _pieces(listed: list[bytes], size: int) -> Iterable[list[bytes]]:
    return (listed[start : start + size] for start in range(0, len(listed), size))


class Busy(Exception):
    """The queue is full."""


class Intake:
    """The queue before the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: deque[tuple[Arrival, asyncio.Future[WriteOutcome]]] = deque()
        self._rows = 0
        self._come = asyncio.Event()
        self._ending = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._unsettled = True  # nobody knows how the last one ended
        self._settled_at, self._took = 0.0, 0.0
        self.rejects: Counter[str] = Counter()

    async def stored(self, arrival: Arrival) -> WriteOutcome:
        """Wait until an upload is on disk, or refused.

        Raises:
            Busy: too many reports wait already.
        """
        number = len(arrival.ids)
        if self._ending or self._rows + number > MOST_WAITING:
            raise Busy
        future: asyncio.Future[WriteOutcome] = asyncio.get_running_loop().create_future()
        self._rows += number
        self._waiting.append((arrival, future))
        self._come.set()
        return await future

    async def run(self) -> None:
        """Write until `end`; the store is settled before and afterwards."""
        await self._settle(0.0)
        while not self._ending or self._waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE):
                    await self._come.wait()
            self._come.clear()
            busy = bool(self._waiting)
            while self._waiting:
                await self._write_group()
                await self._settle(max(BUSY, SHARE * self._took))
            if not busy:
                await self._settle(IDLE)
        await self._settle(0.0)
        await self._in_thread(self._writer.end)
        self._thread.shutdown()

    def end(self) -> None:
        """Take nothing more; what waits is still written."""
        self._ending = True
        self._come.set()

    async def _write_group(self) -> None:
        group: list[tuple[Arrival, asyncio.Future[WriteOutcome]]] = []
        number = 0
        while self._waiting and (not group or number + len(self._waiting[0][0].ids) <= MOST_TOGETHER):
            group.append(self._waiting.popleft())
            number += len(group[-1][0].ids)
        try:
            outcomes = await self._in_thread(self._writer.write, [arrival for arrival, _ in group])
        except Exception as error:  # a defect: nobody may be left waiting for an answer, and later uploads are tried
            log.error("Writing failed by a defect: %s", _place(error))
            outcomes = [WriteOutcome("unavailable")] * len(group)
        self._rows -= number
        self._unsettled = True
        for (_, future), outcome in zip(group, outcomes, strict=True):
            if not future.done():  # else its client is gone
                future.set_result(outcome)

    async def _settle(self, after: float) -> None:
        """Note what was refused and settle the store, if it is time."""
        if time.monotonic() - self._settled_at < after:
            return
        noted, self.rejects = self.rejects, Counter()
        await self._in_thread(self._writer.note, noted)
        if self._unsettled and self._writer.settles:
            began = time.monotonic()
            self._unsettled = not await self._in_thread(self._writer.settle)
            self._took = time.monotonic() - began
        self._settled_at = time.monotonic()

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)


def _place(error: Exception) -> str:
    """What was raised and where, without its message, which might quote a report."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name}, line {last.lineno} of {Path(last.filename).name}"
