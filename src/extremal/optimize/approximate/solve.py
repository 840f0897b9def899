"""The best (ε,δ)-LDP mechanism: a linear program over the rays of `privacy/cones/coupled`.

max Σ θ_r μ(r) s.t. Σ θ_r r = 1, Σ θ_r (r_x − e^ε·r_z)⁺ ≤ δ for every ordered pair, θ ≥ 0. KOV treats two inputs
(Theorem 19: the quaternary mechanism) and leaves more open; here the program is exact for up to 6. At most k² outputs
are used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from extremal.certificate import Coupled
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution, decimal, decimals
from extremal.optimize.rays import parts_of
from extremal.privacy import LDP
from extremal.privacy.cones.coupled import couplings, rays
from extremal.solver import LinearProgram
from extremal.tables import number
from extremal.utility import SumOfColumns, Utility, WorstCase

KEPT = 1e-12  # of the largest weight: what is below is rounding of a vertex


def solve(problem: Problem) -> Solution | None:
    """(ε,δ)-LDP with δ > 0, any sum of sublinear column values or the worst case of several."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case LDP() as privacy, SumOfColumns() | WorstCase(), None if privacy.delta > 0:
            return _solved(problem, privacy)
        case _:
            return None


def _solved(problem: Problem, privacy: LDP) -> Solution:
    k, parts = problem.utility.k, parts_of(problem.utility)
    columns = rays(k, privacy.epsilon)
    values = np.array([part.column_values(columns) for part in parts])
    if not np.isfinite(values).all():
        return _infinite(problem, privacy)
    bound, delta = couplings(columns, privacy.epsilon), float(privacy.delta)
    rows, several = k * (k - 1), len(parts)
    lower = [*np.ones(k), *np.full(rows, -np.inf), *np.zeros(several)]
    upper = [*np.ones(k), *np.full(rows, delta), *np.full(several, np.inf)]
    scale = float(np.abs(values).max()) or 1.0
    program = LinearProgram(lower, upper)
    program.add(np.vstack([columns, bound, values / scale]), np.zeros(columns.shape[1]))
    worst = np.vstack([np.zeros((k + rows, 2)), np.outer(np.ones(several), [-1.0, 1.0])])
    program.add(worst, np.array([1.0, -1.0]))
    answer = program.solve()
    theta = answer.x[:-2]
    used = theta > KEPT * theta.max()
    mechanism = _mechanism(problem, columns[:, used] * theta[used])
    mix = np.maximum(-answer.duals[k + rows :], 0)
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    betas = np.maximum(answer.duals[k : k + rows], 0) * scale
    prices = tuple((0, x, z, decimal(b)) for (x, z), b in zip(pairs, betas.tolist(), strict=True) if b > 0)
    proof = Coupled(
        decimals((answer.duals[:k] * scale).tolist()), prices, decimals(mix / mix.sum()) if several > 1 else ()
    )
    proofs = (proof,) if problem.utility.verifiable else ()
    notes = (RevealOrStaircase(problem.utility, privacy, mechanism),)
    return Solution(mechanism, math.inf, "linear program over the rays of the (ε,δ) arrangement", proofs, notes)


def _mechanism(problem: Problem, matrix: Floats) -> Mechanism:
    return Mechanism.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), problem.privacy, inputs=problem.inputs)


def _infinite(problem: Problem, privacy: LDP) -> Solution:
    """Revealing the input with probability δ makes the value infinite: nothing is left to prove."""
    k, revealed = problem.utility.k, math.floor(privacy.exact_delta * DENOMINATOR)
    weights = np.hstack([np.full((k, 1), DENOMINATOR - revealed), revealed * np.eye(k, dtype=np.int64)])
    mechanism = Mechanism.from_weights(weights, DENOMINATOR, privacy, inputs=problem.inputs)
    said = "the value is infinite: with probability δ a report may name an input that one hypothesis excludes"
    return Solution(mechanism, math.inf, said)


@dataclass(frozen=True, eq=False)
class RevealOrStaircase:
    """How much better the optimum is than revealing with probability δ and else the best ε-mechanism."""

    utility: Utility
    privacy: LDP
    mechanism: Mechanism

    def sentence(self) -> str:
        from extremal.optimize.design import design

        delta = float(self.privacy.delta)
        plain = design(LDP(repr(self.privacy.epsilon)), self.utility).mechanism.matrix
        revealing = np.hstack([(1 - delta) * plain, delta * np.eye(self.utility.k)])
        reached, best = self.utility(revealing), self.utility(self.mechanism)
        share = f" ({number(100 * reached / best, 5)}% of this)" if best and np.isfinite(best) else ""
        return f"revealing with probability δ, else the best ε-mechanism: {number(reached)}{share}"
