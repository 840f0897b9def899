"""The proof by search for information under a leakage notion: trees over the vertices of the box.

β (see `duals`) is feasible when α(T) + f·α_j + p_j·dip(f) ≥ K for every vertex, y = 1 on T, f on j, and P(T) + f·p_j =
b, where K = A + b(B−A) + b·Σα − M. There is a tree for each group of equal inputs that j may come from. It decides the
other groups in the kernel's order, heaviest first; a node is closed by a multiplier ν of the plane, for which the
ratios α_x/p_x serve, at the two extreme masses that its open inputs can still make. The trees are built in the
orientation of the box, where nothing cancels; counted from the top, what is taken here is left out there. What floats
decide is decided again, exactly, before it is believed: a larger M closes more nodes, up to the M at which every root
is closed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from extremal.certificate import Dual, Refused, Sets
from extremal.exact import Prior
from extremal.optimize.leakage.knapsack import LiftWorth
from extremal.optimize.leakage.master import Numbers, dual_vector, rounded
from extremal.optimize.tokens import BRANCH, EMPTY, Integers, in_depth_first_order
from extremal.privacy import LIP, PML
from extremal.privacy.cones.lift import Floats, LiftBox, whole_box
from extremal.utility import MutualInformation

MOST_TOKENS = 60_000  # the kernel reads about 20,000 a second
MOST_SUMS = 1 << 12  # of the masses that open groups can make, listed as the kernel lists them
MOST_MULTIPLIERS = 64  # that are tried in turn; one or two usually close the root
_RAISED = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
_SPARE = 2e-14  # relative: what floats are given
_MASS = 1e-15  # by how much sums of probabilities may be off
_CHUNK = 2_000_000  # entries of a table of nodes and multipliers


def proof_by_search(privacy: PML | LIP, box: LiftBox, alpha: Floats, bound: float) -> Dual | None:
    """Trees that prove `bound` for the dual vector, or somewhat more where they would grow too large.

    None when even roots cannot be closed: the numbers are beyond floats.
    """
    prior = privacy.prior
    task = _Forest(prior, *_whole(privacy, box, _symmetrised(prior, box, alpha)))
    roots = task.closed_at_roots()
    for raised in (*_RAISED, None):
        target = roots * (1 + _SPARE) if raised is None else bound * (1 + raised + _SPARE)
        if raised is not None and target >= roots:
            continue
        made = task.trees(target, _SPARE * bound / 2)
        if made is None:
            continue
        proof = Dual(made[0], Sets(*made[1:]))
        try:
            proof.bound(privacy, MutualInformation(prior))
        except Refused:  # floats were too coarse for this prior
            continue
        return proof
    return None


def _symmetrised(prior: Prior, box: LiftBox, alpha: Floats) -> Floats:
    """Equal inputs at equal prices: the mean of feasible vectors is feasible."""
    _, group = np.unique([str(prior.weights[x]) for x in box.support.tolist()], return_inverse=True)
    group = group.reshape(-1)
    return np.asarray((np.bincount(group, weights=alpha) / np.bincount(group))[group])


def _whole(privacy: PML | LIP, box: LiftBox, alpha: Floats) -> tuple[LiftBox, Floats]:
    """The box with the top of the notion, where `box` has a lower one, and the dual vector there."""
    whole = whole_box(privacy)
    if (whole.step < 0) != (box.step < 0):
        whole = replace(whole, base=whole.base + whole.step, step=-whole.step, budget=1 - whole.budget)
    return whole, alpha * (whole.step / box.step)


@dataclass(frozen=True, eq=False)
class _Forest:
    """One dual vector in the box: everything that does not depend on M but for the order of groups."""

    exact: Prior
    box: LiftBox
    alpha: Floats

    @cached_property
    def curve(self) -> LiftWorth:
        return LiftWorth.on(self.box)

    @cached_property
    def order(self) -> list[list[int]]:
        """Members of each group, as positions in the box, heaviest first, then by increasing β."""
        beta = dual_vector(self.exact, self.box, self.alpha, 0.0)
        groups: dict[tuple[int, Fraction], list[int]] = {}
        for i, x in enumerate(self.box.support.tolist()):
            groups.setdefault((-self.exact.weights[x], beta[x]), []).append(i)
        return [groups[key] for key in sorted(groups)]

    @cached_property
    def mass(self) -> Floats:
        return self.box.prior[[group[0] for group in self.order]]

    @cached_property
    def price(self) -> Floats:
        return self.alpha[[group[0] for group in self.order]]

    @cached_property
    def count(self) -> Integers:
        return np.array([len(group) for group in self.order])

    @cached_property
    def chosen(self) -> Integers:
        """Groups whose ratio α/p is a multiplier: all, or those next to where the budget ends."""
        ratio = self.price / self.mass
        order = np.argsort(ratio, kind="stable")
        last = int(np.searchsorted(np.cumsum((self.mass * self.count)[order]), self.box.budget))
        first = min(max(0, last - MOST_MULTIPLIERS // 2), max(0, order.size - MOST_MULTIPLIERS))
        return np.asarray(order[first : first + MOST_MULTIPLIERS], dtype=np.int64)

    @cached_property
    def multipliers(self) -> Floats:
        return np.asarray((self.price / self.mass)[self.chosen])

    @cached_property
    def reduced(self) -> Floats:
        """s = α − νp: multipliers × groups."""
        return self.price - self.multipliers[:, None] * self.mass

    @cached_property
    def opened(self) -> Floats:
        """Σ over groups from a depth on of count·min(0, s): depths × multipliers."""
        gains = np.minimum(self.reduced, 0.0) * self.count
        back = np.cumsum(gains[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(np.hstack([back, np.zeros((self.multipliers.size, 1))]).T)

    @property
    def _at(self) -> float:
        """A + b(B−A) + b·Σα: K is this less M."""
        return self.curve.ceiling + self.box.budget * float(self.alpha.sum())

    def closed_at_roots(self) -> float:
        """The M at which one multiplier closes each tree at its root."""
        start = np.zeros(1)
        worst = [_Tree(self, j).best(0, start, start)[1][0] for j in range(len(self.order))]
        return self._at - float(min(worst))

    def trees(self, bound: float, spare: float) -> tuple[Numbers, Numbers, tuple[tuple[int, ...], ...]] | None:
        """(β, multipliers, tokens); None when a vertex costs too little or the trees are too large."""
        found, tokens = [], 0
        for j in range(len(self.order)):
            levels = _Tree(self, j).levels(self._at - bound + spare, MOST_TOKENS - tokens)
            if levels is None:
                return None
            count = self.count.copy()
            count[j] -= 1
            found.append(tuple(in_depth_first_order(levels, count).tolist()))
            tokens += len(found[-1])
        beta = dual_vector(self.exact, self.box, self.alpha, bound)
        firsts = [int(self.box.support[self.order[int(g)][0]]) for g in self.chosen]
        return beta, rounded([beta[x] / self.exact.fraction(x) for x in firsts]), tuple(found)


class _Tree:
    """The tree for a fractional input from group j."""

    def __init__(self, forest: _Forest, j: int) -> None:
        self.forest, self.j, self.own = forest, j, float(forest.mass[j])
        self.count = forest.count.copy()
        self.count[j] -= 1
        mass = forest.mass
        self.reach = np.append(np.cumsum((self.count * mass)[::-1])[::-1], 0.0)
        lightest = np.where(self.count > 0, mass, np.inf)
        self.lightest = np.append(np.minimum.accumulate(lightest[::-1])[::-1], np.inf)
        self.listed = {mass.size: np.zeros(1)}
        for depth in range(mass.size - 1, -1, -1):
            last = self.listed[depth + 1]
            if last.size * (int(self.count[depth]) + 1) > MOST_SUMS:
                break
            taken = np.arange(self.count[depth] + 1) * mass[depth]
            self.listed[depth] = np.unique((last[:, None] + taken).ravel())

    def levels(self, least: float, most: int) -> list[Integers] | None:
        """What becomes of the nodes of each depth, all closed in the end; None when that is not possible."""
        forest = self.forest
        z, paid = np.zeros(1), np.zeros(1)
        found: list[Integers] = []
        size = 0
        for depth in range(forest.mass.size + 1):
            choice, value = self.best(depth, z, paid)
            choice = np.where((choice == EMPTY) | (value >= least), choice, BRANCH)
            found.append(choice)
            opened = choice == BRANCH
            size += choice.size
            if not opened.any():
                return found
            if depth == forest.mass.size or size + int(opened.sum()) * (int(self.count[depth]) + 1) > most:
                return None
            taken = np.arange(self.count[depth] + 1)
            if forest.box.step < 0:  # the kernel counts what is at the top: here that is what is not taken
                taken = taken[::-1]
            z = (z[opened][:, None] + taken * forest.mass[depth]).ravel()
            paid = (paid[opened][:, None] + taken * forest.price[depth]).ravel()
        raise AssertionError("the last level closes or fails")

    def best(self, depth: int, z: Floats, paid: Floats) -> tuple[Integers, Floats]:
        """For each node the multiplier with the largest bound, and the bound; EMPTY where no vertex lies below."""
        forest, own, b = self.forest, self.own, self.forest.box.budget
        low, high = self._masses(depth, z)
        empty = low > high + _MASS
        ends = [np.clip((b - m) / own, 0.0, 1.0) for m in (low, high)]
        dips = [own * forest.curve.dip(f) for f in ends]
        reduced = forest.reduced[:, self.j]
        opened = forest.opened[depth] - (np.minimum(reduced, 0.0) if depth <= self.j else 0.0)
        choice, value = np.empty(z.size, dtype=np.int64), np.empty(z.size)
        rows = max(1, _CHUNK // forest.multipliers.size)
        for first in range(0, z.size, rows):
            part = slice(first, first + rows)
            cost = np.minimum(*(f[part, None] * reduced + d[part, None] for f, d in zip(ends, dips, strict=True)))
            bound = cost + (b - z[part])[:, None] * forest.multipliers + opened
            choice[part] = bound.argmax(axis=1)
            value[part] = bound.max(axis=1) + paid[part]
        return np.where(empty, EMPTY, choice), np.where(empty, np.inf, value)

    def _masses(self, depth: int, z: Floats) -> tuple[Floats, Floats]:
        """The least and the largest mass of a set below a node that leaves a fraction to the fractional input."""
        own, b = self.own, self.forest.box.budget
        if depth in self.listed:
            sums = self.listed[depth]
            first = np.searchsorted(sums, b - own - z - _MASS)
            last = np.searchsorted(sums, b - z + _MASS, side="right") - 1
            none = first > last
            first, last = np.where(none, 0, first), np.where(none, 0, last)
            return np.where(none, np.inf, z + sums[first]), np.where(none, -np.inf, z + sums[last])
        far, light = z + self.reach[depth], float(self.lightest[depth])
        low = np.where(z >= b - own - _MASS, z, np.maximum(b - own, z + light))
        high = np.where(far <= b + _MASS, far, np.minimum(b, far - light))
        return low, high
