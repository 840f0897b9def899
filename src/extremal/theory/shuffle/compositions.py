"""All data sets of two inputs and two reports at once: the divergence as a power series in who the others are.

As in `theory.shuffle.binary`, a of the n−1 others hold input 1, T counts their reports of one kind, and δ_a is the
largest over t of G_a(t) = α·f_a(t) − β·F_a(t−1). One contour serves many a and t: with s = θ + iu,

    G_a(t) = (1/2π)∫ m₀(s)^{n−1−a}·m₁(s)^a·e^{−st}·K(s) du,   m_x(s) = E e^{sT} of one person who holds x.

Around a₀ and t₀ put a = a₀ + x and t = t₀ + κx + r, where κ is the difference of the tilted means. Then the integrand
is that at (a₀, t₀) times e^{gx}·e^{xD(s)−rs} with D(s) = log(m₁/m₀)(s) − κs − g. Near θ the function D is nearly
constant, and g is chosen such that it is nearly 0. So

    G_a(t) = e^{gx}·(Σ_{ij} c_ij·x^i·r^j + rest),   c_ij = (1/N)Σ_nodes (weight)·D^i·(−s)^j/(i!·j!),

with a rest that Taylor's remainder, the nodes left out and the aliases bound. t₀ and κ need not be whole numbers: the
series is only ever used where t is one, and a ball of r covers those.

**Where the peak is.** G_a(t) − G_a(t−1) has the kernel α − (α+β)e^s in place of K, and changes its sign once in t. If
it is positive for −1 ≤ r ≤ 0 and negative for 1 ≤ r ≤ 2, the peak has −1 ≤ r ≤ 1.

**All data sets.** A block of a is decided by balls of x and r; where that does not suffice, every a of a small block is
looked at with its own t, and other blocks are halved. Nothing is shown to the adversary, so nothing is lost.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from flint import acb, arb, fmpq

ORDERS = 6  # of x: blocks are halved until the rest is small
LEAST_ORDERS, MOST_ORDERS = 6, 48  # of r
STEEP = 1e-11  # relative size of the rest of the series in r
DROPPED = 60.0  # −log of what the nodes left out may add, relative
LEAST_TILT = 1e-12  # where the contour is surely left of 0
LEAST_TILTED = 30  # variance of the tilted count: below, the peak is a matter of single values of t
ONE_BY_ONE = 512  # data sets of a block whose values of t are looked at one by one: 20 ms
MOST_BLOCKS = 150  # blocks before a question is given up, where all data sets are nearly alike: seconds
WINDOW = 2  # |r| of every use of the series
PIECES = 4  # into which a unit of r is cut where a sign is decided
SEARCHES = 12  # steps of Newton's method for the peak: a start only
BESIDE = 1.0001  # |r| of the values of t that are looked at: 1, and what rounding may add


@dataclass(frozen=True)
class Compositions:
    """n, P(report 1 | input) of the two inputs, α and β."""

    n: int
    chances: tuple[fmpq, fmpq]
    gain: arb
    loss: arb

    @cached_property
    def tilt(self) -> float:
        """The increments of G balance under the weights e^{tilt·T}."""
        return -math.log1p(float(self.loss) / float(self.gain))

    def tilted(self, x: int) -> float:
        """P(report 1 | x) under these weights."""
        p = float(self.chances[x]) * math.exp(self.tilt)
        return p / (p + float(1 - self.chances[x]))

    @cached_property
    def variances(self) -> tuple[float, float]:
        """Of the tilted count, if all others hold 0 or 1."""
        return tuple((self.n - 1) * p * (1 - p) for p in (self.tilted(0), self.tilted(1)))  # type: ignore[return-value]

    @property
    def spread(self) -> bool:
        """Whether the tilted count spreads over many values whoever the others are."""
        return min(self.variances) >= LEAST_TILTED

    @cached_property
    def theta(self) -> float:
        """Of the contour: the tilt, but not so close to 0 that nodes would be many."""
        return min(self.tilt, -1 / math.sqrt(max(self.variances)))

    def log_moment(self, theta: arb, held: tuple[int, int]) -> arb:
        """log E e^{θT}, where held[x] of the others hold x."""
        sums = [arb(p) * theta.exp() + arb(1 - p) for p in self.chances]
        return held[0] * sums[0].log() + held[1] * sums[1].log()

    def ceiling(self, held: tuple[int, int]) -> arb:
        """An upper bound of δ where held[x] of the others hold x, without nodes.

        For N bits, f(t)/f(t−1) ≤ ρ·(N−t+1)/t, with ρ the mean of p/(1−p) over the bits (Newton). α·f(t) − β·F(t−1) ≤
        α·f(t) − β·f(t−1) is not positive beyond t* = ρ·(N+1)/(ρ + β/α), and before it f(t) ≤ P(T ≤ t*) ≤
        E e^{θT}·e^{−θt*} for θ < 0.
        """
        people = sum(held)
        if not people:
            return self.gain.upper()
        odds = arb(sum((m * p / (1 - p) for m, p in zip(held, self.chances, strict=True)), fmpq(0)) / people)
        last = odds * (people + 1) / (odds + self.loss / self.gain)
        theta = arb(min(self.tilt, -LEAST_TILT))
        return (self.gain * (self.log_moment(theta, held) - theta * last).exp().min(arb(1))).upper()

    def at_most(self, target: arb, first: int = 0, last: int | None = None) -> bool:
        """Whether it is shown that no data set has a divergence above the target, where a is in a block."""
        blocks, looked = [(first, self.n - 1 if last is None else last)], 0
        while blocks:
            first, last = blocks.pop()
            looked += 1
            if looked > MOST_BLOCKS:
                return False
            series = Series.around(self, first, last)
            if series is not None and series.bound() <= target:
                continue
            if last - first < ONE_BY_ONE and series is not None:
                if all(value <= target for value in series.points()):
                    continue
                if series.largest() > target:
                    return False
            if first == last:
                return False
            middle = (first + last) // 2
            blocks += [(middle + 1, last), (first, middle)]
        return True

    def lower(self, reach: int) -> arb:
        """A lower bound over data sets: equal others, and those where up to so many differ, or fewer."""
        last, best = self.n - 1, arb(0)
        for end in (0, last):
            near, series = min(reach, last), None
            while series is None and near >= 0:
                series = Series.around(self, max(0, end - near), min(last, end + near))
                near = near // 4 if near else -1
            best = best if series is None else best.max(series.largest())
        return best.lower()


@dataclass(frozen=True)
class Series:
    """Σ c_ij·x^i·r^j around a₀ = `start`, t₀ = `place`, for the a of a block; `rest` bounds what is missing."""

    first: int
    last: int
    start: int
    place: arb
    slope: arb
    growth: arb
    coefficients: list[list[arb]]
    rest: arb

    @classmethod
    def around(cls, of: Compositions, first: int, last: int) -> Series | None:
        """The series of a block; None where the peak cannot be located for all of it."""
        start = (first + last) // 2
        reach = max(last - start, start - first)
        nodes = _Nodes.around(of, start, reach)
        rise, rest = nodes.series(nodes.rises)
        x = _powers(arb(0, reach), ORDERS)
        for low, sign in ((-1, 1), (1, -1)):
            for piece in range(PIECES):
                r = arb(low + (piece + 0.5) / PIECES, 0.5 / PIECES)
                if not sign * _sum(rise, x, _powers(r, len(rise[0]))) > rest:
                    return None
        coefficients, rest = nodes.series(nodes.heights)
        size = nodes.base.exp()
        scaled = [[c * size for c in row] for row in coefficients]
        return cls(first, last, start, nodes.place, nodes.slope, nodes.growth, scaled, (rest * size).upper())

    def value(self, x: arb, r: arb) -> arb:
        """G, relative to e^{gx}."""
        powers = _powers(x, ORDERS), _powers(r, len(self.coefficients[0]))
        return _sum(self.coefficients, *powers) + arb(0, self.rest)

    def bound(self) -> arb:
        """An upper bound of δ_a over the block."""
        ends = arb(self.first - self.start), arb(self.last - self.start)
        grown = (ends[0] * self.growth).exp().max((ends[1] * self.growth).exp())
        reach = max(self.start - self.first, self.last - self.start)
        return (grown * self.value(arb(0, reach), arb(0, BESIDE)).max(arb(0))).upper()

    def points(self) -> Iterator[arb]:
        """For every a of the block an enclosure of δ_a."""
        for a in range(self.first, self.last + 1):
            x = arb(a - self.start)
            centre = self.place + self.slope * x
            near = math.floor(float(centre))
            gaps = [t - centre for t in (near - 1, near, near + 1, near + 2)]
            best = arb(0)
            for gap in gaps:
                if not abs(gap) > BESIDE:
                    best = best.max(self.value(x, gap))
            yield (x * self.growth).exp() * best

    def largest(self) -> arb:
        """A lower bound of the largest divergence in the block."""
        best = arb(0)
        for value in self.points():
            best = best.max(value.lower())
        return best.lower()


def _powers(v: arb, count: int) -> list[arb]:
    """v^j; even powers of a ball around 0 are not negative."""
    found = [arb(1)]
    for _ in range(count - 1):
        found.append(found[-1] * v)
    if v.rad() > 0 and v.contains(0):
        found[2::2] = [arb(0).union(p.upper()) for p in found[2::2]]
    return found


def _sum(coefficients: list[list[arb]], x: list[arb], r: list[arb]) -> arb:
    total = arb(0)
    for row, power in zip(coefficients, x, strict=True):
        inner = arb(0)
        for c, other in zip(row, r, strict=True):
            inner += c * other
        total += power * inner
    return total


@dataclass(frozen=True)
class _Nodes:
    """The nodes s = θ + 2πik/N of a contour around a₀ and t₀ with their weights, relative to e^base.

    `left` bounds the integrand without its kernel at every node left out, `aliases` what the other periods add.
    """

    of: Compositions
    reach: int
    base: arb
    place: arb
    slope: arb
    growth: arb
    nodes: list[acb]
    weights: list[acb]
    bends: list[acb]
    left: arb
    aliases: arb

    @classmethod
    def around(cls, of: Compositions, start: int, reach: int) -> _Nodes:
        held = of.n - 1 - start, start
        theta, slope = arb(of.theta), arb(of.tilted(1) - of.tilted(0))
        mean = arb(held[0] * of.tilted(0) + held[1] * of.tilted(1))
        base = of.log_moment(theta, held) - theta * mean
        growth = of.log_moment(theta, (-1, 1)) - slope * theta
        variance = max(of.variances)
        lack = DROPPED + abs(float(base)) + reach * abs(float(growth)) + math.log1p(1 / float(of.gain))
        count = int((lack + of.theta**2 * variance) / -of.theta + 24 * math.sqrt(variance) + 64)
        narrow = math.sqrt(2 * (DROPPED + 4) / min(of.variances))
        last = min(count // 2, int(count / (2 * math.pi) * narrow) + 2)
        nodes, weights, bends = [], [], []
        for k in range(last + 1):
            s = acb(theta, 2 * arb.pi() * k / count)
            es = s.exp()
            people = [es * arb(p) + arb(1 - p) for p in of.chances]
            weight = (-s * mean - base).exp() * people[0] ** held[0] * people[1] ** held[1]
            nodes.append(s)
            weights.append(weight * (1 if k == 0 or 2 * k == count else 2) / count)
            bends.append((people[1] / people[0]).log() - slope * s - growth)
        left = abs(weights[-1]) * count * (reach * abs(bends[-1])).exp() if last < count // 2 else arb(0)
        found = cls(of, reach, base, mean, slope, growth, nodes, weights, bends, left, arb(0))
        return found._aliased(theta * count, held)._centred()

    def _aliased(self, exponent: arb, held: tuple[int, int]) -> _Nodes:
        """Values at t + jN, j ≠ 0: those below t are at most P(T ≤ t') ≤ E e^{2θT}·e^{−2θt'} in size."""
        of, theta, reach = self.of, arb(self.of.theta), self.reach
        q = exponent.exp()
        double = 2 * theta
        turn = abs(of.log_moment(double, (-1, 1)) - self.slope * double)
        below = (of.log_moment(double, held) - double * self.place + reach * turn).exp()
        grown = (-self.base + reach * abs(self.growth)).exp()
        return replace(self, aliases=2 * (of.gain + of.loss) * q / (1 - q) * (1 + below) * grown)

    def _centred(self) -> _Nodes:
        """t₀ where the increments vanish half a step further, and g such that the linear term in x nearly does."""
        rises = [complex(float(w.real), float(w.imag)) for w in self._with(self.rises, arb(0))]
        points = [complex(float(s.real), float(s.imag)) for s in self.nodes]
        gap = 0.0
        for _ in range(SEARCHES):
            near = [w * cmath.exp(-s * (gap + 0.5)) for w, s in zip(rises, points, strict=True)]
            slope = -sum((w * s).real for w, s in zip(near, points, strict=True))
            gap -= sum(w.real for w in near) / slope if slope else 0.0
        gap = gap if abs(gap) < 2 * math.sqrt(max(self.of.variances)) else 0.0
        weights = self._with(self.heights, arb(gap))
        middle = sum((w.real for w in weights), arb(0))
        linear = sum(((w * d).real for w, d in zip(weights, self.bends, strict=True)), arb(0))
        more = arb(float(linear / middle)) if middle > 0 else arb(0)
        turned = [w * (-s * arb(gap)).exp() for w, s in zip(self.weights, self.nodes, strict=True)]
        theta = arb(self.of.theta)
        moved = (-(arb(gap) - WINDOW) * theta).exp().max((-(arb(gap) + WINDOW) * theta).exp()).max(arb(1))
        far = (self.reach * abs(more)).exp() * moved
        return replace(
            self,
            place=self.place + arb(gap),
            growth=self.growth + more,
            weights=turned,
            bends=[d - more for d in self.bends],
            left=self.left * far,
            aliases=self.aliases * far**2,
        )

    def _with(self, kernel: Callable[[acb], acb], gap: arb) -> list[acb]:
        return [w * kernel(s) * (-s * gap).exp() for w, s in zip(self.weights, self.nodes, strict=True)]

    def heights(self, s: acb) -> acb:
        """The kernel of G."""
        es = s.exp()
        return self.of.gain - self.of.loss * es / (1 - es)

    def rises(self, s: acb) -> acb:
        """The kernel of G(t) − G(t−1)."""
        return self.of.gain - (self.of.gain + self.of.loss) * s.exp()

    def series(self, kernel: Callable[[acb], acb]) -> tuple[list[list[arb]], arb]:
        """The coefficients, and a bound of what is missing for |x| ≤ reach and |r| ≤ 2."""
        across = WINDOW * (-self.of.theta + 8 / math.sqrt(min(self.of.variances)))
        orders = LEAST_ORDERS
        while orders < MOST_ORDERS and across**orders / math.factorial(orders) > STEEP:
            orders += 1
        found = [[arb(0)] * orders for _ in range(ORDERS)]
        rest = arb(0)
        for s, weight, bend in zip(self.nodes, self.weights, self.bends, strict=True):
            whole = weight * kernel(s)
            wide, far = self.reach * abs(bend), WINDOW * abs(s)
            lost = wide**ORDERS / math.factorial(ORDERS) + far**orders / math.factorial(orders)
            rest += abs(whole) * (wide + far).exp() * lost
            for i in range(ORDERS):
                term = whole
                for j in range(orders):
                    found[i][j] += term.real
                    term *= -s / (j + 1)
                whole *= bend / (i + 1)
        # |kernel| at the nodes left out: |1 − e^s| grows with the height up to π.
        decay, step = arb(self.of.theta).exp(), abs(1 - self.nodes[-1].exp())
        size = self.of.gain + (self.of.gain + self.of.loss) * (decay + decay / step)
        return found, (rest + self.left * size + self.aliases).upper()
