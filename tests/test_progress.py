"""The line of progress: silent for files, and for a terminal shown while a single step takes long."""

from __future__ import annotations

import io
import sys
import threading

import pytest

import extremal as ex
from extremal.progress import ProgressLine

LONG = 60  # seconds that a line is waited for: never, unless it does not come


class Terminal(io.StringIO):
    """Standard error that somebody watches; knows when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        done = super().write(text)
        self.written.set()
        return done


def test_a_step_that_takes_long_is_shown_without_another_word(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with ProgressLine(patience=0.05) as line:
        line.share("one long step", 0.5)
        assert not terminal.getvalue()  # too early
        assert terminal.written.wait(LONG)
        assert "50.0%  one long step" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert not line._thread.is_alive()


def test_a_plan_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for patience, shown in ((1e9, False), (-1.0, True)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr("extremal.studies.planning.planned.PATIENCE", patience)
        ex.plan(k=3, n=1000, half_width=0.1)
        assert ("planning, " in terminal.getvalue()) is shown


def test_short_work_and_files_stay_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressLine(patience=LONG) as line:
            line.share("short", 0.5)
        assert not stream.getvalue()
    with ProgressLine() as line:
        line("search", 0.1)
        line.rows(5, 10)
    assert not file.getvalue()
