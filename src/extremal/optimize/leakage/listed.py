"""All extreme lift vectors as a linear program (GSO Theorem 5, erratum P5): averages, worst cases, any sublinear
function.

max Σ θ·μ(λ(y)) s.t. Σ θ·y = b in every row; with several utilities in the worst case, one row more for each.
"""

from __future__ import annotations

import math

import numpy as np

from extremal.certificate.leakage_vertices import KIND, columns_of, parts_of, unit_columns, vertices
from extremal.certificate.lift import LiftBox
from extremal.errors import InvalidParameter
from extremal.optimize.leakage.master import as_mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.solver import LinearProgram

_KEPT = 1e-13  # weights below this are rounding of a vertex


def enumerated(problem: Problem, box: LiftBox) -> Solution:
    """The optimum over all vertices of the box, and its dual vector."""
    k, parts = problem.utility.k, parts_of(problem.utility)
    y = vertices(box)
    values = np.array([part.column_values(columns_of(box, y, k)) for part in parts])
    units = unit_columns(box, k)
    rest = np.array([math.fsum(part.column_values(units)) for part in parts])
    if not np.isfinite(values).all() or not np.isfinite(rest).all():
        raise InvalidParameter(
            "the utility must be finite for every admissible report", parameter="utility", value=problem.utility
        )
    n, several = box.n, len(parts)
    if several == 1:
        program = LinearProgram(np.ones(n), np.ones(n))
        program.add(y.T, box.budget * values[0])
        answer = program.solve()
        x, alpha, mix = answer.x, answer.duals / box.budget, np.ones(1)
    else:  # maximise t with Σ θ μ_i + (what the other inputs give) ≥ t for each utility
        scale = float(np.abs(values).max()) or 1.0
        program = LinearProgram([*np.ones(n), *(-rest / scale)], [*np.ones(n), *np.full(several, np.inf)])
        program.add(np.vstack([y.T, box.budget * values / scale]), np.zeros(y.shape[0]))
        program.add(np.vstack([np.zeros((n, 2)), np.outer(np.ones(several), [-1.0, 1.0])]), np.array([1.0, -1.0]))
        answer = program.solve()
        x, alpha = answer.x[:-2], answer.duals[:n] * scale / box.budget
        mix = np.maximum(-answer.duals[n:], 0)
        mix = mix / mix.sum()
    used = x > _KEPT * x.max()
    theta = x[used]
    change = np.linalg.lstsq(y[used].T, 1 - y[used].T @ theta, rcond=None)[0]
    theta = theta + change if (theta + change >= 0).all() else theta
    mechanism = as_mechanism(problem, box, y[used], theta * box.budget, reveal=bool(rest.any()))
    proof = {"kind": KIND, "alpha": [repr(float(a)) for a in alpha], "mix": [repr(float(w)) for w in mix]}
    return Solution(mechanism, math.inf, "enumeration of all extreme lift vectors", (proof,))
