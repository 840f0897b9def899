"""The problem of a certificate: a privacy notion and a goal, read from what the file says of them (§3)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .numbers import (
    FINE,
    ONE,
    ZERO,
    Undecided,
    Vector,
    count,
    dot,
    double,
    exp,
    expect,
    list_of,
    rational,
    require,
    rounded_up,
    total,
)

# -- sources: sets of priors --


def read_prior(given: Any) -> Vector:
    """Decimals that sum to 1 within 10^-9, divided by their sum; or integer weights, divided by their sum."""
    expect(isinstance(given, list) and len(given) > 0, "a prior is a list")
    expect(all(isinstance(v, str) for v in given), "a prior is a list of strings")
    weights = [rational(v) for v in given]
    whole, mass = all(v.isdigit() for v in given), total(weights)
    expect(min(weights) >= 0 and mass > 0, "probabilities are not negative")
    expect(whole or abs(mass - 1) <= Fraction(1, 10**9), "probabilities sum to 1")
    return [w / mass for w in weights]


@dataclass(frozen=True)
class Source:
    """A closed convex set of priors."""

    kind: str
    priors: tuple[tuple[Fraction, ...], ...]
    radius: Fraction = ZERO
    size: int = 0

    @property
    def k(self) -> int:
        return self.size or len(self.priors[0])

    @property
    def only(self) -> tuple[Fraction, ...] | None:
        """The prior, where a list has one entry."""
        return self.priors[0] if self.kind in ("list", "ordered") and len(self.priors) == 1 else None

    def contains(self, p: Sequence[Fraction]) -> bool:
        """Whether one prior is shown to lie in the class; mixtures of a list are named by `mix`."""
        if len(p) != self.k:
            return False
        if self.kind == "simplex":
            return True
        first = self.priors[0]
        if self.kind == "ball":
            return sum((max(ZERO, a - b) for a, b in zip(p, first, strict=True)), ZERO) <= self.radius
        if self.kind == "permutation_invariant":  # p is a mean of permutations just when it is majorised
            sums = (itertools.accumulate(sorted(v, reverse=True)) for v in (p, first))
            return all(a <= b for a, b in zip(*sums, strict=True))
        return tuple(p) in self.priors

    def can_occur(self, x: int) -> bool:
        """Whether some prior of the class has p(x) > 0."""
        if self.kind in ("simplex", "permutation_invariant") or (self.kind == "ball" and self.radius > 0):
            return True
        return any(p[x] for p in self.priors)

    def extreme(self) -> list[Vector]:
        """Extreme priors in the order in which proofs number them, without repetition."""
        found: Iterator[Sequence[Fraction]]
        if self.kind in ("list", "ordered"):
            found = iter(self.priors)
        elif self.kind == "simplex":
            found = ([Fraction(int(x == z)) for z in range(self.k)] for x in range(self.k))
        elif self.kind == "ball":
            found = _corners_of_ball(self.priors[0], self.radius)
        else:
            if self.k > 8:
                raise Undecided("permutations of more than 8 symbols")
            found = iter(sorted(set(itertools.permutations(self.priors[0]))))
        return [list(p) for p in dict.fromkeys(map(tuple, found))]

    def largest(self, losses: Sequence[Fraction]) -> Fraction:
        """max p·losses over the class."""
        if self.kind == "simplex":
            return max(losses)
        if self.kind == "permutation_invariant":
            return dot(sorted(self.priors[0]), sorted(losses))
        if self.kind != "ball":
            return max(dot(p, losses) for p in self.priors)
        left, worth, most = self.radius, dot(self.priors[0], losses), max(losses)
        for p, loss in sorted(zip(self.priors[0], losses, strict=True), key=lambda pair: pair[1]):
            moved = min(p, left)
            left, worth = left - moved, worth + moved * (most - loss)
        return worth


def _corners_of_ball(p: Sequence[Fraction], radius: Fraction) -> Iterator[Vector]:
    """Mass `radius` goes to one input, from a set that is emptied and one further input."""
    if len(p) > 10:
        raise Undecided("corners of a ball in more than 10 dimensions")
    for receiver in range(len(p)):
        if ONE - p[receiver] <= radius:
            yield [Fraction(int(x == receiver)) for x in range(len(p))]
        else:
            yield from _corners_towards(p, radius, receiver)


def _corners_towards(p: Sequence[Fraction], radius: Fraction, to: int) -> Iterator[Vector]:
    """Emptied sets by size, then in lexicographic order."""
    others = [x for x in range(len(p)) if x != to]
    for emptied in itertools.chain(*(itertools.combinations(others, size) for size in range(len(p)))):
        left = radius - sum((p[x] for x in emptied), ZERO)
        rest = [x for x in others if x not in emptied]
        yield from (_moved(p, emptied, x, left, to, radius) for x in rest if 0 <= left <= p[x])


def _moved(p: Sequence[Fraction], emptied: Sequence[int], x: int, left: Fraction, to: int, radius: Fraction) -> Vector:
    corner = [ZERO if z in emptied else v for z, v in enumerate(p)]
    corner[x] -= left
    corner[to] += radius
    return corner


def read_source(given: Any) -> Source:
    expect(isinstance(given, dict), "a source is an object")
    kind = given.get("kind")
    if kind == "simplex":
        size = count(given.get("k"))
        expect(1 <= size <= 2**24, "a simplex has at least one symbol")
        return Source(kind, (), size=size)
    if kind == "ball":
        radius = rational(given.get("radius"))
        expect(0 <= radius <= 1, "a radius in total variation is between 0 and 1")
        return Source(kind, (tuple(read_prior(given.get("prior"))),), radius)
    expect(kind in ("list", "ordered", "permutation_invariant"), f"a kind of source, not {kind!r}")
    priors = tuple(tuple(read_prior(p)) for p in given.get("priors") or ())
    expect(len(priors) > 0 and len({len(p) for p in priors}) == 1, "priors of one length")
    expect(kind != "permutation_invariant" or len(priors) == 1, "one prior that is permuted")
    return Source(str(kind), priors)


# -- notions --


@dataclass(frozen=True)
class LDP:
    """q_x ≤ E·q_z, up to δ in sum over all columns."""

    ratio: Fraction
    delta: Fraction
    k: int | None = None


@dataclass(frozen=True)
class Lift:
    """PML and LIP with one prior: low ≤ q_x/(p·q) ≤ high where p_x > 0."""

    prior: tuple[Fraction, ...]
    low: Fraction
    ratio: Fraction

    @property
    def k(self) -> int:
        return len(self.prior)


@dataclass(frozen=True)
class OverClass:
    """PML of a class: q_x ≤ E·p·q for every p of the class and every x that can occur."""

    source: Source
    ratio: Fraction

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class Metric:
    """q_x ≤ e^{εd(x,z)}·q_z; None where d is infinite, or too large to say anything."""

    ratios: tuple[tuple[Fraction | None, ...], ...]

    @property
    def k(self) -> int:
        return len(self.ratios)


Notion = LDP | Lift | OverClass | Metric

LARGEST_EPSILON_TIMES_DISTANCE = 2048


def ratio_above(given: Any) -> Fraction:
    """A rational E ≥ e^ε; E itself where it is given."""
    expect(isinstance(given, dict), "a level is an object")
    expect(("ratio" in given) != ("epsilon" in given), "a level has ε or e^ε")
    if "ratio" in given:
        ratio = rational(given["ratio"])
        expect(ratio >= 1, "e^ε ≥ 1")
        return ratio
    epsilon = rational(given["epsilon"])
    expect(0 <= epsilon <= LARGEST_EPSILON_TIMES_DISTANCE, "ε is between 0 and 2048")
    return ONE if epsilon == 0 else rounded_up(exp(epsilon).high, FINE)


def read_notion(given: Any) -> Notion:
    """Read a notion."""
    expect(isinstance(given, dict), "a notion is an object")
    kind = given.get("notion")
    if kind == "MetricPrivacy":
        return _metric(given)
    expect(kind in ("LDP", "PML", "LIP"), f"a notion, not {kind!r}")
    high = ratio_above({key: given[key] for key in ("epsilon", "ratio") if key in given})
    if kind == "LDP":
        delta = rational(given.get("delta"))
        expect(0 <= delta < 1, "0 ≤ δ < 1")
        return LDP(high, delta)
    if kind == "PML":
        of = read_source(given.get("source"))
        return Lift(of.only, ZERO, high) if of.only else OverClass(of, high)
    lower = given.get("lower")
    below = high if lower is None else ratio_above(lower)
    return Lift(tuple(read_prior(given.get("prior"))), ONE / below, high)


def _metric(given: Any) -> Metric:
    epsilon, rows = rational(given.get("epsilon")), given.get("distances")
    expect(isinstance(rows, list) and len(rows) > 0, "distances are rows")
    expect(epsilon >= 0 and all(isinstance(row, list) and len(row) == len(rows) for row in rows), "k rows of k")

    def ratio(d: Any) -> Fraction | None:
        if d == "inf":
            return None
        exponent = epsilon * rational(d)
        expect(exponent >= 0, "distances are not negative")
        if exponent > LARGEST_EPSILON_TIMES_DISTANCE:
            return None
        return ONE if exponent == 0 else rounded_up(exp(exponent).high, FINE)

    return Metric(tuple(tuple(ratio(d) for d in row) for row in rows))


# -- goals --


@dataclass(frozen=True)
class Divergence:
    """Σ_y M₁f(M₀/M₁); the parameter is a of AlphaDivergence, γ of HockeyStick."""

    kind: str
    p0: tuple[Fraction, ...]
    p1: tuple[Fraction, ...]
    parameter: Fraction = ZERO


@dataclass(frozen=True)
class Information:
    prior: tuple[Fraction, ...]


Leaf = Divergence | Information
Weighted = tuple[Fraction, Leaf]


@dataclass(frozen=True)
class Gain:
    """A utility: the least of several means of leaves. A single utility is the least of one mean of one leaf."""

    parts: tuple[tuple[Weighted, ...], ...]
    least: bool
    k: int

    def leaves(self, mix: Sequence[Fraction]) -> list[Weighted]:
        """Leaves of positive weight of the mean that `mix` makes of the parts: the least is at most that."""
        n = len(self.parts)
        require(len(mix) in (0, n if self.least else 1), "mix has a number for each part, or none")
        require(all(m >= 0 for m in mix) and (not mix or sum(mix) > 0), "mix is not negative, and not all 0")
        shares = [m / sum(mix) for m in mix] or [Fraction(1, n)] * n
        return [(s * w, leaf) for s, part in zip(shares, self.parts, strict=True) for w, leaf in part if s * w]


@dataclass(frozen=True)
class Losses:
    """A distortion: max over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y)."""

    source: Source
    distances: tuple[tuple[Fraction, ...], ...] | None
    """None for Hamming: d = 1 off the diagonal, which need not be written out."""
    outputs: tuple[Any, ...] | None = None

    @property
    def k(self) -> int:
        return self.source.k

    @property
    def columns(self) -> int:
        return self.k if self.distances is None else len(self.distances[0])

    def column(self, y: int) -> Vector:
        """d(·, y)."""
        if self.distances is None:
            return [Fraction(int(x != y)) for x in range(self.k)]
        return [row[y] for row in self.distances]


@dataclass(frozen=True)
class Level:
    """The least ε at which a mechanism has Hamming distortion at most D."""

    source: Source
    distortion: Fraction

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class Statistics:
    """n × the total mean squared error of statistics A: W = AᵀA = gram/unit, gram whole."""

    source: Source
    gram: tuple[tuple[int, ...], ...]
    unit: int

    @property
    def k(self) -> int:
        return self.source.k


Goal = Gain | Losses | Level | Statistics

DIVERGENCES = (
    "KL",
    "ReverseKL",
    "SymmetricKL",
    "TotalVariation",
    "ChiSquared",
    "SquaredHellinger",
    "JensenShannon",
    "AlphaDivergence",
    "HockeyStick",
)
PARAMETERS = {"AlphaDivergence": "alpha", "HockeyStick": "gamma"}
OF_USERS = ("Sublinear", "ConvexUtility", "FDivergence")


class NotKnown(Exception):
    """A user's function: nothing is proven of it."""


def read_goal(given: Any) -> Goal:
    """Read a goal."""
    expect(isinstance(given, dict), "a goal is an object")
    kind = given.get("utility")
    if kind == "WorstCase":
        parts = tuple(tuple(_mean(part)) for part in _parts(given))
        return _gain(parts, least=True)
    if kind in COSTS:
        return COSTS[str(kind)](given, read_source(given.get("source")))
    return _gain((tuple(_mean(given)),), least=False)


def _gain(parts: tuple[tuple[Weighted, ...], ...], least: bool) -> Gain:
    sizes = {len(leaf.prior if isinstance(leaf, Information) else leaf.p0) for part in parts for _, leaf in part}
    expect(len(sizes) == 1, "all parts are about the same inputs")
    return Gain(parts, least, sizes.pop())


def _parts(given: Any) -> list[Any]:
    parts = given.get("utilities")
    expect(isinstance(parts, list) and len(parts) > 0, "parts of a mean")
    return list(parts)


def _mean(given: Any) -> Iterator[Weighted]:
    """The leaves of a mean, in the order in which they are written."""
    expect(isinstance(given, dict), "a goal is an object")
    kind = given.get("utility")
    if kind == "Average":
        parts = _parts(given)
        for part in parts:
            for weight, leaf in _mean(part):
                yield weight / len(parts), leaf
    elif kind == "MutualInformation":
        yield ONE, Information(tuple(read_prior(given.get("prior"))))
    elif kind in OF_USERS:
        raise NotKnown(str(kind))
    else:
        expect(kind in DIVERGENCES, f"a goal, not {kind!r}")
        yield ONE, _divergence(str(kind), given)


def _divergence(kind: str, given: Any) -> Divergence:
    p0, p1 = (tuple(read_prior(given.get(key))) for key in ("p0", "p1"))
    expect(len(p0) == len(p1), "hypotheses about the same inputs")
    parameter = rational(given.get(PARAMETERS[kind])) if kind in PARAMETERS else ZERO
    expect(kind != "HockeyStick" or parameter >= 0, "γ ≥ 0")
    if kind == "AlphaDivergence" and parameter in (0, 1):
        kind = "KL" if parameter else "ReverseKL"
    return Divergence(kind, p0, p1, parameter)


def _distortion(given: Any, of: Source) -> Losses:
    rows = list_of(list_of(rational))(given.get("distances"))
    expect(len(rows) == of.k and len(rows[0]) > 0, "a row of losses for each input")
    expect(all(len(row) == len(rows[0]) and min(row) >= 0 for row in rows), "losses are not negative, rows of a length")
    outputs = given.get("outputs")
    expect(outputs is None or (isinstance(outputs, list) and len(outputs) == len(rows[0])), "a label for each column")
    return Losses(of, tuple(map(tuple, rows)), None if outputs is None else tuple(map(repr, outputs)))


def _level_at_distortion(given: Any, of: Source) -> Level:
    return Level(of, rational(given.get("distortion")))


def _of_rows(rows: Sequence[Sequence[Fraction]], of: Source) -> Statistics:
    """W = AᵀA of integers over the smallest power of two, squared."""
    expect(len(rows) > 0 and all(len(row) == of.k for row in rows), "a number for each input")
    below = math.lcm(*(v.denominator for row in rows for v in row))  # a power of two: entries are doubles
    scaled = [[int(v * below) for v in row] for row in rows]
    gram = tuple(tuple(sum(row[x] * row[z] for row in scaled) for z in range(of.k)) for x in range(of.k))
    return Statistics(of, gram, below**2)


def _workload(given: Any, of: Source) -> Statistics:
    return _of_rows(list_of(list_of(double))(given.get("matrix")), of)


def _mean_of_values(given: Any, of: Source) -> Statistics:
    return _of_rows([list_of(double)(given.get("values"))], of)


def _cdf(given: Any, of: Source) -> Statistics:
    thresholds = given.get("thresholds")
    at = list(range(of.k - 1)) if thresholds is None else list_of(count)(thresholds)
    expect(all(0 <= t < of.k for t in at), "thresholds are inputs")
    return _of_rows([[Fraction(int(x <= t)) for x in range(of.k)] for t in at], of)


def _ranges(_given: Any, of: Source) -> Statistics:
    k = of.k
    gram = tuple(tuple((min(x, z) + 1) * (k - max(x, z)) for z in range(k)) for x in range(k))
    return Statistics(of, gram, 1)


def _frequencies(given: Any, of: Source) -> Statistics:
    items, weights = list_of(count)(given.get("items")), list_of(double)(given.get("weights"))
    expect(len(items) == len(weights) > 0 and all(0 <= x < of.k for x in items), "a weight for each item")
    expect(len(set(items)) == len(items) and min(weights) >= 0, "each item once, weights not negative")
    below = math.lcm(*(w.denominator for w in weights))
    at = dict(zip(items, weights, strict=True))
    gram = tuple(tuple(int(at.get(x, ZERO) * below) if x == z else 0 for z in range(of.k)) for x in range(of.k))
    return Statistics(of, gram, below)


COSTS: dict[str, Callable[[Any, Source], Goal]] = {
    "Distortion": _distortion,
    "Hamming": lambda _given, of: Losses(of, None),
    "LevelAtDistortion": _level_at_distortion,
    "Workload": _workload,
    "Mean": _mean_of_values,
    "CDF": _cdf,
    "Ranges": _ranges,
    "Frequencies": _frequencies,
}
