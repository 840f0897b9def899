"""A line on standard error that says how long work is going; silent when nobody watches."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """Shows what is being done and the gap reached, at most ten times a second.

    >>> with ProgressLine() as line:
    ...     line("pricing", 0.5)
    """

    def __init__(self) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()
        self._started = time.monotonic()

    def __call__(self, what: str, gap: float) -> None:
        now = time.monotonic()
        if self._visible and now - self._shown > 0.1:
            self._shown = now
            print(
                f"\r\x1b[K{what}: gap {gap:.1e}, {now - self._started:.0f} s (Ctrl-C keeps the best so far)",
                end="",
                file=sys.stderr,
            )

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible and self._shown:
            print("\r\x1b[K", end="", file=sys.stderr)
