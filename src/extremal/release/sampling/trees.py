"""Outputs found by halving: for columns on sets of rows that are too many for a table and form no windows.

The outputs are the leaves of a binary tree. For each node the weight of its leaves, as a function of the row, is
constant between the edges of their sets; those constants are stored. A 62-bit word starts at the root and goes left
when it is less than the left child's weight in its row, else right, less that weight. That is inversion of the exact
partial sums: no rejection, one word a value. Memory is (edges + outputs) times the depth, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism.structures import TwoValuedColumns
from extremal.release.sampling.loops import Codes
from extremal.release.sampling.words import Words

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockTree:
    """For each level, from the root's children down, the sorted keys node·rows + row of the pieces, and their
    weights."""

    rows: int
    levels: tuple[tuple[Keys, Keys], ...]

    @classmethod
    def of(cls, kernel: TwoValuedColumns) -> BlockTree:
        m, r = kernel.m, kernel.r
        depth = max(1, (m - 1).bit_length())
        owner = np.array([y for y, s in enumerate(kernel.sets) for _ in s.runs], dtype=np.int64)
        runs = np.array([run for s in kernel.sets for run in s.runs], dtype=np.int64).reshape(-1, 2)
        step = (kernel.high - kernel.low)[owner]
        # A piece starts where the weight changes: at row 0 by the low weight, at a run's ends by the step. An end at r
        # changes nothing.
        inner = runs[:, 1] < r
        output = np.concatenate((np.arange(m), owner, owner[inner]))
        start = np.concatenate((np.zeros(m, dtype=np.int64), runs[:, 0], runs[inner, 1]))
        change = np.concatenate((kernel.low, step, -step[inner]))
        levels = []
        for level in range(1, depth + 1):
            node = output >> (depth - level)
            keys, inverse = np.unique(node * r + start, return_inverse=True)
            changes = np.zeros(keys.size, dtype=np.int64)
            np.add.at(changes, inverse, change)
            levels.append((keys, _running_totals(changes, keys // r)))
        return cls(r, tuple(levels))

    def draw(self, rows: Codes, words: Words) -> Codes:
        """The output whose interval of partial sums in its row holds the word's high 62 bits."""
        left = (words >> np.uint64(64 - WEIGHT_BITS)).view(np.int64)
        node = np.zeros(rows.size, dtype=np.int64)
        for keys, weights in self.levels:
            node <<= 1
            weight = weights[np.searchsorted(keys, node * self.rows + rows, side="right") - 1]
            right = left >= weight
            left -= weight * right
            node += right
        return node


def _running_totals(changes: Keys, node: Keys) -> Keys:
    """Cumulative sums of the changes, starting anew at each node. Sums over whole nodes may wrap around; differences do
    not care."""
    totals = np.cumsum(changes)
    first = np.flatnonzero(np.diff(node, prepend=-1))
    base = totals[first] - changes[first]
    return np.asarray(totals - np.repeat(base, np.diff(first, append=node.size)))
