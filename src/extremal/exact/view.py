"""How a check reads a mechanism: exact columns and exact rows, never a k×m matrix.

Inputs that share a row form a *row class*; a mechanism on a million symbols may have three. A `Column` gives, for one
output, its exact weights as groups (weight, set of row classes). Privacy notions read only this, so that a randomised
response on 10,000 symbols is checked from two numbers an output, and a partition of a million symbols from its blocks.

Weights are integers over `view.denominator`; within a column they sum to nothing in particular, along a row to the
denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np

from extremal.exact.weights import Indices, Weights


@dataclass(frozen=True, slots=True)
class IndexSet:
    """A set of indices as sorted, disjoint, non-touching half-open runs.

    >>> IndexSet.of([4, 5, 1]).runs, len(IndexSet.of([4, 5, 1]).complement(7))
    (((1, 2), (4, 6)), 4)
    """

    runs: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, indices: Sequence[int] | Indices) -> IndexSet:
        array = np.unique(np.asarray(indices, dtype=np.intp))
        if not array.size:
            return cls(())
        breaks = np.flatnonzero(np.diff(array) > 1)
        starts = array[np.concatenate(([0], breaks + 1))]
        stops = array[np.concatenate((breaks, [array.size - 1]))] + 1
        return cls(tuple(zip(starts.tolist(), stops.tolist(), strict=True)))

    @classmethod
    def window(cls, start: int, length: int, size: int) -> IndexSet:
        """`length` consecutive indices from `start`, cyclically among `size`."""
        stop = start + length
        if stop <= size:
            return cls(((start, stop),))
        return cls(((0, stop - size), (start, size))) if stop - size < start else cls(((0, size),))

    def complement(self, size: int) -> IndexSet:
        edges = [0, *(edge for run in self.runs for edge in run), size]
        return IndexSet(tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b))

    def indices(self) -> Indices:
        return (
            np.concatenate([np.arange(a, b, dtype=np.intp) for a, b in self.runs])
            if self.runs
            else np.empty(0, np.intp)
        )

    def total(self, prefix: Sequence[int]) -> int:
        """The sum over the set of the numbers whose prefix sums (from 0) are given."""
        return sum(prefix[b] - prefix[a] for a, b in self.runs)

    def __len__(self) -> int:
        return sum(b - a for a, b in self.runs)


Group = tuple[int, IndexSet]


@dataclass(frozen=True, slots=True)
class Column:
    """One output's exact weights: `groups` of (weight, row classes), weights strictly increasing, sets non-empty and
    covering.

    An `orbit` stands for all columns that arise from it by permuting the row classes (subset selection: every subset of
    a size), or by permuting them `within` each of these sets of row classes (disjoint and covering) where there are
    some; it has two groups, and only how many rows of each set they have means something. One that is a `bound` is not
    itself among the columns: they all have its two weights, but on sets of other sizes, or on some sets of a size only.
    A ratio of two weights is that of the columns, a ratio to a mean of weights is at least theirs, and nothing else may
    be read.
    """

    output: int
    groups: tuple[Group, ...]
    orbit: bool = False
    bound: bool = False
    within: tuple[IndexSet, ...] = ()

    @property
    def smallest(self) -> int:
        return self.groups[0][0]

    @property
    def largest(self) -> int:
        return self.groups[-1][0]

    def weighted_sum(self, prefix: Sequence[int]) -> int:
        """Σ_x w_x·q_x for the row-class weights w whose prefix sums are given."""
        return sum(value * members.total(prefix) for value, members in self.groups if value)

    def arranged(self, weights: Sequence[int], occurring: Sequence[int] | None = None) -> tuple[Column, Column]:
        """The columns with the smallest and the largest Σ w·q: the column itself twice, or the two extremes of an
        orbit.

        In the smallest the large weights meet the low value, but some row that can occur meets the high one (and in the
        largest some such row the low one): a row that cannot occur does not witness a ratio. Rows that can occur are
        those with `occurring` above 0; the rows of positive weight when it is not given. In a class of priors a row may
        occur under one prior and have no weight under another, and then witnesses the ratio all the same.
        """
        if not self.orbit:
            return self, self
        (low, _), (high, _), k = *self.groups, len(weights)
        parts, seen = self.parts(k), weights if occurring is None else occurring
        light = _lightest(parts, weights, seen)
        heavy = _lightest([(rows, len(rows) - size) for rows, size in parts], weights, seen).complement(k)
        least, greatest = (Column(self.output, ((low, s.complement(k)), (high, s))) for s in (light, heavy))
        return least, greatest

    def parts(self, rows: int) -> list[tuple[list[int], int]]:
        """The sets of row classes that an orbit permutes, each with how many of them have the larger weight."""
        if not self.within:
            return [(list(range(rows)), len(self.groups[-1][1]))]
        members = self.groups[-1][1].indices()
        return [(part.tolist(), int(np.isin(part, members).sum())) for part in (s.indices() for s in self.within)]


def _lightest(parts: list[tuple[list[int], int]], weights: Sequence[int], occurring: Sequence[int]) -> IndexSet:
    """So many rows of each part, with the least weight, one of them occurring where that can be.

    Rows of positive weight occur. So where none of the chosen ones does, all of them weigh nothing, and the lightest
    row that occurs costs its own weight whichever it replaces.
    """
    ordered = [(sorted(rows, key=weights.__getitem__), size) for rows, size in parts]
    chosen = [order[:size] for order, size in ordered]
    if not any(occurring[x] for rows in chosen for x in rows):
        parts_that_choose = [(i, order) for i, (order, size) in enumerate(ordered) if size]
        witnesses = [(weights[x], i, x) for i, order in parts_that_choose for x in order if occurring[x]]
        if witnesses:
            _, i, x = min(witnesses)
            chosen[i][-1] = x
    return IndexSet.of([x for rows in chosen for x in rows])


class ExactView(Protocol):
    """What a mechanism offers to checks."""

    @property
    def k(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def denominator(self) -> int: ...
    @property
    def row_classes(self) -> int:
        """How many different rows there are."""
        ...

    @property
    def row_of(self) -> Indices | None:
        """The row class of each input; None when input x has row class x."""
        ...

    def columns(self) -> Iterator[Column]:
        """Every output's column."""
        ...

    def kinds_of_columns(self) -> Iterator[Column]:
        """The columns, but of those that differ only by a permutation of the rows at least one."""
        ...

    def patterns(self) -> Iterator[Column]:
        """The columns, each up to a factor, as checks of one report read them: every pattern that occurs while these
        are few, otherwise orbits that stand for them or bound them."""
        ...

    def two_valued(self) -> tuple[list[Indices], list[int], list[int]] | None:
        """For each output the row classes with the larger of its two weights, and both weights; None where that is not
        stored."""
        ...

    def distinct_rows(self) -> Weights:
        """Each different row once, row_classes × m; raises TooLarge when that does not fit."""
        ...


def by_row_class(weights: Sequence[int], view: ExactView) -> list[int]:
    """Input weights added up within each row class."""
    if view.row_of is None:
        return list(weights)
    sums = [0] * view.row_classes
    for row, weight in zip(view.row_of.tolist(), weights, strict=True):
        sums[row] += weight
    return sums


def prefix_sums(weights: Sequence[int]) -> list[int]:
    """Partial sums starting from 0: what `IndexSet.total` reads."""
    return list(accumulate(weights, initial=0))
