"""Square systems of linear equations, solved in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solve_exactly(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The x with matrix·x = right, or None when there is not exactly one (Gauss–Jordan elimination).

    >>> solve_exactly([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(3)]], [Fraction(3), Fraction(4)])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for j in range(n):
        pivot = next((i for i in range(j, n) if rows[i][j]), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        scale = rows[j][j]
        rows[j] = [value / scale for value in rows[j]]
        for i in range(n):
            factor = rows[i][j]
            if i != j and factor:
                rows[i] = [value - factor * above for value, above in zip(rows[i], rows[j], strict=True)]
    return [row[n] for row in rows]
