"""All 2^k − 2 staircase patterns as a linear program (KOV Theorem 4): the oracle for small alphabets and for user
functions.

max Σ θ_T μ(S_T) s.t. Σ θ_T S_T = 1, θ ≥ 0, S_T = 1 + c·1_T. With several utilities in the worst case, one row more for
each.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LDP
from extremal.solver import LinearProgram
from extremal.utility import SumOfColumns, WorstCase

Floats = npt.NDArray[np.float64]

MOST_INPUTS = 16  # 65,534 patterns
_KEPT = 1e-13  # weights below this are rounding of a vertex


def applies(problem: Problem) -> bool:
    """ε-LDP with any sum of sublinear column values, or the worst case of several."""
    pure = isinstance(problem.privacy, LDP) and not problem.privacy.delta
    return pure and problem.max_outputs is None and isinstance(problem.utility, (SumOfColumns, WorstCase))


def solve(problem: Problem) -> Solution:
    utility, k, epsilon = problem.utility, problem.utility.k, problem.privacy.epsilon
    if k > MOST_INPUTS:
        raise InvalidParameter(
            f"{utility.name} is solved by enumerating 2^k patterns, for at most {MOST_INPUTS} inputs",
            parameter="k",
            value=k,
            hint="f-divergences, information and distortion have methods without enumeration.",
        )
    if not epsilon:
        constant = Mechanism.from_matrix(np.ones((k, 1)), problem.privacy, inputs=problem.inputs)
        return Solution(constant, utility(constant), "constant mechanism")
    columns = patterns(k, epsilon)
    parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
    values = np.array([part.column_values(columns) for part in parts if isinstance(part, SumOfColumns)])
    weights, bound, proof = solved_over(columns, values)
    used = weights > _KEPT * weights.max()
    mechanism = Mechanism.from_matrix((columns * weights)[:, used], problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, bound, "enumeration of all staircase patterns", (proof,))


def patterns(k: int, epsilon: float) -> Floats:
    """Every S_T/E = e^−ε + (1−e^−ε)·1_T with ∅ ≠ T ≠ all, as columns; scaled to stay finite at large ε."""
    masks = np.arange(1, 2**k - 1)
    inside = (masks[None, :] >> np.arange(k)[:, None]) & 1
    return np.where(inside == 1, 1.0, math.exp(-epsilon))


def solved_over(columns: Floats, values: Floats) -> tuple[Floats, float, dict[str, object]]:
    """Weights of a vertex, a bound from its duals, and the proof: dual α, and weights λ on the utilities."""
    k, count = columns.shape
    several = values.shape[0]
    if several == 1:
        program = LinearProgram(np.ones(k), np.ones(k))
        program.add(columns, values[0])
        answer = program.solve()
        x, alpha, mix = answer.x, answer.duals, np.ones(1)
    else:  # maximise t with Σ θ μ_i − t ≥ 0 for each utility
        scale = float(np.abs(values).max())
        program = LinearProgram([*np.ones(k), *np.zeros(several)], [*np.ones(k), *np.full(several, np.inf)])
        program.add(np.vstack([columns, values / scale]), np.zeros(count))
        program.add(np.vstack([np.zeros((k, 1)), -np.ones((several, 1))]), np.array([1.0]))
        answer = program.solve()
        x, alpha = answer.x[:-1], answer.duals[:k] * scale
        mix = np.maximum(-answer.duals[k:], 0)
        mix = mix / mix.sum()
    combined = mix @ values
    slack = combined - alpha @ columns
    bound = float(alpha.sum() + k * (slack / columns.sum(axis=0)).max())
    proof: dict[str, object] = {
        "kind": "patterns",
        "alpha": [repr(float(a)) for a in alpha],
        "mix": [repr(float(w)) for w in mix],
    }
    return x, bound, proof
