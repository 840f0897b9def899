"""The best mixture of staircase columns for several divergences, without listing all 2^k.

Column generation (`optimize.search`) over sets of inputs: sets that are worth more than their price are proposed by
ascent (the best set for a supporting line, the line at that set, again) from the sets found and from random ones, and
when ascent finds nothing, cells of directions decide (`cells`). With several parts in the worst case the program has
one row more for each, and the prices come with weights of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.exact.weights import Floats
from extremal.optimize.hypotheses.cells import priced, worthwhile
from extremal.optimize.hypotheses.goals import Goals, Sets
from extremal.optimize.hypotheses.trees import TreeAnswer, proved
from extremal.optimize.problem import NOT_ZERO, Problem
from extremal.optimize.search import Columns, Limits, Master, Priced, Pricing, generate

MOST_CELLS = 100_000  # of one answer: beyond, the bound is what those that were cut prove
MOST_NODES = 20_000  # of a tree over sets: checked in half a minute
STARTS = 300  # sets found before from which ascent starts: many at once cost little more than one
RANDOM_STARTS = 150  # and random ones
LAST_STARTS = 3_000  # random ones before a search that nothing else proves complete gives up
COLUMNS_A_ROUND = 60  # sets added at a time: about as many as the program has rows
MOST_ASCENTS = 12  # a guard: an ascent ends where a set is best for its own line
_GAIN = 1e-3  # of the tolerance: what proposes a set
_NO_WEIGHT = 1e-12  # of a part in the worst case: taken for 0


@dataclass(frozen=True, eq=False)
class MixedSets:
    """Sets with weights, the prices that prove them best, and whether they do.

    Attributes:
        sets: n × k.
        theta: of each set's column e^−ε + (1 − e^−ε)·1_T.
        alpha: prices of the inputs.
        mix: weights of the parts, which sum to 1.
        value: the least part.
        complete: whether no set is worth more than its price, within the tolerance.
        tree: that proves it, where a tree over sets did.
    """

    sets: Sets
    theta: Floats
    alpha: Floats
    mix: Floats
    value: float
    complete: bool
    tree: TreeAnswer | None = None


class SetPricing(Pricing):
    """Sets by ascent; when it finds none by cells, or by a tree over sets. A point is the prices of the inputs, and
    with several parts minus their weights; a column is that of a set, and then what it is worth to each part.

    Each part is in units of its own, the largest that it has on the first sets, and what is maximised in the least of
    these, so that no entry is large.
    """

    most = COLUMNS_A_ROUND

    def __init__(self, problem: Problem, goals: Goals, cells: bool) -> None:
        self.problem, self.goals, self.cells = problem, goals, cells
        self.complete = False  # whether no set is worth more than its price
        self.tree: TreeAnswer | None = None  # that says so
        self._generator = np.random.default_rng(0)  # proposals only: any will do
        first, parts = _first_sets(goals), len(goals.weights)
        self._several = parts > 1
        self.master = self._program(first, parts) if self._several else Master(np.ones(goals.k), np.ones(goals.k))
        self.master.add(*self.worth(first))

    def _program(self, first: Sets, parts: int) -> Master:
        """The least part is t₁ − t₂; each part is at least that."""
        goals = self.goals
        largest = np.abs(goals.weights @ goals.each(goals.images(first))).max(axis=1)
        scale = float(largest.min(initial=np.inf, where=largest > 0)) if largest.any() else NOT_ZERO
        units = np.where(largest > 0, largest, scale)
        every, least, most = np.ones(goals.k), np.zeros(parts), np.full(parts, np.inf)
        master = Master(np.append(every, least), np.append(every, most), np.append(every, 1 / units))
        ends = np.hstack([np.zeros((2, goals.k)), np.outer([-1.0, 1.0], scale / units)])
        master.fix(ends, np.array([scale, -scale]))
        return master

    def worth(self, sets: Sets) -> Columns:
        """Sets as columns of the program, with their values."""
        columns = self.goals.low + self.goals.step * sets
        values = self.goals.weights @ self.goals.each(self.goals.images(sets))
        if self._several:
            return np.hstack([columns, values.T]), np.zeros(len(sets))
        return np.asarray(columns), np.asarray(values[0])

    @property
    def sets(self) -> Sets:
        """All sets so far."""
        return np.asarray(self.master.columns[:, : self.goals.k] > self.goals.low + self.goals.step / 2)

    def prices(self, point: Floats) -> tuple[Floats, Floats]:
        """(prices of the inputs, weights of the parts) of a point."""
        if not self._several:
            return point, np.ones(1)
        mix = np.maximum(-point[self.goals.k :], 0.0)
        mix = np.where(mix > _NO_WEIGHT * mix.sum(), mix, 0.0)
        return point[: self.goals.k], mix / mix.sum()

    @property
    def enough(self) -> float:
        """What a set may be worth above its price."""
        return allowed(self.goals, self.problem.tolerance / 4 * self.master.value)

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        alpha, mix = self.prices(point)
        sets = proposed(self.goals, mix, alpha, self.sets, self.enough * _GAIN, self._generator)
        return Priced(point, *self.worth(sets))

    def widen(self, master: Master) -> bool:
        alpha, mix = self.prices(master.point)
        restricted, weights = self.goals.restricted(mix @ self.goals.weights)
        if self.cells:
            answer = priced(restricted, weights, alpha, self.enough, MOST_CELLS)
            if master.add(*self.worth(answer.sets)):
                return True
            self.complete = answer.excess <= self.enough
            return False
        sets = proposed(self.goals, mix, alpha, self.sets, self.enough * _GAIN, self._generator, LAST_STARTS)
        if master.improve(*self.worth(sets), self.most):
            return True
        self.tree = proved(restricted, weights, alpha, self.enough, MOST_NODES)
        self.complete = bool(self.tree.tokens)
        better = worthwhile(self.goals, mix @ self.goals.weights, alpha, self.tree.sets, self.enough * _GAIN)
        return bool(master.add(*self.worth(better[: self.most])))


def best_mixture(problem: Problem, goals: Goals, cells: bool = True) -> MixedSets:
    """The best mixture, or the best so far when time runs out, or the cells or the nodes of a tree are too many."""
    pricing = SetPricing(problem, goals, cells)
    master = pricing.master
    if not master.solve(problem.seconds_left):
        return _randomised_response(goals)
    generate(master, pricing, Priced.nothing(master.point.size), Limits.of(problem, "several hypotheses"))
    master.polish()
    sets, weights = pricing.sets, master.weights
    theta = np.append(weights, np.zeros(len(sets) - weights.size))
    return MixedSets(sets, theta, *pricing.prices(master.point), master.value, pricing.complete, pricing.tree)


def _randomised_response(goals: Goals) -> MixedSets:
    """What there is before the first program is solved, with prices as if all inputs were worth the same."""
    single = np.eye(goals.k, dtype=bool)
    theta = np.full(goals.k, 1 / (1 + (goals.k - 1) * goals.low))
    parts = goals.weights @ goals.each(goals.images(single)) @ theta
    mix = np.where(np.arange(parts.size) == int(np.argmin(parts)), 1.0, 0.0)
    return MixedSets(single, theta, np.full(goals.k, parts.min() / goals.k), mix, float(parts.min()), False)


def allowed(goals: Goals, gap: float) -> float:
    """How much more than its price a set may be worth for the bound to be within `gap`: at least 1+(k−1)e^−ε of its
    column sums up."""
    return gap * (1 + (goals.k - 1) * goals.low) / goals.k


def proposed(
    goals: Goals,
    mix: Floats,
    alpha: Floats,
    sets: Sets,
    enough: float,
    generator: np.random.Generator,
    random: int = RANDOM_STARTS,
) -> Sets:
    """The best sets that ascent finds, from those there are and from `random` ones."""
    weights = mix @ goals.weights
    chosen = sets if len(sets) <= STARTS else sets[generator.choice(len(sets), STARTS, replace=False)]
    sizes = generator.random((random, 1))
    starts = np.vstack([chosen, generator.random((random, goals.k)) < sizes])
    for _ in range(MOST_ASCENTS):
        following = goals.slopes(goals.images(starts), weights) @ goals.symbols > alpha
        if (following == starts).all():
            break
        starts = np.unique(following, axis=0)
    return worthwhile(goals, weights, alpha, starts, enough)[:COLUMNS_A_ROUND]


def _first_sets(goals: Goals) -> Sets:
    """Single inputs and all but one; for each pair of distributions what comes first and last in order of their
    ratio."""
    k = goals.k
    single = np.eye(k, dtype=bool)
    found = [single, ~single]
    full = np.vstack([goals.symbols[:1], goals.symbols[:1] + goals.symbols[1:]])
    for i in range(goals.m):
        for j in range(i):
            order = np.argsort(np.arctan2(full[i], full[j]), kind="stable")
            first = np.argsort(order)[None, :] < np.arange(1, k)[:, None]
            found += [first, ~first]
    return np.unique(np.vstack(found), axis=0)
