"""Whole numbers in matrices, and the largest of many quotients, compared without a division."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from extremal.certificate.proof import Refused
from extremal.exact.weights import Indices
from extremal.problem import Integers


def multiplied(*matrices: Integers) -> Integers:
    """Their product."""
    first, *others = (fmpz_mat(len(m), m.shape[1], m.ravel().tolist()) for m in matrices)
    for other in others:
        first = first * other
    return np.array([int(v) for v in first.entries()], dtype=object).reshape(first.nrows(), first.ncols())


def from_triangle(rows: Sequence[Sequence[int]], size: int, diagonal: int, name: str) -> Integers:
    """The symmetric matrix of a lower triangle: row i holds i + diagonal entries; without a diagonal that is 0."""
    if len(rows) != size or any(len(row) != i + diagonal for i, row in enumerate(rows)):
        raise Refused(f"{name} must be a lower triangle of {size} rows", f"len({name})", len(rows))
    matrix = np.zeros((size, size), dtype=object)
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
        matrix[: len(row), i] = row
    return matrix


def largest_quotient(quotients: Iterable[tuple[int, int]]) -> Fraction:
    """The largest of numerators over positive denominators; there must be one."""
    listed = iter(quotients)
    best, below = next(listed)
    for value, unit in listed:
        if value * below > best * unit:
            best, below = value, unit
    return Fraction(best, below)


def folded(matrix: Integers, of: Indices, count: int) -> Integers:
    """The sums of a square matrix over classes of its rows and columns; `of` gives the class of each, none is empty."""
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(count))
    return np.add.reduceat(np.add.reduceat(matrix[np.ix_(order, order)], starts, axis=0), starts, axis=1)
