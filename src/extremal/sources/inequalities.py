"""A class given by linear inequalities is the hull of its corners, which are found exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Prior, as_fraction, corners


def priors_at_corners(matrix: Sequence[Sequence[Any]], bounds: Sequence[Any]) -> list[Prior]:
    """The corners of {p : matrix·p ≤ bounds, p ≥ 0, Σp = 1}; numbers are read as the decimals they print as."""
    rows = [[as_fraction(a, f"matrix[{i}][{j}]") for j, a in enumerate(row)] for i, row in enumerate(matrix)]
    right = [as_fraction(b, f"bounds[{i}]") for i, b in enumerate(bounds)]
    if not rows or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2 or len(right) != len(rows):
        raise InvalidParameter(
            "matrix must have rows of equal length, one column for each of at least 2 symbols, and one bound for "
            "each row",
            parameter="matrix",
            value=[len(row) for row in rows],
        )
    return [Prior(list(corner)) for corner in corners(rows, right, len(rows[0]))]
