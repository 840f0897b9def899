"""f-divergences under PML and LIP: columns priced on supporting lines, with smoothed dual vectors; for many inputs
tangent blocks first.

For a fixed supporting line of f the best column is a continuous knapsack. Chords of f bound what any column could gain;
the knapsack solutions on the way are new columns. Plain generation stalls beyond some 60 inputs: there the
tangent-block program, one copy of the box for each supporting line, gives the dual vector and the columns to start
from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from extremal.certificate import Chords, Dual
from extremal.optimize.leakage.chords import Excess, RatioChords, excess, first_chords, ratio_range
from extremal.optimize.leakage.master import (
    LISTED,
    FoundLifts,
    Numbers,
    as_mechanism,
    decomposed,
    dual_vector,
    master_of,
    mixture,
    rounded,
    window_columns,
)
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.search import Limits, Master, Priced, Pricing, generate
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import Floats, LiftBox, vertices
from extremal.solver import interior_point
from extremal.utility import ConvexFunction, Divergence
from extremal.utility.pair import Masses

CHORDS = 1 / 16  # of the tolerance: how closely the chords of a proof lie
FINAL = 1e-12  # how closely the last dual vector is bounded, relatively
SLACK = Fraction(1, 10**9)  # relative: how far beyond a ratio a cover begins or ends
BLOCKS_FROM = 60  # inputs from which the tangent-block program comes first
NEW_COLUMNS = 80  # added at a time: about as many as inputs


@dataclass(frozen=True, eq=False)
class Restricted:
    """A divergence on the inputs of positive probability: what a lift vector is worth."""

    f: ConvexFunction
    masses: Masses
    box: LiftBox

    @classmethod
    def on(cls, utility: Divergence, box: LiftBox) -> Restricted:
        return cls(utility.f, _balanced(utility, box), box)

    def marginals(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """M₀, M₁ and M₀ − M₁ of each row of y."""
        return self.masses.of_columns(self.box.base, self.box.step, y)

    def values(self, y: Floats) -> Floats:
        """μ of each row of y."""
        return self.f.perspective(*self.marginals(y))

    @cached_property
    def _chords(self) -> RatioChords:
        return first_chords(self.box, self.f, self.masses)

    def excess(self, alpha: Floats, close_enough: float) -> Excess:
        """The pricing problem of a dual vector."""
        return excess(self.box, self.f, self.masses, alpha, close_enough, first=self._chords)


def _balanced(utility: Divergence, box: LiftBox) -> Masses:
    """The masses on the support, with differences that sum to what they should: columns are nearly constant at small ε,
    and would be worth what rounding makes of that sum."""
    masses, inside = utility.pair.masses.at(box.support), box.support.tolist()
    first, second = (Fraction(sum(p.weights[x] for x in inside), p.total) for p in (utility.pair.p0, utility.pair.p1))
    difference = masses.difference.copy()
    difference[int(np.abs(difference).argmax())] -= math.fsum(difference) - float(first - second)
    return Masses(masses.p0, masses.p1, difference)


def solve(problem: Problem, privacy: PML | LIP, box: LiftBox, utility: Divergence) -> Solution:
    """Column generation with a bound that is proved at every step."""
    found = search(problem, box, utility)
    mechanism = as_mechanism(problem, box, found.y, found.theta, reveal=True)
    bound, proofs = proved(problem, privacy, box, utility, found.alpha, found.priced)
    return Solution(mechanism, bound, "column generation on supporting lines", proofs)


def proved(
    problem: Problem,
    privacy: PML | LIP,
    box: LiftBox,
    utility: Divergence,
    alpha: Floats,
    priced: Excess | None = None,
) -> tuple[float, tuple[Dual, ...]]:
    """The bound of a dual vector in floats, and its proof: chords as fine as the tolerance asks for. Inputs of
    probability 0 are charged what revealing them is worth, and their ratios are nodes."""
    pair, k = Restricted.on(utility, box), utility.k
    free = np.setdiff1d(np.arange(k), box.support)
    worth = np.zeros(k)
    worth[free] = utility.column_values(np.eye(k)[:, free]) if free.size else 0.0
    found = priced or pair.excess(alpha, close_enough=_closeness(problem))
    bound = box.budget * math.fsum(alpha) + found.upper + math.fsum(worth)
    if not utility.verifiable:
        return bound, ()
    nodes = sorted({*found.nodes, *nodes_at(utility, free)})
    vector = dual_vector(privacy.prior, box, alpha, bound - math.fsum(worth), worth)
    return bound, (Dual(vector, Chords(tuple(nodes))),)


def _closeness(problem: Problem) -> float:
    """How closely the chords of a proof lie, relatively."""
    return max(FINAL, problem.tolerance * CHORDS)


def nodes_at(utility: Divergence, inputs: Any, *others: list[Fraction]) -> Numbers:
    """The ratios P₀/P₁ of some inputs, and of other pairs (M₀, M₁), with one a little beyond either end."""
    first, second = utility.pair.p0, utility.pair.p1
    pairs = [(first.fraction(x), second.fraction(x)) for x in inputs.tolist()] + [(a, b) for a, b in others]
    ratios = [a / b for a, b in pairs if b]
    beyond = [end * (1 + side) for end in _ends(ratios) for side in (-SLACK, SLACK)]
    return tuple(sorted(set(rounded([*ratios, *beyond]))))


def _ends(ratios: list[Fraction]) -> list[Fraction]:
    return [min(ratios), max(ratios)] if ratios else []


def search(problem: Problem, box: LiftBox, utility: Divergence) -> FoundLifts:
    """The search itself."""
    pair, master = Restricted.on(utility, box), master_of(box)
    ratio = np.argsort(np.arctan2(pair.masses.p0, pair.masses.p1), kind="stable")
    start = window_columns(box, [ratio, np.argsort(-box.prior, kind="stable")])
    for columns in (start, *([vertices(box)] if box.n <= LISTED else [])):
        master.add(columns, pair.values(columns))
    known = _blocks(problem, box, pair, master) if box.n >= BLOCKS_FROM else None
    first = Priced.nothing(box.n)
    if known is not None:  # its pricing problem has no gain, so that its bound is b·Σα
        first = replace(first, point=known, bound=box.budget * math.fsum(known), raised=known)
    master.solve()
    best = generate(master, SupportingLines(problem, pair), first, Limits.of(problem, "pricing lift vectors"))
    return FoundLifts(*mixture(master, box), best.point, best.bound, best.kept)


class SupportingLines(Pricing):
    """Lift vectors priced on supporting lines, as closely as the gap asks for."""

    most = NEW_COLUMNS

    def __init__(self, problem: Problem, pair: Restricted) -> None:
        self.pair, self.proof = pair, _closeness(problem)
        self.coarsest = self.proof if pair.box.n <= LISTED else 1e-4  # where nothing is missing the first is the last

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        box, close = self.pair.box, max(FINAL, min(self.coarsest, gap / 50))
        found = self.pair.excess(point, close_enough=close)
        raised = point + max(found.upper, 0.0) * box.prior / box.budget
        kept = found if close <= self.proof else None
        return Priced(point, found.columns, found.values, box.budget * math.fsum(point) + found.upper, raised, kept)


def _blocks(problem: Problem, box: LiftBox, pair: Restricted, master: Master, turns: int = 8) -> Floats | None:
    """max Σ_t line_t(y_t) s.t. Σ y_t = b, 0 ≤ y_t ≤ σ_t, p·y_t = b·σ_t: its columns go to the master, its dual vector
    comes back."""
    lowest, highest = ratio_range(box, pair.masses)
    points = np.geomspace(max(lowest, 1e-6), min(highest, 1e6), 14)[1:-1]
    center, upper = None, math.inf
    for _ in range(turns):
        answer = None if problem.out_of_time else _block_program(box, pair, points, problem.seconds_left)
        if answer is None:
            break
        y, sigma, alpha = answer
        found = pair.excess(alpha, close_enough=1e-6)
        bound = box.budget * math.fsum(alpha) + found.upper
        if bound < upper:
            upper, center = bound, alpha + max(found.upper, 0.0) * box.prior / box.budget
        used = sigma > 1e-7
        columns = y[used] / sigma[used, None]
        value = float(sigma[used] @ pair.values(columns))
        gap = (upper - value) / upper
        problem.progress("tangent blocks", gap)
        split = np.array([v for column in columns for v in decomposed(box, column)])
        master.add(split, pair.values(split))
        master.improve(found.columns, found.values, NEW_COLUMNS, alpha)
        if gap < 1e-7:
            break
        points = _more_points(pair, points, columns, found, alpha)
    return center


def _more_points(pair: Restricted, points: Floats, columns: Floats, found: Excess, alpha: Floats) -> Floats:
    """The ratios that the solution realises and those of the most violated columns; none is ever dropped."""
    m0, m1, _ = pair.marginals(columns)
    gain = found.values - found.columns @ alpha
    violated = found.columns[np.argsort(-gain)[:40]]
    v0, v1, _ = pair.marginals(violated)
    fresh = np.concatenate([m0[m1 > 0] / m1[m1 > 0], v0[v1 > 0] / v1[v1 > 0]])
    fresh = fresh[(fresh > 0) & np.isfinite(fresh)]
    logs = np.unique(np.round(np.log(np.concatenate([points, fresh])), 8))
    return np.asarray(np.exp(logs))


def _block_program(
    box: LiftBox, pair: Restricted, points: Floats, seconds: float | None
) -> tuple[Floats, Floats, Floats] | None:
    import scipy.sparse as sparse

    n, m = box.n, points.size
    slope, offset = pair.f.line(points)
    difference, p1 = pair.masses.difference, pair.masses.p1
    at_one = slope - offset
    gains = box.step * (slope[:, None] * difference + at_one[:, None] * p1)
    constant = box.base * (slope * math.fsum(difference) + at_one * math.fsum(p1))
    scale = float(np.abs(gains).max()) or 1.0
    rows = sparse.hstack([sparse.hstack([sparse.eye(n)] * m), sparse.csr_matrix((n, m))])
    masses = sparse.hstack([sparse.kron(sparse.eye(m), box.prior[None, :]), -box.budget * sparse.eye(m)])
    caps = sparse.hstack([sparse.eye(n * m), -sparse.kron(sparse.eye(m), np.ones((n, 1)))])
    answer = interior_point(
        np.concatenate([gains.ravel(), constant]) / scale,
        equal=(sparse.vstack([rows, masses]).tocsr(), np.concatenate([np.full(n, box.budget), np.zeros(m)])),
        below=(caps.tocsr(), np.zeros(n * m)),
        seconds=seconds,
    )
    if answer is None:
        return None
    x, duals = answer
    return np.maximum(x[: n * m].reshape(m, n), 0.0), np.maximum(x[n * m :], 0.0), duals[:n] * scale
