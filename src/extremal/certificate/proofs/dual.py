"""A dual vector, and a reason why no column is worth more than its price.

Columns q_y of a mechanism lie in a cone C and add up to 1. For any α, and any β ≥ 0 where the notion couples columns by
Σ_y (q_y(x) − E·q_y(z))⁺ ≤ δ:

    μ(q) ≤ α·q + Σ β_xz (q_x − E·q_z)⁺ + t·(w·q)  on C      proves      Σ_y μ(q_y) ≤ Σα + δ·Σβ + t.

α need not be feasible: a reason computes t, and the better α is the smaller is the bound.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import ClassVar

from flint import fmpq

from extremal.certificate.arithmetic.cones import Staircase, Together, Vector, cell_rays, cone_of, unit_rays
from extremal.certificate.arithmetic.enclosures import Rational, fraction, rational
from extremal.certificate.proof import Bound, Proof, Value
from extremal.certificate.proofs.worth import LossWorth, Paid, Price, SquareWorth, SumWorth, Worth, mixture
from extremal.certificate.reading import Flag, Numbers, Pairs, Prices
from extremal.certificate.refused import Refused
from extremal.problem import Coupled, Goal, LossGoal, Privacy


@dataclass(frozen=True)
class Reason(Value):
    """Why no column is worth more than its price."""

    @abstractmethod
    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> Rational | None:
        """A t with μ(q) ≤ α·q + Σβ(…)⁺ + t·(w·q) on the cone; for losses, one that Σα may miss the optimum by. None
        when it is infinite."""


@dataclass(frozen=True)
class Dual(Proof):
    """OPT ≤ Σα + δ·Σβ + t; for a distortion, a cost, OPT ≥ Σα − t.

    Fields: alpha, one number an input. mix, one weight ≥ 0 for each part of a worst case (empty otherwise): the least
    of several is at most any mean of them. prices (x, z, β): β ≥ 0 for rows x and z under (ε,δ)-LDP. reason, which
    computes t.
    """

    kind: ClassVar[str] = "dual"
    alpha: Numbers
    reason: Reason
    mix: Numbers = ()
    prices: Prices = ()

    @property
    def label(self) -> str:
        return f"{self.kind} ({self.reason.kind})"

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        if isinstance(goal, LossGoal):
            return self._below_losses(LossWorth(privacy, goal))
        level = self.level(SumWorth(privacy, goal, mixture(self.mix, goal)))
        return inf if level is None else level

    def _below_losses(self, worth: LossWorth) -> Bound:
        if self.mix or self.prices:
            raise Refused("a distortion has no parts and no prices", "len(mix)", len(self.mix))
        alpha = self._vector(worth)
        excess = self.reason.excess(worth, alpha, [])
        return -inf if excess is None else max(fraction(alpha.total - excess), Fraction(0))

    def level(self, worth: SumWorth | SquareWorth) -> Fraction | None:
        """Σα + δ·Σβ + t; None when t is infinite."""
        alpha, prices = self._vector(worth), self._priced(worth)
        delta = rational(worth.privacy.delta) if isinstance(worth.privacy, Coupled) else fmpq(0)
        total = fmpq(sum(n * a for n, a in zip(worth.sizes, alpha.entries, strict=True)), alpha.unit)
        excess = self.reason.excess(worth, alpha, prices)
        return None if excess is None else fraction(total + delta * sum((b for *_, b in prices), fmpq(0)) + excess)

    def _vector(self, worth: Worth) -> Vector:
        if len(self.alpha) != worth.k:
            raise Refused("the dual vector must have one entry for each input", "len(alpha)", len(self.alpha))
        common = lcm(*{a.denominator for a in self.alpha})
        return Vector([int(a * common) for a in self.alpha], common)

    def _priced(self, worth: Worth) -> list[Price]:
        listed = isinstance(self.reason, Listed) and not self.reason.revealed
        if self.prices and not (listed and isinstance(worth.privacy, Coupled)):
            raise Refused("prices are for columns listed under (ε,δ)-LDP", "prices", len(self.prices))
        k = worth.k
        if any(b < 0 or x == z or not (0 <= x < k and 0 <= z < k) for x, z, b in self.prices):
            raise Refused("prices are ≥ 0, of two different rows", "prices", len(self.prices))
        return [(x, z, rational(b)) for x, z, b in self.prices]


@dataclass(frozen=True)
class Listed(Reason):
    """Every extreme ray r of the cone: t = max (μ(r) − α·r − Σ β_xz (r_x − E·r_z)⁺)/(w·r), of either sign.

    Fields: tree, for metric privacy the edges (parent, child) of a spanning tree whose inequalities alone are used.
    revealed: instead of the notion's rays the unit vectors, of which every column is a sum, whatever the notion.
    """

    kind: ClassVar[str] = "listed"
    tree: Pairs = ()
    revealed: Flag = False

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> Rational | None:
        if isinstance(worth, LossWorth):
            raise Refused("a distortion is not proved by rays", "reason", self.kind)
        if self.revealed:
            if self.tree:
                raise Refused("inputs that are revealed need no tree", "tree", len(self.tree))
            return worth.most(unit_rays(worth.k), Paid.of(alpha))
        cone = cone_of(worth.privacy, worth.k, self.tree)
        if isinstance(cone, Staircase):
            return worth.most_of_patterns(cone, alpha)
        if isinstance(cone, Together):
            top = worth.rounded(cone.top)
            return worth.most(cell_rays(cone.k, top), Paid.of(alpha, prices, top))
        return worth.most(cone.rays(), Paid.of(alpha))
