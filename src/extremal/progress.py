"""A line on standard error that says how long work is going; silent when nobody watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

BETWEEN = 0.1  # seconds: at most ten lines a second
AGAIN = 1.0  # seconds after which a line is written anew while one step takes long


class ProgressLine:
    """Shows how far work has come, at most ten times a second: what is being done and the gap reached, or rows done.

    Nothing is shown when standard error is not a terminal. While one step takes long, a thread of its own keeps the
    seconds going.

    Args:
        patience: seconds before anything is shown.

    >>> with ProgressLine() as line:
    ...     line("pricing", 0.5)
    ...     line.rows(10, 100)
    """

    def __init__(self, patience: float = 0.0) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()
        self._started = time.monotonic()
        self._first = self._started + patience
        self._text: Callable[[], str] | None = None
        self._lock, self._done = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep_going, daemon=True)

    def __call__(self, what: str, gap: float) -> None:
        """Show how a search goes."""
        self._say(lambda: f"{what}: gap {gap:.1e}, {self._seconds:.0f} s (Ctrl-C keeps the best so far)")

    def rows(self, done: int, total: int | None) -> None:
        """Show how many rows of a file are done; the last of them always."""
        share = f"{done / total:6.1%} of {total:,}" if total else f"{done:,}"
        filled = f"[{'#' * int(30 * done / total):30s}] " if total else ""
        rate = done / max(self._seconds, 1e-9) / 1e6
        self._say(lambda: f"{filled}{share} rows, {rate:.1f} M rows/s", last=done == total)

    def share(self, what: str, done: float) -> None:
        """Show the share of the work that is done."""
        self._say(lambda: f"[{'#' * int(30 * done):30s}] {done:6.1%}  {what}, {self._seconds:.0f} s")

    def doing(self, what: str) -> None:
        """Show what is being done where its end is not known."""
        self._say(lambda: f"{what}, {self._seconds:.0f} s")

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _say(self, text: Callable[[], str], last: bool = False) -> None:
        with self._lock:
            self._text = text
            now = time.monotonic()
            if self._visible and now >= self._first and (last or now - self._shown > BETWEEN):
                self._shown = now
                sys.stderr.write(f"\r\x1b[K{text()}")
                sys.stderr.flush()

    def _keep_going(self) -> None:
        """Say the last line again, with the seconds that have passed."""
        wait = max(0.0, self._first - time.monotonic())
        while not self._done.wait(wait):
            wait = AGAIN
            if self._text is not None:
                self._say(self._text)

    def __enter__(self) -> ProgressLine:
        if self._visible:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._visible:
            self._thread.join()
        if self._visible and self._shown:
            sys.stderr.write("\r\x1b[K")
