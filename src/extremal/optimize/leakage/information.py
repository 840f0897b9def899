"""Mutual information under PML and LIP: column generation with knapsack pricing.

Pricing is a knapsack with one fractional input (GSO Section IV-E), searched by `knapsack`, which
also bounds what it did not find. The optimum wants vertices whose fractional input costs next to nothing: subsets whose
probability hits b. Those are found by meeting in the middle and handed to the master before any pricing; dual vectors
are smoothed towards the best bound so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from extremal.optimize.leakage.knapsack import KEPT_COLUMNS, LiftWorth, bound_of, least_cost
from extremal.optimize.leakage.master import (
    LISTED,
    FoundLifts,
    as_mechanism,
    filled_up,
    master_of,
    mixture,
    window_columns,
)
from extremal.optimize.leakage.trees import proof_by_search
from extremal.optimize.problem import NOT_ZERO, Problem, Solution
from extremal.optimize.search import Columns, Limits, Master, Priced, Pricing, generate, relative_gap
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import Floats, LiftBox, vertices

METHOD = "column generation with knapsack pricing"
PRICING_WIDTH = 3_000  # states kept while looking for columns
PROOF_WIDTH = 160_000  # and while proving a bound; the checker keeps more
HALF_LIST = 10  # inputs on either side of the meeting in the middle
SECONDS = 150.0  # when no time limit is given
WHOLE = 1e-14  # an entry this near to 0 or 1 is meant to be it
SAME_COST = 1e-12  # relative: costs this near to each other differ by rounding of their sums
FULL = 1e-16  # of the budget: less missing is nothing missing
NOISE = (1e-8, 1e-5, 1e-3)  # relative changes of a dual vector that break ties differently


def solve(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution:
    """The mechanism, with search trees that prove the bound."""
    found = search(problem, box)
    mechanism = as_mechanism(problem, box, found.y, found.theta, reveal=False)
    proof = proof_by_search(privacy, box, found.alpha, found.bound)
    return Solution(mechanism, found.bound, METHOD, () if proof is None else (proof,))


def search(problem: Problem, box: LiftBox) -> FoundLifts:
    """The search itself."""
    curve, generator = (
        LiftWorth.on(box),
        np.random.default_rng(0),
    )  # which columns are tried first: a search, not a release
    master, listed = master_of(box), box.n <= LISTED
    orders = [np.argsort(-box.prior, kind="stable"), generator.permutation(box.n), generator.permutation(box.n)]
    for start in (window_columns(box, orders), *([vertices(box)] if listed else [])):
        master.add(start, curve.values(start))
    master.solve()
    pricing = Knapsacks(curve, generator)
    first = pricing.at(master.point if listed else chord_dual(curve), keep=1)
    if relative_gap(first.bound, master.value) > problem.tolerance / 4 and box.n >= 6:
        _fill(master, curve, generator, 4 * box.n)
        master.solve()
    end = time.monotonic() + SECONDS if problem.deadline is None else problem.deadline
    limits = replace(
        Limits.of(problem, "pricing lift vectors"),
        stop=lambda: time.monotonic() > end,
        seconds=lambda: max(0.1, end - time.monotonic()),
    )
    best = generate(master, pricing, replace(first, raised=first.point), limits)
    return FoundLifts(*mixture(master, box), best.point, bound_of(curve, best.point, best.kept))


class Knapsacks(Pricing):
    """Lift vectors priced by knapsacks; wider ones when nothing is found."""

    def __init__(self, curve: LiftWorth, generator: np.random.Generator) -> None:
        self.curve, self.generator, self.width = curve, generator, PRICING_WIDTH
        self._proved = False  # whether the last knapsack left nothing out

    def at(self, point: Floats, keep: int = KEPT_COLUMNS) -> Priced:
        """What the knapsack of the current width finds at a point."""
        curve, box = self.curve, self.curve.box
        found = least_cost(curve, point, width=self.width, keep=keep)
        self._proved = found.lower >= found.best - SAME_COST * abs(found.best)
        raised = point + (curve.ceiling - found.lower) * box.prior / box.budget
        return Priced(point, *self._exact(found.columns), bound_of(curve, point, found.lower), raised, found.lower)

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        return self.at(point)

    def explore(self, point: Floats, master: Master, gap: float) -> Iterator[Columns]:
        """Columns that are cheap near the current points: ties are broken differently each time."""
        for size in NOISE if self.curve.box.n >= 12 else ():
            share = self.generator.uniform()
            near = (share * point + (1 - share) * master.point) * (
                1 + size * self.generator.standard_normal(point.size)
            )
            yield self._exact(least_cost(self.curve, near, width=400, keep=12).columns)

    def widen(self, master: Master) -> bool:
        if self.width >= PROOF_WIDTH or self._proved:
            return False
        self.width = min(PROOF_WIDTH, 4 * self.width)
        _fill(master, self.curve, self.generator, 2 * self.curve.box.n)
        return True

    def _exact(self, columns: Floats) -> Columns:
        if not columns.size:
            return columns, np.zeros(0)
        whole = np.where(columns > 1 - WHOLE, 1.0, np.where(columns < WHOLE, 0.0, columns))
        exact = np.array([filled_up(self.curve.box, y) for y in whole])
        return exact, self.curve.values(exact)


def chord_dual(curve: LiftWorth) -> Floats:
    """The dual vector of the closed-form bound: each input's g replaced by its chord over the y that it can take."""
    box = curve.box
    p, b = box.prior, box.budget
    least, most = np.maximum(0.0, (b - (1 - p)) / p), np.minimum(1.0, b / p)
    ends = [curve.at_base + f * (curve.at_end - curve.at_base) - curve.dip(f) for f in (least, most)]
    slope = p * (ends[1] - ends[0]) / np.maximum(most - least, NOT_ZERO)
    constant = math.fsum(p * ends[0] - slope * least)
    return np.asarray(slope + constant * p / b)


def _fill(master: Master, curve: LiftWorth, generator: Any, count: int) -> None:
    """Random subsets whose probability is as near to b as meeting in the middle finds, the rest on the smallest input
    that takes it."""
    box = curve.box
    p, b = box.prior, box.budget
    light = np.flatnonzero(p < b)
    if light.size < 4 or p[light].sum() < b:
        return
    found = []
    for _ in range(count):
        order = light[generator.permutation(light.size)]
        inside = _subset_near(p, order, b)
        if inside is None:
            continue
        y = np.zeros(box.n)
        y[inside] = 1.0
        rest = b - math.fsum(p[inside])
        takers = np.setdiff1d(light, inside)
        takers = takers[p[takers] >= rest]
        if rest > FULL * b and takers.size:
            j = takers[np.argmin(p[takers])]
            y[j] = rest / p[j]
        elif rest > FULL * b:
            continue
        found.append(y)
    if found:
        columns = np.array(found)
        master.add(columns, curve.values(columns))


def _subset_near(p: Floats, order: Any, target: float) -> Any:
    """Inputs whose probabilities sum to at most `target`, nearly: a prefix of the order, then the best of all subsets
    of its last ones."""
    free, fixed = order[-2 * HALF_LIST :], order[: -2 * HALF_LIST]
    spare = float(p[free].sum())
    chosen, total = [], 0.0
    for x in fixed.tolist():
        if total + p[x] <= target - spare / 2 or (total + p[x] <= target and target - total > spare):
            chosen.append(x)
            total += float(p[x])
    half = free.size // 2
    sums = [_subset_sums(p[part]) for part in (free[:half], free[half:])]
    order_b = np.argsort(sums[1])
    room = target - total - sums[0]
    partner = np.searchsorted(sums[1][order_b], room, side="right") - 1
    possible = np.flatnonzero(partner >= 0)
    if not possible.size:
        return None
    left = room[possible] - sums[1][order_b[partner[possible]]]
    first = int(possible[np.argmin(left)])
    second = int(order_b[partner[first]])
    picked = [free[i] for i in range(half) if first >> i & 1] + [
        free[half + i] for i in range(free.size - half) if second >> i & 1
    ]
    return np.array([*chosen, *picked], dtype=np.intp)


def _subset_sums(p: Floats) -> Floats:
    sums = np.zeros(1)
    for mass in p:
        sums = np.concatenate([sums, sums + mass])
    return sums
