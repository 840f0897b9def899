"""The writer: stored once, whole or not at all, acknowledged when it is on disk."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from extremal.collect import writing
from extremal.collect.study import FILE, hashed_code, open_study
from extremal.collect.writing import Arrival, Busy, Intake, WriteOutcome, Writer
from support.studies import arrival, asked, study_in, upload, uploads

A, B = bytes(16), b"\1" * 16


def _one(key: bytes, content: str, code: str | None = None) -> Arrival:
    return Arrival([key], [content], [None if code is None else hashed_code(code)])


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    _, study, store = study_in(tmp_path / "study")
    found = Writer(study, store)
    yield found
    found.end()
    store.engine.dispose()


def test_stored_same_and_conflict(writer: Writer) -> None:
    assert writer.write([_one(A, "[1]")]) == [WriteOutcome("stored", 1)]
    assert writer.write([_one(A, "[1]")]) == [WriteOutcome("stored", 0)]
    assert writer.write([_one(A, "[2]")]) == [WriteOutcome("conflict", 0, (0,))]
    assert [content for _, content in writer.store.rows()] == ["[1]"]
    assert writer.store.check().sound


def test_in_one_group_the_first_wins(writer: Writer) -> None:
    outcomes = writer.write([_one(A, "[1]"), _one(A, "[1]"), _one(A, "[2]"), _one(B, "[3]")])
    assert outcomes == [
        WriteOutcome("stored", 1),
        WriteOutcome("stored", 0),
        WriteOutcome("conflict", 0, (0,)),
        WriteOutcome("stored", 1),
    ]
    assert writer.store.tallied() == 2
    assert writer.store.check().sound


def test_a_list_with_a_conflict_is_not_stored_at_all(writer: Writer) -> None:
    writer.write([_one(A, "[1]")])
    assert writer.write([Arrival([B, A], ["[3]", "[2]"], [None, None])]) == [WriteOutcome("conflict", 0, (1,))]
    assert writer.store.tallied() == 1
    assert writer.write([Arrival([B, B], ["[3]", "[4]"], [None, None])]) == [WriteOutcome("conflict", 0, (1,))]
    assert writer.write([Arrival([B, B, A], ["[3]", "[3]", "[1]"], [None] * 3)]) == [WriteOutcome("stored", 1)]


def test_reports_lie_in_the_order_of_their_ids(writer: Writer) -> None:
    writer.write([_one(B, "[2]"), _one(A, "[1]")])
    with closing(sqlite3.connect(writer.store.path or "")) as connection, connection:
        assert [row[0] for row in connection.execute("SELECT id FROM reports")] == [A, B]


def test_after_closing_only_what_is_there_is_acknowledged(writer: Writer) -> None:
    writer.write([_one(A, "[1]")])
    writer.store.close()
    assert writer.write([_one(A, "[1]"), _one(B, "[2]"), _one(A, "[3]")]) == [
        WriteOutcome("stored", 0),
        WriteOutcome("closed"),
        WriteOutcome("closed"),
    ]
    assert writer.store.tallied() == 1


def test_after_the_last_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from extremal.collect.study import today

    _, study, store = study_in(tmp_path / "study", until=today())
    found = Writer(study, store)
    assert found.write([_one(A, "[1]")]) == [WriteOutcome("stored", 1)]
    monkeypatch.setattr(writing, "today", lambda: today().replace(year=today().year + 1))
    assert found.write([_one(B, "[1]")]) == [WriteOutcome("closed")]
    found.end()
    store.engine.dispose()


def test_an_invitation_is_spent_once_and_not_linked(tmp_path: Path) -> None:
    made, study, store = study_in(tmp_path / "study", invitations=2)
    found = Writer(study, store)
    first, second = made.codes
    assert found.write([_one(A, "[1]")]) == [WriteOutcome("invitation", 0, (0,))]
    assert found.write([_one(A, "[1]", "nobody-has-this")]) == [WriteOutcome("invitation", 0, (0,))]
    assert found.write([_one(A, "[1]", first), _one(B, "[2]", first)]) == [
        WriteOutcome("stored", 1),
        WriteOutcome("invitation", 0, (0,)),
    ]
    assert found.write([_one(A, "[1]", first.upper())]) == [WriteOutcome("stored", 0)]  # a retry
    assert found.write([_one(B, "[2]", f" {second.upper()} ")]) == [WriteOutcome("stored", 1)]
    assert store.invitations() == (2, 2)
    found.end()
    store.engine.dispose()
    with closing(sqlite3.connect(tmp_path / "study" / FILE)) as connection, connection:
        assert [row[1] for row in connection.execute("PRAGMA table_info(invitations)")] == ["code", "spent"]


def test_a_list_with_one_code_for_two_spends_nothing(tmp_path: Path) -> None:
    made, study, store = study_in(tmp_path / "study", invitations=2)
    found, code = Writer(study, store), hashed_code(made.codes[0])
    assert found.write([Arrival([A, B], ["[1]", "[2]"], [code, code])]) == [WriteOutcome("invitation", 0, (0, 1))]
    assert store.invitations() == (0, 2)
    found.end()
    store.engine.dispose()


def test_a_store_that_cannot_be_written_refuses_and_goes_on_later(writer: Writer) -> None:
    with writer.store.engine.connect() as other:
        other.exec_driver_sql("PRAGMA busy_timeout=0")
        other.exec_driver_sql("ROLLBACK")
        other.exec_driver_sql("BEGIN EXCLUSIVE")
        writer._engine.dispose()
        writer._engine = _impatient(writer)
        assert writer.write([_one(A, "[1]")]) == [WriteOutcome("unavailable")]
        other.exec_driver_sql("ROLLBACK")
    assert writer.write([_one(A, "[1]")]) == [WriteOutcome("stored", 1)]
    assert writer.store.check().sound


def _impatient(writer: Writer) -> Any:
    from extremal.collect.schema import sqlite_engine

    assert writer.store.path is not None
    return sqlite_engine(writer.store.path, "busy_timeout=0", "synchronous=FULL", begin="BEGIN IMMEDIATE")


def test_a_full_disk_refuses_and_loses_nothing(writer: Writer) -> None:
    """SQLite's limit of pages stands for the disk's."""
    study = writer.study
    assert writer.write([arrival(study, *uploads(study.questionnaire, 50))])[0].new == 50
    assert writer._connection is not None
    raw = writer._connection.connection.driver_connection
    pages = raw.execute("PRAGMA page_count").fetchone()[0]
    raw.execute(f"PRAGMA max_page_count={pages + 2}")
    outcomes = writer.write([arrival(study, *uploads(study.questionnaire, 2_000))])
    assert outcomes == [WriteOutcome("unavailable")]
    assert writer.store.tallied() == 50
    assert writer.store.check().sound
    assert writer.write([_one(A, "[1]")]) == [WriteOutcome("stored", 1)]  # on a connection without the limit


def test_a_read_only_file_refuses(tmp_path: Path) -> None:
    _, study, store = study_in(tmp_path / "study")
    found = Writer(study, store)
    with closing(sqlite3.connect(tmp_path / "study" / FILE)) as connection, connection:
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON reports BEGIN SELECT raise(ABORT, 'read-only'); END")
    assert found.write([_one(A, "[1]")]) == [WriteOutcome("unavailable")]
    assert store.tallied() == 0
    found.end()
    store.engine.dispose()


# -- the queue


def _with_intake(folder: Path, use: Any) -> Any:
    async def whole() -> Any:
        study, store = open_study(folder)
        intake = Intake(Writer(study, store))
        running = asyncio.create_task(intake.run())
        try:
            return await use(intake)
        finally:
            intake.end()
            await running
            store.engine.dispose()

    return asyncio.run(whole())


def test_many_at_once_are_stored_in_few_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, study, store = study_in(tmp_path / "study")
    store.engine.dispose()
    sizes: list[int] = []
    plain = Writer.write

    def counted(self: Writer, arrivals: Any) -> Any:
        sizes.append(len(arrivals))
        return plain(self, arrivals)

    monkeypatch.setattr(Writer, "write", counted)
    given = [arrival(study, one) for one in uploads(asked(), 200)]

    async def use(intake: Intake) -> list[WriteOutcome]:
        return list(await asyncio.gather(*(intake.stored(one) for one in given)))

    outcomes = _with_intake(tmp_path / "study", use)
    assert outcomes == [WriteOutcome("stored", 1)] * 200
    assert sum(sizes) == 200
    assert len(sizes) < 20
    _, store = open_study(tmp_path / "study")
    assert store.check().reports == 200
    assert not (tmp_path / "study" / f"{FILE}-wal").exists()
    store.engine.dispose()


def test_a_full_queue_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study_in(tmp_path / "study")[2].engine.dispose()
    monkeypatch.setattr(writing, "MOST_WAITING", 3)

    async def use(intake: Intake) -> None:
        waiting = [asyncio.create_task(intake.stored(_one(bytes([i]) * 16, "[1]"))) for i in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await intake.stored(_one(B, "[9]"))
        assert await asyncio.gather(*waiting) == [WriteOutcome("stored", 1)] * 3
        assert (await intake.stored(_one(b"\x09" * 16, "[9]"))).new == 1

    _with_intake(tmp_path / "study", use)


def test_a_defect_leaves_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study_in(tmp_path / "study")[2].engine.dispose()

    def broken(self: Writer, arrivals: Any) -> Any:
        raise RuntimeError

    async def use(intake: Intake) -> WriteOutcome:
        monkeypatch.setattr(Writer, "write", broken)
        return await intake.stored(_one(A, "[1]"))

    assert _with_intake(tmp_path / "study", use) == WriteOutcome("unavailable")


def test_the_log_says_why_without_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _, study, store = study_in(tmp_path / "study")
    found = Writer(study, store)
    with closing(sqlite3.connect(tmp_path / "study" / FILE)) as connection, connection:
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON reports BEGIN SELECT raise(ABORT, 'secret'); END")
    for _ in range(3):
        assert found.write([_one(A, "[1]")]) == [WriteOutcome("unavailable")]
    found.end()
    store.engine.dispose()
    assert [record.getMessage() for record in caplog.records] == [
        "The store cannot be written (SQLITE_CONSTRAINT_TRIGGER); uploads are answered with 503 until it can."
    ]
    caplog.clear()

    def broken(self: Writer, arrivals: Any) -> Any:
        raise ValueError("secret")

    async def use(intake: Intake) -> WriteOutcome:
        monkeypatch.setattr(Writer, "write", broken)
        return await intake.stored(_one(A, "[1]"))

    assert _with_intake(tmp_path / "study", use) == WriteOutcome("unavailable")
    (said,) = [record.getMessage() for record in caplog.records if record.name.startswith("extremal")]
    assert "ValueError in broken" in said
    assert "secret" not in said


def test_a_file_that_is_gone_leaves_nobody_waiting(tmp_path: Path) -> None:
    """Notes and settlings fail, too; the queue goes on."""
    study_in(tmp_path / "study")[2].engine.dispose()

    async def use(intake: Intake) -> list[WriteOutcome]:
        (tmp_path / "study").rename(tmp_path / "gone")
        found = []
        for key in (A, B):
            intake.rejects["invalid"] += 1
            async with asyncio.timeout(20):
                found.append(await intake.stored(_one(key, "[1]")))
            await asyncio.sleep(0.05)
            intake._settled_at = 0.0
        return found

    assert {one.state for one in _with_intake(tmp_path / "study", use)} <= {"unavailable", "stored"}


def test_rejects_are_counted_by_reason(tmp_path: Path) -> None:
    study_in(tmp_path / "study")[2].engine.dispose()

    async def use(intake: Intake) -> None:
        intake.rejects["invalid"] += 2

    _with_intake(tmp_path / "study", use)
    _with_intake(tmp_path / "study", use)
    _, store = open_study(tmp_path / "study")
    assert store.rejects() == {"invalid": 4}
    store.engine.dispose()


def test_two_processes_may_write_one_file(tmp_path: Path) -> None:
    _, study, store = study_in(tmp_path / "study")
    one, other = Writer(study, store), Writer(study, store)
    given = [upload(asked(), {}) for _ in range(2)]
    assert given
    assert one.write([_one(A, "[1]")]) == [WriteOutcome("stored", 1)]
    assert other.write([_one(A, "[1]"), _one(B, "[2]")]) == [WriteOutcome("stored", 0), WriteOutcome("stored", 1)]
    assert store.check().sound
    one.end()
    other.end()
    store.engine.dispose()
