"""The command line as a whole: exit codes, terminals, pipes and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal import cli
from extremal.cli import audit, main

PLAIN = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def mechanism(tmp_path: Path) -> Path:
    return ex.randomized_response(3, 1, inputs=["no", "maybe", "yes"]).save(tmp_path / "m.json")


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "extremal", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_python_m_extremal_is_the_command(mechanism: Path) -> None:
    found = run("--version")
    assert (found.returncode, found.stdout.split()[0]) == (0, "extremal")


def test_a_defect_has_a_code_of_its_own(
    mechanism: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: Any) -> Any:
        raise ZeroDivisionError("secret 17")

    monkeypatch.setattr(audit, "read", broken)
    assert main(["audit", str(mechanism)]) == 70
    said = capsys.readouterr().err
    assert "this is a defect of extremal (ZeroDivisionError)" in said
    assert "secret" not in said
    assert "Traceback" not in said
    monkeypatch.setenv("EXTREMAL_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["audit", str(mechanism)])


def test_too_little_memory_is_no_false_claim(
    mechanism: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(audit, "read", full)
    assert main(["audit", str(mechanism)]) == 2
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "m.json", "--draws", "1000"],
        ["design", "--help"],
        ["tradeoff", "--help"],
        ["compare", "--prior", "0.5,0.3,0.2", "--epsilon", "1"],
        ["audit", "absent-ε.json"],
    ],
    ids=" ".join,
)
def test_a_terminal_without_unicode_gets_escapes(mechanism: Path, arguments: list[str]) -> None:
    found = run(*arguments, env=PLAIN, cwd=mechanism.parent)
    assert "Traceback" not in found.stderr
    assert found.returncode == (2 if "absent-ε.json" in arguments else 0)
    assert (found.stdout + found.stderr).isascii()


def test_a_closed_pipe_after_the_work_is_success(tmp_path: Path, mechanism: Path) -> None:
    (tmp_path / "in.csv").write_text("x\nno\nyes\n")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "extremal", "privatize", "in.csv", "--column", "x", "--mechanism", "m.json"]
    found = subprocess.run(
        [*command, "-o", "out.csv"], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False
    )
    os.close(writing)
    assert (found.returncode, found.stderr) == (0, b"")
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_nothing_and_no_traceback(tmp_path: Path, mechanism: Path, number: signal.Signals) -> None:
    (tmp_path / "in.csv").write_text("x\n" + "no\n" * 3_000_000)
    command = [sys.executable, "-m", "extremal", "privatize", "in.csv", "--column", "x", "--mechanism", "m.json"]
    before = signal.signal(number, signal.SIG_DFL)  # under nohup or in the background the child would ignore it
    try:
        running = subprocess.Popen([*command, "-o", "out.csv"], cwd=tmp_path, stderr=subprocess.PIPE)
    finally:
        signal.signal(number, before)
    while not list(tmp_path.glob(".out.csv.*.tmp")) and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(number)
    said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 128 + number
    assert said in ("extremal: interrupted.\n", f"extremal: ended by {number.name}.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "m.json"]


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(cli._Ended):
        cli._end(signal.SIGTERM, None)


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (["compare", "--prior", "0.5,0.3,0.2", "--epsilon", "1", "--plot"], "p.png"),
        (["tradeoff", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "--epsilons", "1", "--plot"], "p.png"),
        (["tradeoff", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "--epsilons", "1", "--csv"], "t.csv"),
        (["tradeoff", "--prior", "0.5,0.5", "--distortion", "0.2", "--csv"], "t.csv"),
    ],
    ids=["compare --plot", "tradeoff --plot", "tradeoff --csv", "distortions --csv"],
)
def test_pictures_and_tables_are_not_overwritten(
    arguments: list[str], written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / written
    target.write_bytes(b"precious")
    assert main([*arguments, str(target)]) == 2
    assert "the output file must not exist yet" in capsys.readouterr().err
    assert target.read_bytes() == b"precious"
    assert main([*arguments, str(target), "--overwrite"]) == 0
    assert target.read_bytes() != b"precious"
    assert [path.name for path in tmp_path.iterdir()] == [written]


def test_an_unknown_picture_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--prior", "0.5,0.5", "--epsilon", "1", "--plot", str(tmp_path / "p.docx")]) == 2
    assert "a picture must have the ending of a format" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["kl", "KL", "Kl", "total-variation", "TOTALVARIATION", "total_variation"])
def test_utilities_are_understood_however_they_are_written(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "--utility", name]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["design", "--goal", "frequency", "--k", "4"], "Did you mean frequencies? See: extremal design --help"),
        (["design", "--utility", "KLL", "--epsilon", "1"], "Did you mean KL?"),
        (["desing"], "Did you mean design? See: extremal --help"),
        (["estimate", "r.csv", "--mechanism", "m.json", "--method", "xyz"], "'smooth'). See: extremal estimate --help"),
        (["device", "m.json"], "the following arguments are required: -o/--output. See: extremal device --help"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_a_mistyped_line_gets_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("extremal: ")
    assert lines[0].endswith(said) or said in lines[0]


def test_help_keeps_the_lines_of_its_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    assert "\nextremal plan --k 4 --epsilon 1 --half-width 0.05\n" in capsys.readouterr().out


def test_goals_are_understood_however_they_are_written_and_labels_say_how_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["design", "--goal", "Frequencies", "--inputs", "no,yes,both", "--epsilon", "1"]) == 0
    assert "Design: Frequencies under LDP(epsilon=1.0); 3 inputs" in capsys.readouterr().out


def test_design_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["design", "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "-o", str(tmp_path / "q.json")]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert f"written: {tmp_path / 'q.json'}\n" in said
    assert f"written: {tmp_path / 'q.certificate.json'}\n" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["design", "--epsilon", "1", "--prior", "uniform:99999999999"], "uniform:K with K from 2 to 262,144"),
        (["design", "--epsilon", "1", "--prior", "1e400,1"], "must"),
        (["design", "--epsilon", "1", "--prior", "@list.json"], "a JSON list or one number a line"),
        (["design", "--epsilon", "1", "--prior", "@deep.json"], "a JSON list or one number a line"),
        (["design", "--epsilon", "1", "--prior", "@bytes.json"], "a file of UTF-8 text"),
        (["design", "--epsilon", "1", "--prior", "@folder"], "Is a directory"),
        (["design", "--epsilon", "1", "--prior", "@a\0b"], "NUL character"),
        (["design", "--epsilon", "1"], "Give --goal frequencies --k 4; or --p0 and --p1; or --prior."),
        (["design", "--epsilon", "1", "--goal", "cdf"], "Give --k 4, --prior 0.5,0.3,0.2 or --source."),
        (["audit", "m.json", "--draws", "1000000000000"], "--draws must be from 1 to"),
        (["audit", "folder"], "Is a directory: folder"),
        (["audit", "a\0b"], "must not hold a NUL character"),
        (["audit", "/dev/zero"], "a file must be a regular one"),
    ],
    ids=lambda part: str(part)[:60],
)
def test_bad_arguments_get_a_message(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    mechanism: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.json").write_text("[1, ")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("extremal: ")


def test_the_folder_of_a_device_is_told_as_json(
    mechanism: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["device", "--mechanism", str(mechanism), "--output", str(tmp_path / "page"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(told["files"]) == sorted(path.name for path in (tmp_path / "page").iterdir())
    assert told["mechanism"] == ex.load(mechanism).hash
