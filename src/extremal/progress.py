"""A line on standard error that says how long work is going; silent when nobody watches."""

from __future__ import annotations

import sys
import time

BETWEEN = 0.1  # seconds: at most ten lines a second


class ProgressLine:
    """Shows how far work has come, at most ten times a second: what is being done and the gap reached, or rows done.

    Nothing is shown when standard error is not a terminal.

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

    def __call__(self, what: str, gap: float) -> None:
        """Show how a search goes."""
        self._say(f"{what}: gap {gap:.1e}, {self._seconds:.0f} s (Ctrl-C keeps the best so far)")

    def rows(self, done: int, total: int | None) -> None:
        """Show how many rows of a file are done; the last of them always."""
        share = f"{done / total:6.1%} of {total:,}" if total else f"{done:,}"
        filled = f"[{'#' * int(30 * done / total):30s}] " if total else ""
        rate = done / max(self._seconds, 1e-9) / 1e6
        self._say(f"{filled}{share} rows, {rate:.1f} M rows/s", last=done == total)

    def share(self, what: str, done: float) -> None:
        """Show the share of the work that is done."""
        self._say(f"[{'#' * int(30 * done):30s}] {done:6.1%}  {what}, {self._seconds:.0f} s")

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _say(self, text: str, last: bool = False) -> None:
        now = time.monotonic()
        if self._visible and now >= self._first and (last or now - self._shown > BETWEEN):
            self._shown = now
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible and self._shown:
            sys.stderr.write("\r\x1b[K")
