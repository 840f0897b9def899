"""Two distributions as a curve: symbols in the order of their likelihood ratio, and sums over contiguous blocks of
them.

An optimal mechanism for any f-divergence cuts the symbols, sorted by P₀/P₁, into contiguous blocks and applies
randomised response to the block (E. Ghazi, Sort, Partition, Randomize, arXiv 2606.07443, 2026). So all that matters is
the Lorenz curve of the pair. Its nodes are kept in three coordinates, each accurate where it is small: sums of P₀ from
the left, sums of P₁ from the right, sums of P₀ − P₁ from the left. Hypotheses may differ by less than a float can
tell: ratios are compared and sums are formed in the integers that the two priors hold.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from extremal.utility import Divergence

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Integers = npt.NDArray[np.object_]  # of any size

KEY_BITS = 62  # of a ratio in an int64, so that ties are rare


class Nodes(NamedTuple):
    """Points on (or around) the curve: P₀ to the left, P₁ to the right, P₀ − P₁ to the left."""

    left0: Floats
    right1: Floats
    gap: Floats

    def at(self, where: Indices) -> Nodes:
        return Nodes(self.left0[where], self.right1[where], self.gap[where])


class RatioShares(NamedTuple):
    """P₀/(P₀+P₁), P₁/(P₀+P₁) and (P₀−P₁)/(P₀+P₁) of each group of symbols."""

    share0: Floats
    share1: Floats
    tilt: Floats

    def at(self, where: Indices) -> RatioShares:
        return RatioShares(self.share0[where], self.share1[where], self.tilt[where])


class LorenzCurve(Protocol):
    """What a search for the best partition needs of a pair: groups of symbols in order of ratio.

    Attributes:
        nodes: the n + 1 nodes between the groups.
        low, high: the shares at the smallest and at the largest ratio of each group; the same when it has one ratio.
    """

    @property
    def n(self) -> int: ...
    @property
    def nodes(self) -> Nodes: ...
    @property
    def low(self) -> RatioShares: ...
    @property
    def high(self) -> RatioShares: ...


@dataclass(frozen=True, eq=False)
class Lorenz:
    """The sorted symbols of a pair.

    Attributes:
        order: the symbols (those with P₀ = P₁ = 0 left out), by increasing ratio; equal ratios adjacent.
        group: for each of them the number of its ratio, 0..n−1; equal ratios share one.
        nodes: the n + 1 nodes between the groups.
        share0, share1, tilt: P₀/(P₀+P₁), P₁/(P₀+P₁) and (P₀−P₁)/(P₀+P₁) of each group.
    """

    order: Indices
    group: Indices
    nodes: Nodes
    share0: Floats
    share1: Floats
    tilt: Floats

    @property
    def n(self) -> int:
        """Number of different ratios."""
        return int(self.share0.size)

    @property
    def low(self) -> RatioShares:
        return RatioShares(self.share0, self.share1, self.tilt)

    high = low

    @classmethod
    def of(cls, utility: Divergence) -> Lorenz:
        """In integers: ratios are ordered and merged by cross products, sums are exact and rounded once."""
        p0, p1 = utility.pair.p0, utility.pair.p1
        u, v = _whole(p0.weights), _whole(p1.weights)
        used = np.flatnonzero((u + v).astype(bool)).astype(np.intp)
        u, v = u[used], v[used]
        more = p1.total.bit_length() - p0.total.bit_length()  # both of one size: keys then tell ratios apart
        by_ratio = order_of_ratios(u << max(0, more), v << max(0, -more))
        u, v = u[by_ratio], v[by_ratio]
        fresh = np.concatenate(([True], (u[1:] * v[:-1] != u[:-1] * v[1:]).astype(bool)))
        first = np.flatnonzero(fresh)
        u, v = np.add.reduceat(u, first) * p1.total, np.add.reduceat(v, first) * p0.total
        whole = p0.total * p1.total
        left0, left1, zero = np.cumsum(u), np.cumsum(v), _whole([0])
        nodes = Nodes(
            _rounded(np.concatenate([zero, left0]), whole),
            _rounded(whole - np.concatenate([zero, left1]), whole),
            _rounded(np.concatenate([zero, left0 - left1]), whole),
        )
        group = (np.cumsum(fresh) - 1).astype(np.intp)
        return cls(used[by_ratio], group, nodes, *(_rounded(part, u + v) for part in (u, v, u - v)))


def _whole(numbers: Sequence[int]) -> Integers:
    return np.array(numbers, dtype=object)


def _rounded(numerators: Integers, denominators: Any) -> Floats:
    """Quotients of integers, each rounded once."""
    return np.asarray(numerators / denominators, dtype=np.float64)


def order_of_ratios(u: Integers, v: Integers) -> Indices:
    """The symbols by increasing u/v, exactly: by a key of 62 bits, and by cross products where keys are equal."""
    key = ((u << KEY_BITS) // (u + v)).astype(np.int64)
    order = np.argsort(key, kind="stable").astype(np.intp)
    tied = np.flatnonzero(np.diff(key[order]) == 0)
    if tied.size and (u[order[tied]] * v[order[tied + 1]] != u[order[tied + 1]] * v[order[tied]]).any():

        def sign(a: int, b: int) -> int:
            difference = u[a] * v[b] - u[b] * v[a]
            return int(difference > 0) - int(difference < 0)

        for run in np.split(np.arange(order.size), np.flatnonzero(np.diff(key[order])) + 1):
            if run.size > 1:
                order[run] = sorted(order[run].tolist(), key=functools.cmp_to_key(sign))
    return order


def from_left(values: Floats) -> Floats:
    """Partial sums from 0, accumulated in extended precision."""
    return np.concatenate(([0.0], np.cumsum(values, dtype=np.longdouble).astype(np.float64)))


def closed(sums: Floats) -> Floats:
    """Both distributions sum to 1, so the curve ends where it began."""
    sums[-1] = 0.0
    return sums


@dataclass(frozen=True, eq=False)
class BlockValue:
    """μ of a block of symbols: the value of the staircase column that is high on it, divided by e^ε so that nothing
    overflows.

    With s = e^−ε and w = 1 − s the column is s + w·1_B; its two report probabilities are s + w·P₀(B) and s + w·P₁(B).
    """

    utility: Divergence
    low: float
    step: float

    @classmethod
    def of(cls, utility: Divergence, epsilon: float) -> BlockValue:
        return cls(utility, math.exp(-epsilon), -math.expm1(-epsilon))

    def between(self, start: Nodes, stop: Nodes) -> Floats:
        """μ of the block from each start node to each stop node (broadcast)."""
        m0 = self.low + self.step * np.maximum(stop.left0 - start.left0, 0.0)
        m1 = self.low + self.step * np.maximum(start.right1 - stop.right1, 0.0)
        return self.utility.perspective(m0, m1, self.step * (stop.gap - start.gap))

    def total(self, nodes: Nodes, cuts: Indices) -> float:
        """The value of randomised response on the blocks between consecutive cuts."""
        if cuts.size < 3:
            return 0.0
        values = self.between(nodes.at(cuts[:-1]), nodes.at(cuts[1:]))
        return math.fsum(values) / (1 + (cuts.size - 2) * self.low)

    def rows(self, nodes: Nodes) -> list[Floats]:
        """rows[j][i] = μ of the block from node i to node j, for i < j; computed in chunks of about half a million."""
        count = nodes.left0.size
        rows: list[Floats] = [np.empty(0)]
        chunk = max(1, min(500_000 // count, count // 4 + 16))  # half of the last chunk is for nothing
        for first in range(1, count, chunk):
            last = min(count, first + chunk)
            start = Nodes(*(c[None, :last] for c in nodes))
            stop = Nodes(*(c[first:last, None] for c in nodes))
            block = self.between(start, stop)
            rows += [block[j - first, :j] for j in range(first, last)]
        return rows
