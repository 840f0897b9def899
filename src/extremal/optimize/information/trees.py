"""The proof by search for prices of symbols: a tree over sets, each leaf closed by one tangent of φ.

α is feasible when φ(P(T)) ≤ Σα + c·α(T) for every set T. The tree decides groups of equal symbols in the order in which
the kernel replays it, heaviest first. A node is bounded by its linear relaxation: open symbols are taken in the order
of price over mass until φ' falls to the price. The tangent at the mass y that is then reached proves that bound, and
one at a mass nearby proves nearly as much; a table of them serves most nodes. All nodes of a level are arrays; tokens
are put into their depth-first places at the end. What floats decide here is decided again, exactly, before it is
believed: a proof that is refused, or a tree that grows too large, is tried again with a slightly larger α.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.certificate import Dual, Refused, Sets
from extremal.optimize.problem import decimals
from extremal.optimize.tokens import BRANCH, Integers, in_depth_first_order
from extremal.privacy import LDP
from extremal.utility import MutualInformation
from extremal.utility.curve import Floats, InformationCurve

MOST_TOKENS = 200_000  # of a proof: the kernel reads them in ten seconds
_RAISED = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 3e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Relative: by how much α is raised beyond what its prices prove, until a tree is small enough and holds."""
_SPARE = 2e-14  # relative: what floats are given; half of it is left to the kernel
_GRID = 41  # masses at which tangents are tried first
_STEPS = (2.0**-10, 2.0**-14, 2.0**-18)  # to which masses are rounded, before a node gets a tangent of its own


@dataclass(frozen=True, eq=False)
class TreeGroups:
    """Equal symbols together, in the kernel's order: mass, price c·α and number of each."""

    mass: Floats
    price: Floats
    count: Integers

    @property
    def ratio(self) -> Floats:
        return self.price / self.mass


def proof_by_search(utility: MutualInformation, privacy: LDP, alpha: Floats, wanted: float) -> Dual | None:
    """A tree that proves α, raised a little where need be; None when that would take the bound above `wanted`.

    Args:
        alpha: one for each input, 0 where the prior is; it should be feasible up to rounding.
        wanted: the bound must be below this to be of use.
    """
    curve, prior = InformationCurve(privacy.epsilon), utility.prior
    total, spare = float(alpha.sum()), _SPARE
    for raised in _RAISED:
        larger = alpha + (raised + spare) * total * prior.values
        if float(larger.sum()) >= wanted:
            return None
        made = _tree(curve, _groups(utility, larger, curve.c), float(larger.sum()), spare * total / 2)
        if made is None:
            continue
        proof = Dual(decimals(larger), Sets(decimals(made[0]), (tuple(made[1].tolist()),)))
        try:
            proof.bound(privacy, utility)
        except Refused:  # floats were too coarse for this prior
            continue
        return proof
    return None


def _groups(utility: MutualInformation, alpha: Floats, c: float) -> TreeGroups:
    count: dict[tuple[int, float], int] = {}
    for pair in zip(utility.prior.weights, alpha.tolist(), strict=True):
        if pair[0]:
            count[pair] = count.get(pair, 0) + 1
    ordered = sorted(count, key=lambda pair: (-pair[0], pair[1]))
    mass = np.array([w / utility.prior.total for w, _ in ordered])
    return TreeGroups(mass, c * np.array([a for _, a in ordered]), np.array([count[pair] for pair in ordered]))


def _tree(curve: InformationCurve, groups: TreeGroups, limit: float, spare: float) -> tuple[Floats, Integers] | None:
    """(masses of tangents, tokens); None when a set is worth more than it costs, or the tree is too large."""
    table = _Tangents(curve, groups)
    levels: list[Integers] = []
    z, paid, tokens = np.zeros(1), np.zeros(1), 0
    for depth in range(groups.mass.size + 1):
        choice = table.closing(depth, z, paid, limit - spare * (1 + curve.c * z))
        levels.append(choice)
        opened = choice == BRANCH
        tokens += choice.size
        if not opened.any():
            return table.masses(), in_depth_first_order(levels, groups.count)
        if depth == groups.mass.size or tokens + int(opened.sum()) * (int(groups.count[depth]) + 1) > MOST_TOKENS:
            return None
        taken = np.arange(groups.count[depth] + 1)
        z = (z[opened][:, None] + taken * groups.mass[depth]).ravel()
        paid = (paid[opened][:, None] + taken * groups.price[depth]).ravel()
    raise AssertionError("the last level closes or fails")


class _Tangents:
    """Tangents of φ at a growing list of masses, and what open groups gain on them."""

    def __init__(self, curve: InformationCurve, groups: TreeGroups) -> None:
        self.curve, self.groups = curve, groups
        self.at = np.unique(np.concatenate([np.linspace(0, 1, _GRID), curve.argmax(groups.ratio)]))
        self.order = np.argsort(groups.ratio, kind="stable")
        self.numbers: dict[float, int] = {}

    def masses(self) -> Floats:
        return np.array(list(self.numbers))

    def closing(self, depth: int, z: Floats, paid: Floats, limit: Floats) -> Integers:
        """For each node the number of a tangent that closes it, or BRANCH; coarse masses first, so that nodes share
        tangents. No tangent does more than that at the mass of the relaxation."""
        ideal = self._relaxed(depth, z)
        nearest = np.searchsorted(self.at, ideal).clip(0, self.at.size - 1)
        coarse = (self.at[nearest], self.at[np.maximum(nearest - 1, 0)], *(np.round(ideal / s) * s for s in _STEPS))
        choice = np.full(z.size, BRANCH, dtype=np.int64)
        rest = np.flatnonzero(self._bound(ideal, self._gains(depth, ideal), z, paid) <= limit)
        for at in (*coarse, ideal):
            if not rest.size:
                break
            self._try(choice, rest, depth, at, z, paid, limit)
            rest = rest[choice[rest] == BRANCH]
        return choice

    def _try(
        self, choice: Integers, rest: Integers, depth: int, at: Floats, z: Floats, paid: Floats, limit: Floats
    ) -> None:
        """Close those of the nodes `rest` that their tangent closes."""
        own, place = np.unique(at[rest], return_inverse=True)
        place = place.reshape(-1)
        good = self._bound(own[place], self._gains(depth, own)[place], z[rest], paid[rest]) <= limit[rest]
        used, local = np.unique(place[good], return_inverse=True)
        numbers = [self.numbers.setdefault(y, len(self.numbers)) for y in own[used].tolist()]
        choice[rest[good]] = np.array(numbers, dtype=np.int64)[local.reshape(-1)]

    def _bound(self, y: Floats, gains: Floats, z: Floats, paid: Floats) -> Floats:
        return np.asarray(self.curve.value(y) + self.curve.slope(y) * (z - y) - paid + gains)

    def _gains(self, depth: int, y: Floats) -> Floats:
        """Σ over open groups of count·(φ'(y)p − price)⁺: groups in the order of price over mass, those below φ'."""
        open_groups = self.order[self.order >= depth]
        g = self.groups
        mass = np.append(0.0, np.cumsum((g.count * g.mass)[open_groups]))
        price = np.append(0.0, np.cumsum((g.count * g.price)[open_groups]))
        slope = self.curve.slope(y)
        worth = np.searchsorted(g.ratio[open_groups], slope)
        return np.asarray(slope * mass[worth] - price[worth])

    def _relaxed(self, depth: int, z: Floats) -> Floats:
        """The mass that the linear relaxation reaches from z."""
        open_groups = self.order[self.order >= depth]
        ratio = self.groups.ratio[open_groups]
        ends = np.append(0.0, np.cumsum((self.groups.count * self.groups.mass)[open_groups]))
        if not ratio.size:
            return np.minimum(z, 1.0)
        # Group i is worth starting while z + ends[i] < argmax(ratio_i), which decreases: a search over i − ends.
        wanted = self.curve.argmax(ratio)
        started = np.searchsorted(-(wanted - ends[:-1]), -z)  # how many groups are begun
        last = np.maximum(started - 1, 0)
        reached = np.minimum(z + ends[started], np.maximum(wanted[last], z))
        return np.asarray(np.clip(np.where(started > 0, reached, z), 0.0, 1.0))
