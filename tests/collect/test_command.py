"""`extremal collect …` from the questionnaire's file to the estimates."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from extremal.cli import main
from extremal.collect.study import FILE
from support.studies import asked, uploads


def _run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["collect", *arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    return json.loads(_run(capsys, *arguments, "--json", code=code)[0])


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    asked().save(tmp_path / "q.json")
    _run(capsys, "new", str(tmp_path / "study"), "--questionnaire", str(tmp_path / "q.json"), "--title", "Health")
    return str(tmp_path / "study")


def served(folder: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own process, and its address."""
    command = [sys.executable, "-m", "extremal", "collect", "serve", folder, "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http://[\w.]+:\d+", process.stdout.readline())
    assert found is not None, process.communicate()
    yield process, found[0]
    process.kill()
    process.communicate()


def test_from_a_file_to_an_estimate(folder: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for process, address in served(folder):
        assert httpx.post(f"{address}/api/reports", json=uploads(asked(), 400)).json() == {"new": 400}
        assert httpx.post(f"{address}/api/reports", json={}).status_code == 422
        assert _json(capsys, "status", folder)["n"] == 400
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert out + err == ""
        assert process.returncode == 0
    assert [path.name for path in Path(folder).iterdir()] == [FILE]
    found = _json(capsys, "estimate", folder)
    assert found["rejects"] == {"invalid": 1}
    assert [len(q["estimates"]) for q in found["questions"].values()] == [2, 3, 5]
    assert "400 people, ε = 4 per person" in _run(capsys, "estimate", folder)[0]
    assert "invalid: 1" in _run(capsys, "status", folder)[0]
    assert _json(capsys, "export", folder, str(tmp_path / "r.jsonl"))["reports"] == 400
    assert _run(capsys, "check", folder)[0] == "400 reports: none lost, doubled or altered\n"
    _run(capsys, "backup", folder, str(tmp_path / "b.sqlite"))
    assert "400 reports" in _run(capsys, "restore", str(tmp_path / "again"), str(tmp_path / "b.sqlite"))[0]
    assert _json(capsys, "close", folder)["reports"] == 400
    assert _json(capsys, "status", folder)["closed"]
    with closing(sqlite3.connect(tmp_path / "again" / FILE)) as connection, connection:
        connection.execute("DELETE FROM reports WHERE id = (SELECT min(id) FROM reports)")
    out, err = _run(capsys, "check", str(tmp_path / "again"), code=1)
    assert "399 reports, 400 were stored" in out
    assert "restore" in err


def test_new_says_the_link_once_and_writes_the_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked().save(tmp_path / "q.json")
    (tmp_path / "consent.md").write_text("You may stop at any time.")
    options = ["--invitations", "5", "--until", "2027-01-31", "--consent", str(tmp_path / "consent.md")]
    out, _ = _run(capsys, "new", str(tmp_path / "s"), "--questionnaire", str(tmp_path / "q.json"), *options)
    assert len(re.findall("/analyst/", out)) == 1
    codes = (tmp_path / "s" / "invitations.txt").read_text().split()
    assert len(set(codes)) == 5
    assert all(re.fullmatch(r"[a-z2-9]{7}(-[a-z2-9]{7}){2}", code) for code in codes)
    assert (tmp_path / "s" / "invitations.txt").stat().st_mode & 0o777 == 0o600
    assert _json(capsys, "status", str(tmp_path / "s"))["invitations"] == {"spent": 0, "made": 5}
    assert "0 of 5" in _run(capsys, "status", str(tmp_path / "s"))[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "tomorrow"], "a day must be written 2027-01-31"),
        (["--invitations", "-1"], "invitations"),
        (["--precision", "2"], "precision must lie between 0 and 1"),
        (["--consent", "nowhere.md"], "nowhere.md"),
    ],
)
def test_mistakes_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    asked().save(tmp_path / "q.json")
    err = _run(capsys, "new", str(tmp_path / "s"), "--questionnaire", str(tmp_path / "q.json"), *options, code=2)[1]
    assert message in err
    assert not (tmp_path / "s").exists()


def test_a_study_needs_a_questionnaire_that_a_device_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import extremal as ex

    ex.randomized_response(2, 1).save(tmp_path / "m.json")
    err = _run(capsys, "new", str(tmp_path / "s"), "--questionnaire", str(tmp_path / "m.json"), code=2)[1]
    assert "must be a questionnaire" in err
    loose = ex.randomized_response(2, 1).claiming(ex.LDP(1, "0.1"))
    ex.Questionnaire({"a": loose}).save(tmp_path / "q.json")
    err = _run(capsys, "new", str(tmp_path / "s"), "--questionnaire", str(tmp_path / "q.json"), code=2)[1]
    assert "LDP without δ" in err


def test_no_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("status", "estimate", "close", "check"):
        assert "No study in this folder" in _run(capsys, verb, str(tmp_path), code=2)[1]


def test_what_is_not_installed_is_said(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "msgspec", None)
    assert "pip install 'extremal[collect]'" in _run(capsys, "status", folder, code=2)[1]
