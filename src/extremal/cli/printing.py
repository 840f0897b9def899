"""Output of the verbs: text or one JSON object, pictures, the options for them, and a line that says how long work is
going."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.plotting import save


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
