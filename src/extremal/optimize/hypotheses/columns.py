"""The best mixture of staircase columns for several divergences, without listing all 2^k.

Column generation: the linear program over the sets found so far gives prices; sets that are worth more than their price
are proposed by ascent (the best set for a supporting line, the line at that set, again) from the sets found and from
random ones, and when ascent finds nothing, cells of directions decide (`cells`). With several parts in the worst case
the program has one row more for each, and the prices come with weights of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from extremal.exact.weights import Floats
from extremal.optimize.hypotheses.cells import priced, worthwhile
from extremal.optimize.hypotheses.goals import Goals, Sets
from extremal.optimize.problem import NOT_ZERO, Problem
from extremal.solver import Answer, LinearProgram, SolverFailed

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
    """The program over the sets found so far: one part is the objective, of several the least is.

    Each part is in units of its own, the largest that it has on the first sets, and what is maximised in the least of
    these, so that no entry is large.
    """

    def __init__(self, goals: Goals, first: Sets) -> None:
        k, parts = goals.k, len(goals.weights)
        self.goals, self.sets, self._seen = goals, np.zeros((0, k), dtype=bool), set[bytes]()
        largest = np.abs(goals.weights @ goals.each(goals.images(first))).max(axis=1)
        self._scale = float(largest.min(initial=np.inf, where=largest > 0)) if largest.any() else NOT_ZERO
        self._units = np.where(largest > 0, largest, self._scale)
        self._several = parts > 1
        rows = parts if self._several else 0
        self._linear = LinearProgram(
            np.concatenate([np.ones(k), np.zeros(rows)]), np.concatenate([np.ones(k), np.full(rows, np.inf)])
        )
        if self._several:
            goal = np.vstack([np.zeros((k, 2)), np.outer(self._scale / self._units, [-1.0, 1.0])])
            self._linear.add(goal, np.array([1.0, -1.0]))
        self.add(first)

    def add(self, sets: Sets) -> int:
        """How many of the sets are new."""
        new = np.array([s for s in sets if s.tobytes() not in self._seen], dtype=bool).reshape(-1, self.goals.k)
        self._seen.update(s.tobytes() for s in new)
        if len(new):
            goals = self.goals
            values = goals.weights @ goals.each(goals.images(new)) / self._units[:, None]
            columns = goals.low + goals.step * new.T
            if self._several:
                self._linear.add(np.vstack([columns, values]), np.zeros(len(new)))
            else:
                self._linear.add(columns, values[0])
            self.sets = np.vstack([self.sets, new])
        return len(new)

    def best(self, seconds: float | None) -> Mixture:
        """The best mixture of the sets found so far.

        Raises:
            SolverFailed: it was not found in the time that is left.
        """
        self._answer = self._linear.solve(seconds)
        return self._mixture(self._answer, False)

    def proven(self) -> Mixture:
        """The best mixture once more, to the last digit: no set is worth more than its price."""
        return self._mixture(self._linear.polished(self._answer), True)

    def _mixture(self, answer: Answer, complete: bool) -> Mixture:
        k, value, alpha = self.goals.k, answer.value * self._scale, answer.duals[: self.goals.k] * self._scale
        if not self._several:
            return Mixture(self.sets, answer.x, alpha, np.ones(1), value, complete)
        mix = np.maximum(-answer.duals[k:] * self._scale / self._units, 0.0)
        mix = np.where(mix > _NO_WEIGHT * mix.sum(), mix, 0.0)
        return Mixture(self.sets, answer.x[2:], alpha, mix / mix.sum(), value, complete)


def best_mixture(problem: Problem, goals: Goals, exact: bool = True) -> Mixture:
    """The best mixture, or the best so far when time runs out or the cells are too many; without `exact` the best that
    ascent finds."""
    generator = np.random.default_rng(0)  # proposals only: any will do
    program = _Program(goals, _first_sets(goals))
    smoothed: Mixture | None = None
    current = _randomised_response(goals)
    for _ in range(MOST_ROUNDS):
        try:
            current = program.best(problem.seconds_left)
        except SolverFailed:
            return current
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
        if not added and not exact:
            return replace(program.proven(), complete=False)
        if not added:
            restricted, weights = goals.restricted(current.mix @ goals.weights)
            answer = priced(restricted, weights, current.alpha, enough, MOST_CELLS)
            if not program.add(answer.sets):
                return program.proven() if answer.excess <= enough else current
    return current


def _randomised_response(goals: Goals) -> Mixture:
    """What there is before the first program is solved, with prices as if all inputs were worth the same."""
    single = np.eye(goals.k, dtype=bool)
    theta = np.full(goals.k, 1 / (1 + (goals.k - 1) * goals.low))
    parts = goals.weights @ goals.each(goals.images(single)) @ theta
    mix = np.where(np.arange(parts.size) == int(np.argmin(parts)), 1.0, 0.0)
    return Mixture(single, theta, np.full(goals.k, parts.min() / goals.k), mix, float(parts.min()), False)


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
