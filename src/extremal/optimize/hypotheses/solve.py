"""Means and worst cases of divergences between several hypotheses, under ε-LDP, on alphabets too large to list.

A mean is again a sum of sublinear column values, a worst case has a row of the program for each part, and at most
k − 1 + (number of parts) reports are needed: often more than k, where one pair never needs more than k. Exact pricing
cuts the (m−1)-dimensional set of directions into cells; with at most four distributions that is a few thousand, so the
optimum is found and proved (`Directions`). With five or six the cells may run out, and the bound is what those that
were cut prove; with more there is no such proof, and it is that of groups of the hypotheses (`many`). The summary says
so.
"""

from __future__ import annotations

import numpy as np

from extremal.certificate import Directions
from extremal.mechanism import Mechanism
from extremal.optimize.hypotheses.cells import priced
from extremal.optimize.hypotheses.columns import MOST_CELLS, MixedSets, allowed, best_mixture, proposed
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.hypotheses.many import bound
from extremal.optimize.hypotheses.partitions import solved as by_partitions
from extremal.optimize.problem import KEPT, Problem, Solution, decimals
from extremal.optimize.table import SIZES
from extremal.privacy import LDP
from extremal.utility import Utility

FEW_CELLS = 10_000  # when time ran out
MARGIN = 1.2  # how much more than the best set found a cell may seem to be worth


def solve(problem: Problem, privacy: LDP, utility: Utility) -> Solution | None:
    """A mean or the worst case of divergences, under ε-LDP; None when all patterns are better listed."""
    goals = Goals.of(utility, privacy.epsilon)
    if goals.m == 2 and all(leaf.first != leaf.second for leaf in goals.leaves):
        return by_partitions(problem, privacy, goals)
    if goals.m <= SIZES.distributions:
        return _solved(problem, goals)
    return _many(problem, privacy, goals) if goals.k > SIZES.patterns else None


def _solved(problem: Problem, goals: Goals) -> Solution:
    best = best_mixture(problem, goals)
    restricted, weights = goals.restricted(best.mix @ goals.weights)
    enough, most = allowed(goals, problem.tolerance / 4 * abs(best.value)), MOST_CELLS
    if not best.complete:  # some sets are worth more than their prices: no cell can show less than they do
        sets = proposed(goals, best.mix, best.alpha, best.sets, 0.0, np.random.default_rng(0))
        over = goals.reduced(sets, best.mix @ goals.weights, best.alpha)
        enough, most = max(enough, MARGIN * float(over.max(initial=0.0))), FEW_CELLS
    answer = priced(restricted, weights, best.alpha, enough, most, every=True)
    proof = Directions(decimals(best.alpha), decimals(best.mix) if best.mix.size > 1 else (), answer.trees)
    most_of_all = float(best.alpha.sum()) + goals.k * max(0.0, answer.excess) / (1 + (goals.k - 1) * goals.low)
    proofs = (proof,) if problem.utility.verifiable else ()
    method = "column generation over sets of inputs, priced on cells of directions"
    notes = () if best.complete else ("stopped early: the gap is what is proved, not what is possible",)
    return Solution(_mechanism(problem, goals, best), most_of_all, method, proofs, notes)


def _many(problem: Problem, privacy: LDP, goals: Goals) -> Solution | None:
    """More distributions than cells are cut for; None where nothing is proved."""
    best = best_mixture(problem, goals, exact=False)
    most, proofs = bound(problem, privacy, goals, best)
    if not np.isfinite(most):
        return None
    method = "column generation over sets of inputs, by ascent"
    note = f"{goals.m} distributions: the bound is that of groups of the hypotheses, and may be loose"
    return Solution(_mechanism(problem, goals, best), most, method, proofs, (note,))


def _mechanism(problem: Problem, goals: Goals, best: MixedSets) -> Mechanism:
    used = best.theta > KEPT * best.theta.max()
    matrix = (goals.low + goals.step * best.sets[used].T) * best.theta[used]
    return Mechanism.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), problem.privacy, inputs=problem.inputs)
