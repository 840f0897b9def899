"""Tables for people: aligned text for a terminal, and data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from extremal.errors import MissingDependency


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> str:
    """Right-aligned columns two spaces apart; the first `left` columns are left-aligned.

    >>> print(aligned(["name", "ε"], [["a", "1"], ["bb", "10"]], left=1))
    name   ε
    a      1
    bb    10
    """
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if j < left else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def number(value: float | None, digits: int = 6) -> str:
    """A number as a table shows it; a dash when there is none."""
    return "–" if value is None else f"{value:.{digits}g}"


def as_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas data frame, or a polars one when only that is installed."""
    for library in ("pandas", "polars"):
        try:
            return importlib.import_module(library).DataFrame(dict(columns))
        except ImportError:
            continue
    raise MissingDependency("a data frame needs pandas or polars", hint="pip install 'extremal[frames]'")
