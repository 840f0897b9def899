"""PML for every prior of a class.

Small alphabets with few extreme priors: the best mechanism over all extreme columns, which double description lists
exactly. Otherwise a mechanism that holds for the whole class, from a design for one prior of it at a smaller ε, with
the bound that this prior alone gives: the gap is then what is proved, not what is lost.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from extremal.certificate import class_rays, leakage_class
from extremal.certificate.leakage_vertices import parts_of
from extremal.certificate.refused import Refused
from extremal.errors import InvalidParameter, TooLarge
from extremal.mechanism import Mechanism
from extremal.optimize.leakage import solve as leakage
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import PML
from extremal.solver import LinearProgram
from extremal.utility import SumOfColumns, WorstCase

STEPS = 24  # halvings of the ε at which the one-prior design is made
_KEPT = 1e-13  # weights below this are rounding of a vertex


def applies(problem: Problem) -> bool:
    """PML for a class of several priors, any sum over columns or the worst of several."""
    privacy = problem.privacy
    several = isinstance(privacy, PML) and privacy.source.single is None
    return several and problem.max_outputs is None and isinstance(problem.utility, (SumOfColumns, WorstCase))


def solve(problem: Problem) -> Solution:
    privacy = problem.privacy
    if not isinstance(privacy, PML):
        raise InvalidParameter("the notion must be PML", parameter="privacy", value=privacy)
    if not privacy.epsilon:
        constant = Mechanism.from_matrix(np.ones((privacy.k, 1)), privacy, inputs=problem.inputs)
        return Solution(constant, problem.utility(constant), "constant mechanism")
    try:
        return _listed(problem, privacy)
    except (Refused, TooLarge):  # too many extreme columns or priors to list
        return _shrunk(problem, privacy)


def _listed(problem: Problem, privacy: PML) -> Solution:
    """The linear program over all extreme columns of the class."""
    columns = class_rays.as_columns(class_rays.rays(privacy))
    parts = parts_of(problem.utility)
    values = np.array([part.column_values(columns) for part in parts])
    if not np.isfinite(values).all():
        raise InvalidParameter(
            "the utility must be finite for every admissible report", parameter="utility", value=problem.utility
        )
    k, several = privacy.k, len(parts)
    if several == 1:
        program = LinearProgram(np.ones(k), np.ones(k))
        program.add(columns, values[0])
        answer = program.solve()
        x, alpha, mix = answer.x, answer.duals, np.ones(1)
    else:
        scale = float(np.abs(values).max()) or 1.0
        program = LinearProgram([*np.ones(k), *np.zeros(several)], [*np.ones(k), *np.full(several, np.inf)])
        program.add(np.vstack([columns, values / scale]), np.zeros(columns.shape[1]))
        program.add(np.vstack([np.zeros((k, 1)), -np.ones((several, 1))]), np.array([1.0]))
        answer = program.solve()
        x, alpha, mix = answer.x[:-1], answer.duals[:k] * scale, np.maximum(-answer.duals[k:], 0)
        mix = mix / mix.sum()
    used = x > _KEPT * x.max()
    matrix = columns[:, used] * x[used]
    mechanism = Mechanism.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), privacy, inputs=problem.inputs)
    proof = {"kind": class_rays.KIND, "alpha": [repr(float(a)) for a in alpha], "mix": [repr(float(w)) for w in mix]}
    return Solution(
        mechanism, math.inf, "enumeration of the extreme columns of the class", (proof,), _notes(mechanism, privacy)
    )


def _shrunk(problem: Problem, privacy: PML) -> Solution:
    """The largest ε′ ≤ ε whose one-prior design still holds for the class, by halving."""
    prior = privacy.source.member()
    single = privacy.under(prior)
    outer = leakage.solve(dataclasses.replace(problem, privacy=single))
    bound = tuple({"kind": leakage_class.KIND, "proof": proof} for proof in outer.proofs)
    best = outer.mechanism.claiming(privacy) if privacy.holds(outer.mechanism) else None
    low, high = 0.0, privacy.epsilon
    for _ in range(STEPS if best is None else 0):
        if problem.out_of_time and best is not None:
            break
        middle = (low + high) / 2
        loose = dataclasses.replace(problem, privacy=PML(repr(middle), prior), tolerance=max(problem.tolerance, 1e-7))
        tried = leakage.solve(loose).mechanism
        if privacy.holds(tried):
            low, best = middle, tried.claiming(privacy)
        else:
            high = middle
        if high - low < 1e-4 * high:
            break
    if best is None:
        best = Mechanism.from_matrix(np.ones((privacy.k, 1)), privacy, inputs=problem.inputs)
    return Solution(best, math.inf, "design for one prior of the class at a smaller ε", bound, _notes(best, privacy))


def _notes(mechanism: Mechanism, privacy: PML) -> tuple[str, ...]:
    return (
        (
            f"holds for every prior of {privacy.source!r}: the largest leakage over the class is "
            f"{privacy.level(mechanism):.6g}"
        ),
    )
