"""Extreme rays of cones and corners of polytopes, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import chain, product
from math import gcd, lcm
from operator import and_, mul
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact.weights import Floats

MOST_RAYS = 20_000  # met on the way of a double description
MOST_STEPS = 1 << 27  # pairs of rays on either side of a plane, and heights of rays: five seconds
_AT_ONCE = 1 << 24  # pairs in one product of matrices: 64 MB
_FEW = 40_000  # tests of a third ray that take no longer one by one than the product of matrices

Ray = tuple[int, ...]


def extreme_rays(k: int, planes: Sequence[Sequence[Fraction]]) -> list[Ray]:
    """The extreme rays of {q ≥ 0, plane·q ≤ 0 for each plane}, in k dimensions, as integers in lowest terms.

    Raises:
        TooLarge: too many rays on the way, or too many pairs of them.

    >>> extreme_rays(2, [[Fraction(1), Fraction(-3)]])
    [(0, 1), (3, 1)]
    """
    cone = CutCone(k)
    for plane in planes:
        cone.cut(plane)
    return cone.rays


class CutCone:
    """{q ≥ 0} in k dimensions, cut by one plane after the other, and its extreme rays.

    Double description: a new ray joins two adjacent ones on either side of a plane. Two are where no third ray lies on
    all planes that they share (Fukuda and Prodon 1996), at least k − 2: these are counted as a product of matrices of
    zeros and ones, exactly, since a count is far below 2^24.

    Args:
        k: the dimension.
        share: of the steps that a cone may take.

    Attributes:
        rays: integers in lowest terms.
    """

    def __init__(self, k: int, share: float = 1.0) -> None:
        self.k, self.rays = k, [tuple(int(i == x) for i in range(k)) for x in range(k)]
        self._tight = [frozenset(range(k)) - {x} for x in range(k)]  # the planes that hold each
        self._planes, self._steps, self._most = k, 0, share * MOST_STEPS

    def cut(self, normal: Sequence[Fraction]) -> None:
        """Keep what has normal·q ≤ 0.

        Raises:
            TooLarge: more than `MOST_RAYS` rays, or too many pairs of them in all cuts; the cone is what it was.
        """
        plane, number, rays, tight = lowest_terms(normal), self._planes, self.rays, self._tight
        heights = [sum(map(mul, plane, ray)) for ray in rays]
        above, below = ([i for i, h in enumerate(heights) if sign * h > 0] for sign in (1, -1))
        steps = self._steps + len(above) * len(below) + 40 * len(rays)  # a height takes as long as forty pairs
        if len(rays) > MOST_RAYS or steps > self._most:
            raise TooLarge(
                "the cone has too many extreme rays to list",
                parameter="rays",
                value=len(rays),
                hint="Give fewer inequalities, or the corners themselves.",
            )
        joined = list(_adjacent(self.k, number, tight, above, below)) if above else []
        mixed = ([heights[a] * v - heights[b] * w for v, w in zip(rays[b], rays[a], strict=True)] for a, b in joined)
        common = [tight[a] & tight[b] | {number} for a, b in joined]
        kept = [i for i, h in enumerate(heights) if h <= 0]
        self._tight = [tight[i] if heights[i] else tight[i] | {number} for i in kept] + common
        self.rays = [rays[i] for i in kept] + list(map(lowest_terms, mixed))
        self._planes, self._steps = number + 1, steps


def _adjacent(
    k: int, planes: int, tight: list[frozenset[int]], above: list[int], below: list[int]
) -> Iterator[tuple[int, int]]:
    """The pairs of rays, one of each list, that share at least k − 2 planes which no third ray lies on."""
    if len(above) * len(below) * len(tight) <= _FEW:
        pairs = ((a, b, tight[a] & tight[b]) for a, b in product(above, below))
        yield from ((a, b) for a, b, both in pairs if len(both) >= k - 2 and sum(map(both.issubset, tight)) == 2)
        return
    holds = np.zeros((len(tight), planes), dtype=np.bool_)  # whether a plane holds a ray
    holds[np.repeat(np.arange(len(tight)), list(map(len, tight))), list(chain.from_iterable(tight))] = True
    on = [int.from_bytes(row.tobytes()) for row in np.packbits(holds.T, axis=1)]  # the rays on a plane, as bits
    everyone = int.from_bytes(np.packbits(np.ones(len(tight), dtype=np.bool_)).tobytes())
    holds = holds[:, holds[above].any(axis=0)].astype(np.float32)
    for i, j in _sharing(holds[above], holds[below], k - 2):
        a, b = above[i], below[j]
        if reduce(and_, (on[plane] for plane in tight[a] & tight[b]), everyone).bit_count() == 2:
            yield a, b


def _sharing(first: npt.NDArray[Any], second: npt.NDArray[Any], least: int) -> Iterator[tuple[int, int]]:
    """The pairs of a row of each matrix of zeros and ones that share at least so many ones, some rows at a time."""
    rows = 1 + _AT_ONCE // max(len(second), 1)
    for start in range(0, len(first), rows):
        for i, j in np.argwhere(first[start : start + rows] @ second.T >= least).tolist():
            yield start + i, j


def lowest_terms(vector: Sequence[Fraction | int]) -> Ray:
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
