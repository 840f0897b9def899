"""Doubles in the kernel: they add small whole numbers exactly, and they propose what integers then decide.

Nothing rests on a rounding here. Sums: 2^13 whole numbers below 2^40 add up below 2^53, where every whole number is a
double, in whatever order they are added. The proposal: a matrix whose rounded entries are multiplied out in integers by
whoever asked for it; a bad one proves less, never more. A double is compared with a rational as the rational it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Floats, Indices
from extremal.problem import Integers

CHUNK = 1 << 13  # columns that are summed at once
SLICE = 40  # bits: 2^13 numbers of so many add up below 2^53
SLICES = 4  # of a number
SUM_BITS = SLICE * SLICES  # of whole numbers that are summed
FACTOR_BITS = 40  # of a proposed factor: its digits only need to outlast the condition of the matrix
MOST_FLOAT_BITS = 1000  # of a whole number that is a double: the largest has 1024

Members = Sequence[int] | Indices


def pair_sums(members: Sequence[Members], numbers: Sequence[int], size: int) -> Integers:
    """Σ_y number_y·1_T 1_Tᵀ over sets T = members_y of 0, …, size − 1; exact for numbers in [0, 2^SUM_BITS]."""
    found = np.zeros((size, size), dtype=object)
    for inside, digits, shift in _slices(members, numbers, size):
        found += ((inside * digits) @ inside.T).astype(np.int64).astype(object) << shift
    return found


def member_sums(members: Sequence[Members], numbers: Sequence[int], size: int) -> Integers:
    """Σ_y number_y·1_T, as `pair_sums`."""
    found = np.zeros(size, dtype=object)
    for inside, digits, shift in _slices(members, numbers, size):
        found += (inside @ digits).astype(np.int64).astype(object) << shift
    return found


def _slices(members: Sequence[Members], numbers: Sequence[int], size: int) -> Iterator[tuple[Floats, Floats, int]]:
    for start in range(0, len(numbers), CHUNK):
        part = range(start, min(start + CHUNK, len(numbers)))
        inside = np.zeros((size, len(part)))
        for j, y in enumerate(part):
            inside[np.asarray(members[y], dtype=np.intp), j] = 1.0
        for j in range(SLICES + 1):
            digits = np.array([float((numbers[y] >> (SLICE * j)) % (1 << SLICE)) for y in part])
            if digits.any():
                yield inside, digits, SLICE * j


def near_inverse_factor(matrix: Integers, bits: int) -> Integers | None:
    """X in whole numbers, X·matrix·Xᵀ nearly a multiple of the identity; None when Cholesky's algorithm stops. The
    diagonal of the matrix has at most so many bits."""
    small = matrix >> max(0, bits - MOST_FLOAT_BITS)
    try:
        factor = np.linalg.cholesky(small.astype(np.float64) / 2.0 ** min(bits, MOST_FLOAT_BITS))
        inverse = np.tril(np.linalg.inv(factor))
    except np.linalg.LinAlgError:
        return None
    whole = np.rint(np.ldexp(inverse, FACTOR_BITS - int(np.ceil(np.log2(np.abs(inverse).max())))))
    return whole.astype(np.int64).astype(object)


def above(values: Floats, number: Fraction) -> npt.NDArray[np.bool_]:
    """Which doubles are above a number; only the one nearest to it can be told apart by no other double.

    >>> above(np.array([0.1, 0.2]), Fraction(1, 10)), above(np.array([0.1, 0.2]), Fraction(0.1))
    (array([ True,  True]), array([False,  True]))
    """
    near = float(number)
    return values > near if Fraction(near) <= number else values >= near
