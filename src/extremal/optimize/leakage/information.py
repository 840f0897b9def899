"""Mutual information under PML and LIP: column generation with knapsack pricing.

Pricing is a knapsack with one fractional input (GSO Section IV-E), searched by `knapsack`, which
also bounds what it did not find. The optimum wants vertices whose fractional input costs next to nothing: subsets whose
probability hits b. Those are found by meeting in the middle and handed to the master before any pricing; dual vectors
are smoothed towards the best bound so far.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.optimize.leakage.knapsack import Curve, bound_of, least_cost
from extremal.optimize.leakage.master import LISTED, Master, as_mechanism, filled_up, window_columns
from extremal.optimize.leakage.trees import proof_by_search
from extremal.optimize.problem import NO_CHANGE, NOT_ZERO, Problem, Solution
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import Floats, LiftBox, vertices
from extremal.solver import SolverFailed

METHOD = "column generation with knapsack pricing"
PRICING_WIDTH = 3_000  # states kept while looking for columns
PROOF_WIDTH = 160_000  # and while proving a bound; the checker keeps more
HALF_LIST = 10  # inputs on either side of the meeting in the middle
MOST_TURNS = 400
SECONDS = 150.0  # when no time limit is given
GAIN = 1e-13  # relative: a column that gains less is rounding
WHOLE = 1e-14  # an entry this near to 0 or 1 is meant to be it
FULL = 1e-16  # of the budget: less missing is nothing missing
NOISE = (1e-8, 1e-5, 1e-3)  # relative changes of a dual vector that break ties differently


@dataclass(frozen=True, eq=False)
class Found:
    """The best mixture of lift vectors found, and the dual vector with the smallest bound."""

    y: Floats
    theta: Floats
    alpha: Floats
    bound: float


def solve(problem: Problem, privacy: PML | LIP, box: LiftBox) -> Solution:
    """The mechanism, with search trees that prove the bound."""
    found = search(problem, box)
    mechanism = as_mechanism(problem, box, found.y, found.theta, reveal=False)
    proof = proof_by_search(privacy, box, found.alpha, found.bound)
    return Solution(mechanism, found.bound, METHOD, () if proof is None else (proof,))


def search(problem: Problem, box: LiftBox) -> Found:
    """The search itself."""
    curve, generator = Curve.on(box), np.random.default_rng(0)  # which columns are tried first: a search, not a release
    master = Master(box)
    orders = [np.argsort(-box.prior, kind="stable"), generator.permutation(box.n), generator.permutation(box.n)]
    start = window_columns(box, orders)
    master.add(start, curve.values(start))
    listed = box.n <= LISTED
    if listed:
        every = vertices(box)
        master.add(every, curve.values(every))
    value = master.solve()
    alpha = master.alpha if listed else chord_dual(curve)
    lower = least_cost(curve, alpha, width=PRICING_WIDTH, keep=1).lower
    upper = bound_of(curve, alpha, lower)
    if _gap(upper, value) > problem.tolerance / 4 and box.n >= 6:
        _fill(master, curve, generator, 4 * box.n)
        value = master.solve()
    alpha, lower = _generate(problem, master, curve, generator, (alpha, lower, upper, value))
    return Found(*master.mixture(), alpha, bound_of(curve, alpha, lower))


def chord_dual(curve: Curve) -> Floats:
    """The dual vector of the closed-form bound: each input's g replaced by its chord over the y that it can take."""
    box = curve.box
    p, b = box.prior, box.budget
    least, most = np.maximum(0.0, (b - (1 - p)) / p), np.minimum(1.0, b / p)
    ends = [curve.at_base + f * (curve.at_end - curve.at_base) - curve.dip(f) for f in (least, most)]
    slope = p * (ends[1] - ends[0]) / np.maximum(most - least, NOT_ZERO)
    constant = math.fsum(p * ends[0] - slope * least)
    return np.asarray(slope + constant * p / b)


def _gap(upper: float, value: float) -> float:
    return (upper - value) / upper if upper > 0 else 0.0


def _generate(
    problem: Problem, master: Master, curve: Curve, generator: Any, state: tuple[Floats, float, float, float]
) -> tuple[Floats, float]:
    """(dual vector, lower bound on its cost) of the smallest bound."""
    best, best_lower, upper, value = state
    box, center, smoothing, width = curve.box, state[0], 0.5, PRICING_WIDTH
    stop = time.monotonic() + SECONDS if problem.deadline is None else problem.deadline
    for _ in range(MOST_TURNS):
        gap = _gap(upper, value)
        problem.progress("pricing lift vectors", gap)
        if gap <= problem.tolerance / 4 or time.monotonic() > stop:
            break
        trial = smoothing * center + (1 - smoothing) * master.alpha
        found = least_cost(curve, trial, width=width)
        bound = bound_of(curve, trial, found.lower)
        better = bound < upper * (1 - NO_CHANGE)
        if better:
            upper, best, best_lower = bound, trial, found.lower
            center = trial + (curve.ceiling - found.lower) * box.prior / box.budget
        added = _add(master, curve, found.columns, value)
        if box.n >= 12:
            added += _shaken(master, curve, trial, generator, value)
        if not added:
            if smoothing > 0:
                smoothing = 0.0 if smoothing < 0.06 else smoothing / 2
                continue
            if width >= PROOF_WIDTH or found.lower >= found.best - 1e-12 * abs(found.best):
                break
            width = min(PROOF_WIDTH, 4 * width)
            _fill(master, curve, generator, 2 * box.n)
        else:
            smoothing = min(0.9, smoothing + 0.1) if better else max(0.0, smoothing - 0.05)
        try:
            value = master.solve(max(0.1, stop - time.monotonic()))
        except SolverFailed:
            break
    return best, best_lower


def _add(master: Master, curve: Curve, columns: Floats, value: float) -> int:
    if not columns.size:
        return 0
    exact = np.array([filled_up(curve.box, np.where(y > 1 - WHOLE, 1.0, np.where(y < WHOLE, 0.0, y))) for y in columns])
    values = curve.values(exact)
    gain = values - exact @ master.alpha
    useful = gain > GAIN * max(value, NOT_ZERO)
    return master.add(exact[useful], values[useful]) if useful.any() else 0


def _shaken(master: Master, curve: Curve, trial: Floats, generator: Any, value: float) -> int:
    """Columns that are cheap at dual vectors near the current ones: ties are broken differently each time."""
    added = 0
    for size in NOISE:
        share = generator.uniform()
        near = (share * trial + (1 - share) * master.alpha) * (1 + size * generator.standard_normal(trial.size))
        added += _add(master, curve, least_cost(curve, near, width=400, keep=12).columns, value)
    return added


def _fill(master: Master, curve: Curve, generator: Any, count: int) -> None:
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
