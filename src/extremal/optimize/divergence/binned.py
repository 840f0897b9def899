"""Two distributions on millions of symbols as a curve of bins: nothing is sorted but the few symbols that matter.

All cuts of an optimal partition lie at likelihood ratios between e^−ε and e^ε. Symbols are binned there by the leading
bits of P₀/P₁, what lies beyond goes into one bin on either side, and each bin is a group between the ratios at its
ends. The polygon around that curve bounds every partition; where its best paths turn inside a bin, the symbols of that
bin are fetched, sorted and put in its place, until no path does. Three passes over the symbols, a few numbers for each
bin.

Sums are in floats: this is a search, and the kernel adds up again in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.optimize.divergence.lorenz import BlockValue, Floats, Indices, Nodes, RatioShares, closed, from_left
from extremal.optimize.divergence.polygon import Outcome
from extremal.optimize.divergence.polygon import solve as solve_polygon
from extremal.utility import Divergence

Keys = npt.NDArray[np.int32]

BINS = 1 << 14  # about; by leading bits
CHUNK = 1 << 17  # symbols at a time: a megabyte of floats, which caches hold
BESIDE = 3  # bins opened on either side of one that a path turns in
MOST_OPENED = 0.25  # share of the symbols: beyond, sorting is no worse
MOST_ROUNDS = 12  # a guard: each opens more bins, and MOST_OPENED ends them earlier
SMALLEST_END, LARGEST_END, APART = 1e-199, 1e199, 1e-12  # the kernel takes ends between, and so far apart
SHARED = 1 / 64  # two ends so close, in widths of both cells beside them, are made one: the polygon turns less often
NEARLY_EQUAL = 1.1  # between the largest ratio and the smallest: beyond, sums may be subtracted
OUTWARD = 1e-9  # ends of the range are this much outside


@dataclass(frozen=True, eq=False)
class RatioBins:
    """The bin of each symbol, and what each bin holds.

    Attributes:
        key: of each symbol.
        edges: the smallest ratio of each bin, and at the end the largest of all.
        sums: P₀, P₁ and P₀ − P₁ of each bin.
    """

    key: Keys
    edges: Floats
    sums: tuple[Floats, Floats, Floats]

    @classmethod
    def of(cls, utility: Divergence, epsilon: float) -> RatioBins:
        p0, p1 = utility.p0, utility.p1
        smallest, largest = _range(p0, p1)
        low = max(math.exp(-epsilon), smallest) * (1 - OUTWARD)
        high = max(min(math.exp(epsilon), largest), low) * (1 + OUTWARD)
        shift, first, count = _keys(low, high)
        key = np.empty(p0.size, dtype=np.int32)
        nearly_equal = largest < NEARLY_EQUAL * smallest
        sums = [np.zeros(count + 2) for _ in range(2 + nearly_equal)]
        for start in range(0, p0.size, CHUNK):
            a, b = p0[start : start + CHUNK], p1[start : start + CHUNK]
            found = np.clip((_ratios(a, b).view(np.int64) >> shift) - (first - 1), 0, count + 1).astype(np.int32)
            key[start : start + CHUNK] = found
            for total, part in zip(sums, (a, b, a - b) if nearly_equal else (a, b), strict=True):
                total += np.bincount(found, weights=part, minlength=count + 2)
        inner = ((np.arange(count + 1, dtype=np.int64) + first) << shift).view(np.float64)
        edges = np.concatenate([[min(smallest, inner[0])], inner, [max(largest, inner[-1])]])
        return cls(key, edges, (sums[0], sums[1], sums[2] if nearly_equal else sums[0] - sums[1]))

    def members(self, bins: Indices) -> Indices:
        """The symbols of some bins."""
        wanted = np.zeros(self.edges.size - 1, dtype=bool)
        wanted[bins] = True
        parts = [
            np.flatnonzero(wanted[self.key[start : start + CHUNK]]) + start for start in range(0, self.key.size, CHUNK)
        ]
        return np.concatenate(parts)


def _ratios(a: Floats, b: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        return np.asarray(a / (b + 0.0))


def _range(p0: Floats, p1: Floats) -> tuple[float, float]:
    smallest, largest = np.inf, 0.0
    for start in range(0, p0.size, CHUNK):
        ratio = _ratios(p0[start : start + CHUNK], p1[start : start + CHUNK])
        smallest = min(smallest, float(np.fmin.reduce(ratio)))
        largest = max(largest, float(np.fmax.reduce(ratio)))
    return smallest, largest


def _keys(low: float, high: float) -> tuple[int, int, int]:
    """How far to shift the bits of a float, the first key, and how many keys there are between two floats."""
    first, last = (int(np.array([end]).view(np.int64)[0]) for end in (low, high))
    shift = max(0, (last - first).bit_length() - BINS.bit_length() + 1)
    return shift, first >> shift, (last >> shift) - (first >> shift) + 1


@dataclass(frozen=True, eq=False)
class BinnedCurve:
    """Bins, some of them opened, as groups in order of ratio.

    Attributes:
        bins: the bins.
        opened: the symbols that are groups of their own, by ratio (equal ratios share a group).
        group: the group of each of them.
        of_bin: the group of each bin that is not opened; for an opened one that of its first symbol.
    """

    bins: RatioBins
    opened: Indices
    group: Indices
    of_bin: Indices
    nodes: Nodes
    low: RatioShares
    high: RatioShares

    @property
    def n(self) -> int:
        return int(self.low.tilt.size)

    @classmethod
    def of(cls, utility: Divergence, bins: RatioBins, opened: npt.NDArray[np.bool_]) -> BinnedCurve:
        symbols = bins.members(np.flatnonzero(opened)) if opened.any() else np.empty(0, dtype=np.intp)
        a, b = utility.p0[symbols], utility.p1[symbols]
        symbols, a, b = symbols[a + b > 0], a[a + b > 0], b[a + b > 0]
        ratio, key = _ratios(a, b), bins.key[symbols]
        order = np.lexsort((ratio, key))
        symbols, a, b, ratio, key = symbols[order], a[order], b[order], ratio[order], key[order]
        fresh = np.ones(symbols.size, dtype=bool)
        fresh[1:] = ratio[1:] > ratio[:-1]
        own = np.cumsum(fresh) - 1
        mass = [np.bincount(own, weights=part, minlength=int(fresh.sum())) for part in (a, b, a - b)]
        kept = np.flatnonzero(~opened & (bins.sums[0] + bins.sums[1] > 0))
        position = np.argsort(np.concatenate([kept, key[fresh]]), kind="stable")
        place = np.empty(position.size, dtype=np.intp)
        place[position] = np.arange(position.size)
        sums = [np.concatenate([of[kept], part])[position] for of, part in zip(bins.sums, mass, strict=True)]
        low = np.concatenate([bins.edges[kept], ratio[fresh]])[position]
        high = np.concatenate([bins.edges[kept + 1], ratio[fresh]])[position]
        of_bin = np.searchsorted(np.concatenate([kept, key[fresh]])[position], np.arange(opened.size))
        return cls(bins, symbols, place[kept.size :][own], of_bin, _nodes(*sums), _shares(low), _shares(high))

    def ends(self, edges: Indices) -> list[float]:
        """Ratios around the groups on either side of the inner edges, and around all: what a proof by ratios holds."""
        below, above = self.high.at(edges[1:-1] - 1), self.low.at(edges[1:-1])
        last, first = below.share0 / below.share1 * (1 + APART), above.share0 / above.share1 * (1 - APART)
        wide = np.minimum(self._width(edges[:-2], edges[1:-1]), self._width(edges[1:-1], edges[2:]))
        close = first <= last * (1 + APART + SHARED * wide)
        middle = np.sqrt(last) * np.sqrt(first)
        inner = np.where(close, np.stack([middle, middle]), np.stack([last, first])).T.ravel()
        kept: list[float] = []
        for end in [self.bins.edges[0] * (1 - APART), *inner.tolist(), self.bins.edges[-1] * (1 + APART)]:
            if SMALLEST_END < end < LARGEST_END and (not kept or end > kept[-1] * (1 + APART)):
                kept.append(float(end))
        return kept

    def _width(self, start: Indices, stop: Indices) -> Floats:
        """By how much the ratio grows, relatively, over some groups."""
        low, high = self.low.at(start), self.high.at(stop - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(high.share0 / high.share1 * low.share1 / low.share0 - 1, nan=0.0, posinf=1e300)

    def blocks(self, cuts: Indices) -> Indices:
        """For each symbol the block between cuts that it lies in."""
        of_bin = np.clip(np.searchsorted(cuts, self.of_bin, side="right") - 1, 0, cuts.size - 2)
        found = np.empty(self.bins.key.size, dtype=np.intp)
        for start in range(0, found.size, CHUNK):
            found[start : start + CHUNK] = of_bin[self.bins.key[start : start + CHUNK]]
        found[self.opened] = np.searchsorted(cuts, self.group, side="right") - 1
        return found


def _nodes(p0: Floats, p1: Floats, difference: Floats) -> Nodes:
    """Sums of groups as nodes of a curve that ends at 1: what the floats of the two priors add up to is divided out."""
    total0, total1 = math.fsum(p0), math.fsum(p1)
    gap = difference - p0 * (total0 - 1) + p1 * (total1 - 1)
    left, right = from_left(p0) / total0, from_left(p1[::-1])[::-1] / total1
    return Nodes(left, right, closed(from_left(gap)))


def _shares(ratio: Floats) -> RatioShares:
    with np.errstate(invalid="ignore"):
        share0 = np.where(np.isinf(ratio), 1.0, ratio / (1 + ratio))
        tilt = np.where(np.isinf(ratio), 1.0, (ratio - 1) / (ratio + 1))
    return RatioShares(share0, 1 / (1 + ratio), tilt)


def solve(
    utility: Divergence, value: BlockValue, epsilon: float, tolerance: float, stop_early: Callable[[], bool]
) -> tuple[BinnedCurve, Outcome] | None:
    """The best partition, and the curve whose edges prove it; None where too many symbols would have to be sorted."""
    bins = RatioBins.of(utility, epsilon)
    opened = np.zeros(bins.edges.size - 1, dtype=bool)
    best: Any = None
    for _ in range(MOST_ROUNDS):
        curve = BinnedCurve.of(utility, bins, opened)
        if curve.opened.size > MOST_OPENED * utility.k:
            return None
        start = None if best is None else _moved(best[0], best[1], curve)
        outcome = solve_polygon(curve, value, tolerance, stop_early, start)
        best = curve, outcome
        if not outcome.within.size or outcome.bound <= outcome.worth * (1 + tolerance) or stop_early():
            break
        turned = np.flatnonzero(np.isin(curve.of_bin, outcome.within) & ~opened)
        near = np.unique(np.clip(turned[:, None] + np.arange(-BESIDE, BESIDE + 1), 0, opened.size - 1))
        opened[near] = True
    return best  # type: ignore[no-any-return]


def _moved(before: BinnedCurve, outcome: Outcome, curve: BinnedCurve) -> Indices:
    """The cuts of an outcome on another curve of the same bins: where as much mass lies to the left."""
    first, second = (at.left0 - at.right1 for at in (before.nodes, curve.nodes))
    found = np.searchsorted(second, first[outcome.cuts[1:-1]])
    return np.unique(np.concatenate([[0], np.minimum(found, curve.n), [curve.n]])).astype(np.intp)
