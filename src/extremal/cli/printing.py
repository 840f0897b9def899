"""Output of the verbs: text or one JSON object, pictures, the options for them, and a line that says how long work is
going."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.plotting import save

BETWEEN = 0.1  # seconds: at most ten progress lines a second


def add_printing(verb: argparse.ArgumentParser, plot: str = "", overwrite: bool = True) -> None:
    """--json; --plot if it is said what is drawn; --overwrite unless nothing is written."""
    if plot:
        verb.add_argument("--plot", metavar="FILE", help=f"{plot} (png, pdf or svg)")
    if overwrite:
        verb.add_argument("--overwrite", action="store_true", help="replace existing files")
    verb.add_argument("--json", action="store_true", help="print one JSON object")


def said(options: argparse.Namespace, content: Any, text: object) -> int:
    """Print the content as JSON with --json, else the text; the exit code of what is done."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False) if options.json else text)
    return 0


def drawn(options: argparse.Namespace, draw: Callable[[], Any]) -> list[str]:
    """Write the picture that --plot asks for; the names of the files."""
    return [str(save(draw(), options.plot, options.overwrite))] if options.plot else []


def written(text: object, *paths: str | None) -> str:
    """A text and the files that were written."""
    return "\n".join([str(text), *(f"written: {path}" for path in paths if path)])


def plain(value: Any, infinite: Callable[[float], str] | None = None) -> Any:
    """A value as JSON has it, which knows no infinity: it becomes null, or what `infinite` makes of it."""
    if isinstance(value, dict):
        return {key: plain(v, infinite) for key, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v, infinite) for v in value]
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else None if infinite is None else infinite(number)
    return value.item() if isinstance(value, np.generic) else value


class ProgressLine:
    """Shows how far work has come, at most ten times a second: what is being done and the gap reached, or rows done.

    >>> with ProgressLine() as line:
    ...     line("pricing", 0.5)
    ...     line.rows(10, 100)
    """

    def __init__(self) -> None:
        self._shown = 0.0
        self._visible = sys.stderr.isatty()
        self._started = time.monotonic()

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
        if self._visible and (last or now - self._shown > BETWEEN):
            self._shown = now
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible and self._shown:
            print("\r\x1b[K", end="", file=sys.stderr)
