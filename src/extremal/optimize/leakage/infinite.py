"""Divergences without a bound: a report that only one hypothesis makes possible is worth ∞, and is said to be.

A column that is 0 wherever P₁ > 0, but not wherever P₀ > 0, makes a divergence infinite whose f grows faster than
linearly; likewise with the two exchanged when f(0) = ∞. Such a report may name an input of probability 0, which is
free; or under ε-PML it may name a set S of inputs that P₁ excludes, when e^ε·p(S) ≥ 1: certainty about S is then
allowed. Under ε-LIP no report of positive probability excludes an input that occurs, so that S must be all of them. All
of this is decided in integers.
"""

from __future__ import annotations

import math

import numpy as np

from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LIP, PML
from extremal.utility import Divergence

METHOD = "a report that only one hypothesis makes possible: the divergence is infinite"
_SHARE = 0.5  # of the largest probability that the other report leaves to the set


def infinite(problem: Problem, privacy: PML | LIP, utility: Divergence) -> Solution | None:
    """A mechanism that is worth ∞; None when there is none."""
    first, second = utility.pair.p0.weights, utility.pair.p1.weights
    sides = []
    if math.isinf(utility.slope_at_infinity):
        sides.append((first, second))
    if math.isinf(utility.at_zero):
        sides.append((second, first))
    for likely, excluded in sides:
        told = [x for x in range(utility.k) if likely[x] and not excluded[x]]
        if any(not privacy.prior.weights[x] for x in told):
            return _solution(problem, privacy, [])
        certain = [x for x, w in enumerate(excluded) if not w and privacy.prior.weights[x]]
        mass = sum(privacy.prior.weights[x] for x in certain)
        allowed = mass == privacy.prior.total or (
            isinstance(privacy, PML) and privacy.exponential.at_least(privacy.prior.total, mass)
        )
        if told and allowed:
            return _solution(problem, privacy, certain)
    return None


def _solution(problem: Problem, privacy: PML | LIP, certain: list[int]) -> Solution:
    """Inputs of probability 0 are named; the others report the set `certain` now and then, or nothing."""
    p = privacy.prior.values
    free = np.flatnonzero(p == 0)
    matrix = np.zeros((p.size, 2 + free.size))
    if certain:
        mass = float(p[certain].sum())
        matrix[certain, 0] = _SHARE * min(1.0, -math.expm1(-privacy.epsilon) / mass)
    matrix[:, 1] = 1 - matrix[:, 0]
    matrix[free] = 0.0
    matrix[free, 2 + np.arange(free.size)] = 1.0
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, math.inf, METHOD)
