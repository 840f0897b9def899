"""A dual vector, what it prices, and a reason why no column is worth more than its price.

Columns q_y of a mechanism lie in a cone C and add up to 1. It is worth Σ_y μ(q_y), μ convex and homogeneous: a sum of
divergences and informations (w = 1/k); qᵀGq/(p·q), the square of statistics (w = p); or the losses of a distortion, one
linear function for each output. For any α, and β ≥ 0 where the notion couples columns by Σ_y (q_y(x) − E·q_y(z))⁺ ≤ δ:

    μ(q) ≤ α·q + Σ β_xz (q_x − E·q_z)⁺ + t·(w·q)  on C      proves      Σ_y μ(q_y) ≤ Σα + δ·Σβ + t.

α need not be feasible: a reason computes t, and the better α is the smaller is the bound.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from math import inf, lcm, prod
from typing import ClassVar

import numpy as np
from flint import arb, fmpq, fmpz_mat

from extremal.certificate.arithmetic.cones import (
    Staircase,
    Together,
    Vector,
    cell_rays,
    cone_of,
    sets_of_size,
    unit_rays,
)
from extremal.certificate.arithmetic.enclosures import (
    ONE,
    above,
    fraction,
    leaves_of,
    of_vectors,
    ratio_above,
    rational,
    rule_of,
    weights_of,
)
from extremal.certificate.arithmetic.whole import largest_quotient, multiplied
from extremal.certificate.limits import leaves_in, width_of, work_of_rays
from extremal.certificate.proof import Bound, Proof, Refused, Value
from extremal.certificate.reading import Flag, Numbers, Pairs, Prices
from extremal.exact.polytope import Ray
from extremal.problem import Coupled, Goal, Integers, Leaked, LossGoal, Privacy, Pure, WorkloadGoal

CHUNK = 4096  # rays that are multiplied at once: matrices of a few megabytes
MOST_COUNTED = 1 << 20  # vectors of counts: checked within a few seconds
RATIO_BITS = 64  # of the E of squares, rounded up: 1e-19, far below the digits of any bound

Price = tuple[int, int, fmpq]


def mixture(mix: Numbers, goal: Goal) -> list[fmpq]:
    """The weights of the goal's leaves; for a worst case those of the mean of its parts that the proof chooses."""
    rows = weights_of(goal)
    chosen = mix or (Fraction(1),) * len(rows)
    if len(chosen) != len(rows) or any(w < 0 for w in chosen) or not sum(chosen):
        raise Refused("there must be one weight ≥ 0 for each utility, not all 0", "len(mix)", len(chosen))
    total = sum(chosen)
    return [
        sum((rational(w / total) * row[i] for w, row in zip(chosen, rows, strict=True)), fmpq(0))
        for i in range(len(rows[0]))
    ]


class Paid:
    """α·r + Σ β_xz (r_x − E·r_z)⁺ of whole vectors r, over `unit`; E = top, which prices need."""

    def __init__(self, alpha: Vector, prices: Sequence[Price] = (), top: fmpq = ONE) -> None:
        common = lcm(alpha.unit, *(int(b.q) for *_, b in prices))
        self.high, self.low = int(top.p), int(top.q)
        self.unit = common * self.low
        self.alpha = [a * (self.unit // alpha.unit) for a in alpha.entries]
        self.beta = [(x, z, int((b * common).p)) for x, z, b in prices]

    def __call__(self, ray: Ray) -> int:
        over = ((b, ray[x] * self.low - self.high * ray[z]) for x, z, b in self.beta)
        return sum(map(int.__mul__, self.alpha, ray)) + sum(b * more for b, more in over if more > 0)


@dataclass(frozen=True, eq=False)
class SumWorth:
    """Σ weight·μ over the leaves of a goal; w = 1/k."""

    privacy: Privacy
    goal: Goal
    weights: Sequence[fmpq]

    @property
    def k(self) -> int:
        return self.goal.k

    @property
    def sizes(self) -> list[int]:
        return [1] * self.k

    def most(self, rays: Iterable[Ray], paid: Paid) -> fmpq | None:
        """The largest of (μ(r) − paid(r))/(w·r), None when it is infinite. Only μ is rounded: where it is 0, as at
        ε = 0, so is the bound."""
        parts = zip(self.weights, leaves_of(self.goal), strict=True)
        weighed = [(weight, rule_of(leaf, of_vectors)) for weight, leaf in parts if weight]
        values = ((above(sum((weight * rule(ray) for weight, rule in weighed), arb(0))), ray) for ray in rays)
        found = [None if v is None else (v - fmpq(paid(ray), paid.unit)) / sum(ray) * self.k for v, ray in values]
        finite = [quotient for quotient in found if quotient is not None]
        return max(finite) if len(finite) == len(found) else None

    def most_of_patterns(self, cone: Staircase, alpha: Vector) -> fmpq | None:
        """The same on the rays of ε-LDP."""
        return self.most(cone.rays(), Paid(alpha))

    def rounded(self, top: fmpq) -> fmpq:
        """E as the rays of (ε,δ)-LDP are listed for."""
        return top

    def of_inputs(self) -> list[fmpq] | None:
        """At or above μ of each unit vector; None when one is infinite."""
        free = Vector([0] * self.k, 1)
        found = [self.most([ray], Paid(free)) for ray in unit_rays(self.k)]
        finite = [value / self.k for value in found if value is not None]
        return finite if len(finite) == self.k else None


@dataclass(frozen=True, eq=False)
class LossWorth:
    """The losses of a distortion under one prior: a cost, by the linear functions −p·d(·, y)."""

    privacy: Privacy
    goal: LossGoal

    @property
    def k(self) -> int:
        return self.goal.k


@dataclass(frozen=True, eq=False)
class SquareWorth:
    """qᵀGq/(p·q), w = p, in units of 1/denominator, in which G is whole.

    Attributes:
        weights, total: p = weights/total, of an input of each class.
        sizes: of the classes.
        slope, within: what G does to vectors that are constant on classes, and to those that sum to 0 within one.
        factor: g where G = ggᵀ; then `slope` and `within` are not needed.
    """

    privacy: Privacy
    weights: Sequence[int]
    total: int
    sizes: list[int]
    slope: Integers
    within: Integers
    denominator: int
    factor: Sequence[int] | None = None

    @property
    def k(self) -> int:
        return len(self.weights)

    def rounded(self, top: fmpq) -> fmpq:
        """A larger cone, of shorter numbers."""
        return fmpq((top * (1 << RATIO_BITS)).ceil(), 1 << RATIO_BITS)

    def of_inputs(self) -> list[fmpq]:
        """μ of the unit vector of an input of each class, G_xx/p_x."""
        if not all(self.weights):
            raise Refused("with δ every input must have a positive probability", "prior", "has zeros")
        n, slope = self.sizes, np.diagonal(self.slope).tolist()
        squares = [fmpq(int(s) + (m - 1) * int(w), m) for s, w, m in zip(slope, self.within, n, strict=True)]
        return [g * self.total / w for g, w in zip(squares, self.weights, strict=True)]

    def most(self, rays: Iterable[Ray], paid: Paid) -> fmpq:
        """The largest of (μ(r) − paid(r))/(w·r)."""
        return rational(largest_quotient(self._quotients(iter(rays), paid)))

    def _quotients(self, rays: Iterator[Ray], paid: Paid) -> Iterator[tuple[int, int]]:
        slope, total, unit = fmpz_mat(self.slope.tolist()), self.total, paid.unit
        while chunk := list(islice(rays, CHUNK)):
            products = (fmpz_mat([list(ray) for ray in chunk]) * slope).tolist()
            for ray, through in zip(chunk, products, strict=True):
                mass = sum(w * r for w, r in zip(self.weights, ray, strict=True))
                price = paid(ray)
                if mass:
                    square = sum(int(a) * b for a, b in zip(through, ray, strict=True))
                    yield (total * square * unit - price * mass) * total, mass * mass * unit
                elif any(through) or price < 0:
                    raise Refused("a report that the prior rules out cannot be priced", "prior", "has zeros")
                # else G·r = 0: added to a column it changes nothing, and it costs nothing

    def most_of_patterns(self, cone: Staircase, alpha: Vector) -> fmpq:
        """The same on {1, E}^k, columns known by how many inputs t of each class are high."""
        if prod(n + 1 for n in self.sizes) > MOST_COUNTED:
            raise Refused("there are too many columns to list", "classes", self.sizes[:8])
        top = self.rounded(cone.top)
        return rational(largest_quotient(self._counted(alpha, int(top.q), int(top.p - top.q))))

    def _counted(self, alpha: Vector, low: int, step: int) -> Iterator[tuple[int, int]]:
        """Quotients of the columns that are low + step on t_g inputs of class g and low elsewhere, for all vectors t.

        With G1 = 0, γ = within and Ĝ = slope: qᵀGq = step²(γ·t + tᵀΓt), Γ = (Ĝ − diag(γ))·diag(1/n), here times the
        least common multiple of n. Classes are halved, so that most is computed once for each half.
        """
        total, common, sizes = self.total, lcm(*self.sizes), np.array(self.sizes, dtype=object)
        square, linear = (self.slope - np.diag(self.within)) * (common // sizes), self.within * common
        weights, prices = np.array(self.weights, dtype=object), np.array(alpha.entries, dtype=object) * common
        scale = total * step * step * alpha.unit

        def half(part: slice) -> tuple[Integers, Integers, Integers, Integers]:
            """The vectors of a half, and for each its square, mass and price."""
            t = np.array(list(product(*(range(n + 1) for n in self.sizes[part]))), dtype=object)
            squares = ((t @ square[part, part] + linear[part]) * t).sum(axis=1)
            return t, scale * squares, step * (t * weights[part]).sum(axis=1), step * (t * prices[part]).sum(axis=1)

        ways = [prod(n + 1 for n in self.sizes[:cut]) for cut in range(len(sizes) + 1)]
        cut = min(range(len(ways)), key=lambda cut: ways[cut] + ways[-1] // ways[cut])
        (left, value, mass, price), (right, more, heavier, dearer) = half(slice(cut)), half(slice(cut, None))
        both = multiplied(left, square[:cut, cut:] + square[cut:, :cut].T, right.T)
        for i, crossed in enumerate(scale * both):
            size, paid = low * total + mass[i] + heavier, low * int(prices @ sizes) + price[i] + dearer
            excess = (value[i] + more + crossed - paid * size) * total
            yield from zip(excess, size * size * (common * alpha.unit), strict=True)


Worth = SumWorth | LossWorth | SquareWorth


@dataclass(frozen=True)
class Reason(Value):
    """Why no column is worth more than its price."""

    @abstractmethod
    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq | None:
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

    Fields: tree, for metric privacy the edges (parent, child) of a spanning tree whose inequalities alone are used; for
    a class of priors the inequalities (input, extreme prior) that alone are used.
    revealed: instead of the notion's rays the unit vectors, of which every column is a sum, whatever the notion.
    """

    kind: ClassVar[str] = "listed"
    tree: Pairs = ()
    revealed: Flag = False

    def work(self, privacy: Privacy, goal: Goal) -> int:
        if self.revealed:
            return width_of(goal) ** 2 * leaves_in(goal)
        if isinstance(goal, WorkloadGoal) and isinstance(privacy, Pure):
            return 0  # by vectors of counts, with `squares`
        return work_of_rays(privacy, goal)

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq | None:
        if isinstance(worth, LossWorth):
            raise Refused("a distortion is not proved by rays", "reason", self.kind)
        if self.revealed:
            if self.tree:
                raise Refused("inputs that are revealed need no tree", "tree", len(self.tree))
            return worth.most(unit_rays(worth.k), Paid(alpha))
        if isinstance(worth.privacy, Leaked):
            return self._over_sets(worth, alpha, ratio_above(worth.privacy.ratio))
        cone = cone_of(worth.privacy, worth.k, self.tree)
        if isinstance(cone, Staircase):
            return worth.most_of_patterns(cone, alpha)
        if isinstance(cone, Together):
            top = worth.rounded(cone.top)
            return worth.most(cell_rays(cone.k, top), Paid(alpha, prices, top))
        return worth.most(cone.rays(), Paid(alpha))

    def _over_sets(self, worth: Worth, alpha: Vector, top: fmpq) -> fmpq | None:
        """Maximal leakage: a column is a sum of multiples of sets whose factors add up to its largest entry, so that
        μ(q) ≤ α·q + t·max(q) with t the most over sets, and Σ_y max(q_y) lies between 1 and E. The whole set is worth
        0."""
        if self.tree or not isinstance(worth, SumWorth):
            raise Refused("under maximal leakage sets are listed, for divergences and information", "reason", self.kind)
        found = [worth.most(sets_of_size(worth.k, size), Paid(alpha)) for size in range(1, worth.k)]
        finite = [t * size / worth.k for size, t in enumerate(found, start=1) if t is not None]
        most = max(-alpha.total, *finite)
        return None if len(finite) < len(found) else most * top if most > 0 else most


@dataclass(frozen=True)
class Truncated(Reason):
    """(ε,δ)-LDP by a reason for ε-LDP: t⁺ + min(1, (k−1)δ)·Σ_x (μ(e_x) − α_x)⁺, t what that reason computes.

    What a column q has above E times its least entry, u_x = max_z (q_x − E·q_z)⁺, is cut off. The rest lies in the cone
    of ε-LDP, μ is subadditive, and the u_x of all columns add up to at most (k−1)δ, and to 1.

    Fields: reason, `listed` (not revealed), `chords` or `sets`.
    """

    kind: ClassVar[str] = "truncated"
    reason: Reason

    def work(self, privacy: Privacy, goal: Goal) -> int:
        return self.reason.work(Pure(privacy.ratio) if isinstance(privacy, Coupled) else privacy, goal)

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq | None:
        privacy, reason = worth.privacy, self.reason
        if not isinstance(privacy, Coupled) or isinstance(worth, LossWorth):
            raise Refused("columns are truncated under (ε,δ)-LDP, about no distortion", "reason", self.kind)
        if reason.kind not in ("listed", "chords", "sets") or (isinstance(reason, Listed) and reason.revealed):
            raise Refused("a reason for ε-LDP is needed", "reason", reason.kind)
        excess = reason.excess(replace(worth, privacy=Pure(privacy.ratio)), alpha, [])
        revealed = worth.of_inputs()
        if excess is None or revealed is None:
            return None
        share = min(fmpq(1), (sum(worth.sizes) - 1) * rational(privacy.delta))
        gains = (value - fmpq(a, alpha.unit) for value, a in zip(revealed, alpha.entries, strict=True))
        over = sum((n * max(fmpq(0), gain) for n, gain in zip(worth.sizes, gains, strict=True)), fmpq(0))
        return max(fmpq(0), excess) + share * over
