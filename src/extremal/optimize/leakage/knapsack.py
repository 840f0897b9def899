"""The best lift vector for mutual information at given dual prices: a knapsack with one fractional input, searched.

With λ = base + step·y and g(t) = t·ln t − t + 1 the information of a lift vector is Σ p_x g(λ_x), separable, and at a
vertex all y are 0 or 1 but one, y_j = f. With A = g(base), B = g(base + step) and dip(f) = A + f(B−A) − g(base +
step·f) ≥ 0:

    μ(λ(y)) − α·y = A + b(B−A) − [α(T) + f·α_j + p_j·dip(f)],   P(T) + f·p_j = b.

So OPT ≤ b·Σα + A + b(B−A) − (the least cost in brackets). The least cost is found by a search over which inputs deviate
from the solution of the linear relaxation: with its multiplier ν the cost is ν·b + Σ_{x∈T} s_x + …, s = α − νp,
deviations cost |s_x|, and the mass still missing costs at least the smallest remaining |s_x|/p_x each unit; near the
end the sums that the remaining inputs can make are listed, which decides ties. The search goes breadth-first for all j
at once; where it grows beyond its width the least promising states are dropped and their bounds kept, so the answer is
a lower bound always, up to rounding: the kernel decides what it proves (`trees`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extremal.optimize.problem import NOT_ZERO
from extremal.privacy.cones.lift import Floats, LiftBox
from extremal.utility.functions import entropy_excess

WIDTH = 200_000  # states kept at each level of the search that proves
KEPT_COLUMNS = 48  # of one knapsack: the master takes a few of them
MOST_SEARCHED = 500  # inputs; beyond, only the relaxation is used
TAIL = 13  # inputs at the end of the search whose sums are listed: 8,192 of them


@dataclass(frozen=True, eq=False)
class LiftWorth:
    """g on the box, and how far it dips below its chord."""

    box: LiftBox
    at_base: float
    at_end: float

    @classmethod
    def on(cls, box: LiftBox) -> LiftWorth:
        at_base, at_end = cls._g(box, np.array([0.0, 1.0])).tolist()
        return cls(box, at_base, at_end)

    @staticmethod
    def _g(box: LiftBox, f: Floats) -> Floats:
        room = box.step * box.budget  # 1 − base, without subtracting
        return entropy_excess(box.step * f - room, box.base + box.step * f)

    def dip(self, f: Floats) -> Floats:
        return np.asarray(np.maximum(self.at_base + f * (self.at_end - self.at_base) - self._g(self.box, f), 0.0))

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        near = np.geomspace(1e-14, 0.01, 1200)
        nodes = np.unique(np.concatenate([[0.0], near, np.linspace(0.01, 0.99, 2400), 1 - near, [1.0]]))
        return nodes, self.dip(nodes)

    def dip_below(self, f: Floats) -> Floats:
        """dip from below, fast: it is concave, so it lies above every chord of its graph."""
        nodes, values = self._table
        return np.asarray(np.interp(f, nodes, values))

    def values(self, y: Floats) -> Floats:
        """μ of each row of y."""
        return np.asarray(self._g(self.box, y) @ self.box.prior)

    @property
    def ceiling(self) -> float:
        """A + b(B − A): the information if nothing were fractional."""
        return self.at_base + self.box.budget * (self.at_end - self.at_base)


@dataclass(frozen=True, eq=False)
class KnapsackResult:
    """The outcome of a search.

    Attributes:
        lower: no vertex costs less, up to rounding.
        best: the least cost met.
        columns: the cheapest vertices met, as y.
    """

    lower: float
    best: float
    columns: Floats


@dataclass(frozen=True, eq=False)
class _Items:
    """The inputs in the order of search, with all that a level needs."""

    nu: float
    saving: Floats  # s = α − νp
    inside: Any  # in the relaxed solution
    movable: Any  # may deviate at all
    order: Any
    rate: Floats  # cheapest |s|/p from this level on
    up: Floats  # mass that inputs from this level on can add
    down: Floats  # and take away


def _prepared(curve: LiftWorth, alpha: Floats) -> _Items:
    box = curve.box
    p, b = box.prior, box.budget
    heavy, forced = p > b * (1 + box.error), (1 - p) < b * (1 - box.error)
    # The attainable range of y_x and the chord of its cost over it: the linear relaxation.
    least = np.where(forced, np.maximum((b - (1 - p)) / p, 0.0), 0.0)
    most = np.where(heavy, b / p, 1.0)
    width = np.maximum(most - least, NOT_ZERO)
    cost = [alpha * end + p * curve.dip(end) for end in (least, most)]
    ratio = (cost[1] - cost[0]) / (p * width)
    order = np.argsort(ratio, kind="stable")
    filled = float(p @ least) + np.cumsum((p * width)[order])
    last = min(int(np.searchsorted(filled, b * (1 - box.error))), p.size - 1)
    nu = float(ratio[order[last]])
    saving = alpha - nu * p
    inside = ((saving < 0) & ~heavy) | forced
    movable = np.where(inside, ~forced, ~heavy)
    rate = np.where(movable, np.abs(saving) / p, np.inf)
    by_rate = np.argsort(rate, kind="stable")[: int(movable.sum())]
    mass = p[by_rate]
    up = np.append(np.cumsum(np.where(inside[by_rate], 0.0, mass)[::-1])[::-1], 0.0)
    down = np.append(np.cumsum(np.where(inside[by_rate], mass, 0.0)[::-1])[::-1], 0.0)
    # With nothing left to move the rate means nothing; a large finite one keeps 0·rate at 0.
    return _Items(nu, saving, inside, movable, by_rate, np.append(rate[by_rate], 1e300), up, down)


def _relaxed(curve: LiftWorth, alpha: Floats) -> float:
    """A lower bound without a search: each input's cost is concave in y_x, so its two ends bound it; the plane enters
    by ν."""
    box, items = curve.box, _prepared(curve, alpha)
    p, b = box.prior, box.budget
    ends = np.maximum(0.0, (b - (1 - p)) / p), np.minimum(1.0, b / p)
    costs = [alpha * y + p * curve.dip(y) - items.nu * p * y for y in ends]
    return items.nu * b + math.fsum(np.minimum(*costs))


@dataclass(frozen=True, eq=False)
class _Tail:
    """All deviations of the last few inputs: what mass each adds, what it costs, sorted by mass."""

    mass: Floats
    cost: Floats
    mask: Any


def _tails(items: _Items, p: Floats) -> dict[int, _Tail]:
    """By depth, for the last TAIL inputs of the order."""
    depth = items.order.size
    mass, cost, mask = np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64)
    tails = {depth: _Tail(mass, cost, mask)}
    for bit, x in enumerate(items.order[::-1][:TAIL].tolist()):
        mass = np.concatenate([mass, mass + (-p[x] if items.inside[x] else p[x])])
        cost = np.concatenate([cost, cost + abs(float(items.saving[x]))])
        mask = np.concatenate([mask, mask | (1 << bit)])
        order = np.argsort(mass, kind="stable")
        depth -= 1
        mass, cost, mask = mass[order], cost[order], mask[order]
        tails[depth] = _Tail(mass, cost, mask)
    return tails


@dataclass(frozen=True, eq=False)
class _States:
    """Partial solutions: the fractional input, the mass left for it and for open inputs, the cost so far, who
    deviates."""

    j: Any
    left: Floats
    cost: Floats
    flips: Any

    def take(self, where: Any) -> _States:
        return _States(self.j[where], self.left[where], self.cost[where], self.flips[where])


class _Knapsack:
    """One search: breadth first over the inputs, all fractional inputs at once."""

    def __init__(self, curve: LiftWorth, alpha: Floats, keep: int) -> None:
        self.curve, self.box, self.keep = curve, curve.box, keep
        self.items = _prepared(curve, alpha)
        self.tails = _tails(self.items, self.box.prior)
        self.position = np.full(self.box.n, self.box.n)
        self.position[self.items.order] = np.arange(self.items.order.size)
        self.slack = self.box.error * (self.box.budget + float(self.box.prior.max()))
        self.best = math.inf
        self._costs: list[Floats] = []
        self._columns: list[Floats] = []

    def first(self) -> _States:
        items, p, n = self.items, self.box.prior, self.box.n
        own = np.where(items.inside, items.saving, 0.0)
        mass = np.where(items.inside, p, 0.0)
        left = self.box.budget - (math.fsum(mass) - mass)
        return _States(
            np.arange(n), left, items.nu * self.box.budget + (math.fsum(own) - own), np.zeros((n, n), dtype=bool)
        )

    def fractional(self, j: Any, mass: Floats) -> Floats:
        """What mass on the fractional input costs, from below (exact at the nodes of the table)."""
        p = self.box.prior[j]
        f = np.clip(mass / p, 0.0, 1.0)
        return np.asarray(f * self.items.saving[j] + p * self.curve.dip_below(f))

    def fits(self, j: Any, mass: Floats) -> Any:
        return (mass >= -self.slack) & (mass <= self.box.prior[j] + self.slack)

    def remaining(self, depth: int, states: _States) -> Floats:
        """The least that the open inputs and the fractional one can still cost."""
        smooth = self._by_rate(depth, states)
        return np.maximum(smooth, self._by_sums(depth, states)) if depth in self.tails else smooth

    def _by_rate(self, depth: int, states: _States) -> Floats:
        """Mass moved costs at least the cheapest rate. Concave in the mass, on either side of none: so only its ends
        matter."""
        items, p, j, left = self.items, self.box.prior, states.j, states.left
        own = np.where((self.position[j] >= depth) & items.movable[j], p[j], 0.0)
        up = np.maximum(items.up[depth] - np.where(items.inside[j], 0.0, own), 0.0)
        down = np.maximum(items.down[depth] - np.where(items.inside[j], own, 0.0), 0.0)
        moved = np.stack([np.zeros_like(left), left, left - p[j], up, -down])
        possible = self.fits(j, left - moved) & (moved <= up + self.slack) & (moved >= -down - self.slack)
        price = float(items.rate[depth]) * np.maximum(np.abs(moved) - self.slack, 0.0)
        return np.asarray(np.where(possible, price + self.fractional(j, left - moved), np.inf).min(axis=0))

    def _by_sums(self, depth: int, states: _States) -> Floats:
        """The sums that the open inputs can make: the fractional cost is concave, so the two extreme masses that fit
        bound it.

        Both are vertices (unless they move the fractional input itself) and are recorded.
        """
        tail, j, left = self.tails[depth], states.j, states.left
        top = np.searchsorted(tail.mass, left + self.slack, side="right") - 1
        bottom = np.searchsorted(tail.mass, left - self.box.prior[j] - self.slack, side="left")
        fitting = bottom <= top
        ends = np.where(fitting, np.stack([top, bottom]), 0)
        costs = self.fractional(j, left - tail.mass[ends])
        self._record(states, depth, ends, np.where(fitting, states.cost + tail.cost[ends] + costs, np.inf))
        return np.where(fitting, costs.min(axis=0), np.inf)

    def _record(self, states: _States, depth: int, ends: Any, totals: Floats) -> None:
        """Keep the cheapest vertices, of either end, their costs computed without the table."""
        tail, p, items = self.tails[depth], self.box.prior, self.items
        total, end = totals.ravel(), ends.ravel()
        order = np.argsort(total)[: 2 * self.keep]
        order = order[np.isfinite(total[order])]
        if not order.size or (total[order[0]] >= self.best and self.keep == 1):
            return
        chosen = states.take(order % states.j.size)
        flips, last = chosen.flips.copy(), items.order[::-1][: items.order.size - depth]
        flips[:, last] |= (tail.mask[end[order]][:, None] >> np.arange(last.size) & 1) == 1
        rows = np.arange(order.size)
        whole = ~flips[rows, chosen.j]
        y = np.where(flips, ~items.inside, items.inside).astype(np.float64)
        mass = chosen.left - tail.mass[end[order]]
        f = np.clip(mass / p[chosen.j], 0.0, 1.0)
        y[rows, chosen.j] = f
        exact = chosen.cost + tail.cost[end[order]] + f * items.saving[chosen.j] + p[chosen.j] * self.curve.dip(f)
        if whole.any():
            self.best = min(self.best, float(exact[whole].min()))
            self._costs.append(exact[whole])
            self._columns.append(y[whole])

    def children(self, depth: int, states: _States) -> _States:
        """Each state with and without the next input deviating."""
        x = int(self.items.order[depth])
        other = states.take(states.j != x)
        flips = other.flips.copy()
        flips[:, x] = True
        sign = 1.0 if self.items.inside[x] else -1.0
        moved = _States(
            other.j, other.left + sign * self.box.prior[x], other.cost + abs(float(self.items.saving[x])), flips
        )
        return _States(
            np.concatenate([states.j, moved.j]),
            np.concatenate([states.left, moved.left]),
            np.concatenate([states.cost, moved.cost]),
            np.vstack([states.flips, moved.flips]),
        )

    def columns(self) -> Floats:
        if not self._costs:
            return np.zeros((0, self.box.n))
        order = np.argsort(np.concatenate(self._costs))
        found = np.vstack(self._columns)[order]
        distinct = np.sort(np.unique(np.round(found, 12), axis=0, return_index=True)[1])
        return np.asarray(found[distinct[: self.keep]])


def least_cost(
    curve: LiftWorth, alpha: Floats, target: float = math.inf, width: int = WIDTH, keep: int = KEPT_COLUMNS
) -> KnapsackResult:
    """The least α(T) + f·α_j + p_j·dip(f) over the vertices, or proof that it is at least `target`."""
    if curve.box.n > MOST_SEARCHED:
        return KnapsackResult(_relaxed(curve, alpha), math.inf, np.zeros((0, curve.box.n)))
    search = _Knapsack(curve, alpha, keep)
    states, dropped = search.first(), math.inf
    last = search.items.order.size
    for depth in range(last + 1):
        bound = states.cost + search.remaining(depth, states)
        alive = bound < min(target, search.best)
        if int(alive.sum()) > width:
            limit = float(np.partition(bound[alive], width)[width])
            dropped = min(dropped, limit)
            alive &= bound < limit
        if depth == last or not alive.any():
            break
        states = search.children(depth, states.take(alive))
    return KnapsackResult(min(target, search.best, dropped), search.best, search.columns())


def bound_of(curve: LiftWorth, alpha: Floats, lower: float) -> float:
    """The bound on the information that a lower bound on the cost gives."""
    box = curve.box
    return box.budget * math.fsum(alpha) + curve.ceiling - lower
