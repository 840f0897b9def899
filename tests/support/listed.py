"""Grouped sets, and the same with every report listed, by the definition: for tests and audits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np

from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import GroupedSets
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.privacy import LDP, Notion

GROUPED_SETS: dict[str, tuple[list[int], list[tuple[int, ...]], list[float]]] = {
    "two groups": ([0, 0, 0, 1, 1, 0, 1, 1], [(2, 1), (1, 2), (0, 3), (1, 1)], [1.9, 1.0, 0.3, 1.3]),
    "all or nothing": ([0, 0, 1, 1, 1], [(2, 1), (0, 2), (1, 0)], [1.0, 3.5, 8 / 3]),
    "one alone": ([0, 1, 1, 1, 1, 1], [(1, 0), (0, 2), (0, 3)], [1.0, 1.0, 1.0]),
    "three groups": (
        [0, 1, 2, 0, 1, 2, 2],
        [(1, 1, 1), (1, 0, 1), (0, 1, 2), (1, 1, 0)],
        [1.0, 2.0, 2.0, 4 / 3],
    ),
}
"""Small ones, few enough to be listed: the group of each row, types of sets, and steps in proportion."""


def grouped_structure_of(name: str, epsilon: float = 1.0) -> GroupedSets:
    """The structure of one of `GROUPED_SETS`."""
    of, types, steps = GROUPED_SETS[name]
    return grouped_structure(np.array(of), types, steps, LDP(epsilon).exponential)


def grouped_sets(name: str, epsilon: float = 1.0) -> Mechanism:
    """Its mechanism."""
    structure = grouped_structure_of(name, epsilon)
    return Mechanism.from_structure(structure, LDP(epsilon), outputs=structure.reports)


def listed_sets(structure: GroupedSets, privacy: Notion | None = None) -> Mechanism:
    """The mechanism with a column for each set: every subset of the rows is looked at, and kept if it has a type."""
    columns, outputs = listed_columns(structure)
    return Mechanism.from_matrix(np.array(columns, dtype=object).T, privacy, outputs=outputs)


def listed_columns(structure: GroupedSets) -> tuple[list[list[Fraction]], list[tuple[int, ...]]]:
    """The exact probabilities of each set, row by row, and its word of bits."""
    of = structure.of.tolist()
    sizes = [of.count(g) for g in range(max(of) + 1)]
    columns, outputs = [], []
    for flags in product([False, True], repeat=len(of)):
        counts = tuple(sum(flag for flag, h in zip(flags, of, strict=True) if h == g) for g in range(len(sizes)))
        if counts in structure.types:
            t = structure.types.index(counts)
            number = prod(comb(n, c) for n, c in zip(sizes, counts, strict=True))
            weights = (structure.low[t], structure.high[t])
            columns.append([Fraction(weights[flag], DENOMINATOR * number) for flag in flags])
            outputs.append(tuple(np.packbits(flags).tolist()))
    return columns, outputs
