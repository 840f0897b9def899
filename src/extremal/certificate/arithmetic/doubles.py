"""Doubles in the kernel: they add small whole numbers exactly, and they propose what integers then decide.

Nothing rests on a rounding here. Sums: 2^13 whole numbers below 2^40 add up below 2^53, where every whole number is a
double, in whatever order they are added. Proposals: a matrix whose rounded entries are multiplied out in integers by
whoever asked for it, and a prior of a class at which a cost is then enclosed. A bad proposal proves less, never more.
The largest double that is not above a rational is found by comparing rationals.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate.arithmetic.whole import Integers
from extremal.exact import Prior

Floats = npt.NDArray[np.float64]

CHUNK = 1 << 13  # columns that are summed at once
SLICE = 40  # bits
SLICES = 4
SUM_BITS = SLICE * SLICES
"""Whole numbers of so many bits are summed."""

FACTOR_BITS = 40  # of a proposed factor: its digits only need to outlast the condition of the matrix
MOST_FLOAT_BITS = 1000
ROUNDS = 60
NEWTON_STEPS = 12
ENOUGH = 1e-14  # relative
DIFFERENCE = 1e-6  # of weights, for second derivatives


def pair_sums(members: Sequence[Any], numbers: Sequence[int], size: int) -> Integers:
    """Σ_y number_y·1_T 1_Tᵀ over sets T = members_y of 0, …, size − 1; exact for numbers in [0, 2^SUM_BITS]."""
    found = np.zeros((size, size), dtype=object)
    for inside, digits, shift in _slices(members, numbers, size):
        found += ((inside * digits) @ inside.T).astype(np.int64).astype(object) << shift
    return found


def member_sums(members: Sequence[Any], numbers: Sequence[int], size: int) -> Integers:
    """Σ_y number_y·1_T, as `pair_sums`."""
    found = np.zeros(size, dtype=object)
    for inside, digits, shift in _slices(members, numbers, size):
        found += (inside @ digits).astype(np.int64).astype(object) << shift
    return found


def _slices(members: Sequence[Any], numbers: Sequence[int], size: int) -> Any:
    for start in range(0, len(numbers), CHUNK):
        part = range(start, min(start + CHUNK, len(numbers)))
        inside = np.zeros((size, len(part)))
        for j, y in enumerate(part):
            inside[np.asarray(members[y], dtype=np.intp), j] = 1.0
        for j in range(SLICES + 1):
            digits = np.array([float((numbers[y] >> (SLICE * j)) % (1 << SLICE)) for y in part])
            if digits.any():
                yield inside, digits, SLICE * j


def near_inverse_factor(matrix: Integers, bits: int) -> Any:
    """X in whole numbers, X·matrix·Xᵀ nearly a multiple of the identity; None when Cholesky's algorithm stops. The
    diagonal of the matrix has at most so many bits."""
    small = matrix >> max(0, bits - MOST_FLOAT_BITS)
    try:
        factor = np.linalg.cholesky(small.astype(np.float64) / 2.0 ** min(bits, MOST_FLOAT_BITS))
        inverse = np.tril(np.linalg.inv(factor))
    except np.linalg.LinAlgError:
        return None
    return np.rint(np.ldexp(inverse, FACTOR_BITS - int(np.ceil(np.log2(np.abs(inverse).max()))))).astype(np.int64)


def worst_mixture(known: Callable[[Prior], tuple[Any, list[Any]]], source: Any) -> Prior:
    """A prior of the class where F is nearly largest: vertices are added where the slope points, their weights found
    by Newton's steps."""
    corners, weights = [source.member()], np.array([1.0])

    def at(w: Floats) -> tuple[Prior, float, Floats]:
        shares = [Fraction(float(v)) for v in w]
        total = sum(shares)
        mixed = [
            sum((s * c.fraction(x) for s, c in zip(shares, corners, strict=True)), Fraction(0)) / total
            for x in range(source.k)
        ]
        prior = Prior(mixed)
        cost, slope = known(prior)
        return prior, float(cost.value.mid()), np.array([float(g.mid()) for g in slope])

    prior, value, slope = at(weights)
    for _ in range(ROUNDS):
        best = source.extreme_prior(slope.tolist())
        if slope @ (best.values - prior.values) <= ENOUGH * abs(value) or best in corners:
            break
        corners.append(best)
        weights = np.append(weights, 0.0)
        for _ in range(NEWTON_STEPS):
            moved, prior, gained, slope = _newton(at, np.array([c.values for c in corners]), weights)
            used = moved > 0
            corners, weights = [c for c, u in zip(corners, used, strict=True) if u], moved[used]
            if gained <= value * (1 + ENOUGH):
                value = max(value, gained)
                break
            value = gained
    return prior


def _newton(at: Any, corners: Floats, weights: Floats) -> tuple[Floats, Prior, float, Floats]:
    """One damped step towards the best weights ≥ 0 of the corners."""
    n = weights.size
    prior, value, slope = at(weights)
    first = corners @ slope
    second = np.zeros((n, n))
    for j in range(n):
        step = (1 - DIFFERENCE) * weights
        step[j] += DIFFERENCE
        second[:, j] = (corners @ at(step)[2] - first) / DIFFERENCE
    # second[:, j] is along corner j − prior: that is all a step on the simplex needs
    free = (weights > 0) | (first > first @ weights)
    while True:
        index = np.flatnonzero(free)
        size = index.size
        system = np.ones((size + 1, size + 1))
        system[:size, :size] = second[np.ix_(index, index)] - 1e-12 * np.abs(second).max() * np.eye(size)
        system[size, size] = 0.0
        target = np.linalg.lstsq(system, np.append(second[index] @ weights - first[index], 1.0), rcond=None)[0][:size]
        stuck = (target < 0) & (weights[index] <= 0)
        if not stuck.any():
            break
        free[index[stuck]] = False
    goal = np.zeros(n)
    goal[index] = target
    change = goal - weights
    shrinking = change < 0
    share = min(1.0, float(np.min(weights[shrinking] / -change[shrinking], initial=np.inf)))
    while share > 1e-12:
        moved = np.maximum(weights + share * change, 0.0)
        moved[moved < 1e-13] = 0.0
        moved /= moved.sum()
        there, gained, pointing = at(moved)
        if gained >= value:
            return moved, there, gained, pointing
        share /= 4
    return weights, prior, value, slope


def float_at_or_below(number: Fraction) -> float:
    """The largest float that is not above a number ≥ 0.

    >>> float_at_or_below(Fraction(1, 3)), float_at_or_below(Fraction(1, 4))
    (0.3333333333333333, 0.25)
    """
    try:
        near = float(number)
    except OverflowError:
        return sys.float_info.max
    return near if Fraction(near) <= number else nextafter(near, 0.0)
