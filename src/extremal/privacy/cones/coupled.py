"""(ε,δ)-LDP: the rays of the cells into which the planes q_x = e^ε·q_z cut the columns.

The constraint Σ_y (Q(y|x) − e^ε·Q(y|z))⁺ ≤ δ couples the columns, but each term is linear on every cell of the
arrangement {q_x = e^ε·q_z}. Splitting a column into the extreme rays of its cell keeps the constraint and never lowers
a sum of sublinear values, so the best mechanism is a mixture of such rays. On a ray the planes that it lies on connect
its support: the entries are e^0, e^−ε, …, e^−Lε without a gap, and 0 elsewhere; either one entry alone or at least two
levels. There are 4, 21, 138, 1055 and 9308 of them for 2 to 6 inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from extremal.errors import TooLarge
from extremal.exact.weights import Floats

MOST_INPUTS = 6  # 9,308 rays; 7 have 94,801


def _ordered_partitions(members: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to put the members into a sequence of non-empty blocks."""
    if not members:
        yield []
        return
    for size in range(1, len(members) + 1):
        for first in combinations(members, size):
            rest = tuple(x for x in members if x not in first)
            for others in _ordered_partitions(rest):
                yield [first, *others]


def refuse_many(k: int, most: int) -> None:
    """Refuse more inputs than designs with δ > 0 are made for."""
    if k > most:
        raise TooLarge(
            f"designs with delta > 0 are for at most {most} inputs",
            parameter="k",
            value=k,
            hint="Use delta=0, or merge inputs.",
        )


def levels(k: int) -> list[tuple[int, ...]]:
    """Each ray as the level of every input: 0 is the highest entry, −1 stands for an entry of 0.

    >>> [len(levels(k)) for k in (2, 3, 4)]
    [4, 21, 138]
    """
    refuse_many(k, MOST_INPUTS)
    found = []
    for size in range(1, k + 1):
        for support in combinations(range(k), size):
            for blocks in _ordered_partitions(support):
                if size == 1 or len(blocks) > 1:
                    level = [-1] * k
                    for depth, block in enumerate(blocks):
                        for x in block:
                            level[x] = depth
                    found.append(tuple(level))
    return found


def rays(k: int, epsilon: float) -> Floats:
    """The rays as columns with largest entry 1."""
    level = np.array(levels(k)).T
    return np.where(level < 0, 0.0, np.exp(-epsilon * np.maximum(level, 0)))


def couplings(columns: Floats, epsilon: float) -> Floats:
    """(r_x − e^ε·r_z)⁺ of each column, one row for each ordered pair x ≠ z, in lexicographic order."""
    k = columns.shape[0]
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    return np.array([np.maximum(columns[x] - math.exp(epsilon) * columns[z], 0.0) for x, z in pairs])
