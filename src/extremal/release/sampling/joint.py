"""Exact draws of one report for several questions: an assignment, a coin for each of its blocks, then every report.

The assignment and the coins are compared with the first 53 bits of a word. Noise and truth are both drawn for every
asked question and one of the two is kept, so that the words that are read do not depend on how a coin falls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import comb, prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge
from extremal.mechanism.structures.joint import COIN_BITS, Decomposed, Family, JointBlocks
from extremal.release.sampling.loops import Codes, Loops
from extremal.release.sampling.subsets import uniform_below, uniform_subsets, with_own
from extremal.release.sampling.words import Words, WordSource, of_values

_SPARE = np.uint64(64 - COIN_BITS)
MOST_NUMBERED = 1 << 62  # reports that a whole number of 64 bits can stand for


@dataclass(frozen=True, eq=False)
class Drawn:
    """The reports to one question of those who were asked it in one way.

    Attributes:
        assignment: its number.
        question: its number.
        family, coin: the kind.
        places: of the people.
        reports: a number for each, or for sets of several answers a row of their members, increasing.
    """

    assignment: int
    question: int
    family: int
    coin: int
    places: Codes
    reports: Codes


def draw_records(structure: JointBlocks, records: Codes, source: WordSource) -> Iterator[Drawn]:
    """The reports on records (n×J codes of answers), by assignment and question; each person's are independent of all
    others'."""
    sums = np.array([*accumulate(a.weight for a in structure.assignments)], dtype=np.uint64)
    chosen = np.searchsorted(sums, _bits(len(records), source), side="right")
    for number in np.unique(chosen).tolist():
        places = np.flatnonzero(chosen == number)
        yield from _assigned(structure, number, records, places, of_values(source, places))


def _assigned(
    structure: JointBlocks, assignment: int, records: Codes, places: Codes, source: WordSource
) -> Iterator[Drawn]:
    for block in structure.assignments[assignment].blocks:
        truthful = _bits(places.size, source) < np.uint64(block.coin)
        for j, number in zip(block.questions, block.families, strict=True):
            reports = _report(structure.families[j][number], records[places, j], truthful, source)
            yield Drawn(assignment, j, number, block.coin, places, reports)


def _bits(count: int, source: WordSource) -> Words:
    """The first 53 bits of a word for each."""
    words: Words = np.empty(count, dtype=np.uint64)
    source.fill(words)
    return words >> _SPARE


def _report(family: Family, x: Codes, truthful: npt.NDArray[np.bool_], source: WordSource) -> Codes:
    if isinstance(family, Decomposed):
        return _from_decomposed(family, x, truthful, source)
    k, d = family.k, family.size
    if d == 1:
        return np.where(truthful, x, uniform_below(k, x.size, source))
    noise = uniform_subsets(k, np.full(x.size, d), source)
    others = uniform_subsets(k - 1, np.full(x.size, d - 1), source)
    flags = np.where(truthful[:, None], with_own(others, x, np.ones(x.size, dtype=np.bool_)), noise)
    return np.nonzero(flags)[1].reshape(x.size, d)


def _from_decomposed(family: Decomposed, x: Codes, truthful: npt.NDArray[np.bool_], source: WordSource) -> Codes:
    """By inversion of the partial sums of the base, and of the row of the answer."""
    noise = np.searchsorted(np.cumsum(family.low), _whole_below(int(family.low.sum()), x.size, source), side="right")
    place = _whole_below(int(family.excess[0].sum()), x.size, source)
    truth, sums = np.empty(x.size, dtype=np.int64), np.cumsum(family.excess, axis=1)
    for answer in np.unique(x).tolist():
        here = x == answer
        truth[here] = np.searchsorted(sums[answer], place[here], side="right")
    return np.where(truthful, truth, noise)


def _whole_below(bound: int, count: int, source: WordSource) -> Codes:
    """Integers exactly uniform below any bound up to 2^62: as many bits as it has, and again where they are too
    large."""
    out, waiting, own = np.empty(count, dtype=np.int64), np.arange(count), source
    shift = np.uint64(64 - (bound - 1).bit_length()) if bound > 1 else np.uint64(63)
    while waiting.size:
        words: Words = np.empty(waiting.size, dtype=np.uint64)
        own.fill(words)
        found = (words >> shift).view(np.int64) if bound > 1 else np.zeros(waiting.size, dtype=np.int64)
        good = found < bound
        out[waiting[good]] = found[good]
        waiting = waiting[~good]
        own = of_values(source, waiting)
    return out


@dataclass(frozen=True, eq=False)
class FromJoint:
    """Records and reports by number: the last question counts fastest, assignments stand one after the other."""

    structure: JointBlocks
    size: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.structure.m > MOST_NUMBERED:
            raise TooLarge(
                "reports beyond 2^62 have no number",
                parameter="m",
                value=self.structure.m,
                hint="Use the questionnaire.",
            )

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        structure = self.structure
        records = np.column_stack(np.unravel_index(rows, structure.sizes)).astype(np.int64)
        number, first = np.zeros(rows.size, dtype=np.int64), np.zeros(rows.size, dtype=np.int64)
        for drawn in draw_records(structure, records, source):
            family = structure.families[drawn.question][drawn.family]
            ranks = drawn.reports if drawn.reports.ndim == 1 else ranks_of(drawn.reports, family.k)
            number[drawn.places] = number[drawn.places] * family.reports + ranks
            first[drawn.places] = self._first[drawn.assignment]
        return number + first

    @cached_property
    def _first(self) -> list[int]:
        """The number of the first report of each assignment."""
        counts = [prod(f.reports for b in a.blocks for f in self.structure.of(b)) for a in self.structure.assignments]
        return [*accumulate(counts, initial=0)]


def ranks_of(members: Codes, k: int) -> Codes:
    """The place of each set (a row of increasing codes) among all of its size in lexicographic order."""
    size = members.shape[1]
    table = np.array([[comb(n, d) for d in range(size + 1)] for n in range(k + 1)], dtype=np.int64)
    # Counted from the end: the sets after this one.
    after = sum(table[k - 1 - members[:, i], size - i] for i in range(size))
    return np.asarray(table[k, size] - 1 - after, dtype=np.int64)
