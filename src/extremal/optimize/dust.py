"""Reports that nobody will ever see, folded into others.

Searches end with columns of weights that are next to nothing. A report whose probability is below `LEAST` for every
input is given the name of the report that it is most like: a post-processing, after which every notion holds that held
before, in the same whole numbers. It stays where the goal would lose by that: a rare input may have a report of its
own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import DENOMINATOR, Floats, Indices, Weights
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import Rows, TwoValuedColumns
from extremal.optimize.problem import Problem, Solution
from extremal.utility import Utility

LEAST = 1e-9  # probability of a report, under the input that makes it likeliest: one person in a thousand million
FALLS = (1.0, 1e-3, 1e-6)  # times that: where all dust is worth something, what is far below may not be
WORTHLESS = 0.25  # of the tolerance, relatively to the value: what folding may cost
HUGE = 1e300  # stands for an infinite value, of which no share may be lost
MOST_ENTRIES = 1 << 24  # of the weights that are looked at: more is 128 MB, and no search ends with so many
AT_ONCE = 1 << 22  # distances in one product


def without_dust(problem: Problem, solution: Solution) -> Solution:
    """The same with reports folded into others that are too rare to be seen, where that costs next to nothing."""
    structure = solution.mechanism.structure
    if not isinstance(structure, Rows | TwoValuedColumns) or structure.r * structure.m > MOST_ENTRIES:
        return solution  # other structures have no rare reports
    rows = structure.rows()
    largest = rows.max(axis=0)
    for fall in FALLS:
        rare = largest < LEAST * fall * DENOMINATOR
        if not rare.any() or rare.all():
            break
        folded = _folded(solution.mechanism, rows, rare)
        goals = (problem.utility, *getattr(problem.utility, "utilities", ()))
        if all(_is_as_good(goal, solution.mechanism, folded, WORTHLESS * problem.tolerance) for goal in goals):
            return replace(solution, mechanism=folded)
    return solution


def _is_as_good(goal: Utility, mechanism: Mechanism, folded: Mechanism, most: float) -> bool:
    """Whether a goal, or a part of one, loses no more than a share of its value."""
    before, after = goal(mechanism), goal(folded)
    return after == before or (after - before if goal.is_cost else before - after) <= most * min(abs(before), HUGE)


def _folded(mechanism: Mechanism, rows: Weights, rare: npt.NDArray[np.bool_]) -> Mechanism:
    """Each rare report called like the one that it is most like."""
    seen = np.flatnonzero(~rare)
    whole = rows[:, seen].copy()
    for y, to in zip(
        np.flatnonzero(rare).tolist(), nearest(_scaled(rows[:, rare]), _scaled(whole)).tolist(), strict=True
    ):
        whole[:, to] += rows[:, y]
    labels = mechanism.output_labels
    outputs = None if labels.numbered else labels.take(seen.tolist())
    return Mechanism.from_weights(
        whole if mechanism.row_of is None else whole[mechanism.row_of],
        privacy=mechanism.privacy,
        inputs=mechanism.input_labels,
        outputs=outputs,
    )


def nearest(points: Floats, others: Floats) -> Indices:
    """For each column the number of the nearest of some others."""
    sizes = (others**2).sum(axis=0)
    step = 1 + AT_ONCE // sizes.size
    parts = (points[:, first : first + step] for first in range(0, points.shape[1], step))
    return np.concatenate([np.argmin(sizes - 2 * part.T @ others, axis=1) for part in parts])


def _scaled(weights: Weights) -> Floats:
    """Columns with largest entry 1."""
    columns = weights.astype(np.float64)
    return np.asarray(columns / columns.max(axis=0))
