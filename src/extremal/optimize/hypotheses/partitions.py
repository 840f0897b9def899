"""Several divergences of one pair: a mixture of sorted partitions, on alphabets of thousands.

A mean of divergences of the same two hypotheses, in either direction, is one f-divergence: D_f(P₁‖P₀) is that of
x·f(1/x) from P₀ to P₁. So its best mechanism is randomised response on a sorted partition, and so is its proof
(`order`). The worst of several is max over mechanisms of min over weights λ of Σ λ_i·D_i, and min over λ
of the optimum of the mean with weights λ: cutting planes in λ, one partition a round, until the best mixture of the
partitions found is worth what the last λ admits. At most as many partitions as divergences are mixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from extremal.certificate import Chords, Dual, Order
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.divergence.lorenz import BlockValue, Indices, Lorenz
from extremal.optimize.divergence.polygon import Outcome
from extremal.optimize.divergence.solve import cells, ends_of, search
from extremal.optimize.hypotheses.goals import Goals
from extremal.optimize.problem import Problem, Solution, decimal, decimals
from extremal.optimize.rays import best_mixture
from extremal.privacy import LDP
from extremal.utility import Divergence
from extremal.utility.convex import ConvexFunction

MOST_ROUNDS = 300  # a guard: each adds a partition, and about as many as parts are mixed
NO_WEIGHT = 1e-12  # of a part in the worst case: taken for 0
GAP_SHARE = 4  # of the tolerance: what the last weights may admit beyond the mixture
KEPT = 1e-13  # weights of partitions below this are rounding


class Reversed(ConvexFunction):
    """x·f(1/x): the same divergence with the hypotheses exchanged."""

    def __init__(self, f: ConvexFunction) -> None:
        self._f = f
        self.at_zero, self.slope_at_infinity = f.slope_at_infinity, f.at_zero
        self.kinks = None if f.kinks is None else tuple(sorted(1 / t if t else math.inf for t in f.kinks))

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(x * self._f.excess(-delta / x, 1 / x))

    def derivative(self, x: Floats) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(self._f.excess(1 / x - 1, 1 / x) - self._f.derivative(1 / x) / x)


class Weighted(ConvexFunction):
    """Σ w_i·f_i, w > 0."""

    def __init__(self, functions: Sequence[ConvexFunction], weights: Sequence[float]) -> None:
        self._parts = list(zip(functions, weights, strict=True))
        self.at_zero = sum(w * f.at_zero for f, w in self._parts)
        self.slope_at_infinity = sum(w * f.slope_at_infinity for f, w in self._parts)
        bent = [f.kinks for f in functions if f.kinks is not None]
        self.kinks = tuple(sorted({t for kinks in bent for t in kinks})) if len(bent) == len(functions) else None

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(sum(w * f.excess(delta, x) for f, w in self._parts))

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(sum(w * f.derivative(x) for f, w in self._parts))


@dataclass(frozen=True, eq=False)
class _Partition:
    """Randomised response on a sorted partition.

    Attributes:
        outcome: the cuts of the sorted symbols, what they are worth for the mean they are best for, and the bound.
        blocks: of each symbol.
        values: of each part.
    """

    outcome: Outcome
    blocks: Indices
    values: Floats

    def columns(self, low: float) -> Floats:
        """Symbols × reports."""
        inside = self.blocks[:, None] == np.arange(self.blocks.max() + 1)
        return np.asarray(np.where(inside, 1.0, low) / (1 + self.blocks.max() * low))


class _OnePair:
    """The parts as divergences from the first distribution to the second."""

    def __init__(self, problem: Problem, goals: Goals) -> None:
        self.problem, self.goals = problem, goals
        self.functions = [Reversed(leaf.f) if leaf.first else leaf.f for leaf in goals.leaves]
        self.lorenz = Lorenz.of(self._mean(np.ones(len(goals.leaves))))

    def _mean(self, weights: Floats) -> Divergence:
        used = np.flatnonzero(weights > 0)
        f = Weighted([self.functions[i] for i in used], weights[used].tolist())
        first, second = self.goals.priors
        return Divergence(first, second, f)

    def best(self, mix: Floats) -> _Partition:
        """The best partition for parts of these weights."""
        goals, lorenz = self.goals, self.lorenz
        found = search(self.problem, lorenz, BlockValue.of(self._mean(mix @ goals.weights), goals.epsilon))
        cuts = found.cuts if found.worth > 0 else np.array([0, lorenz.n])
        blocks = np.zeros(goals.k, dtype=np.intp)
        blocks[lorenz.order] = np.searchsorted(cuts, lorenz.group, side="right") - 1
        sets = blocks == np.arange(cuts.size - 1)[:, None]
        values = (goals.weights @ goals.each(goals.images(sets))).sum(axis=1) / (1 + (len(sets) - 1) * goals.low)
        return _Partition(found, blocks, values)

    def proof(self, best: _Partition, mix: Floats) -> Order | Dual:
        """That none is better for parts of these weights; the first that counts says which distribution is first."""
        if self.lorenz.n < 2:  # the hypotheses are equal: every report has the ratio of constants
            zeros = (Fraction(0),) * self.goals.k
            return Dual(zeros, Chords((Fraction(1),)), decimals(mix) if mix.size > 1 else ())
        worth, (first, second) = max(best.outcome.worth, 0.0), self.goals.priors
        found = cells(self.lorenz, best.outcome.edges)
        turned = bool(self.goals.leaves[int(np.flatnonzero(mix @ self.goals.weights)[0])].first)
        ends = ends_of(second, first, found) if turned else ends_of(first, second, found)
        return Order(decimal(worth), ends, decimals(mix) if mix.size > 1 else ())


def solved(problem: Problem, privacy: LDP, goals: Goals) -> Solution:
    """The best mixture of sorted partitions for divergences between the two distributions of `goals`."""
    pair, parts = _OnePair(problem, goals), len(goals.weights)
    mix, theta = np.full(parts, 1 / parts), np.ones(1)
    last = pair.best(mix)
    found = [last]
    while parts > 1 and len(found) < MOST_ROUNDS:
        values = np.array([partition.values for partition in found]).T
        master = best_mixture(np.ones((1, len(found))), values)
        theta, weights = master.weights, np.where(master.mix > NO_WEIGHT, master.mix, 0.0)
        mix, reached = weights / weights.sum(), float((values @ master.weights).min())
        last = pair.best(mix)
        missing = last.outcome.worth - reached
        problem.progress("several divergences of one pair", missing / (last.outcome.worth or 1.0))
        if missing <= problem.tolerance / GAP_SHARE * last.outcome.worth or problem.out_of_time:
            break
        found, theta = [*found, last], np.append(theta, 0.0)
    used = [(w, partition) for w, partition in zip(theta.tolist(), found, strict=True) if w > KEPT]
    proofs = (pair.proof(last, mix),) if problem.utility.verifiable else ()
    method = f"mixture of {len(used)} sorted partitions" if len(used) > 1 else "sorted partition"
    return Solution(_mechanism(problem, privacy, goals, used), last.outcome.bound, method, proofs)


def _mechanism(problem: Problem, privacy: LDP, goals: Goals, used: list[tuple[float, _Partition]]) -> Mechanism:
    blocks = used[0][1].blocks
    if len(used) == 1 and blocks.any():
        return Mechanism.from_partition(blocks, privacy, inputs=problem.inputs)
    matrix = np.hstack([w * partition.columns(goals.low) for w, partition in used])
    return Mechanism.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), privacy, inputs=problem.inputs)
