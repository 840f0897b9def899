"""CSV files and the notes beside them: whatever interrupts a run, and whoever else writes, the two never disagree."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.columns.files import note
from extremal.columns.files.note import name_beside
from extremal.release.files import mechanism_hashes, privatize_file
from support.files.interruptions import cleared, kill_after, start, state

A, B = (ex.randomized_response(2, epsilon, inputs=["no", "yes"]) for epsilon in (1, 2))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.csv").write_text("x,y\n" + "no,1\nyes,2\n" * 500)
    return tmp_path


class Killed(BaseException):
    """Stands for kill -9: nothing is cleaned up on purpose."""


@pytest.mark.parametrize("step", range(8))
@pytest.mark.parametrize("overwrite", [False, True])
def test_the_note_has_the_data_in_it_wherever_a_run_stops(
    folder: Path, step: int, overwrite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if overwrite:
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
    real, calls = {"replace": os.replace, "link": os.link, "unlink": Path.unlink}, []

    def stops(name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            if len(calls) > step:
                raise Killed
            return real[name](*arguments, **options)

        return call

    monkeypatch.setattr(os, "replace", stops("replace"))
    monkeypatch.setattr(os, "link", stops("link"))
    monkeypatch.setattr(Path, "unlink", stops("unlink"))
    with contextlib.suppress(Killed):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": B}, overwrite=overwrite)
    monkeypatch.undo()
    found = state(folder)
    assert found in ({A.hash, B.hash} if overwrite else {"nothing", "note", B.hash})
    if step == 7:
        assert found == B.hash
        assert json.loads(name_beside(folder / "out.csv").read_text()).keys() == {"version", "columns", "sha256"}
    # Whatever was left, the next run succeeds.
    assert (
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A}, overwrite=found == B.hash or overwrite) == 1000
    )
    assert state(folder) == A.hash


def test_killed_runs(folder: Path) -> None:
    mechanism = A.save(folder / "a.json")
    for number in range(4):
        cleared(folder)
        kill_after(start(folder, mechanism), 0.25 * (number + 1))
        assert state(folder) in ("nothing", "note", A.hash)


@pytest.mark.slow
def test_two_runs_at_once_have_one_winner_and_its_note(folder: Path) -> None:
    paths = [m.save(folder / f"{i}.json") for i, m in enumerate((A, B))]
    for over in ([], ["--overwrite"]):
        cleared(folder)
        running = [start(folder, path, *over) for path in paths]
        codes = [run.wait() for run in running]
        assert state(folder) in [m.hash for m, code in zip((A, B), codes, strict=True) if code == 0]
        assert codes.count(0) == (2 if over else 1)


def test_a_refused_run_does_not_touch_the_note(folder: Path) -> None:
    target = folder / "out.csv"
    privatize_file(folder / "in.csv", target, {"x": A})
    before = name_beside(target).read_bytes()

    def meanwhile(_done: int, _total: int | None) -> None:
        target.write_text("somebody else's\n")

    target.unlink()
    with pytest.raises(ex.errors.FileConflict, match="must not exist yet"):
        privatize_file(folder / "in.csv", target, {"x": B}, progress=meanwhile)
    assert name_beside(target).read_bytes() == before
    assert target.read_text() == "somebody else's\n"
    target.unlink()
    target.mkdir()
    name_beside(target).unlink()
    with pytest.raises(IsADirectoryError):
        privatize_file(folder / "in.csv", target, {"x": B}, overwrite=True)
    assert not name_beside(target).exists()
    assert not list(folder.glob(".*.tmp"))


def test_estimates_refuse_a_note_about_other_data(folder: Path) -> None:
    target = folder / "out.csv"
    privatize_file(folder / "in.csv", target, {"x": A})
    assert ex.estimate_frequencies(target, A).n == 1000
    target.write_text(target.read_text().replace("no,1", "yes,1", 1))
    for refused in (
        lambda: ex.estimate_frequencies(target, A),
        lambda: privatize_file(target, folder / "more.csv", {"y": ex.randomized_response(2, 1, inputs=["1", "2"])}),
        lambda: mechanism_hashes(target),
    ):
        with pytest.raises(
            ex.errors.MalformedFile, match="must be about the data in out.csv: the file was changed or replaced"
        ):
            refused()
    assert ex.estimate_frequencies(target, A, column="x", check_hash=False).n == 1000
    name_beside(target).write_text(json.dumps({"columns": {"x": A.hash}}))
    with pytest.raises(ex.errors.MalformedFile, match="must be about the data"):
        ex.estimate_frequencies(target, A)


@pytest.mark.parametrize(
    ("text", "message"),
    [("[" * 100_000, "nested that deeply"), ("{", "valid JSON"), ('{"columns": {"x": 3}}', "about the data")],
)
def test_notes_that_cannot_be_read(folder: Path, text: str, message: str) -> None:
    name_beside(folder / "in.csv").write_text(text)
    with pytest.raises(ex.errors.MalformedFile, match=message):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})


def test_a_note_that_is_a_directory_is_said_to_be_one(folder: Path) -> None:
    name_beside(folder / "in.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
    name_beside(folder / "out.csv").mkdir()
    name_beside(folder / "in.csv").rmdir()
    with pytest.raises(IsADirectoryError):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
    assert not (folder / "out.csv").exists()


def test_permissions_are_those_of_a_new_file_and_never_wider_than_before(folder: Path) -> None:
    def modes() -> tuple[int, int]:
        paths = (folder / "out.csv", name_beside(folder / "out.csv"))
        return tuple(stat.S_IMODE(path.stat().st_mode) for path in paths)  # type: ignore[return-value]

    before = os.umask(0o027)
    try:
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
        assert modes() == (0o640, 0o640)
        (folder / "out.csv").chmod(0o600)
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A}, overwrite=True)
        assert modes() == (0o600, 0o600)
        saved = A.save(folder / "m.json")
        assert stat.S_IMODE(saved.stat().st_mode) == 0o640
        saved.chmod(0o400)
        B.save(saved, overwrite=True)
        assert stat.S_IMODE(saved.stat().st_mode) == 0o400
    finally:
        os.umask(before)


def test_without_locks_it_works_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unsupported)  # a file system without links
    monkeypatch.setattr(note.os, "open", os.open)
    import fcntl

    monkeypatch.setattr(fcntl, "flock", unsupported)
    privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
    assert state(folder) == A.hash
    with pytest.raises(ex.errors.FileConflict, match="must not exist yet"):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": B})


def test_a_full_disk_names_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*out\.csv'"):
        privatize_file(folder / "in.csv", folder / "out.csv", {"x": A})
    assert sorted(path.name for path in folder.iterdir()) == ["in.csv"]
