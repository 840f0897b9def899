"""The best mechanism under pointwise maximal leakage or local information privacy, for one prior.

Closed forms where they are proven: two inputs, region 1 and "nothing to hide" (the lift vectors form a simplex, of
which every mechanism is a post-processing; GSO Theorems 2 and 3), a uniform prior with information (Theorem 4).
f-divergences by columns priced on supporting lines, information by knapsack pricing, anything else over all extreme
lift vectors when there are few inputs (Theorem 5, corrected).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from extremal.certificate.proof import LeakageSimplex, LeakageSymmetric
from extremal.closed_forms import pml_uniform
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.leakage import divergence, information, merging
from extremal.optimize.leakage.master import as_mechanism
from extremal.optimize.leakage.notes import sentences
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.rays import over_lifts, parts_of
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import (
    MOST_INPUTS,
    Floats,
    LiftBox,
    columns_of,
    lift_box,
    simplex_vertices,
    simplex_weights,
    unit_columns,
)
from extremal.utility import Divergence, MutualInformation, SumOfColumns, WorstCase

LARGEST_SIMPLEX = 4096  # inputs: the closed forms without structure are dense matrices


def solve(problem: Problem) -> Solution | None:
    """PML for one prior, or LIP, with any sum of sublinear column values or the worst case of several."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case LIP() as privacy, SumOfColumns() | WorstCase(), None:
            return for_one_prior(problem, privacy)
        case PML() as privacy, SumOfColumns() | WorstCase(), None if privacy.source.single is not None:
            return for_one_prior(problem, privacy)
        case _:
            return None


def for_one_prior(problem: Problem, privacy: PML | LIP) -> Solution:
    """The solution, with what its level means in words."""
    found = _solved(problem, privacy)
    return replace(found, notes=(*found.notes, *sentences(found.mechanism, problem.utility)))


def _solved(problem: Problem, privacy: PML | LIP) -> Solution:
    utility = problem.utility
    if not privacy.epsilon or (isinstance(privacy, LIP) and not privacy.lower):
        return _constant(problem, privacy.prior.values)
    own = isinstance(utility, MutualInformation) and utility.prior == privacy.prior
    if own and isinstance(privacy, PML) and len(set(privacy.prior.weights)) == 1:
        mechanism = pml_uniform(privacy.k, privacy.exponential.exponent or privacy.epsilon, inputs=problem.inputs)
        if mechanism.privacy == privacy:
            return Solution(mechanism, math.inf, "closed form: uniform prior (GSO Theorem 4)", (LeakageSymmetric(),))
    box = lift_box(privacy)
    if box.is_simplex and box.n <= LARGEST_SIMPLEX:
        return _simplex(problem, box)
    if isinstance(utility, Divergence):
        return merging.divergence(problem, box, utility) or divergence.solve(problem, box, utility)
    if own:
        return merging.information(problem, box) or information.solve(problem, box)
    if box.n <= MOST_INPUTS:
        return over_lifts(problem, box)
    raise InvalidParameter(
        f"{utility.name} under {privacy.name} is solved over all extreme lift vectors, for at most {MOST_INPUTS} "
        "inputs of positive probability",
        parameter="inputs",
        value=box.n,
        hint="Single f-divergences, and information under the prior of the notion, have methods without enumeration.",
    )


def _constant(problem: Problem, values: Floats) -> Solution:
    """At level 0 every report is independent of the input; inputs of probability 0 may still be told apart."""
    support, rest = np.flatnonzero(values > 0), np.flatnonzero(values == 0)
    matrix = np.zeros((values.size, 1 + rest.size))
    matrix[support, 0] = 1.0
    matrix[rest, 1 + np.arange(rest.size)] = 1.0
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, problem.utility(mechanism), "constant mechanism")


def _simplex(problem: Problem, box: LiftBox) -> Solution:
    utility = problem.utility
    y = simplex_vertices(box)
    theta = simplex_weights(box, y)
    columns = columns_of(box, y, utility.k)
    rest = unit_columns(box, utility.k)
    parts = parts_of(utility)
    reveal = any(part.column_values(rest).any() for part in parts) if rest.size else False
    if any(not np.isfinite(part.column_values(c)).all() for part in parts for c in (columns, rest) if c.size):
        raise InvalidParameter(
            f"{utility.name} must be bounded: at this ε a report may be possible under one hypothesis only, which "
            "makes it infinite",
            parameter="utility",
            value=utility,
            hint="Choose a smaller ε, a bounded divergence (TotalVariation, SquaredHellinger, JensenShannon), or "
            "priors without zeros.",
        )
    mechanism = as_mechanism(problem, box, y, theta, reveal)
    if box.n == 2:
        name = "closed form: two inputs (GSO Theorem 2)"
    else:
        name = "closed form: region 1 (GSO Theorem 3)" if box.step < 0 else "closed form: nothing more can be hidden"
    return Solution(mechanism, math.inf, name, (LeakageSimplex(),))
