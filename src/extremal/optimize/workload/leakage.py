"""Workloads under PML and LIP: every extreme column listed, or columns that a search finds.

The columns that these notions admit have lifts between two numbers, and their extreme rays are the vertices of {q: π·q
= 1, lowest ≤ q ≤ highest}: all coordinates at an end but one. A workload is designed on them exactly as on staircase
patterns. Beyond a dozen inputs columns are generated: the worth (S − 1)ᵀG(S − 1) − λ·S of a column is convex, so that
the best vertex for its slope at S, a knapsack, is worth no less than S; ascents of many starts are the search. The
matrix inequality for lifts proves the bound, for the workload's own prior.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.optimize.leakage.master import window_columns
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.optimize.workload.inequality import best_lift_inequality
from extremal.optimize.workload.interior import OptimalDesign, excess_levels, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats
from extremal.optimize.workload.mechanisms import balanced, reduced
from extremal.optimize.workload.proofs import listed_patterns
from extremal.optimize.workload.solve import finished, refuse_nothing
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import LiftBox, whole_box
from extremal.utility import Workload

ROUNDING = 1e-12  # what entries of columns are off by
BOUND_SECONDS = 10.0  # of the processor for the matrix inequality
ORDERS = 12  # of the inputs whose windows are the first columns
TURNS = 60  # a guard: of columns and weights
STARTS = 20  # random columns for each input, from which to ascend
ASCENTS = 12  # a guard: an ascent ends where a column is best for its own slope
MOST_NEW = 6  # columns a turn, for each input
TOLERANCE = 1e-7  # of a design on the way: the bound is further away
NEAR_BOUND = 1e-5  # relative: this close to the bound there is little to gain
KEPT = 1e-8  # of the largest weight: columns that are kept from one turn to the next
GAIN = 1e-7  # relative: what a new column must be worth more


def solve(problem: Problem, privacy: PML | LIP, utility: Workload) -> Solution:
    """The best mechanism under PML or LIP, for one prior."""
    refuse_nothing(privacy)
    if utility.prior is None or (isinstance(privacy, PML) and privacy.source.single is None):
        raise InvalidParameter(
            "under PML and LIP a workload is designed for one prior", parameter="prior", value=utility.source
        )
    prior = utility.prior.values
    most = SIZES.searched_lifts if utility.prior == privacy.prior else SIZES.lift_columns
    if utility.k > most or not privacy.prior.values.all() or not prior.all():
        raise InvalidParameter(
            f"under {privacy.name} a workload is designed for at most {SIZES.searched_lifts} inputs with the notion's "
            f"prior, {SIZES.lift_columns} with another, no probability zero",
            parameter="k",
            value=utility.k,
            hint="Group inputs into fewer bins, or use ex.LDP.",
        )
    coordinates = Coordinates(prior, utility.rows)
    if utility.k > SIZES.lift_columns:
        return finished(problem, utility, _searched(problem, privacy, utility, coordinates))
    columns = extreme_columns(privacy)
    lifts = columns / (prior @ columns)
    points = coordinates.points(lifts - 1)
    found = optimal_design(points, coordinates.guarded)
    proof = listed_patterns(coordinates, found, Fraction(utility.exact_gram[1]))
    mechanism = _mechanism(problem, privacy, coordinates, lifts, found)
    return finished(problem, utility, Solution(mechanism, found.bound, "all extreme columns, interior point", (proof,)))


def _mechanism(
    problem: Problem, privacy: PML | LIP, coordinates: Coordinates, lifts: Floats, found: OptimalDesign
) -> Mechanism:
    theta = balanced(lifts, reduced(coordinates.points(lifts - 1), found.theta, coordinates.guarded))
    matrix = lifts[:, theta > 0] * theta[theta > 0]
    try:
        whole = matrix / matrix.sum(axis=1, keepdims=True)
        return Mechanism.from_matrix(whole, privacy=privacy, inputs=problem.inputs)
    except PrivacyViolation:  # very different priors: the weights could not be balanced in floats
        return Mechanism.from_matrix(completed(matrix, privacy), privacy=privacy, inputs=problem.inputs)


def _searched(problem: Problem, privacy: PML | LIP, utility: Workload, coordinates: Coordinates) -> Solution:
    """Columns that ascents find, and the matrix inequality."""
    box, p, left = whole_box(privacy), coordinates.prior, problem.seconds_left
    seconds = BOUND_SECONDS if left is None else min(BOUND_SECONDS, left / 4)
    bound = best_lift_inequality(coordinates, *around_lifts(privacy), seconds)
    generator = np.random.default_rng(0)  # proposals of a search, always the same ones
    lifts = box.lifts(window_columns(box, [generator.permutation(p.size) for _ in range(ORDERS)]))
    for turn in range(TURNS):
        lifts = np.unique(lifts, axis=0)
        found = optimal_design(coordinates.points(lifts.T - 1), coordinates.guarded, TOLERANCE)
        problem.progress("columns", max(0.0, 1 - bound.bound / found.value))
        if problem.out_of_time or found.value <= bound.bound * (1 + NEAR_BOUND) or turn == TURNS - 1:
            break
        better = _ascended(box, coordinates, found, generator)
        kept = found.theta > KEPT * found.theta.max()
        if not len(better):
            break
        lifts = np.vstack([lifts[kept], better])
    proof = bound.proof(privacy, utility)
    mechanism = _mechanism(problem, privacy, coordinates, lifts.T, found)
    return Solution(mechanism, bound.bound, "column generation", (proof,))


def around_lifts(privacy: PML | LIP) -> tuple[Floats, Floats]:
    """By how much the lift of each input may lie below and above 1: what the others cannot carry it must."""
    p, top = privacy.prior.values, math.exp(privacy.epsilon)
    low = math.exp(-privacy.lower) if isinstance(privacy, LIP) else 0.0
    below = 1 - np.maximum(low, (1 - top * (1 - p)) / p)
    return np.asarray(below), np.asarray(np.minimum(top, (1 - low * (1 - p)) / p) - 1)


def _ascended(box: LiftBox, coordinates: Coordinates, found: OptimalDesign, generator: np.random.Generator) -> Floats:
    """Columns, one a row, that are worth more than the level of a design, best first."""
    slope, tilt = coordinates.basis @ found.slope @ coordinates.basis.T, coordinates.basis @ found.tilt
    orders = np.argsort(generator.random((STARTS * box.n, box.n)), axis=1)
    lifts = box.lifts(box.filled(orders))
    for _ in range(ASCENTS):
        gains = 2 * (lifts - 1) @ slope - tilt
        following = box.lifts(box.greedy(gains * math.copysign(1.0, box.step)))
        if np.array_equal(following, lifts):
            break
        lifts = following
    lifts = np.unique(lifts, axis=0)
    worth = excess_levels(coordinates.points(lifts.T - 1), found.slope, found.tilt)
    order = np.argsort(-worth, kind="stable")
    return np.asarray(lifts[order][worth[order] > found.level * (1 + GAIN)][: MOST_NEW * box.n])


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
