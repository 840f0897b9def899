"""The store: what is on disk, what can be read from it, and what it does not tell."""

from __future__ import annotations

import datetime
import random
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from extremal.collect.schema import row_hash
from extremal.collect.store import Store, restored
from extremal.collect.study import FILE, Study, open_study
from extremal.collect.writing import Arrival, Writer
from extremal.errors import FileConflict, InvalidParameter, MalformedFile
from support.studies import arrival, asked, study_in, uploads

HEADER_COUNTERS = [
    *range(24, 28),
    *range(40, 44),
    *range(92, 100),
]  # changes, schema cookie, version: how often, not what


def _raw(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A study with a hundred reports."""
    _, study, store = study_in(tmp_path / "study")
    with store:
        writer = Writer(study, store)
        writer.write([arrival(study, *uploads(study.questionnaire, 100))])
        writer.end()
    return tmp_path / "study"


def test_a_commit_is_flushed_and_deleted_content_is_overwritten(tmp_path: Path) -> None:
    _, _, store = study_in(tmp_path / "study")
    with store, store.writer().connect() as connection:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("secure_delete", 1)):
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one() == value


def test_files_are_the_owners(filled: Path) -> None:
    assert (filled / FILE).stat().st_mode & 0o777 == 0o600


def test_a_study_is_not_made_twice(filled: Path) -> None:
    with pytest.raises(FileConflict, match="must not hold a study yet"):
        study_in(filled)


def test_what_is_stored_of_a_person(filled: Path) -> None:
    with closing(_raw(filled)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(reports)")]
        assert columns == ["id", "day", "content"]
        assert {len(row[0]) for row in connection.execute("SELECT id FROM reports")} == {16}
        assert len({row[0] for row in connection.execute("SELECT day FROM reports")}) == 1


def test_the_token_and_the_codes_are_stored_hashed(tmp_path: Path) -> None:
    made, study, store = study_in(tmp_path / "study", invitations=3)
    store.engine.dispose()
    assert study.is_analyst(made.token)
    assert not study.is_analyst(made.token[:-1])
    stored = (tmp_path / "study" / FILE).read_bytes()
    for secret in (made.token, *made.codes, *(code.replace("-", "") for code in made.codes)):
        assert secret.encode() not in stored


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM reports WHERE id = (SELECT min(id) FROM reports)",
        "UPDATE reports SET content = replace(content, 'yes', 'no') WHERE content LIKE '%yes%'",
        "UPDATE reports SET day = day + 1 WHERE id = (SELECT min(id) FROM reports)",
        "INSERT INTO reports SELECT randomblob(16), day, content FROM reports LIMIT 1",
        "UPDATE reports SET id = randomblob(16) WHERE id = (SELECT min(id) FROM reports)",
        "UPDATE tallies SET reports = reports + 1",
    ],
)
def test_check_finds_what_is_lost_doubled_or_altered(filled: Path, damage: str) -> None:
    _, store = open_study(filled)
    assert store.check().sound
    with closing(_raw(filled)) as connection, connection:
        assert connection.execute(damage).rowcount >= 1
    assert not store.check().sound
    store.engine.dispose()


def test_check_survives_a_file_that_cannot_be_read(filled: Path) -> None:
    path = filled / FILE
    data = bytearray(path.read_bytes())
    data[8192:] = secrets.token_bytes(len(data) - 8192)
    path.write_bytes(bytes(data))
    store = Store.opened(path)
    assert not store.check().sound


def test_changed_settings_are_refused(filled: Path) -> None:
    with closing(_raw(filled)) as connection, connection:
        connection.execute("UPDATE settings SET value = 'open to all' WHERE name = 'title'")
    with pytest.raises(MalformedFile, match="were changed"):
        open_study(filled)


def test_no_study_and_no_database_are_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No study"):
        open_study(tmp_path)
    (tmp_path / FILE).write_bytes(b"not a database, not even nearly" * 100)
    with pytest.raises(MalformedFile, match="SQLite file"):
        open_study(tmp_path)


def test_a_url_of_another_database_is_refused_without_its_password(filled: Path) -> None:
    with pytest.raises(InvalidParameter, match="must be a PostgreSQL URL") as caught:
        open_study(filled, "mysql://me:secret@host/base")
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_said(filled: Path) -> None:
    with pytest.raises(InvalidParameter, match="must be reachable") as caught:
        open_study(filled, "postgresql://me:secret@127.0.0.1:1/base?password=secret")
    assert "127.0.0.1:1/base" in str(caught.value)
    assert "secret" not in str(caught.value)
    with open_study(filled)[1] as store:
        assert store.tallied() == 100  # the file is still where the reports are


def test_backup_and_restore(filled: Path, tmp_path: Path) -> None:
    _, store = open_study(filled)
    with store:
        before = sorted(store.rows())
        store.copy(tmp_path / "copy.sqlite")
    found = restored(tmp_path / "copy.sqlite", tmp_path / "again")
    assert found.sound
    _, again = open_study(tmp_path / "again")
    with again:
        assert sorted(again.rows()) == before
    with pytest.raises(FileConflict):
        restored(tmp_path / "copy.sqlite", tmp_path / "again")


def test_a_damaged_backup_is_not_restored(filled: Path, tmp_path: Path) -> None:
    _, store = open_study(filled)
    with store:
        store.copy(tmp_path / "copy.sqlite")
    with closing(sqlite3.connect(tmp_path / "copy.sqlite")) as connection, connection:
        connection.execute("DELETE FROM reports WHERE id = (SELECT min(id) FROM reports)")
    with pytest.raises(MalformedFile, match="must be whole"):
        restored(tmp_path / "copy.sqlite", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def _stored_in_order(folder: Path, origin: Path, rows: list[tuple[bytes, str]], settled: bool) -> bytes:
    """The bytes of a store after these reports came one after the other."""
    folder.mkdir()
    (folder / FILE).write_bytes(origin.read_bytes())
    study, store = open_study(folder)
    writer = Writer(study, store)
    for key, content in rows:
        writer.write([Arrival([key], [content], [None])])
    writer.end()
    if settled:
        store.settle()
    store.engine.dispose()
    data = bytearray((folder / FILE).read_bytes())
    for place in HEADER_COUNTERS:
        data[place] = 0
    return bytes(data)


def test_a_settled_file_does_not_depend_on_the_order_of_arrival(tmp_path: Path) -> None:
    """The same reports in two orders make the same bytes; before settling they do not."""
    _, study, store = study_in(tmp_path / "study")
    store.engine.dispose()
    origin = tmp_path / "study" / FILE
    one = arrival(study, *uploads(asked(), 150))
    rows = list(zip(one.ids, one.contents, strict=True))
    orders = [rows, rows[::-1], random.Random(1).sample(rows, len(rows))]
    settled = {_stored_in_order(tmp_path / f"s{i}", origin, order, True) for i, order in enumerate(orders)}
    assert len(settled) == 1
    unsettled = {_stored_in_order(tmp_path / f"u{i}", origin, order, False) for i, order in enumerate(orders)}
    assert len(unsettled) == 3


def test_settling_empties_the_log(filled: Path) -> None:
    study, store = open_study(filled)
    writer = Writer(study, store)
    with store.engine.connect():  # as long as somebody has it open, the log stays
        writer.write([arrival(study, *uploads(study.questionnaire, 5))])
        log = filled / f"{FILE}-wal"
        assert log.stat().st_size > 0
        assert writer.settle()
        assert log.stat().st_size == 0
    writer.end()
    store.engine.dispose()


def test_settling_is_put_off_while_somebody_reads(filled: Path) -> None:
    """It neither waits nor says that the log is empty when it is not; nor is the file rewritten in vain."""
    study, store = open_study(filled)
    writer = Writer(study, store)
    with closing(_raw(filled)) as reader, reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM reports").fetchone()
        writer.write([arrival(study, *uploads(study.questionnaire, 5))])
        log = filled / f"{FILE}-wal"
        before = log.stat().st_size
        assert not writer.settle()
        assert log.stat().st_size == before > 0
        reader.execute("COMMIT")
    assert writer.settle()
    assert log.stat().st_size == 0
    writer.end()
    store.engine.dispose()


def test_a_last_day_that_is_past_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="must not be past"):
        study_in(tmp_path / "study", until=datetime.date(2020, 1, 31))
    assert not (tmp_path / "study").exists()


def test_the_hash_of_a_report_depends_on_all_of_it() -> None:
    row = (bytes(16), 20_000, '["yes"]')
    others = [(bytes(15) + b"\1", 20_000, '["yes"]'), (bytes(16), 20_001, '["yes"]'), (bytes(16), 20_000, '["no"]')]
    assert len({row_hash(one) for one in [row, *others]}) == 4


def test_settings_come_back(tmp_path: Path) -> None:
    _, study, store = study_in(tmp_path / "study", title="<b>Ä</b>", consent="You may stop.", invitations=2)
    store.engine.dispose()
    again = Study.from_settings(study.to_settings())
    assert (again.title, again.consent, again.invited, again.questionnaire.hash) == (
        "<b>Ä</b>",
        "You may stop.",
        True,
        asked().hash,
    )
    with pytest.raises(MalformedFile, match="version"):
        Study.from_settings({**study.to_settings(), "version": "2.0"})
