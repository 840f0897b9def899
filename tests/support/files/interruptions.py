"""Runs that are killed, and runs that meet: what is found afterwards in the folder of a CSV file.

A run is `extremal privatize` in a process of its own. `state` says what stands there: data and note may be old, new or
absent, and the note must have the data in it whenever both are there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from extremal.columns.files.note import beside, name_beside
from extremal.errors import MalformedFile


def start(folder: Path, mechanism: Path, *more: str) -> subprocess.Popen[bytes]:
    """`extremal privatize in.csv … -o out.csv` in this folder."""
    command = [sys.executable, "-m", "extremal", "privatize", "in.csv", "--column", "x", "--mechanism", str(mechanism)]
    return subprocess.Popen(
        [*command, "-o", "out.csv", *more], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def kill_after(running: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill -9 after so long; whether it still ran."""
    time.sleep(seconds)
    alive = running.poll() is None
    running.send_signal(signal.SIGKILL)
    running.wait()
    return alive


def state(folder: Path) -> str:
    """ "nothing", "note" (without data), "data" (without note), or the hash of the mechanism that both agree on.

    Raises:
        AssertionError: data and note disagree, or the data is not whole.
    """
    data = folder / "out.csv"
    if not data.exists():
        return "note" if name_beside(data).exists() else "nothing"
    text = data.read_bytes()
    if text.count(b"\n") != (folder / "in.csv").read_bytes().count(b"\n") or not text.endswith(b"\n"):
        raise AssertionError("the data is not whole")
    try:
        found = beside(data)
    except MalformedFile as error:
        raise AssertionError(f"data and note disagree: {error}") from None
    return found.get("x", "data")


def cleared(folder: Path) -> None:
    """The folder without what runs wrote."""
    for path in folder.iterdir():
        if path.name.startswith(("out.csv", ".out.csv")):
            os.unlink(path)
