"""Files of reports: exact, in no order, and safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest

import extremal as ex
from extremal.collect import export as module
from extremal.collect.export import export, safe, streamed
from extremal.collect.results import counted, estimated
from extremal.collect.store import Store
from extremal.collect.study import Study, today
from extremal.collect.writing import Writer
from extremal.errors import FileConflict, InvalidParameter
from support.studies import arrival, asked, records, study_in, uploads


def _filled(folder: Path, questionnaire: ex.Questionnaire, number: int = 300) -> tuple[Study, Store]:
    _, study, store = study_in(folder, questionnaire)
    writer = Writer(study, store)
    assert writer.write([arrival(study, *uploads(questionnaire, number))])[0].new == number
    writer.end()
    return study, store


def _same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, estimate in one.items():
        assert list(other[name].estimate) == pytest.approx(list(estimate.estimate), abs=1e-12)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_estimates_from_a_file_are_those_of_the_store(tmp_path: Path, ending: str) -> None:
    study, store = _filled(tmp_path / "study", asked())
    path = tmp_path / f"reports.{ending}"
    assert export(study, store, path) == [path]
    stored = estimated(asked(), counted(asked(), store.contents()))
    _same(stored, asked().estimate(path, check_hash=ending != "csv"))
    with pytest.raises(FileConflict):
        export(study, store, path)
    store.engine.dispose()


def test_by_day_for_engines(tmp_path: Path) -> None:
    """polars and DuckDB count a folder of days; the counts are what `estimate_frequencies` reads."""
    one = ex.Questionnaire({"vote": ex.randomized_response(2, 1, inputs=["no", "yes"])})
    study, store = _filled(tmp_path / "study", one)
    paths = export(study, store, tmp_path / "days", by_day=True)
    assert paths == [tmp_path / "days" / f"day={today().isoformat()}" / "reports.parquet"]
    counts = ex.count_reports(
        polars.scan_parquet(tmp_path / "days" / "**" / "*.parquet"), "vote", one.questions["vote"]
    )
    relation = duckdb.read_parquet(f"{tmp_path}/days/*/*.parquet", hive_partitioning=True)
    assert ex.count_reports(relation, "vote", one.questions["vote"]) == counts
    assert sum(counts.values()) == 300
    assert "day" in relation.columns
    store.engine.dispose()


def test_rows_come_in_the_order_of_random_ids_and_ids_stay(tmp_path: Path) -> None:
    study, store = _filled(tmp_path / "study", asked(), 50)
    lines = b"".join(streamed(study, store, "jsonl")).decode().splitlines()
    assert len(lines) == 50
    for line in lines:
        content = json.loads(line)
        assert set(content) == {"questionnaire", "day", *asked().questions}
        assert content["day"] == today().isoformat()
    store.engine.dispose()


def test_a_spreadsheet_runs_nothing(tmp_path: Path) -> None:
    hostile = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\tx", "plain"]
    questionnaire = ex.Questionnaire(
        {
            "=cmd|' /C calc'!A0": ex.randomized_response(6, 1, inputs=hostile),
            "n": ex.randomized_response(2, 1, inputs=[-1, 1]),
        }
    )
    study, store = _filled(tmp_path / "study", questionnaire)
    text = b"".join(streamed(study, store, "csv")).decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 301
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell
    assert {row[1] for row in rows[1:]} == {safe(label) for label in hostile}
    assert {row[2] for row in rows[1:]} == {"-1", "1"}  # numbers stay numbers
    store.engine.dispose()


def test_a_question_called_day(tmp_path: Path) -> None:
    questionnaire = ex.Questionnaire({"day": ex.randomized_response(2, 1, inputs=["no", "yes"])})
    study, store = _filled(tmp_path / "study", questionnaire, 5)
    assert b"".join(streamed(study, store, "csv")).decode().splitlines()[0] == "day of report,day"
    export(study, store, tmp_path / "days", by_day=True)
    read = polars.read_parquet(tmp_path / "days" / "**" / "*.parquet", hive_partitioning=True)
    assert set(read["day"]) <= {"no", "yes"}  # the folder's name must not take its place
    store.engine.dispose()


def _of_days(store: Store, days: int) -> None:
    """Give the reports other days; the tallies no longer match, which exports do not look at."""
    with store.writer().begin() as connection:
        connection.exec_driver_sql(f"UPDATE reports SET day = 20000 + abs(random()) % {days}")


def test_days_are_told_apart_however_few_rows_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questionnaire = asked()
    study, store = _filled(tmp_path / "study", questionnaire, 400)
    _of_days(store, 5)
    monkeypatch.setattr(module, "BATCH", 30)
    monkeypatch.setattr(module, "HELD", 90)
    paths = export(study, store, tmp_path / "days", by_day=True)
    assert [path.parent.name for path in paths] == [f"day=2024-10-{4 + i:02}" for i in range(5)]
    rows = [json.loads(line) for line in b"".join(streamed(study, store, "jsonl")).splitlines()]
    for path in paths:
        expected = [row for row in rows if f"day={row['day']}" == path.parent.name]
        assert polars.read_parquet(path, hive_partitioning=False).to_dicts() == [
            {name: row[name] for name in questionnaire.questions} for row in expected
        ]
    with pytest.raises(FileConflict):
        export(study, store, tmp_path / "days", by_day=True)
    export(study, store, tmp_path / "r.parquet")
    whole = polars.read_parquet(tmp_path / "r.parquet")
    assert [str(day) for day in whole["day"]] == [row["day"] for row in rows]
    store.engine.dispose()


def test_a_study_without_reports(tmp_path: Path) -> None:
    _, study, store = study_in(tmp_path / "study")
    for ending in ("csv", "jsonl", "parquet"):
        export(study, store, tmp_path / f"r.{ending}")
    assert polars.read_parquet(tmp_path / "r.parquet").shape == (0, 4)
    assert export(study, store, tmp_path / "days", by_day=True) == []
    store.engine.dispose()


def test_sets_of_answers(tmp_path: Path) -> None:
    questionnaire = ex.Questionnaire({"s": ex.subset_selection(list("abcdefgh"), 1), "b": ex.unary_encoding(12, 1)})
    study, store = _filled(tmp_path / "study", questionnaire)
    stored = estimated(questionnaire, counted(questionnaire, store.contents()))
    for ending in ("jsonl", "parquet"):
        path = tmp_path / f"r.{ending}"
        export(study, store, path)
        _same(stored, questionnaire.estimate(path))
    store.engine.dispose()


def test_an_unknown_ending(tmp_path: Path) -> None:
    study, store = _filled(tmp_path / "study", asked(), 3)
    with pytest.raises(InvalidParameter, match=r"\.csv, \.jsonl or \.parquet"):
        export(study, store, tmp_path / "r.xlsx")
    store.engine.dispose()


def test_counts_are_those_of_the_records(tmp_path: Path) -> None:
    made = records(asked(), 40)
    contents = [(json.dumps([record.get(name) for name in asked().questions]), 1) for record in made]
    found = counted(asked(), contents)
    for name, counter in found.items():
        assert counter.total() == sum(record[name] is not None for record in made)
