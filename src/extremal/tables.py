"""Tables for people: aligned text for a terminal, and data frames."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
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


def outward(value: float, up: bool, digits: int = 4) -> str:
    """A bound as a table shows it: rounded to some digits, up or down, so that what is said still holds.

    >>> outward(0.999999, up=False), outward(0.048551, up=True), outward(0.05, up=True), outward(0.0, up=True)
    ('0.9999', '0.04856', '0.05', '0')
    """
    if not math.isfinite(value) or not value:
        return number(value, digits)
    exact = Fraction(value)
    unit = Fraction(10) ** (math.floor(math.log10(abs(value))) - digits + 1)
    near = round(exact / unit)
    if abs(exact / unit - near) < Fraction(1, 10**6):  # 0.05 is not a float, and still 0.05
        return number(float(near * unit), digits)
    return number(float((math.ceil(exact / unit) if up else math.floor(exact / unit)) * unit), digits)


def as_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas data frame, or a polars one when only that is installed."""
    for library in ("pandas", "polars"):
        try:
            return importlib.import_module(library).DataFrame(dict(columns))
        except ImportError:
            continue
    raise MissingDependency("a data frame needs pandas or polars", hint="pip install 'extremal[frames]'")
