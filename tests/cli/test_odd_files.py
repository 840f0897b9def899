"""Odd files and places: a sentence, exit code 2, nothing read for ever and nothing left."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

import extremal as ex
from audit.release import commands
from extremal import cli
from extremal.cli import main

SECRET = "ann@example.org"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("id,x\n1,no\n2,yes\n")
    (tmp_path / "headless.csv").write_text(f"{SECRET},yes\nbob@example.org,no\n")
    ex.randomized_response(2, 1, inputs=["no", "yes"]).save(tmp_path / "m.json")
    os.mkfifo("fifo")
    os.mkfifo("fifo.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "link.csv").symlink_to("in.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "in.csv")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    return tmp_path


PRIVATIZE = ["privatize", "in.csv", "--column", "x", "--mechanism", "m.json"]
REGULAR = "a file must be a regular one, not a pipe, a socket or a device"
LINES: list[tuple[list[str], str]] = [
    *(([*PRIVATIZE, "-o", name, "--overwrite"], "the output must not be the file that is read") for name in
      ("in.csv", "./in.csv", "link.csv", "hard.csv")),
    *(([*PRIVATIZE, "-o", name, "--overwrite"], REGULAR) for name in ("fifo.csv", "full.csv")),
    ([*PRIVATIZE, "-o", "loop.csv", "--overwrite"], "Too many levels of symbolic links"),
    ([*PRIVATIZE, "-o", "absent/new.csv"], "No such folder"),
    (["privatize", "fifo.csv", *PRIVATIZE[2:], "-o", "new.csv"], REGULAR),
    (["privatize", "headless.csv", *PRIVATIZE[2:], "-o", "new.csv"], "Has the file a header?"),
    (["estimate", "headless.csv", "--mechanism", "m.json", "--column", "x", "--no-hash-check"], "the file a header?"),
    (["estimate", "loop.csv", "--mechanism", "m.json"], "Too many levels of symbolic links"),
    (["estimate", "a\0b.csv", "--mechanism", "m.json"], "must not hold a NUL character"),
    (["estimate", "fifo.csv", "--mechanism", "m.json"], REGULAR),
    *((["verify", name], REGULAR) for name in ("fifo", "socket", "/dev/zero", "/dev/null")),
    ([*PRIVATIZE, "-o", "new", "--engine", "spark", "--row-id", "id", "--master", "x"], "must be that of a cluster"),
    (["privatize", "m.json", *PRIVATIZE[2:], "-o", "new", "--engine", "spark", "--row-id", "id"], "Spark reads"),
    (["verify", "fifo", "--independent"], REGULAR),
    (["verify", "loop"], "Too many levels of symbolic links"),
    (["verify", "\ud800"], "this system can write"),
    (["design", "--epsilon", "1", "--prior", "@fifo"], REGULAR),
    (["design", "--epsilon", "1", "--prior", "@many.json"], "may have at most 262,144 entries"),
    (["design", "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "-o", "m.json", "--prior", "@m.json"],
     "the output must not be the file that is read"),
    (["design", "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8", "--plot", "p.doc"], "the ending of a format"),
    (["explain", "m.json", "--html", "m.json", "--overwrite"], "the output must not be the file that is read"),
    (["device", "--mechanism", "m.json", "--output", "a\0b"], "must not hold a NUL character"),
    (["device", "--mechanism", "m.json", "--output", "in.csv/x"], "Not a directory"),
    (["theory", "compose", "m.json", "--times", "99999999999"], "from 1 to 10,000 times"),
    (["tradeoff", "--prior", "0.5,0.5", "--epsilons", "1:2:99999999999"], "at most 1,000 in all"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), LINES, ids=lambda part: " ".join(part)[:50] if type(part) is list else "")
def test_a_sentence_and_nothing_left(
    line: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "many.json").write_text("[" + "0," * 300_000 + "1]")
    before = commands.state(folder)
    assert main(line) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.startswith("extremal: ")
    assert SECRET not in told
    assert commands.state(folder) == before


def test_a_device_folder_is_whole_or_absent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full after three files."""
    written = []

    def full(path: Path, data: bytes, overwrite: bool = True) -> None:
        written.append(path)
        if len(written) > 3:
            raise OSError(28, "No space left on device")
        path.write_bytes(data)

    monkeypatch.setattr("extremal.release.device.write_atomically", full)
    before = commands.state(folder)
    assert main(["device", "--mechanism", "m.json", "--output", "new/folder"]) == 2
    assert commands.state(folder) == before
    assert len(written) == 4
    (folder / "old").mkdir()
    (folder / "old" / "mechanism.json").write_text("kept")
    written.clear()
    assert main(["device", "--mechanism", "m.json", "--output", "old", "--overwrite"]) == 2
    assert [path.name for path in (folder / "old").iterdir()] == ["mechanism.json"]
    assert (folder / "old" / "mechanism.json").read_text() == "kept"


def test_the_working_folder_may_be_the_devices(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    assert main(["device", "--mechanism", "../m.json", "--output", "."]) == 0
    assert len(list((folder / "here").iterdir())) == 8


def test_the_grammar_of_odd_lines_would_find_faults() -> None:
    """Lines are made of every verb's own options, and each kind of fault is seen."""
    from random import Random

    random = Random(1)
    known = list(commands.verbs(cli.parser()))
    assert {verb[0] for verb, _ in known} >= {"privatize", "device", "estimate", "design", "theory", "questionnaire"}
    for verb, parser in known:
        assert commands.line(verb, parser, ["m.json"], random)[: len(verb)] == list(verb)
    good = {"in.csv": "a"}
    assert commands.fault("estimate", 0, "", good, good) is None
    assert commands.fault("estimate", 2, "extremal: no", good, good) is None
    for code, said, after in (
        (70, "extremal: this is a defect", good),
        ("hangs", "", good),
        (2, "", good),
        (2, "Traceback", good),
        (2, f"extremal: Columns: {commands.SECRETS[0]}", good),
        (2, "extremal: no", {**good, "new": "b"}),
        (0, "", {"in.csv": "b"}),
        (3, "", good),
    ):
        assert commands.fault("estimate", code, said, good, after)


def test_an_address_that_cannot_be_served_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("uvicorn")
    monkeypatch.chdir(tmp_path)
    ex.Questionnaire({"a": ex.randomized_response(3, 1)}).save("q.json")
    os.mkfifo("pipe.txt")
    Path("bytes.txt").write_bytes(bytes(range(256)))
    Path("long.txt").write_text("x" * (1 << 20))
    for consent in ("pipe.txt", "bytes.txt", "long.txt"):
        assert main(["collect", "new", "study", "--questionnaire", "q.json", "--consent", consent]) == 2
        assert not Path("study").exists()
    assert main(["collect", "new", "study", "--questionnaire", "q.json"]) == 0
    for where in (["--port", "70000"], ["--port", "-3"], ["--host", "256.1.1.1"]):
        capsys.readouterr()
        assert main(["collect", "serve", "study", *where]) == 2
        assert "extremal: the " in capsys.readouterr().err
