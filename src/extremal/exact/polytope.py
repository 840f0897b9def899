"""The corners of a polytope of probability vectors, exactly.

{p : A p ≤ b, p ≥ 0, Σp = 1}: a corner makes k − 1 of the inequalities equalities. Floats sort out the choices that are
far from feasible; what remains is solved (by FLINT) and decided in rationals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact.weights import Floats

MOST_CHOICES = 300_000  # of k−1 active inequalities: a few seconds
# floats of these small systems are good to 1e-9 unless a system is nearly singular, which is then solved exactly
_FAR = 1e-7


def corners(matrix: Sequence[Sequence[Fraction]], bounds: Sequence[Fraction], k: int) -> list[tuple[Fraction, ...]]:
    """Every corner of {p ≥ 0, Σp = 1, matrix·p ≤ bounds}, sorted, without repetition.

    Raises:
        TooLarge: more than 300,000 choices of k−1 inequalities.
        InvalidParameter: no probability vector satisfies the inequalities.

    >>> corners([[Fraction(1), Fraction(-1)]], [Fraction(0)], 2)
    [(Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 2), Fraction(1, 2))]
    """
    unit = [[Fraction(-int(x == y)) for y in range(k)] for x in range(k)]
    rows, right = [*unit, *(list(row) for row in matrix)], [*[Fraction(0)] * k, *bounds]
    choices = math.comb(len(rows), k - 1)
    if choices > MOST_CHOICES:
        raise TooLarge(
            f"the corners of a polytope are listed for at most {MOST_CHOICES:,} choices of inequalities",
            parameter="choices",
            value=choices,
            hint="Give the extreme priors themselves, or fewer inequalities.",
        )
    found = _listed(rows, right)
    if not found:
        raise InvalidParameter(
            "some probability vector must satisfy the inequalities",
            parameter="inequalities",
            value=f"{len(matrix)} of them",
        )
    return sorted(found)


def _listed(rows: list[list[Fraction]], right: list[Fraction]) -> set[tuple[Fraction, ...]]:
    """The corners, by trying every choice of inequalities that floats do not exclude."""
    k = len(rows[0])
    floats, limits = np.array([[float(a) for a in row] for row in rows]), np.array([float(b) for b in right])
    found = set()
    for active in itertools.combinations(range(len(rows)), k - 1):
        if _near(floats, limits, active):
            matrix, values = [rows[i] for i in active], [right[i] for i in active]
            point = solve_exactly([*matrix, [Fraction(1)] * k], [*values, Fraction(1)])
            if point is not None and _satisfies(point, rows, right):
                found.add(tuple(point))
    return found


def _near(rows: Floats, limits: Floats, active: tuple[int, ...]) -> bool:
    """Whether the float solution is close to feasible, or cannot tell."""
    k = rows.shape[1]
    system = np.vstack([rows[list(active)], np.ones(k)])
    try:
        point = np.linalg.solve(system, np.append(limits[list(active)], 1.0))
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(point).all() or np.abs(point).max() > 1e6:  # nearly singular: the exact solution decides
        return True
    return bool((rows @ point <= limits + _FAR * (1 + np.abs(limits))).all())


def _satisfies(point: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> bool:
    sums = (sum(a * p for a, p in zip(row, point, strict=True)) for row in rows)
    return all(value <= bound for value, bound in zip(sums, right, strict=True))


def solve_exactly(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The x with matrix·x = right for a square matrix, or None when there is not exactly one.

    >>> solve_exactly([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(3)]], [Fraction(3), Fraction(4)])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    from flint import fmpq, fmpq_mat

    def rational(value: Fraction) -> fmpq:
        return fmpq(value.numerator, value.denominator)

    n = len(matrix)
    try:
        found = fmpq_mat(n, n, [rational(a) for row in matrix for a in row]).solve(
            fmpq_mat(n, 1, [rational(b) for b in right])
        )
    except ZeroDivisionError:  # singular
        return None
    return [Fraction(int(x.p), int(x.q)) for x in found.entries()]
