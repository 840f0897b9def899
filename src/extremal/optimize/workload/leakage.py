"""Workloads under PML and LIP: every extreme column listed, small alphabets.

The columns that these notions admit have lifts between two numbers, and their extreme rays are the vertices of {q: π·q
= 1, lowest ≤ q ≤ highest}: all coordinates at an end but one. A workload is designed on them exactly as on staircase
patterns."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.optimize.workload.interior import optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats
from extremal.optimize.workload.mechanisms import balanced, reduced
from extremal.optimize.workload.proofs import listed_patterns
from extremal.optimize.workload.solve import finished, refuse_nothing
from extremal.privacy import LIP, PML
from extremal.utility import Workload

ROUNDING = 1e-12  # what entries of columns are off by


def solve(problem: Problem, privacy: PML | LIP, utility: Workload) -> Solution:
    """The best mechanism under PML or LIP, for one prior."""
    refuse_nothing(privacy)
    if utility.prior is None or (isinstance(privacy, PML) and privacy.source.single is None):
        raise InvalidParameter(
            "under PML and LIP a workload is designed for one prior", parameter="prior", value=utility.source
        )
    prior = utility.prior.values
    if utility.k > SIZES.lift_columns or not privacy.prior.values.all() or not prior.all():
        raise InvalidParameter(
            f"under {privacy.name} a workload is designed for at most {SIZES.lift_columns} inputs, no prior zero",
            parameter="k",
            value=utility.k,
            hint="Group inputs into fewer bins, or use ex.LDP.",
        )
    columns = extreme_columns(privacy)
    lifts = columns / (prior @ columns)
    coordinates = Coordinates(prior, utility.rows)
    points = coordinates.points(lifts - 1)
    found = optimal_design(points, coordinates.guarded)
    theta = balanced(lifts, reduced(points, found.theta, coordinates.guarded))
    matrix = lifts[:, theta > 0] * theta[theta > 0]
    try:
        whole = matrix / matrix.sum(axis=1, keepdims=True)
        mechanism = Mechanism.from_matrix(whole, privacy=privacy, inputs=problem.inputs)
    except PrivacyViolation:  # very different priors: the weights could not be balanced in floats
        mechanism = Mechanism.from_matrix(completed(matrix, privacy), privacy=privacy, inputs=problem.inputs)
    proof = listed_patterns(coordinates, found, Fraction(utility.exact_gram[1]))
    return finished(problem, utility, Solution(mechanism, found.bound, "all extreme columns, interior point", (proof,)))


def completed(matrix: Floats, privacy: PML | LIP) -> Floats:
    """Admissible columns made into rows that sum to 1: what is missing becomes one more column, with as much of a
    constant as makes it admissible."""
    columns = matrix / matrix.sum(axis=1).max()
    missing = np.maximum(1 - columns.sum(axis=1), 0.0)
    mean, top = float(privacy.prior.values @ missing), math.exp(privacy.epsilon)
    constant = (float(missing.max()) - top * mean) / (top - 1)
    if isinstance(privacy, LIP):
        below = math.exp(privacy.lower)
        constant = max(constant, (mean - below * float(missing.min())) / (below - 1))
    constant = max(constant, 0.0) * (1 + ROUNDING) + ROUNDING
    whole = np.column_stack([columns, missing + constant]) / (1 + constant)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


def extreme_columns(privacy: PML | LIP) -> Floats:
    """The vertices, one a column; constants are no use and are left out."""
    prior = privacy.prior.values
    highest = math.exp(privacy.epsilon)
    lowest = math.exp(-privacy.lower) if isinstance(privacy, LIP) else 0.0
    k, found = prior.size, []
    for j in range(k):
        others = [x for x in range(k) if x != j]
        for size in range(k):
            for chosen in combinations(others, size):
                mass = float(prior[list(chosen)].sum())
                middle = (1 - highest * mass - lowest * (1 - mass - prior[j])) / prior[j]
                if lowest - ROUNDING <= middle <= highest + ROUNDING:
                    column = np.full(k, lowest)
                    column[list(chosen)] = highest
                    column[j] = min(max(middle, lowest), highest)
                    found.append(column)
    columns = np.unique(np.round(np.array(found), 12), axis=0).T
    return np.asarray(columns[:, np.ptp(columns, axis=0) > ROUNDING])
