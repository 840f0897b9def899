"""Mutual information under PML and LIP with another prior than the notion's: columns near each other, and chords.

With p the prior of the notion and r that of the information, a lift vector λ is worth Σ r_x λ_x ln λ_x − M ln M, M =
r·λ. The second term is concave in M, below its tangent at r(S), S the support of p; the first lies below the chord of
each entry. Together they are one linear function g of the column, and OPT ≤ Σg: ε under PML where no probability is
above e^−ε. What is lost: vertices have one entry between their ends, and M is not the same for all of them. Sets of
many inputs can have P(T) = b and r(T) nearly as they like, so the bound is the closer the more inputs there are.

A column is a set T of full inputs and one fractional input, so that its worth and its price depend on the sums of p, r
and α over T. New columns are the best among all that differ from a known one on a few inputs, listed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from extremal.certificate import Chords, Dual
from extremal.errors import InvalidParameter
from extremal.optimize.leakage.master import as_mechanism, filled_up, master_of, mixture, window_columns
from extremal.optimize.problem import Problem, Solution, decimals
from extremal.optimize.search import Limits, Master, Priced, Pricing, generate
from extremal.optimize.table import SIZES
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import Floats, Indices, LiftBox, whole_box
from extremal.utility import MutualInformation

ORDERS = 12  # of the inputs, whose windows are the first columns
CHANGED = 11  # inputs that are decided anew: 2,048 sets, each with any fractional input, 5 ms at 40 inputs
STARTS = 32  # columns a turn, whose neighbours are listed
STEPS = 3  # from a column to its best neighbour
NEAREST = 4  # neighbours that are kept of each
PATIENCE = 12  # turns that close less than a tenth of the gap

SUBSETS = (np.arange(1 << CHANGED)[:, None] >> np.arange(CHANGED)) % 2 == 1


def solve(problem: Problem, privacy: PML | LIP, box: LiftBox, utility: MutualInformation) -> Solution:
    """The best mixture that a search finds, and the bound of the chords."""
    if box.n > SIZES.lift_information:
        raise InvalidParameter(
            f"information with another prior than that of {privacy.name} is designed for at most "
            f"{SIZES.lift_information} inputs of positive probability",
            parameter="inputs",
            value=box.n,
            hint="Group inputs, or use the same prior for both.",
        )
    prices = chord_prices(privacy, utility)
    worth = OtherWorth(box, utility.prior.values[box.support])
    generator = np.random.default_rng(0)  # which columns are tried first: a search, not a release
    master = master_of(box)
    start = window_columns(box, [generator.permutation(box.n) for _ in range(ORDERS)])
    master.add(start, worth.values(start))
    master.solve()
    limits = replace(Limits.of(problem, "sets of inputs"), known=float(prices[box.support].sum()), patience=PATIENCE)
    generate(master, NearSets(worth, generator, limits), Priced.nothing(box.n), limits)
    mechanism = as_mechanism(problem, box, *mixture(master, box), reveal=True)
    proof = Dual(decimals(prices), Chords())
    return Solution(mechanism, math.fsum(prices), "column generation on neighbouring sets", (proof,))


def chord_prices(privacy: PML | LIP, utility: MutualInformation) -> Floats:
    """g of the kernel's reason `chords`, in floats."""
    box, r = whole_box(privacy), utility.prior.values
    p, own = box.prior, r[box.support]
    low, top = sorted((box.base, box.base + box.step))
    least, most = np.maximum(low, (1 - top * (1 - p)) / p), np.minimum(top, (1 - low * (1 - p)) / p)
    mass = float(own.sum()) or 1.0
    ends = [xlogy(t, t / mass) - t for t in (least, most)]
    slope = np.where(most > least, (ends[1] - ends[0]) / np.where(most > least, most - least, 1.0), 0.0)
    prices = -xlogy(r, r)
    prices[box.support] = own * slope + p * float(own.sum() + own @ (ends[0] - slope * least))
    return np.asarray(prices)


@dataclass(frozen=True, eq=False)
class OtherWorth:
    """Information of lift vectors with a prior of its own.

    Attributes:
        box: the lift vectors.
        prior: r on the support of the notion's prior.
    """

    box: LiftBox
    prior: Floats

    def values(self, y: Floats) -> Floats:
        """μ of each row of y."""
        lifts = self.box.lifts(y)
        along = lifts @ self.prior
        return np.asarray(xlogy(lifts, lifts) @ self.prior - xlogy(along, along))

    def neighbours(self, inside: Floats, changed: Indices, point: Floats) -> tuple[Floats, Floats]:
        """The best columns that have `inside` but on the inputs that may be changed: y, and what they gain."""
        box, r, p = self.box, self.prior, self.box.prior
        fixed = inside.copy()
        fixed[changed] = False
        sums = np.array([p, r, point])
        each = sums[:, fixed].sum(axis=1)[:, None] + sums[:, changed] @ SUBSETS[:, : changed.size].T
        rest = box.budget - each[0]
        fits = np.flatnonzero((rest >= 0) & (rest <= p.max()))
        member = np.tile(fixed, (fits.size, 1))
        member[:, changed] = SUBSETS[fits, : changed.size]
        part = rest[fits, None] / p  # of the fractional input, whichever that is
        base, end = box.base, box.base + box.step
        between = base + box.step * part
        along = base * r.sum() + box.step * (each[1, fits, None] + part * r)
        full = xlogy(base, base) * (r.sum() - each[1, fits, None] - r) + xlogy(end, end) * each[1, fits, None]
        with np.errstate(invalid="ignore"):
            gain = full + r * xlogy(between, between) - xlogy(along, along) - each[2, fits, None] - part * point
        gain[member | (part > 1)] = -np.inf
        best = np.argsort(-gain, axis=None)[:NEAREST]
        rows, j = np.unravel_index(best, gain.shape)
        y = member[rows].astype(np.float64)
        y[np.arange(best.size), j] = part[rows, j]
        proper = np.isfinite(gain[rows, j])
        return np.array([filled_up(box, row) for row in y[proper]]).reshape(-1, box.n), gain[rows, j][proper]


class NearSets(Pricing):
    """Sets priced by listing what is near to columns of the mixture and to random ones."""

    def __init__(self, worth: OtherWorth, generator: np.random.Generator, limits: Limits) -> None:
        self.worth, self.generator, self.limits = worth, generator, limits

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        return Priced.nothing(point.size)

    def explore(self, point: Floats, master: Master, gap: float) -> list[tuple[Floats, Floats]]:
        box = self.worth.box
        used, _ = master.mixture()
        chosen = used[self.generator.permutation(len(used))[: STARTS // 2]]
        random = box.filled(np.array([self.generator.permutation(box.n) for _ in range(STARTS - len(chosen))]))
        found = []
        for start in (*chosen, *random):
            if self.limits.stop():
                break
            found.extend(self._ascended(start == 1, point))
        columns = np.array(found).reshape(-1, box.n)
        return [(columns, self.worth.values(columns))]

    def _ascended(self, inside: Floats, point: Floats) -> list[Floats]:
        found: list[Floats] = []
        for _ in range(STEPS):
            changed = self.generator.permutation(inside.size)[:CHANGED]
            columns, _ = self.worth.neighbours(inside, changed, point)
            if not len(columns):
                break
            found.extend(columns)
            inside = columns[0] == 1
        return found
