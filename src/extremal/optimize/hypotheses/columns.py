"""The best mixture of staircase columns for several divergences, without listing all 2^k.

Column generation: the linear program over the sets found so far gives prices; sets that are worth more than their price
are proposed by ascent (the best set for a supporting line, the line at that set, again) from the sets found and from
random ones, and when ascent finds nothing, cells of directions decide (`cells`). With several parts in the worst case
the program has one row more for each, and the prices come with weights of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.exact.weights import Floats
from extremal.optimize.hypotheses.cells import priced, worthwhile
from extremal.optimize.hypotheses.goals import Goals, Sets
from extremal.optimize.problem import NOT_ZERO, Problem
from extremal.solver import LinearProgram

MOST_CELLS = 100_000
SMOOTHING = 0.6  # share of the prices of the last round in those where sets are proposed
STARTS = 300  # sets found before from which ascent starts
RANDOM_STARTS = 150
COLUMNS_A_ROUND = 60
MOST_ROUNDS = 3000
_ASCENTS = 12
_GAIN = 1e-3  # of the tolerance: what proposes a set
_NO_WEIGHT = 1e-12  # of a part in the worst case: taken for 0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Sets with weights, the prices that prove them best, and whether they do.

    Attributes:
        sets: n × k.
        theta: of each set's column e^−ε + (1 − e^−ε)·1_T.
        alpha: prices of the inputs.
        mix: weights of the parts, which sum to 1.
        value: the least part.
        complete: whether no set is worth more than its price, within the tolerance.
    """

    sets: Sets
    theta: Floats
    alpha: Floats
    mix: Floats
    value: float
    complete: bool


class _Program:
    """The program over the sets found so far."""

    def __init__(self, goals: Goals, first: Sets) -> None:
        k, parts = goals.k, len(goals.weights)
        self.goals, self.sets, self._seen = goals, np.zeros((0, k), dtype=bool), set[bytes]()
        self._scale = float(np.abs(goals.weights @ goals.each(goals.images(first))).max()) or NOT_ZERO
        self._linear = LinearProgram(
            np.concatenate([np.ones(k), np.zeros(parts)]), np.concatenate([np.ones(k), np.full(parts, np.inf)])
        )
        goal = np.vstack([np.zeros((k, 2)), np.outer(np.ones(parts), [-1.0, 1.0])])
        self._linear.add(goal, np.array([1.0, -1.0]))
        self.add(first)

    def add(self, sets: Sets) -> int:
        """How many of the sets are new."""
        new = np.array([s for s in sets if s.tobytes() not in self._seen], dtype=bool).reshape(-1, self.goals.k)
        self._seen.update(s.tobytes() for s in new)
        if len(new):
            goals = self.goals
            values = goals.weights @ goals.each(goals.images(new)) / self._scale
            self._linear.add(np.vstack([goals.low + goals.step * new.T, values]), np.zeros(len(new)))
            self.sets = np.vstack([self.sets, new])
        return len(new)

    def best(self, last: bool = False) -> Mixture:
        answer = self._linear.solve()
        if last:
            answer = self._linear.polished(answer)
        k = self.goals.k
        mix = np.maximum(-answer.duals[k:], 0.0)
        mix = np.where(mix > _NO_WEIGHT * mix.sum(), mix, 0.0)
        value = answer.value * self._scale
        return Mixture(self.sets, answer.x[2:], answer.duals[:k] * self._scale, mix / mix.sum(), value, last)


def best_mixture(problem: Problem, goals: Goals) -> Mixture:
    """The best mixture, or the best so far when time runs out or the cells are too many."""
    generator = np.random.default_rng(0)  # proposals only: any will do
    program = _Program(goals, _first_sets(goals))
    smoothed: Mixture | None = None
    for _ in range(MOST_ROUNDS):
        current = program.best()
        enough = allowed(goals, problem.tolerance / 4 * current.value)
        tried = [current] if smoothed is None else [_between(smoothed, current), current]
        added = 0
        for prices in tried:
            added = program.add(proposed(goals, prices, program.sets, enough * _GAIN, generator))
            if added:
                smoothed = prices
                break
        problem.progress("several hypotheses", float("nan") if added else 0.0)
        if problem.out_of_time:
            return current
        if not added:
            restricted, weights = goals.restricted(current.mix @ goals.weights)
            answer = priced(restricted, weights, current.alpha, enough, MOST_CELLS)
            if not program.add(answer.sets):
                return program.best(last=True) if answer.excess <= enough else current
    return current


def allowed(goals: Goals, gap: float) -> float:
    """How much more than its price a set may be worth for the bound to be within `gap`: at least 1+(k−1)e^−ε of its
    column sums up."""
    return gap * (1 + (goals.k - 1) * goals.low) / goals.k


def _between(first: Mixture, second: Mixture) -> Mixture:
    alpha = SMOOTHING * first.alpha + (1 - SMOOTHING) * second.alpha
    mix = SMOOTHING * first.mix + (1 - SMOOTHING) * second.mix
    return Mixture(second.sets, second.theta, alpha, mix, second.value, False)


def proposed(goals: Goals, prices: Mixture, sets: Sets, enough: float, generator: np.random.Generator) -> Sets:
    """The best sets that ascent finds."""
    weights = prices.mix @ goals.weights
    chosen = sets if len(sets) <= STARTS else sets[generator.choice(len(sets), STARTS, replace=False)]
    sizes = generator.random((RANDOM_STARTS, 1))
    starts = np.vstack([chosen, generator.random((RANDOM_STARTS, goals.k)) < sizes])
    for _ in range(_ASCENTS):
        following = goals.slopes(goals.images(starts), weights) @ goals.symbols > prices.alpha
        if (following == starts).all():
            break
        starts = np.unique(following, axis=0)
    return worthwhile(goals, weights, prices.alpha, starts, enough)[:COLUMNS_A_ROUND]


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
