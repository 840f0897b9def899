"""Exact draws for structures that are rules: sets that the inputs choose, independent bits, sets by their counts.

A report from the set of the truth with probability inside/2^62, decided by the first 62 bits of a word, and then a
uniform one of the set, or of its complement. Uniform means exactly: words of bits by masks, other numbers by exact
rejection. Both the number for the set and the one for the complement are drawn, whichever is used, so that the number
of words tells nothing beyond the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS
from extremal.mechanism.structures import GroupedSets
from extremal.mechanism.structures.bits import IndependentBits
from extremal.mechanism.structures.bloom import BloomBits
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, HadamardSets, HashedSets, ProjectiveSets, scattered
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.subsets import LARGEST_FLAGS, happens, uniform_below, uniform_subsets, with_own
from extremal.release.sampling.words import Words, WordSource, of_values

MOST_BITS = 1 << 20  # bits drawn at a time: 8 MB of words
_SPARE = np.uint64(64 - WEIGHT_BITS)


@dataclass(frozen=True, eq=False)
class FromBits:
    """A word for each bit, the bits packed into bytes."""

    structure: IndependentBits

    @property
    def size(self) -> int:
        return (self.structure.r + 7) // 8

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        r = self.structure.r
        out = np.empty((rows.size, self.size), dtype=np.int64)
        at_a_time = max(1, MOST_BITS // r)
        for start in range(0, rows.size, at_a_time):
            x = rows[start : start + at_a_time]
            words: Words = np.empty(x.size * r, dtype=np.uint64)
            of_values(source, slice(start, start + x.size)).fill(words)
            words >>= _SPARE
            bits = (words < np.uint64(self.structure.other)).reshape(x.size, r)
            own = np.arange(x.size) * r + x
            bits[np.arange(x.size), x] = words[own] < np.uint64(self.structure.own)
            out[start : start + x.size] = np.packbits(bits, axis=1)
        return out


@dataclass(frozen=True, eq=False)
class FromHadamard:
    """In the block of the truth a uniform word is moved to the right half by flipping one bit of its line."""

    structure: HadamardSets
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        s = self.structure
        inside = happens(s.inside, rows.size, source)
        block, line = rows % s.blocks, rows // s.blocks + 1
        # Of the m − width/2 reports outside, the first width/2 numbers stand for the other half of the own block.
        place = uniform_below(s.m - s.size, rows.size, source)
        elsewhere = ~inside & (place >= s.size)
        words: Words = np.empty(rows.size, dtype=np.uint64)
        source.fill(words)
        word = (words & np.uint64(s.width - 1)).view(np.int64)
        wrong = (np.bitwise_count(word & line) % 2 == 0) != inside
        word ^= np.where(wrong, line & -line, 0)
        other = place - s.size
        column, shift = other % s.width, other // s.width
        return np.where(elsewhere, (block + 1 + shift) % s.blocks * s.width + column, block * s.width + word)


@dataclass(frozen=True, eq=False)
class FromProjective:
    """All coordinates but one are drawn; the one where the truth has its first digit then decides the product with it.

    Every point off the hyperplane of the truth has one vector whose product with it is 1, and every point in it q − 1
    vectors of product 0: uniform coordinates make uniform points in either.
    """

    structure: ProjectiveSets
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        s = self.structure
        q, t = s.order, s.coordinates
        inside = happens(s.inside, rows.size, source)
        within = 1 + uniform_below(q ** (t - 1) - 1, rows.size, source)  # the vector 0 is no point
        without = uniform_below(q ** (t - 1), rows.size, source)
        free, left = np.where(inside, within, without), s.vectors(rows)
        powers = np.power(q, np.arange(t), dtype=np.int64)
        # The first digit of a point is 1: it stands at the largest power below.
        pivot = powers[np.searchsorted(powers, left, side="right") - 1]
        right = free // pivot * pivot * q + free % pivot  # a digit 0 is put in there
        product = np.zeros(rows.size, dtype=np.int64)
        for power in powers.tolist():
            product += (left // power % q) * (right // power % q)
        right += (~inside - product) % q * pivot
        # Divide by the first digit.
        first = right // powers[np.searchsorted(powers, right, side="right") - 1]
        scale = np.array([0, *(pow(d, -1, q) for d in range(1, q))], dtype=np.int64)[first]
        scaled = np.zeros(rows.size, dtype=np.int64)
        for power in powers.tolist():
            scaled += (right // power % q * scale % q) * power
        return s.numbers(scaled)


@dataclass(frozen=True, eq=False)
class FromHashes:
    """A uniform seed, then the bucket of the truth or a uniform other one."""

    structure: HashedSets
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        g = self.structure.buckets
        a, b = (uniform_below(HASH_PRIME, rows.size, source) for _ in range(2))
        own = (a * scattered(rows) + b) % HASH_PRIME % g
        moved = 1 + uniform_below(g - 1, rows.size, source)
        bucket = np.where(happens(self.structure.inside, rows.size, source), own, (own + moved) % g)
        return (a * HASH_PRIME + b) * g + bucket


@dataclass(frozen=True, eq=False)
class FromBloom:
    """A uniform cohort, the kept bits of its filter, and those that are shown of them."""

    structure: BloomBits

    @property
    def size(self) -> int:
        return (self.structure.cohort_bits + self.structure.bits + 7) // 8

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        out = np.empty((rows.size, self.size), dtype=np.int64)
        at_a_time = max(1, MOST_BITS // self.structure.bits)
        for start in range(0, rows.size, at_a_time):
            here = slice(start, start + at_a_time)
            own = of_values(source, here)
            cohort, kept = kept_filters(self.structure, rows[here], own)
            out[here] = packed_filters(self.structure, cohort, shown_filters(self.structure, kept, own))
        return out


Bits = npt.NDArray[np.bool_]


def kept_filters(structure: BloomBits, rows: Codes, source: WordSource) -> tuple[Codes, Bits]:
    """A cohort for each row, and its permanently randomised filter."""
    cohort = uniform_below(structure.cohorts, rows.size, source)
    words: Words = np.empty(rows.size * structure.bits, dtype=np.uint64)
    source.fill(words)
    words >>= _SPARE
    table = words.reshape(rows.size, structure.bits)
    bits = table < np.uint64(structure.other)
    own = (np.arange(rows.size)[:, None], structure.places(rows, cohort))
    bits[own] = table[own] < np.uint64(structure.own)
    return cohort, bits


def shown_filters(structure: BloomBits, kept: Bits, source: WordSource) -> Bits:
    """An instantaneous report of kept filters; they themselves where there is no second level."""
    if not structure.zero and structure.one == structure.permanent.one:
        return kept
    words: Words = np.empty(kept.size, dtype=np.uint64)
    source.fill(words)
    table = (words >> _SPARE).reshape(kept.shape)
    return np.asarray(np.where(kept, table < np.uint64(structure.one), table < np.uint64(structure.zero)))


def packed_filters(structure: BloomBits, cohort: Codes, bits: Bits) -> Codes:
    """The bytes of reports: the cohort, then the filter, the first bit the highest."""
    places = np.arange(structure.cohort_bits - 1, -1, -1)
    return np.packbits(np.column_stack([cohort[:, None] >> places & 1, bits]).astype(np.bool_), axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FromGroupedSets:
    """A word and a number below n_g for the type, then Floyd's steps group by group; the bits packed into bytes.

    For a row of group g the type of the set and whether it holds the row come together, with integer weights over
    n_g·2^62: the place is a number below n_g and 62 bits. Given that, every group's part is a uniform subset of the
    right size, in the own group one of the others.

    The words tell nothing beyond the type, which the report shows: for every group a number below n is drawn, and then
    for each group, of t members in n, numbers below n − t, n − t + 1, …, n. A part of t of n leaves the first of them,
    one of t of the n − 1 others the last, one of t − 1 of the others both.
    """

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
        words: Words = np.empty(x.size, dtype=np.uint64)
        source.fill(words)
        words >>= _SPARE
        outcome = np.empty(x.size, dtype=np.int64)
        for g, (high, low) in enumerate(self._sums):
            here = np.flatnonzero(own == g)
            whole = uniform_below(int(structure.sizes[g]), x.size, source)[here, None]
            passed = (whole > high) | ((whole == high) & (words[here, None] >= low))
            outcome[here] = passed.sum(axis=1)
        holds, counts = outcome < kinds, np.array(structure.types)[outcome % kinds]
        flags = np.zeros((x.size, structure.r), dtype=np.bool_)
        for g, members in enumerate(structure.members):
            here, elsewhere = np.flatnonzero(own == g), np.flatnonzero(own != g)
            n, t, owned = members.size, counts[:, g], of_values(source, here)
            others = uniform_subsets(n - 1, t[here] - holds[here], owned, np.minimum(t[here], n - 1))
            uniform_below(n, here.size, owned)  # left
            flags[np.ix_(here, members)] = with_own(others, self._place[x[here]], holds[here])
            rest, steps = of_values(source, elsewhere), np.minimum(t[elsewhere] + 1, n)
            flags[np.ix_(elsewhere, members)] = uniform_subsets(n, t[elsewhere], rest, steps)
        return flags
