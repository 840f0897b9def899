"""Which sets of symbols are worth more than they cost: max_T φ(P(T)) − a(T), by branch and bound over flips of a core.

Symbols are sorted by price over mass r = a/p. The relaxation fills them in that order until φ' falls to r: that is the
default set. They are then decided in the order of |r − margin|, those with equal r by decreasing mass, so that small
symbols come last and tune the sum. A node is bounded by the concave maximum over the masses that undecided symbols can
still reach, at the best price among them; the clipping to that reach is what closes nodes. All nodes of a level are
arrays, so a level costs a handful of NumPy calls. Equal symbols are one item with a count.

Columns by the dozen come from random sets of light symbols, each completed by the best pair. Near the optimum the
symbols lighter than the contact mass z_c are all worth about their price, and what matters is that a set has mass z_c:
a random set that stops short of it is completed by the one or two symbols, among all pairs, that fit best, in one
vectorised evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Indices
from extremal.optimize.problem import NOT_ZERO
from extremal.utility.curve import Floats, InformationCurve

Counts = npt.NDArray[np.int64]

_FULL = 1e-14  # relative: room for a symbol that rounding took away
_SHAKEN = 1e-12  # relative: how much ties between nodes are shaken
_TIE = 1e-9  # relative: prices closer than this are ties
_LARGEST_POOL = 160  # symbols in the table of pairs: 12,880 of them


@dataclass(frozen=True, eq=False)
class FoundSets:
    """What was found.

    Attributes:
        columns: n × groups counts, the best sets found, best first.
        values: φ − a of each.
        upper: no set has more than this.
        nodes: how many were opened.
    """

    columns: Counts
    values: Floats
    upper: float
    nodes: int


@dataclass
class _Trail:
    """For each level the node from which a node came and how many symbols it decided; for walking back."""

    parents: list[npt.NDArray[np.intp]] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)

    def column(self, level: int, node: int, start: Counts, order: npt.NDArray[np.intp]) -> Counts:
        column = start.copy()
        for d in range(level, -1, -1):
            column[order[d]] = self.counts[d][node]
            node = int(self.parents[d][node])
        return column


class BestSets:
    """Branch and bound for one prior: `mass` and `count` of each group of equal symbols."""

    def __init__(self, curve: InformationCurve, mass: Floats, count: Counts) -> None:
        self.curve, self.mass, self.count = curve, mass, count

    def relaxed(self, ratio: Floats) -> tuple[Counts, float]:
        """The default set and the margin: φ' where the filling by increasing price stops."""
        order = np.argsort(ratio, kind="stable")
        total = (self.mass * self.count)[order]
        before = np.concatenate(([0.0], np.cumsum(total)[:-1]))
        room = self.curve.argmax(ratio[order]) - before
        filled = np.clip(np.floor(room / self.mass[order] * (1 + _FULL)), 0, self.count[order])
        partial = np.flatnonzero(filled < self.count[order])
        start = np.zeros(self.mass.size, dtype=np.int64)
        if not partial.size:
            return self.count.copy(), float(self.curve.slope(1.0))
        first = int(partial[0])
        start[order[: first + 1]] = filled[: first + 1].astype(np.int64)
        margin = float(ratio[order[first]])
        if room[first] <= 0:  # the marginal worth fell below the next price before it was reached
            margin = float(self.curve.slope(before[first]))
        return start, margin

    def best(
        self,
        prices: Floats,
        threshold: float,
        most: int,
        keep: int = 1,
        rng: np.random.Generator | None = None,
        tolerance: float = 0.0,
    ) -> FoundSets:
        """The sets worth more than `threshold`, the best `keep` of them; nodes within `tolerance` of the best are not
        opened.

        At most `most` nodes a level are followed, the most promising ones (ties at random with `rng`); the upper bound
        accounts for the rest.
        """
        ratio = prices / self.mass
        start, margin = self.relaxed(ratio)
        order = self._order(ratio, margin, rng)
        p, r, n, s = self.mass[order], ratio[order], self.count[order], start[order]
        reach = _Reach(self.curve, p, r, n, s)
        z, a = np.array([float(start @ self.mass)]), np.array([float(start @ prices)])
        first = float(self.curve.value(z)[0] - a[0])
        found: list[tuple[float, int, int]] = [(first, -1, 0)]
        best, upper, nodes, trail = first, max(first, threshold), 0, _Trail()
        for level in range(p.size):
            bound = reach.bound(level, z, a)
            closed = bound <= max(threshold, best + tolerance)
            kept = np.flatnonzero(~closed)
            if kept.size < closed.size:
                upper = max(upper, float(bound[closed].max()))
            if kept.size > most:
                noise = 0.0 if rng is None else rng.random(kept.size) * _SHAKEN * abs(best)
                split = np.argpartition(-(bound[kept] + noise), most)
                upper, kept = max(upper, float(bound[kept[split[most:]]].max())), kept[split[:most]]
            if not kept.size:
                break
            nodes += kept.size
            change = np.arange(n[level] + 1)
            parents = np.repeat(kept, change.size)
            counts = np.tile(change, kept.size)
            z, a = z[parents] + (counts - s[level]) * p[level], a[parents] + (counts - s[level]) * (r[level] * p[level])
            trail.parents.append(parents)
            trail.counts.append(counts)
            value = np.where(counts == s[level], -np.inf, self.curve.value(z) - a)
            good = np.argpartition(-value, keep)[:keep] if value.size > keep else np.arange(value.size)
            found += [(float(value[i]), level, int(i)) for i in good.tolist() if value[i] > threshold]
            best = max(best, float(value.max()))
        else:
            upper = max(upper, float((self.curve.value(z) - a).max()))
        found = sorted((f for f in found if f[0] > threshold), reverse=True)[:keep]
        columns = [trail.column(level, node, start, order) for _, level, node in found]
        return FoundSets(
            np.array(columns, dtype=np.int64).reshape(-1, p.size),
            np.array([f[0] for f in found]),
            max(upper, best),
            nodes,
        )

    def _order(self, ratio: Floats, margin: float, rng: np.random.Generator | None) -> npt.NDArray[np.intp]:
        distance = np.floor(
            np.abs(ratio - margin) / (_TIE * (abs(margin) + 1e-6 * float(np.abs(ratio).max()) + NOT_ZERO))
        )
        mass = self.mass if rng is None else self.mass * np.exp(rng.normal(size=self.mass.size))
        return np.lexsort((-mass, distance))


class _Reach:
    """Bounds of nodes from what is still undecided at each level."""

    def __init__(self, curve: InformationCurve, p: Floats, r: Floats, n: Counts, s: Counts) -> None:
        back = slice(None, None, -1)
        self.curve = curve
        self.up_slope = np.minimum.accumulate(np.where(s < n, r, np.inf)[back])[back]
        self.down_slope = np.maximum.accumulate(np.where(s > 0, r, -np.inf)[back])[back]
        self.more = np.cumsum(((n - s) * p)[back])[back]
        self.less = np.cumsum((s * p)[back])[back]
        finite = [np.where(np.isfinite(slope), slope, 0.0) for slope in (self.up_slope, self.down_slope)]
        self.low, self.high = (curve.argmax(slope) for slope in finite)
        self.up_slope, self.down_slope = finite

    def bound(self, level: int, z: Floats, a: Floats) -> Floats:
        y = np.where(z < self.low[level], np.minimum(self.low[level], z + self.more[level]), z)
        y = np.where(z > self.high[level], np.maximum(self.high[level], z - self.less[level]), y)
        moved = np.where(y > z, self.up_slope[level], self.down_slope[level]) * (y - z)
        return np.asarray(self.curve.value(y) - moved - a)


class Completions:
    """Sets of symbols from `pool`, of mass about `target`."""

    def __init__(
        self, curve: InformationCurve, mass: Floats, pool: Indices, target: float, rng: np.random.Generator
    ) -> None:
        self.curve, self.mass, self.pool, self.target, self.rng = curve, mass, pool, target, rng
        self.average = float(mass[pool].mean()) if pool.size else 1.0

    @property
    def symbols_in_a_set(self) -> float:
        """How many average symbols make up the target."""
        return self.target / self.average

    def holding(self, prices: Floats, keep: int, rounds: int = 1) -> Iterator[Counts]:
        """For each symbol of the pool, the best `keep` sets found that hold it."""
        chosen = (
            self.pool if self.pool.size <= _LARGEST_POOL else self.rng.choice(self.pool, _LARGEST_POOL, replace=False)
        )
        first, second = np.triu_indices(chosen.size)  # i = j stands for the single symbol
        left, right = chosen[first], chosen[second]
        single = first == second
        pair_mass = self.mass[left] + np.where(single, 0.0, self.mass[right])
        pair_price = prices[left] + np.where(single, 0.0, prices[right])
        for x in np.tile(self.pool, rounds).tolist():
            base = self._base(x)
            z, a = float(self.mass[base].sum()), float(prices[base].sum())
            value = self.curve.value(np.minimum(z + pair_mass, 1.0)) - (a + pair_price)
            inside = np.isin(chosen, base)
            value[inside[first] | inside[second]] = -np.inf
            best = np.argpartition(-value, keep)[:keep] if value.size > keep else np.arange(value.size)
            columns = np.zeros((best.size, self.mass.size), dtype=np.int64)
            columns[:, base] = 1
            columns[np.arange(best.size), left[best]] = 1
            columns[np.arange(best.size), right[best]] = 1
            yield columns[np.isfinite(value[best])]

    def _base(self, x: int) -> Counts:
        """x and random others, short of the target by between nothing and three symbols."""
        others = self.rng.permutation(self.pool[self.pool != x])
        room = self.target - float(self.mass[x]) - self.rng.uniform(0.0, 3.0) * self.average
        return np.append(others[: int(np.searchsorted(np.cumsum(self.mass[others]), max(room, 0.0), side="right"))], x)
