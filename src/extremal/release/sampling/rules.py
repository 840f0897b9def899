"""Exact draws for structures that are rules: sets that the inputs choose, independent bits, sets by their counts.

A report from the set of the truth with probability inside/2^62, decided by the first 62 bits of a word, and then a
uniform one of the set, or of its complement. Uniform means exactly: words of bits by masks, other numbers by exact
rejection, and a point off a hyperplane by trying again.
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
    """A uniform vector is moved into the hyperplane of the truth through the first coordinate, or kept out of it."""

    structure: ProjectiveSets
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        s = self.structure
        inside = happens(s.inside, rows.size, source)
        out = np.empty(rows.size, dtype=np.int64)
        waiting = np.arange(rows.size)
        # The vector 0 is no point: it is drawn again, and so is one in the hyperplane if it must not.
        while waiting.size:
            found, good = self._try(rows[waiting], inside[waiting], of_values(source, waiting))
            out[waiting[good]] = found[good]
            waiting = waiting[~good]
        return out

    def _try(
        self, rows: Codes, inside: npt.NDArray[np.bool_], source: WordSource
    ) -> tuple[Codes, npt.NDArray[np.bool_]]:
        s = self.structure
        q, t = s.order, s.coordinates
        left, right = s.vectors(rows), uniform_below(q**t, rows.size, source)
        # The first digit of a point is 1: it stands at the largest power below.
        powers = np.power(q, np.arange(t), dtype=np.int64)
        pivot = powers[np.searchsorted(powers, left, side="right") - 1]
        product = np.zeros(rows.size, dtype=np.int64)
        for power in powers.tolist():
            product += (left // power % q) * (right // power % q)
        product %= q
        # Inside: the coordinate of the pivot is changed so that the product is 0; all vectors there are equally likely.
        digit = right // pivot % q
        right = np.where(inside, right + ((digit - product) % q - digit) * pivot, right)
        good = (right > 0) & (inside | (product != 0))
        # Divide by the first digit: each point of the projective space has q − 1 vectors.
        first = right // powers[np.searchsorted(powers, np.maximum(right, 1), side="right") - 1]
        inverses = np.array([0, *(pow(d, -1, q) for d in range(1, q))], dtype=np.int64)
        scale = inverses[np.where(good, first, 0)]
        scaled = np.zeros(rows.size, dtype=np.int64)
        for power in powers.tolist():
            scaled += (right // power % q * scale % q) * power
        return s.numbers(np.maximum(scaled, 1)), good


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
