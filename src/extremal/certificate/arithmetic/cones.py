"""The columns that a notion admits, as a rational cone: its extreme rays, and how large a linear function can be on it.

Everywhere e^ε is replaced by a rational just above it (and e^−λ by one just below), which only enlarges the cone:
what holds on the larger cone holds for the notion. So all that follows is exact (docs/design/proofs.md §5).

    rays()                        integer vectors whose conic hull is the cone (none missing; some may be superfluous)
    excess(vectors, multipliers)  a number ≥ Σ_y g_y·q_y for every mechanism with columns q_y, g_y among the vectors
    refutes(vector, multipliers)  whether vector·q ≤ 0 for every column of the cone, proved
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from flint import arb, fmpq

from extremal.certificate.arithmetic.enclosures import exp_above, finite_above, fraction, ratio_above, rational
from extremal.certificate.proof import Refused
from extremal.errors import TooLarge
from extremal.exact import Prior
from extremal.exact.polytope import Ray, extreme_rays, lowest_terms
from extremal.problem import Coupled, Lift, Metric, OverClass, Privacy, Pure
from extremal.sources import SourceClass

# Sizes up to which rays are listed: each is checked within about ten seconds.
MOST_PATTERNS = 16  # inputs, 2^16 rays
MOST_LIFTED = 14  # inputs that can occur, 14·2^13 rays
MOST_LISTED = 8  # inputs, by double description of all inequalities
MOST_CHOSEN = 12  # inputs, of some inequalities
MOST_NESTED = 10  # inputs, 59,049 pairs of nested sets
MOST_COUPLED = 6  # inputs, 9,308 rays
MOST_REVEALED = 5_000  # inputs, as many unit vectors
ORDER_BITS = 64  # of a key that sorts: a choice, which the bound does not rest on
CLASS_BITS = 64  # after the point, of e^ε for a class: rays of shorter numbers, of a cone that is hardly larger
# Beyond this ε·d an inequality is left out: e^−2048 is nothing, and fewer inequalities mean a larger cone.
FARTHEST = 1 << 11

Taken = dict[tuple[int, int, int], fmpq]  # multipliers, added up
Plane = dict[int, fmpq]  # the coefficients of an inequality that are not 0
Multiplier = tuple[int, int, int, Fraction]  # (which vector, the two names of an inequality, how much of it)


class Vector(NamedTuple):
    """Integers, and the positive number that they are divided by."""

    entries: Sequence[int]
    unit: int

    @property
    def total(self) -> fmpq:
        return fmpq(sum(self.entries), self.unit)


class DirectlyBounded:
    """What cones have in common on which the largest value of a linear function is known, without multipliers."""

    @abstractmethod
    def _most(self, vector: Vector) -> fmpq: ...

    def excess(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> fmpq:
        return max(self._most(g) for g in vectors)

    def refutes(self, vector: Vector, multipliers: Sequence[Multiplier]) -> bool:
        return bool(self._most(vector) <= 0)


@dataclass(frozen=True)
class Staircase(DirectlyBounded):
    """ε-LDP: q_x ≤ E·q_z for all x, z."""

    k: int
    top: fmpq

    def rays(self) -> Iterator[Ray]:
        refuse_many("patterns", self.k, MOST_PATTERNS)
        low, high = int(self.top.q), int(self.top.p)
        patterns = itertools.product((low, high), repeat=self.k)
        next(patterns)  # all low, and at the end all high: constants are sums of the others
        return (p for p in patterns if low in p) if self.k > 1 else iter([(1,)])

    def excess(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> fmpq:
        return max(fmpq(0), super().excess(vectors, multipliers)) * self.k / (self.top + self.k - 1)

    def _most(self, vector: Vector) -> fmpq:
        """max g·q over 1 ≤ q ≤ E."""
        g, scale = vector
        return (sum(g) + (self.top - 1) * sum(v for v in g if v > 0)) / scale


@dataclass(frozen=True)
class Lifts(DirectlyBounded):
    """ε-PML and ε-LIP for one prior: with p·q = 1, low ≤ q ≤ top wherever p > 0; the other inputs are free."""

    prior: Prior
    low: fmpq
    top: fmpq

    @property
    def k(self) -> int:
        return len(self.prior)

    @property
    def support(self) -> list[int]:
        return [x for x, w in enumerate(self.prior.weights) if w]

    @property
    def _free(self) -> list[int]:
        return [x for x, w in enumerate(self.prior.weights) if not w]

    @property
    def ends(self) -> list[tuple[fmpq, fmpq]]:
        """The least and the largest q_x that p·q = 1 admits, for each input x of the support."""
        shares = [fmpq(self.prior.weights[x], self.prior.total) for x in self.support]
        return [
            (max(self.low, (1 - self.top * (1 - p)) / p), min(self.top, (1 - self.low * (1 - p)) / p)) for p in shares
        ]

    def rays(self) -> Iterator[Ray]:
        """All entries low or top but one, which p·q = 1 decides; and the unit vectors of the free inputs."""
        support, weights, total = self.support, self.prior.weights, self.prior.total
        refuse_many("lift vectors", len(support), MOST_LIFTED)
        scale = int(self.low.q) * int(self.top.q)
        low, high = int(self.low.p) * int(self.top.q), int(self.top.p) * int(self.low.q)
        for x in self._free:
            yield tuple(int(x == z) for z in range(self.k))
        for j in support:
            others = [x for x in support if x != j]
            for ends in itertools.product((low, high), repeat=len(others)):
                rest = total * scale - sum(e * weights[x] for e, x in zip(ends, others, strict=True))
                if low * weights[j] <= rest <= high * weights[j]:
                    ray = [0] * self.k
                    ray[j] = rest
                    for e, x in zip(ends, others, strict=True):
                        ray[x] = e * weights[j]
                    yield tuple(ray)

    def excess(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> fmpq:
        listed = list(vectors)
        free = (max(fmpq(0), *(fmpq(g[x], scale) for g, scale in listed)) for x in self._free)
        return sum(free, super().excess(listed, multipliers))

    def refutes(self, vector: Vector, multipliers: Sequence[Multiplier]) -> bool:
        return super().refutes(vector, multipliers) and all(vector.entries[x] <= 0 for x in self._free)

    def _most(self, vector: Vector) -> fmpq:
        """A bound on g·q with p·q = 1 and low ≤ q ≤ top on the support, for the best of all ν: g·q ≤ ν + Σ max over q
        of (g − νp)·q.

        ν is g/p of the input at which the budget of p·q ends when it is spent in the order of g/p. The order is a
        choice: a key rounded down serves, and any ν gives a bound.
        """
        g, scale = vector
        weights, total, support = self.prior.weights, self.prior.total, self.support
        order = sorted(support, key=lambda x: (g[x] << ORDER_BITS) // weights[x], reverse=True)
        room = (1 - self.low) / (self.top - self.low) * total if self.top > self.low else fmpq(0)
        budget = int(room.p) // int(room.q)
        last = order[-1]
        for x in order:
            budget -= weights[x]
            if budget < 0:
                last = x
                break
        a, w = g[last], weights[last]
        left = [g[x] * w - a * weights[x] for x in support]  # (g − νp) times w, ν = a·total/w
        up, down = sum(v for v in left if v > 0), sum(v for v in left if v < 0)
        return (a * total + self.top * up + self.low * down) / (scale * w)


@dataclass(frozen=True)
class Inequalities:
    """Columns q ≥ 0 with inequality·q ≤ 0 for each of a family of named inequalities: PML for a class of priors,
    metric privacy.
    """

    k: int
    inequality: Callable[[int, int], Plane | None]  # by the name, an input and a number; None where there is none

    @property
    def count(self) -> int:  # of the numbers that inequalities are named by
        return self.k

    def rays(self) -> Iterator[Ray]:
        refuse_many("rays", self.k, MOST_LISTED)
        planes = (self.inequality(a, b) for b, a in itertools.product(range(self.count), range(self.k)))
        return self.rays_of(plane for plane in planes if plane)

    def rays_of(self, planes: Iterable[Plane]) -> Iterator[Ray]:
        """The extreme rays of the cone that some inequalities alone cut, in their order."""
        dense = ([fraction(plane.get(x, fmpq(0))) for x in range(self.k)] for plane in planes)
        try:
            return iter(extreme_rays(self.k, list(dense)))
        except TooLarge as error:
            raise Refused("the cone has too many extreme rays to list", "rays", error.value) from None

    def excess(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> fmpq:
        """Σ_x max_y of what is left of the vectors above 0, once multiples ≥ 0 of the inequalities are taken off."""
        left, _ = self._reduced(vectors, multipliers)
        return sum((max(fmpq(0), *(g[x] for g in left)) for x in range(self.k)), fmpq(0))

    def refutes(self, vector: Vector, multipliers: Sequence[Multiplier]) -> bool:
        return all(v <= 0 for v in self._reduced([vector], multipliers)[0][0])

    def _reduced(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> tuple[list[list[fmpq]], Taken]:
        """What is left of each vector, and how much was taken off it of each inequality."""
        left, taken = [[fmpq(v, scale) for v in g] for g, scale in vectors], Taken()
        for y, a, b, amount in multipliers:
            plane = self.inequality(a, b)
            if amount < 0 or not 0 <= y < len(left) or plane is None:
                raise Refused(
                    "a multiplier must be ≥ 0, of a vector and an inequality that exist", "multiplier", (y, a, b)
                )
            f = rational(amount)
            taken[y, a, b] = taken.get((y, a, b), fmpq(0)) + f
            for x, v in plane.items():
                left[y][x] -= f * v
        return left, taken


@dataclass(frozen=True)
class OfClass(Inequalities):
    """PML for a class of priors: q_x ≤ E·p_v·q for each input x that can occur and each extreme prior v."""

    source: SourceClass
    top: fmpq

    @property
    def count(self) -> int:
        return len(self.source.vertices())

    def rays(self) -> Iterator[Ray]:
        """Where the least p(S) decide the class: 1 on S, f on the rest of a larger T, so that the least mean is 1/E."""
        if self.source.least_share(()) is None:
            yield from super().rays()
            return
        refuse_many("nested sets", self.k, MOST_NESTED)
        sets = ([x for x in range(self.k) if 1 << x & s] for s in range(1 << self.k))
        low = [rational(self.source.least_share(chosen) or Fraction(0)) for chosen in sets]
        for larger in (s for s, share in enumerate(low) if share * self.top >= 1):
            inner = larger
            while inner:
                inner = (inner - 1) & larger  # each proper subset in turn
                if low[inner] * self.top < 1:
                    high, rest = self.top * (low[larger] - low[inner]), 1 - self.top * low[inner]
                    a, b = int(high.p) * int(rest.q), int(rest.p) * int(high.q)
                    yield tuple(a if 1 << x & inner else b if 1 << x & larger else 0 for x in range(self.k))


@dataclass(frozen=True)
class Chosen(DirectlyBounded):
    """The larger cone that only some inequalities (x, v) of a class cut, in the order in which they are named."""

    whole: OfClass
    names: Sequence[tuple[int, int]]

    @property
    def k(self) -> int:
        return self.whole.k

    def rays(self) -> Iterator[Ray]:
        refuse_many("rays", self.k, MOST_CHOSEN)
        planes = [self.whole.inequality(x, v) for x, v in self.names]
        found = [plane for plane in planes if plane]
        if len(found) < len(planes):
            raise Refused("inequalities of a class are of inputs that occur and of extreme priors", "tree", len(planes))
        return self.whole.rays_of(found)

    def _most(self, vector: Vector) -> fmpq:
        raise Refused("chosen inequalities are for a list of rays", "tree", len(self.names))


@dataclass(frozen=True)
class Together(Inequalities):
    """(ε,δ)-LDP: columns q ≥ 0, Σ_y (q_y(x) − E·q_y(z))⁺ ≤ δ: all of them together break a ratio by δ at most."""

    top: fmpq
    delta: fmpq

    def excess(self, vectors: Iterable[Vector], multipliers: Sequence[Multiplier]) -> fmpq:
        """The same; and of what is taken off, δ times the most that a vector needs may come back."""
        listed = list(vectors)
        most: dict[tuple[int, int], fmpq] = {}
        for (_, a, b), amount in self._reduced(listed, multipliers)[1].items():
            most[a, b] = max(most.get((a, b), amount), amount)
        return super().excess(listed, multipliers) + self.delta * sum(most.values(), fmpq(0))

    def refutes(self, vector: Vector, multipliers: Sequence[Multiplier]) -> bool:
        """Only what no input is worth anything to: a column may be any unit vector."""
        return super().refutes(vector, ())


def cell_rays(k: int, top: fmpq) -> Iterator[Ray]:
    """Of the cells that the planes q_x = E·q_z cut: E^0, E^−1, …, E^−L on a support, without a gap; one input alone, or
    at least two levels."""
    refuse_many("coupled rays", k, MOST_COUPLED)
    high, low = int(top.p), int(top.q)
    for level in itertools.product(range(k + 1), repeat=k):
        used = set(level) - {0}
        if used == set(range(1, len(used) + 1)) and (len(used) > 1 or level.count(1) == 1):
            yield tuple(high ** (max(level) - i) * low ** (i - 1) if i else 0 for i in level)


def unit_rays(k: int) -> Iterator[Ray]:
    """Of all columns q ≥ 0, whatever the notion."""
    refuse_many("unit vectors", k, MOST_REVEALED)
    return (tuple(int(x == z) for z in range(k)) for x in range(k))


@dataclass(frozen=True)
class Branches(DirectlyBounded):
    """The larger cone that only the inequalities along a spanning tree cut: 1/F ≤ q_x/q_z ≤ F on each edge (z, x)
    with its factor F.

    Exact for a metric that is the length of paths in that tree; for any other one a relaxation.
    """

    k: int
    edges: tuple[tuple[int, int, fmpq], ...]

    @classmethod
    def of(cls, cone: Inequalities, edges: Sequence[tuple[int, int]]) -> Branches:
        placed, found = {z for z, _ in edges[:1]}, []
        for z, x in edges:
            row = cone.inequality(x, z)
            if z not in placed or x in placed or row is None:
                raise Refused("edges must lead from placed inputs to new ones, at a finite distance", "edge", (z, x))
            placed.add(x)
            found.append((z, x, -row[z]))
        if len(placed) != cone.k:
            raise Refused("a tree must connect all inputs", "tree", len(placed))
        return cls(cone.k, tuple(found))

    def rays(self) -> Iterator[Ray]:
        """Each edge tight one way or the other."""
        refuse_many("rays of a tree", self.k, MOST_PATTERNS)
        for up in itertools.product((True, False), repeat=len(self.edges)):
            q = [fmpq(1)] * self.k
            for (z, x, factor), tight in zip(self.edges, up, strict=True):
                q[x] = q[z] * factor if tight else q[z] / factor
            yield lowest_terms(list(map(fraction, q)))

    def _most(self, vector: Vector) -> fmpq:
        """A bound on g·q, q = 1 at the root: from the leaves, each at the end of its range that its sign prefers."""
        g, scale = vector
        value = [arb(v).upper() for v in g]  # every step is rounded up, which the sign rule allows: it is monotone
        for z, x, factor in reversed(self.edges):
            f = arb(factor)
            value[z] = (value[z] + (value[x] * f if value[x] > 0 else value[x] / f)).upper()
        return finite_above(value[self.edges[0][0]]) / scale


Cone = Staircase | Lifts | Inequalities | Branches | Chosen


def refuse_many(what: str, count: int, most: int) -> None:
    if count > most:
        raise Refused(f"{what} are listed for at most {most} inputs", "inputs", count)


def staircase_of(privacy: Privacy, k: int) -> Staircase:
    """The cone of ε-LDP; another notion is refused."""
    if not isinstance(privacy, Pure):
        raise Refused("this proof is about ε-LDP", "privacy", type(privacy).__name__)
    return Staircase(k, ratio_above(privacy.ratio))


def sets_of_size(k: int, size: int) -> Iterator[Ray]:
    """The indicators of the sets of a size."""
    refuse_many("sets", k, MOST_PATTERNS)
    return (tuple(int(x in chosen) for x in range(k)) for chosen in itertools.combinations(range(k), size))


def cone_of(privacy: Privacy, k: int, tree: Sequence[tuple[int, int]] = ()) -> Cone:
    """The cone of a notion for k inputs, enlarged by less than 2^-190; with a tree, metric privacy along its edges, or
    a class by its inequalities alone."""
    cone = _cone(privacy, k)
    if cone.k != k:
        raise Refused("the notion and the utility are about different inputs", "k", cone.k)
    if not tree:
        return cone
    if isinstance(cone, OfClass):
        return Chosen(cone, tree)
    if not isinstance(privacy, Metric) or not isinstance(cone, Inequalities):
        raise Refused("a tree is for metric privacy", "tree", len(tree))
    return Branches.of(cone, tree)


def _cone(privacy: Privacy, k: int) -> Cone:
    if isinstance(privacy, Coupled):
        top = ratio_above(privacy.ratio)
        return Together(k, _between_pairs(k, lambda *_: top), top, rational(privacy.delta))
    if isinstance(privacy, Lift):
        low = fmpq(0) if privacy.low is None else 1 / ratio_above(privacy.low)
        return Lifts(privacy.prior, low, ratio_above(privacy.high))
    if isinstance(privacy, OverClass):
        return _of_class(privacy)
    if isinstance(privacy, Metric):
        factor = _between_pairs(privacy.k, lambda x, z: _factor(privacy.exponent(x, z)))
        return Inequalities(privacy.k, factor)
    return staircase_of(privacy, k)


def _of_class(privacy: OverClass) -> OfClass:
    """q_x ≤ E·p_v·q for each input x that can occur and each extreme prior v: inequality (x, v)."""
    source, top = privacy.source, fmpq((ratio_above(privacy.ratio) * (1 << CLASS_BITS)).ceil(), 1 << CLASS_BITS)
    support, k, extreme = source.support(), source.k, cache(source.vertices)

    def inequality(x: int, v: int) -> Plane | None:
        if not (0 <= x < k and support[x] and 0 <= v < len(extreme())):
            return None
        prior = extreme()[v]
        return {z: int(x == z) - top * fmpq(w, prior.total) for z, w in enumerate(prior.weights)}

    return OfClass(k, inequality, source, top)


def _between_pairs(k: int, factor: Callable[[int, int], fmpq | None]) -> Callable[[int, int], Plane | None]:
    """q_x ≤ factor(x, z)·q_z: inequality (x, z)."""

    @cache
    def inequality(x: int, z: int) -> Plane | None:
        above = factor(x, z) if 0 <= x < k and 0 <= z < k and x != z else None
        return None if above is None else {x: fmpq(1), z: -above}

    return inequality


def _factor(exponent: Fraction | None) -> fmpq | None:
    """e^{ε·d}, rounded up; None where it asks for nothing."""
    return None if exponent is None or exponent > FARTHEST else exp_above(exponent)
