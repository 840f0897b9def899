"""A convex utility under ε-LDP: every vertex of the staircase program, for few inputs.

The mixtures θ ≥ 0 of staircase patterns with Σθ_T S_T = 1 form a polytope, a convex function is largest at one of its
vertices (KOV Theorem 21), and a vertex has at most k patterns: all sets of k patterns are tried. The utility is the
user's function, so the bound is what is believed, and nothing is verified.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from extremal.errors import TooLarge
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution, constant
from extremal.privacy import LDP
from extremal.privacy.cones.staircase import patterns
from extremal.utility import ConvexUtility

MOST_INPUTS = 5  # 142,506 sets of five patterns
_REGULAR = 1e-9  # smaller determinants, of columns with largest entry 1, are 0
_NEGATIVE = -1e-12


def solve(problem: Problem) -> Solution | None:
    """A convex utility under ε-LDP."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case LDP(delta=0) as privacy, ConvexUtility() as utility, None:
            return constant(problem) if privacy.epsilon == 0 else _solved(problem, utility)
        case _:
            return None


def _solved(problem: Problem, utility: ConvexUtility) -> Solution:
    k, epsilon = utility.k, problem.privacy.epsilon
    if k > MOST_INPUTS:
        raise TooLarge(
            f"a convex utility is maximised over all vertices, for at most {MOST_INPUTS} inputs",
            parameter="k",
            value=k,
            hint="If it is a sum over reports, ex.Sublinear serves more.",
        )
    columns, step = patterns(k, epsilon), -math.expm1(-epsilon)
    chosen = np.array(list(itertools.combinations(range(columns.shape[1]), k)))
    squares = columns.T[chosen].transpose(0, 2, 1)
    squares = squares[np.abs(np.linalg.det(squares)) > _REGULAR * step ** (k - 1)]
    weights = np.linalg.solve(squares, np.ones((len(squares), k, 1)))[..., 0]
    feasible = weights.min(axis=1) >= _NEGATIVE
    best = np.ones((k, 1))
    reached = utility.of_matrix(best)
    for square, theta in zip(squares[feasible], np.maximum(weights[feasible], 0.0), strict=True):
        matrix = (square * theta)[:, theta > 0]
        matrix /= matrix.sum(axis=1, keepdims=True)
        value = utility.of_matrix(matrix)
        if value > reached:
            best, reached = matrix, value
    mechanism = Mechanism.from_matrix(best, problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, reached, "every vertex of the staircase program", notes=("unverified (user function)",))
