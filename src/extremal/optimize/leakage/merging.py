"""Large alphabets: inputs are merged, the merged problem solved, and its mechanism read back.

A report that depends on the group of the input only has the same lift for all inputs of a group, so what is private for
the merged prior is private for the prior itself. Information: the likelier inputs stay alone, the others are dealt into
groups of unequal size, whose sums reach any budget. Divergences: inputs that a column sees alike, by P₀/p and P₁/p, are
merged. The bound is proved for the full alphabet, so the gap says what merging may have lost.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from extremal.certificate.leakage_divergence import KIND as CHORDS
from extremal.certificate.leakage_information import KIND as KNAPSACK
from extremal.certificate.leakage_information import Curve
from extremal.certificate.lift import Floats, LiftBox, lift_box
from extremal.mechanism import Mechanism
from extremal.optimize.leakage import divergence as leakage_divergence
from extremal.optimize.leakage import information as leakage_information
from extremal.optimize.problem import Problem, Solution
from extremal.utility import Divergence, MutualInformation, Utility

MOST_INPUTS = {"information": 250, "divergence": 400}  # beyond this many, inputs are merged
GROUPS = 90
SIDE = 11  # of the grid of cells for divergences


def applies(box: LiftBox, utility: Utility, own: bool) -> bool:
    """Too many inputs for column generation on all of them; `own`: information under the prior of the notion."""
    if isinstance(utility, Divergence):
        return box.n > MOST_INPUTS["divergence"]
    return own and box.n > MOST_INPUTS["information"]


def solve(problem: Problem, box: LiftBox) -> Solution:
    """The design of the merged problem on all inputs, with a bound for the full one."""
    utility = problem.utility
    group_of = _by_ratio(box, utility) if isinstance(utility, Divergence) else _dealt(box)
    count = int(group_of.max()) + 1
    prior = np.asarray(np.bincount(group_of, weights=box.prior, minlength=count), dtype=np.float64)
    privacy = problem.privacy.under(prior / prior.sum())
    small_box = lift_box(privacy)
    stop = None if problem.deadline is None else problem.deadline
    if isinstance(utility, Divergence):
        pair = [np.bincount(group_of, weights=w[box.support], minlength=count) for w in (utility.p0, utility.p1)]
        merged = utility.between(*(w / w.sum() for w in pair))
        small = Problem(privacy, merged, tolerance=problem.tolerance, deadline=stop, progress=problem.progress)
        found = leakage_divergence.solve(small, small_box, merged)
    else:
        small = Problem(
            privacy, MutualInformation(prior), tolerance=problem.tolerance, deadline=stop, progress=problem.progress
        )
        found = leakage_information.solve(small, small_box)
    alpha = np.array([float(a) for a in found.proofs[0]["alpha"]])
    mechanism = _read_back(problem, box, found.mechanism.matrix, group_of)
    proofs = _proofs(box, utility, alpha, group_of, prior)
    if isinstance(utility, Divergence):
        vector = _row_prices(box, utility, small_box, merged, alpha, found.mechanism.matrix)
        proofs = (*proofs, {"kind": CHORDS, "alpha": [repr(float(a)) for a in vector]})
    return dataclasses.replace(
        found, mechanism=mechanism, proofs=proofs, method=f"{found.method}, inputs merged into {count}"
    )


def _proofs(box: LiftBox, utility: Any, alpha: Floats, group_of: Any, prior: Floats) -> tuple[dict[str, Any], ...]:
    """The dual vector of the groups, divided by probability within each; for information also that of the closed-form
    bound."""
    divided = alpha[group_of] * box.prior / prior[group_of]
    if isinstance(utility, Divergence):
        return ({"kind": CHORDS, "alpha": [repr(float(a)) for a in divided]},)
    closed = leakage_information.chord_dual(Curve.on(box))
    return tuple({"kind": KNAPSACK, "alpha": [repr(float(a)) for a in vector]} for vector in (closed, divided))


def _row_prices(
    box: LiftBox, utility: Divergence, small: LiftBox, merged: Divergence, alpha: Floats, matrix: Floats
) -> Floats:
    """A dual vector for all inputs from the reports of the merged design.

    Each report has a supporting line, a price ν for probability (the critical ratio of its knapsack) and a weight θ. A
    single input then faces a knapsack over the reports; its price is the gain of the report at which that is full.
    """
    pair, coarse = utility.pair.masses.at(box.support), merged.pair.masses.at(small.support)
    theta = small.prior @ matrix
    y = np.clip((matrix / theta - small.base).T / small.step, 0.0, 1.0)
    m0, m1, _ = coarse.of_columns(small.base, small.step, y)
    usable = (m0 > 0) & (m1 > 0)
    theta, ratio = theta[usable], m0[usable] / m1[usable]
    slope, offset = utility.line(ratio)
    at_one = (slope - offset)[:, None]
    gains = small.step * (slope[:, None] * coarse.difference + at_one * coarse.p1) - alpha
    order = np.argsort(-gains / small.prior, axis=1)
    last = (np.cumsum(small.prior[order], axis=1) < small.budget).sum(axis=1).clip(max=small.n - 1)
    critical = np.take_along_axis(order, last[:, None], axis=1)
    nu = np.take_along_axis(gains, critical, axis=1) / small.prior[critical]
    each = box.step * (slope[:, None] * pair.difference + at_one * pair.p1) - nu * box.prior  # reports × inputs
    best_first = np.argsort(-each, axis=0)
    full = np.cumsum(theta[best_first], axis=0) >= box.budget * float(theta.sum())
    return np.asarray(
        np.take_along_axis(each, np.take_along_axis(best_first, full.argmax(axis=0)[None, :], axis=0), axis=0)[0]
    )


def _dealt(box: LiftBox) -> Any:
    """The likeliest inputs alone; the others dealt so that group g gets a share in proportion to 1 + g/GROUPS."""
    order = np.argsort(-box.prior, kind="stable")
    alone = min(int((box.prior > box.budget).sum()) + 20, GROUPS // 2)
    group_of = np.empty(box.n, dtype=np.intp)
    group_of[order[:alone]] = np.arange(alone)
    shares = 1 + np.arange(GROUPS - alone) / GROUPS
    full = np.zeros(shares.size)
    for x in order[alone:]:
        g = int(np.argmin(full / shares))
        group_of[x] = alone + g
        full[g] += box.prior[x]
    return group_of


def _by_ratio(box: LiftBox, utility: Divergence) -> Any:
    """Cells of similar P₀/p and similar P₁/p, of about equal probability: a column sees an input only through these and
    p."""
    first = _quantiles(utility.p0[box.support] / box.prior, box.prior)
    cells = np.empty(box.n, dtype=np.intp)
    for part in range(SIDE):
        where = np.flatnonzero(first == part)
        if where.size:
            cells[where] = part * SIDE + _quantiles(utility.p1[box.support][where] / box.prior[where], box.prior[where])
    return np.unique(cells, return_inverse=True)[1]


def _quantiles(values: Floats, weights: Floats) -> Any:
    order = np.argsort(values, kind="stable")
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    found = np.empty(values.size, dtype=np.intp)
    found[order] = np.minimum((middle * SIDE).astype(np.intp), SIDE - 1)
    return found


def _read_back(problem: Problem, box: LiftBox, matrix: Floats, group_of: Any) -> Mechanism:
    k = problem.utility.k
    full = np.empty((k, matrix.shape[1]))
    full[box.support] = matrix[group_of]
    rest = np.setdiff1d(np.arange(k), box.support)
    full[rest] = box.prior @ full[box.support] / box.prior.sum()
    return Mechanism.from_matrix(full, problem.privacy, inputs=problem.inputs)
