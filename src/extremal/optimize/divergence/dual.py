"""A dual vector for the full 2^k program of an f-divergence, found on a few knots and lifted to any alphabet.

Choose M ratios as knots and split every symbol between its two neighbouring knots. On this coarse pair the optimum is
at least the true one, and as close to it as wanted when knots are added where the coarse optimum cuts. Its dual α' is
found by column generation with exact pricing; sharing α' out to the symbols that each knot is made of gives α for the
original, feasible for all 2^k patterns, with the same sum.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from extremal.optimize.divergence.lorenz import BlockValue, Floats, Indices, Lorenz, Nodes, closed, from_left
from extremal.optimize.divergence.paths import best_partition
from extremal.optimize.divergence.pricing import Pricing, Sets
from extremal.optimize.problem import Problem
from extremal.solver import LinearProgram
from extremal.utility import Divergence
from extremal.utility.pair import Masses

FIRST_KNOTS = 12
MOST_KNOTS = 600
SMOOTHING = 0.7  # share of the best dual so far in the point where columns are priced
COLUMNS_A_ROUND = 40
NEAR = 8  # knots on either side of a cut whose blocks are among the first columns
MOST_ROUNDS = 3000


@dataclass(frozen=True, eq=False)
class _Coarse:
    """A pair on M knots, and how each ratio group of the original is made of its two neighbours."""

    knots: Indices
    masses: Masses
    left: Indices
    part_left: Floats
    part_right: Floats

    @property
    def nodes(self) -> Nodes:
        at = self.masses
        return Nodes(from_left(at.p0), from_left(at.p1[::-1])[::-1].copy(), closed(from_left(at.difference)))


def dual_vector(
    problem: Problem, utility: Divergence, lorenz: Lorenz, value: BlockValue, worth: float, cuts: Indices
) -> Floats:
    """α with 1·α close to `worth` and nearly feasible; how nearly is for the checker to say."""
    coarse = _knots(lorenz, value, worth, cuts, problem.tolerance)
    alpha = _column_generation(problem, coarse, utility, worth, np.searchsorted(coarse.knots, cuts))
    total = coarse.masses.p0 + coarse.masses.p1
    per_mass = np.where(total > 0, alpha / np.where(total > 0, total, 1.0), 0.0)
    by_group = (
        coarse.part_left * per_mass[coarse.left]
        + coarse.part_right * per_mass[np.minimum(coarse.left + 1, coarse.knots.size - 1)]
    )
    lifted = np.zeros(utility.k)
    mass = utility.p0 + utility.p1
    group_mass = np.bincount(lorenz.group, weights=mass[lorenz.order], minlength=lorenz.n)
    lifted[lorenz.order] = by_group[lorenz.group] * mass[lorenz.order] / group_mass[lorenz.group]
    return lifted


def _split(lorenz: Lorenz, knots: Indices) -> _Coarse:
    """Every group between two knots as a mixture of them: mass·(share at knot)."""
    nodes = lorenz.nodes
    mass = np.diff(nodes.left0) - np.diff(nodes.right1)
    left = np.clip(np.searchsorted(knots, np.arange(lorenz.n), side="right") - 1, 0, max(0, knots.size - 2))
    a, b = knots[left], knots[np.minimum(left + 1, knots.size - 1)]
    width = lorenz.tilt[b] - lorenz.tilt[a]
    rise = np.where(width > 0, (lorenz.tilt - lorenz.tilt[a]) / np.where(width > 0, width, 1.0), 0.0)
    part_right = mass * np.clip(rise, 0.0, 1.0)
    part_left = mass - part_right
    size = knots.size
    right = np.minimum(left + 1, size - 1)
    at_knot = np.bincount(left, weights=part_left, minlength=size) + np.bincount(
        right, weights=part_right, minlength=size
    )
    share0, share1, tilt = lorenz.share0[knots], lorenz.share1[knots], lorenz.tilt[knots]
    masses = Masses(at_knot * share0, at_knot * share1, at_knot * tilt)
    return _Coarse(knots, masses, left, part_left, part_right)


def _knots(lorenz: Lorenz, value: BlockValue, worth: float, cuts: Indices, tolerance: float) -> _Coarse:
    """Knots at the ends, beside every cut and at quantiles; more where the coarse optimum cuts between two of them."""
    n, inner = lorenz.n, cuts[1:-1]
    mass = np.diff(lorenz.nodes.left0) - np.diff(lorenz.nodes.right1)
    quantiles = np.searchsorted(np.cumsum(mass) / mass.sum(), np.linspace(0, 1, FIRST_KNOTS))
    spread = np.linspace(0, n - 1, FIRST_KNOTS // 2).astype(np.intp)
    knots = np.unique(np.clip(np.concatenate([quantiles, spread, [0, n - 1], inner, inner - 1]), 0, n - 1)).astype(
        np.intp
    )
    coarse = _split(lorenz, knots)
    while knots.size < min(MOST_KNOTS, n):
        total, found, _ = best_partition(value, coarse.nodes, worth * (1 - 1e-12))
        if total <= worth * (1 + tolerance / 4) or not found.size:
            break
        # A coarse cut between two knots: put a new one in the middle between them.
        between = np.unique(np.clip(found - 1, 0, knots.size - 2))
        middles = (knots[between] + knots[between + 1]) // 2
        grown = np.unique(np.concatenate([knots, middles]))
        if grown.size == knots.size:
            break
        knots = grown
        coarse = _split(lorenz, knots)
    return coarse


def _column_generation(
    problem: Problem, coarse: _Coarse, utility: Divergence, worth: float, coarse_cuts: Indices
) -> Floats:
    """Dual of the coarse program by cutting planes with exact pricing and smoothed duals."""
    pricing = Pricing(utility.f, coarse.masses, problem.privacy.epsilon)
    size = coarse.knots.size
    program = LinearProgram(np.ones(size), np.ones(size))
    seen: set[bytes] = set()

    def add(sets: Sets) -> int:
        new = [s for s in sets if 0 < s.sum() < size and s.tobytes() not in seen]
        seen.update(s.tobytes() for s in new)
        if new:
            program.add(pricing.low + pricing.step * np.array(new, dtype=np.float64).T, pricing.values(np.array(new)))
        return len(new)

    add(_first_sets(size, coarse_cuts))
    best, bound = np.zeros(size), np.inf
    for _ in range(MOST_ROUNDS):
        current = program.solve().duals
        point = current if not np.isfinite(bound) else SMOOTHING * best + (1 - SMOOTHING) * current
        added = 0
        for alpha in (point, current):
            reduced, sets = pricing.best(alpha, COLUMNS_A_ROUND)
            excess = max(float(reduced[0]), 0.0) if reduced.size else 0.0
            candidate = float(alpha.sum()) + size * excess / (1 + (size - 1) * pricing.low)
            if candidate < bound:
                best, bound = alpha, candidate
            added += add(sets[reduced > 0])
            if added:
                break
        problem.progress("dual certificate", bound / worth - 1)
        if bound <= worth * (1 + problem.tolerance / 2) or not added or problem.out_of_time:
            break
    return best


def _first_sets(size: int, cuts: Indices) -> Sets:
    """Prefixes, suffixes, singletons, neighbouring pairs, and all blocks whose ends are near those of the best
    partition."""
    i = np.arange(size)
    prefixes = i[None, :] < i[1:, None]
    singles = np.eye(size, dtype=bool)
    pairs = singles[:-1] | singles[1:]
    near = np.arange(-NEAR, NEAR + 1)
    ends = [np.unique(np.clip(c + near, 0, size)) if 0 < c < size else np.array([c]) for c in cuts.tolist()]
    blocks = [(i >= a) & (i < b) for first, second in itertools.pairwise(ends) for a in first for b in second if a < b]
    return np.vstack([prefixes, ~prefixes, singles, pairs, np.array(blocks)])
