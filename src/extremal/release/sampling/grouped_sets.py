"""Exact draws of sets with certain counts in each group.

For a row of group g the type of the set and whether it holds the row come together, with integer weights over
n_g·2^62: the place is a number below n_g and 62 bits. Given that, every group's part is a uniform subset of the right
size, in the own group one of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS
from extremal.mechanism.structures import GroupedSets
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.subsets import LARGEST_FLAGS, uniform_below, uniform_subsets, with_own
from extremal.release.sampling.words import Words, WordSource, of_values

_SPARE = np.uint64(64 - WEIGHT_BITS)


@dataclass(frozen=True, eq=False)
class FromGroupedSets:
    """A word and a number below n_g for the type, then Floyd's steps group by group; the bits packed into bytes."""

    structure: GroupedSets

    @property
    def size(self) -> int:
        return (self.structure.r + 7) // 8

    @cached_property
    def _sums(self) -> list[tuple[npt.NDArray[np.int64], Words]]:
        """For each group the partial sums of the weights of its outcomes (types with the row, then without), each as a
        multiple of 2^62 and the rest."""
        found = []
        for g in range(self.structure.sizes.size):
            sums = list(accumulate(self.structure.inside(g) + self.structure.outside(g)))
            high, low = zip(*(divmod(total, DENOMINATOR) for total in sums), strict=True)
            found.append((np.array(high, dtype=np.int64), np.array(low, dtype=np.uint64)))
        return found

    @cached_property
    def _place(self) -> Codes:
        """Where each row stands in its group."""
        place = np.empty(self.structure.r, dtype=np.int64)
        for rows in self.structure.members:
            place[rows] = np.arange(rows.size)
        return place

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        out = np.empty((rows.size, self.size), dtype=np.int64)
        at_a_time = max(1, LARGEST_FLAGS // self.structure.r)
        for start in range(0, rows.size, at_a_time):
            here = slice(start, start + at_a_time)
            out[here] = np.packbits(self._sets(rows[here], of_values(source, here)), axis=1)
        return out

    def _sets(self, x: Codes, source: WordSource) -> npt.NDArray[np.bool_]:
        structure, own = self.structure, self.structure.of[x]
        kinds = len(structure.types)
        outcome = np.empty(x.size, dtype=np.int64)
        for g, (high, low) in enumerate(self._sums):
            here = np.flatnonzero(own == g)
            if not here.size:
                continue
            words: Words = np.empty(here.size, dtype=np.uint64)
            of_group = of_values(source, here)
            of_group.fill(words)
            words >>= _SPARE
            whole = uniform_below(int(structure.sizes[g]), here.size, of_group)
            passed = (whole[:, None] > high) | ((whole[:, None] == high) & (words[:, None] >= low))
            outcome[here] = passed.sum(axis=1)
        holds, counts = outcome < kinds, np.array(structure.types)[outcome % kinds]
        flags = np.zeros((x.size, structure.r), dtype=np.bool_)
        for g, members in enumerate(structure.members):
            here, elsewhere = np.flatnonzero(own == g), np.flatnonzero(own != g)
            others = uniform_subsets(members.size - 1, counts[here, g] - holds[here], of_values(source, here))
            flags[np.ix_(here, members)] = with_own(others, self._place[x[here]], holds[here])
            chosen = uniform_subsets(members.size, counts[elsewhere, g], of_values(source, elsewhere))
            flags[np.ix_(elsewhere, members)] = chosen
        return flags
