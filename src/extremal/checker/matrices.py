"""Matrices of whole numbers: products, positive definiteness, and an approximate inverse on which nothing rests."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from extremal.checker.numbers import afford, require, whole_numbers

Whole = list[list[int]]
Table = Sequence[Sequence[int]]
MOST_PRODUCTS = 2**28  # of two entries: half a minute
SHORT = 256  # bits after the point of the factor that definiteness is shown with
BITS = 640  # after the point, of approximate factors: of 2^300 against ρ = 2^-80, 260 are left


def times(a: Table, b: Table) -> Whole:
    """A·B."""
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def diagonal(a: Table, b: Table) -> list[int]:
    """The diagonal of A·Bᵀ."""
    return [sum(map(mul, row, other)) for row, other in zip(a, b, strict=True)]


def plus(a: Table, b: Table, factor: int = 1) -> Whole:
    """A + factor·B."""
    return [[v + factor * w for v, w in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def scaled_identity(n: int, value: int) -> Whole:
    """value·I."""
    return [[value if x == z else 0 for z in range(n)] for x in range(n)]


def approximate_factors(a: Table) -> tuple[Whole, list[int]]:
    """Y, triangular with ones on its diagonal, and d, so that YAYᵀ is about diag(d); A and both over 2^BITS.

    A = LDLᵀ column by column, then Y = L⁻¹ row by row. Nothing rests on it: who uses Y checks what it is good for.
    """
    n = len(a)
    lower: Whole = [[] for _ in range(n)]  # L below its diagonal
    scaled: Whole = [[] for _ in range(n)]  # L·D there
    pivots: list[int] = []
    for i in range(n):
        for j in range(i):
            value = a[i][j] - (sum(map(mul, scaled[i], lower[j])) >> BITS)
            scaled[i].append(value)
            lower[i].append((value << BITS) // pivots[j])
        pivots.append(a[i][i] - (sum(map(mul, scaled[i], lower[i])) >> BITS))
        require(pivots[i] > 0, "a positive definite matrix")
    return inverse_of_triangle(lower), pivots


def inverse_of_triangle(lower: Table) -> Whole:
    """About L⁻¹ of a triangle with ones on its diagonal, over 2^BITS: row i is e_i − Σ_j L_ij·(row j)."""
    n = len(lower)
    columns: Whole = [[] for _ in range(n)]  # of the inverse, from the diagonal down
    for i in range(n):
        for j in range(i):
            columns[j].append(-(sum(map(mul, lower[i][j:], columns[j])) >> BITS))
        columns[i].append(1 << BITS)
    return [[columns[j][i - j] if j <= i else 0 for j in range(n)] for i in range(n)]


def approximate_inverse(a: Table) -> Whole:
    """About A⁻¹ = YᵀD⁻¹Y, over 2^BITS."""
    y, pivots = approximate_factors(a)
    divided = [[(v << BITS) // d for v in row] for row, d in zip(y, pivots, strict=True)]
    return [[v >> BITS for v in row] for row in times(list(zip(*y, strict=True)), divided)]


def require_definite(a: Sequence[Sequence[Fraction]]) -> None:
    """Refuse a symmetric matrix unless it is positive definite, with some room.

    A is just when YAYᵀ is, for an invertible Y; and that is when every diagonal entry exceeds the sum of the absolute
    values of the others of its row (Gershgorin). Y has ones on its diagonal and zeros above it.
    """
    n = len(a)
    afford(2 * n**3, MOST_PRODUCTS, "products of matrices for definiteness")
    flat, _ = whole_numbers(list(itertools.chain(*a)))
    whole = [flat[i : i + n] for i in range(0, n * n, n)]
    shift = BITS - max(abs(v) for v in flat).bit_length()
    y, _ = approximate_factors([[v << shift if shift > 0 else v >> -shift for v in row] for row in whole])
    short = [[v >> (BITS - SHORT) for v in row] for row in y]  # a diagonal of ones still, whatever is rounded below it
    turned = times(times(short, whole), list(zip(*short, strict=True)))
    for i, row in enumerate(turned):
        require(2 * row[i] > sum(map(abs, row)), "positive definite")
