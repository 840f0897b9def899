"""The best mechanism under pointwise maximal leakage or local information privacy, for one prior.

Closed forms where they are proven: two inputs, region 1 and "nothing to hide" (the lift vectors form a simplex, of
which every mechanism is a post-processing; GSO Theorems 2 and 3), a uniform prior with information (Theorem 4).
f-divergences by columns priced on supporting lines, information by knapsack pricing, anything else over all extreme
lift vectors when there are few inputs (Theorem 5, corrected).
"""

from __future__ import annotations

import math

import numpy as np

from extremal.certificate import leakage_symmetric, leakage_vertices
from extremal.certificate.lift import LiftBox, lift_box
from extremal.closed_forms import pml_uniform
from extremal.errors import InvalidParameter
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.optimize.leakage import divergence as leakage_divergence
from extremal.optimize.leakage import information as leakage_information
from extremal.optimize.leakage import merging as leakage_merging
from extremal.optimize.leakage.listed import enumerated
from extremal.optimize.leakage.master import as_mechanism
from extremal.optimize.leakage.notes import sentences
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LIP, PML, Notion
from extremal.utility import Divergence, MutualInformation, SumOfColumns, WorstCase

LISTED = leakage_vertices.MOST_INPUTS
LARGEST_SIMPLEX = 4096  # inputs: the closed forms without structure are dense matrices


def applies(problem: Problem) -> bool:
    """PML for one prior, or LIP, with any sum of sublinear column values or the worst case of several."""
    privacy = problem.privacy
    one_prior = isinstance(privacy, LIP) or (isinstance(privacy, PML) and privacy.source.single is not None)
    return one_prior and problem.max_outputs is None and isinstance(problem.utility, (SumOfColumns, WorstCase))


def solve(problem: Problem) -> Solution:
    found = solved_over(problem)
    return Solution(
        found.mechanism,
        found.bound,
        found.method,
        found.proofs,
        (*found.notes, *sentences(found.mechanism, problem.utility)),
    )


def prior_of(privacy: Notion) -> Prior:
    """The one prior of the notion."""
    if not isinstance(privacy, (PML, LIP)):
        raise InvalidParameter("the notion must be PML or LIP", parameter="privacy", value=privacy)
    return privacy.prior


def solved_over(problem: Problem) -> Solution:
    privacy, utility = problem.privacy, problem.utility
    if not privacy.epsilon or (isinstance(privacy, LIP) and not privacy.lower):
        return _constant(problem)
    own = isinstance(utility, MutualInformation) and utility.prior == prior_of(privacy)
    if own and isinstance(privacy, PML) and len(set(prior_of(privacy).weights)) == 1:
        mechanism = pml_uniform(privacy.k, privacy.exponential.exponent or privacy.epsilon, inputs=problem.inputs)
        if mechanism.privacy == privacy:
            return Solution(
                mechanism, math.inf, "closed form: uniform prior (GSO Theorem 4)", ({"kind": leakage_symmetric.KIND},)
            )
    box = lift_box(privacy)
    if box.is_simplex and box.n <= LARGEST_SIMPLEX:
        return _simplex(problem, box)
    if leakage_merging.applies(box, utility, own):
        return leakage_merging.solve(problem, box)
    if isinstance(utility, Divergence):
        return leakage_divergence.solve(problem, box, utility)
    if own:
        return leakage_information.solve(problem, box)
    if box.n <= LISTED:
        return enumerated(problem, box)
    raise InvalidParameter(
        f"{utility.name} under {privacy.name} is solved over all extreme lift vectors, for at most {LISTED} inputs of "
        "positive probability",
        parameter="inputs",
        value=box.n,
        hint="Single f-divergences, and information under the prior of the notion, have methods without enumeration.",
    )


def _constant(problem: Problem) -> Solution:
    """At level 0 every report is independent of the input; inputs of probability 0 may still be told apart."""
    utility, values = problem.utility, prior_of(problem.privacy).values
    support, rest = np.flatnonzero(values > 0), np.flatnonzero(values == 0)
    matrix = np.zeros((values.size, 1 + rest.size))
    matrix[support, 0] = 1.0
    matrix[rest, 1 + np.arange(rest.size)] = 1.0
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, utility(mechanism), "constant mechanism")


def _simplex(problem: Problem, box: LiftBox) -> Solution:
    utility = problem.utility
    y = leakage_vertices.simplex_vertices(box)
    theta = leakage_vertices.simplex_weights(box, y)
    columns = leakage_vertices.columns_of(box, y, utility.k)
    rest = leakage_vertices.unit_columns(box, utility.k)
    parts = leakage_vertices.parts_of(utility)
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
    return Solution(mechanism, math.inf, name, ({"kind": leakage_vertices.SIMPLEX},))
