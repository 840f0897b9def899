"""Doubles in the kernel: they propose what integers then decide, add small whole numbers, and are compared as the
rationals that they are.

Nothing rests on a rounding here. Sums: 2^9 whole numbers below 2^44 add up below 2^53, where every whole number is a
double, in whatever order they are added; 2^18 of them below 2^62, in 64 bits. A proposal is a matrix whose rounded
entries are multiplied out in integers by whoever asked for it; a bad one proves less, never more.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Floats, Indices
from extremal.problem import Integers

Counts = npt.NDArray[np.int64]

CHUNK = 1 << 9  # sets that doubles add up at once
SLICE = 44  # bits: 2^9 numbers of so many add up below 2^53
MOST_SETS = 1 << 18  # that 64 bits add up
BAND = 256  # rows of a product: what lies below the diagonal is not needed
PER_PAIR = 240  # products in doubles that take as long as one pair of a small set
SLICES = 4  # of the numbers that are summed, at most
FACTOR_BITS = 40  # of a proposed factor: its digits only need to outlast the condition of the matrix
LEAST_BITS = 30  # after the point, of an eigenvalue that a factor of so many rows with those bits can show
INVERSE_PLACES = 60  # bits of a proposed inverse: all that its doubles have, within 64
MOST_FLOAT_BITS = 1000  # of a whole number that is a double: the largest has 1024


def set_sums(members: list[Indices], lines: list[int], pairs: list[int], size: int) -> tuple[Integers, Integers]:
    """Σ_y line_y·1_T and Σ_y pair_y·1_T 1_Tᵀ over sets T = members_y of 0, …, size − 1; exact for numbers from 0 to
    2^(SLICE·SLICES)."""
    line, square = np.zeros(size, dtype=object), np.zeros((size, size), dtype=object)
    for start in range(0, len(members), MOST_SETS):
        part = slice(start, start + MOST_SETS)
        for shift, digits in _slices(lines[part]):
            line += _sums_of_sets(members[part], digits, size).astype(object) << shift
        for shift, digits in _slices(pairs[part]):
            square += _sums_of_pairs(members[part], digits, size).astype(object) << shift
    return line, square


def _sums_of_sets(members: list[Indices], digits: Counts, size: int) -> Counts:
    found = np.zeros(size, dtype=np.int64)
    for rows, digit in zip(members, digits.tolist(), strict=True):
        found[rows] += digit
    return found


def _sums_of_pairs(members: list[Indices], digits: Counts, size: int) -> Counts:
    """Small sets pair by pair, others as products of matrices of doubles, on and above the diagonal."""
    found = np.zeros((size, size), dtype=np.int64)
    if sum(rows.size**2 for rows in members) * PER_PAIR < size**2 * len(members):
        for rows, digit in zip(members, digits.tolist(), strict=True):
            found[rows[:, None], rows] += digit
        return found
    for start in range(0, len(members), CHUNK):
        inside = np.zeros((size, len(members[start : start + CHUNK])))
        for j, rows in enumerate(members[start : start + CHUNK]):
            inside[rows, j] = 1.0
        scaled = inside * digits[start : start + CHUNK]
        for top in range(0, size, BAND):
            found[top : top + BAND, top:] += (scaled[top : top + BAND] @ inside[top:].T).astype(np.int64)
    return np.asarray(np.triu(found) + np.triu(found, 1).T)


def _slices(numbers: list[int]) -> Iterator[tuple[int, Counts]]:
    """Digits of SLICE bits, and where they stand."""
    for shift in range(0, SLICE * (SLICES + 1), SLICE):
        digits = np.array([(number >> shift) % (1 << SLICE) for number in numbers], dtype=np.int64)
        if digits.any():
            yield shift, digits


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


def near_factor(matrix: Integers, bits: int) -> tuple[Integers, int, int] | None:
    """L and s in whole numbers, and b: LLᵀ + sI is nearly the matrix times 2^(b − bits), s half of its least
    eigenvalue; None when that is next to nothing. The diagonal of the matrix has at most so many bits, b no fewer."""
    small, places = matrix.astype(np.float64) / 2.0**bits, max(FACTOR_BITS, (bits + 1) // 2)
    least = float(np.linalg.eigvalsh(small)[0]) / 2
    if least < 2.0**-LEAST_BITS:
        return None
    factor = np.linalg.cholesky(small - least * np.eye(len(small)))
    whole = np.rint(np.ldexp(factor, places)).astype(np.int64).astype(object)
    return whole, int(least * 2.0 ** (2 * places)), 2 * places


def near_inverse(matrix: Integers) -> tuple[Integers, int]:
    """A symmetric x in whole numbers and b with matrix·x/2^b near the identity where doubles can say so much; the
    diagonal of the matrix is positive."""
    top = max(int(v) for v in np.diagonal(matrix)).bit_length()
    inverse = np.linalg.pinv((matrix >> max(0, top - MOST_FLOAT_BITS)).astype(np.float64) / 2.0**top, hermitian=True)
    places = INVERSE_PLACES - int(np.ceil(np.log2(np.abs(inverse).max())))
    return np.rint(np.ldexp((inverse + inverse.T) / 2, places)).astype(np.int64).astype(object), places + top


def above(values: Floats, number: Fraction) -> npt.NDArray[np.bool_]:
    """Which doubles are above a number; only the one nearest to it can be told apart by no other double.

    >>> above(np.array([0.1, 0.2]), Fraction(1, 10)), above(np.array([0.1, 0.2]), Fraction(0.1))
    (array([ True,  True]), array([False,  True]))
    """
    near = float(number)
    return values > near if Fraction(near) <= number else values >= near
