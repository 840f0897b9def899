"""The same store in PostgreSQL: several writers, restarts, and the same promises."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest

from extremal.collect.export import export
from extremal.collect.store import restored
from extremal.collect.study import hashed_code, open_study
from extremal.collect.writing import Arrival, WriteOutcome, Writer
from extremal.errors import InvalidParameter
from support.servers import Database, serving, until
from support.studies import arrival, asked, study_in, uploads

A, B = bytes(16), b"\1" * 16


@pytest.fixture
def opened(database: Database, tmp_path: Path) -> Any:
    made, _, local = study_in(tmp_path / "study", invitations=0)
    local.engine.dispose()
    study, store = open_study(tmp_path / "study", database.url)
    with store:
        yield made, study, store


def test_stored_same_conflict_closed(opened: Any) -> None:
    _, study, store = opened
    writer = Writer(study, store)
    one, other = Arrival([A], ["[1]"], [None]), Arrival([A], ["[2]"], [None])
    assert writer.write([one]) == [WriteOutcome("stored", 1)]
    assert writer.write([one, other]) == [WriteOutcome("stored", 0), WriteOutcome("conflict", 0, (0,))]
    assert store.check().sound
    store.close()
    assert writer.write([one]) == [WriteOutcome("stored", 0)]
    assert writer.write([Arrival([B], ["[1]"], [None])]) == [WriteOutcome("closed")]
    writer.end()


def test_invitations_are_copied_and_spent_once(database: Database, tmp_path: Path) -> None:
    made, _, local = study_in(tmp_path / "study", invitations=3)
    local.engine.dispose()
    study, store = open_study(tmp_path / "study", database.url)
    code = hashed_code(made.codes[0])
    with store:
        one, other = Writer(study, store), Writer(study, store)
        assert one.write([Arrival([A], ["[1]"], [code])]) == [WriteOutcome("stored", 1)]
        assert other.write([Arrival([B], ["[1]"], [code])]) == [WriteOutcome("invitation", 0, (0,))]
        assert store.invitations() == (1, 3)
        one.end()
        other.end()


def test_writers_that_race_for_the_same_ids(opened: Any) -> None:
    """Both send the same reports, in other orders and groups: everything is stored once and acknowledged to both."""
    _, study, store = opened
    given = uploads(asked(), 400)
    outcomes: list[list[WriteOutcome]] = [[], []]

    def send(number: int) -> None:
        writer = Writer(study, store)
        own = given if number else given[::-1]
        for place in range(0, 400, 20):
            outcomes[number] += writer.write([arrival(study, one) for one in own[place : place + 20]])
        writer.end()

    threads = [threading.Thread(target=send, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {outcome.state for own in outcomes for outcome in own} == {"stored"}
    assert sum(outcome.new for own in outcomes for outcome in own) == 400
    assert (store.check().reports, store.check().sound) == (400, True)


def test_settled_rows_lie_in_the_order_of_their_ids(opened: Any, database: Database) -> None:
    _, study, store = opened
    writer = Writer(study, store)
    for one in uploads(asked(), 30):
        writer.write([arrival(study, one)])
    writer.end()
    store.close()
    with psycopg.connect(database.url) as connection:
        rows = connection.execute(f"SELECT id, xmin::text FROM extremal_{study.key}.reports ORDER BY ctid").fetchall()
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert len({row[1] for row in rows}) == 1
    assert store.check().sound


def test_a_backup_is_a_study(opened: Any, tmp_path: Path) -> None:
    _, study, store = opened
    writer = Writer(study, store)
    writer.write([arrival(study, *uploads(asked(), 50))])
    writer.end()
    store.copy(tmp_path / "b.sqlite")
    assert restored(tmp_path / "b.sqlite", tmp_path / "again").reports == 50
    export(study, store, tmp_path / "r.jsonl")
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 50


def test_two_servers_and_a_restart_of_the_database(database: Database, tmp_path: Path) -> None:
    made, _, local = study_in(tmp_path / "study")
    local.engine.dispose()
    options = ["--store", database.url]
    with serving(tmp_path / "study", *options) as (_, one), serving(tmp_path / "study", *options) as (_, other):
        given = uploads(asked(), 3)
        assert httpx.post(f"{one}/api/reports", json=given[0]).status_code == 201
        assert httpx.post(f"{other}/api/reports", json=given[0]).status_code == 200
        database.stop("immediate")
        answer = httpx.post(f"{one}/api/reports", json=given[1], timeout=30)
        assert (answer.status_code, answer.json()["reason"]) == (503, "unavailable")
        database.start()
        assert until(lambda: httpx.post(f"{one}/api/reports", json=given[1], timeout=30).status_code in (200, 201))
        assert until(lambda: httpx.post(f"{other}/api/reports", json=given[1], timeout=30).status_code == 200)
        found = httpx.get(f"{other}/api/results", headers={"authorization": f"Bearer {made.token}"}, timeout=60).json()
        assert found["n"] == 2


def test_a_database_that_may_lose_a_commit_is_refused(database: Database, tmp_path: Path) -> None:
    _, _, local = study_in(tmp_path / "study")
    local.engine.dispose()
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE postgres SET synchronous_commit = off")
        try:
            with pytest.raises(InvalidParameter, match="must flush at every commit"):
                open_study(tmp_path / "study", database.url)
        finally:
            connection.execute("ALTER DATABASE postgres RESET synchronous_commit")


def test_a_folder_whose_reports_are_in_a_database_says_so(opened: Any, tmp_path: Path) -> None:
    """Otherwise `status` without --store would say 0 reports, and `serve` without it would divide them."""
    _, study, store = opened
    writer = Writer(study, store)
    writer.write([arrival(study, *uploads(asked(), 5))])
    writer.end()
    with pytest.raises(InvalidParameter, match="are in a database"):
        open_study(tmp_path / "study")
    store.copy(tmp_path / "b.sqlite")
    restored(tmp_path / "b.sqlite", tmp_path / "again")
    _, local = open_study(tmp_path / "again")
    with local:
        assert local.tallied() == 5


def test_a_server_on_the_file_stops_when_the_study_moves(database: Database, tmp_path: Path) -> None:
    _, study, local = study_in(tmp_path / "study")
    writer = Writer(study, local)
    assert writer.write([Arrival([A], ["[1]"], [None])]) == [WriteOutcome("stored", 1)]
    _, store = open_study(tmp_path / "study", database.url)
    assert writer.write([Arrival([B], ["[1]"], [None])]) == [WriteOutcome("unavailable")]
    with store:
        assert (store.check().reports, store.check().sound, local.tallied()) == (1, True, 1)
    writer.end()
    local.engine.dispose()


def test_an_invitation_is_not_linked_by_its_transaction(database: Database, tmp_path: Path) -> None:
    """PostgreSQL shows the transaction of every row; settling takes that away, and a reader never sees it half done."""
    made, _, local = study_in(tmp_path / "study", invitations=3)
    local.engine.dispose()
    study, store = open_study(tmp_path / "study", database.url)
    writer = Writer(study, store)
    for key, code in ((A, made.codes[0]), (B, made.codes[1])):
        writer.write([Arrival([key], ["[1]"], [hashed_code(code)])])

    def transactions(table: str) -> list[str]:
        with psycopg.connect(database.url) as connection:
            return [row[0] for row in connection.execute(f"SELECT xmin::text FROM extremal_{study.key}.{table}")]

    assert len(set(transactions("reports"))) == 2
    assert set(transactions("reports")) <= set(transactions("invitations"))
    assert writer.settles
    assert writer.settle()
    assert len(set(transactions("reports")) | set(transactions("invitations"))) == 1
    assert (store.invitations(), store.check().sound) == ((2, 3), True)
    writer.end()
    store.engine.dispose()


def test_a_reader_never_sees_an_emptied_table(opened: Any) -> None:
    _, study, store = opened
    writer = Writer(study, store)
    writer.write([arrival(study, *uploads(asked(), 200))])
    done = threading.Event()

    def settle() -> None:
        while not done.is_set():
            store.settle()

    thread = threading.Thread(target=settle)
    thread.start()
    found = [store.check() for _ in range(60)]
    done.set()
    thread.join()
    assert all((one.reports, one.sound) == (200, True) for one in found)
    writer.end()
