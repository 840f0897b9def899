"""Matrices of whole numbers: products, positive definiteness, and an approximate inverse on which nothing rests."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from extremal.checker.numbers import afford, require

Whole = list[list[int]]
Table = Sequence[Sequence[int]]
MOST_PRODUCTS = 2**28  # of two entries: half a minute
SHORT = 256  # bits after the point of the factor that definiteness is shown with
BITS = 512  # after the point, of the factor itself


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


def approximate_factors(a: Table, bits: int) -> tuple[Whole, list[int]]:
    """Y, triangular with ones on its diagonal, and d, so that YAYᵀ is about diag(d); A and both over 2^bits. A column
    of Y is listed from its diagonal down.

    A = LDLᵀ column by column, then Y = L⁻¹ row by row. Nothing rests on it: who uses Y checks what it is good for.
    """
    n = len(a)
    lower: Whole = [[] for _ in range(n)]  # L below its diagonal
    scaled: Whole = [[] for _ in range(n)]  # L·D there
    pivots: list[int] = []
    for i in range(n):
        for j in range(i):
            value = a[i][j] - (sum(map(mul, scaled[i], lower[j])) >> bits)
            scaled[i].append(value)
            lower[i].append((value << bits) // pivots[j])
        pivots.append(a[i][i] - (sum(map(mul, scaled[i], lower[i])) >> bits))
        require(pivots[i] > 0, "a positive definite matrix")
    return inverse_of_triangle(lower, bits), pivots


def inverse_of_triangle(lower: Table, bits: int) -> Whole:
    """About L⁻¹ of a triangle with ones on its diagonal, over 2^bits: row i is e_i − Σ_j L_ij·(row j)."""
    columns: Whole = [[] for _ in lower]
    for i, row in enumerate(lower):
        for j in range(i):
            columns[j].append(-(sum(map(mul, row[j:], columns[j])) >> bits))
        columns[i].append(1 << bits)
    return columns


def approximate_inverse(a: Table, bits: int) -> Whole:
    """About A⁻¹ = YᵀD⁻¹Y, over 2^bits; symmetric."""
    y, pivots = approximate_factors(a, bits)
    divided = [[(v << bits) // d for v, d in zip(column, pivots[j:], strict=True)] for j, column in enumerate(y)]
    return symmetric([[sum(map(mul, y[i], divided[j][i - j :])) >> bits for j in range(i + 1)] for i in range(len(y))])


def symmetric(lower: Table) -> Whole:
    """The matrix with this lower triangle, its diagonal included."""
    return [[lower[max(x, z)][min(x, z)] for z in range(len(lower))] for x in range(len(lower))]


def require_definite(whole: Table) -> None:
    """Refuse a symmetric matrix unless it is positive definite, with some room.

    A is so just when YAYᵀ is, for an invertible Y; and that is when every diagonal entry exceeds the sum of the
    absolute values of the others of its row (Gershgorin). Y has ones on its diagonal and zeros above it.
    """
    n = len(whole)
    afford(2 * n**3, MOST_PRODUCTS, "products of matrices for definiteness")
    shift = BITS - max(abs(v) for row in whole for v in row).bit_length()
    y, _ = approximate_factors([[v << shift if shift > 0 else v >> -shift for v in row] for row in whole], BITS)
    # a diagonal of ones still, whatever is rounded below it
    short = [[y[x][i - x] >> (BITS - SHORT) if x <= i else 0 for x in range(n)] for i in range(n)]
    half = times(short, whole)
    turned = symmetric([[sum(map(mul, half[i], short[x][: x + 1])) for x in range(i + 1)] for i in range(n)])
    for i, row in enumerate(turned):
        require(2 * row[i] > sum(map(abs, row)), "positive definite")
