"""Extreme rays of cones and corners of polytopes, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact.weights import Floats

MOST_RAYS = 20_000  # met on the way of a double description
MOST_MEETINGS = 3_000_000  # pairs of rays tried against a new plane: some ten seconds

Ray = tuple[int, ...]


def extreme_rays(k: int, planes: Sequence[Sequence[Fraction]]) -> list[Ray]:
    """The extreme rays of {q ≥ 0, plane·q ≤ 0 for each plane}, in k dimensions, as integers in lowest terms.

    Double description: planes are added one by one, and a new ray joins two adjacent ones on either side. Adjacency is
    the combinatorial test of Fukuda and Prodon (1996): no third ray lies on all planes that the two share.

    Raises:
        TooLarge: more than 20,000 rays on the way, or 3,000,000 pairs of them.

    >>> extreme_rays(2, [[Fraction(1), Fraction(-3)]])
    [(0, 1), (3, 1)]
    """
    meetings = 0
    found = [(tuple(int(i == x) for i in range(k)), ((1 << k) - 1) ^ (1 << x)) for x in range(k)]
    for number, plane in enumerate(map(lowest_terms, planes), start=k):
        heights = [sum(a * b for a, b in zip(plane, ray, strict=True)) for ray, _ in found]
        meetings += sum(h > 0 for h in heights) * sum(h < 0 for h in heights)
        if len(found) > MOST_RAYS or meetings > MOST_MEETINGS:
            raise TooLarge(
                "the cone has too many extreme rays to list",
                parameter="rays",
                value=len(found),
                hint="Give fewer inequalities, or the corners themselves.",
            )
        found = _cut(k, found, heights, 1 << number)
    return [ray for ray, _ in found]


def _cut(k: int, found: list[tuple[Ray, int]], heights: list[int], bit: int) -> list[tuple[Ray, int]]:
    """The rays on the lower side of a new plane, with the planes that hold each as bits, and those that arise on it."""
    placed = list(zip(found, heights, strict=True))
    kept = [(ray, mask | bit if h == 0 else mask) for (ray, mask), h in placed if h <= 0]
    for (above, mask_a), h_a in (one for one in placed if one[1] > 0):
        for (below, mask_b), h_b in (one for one in placed if one[1] < 0):
            shared = mask_a & mask_b
            if shared.bit_count() >= k - 2 and sum(1 for _, mask in found if mask & shared == shared) == 2:
                mixed = [h_a * b - h_b * a for a, b in zip(above, below, strict=True)]
                common = gcd(*mixed)
                kept.append((tuple(m // common for m in mixed), shared | bit))
    return kept


def lowest_terms(vector: Sequence[Fraction]) -> Ray:
    """The vector times a positive number, as integers without a common divisor."""
    common = lcm(*(v.denominator for v in vector))
    whole = [v.numerator * (common // v.denominator) for v in vector]
    shared = gcd(*whole) or 1
    return tuple(w // shared for w in whole)


def as_columns(rays: Sequence[Ray]) -> Floats:
    """Rays as float columns, each with largest entry 1."""
    return np.array([[float(Fraction(entry, max(ray))) for entry in ray] for ray in rays]).T


def corners(matrix: Sequence[Sequence[Fraction]], bounds: Sequence[Fraction], k: int) -> list[tuple[Fraction, ...]]:
    """Every corner of {p ≥ 0, Σp = 1, matrix·p ≤ bounds}, sorted: the rays of {q ≥ 0, (matrix − bounds·1ᵀ)q ≤ 0}.

    Raises:
        TooLarge: too many to list.
        InvalidParameter: no probability vector satisfies the inequalities.

    >>> corners([[Fraction(1), Fraction(-1)]], [Fraction(0)], 2)
    [(Fraction(0, 1), Fraction(1, 1)), (Fraction(1, 2), Fraction(1, 2))]
    """
    rays = extreme_rays(k, [[a - bound for a in row] for row, bound in zip(matrix, bounds, strict=True)])
    if not rays:
        raise InvalidParameter(
            "some probability vector must satisfy the inequalities",
            parameter="inequalities",
            value=f"{len(matrix)} of them",
        )
    return sorted(tuple(Fraction(q, sum(ray)) for q in ray) for ray in rays)


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
