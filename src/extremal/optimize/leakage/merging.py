"""Large alphabets: inputs are merged, the merged problem solved, and its mechanism read back.

A report that depends on the group of the input only has the same lift for all inputs of a group, so what is private for
the merged prior is private for the prior itself. Information: the likelier inputs stay alone, the others are dealt into
groups of unequal size, whose sums reach any budget. Divergences: inputs that a column sees alike, by P₀/p and P₁/p, are
merged. The bound is proved for the full alphabet, so the gap says what merging may have lost.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from extremal.certificate import Proof
from extremal.mechanism import Mechanism
from extremal.optimize.leakage import divergence as leakage_divergence
from extremal.optimize.leakage import information as leakage_information
from extremal.optimize.leakage.knapsack import LiftWorth, bound_of, least_cost
from extremal.optimize.leakage.master import as_mechanism
from extremal.optimize.leakage.trees import proof_by_search
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.privacy import LIP, PML, Notion
from extremal.privacy.cones.lift import Floats, Indices, LiftBox, lift_box
from extremal.utility import Divergence, MutualInformation, Utility

GROUPS = 90  # of merged inputs: few enough for a search on all of them
SIDE = 11  # of the grid of cells for divergences


def divergence(problem: Problem, privacy: PML | LIP, box: LiftBox, utility: Divergence) -> Solution | None:
    """The design of a merged divergence on all inputs; None when there are few enough to do without."""
    if box.n <= SIZES.lift_divergence:
        return None
    merged = _Merged.of(problem, box, _by_ratio(box, utility))
    pair = [merged.summed(w[box.support]) for w in (utility.p0, utility.p1)]
    coarse = utility.between(*(w / w.sum() for w in pair))
    found = leakage_divergence.search(merged.problem(coarse), merged.box, coarse)
    matrix = as_mechanism(merged.problem(coarse), merged.box, found.y, found.theta, reveal=False).matrix
    vectors = merged.divided(found.alpha), _row_prices(box, utility, merged.box, coarse, found.alpha, matrix)
    proved = (leakage_divergence.proved(problem, privacy, box, utility, vector) for vector in vectors)
    bound, proofs = min(proved, key=lambda pair: pair[0])
    return merged.read_back(matrix, bound, proofs, "column generation on supporting lines", reveal=True)


def information(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution | None:
    """The design of merged information on all inputs, with the dual vector of the closed-form bound or of the merged
    problem; None when there are few enough inputs to do without."""
    if box.n <= SIZES.lift_information:
        return None
    merged = _Merged.of(problem, box, _dealt(box))
    coarse, curve = merged.problem(MutualInformation(merged.prior)), LiftWorth.on(box)
    found = leakage_information.search(coarse, merged.box)
    matrix = as_mechanism(coarse, merged.box, found.y, found.theta, reveal=False).matrix
    vectors = leakage_information.chord_dual(curve), merged.divided(found.alpha)
    bounds = [bound_of(curve, vector, least_cost(curve, vector, keep=1).lower) for vector in vectors]
    best = int(np.argmin(bounds))
    proof = proof_by_search(privacy, box, vectors[best], bounds[best])
    proofs = () if proof is None else (proof,)
    return merged.read_back(matrix, bounds[best], proofs, leakage_information.METHOD, reveal=False)


@dataclasses.dataclass(frozen=True, eq=False)
class _Merged:
    """A problem whose inputs are merged.

    Attributes:
        whole, all_inputs: the problem, and its box.
        group_of: the group of each input of positive probability.
        prior: the probabilities of the groups.
        privacy, box: the notion for them, and its box.
    """

    whole: Problem
    all_inputs: LiftBox
    group_of: Indices
    prior: Floats
    privacy: Notion
    box: LiftBox

    @classmethod
    def of(cls, problem: Problem, box: LiftBox, group_of: Indices) -> _Merged:
        prior = np.asarray(np.bincount(group_of, weights=box.prior), dtype=np.float64)
        privacy = problem.privacy.under(prior / prior.sum())
        return cls(problem, box, group_of, prior, privacy, lift_box(privacy))

    def summed(self, weights: Floats) -> Floats:
        return np.asarray(np.bincount(self.group_of, weights=weights, minlength=self.prior.size), dtype=np.float64)

    def problem(self, utility: Utility) -> Problem:
        return dataclasses.replace(self.whole, privacy=self.privacy, utility=utility, inputs=None)

    def divided(self, alpha: Floats) -> Floats:
        """The dual vector of the groups, divided by probability within each."""
        return np.asarray(alpha[self.group_of] * self.all_inputs.prior / self.prior[self.group_of])

    def read_back(self, matrix: Floats, bound: float, proofs: tuple[Proof, ...], method: str, reveal: bool) -> Solution:
        """The mechanism that reports by group; inputs of probability 0 are revealed, or answer like the average of the
        others."""
        box, k = self.all_inputs, self.whole.utility.k
        full = np.empty((k, matrix.shape[1]))
        full[box.support] = matrix[self.group_of]
        rest = np.setdiff1d(np.arange(k), box.support)
        full[rest] = box.prior @ full[box.support] / box.prior.sum()
        if reveal and rest.size:
            full[rest] = 0.0
            full = np.hstack([full, np.eye(k)[:, rest]])
        mechanism = Mechanism.from_matrix(full, self.whole.privacy, inputs=self.whole.inputs)
        return Solution(mechanism, bound, f"{method}, inputs merged into {self.prior.size}", proofs)


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


def _dealt(box: LiftBox) -> Indices:
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


def _by_ratio(box: LiftBox, utility: Divergence) -> Indices:
    """Cells of similar P₀/p and similar P₁/p, of about equal probability: a column sees an input only through these and
    p."""
    first = _quantiles(utility.p0[box.support] / box.prior, box.prior)
    cells = np.empty(box.n, dtype=np.intp)
    for part in range(SIDE):
        where = np.flatnonzero(first == part)
        if where.size:
            cells[where] = part * SIDE + _quantiles(utility.p1[box.support][where] / box.prior[where], box.prior[where])
    return np.asarray(np.unique(cells, return_inverse=True)[1], dtype=np.intp)


def _quantiles(values: Floats, weights: Floats) -> Indices:
    order = np.argsort(values, kind="stable")
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    found = np.empty(values.size, dtype=np.intp)
    found[order] = np.minimum((middle * SIDE).astype(np.intp), SIDE - 1)
    return found
