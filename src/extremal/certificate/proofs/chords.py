"""Linear functions that together lie above what a column is worth, each bounded over the cone.

For μ = b·f(a/b) of two linear functions a, b of the column (a divergence; a square of one statistic, with a = g, b = p
and f = x²): chords of the convex f between nodes. For several distributions: on the cone over a simplex of directions
a convex Φ lies below the linear function through its values at the vertices. For a distortion: the cost of each output.
For information under PML and LIP, with any prior: a tangent of a concave term, and a chord for the lift of each input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import factorial, lcm
from typing import ClassVar, NamedTuple

from flint import arb, fmpq, fmpq_mat, fmpz_mat

from extremal.certificate.arithmetic.cones import Cone, Inequalities, Lifts, Multiplier, Staircase, Vector, cone_of
from extremal.certificate.arithmetic.enclosures import (
    PairRule,
    above,
    finite_above,
    leaves_of,
    narrow,
    pair_rule,
    pair_value,
    rational,
)
from extremal.certificate.limits import width_of
from extremal.certificate.proof import Refused
from extremal.certificate.proofs.dual import LossWorth, Price, Reason, SquareWorth, SumWorth, Worth
from extremal.certificate.reading import Multipliers, Numbers, Pairs, Trees
from extremal.exact import Prior
from extremal.problem import Goal, InformationGoal, LossGoal, PairGoal, Privacy

MOST_NODES = 20_000  # a chord each
MOST_ENTRIES = 20_000_000  # nodes times inputs: ten seconds
MOST_DISTRIBUTIONS = 6  # 720 orders
MOST_TOKENS = 1 << 20  # of all trees
MOST_CELL_ENTRIES = 1 << 26  # tokens times inputs
ROOT_BITS = 16  # of the E that bounds the directions, rounded up: a larger cone, of short numbers
SLOPE_BITS = 160  # of λ, rounded up: v ≥ 0, so λ·v only grows

Line = tuple[fmpq, fmpq]  # slope, and value at 0
Point = tuple[fmpq, fmpq | None]  # a node, and f there or above; None where it is infinite
Vertex = tuple[int, ...]  # how often it was halved, and m integers: to be divided by 2 as often, and by a common number


@dataclass(frozen=True)
class Chords(Reason):
    """Fields: nodes, increasing numbers: between two of them f lies below its chord; beyond them there is no ratio of
    the cone, which is proved, or f goes on below a chord from 0 and a line of its last slope (divergences only).
    multipliers (i, a, b, f): f ≥ 0 times the inequality (a, b) of the cone is taken off vector i: the chords, then the
    two ends; for a distortion, outputs. tree: for metric privacy, edges of a spanning tree whose inequalities alone are
    used. trees, for several distributions under ε-LDP: one for each order of them, tokens depth first, −1 for a cell,
    i ≥ 0 for a cut at the middle of edge i. Information has no fields.
    """

    kind: ClassVar[str] = "chords"
    nodes: Numbers = ()
    multipliers: Multipliers = ()
    tree: Pairs = ()
    trees: Trees = ()

    def work(self, privacy: Privacy, goal: Goal) -> int:
        longest = max((node.denominator.bit_length() for node in self.nodes), default=0)
        by_node = len(self.nodes) * width_of(goal) * (64 + longest) // 256
        return by_node + 10 * width_of(goal) * sum(map(len, self.trees))

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq | None:
        if self.trees:
            return self._of_simplices(worth, alpha)
        cone = self._cone(worth)
        if isinstance(worth, LossWorth):
            if self.nodes:
                raise Refused("a distortion has no nodes", "nodes", len(self.nodes))
            return _of_outputs(worth.goal, alpha, cone, self.multipliers)
        if isinstance(worth, SumWorth) and isinstance(worth.goal, InformationGoal) and isinstance(cone, Lifts):
            if self.nodes:
                raise Refused("information has no nodes", "nodes", len(self.nodes))
            return cone.excess([_above_information(worth.goal.prior, cone, alpha)], ())
        curve = _of_one_statistic(worth) if isinstance(worth, SquareWorth) else _of_one_pair(worth)
        pieces = self._pieces(curve, cone)
        if pieces is None:
            return None
        vectors = [curve.line(slope, start, alpha) for slope, start in pieces.values()]
        place = {name: i for i, name in enumerate(pieces)}
        return cone.excess(vectors, [(place[i], a, b, f) for i, a, b, f in self.multipliers if i in place])

    def _cone(self, worth: Worth) -> Cone:
        """The cone, whose inequalities all multipliers are of: those of a piece that is not needed, too."""
        cone = cone_of(worth.privacy, worth.k, self.tree)
        for _, a, b, amount in self.multipliers:
            if not isinstance(cone, Inequalities) or amount < 0 or cone.inequality(a, b) is None:
                raise Refused("a multiplier must be ≥ 0, of an inequality that exists", "multiplier", (a, b))
        return cone

    def _pieces(self, curve: _Curve, cone: Cone) -> dict[int, Line] | None:
        """The lines that together lie above f on the ratios of the cone, by number; None where f is infinite."""
        self._refuse_nodes(curve, cone)
        points = [(t, curve.value(t)) for t in map(rational, self.nodes)]
        pieces = {i: _chord(a, b) for i, (a, b) in enumerate(pairwise(points))} | self._beyond(curve, cone, points)
        if not pieces:  # one node and both ends proved: it is the ratio of constants, where f is 0
            pieces[len(points)] = fmpq(0), fmpq(0)
        finite = {name: line for name, line in pieces.items() if line is not None}
        return finite if len(finite) == len(pieces) else None

    def _refuse_nodes(self, curve: _Curve, cone: Cone) -> None:
        n = len(self.nodes)
        if not 1 <= n <= MOST_NODES or n * cone.k > MOST_ENTRIES:
            raise Refused("there must be nodes, not too many", "len(nodes)", n)
        if any(b <= a for a, b in pairwise(self.nodes)) or (curve.from_zero and self.nodes[0] < 0):
            raise Refused("nodes must increase, those of a divergence from 0 on", "nodes", n)
        if any(not 0 <= i <= n for i, *_ in self.multipliers):
            raise Refused("multipliers are of pieces that exist", "multipliers", n)

    def _beyond(self, curve: _Curve, cone: Cone, points: list[Point]) -> dict[int, Line | None]:
        """The lines below the first and above the last node, unless the cone has no ratio there."""
        n, found, (first, _), (last, f) = len(points), dict[int, Line | None](), points[0], points[-1]
        left, right = ([(0, a, b, f) for i, a, b, f in self.multipliers if i == n - 1 + side] for side in (0, 1))
        starts = curve.from_zero and not first
        if not starts and not cone.refutes(curve.line(fmpq(-1), first), left):
            found[n - 1] = _chord((fmpq(0), curve.at_zero), points[0])
        if not cone.refutes(curve.line(fmpq(1), -last), right):
            slope = curve.last_slope
            found[n] = None if f is None or slope is None else (slope, f - slope * last)
        return found

    def _of_simplices(self, worth: Worth, alpha: Vector) -> fmpq:
        if self.nodes or self.multipliers or self.tree or not isinstance(worth, SumWorth):
            raise Refused("trees are for sums of divergences, alone", "trees", len(self.trees))
        cone = cone_of(worth.privacy, worth.k)
        if not isinstance(cone, Staircase) or cone.top == 1:
            raise Refused("cells of directions need ε-LDP, ε > 0", "privacy", type(cone).__name__)
        sum_of_divergences = _Directions(worth.goal, worth.weights)
        m, tokens = len(sum_of_divergences.priors), sum(map(len, self.trees))
        if m > MOST_DISTRIBUTIONS or tokens > MOST_TOKENS or tokens * worth.k > MOST_CELL_ENTRIES:
            raise Refused("too many distributions or cells", "trees", (m, tokens))
        if len(self.trees) != factorial(m):
            raise Refused("there must be a tree for each order", "len(trees)", len(self.trees))
        roots = (_root(order, cone.top) for order in permutations(range(m)))
        cells = (cell for root, tree in zip(roots, self.trees, strict=True) for cell in _cells(root, tree))
        return cone.excess(sum_of_divergences.above(cells, alpha), ())


# -- μ = b·f(a/b) --


class _Curve(NamedTuple):
    """f above, with the two linear functions of a column whose ratio it is taken at.

    Attributes:
        value: a rational at or above f; None where it is infinite.
        from_zero: whether ratios are ≥ 0.
        at_zero, last_slope: f(0), and lim f(x)/x; None where infinite, or where f goes on to both sides.
    """

    first: Vector
    second: Vector
    value: Callable[[fmpq], fmpq | None]
    from_zero: bool
    at_zero: fmpq | None = None
    last_slope: fmpq | None = None

    def line(self, slope: fmpq, start: fmpq, alpha: Vector | None = None) -> Vector:
        """slope·first + start·second − α."""
        (p, u), (q, v) = self.first, self.second
        offset, w = alpha or Vector([0] * len(p), 1)
        scale = int(slope.q * start.q) * u * v * w
        a, b, c = int((slope * scale).p) // u, int((start * scale).p) // v, scale // w
        return Vector([a * x + b * y - c * z for x, y, z in zip(p, q, offset, strict=True)], scale)


def _of_one_pair(worth: SumWorth) -> _Curve:
    p0, p1, rule = one_pair(worth.goal, worth.weights)
    zero, one = fmpq(0), fmpq(1)

    def at(a: fmpq, b: fmpq) -> fmpq | None:
        return above(pair_value(rule, a, b))

    first, second = Vector(p0.weights, p0.total), Vector(p1.weights, p1.total)
    return _Curve(first, second, lambda t: at(t, one), True, at(zero, one), at(one, zero))


def _of_one_statistic(worth: SquareWorth) -> _Curve:
    if worth.factor is None:
        raise Refused("chords are for one statistic", "z", "several statistics")
    return _Curve(Vector(worth.factor, 1), Vector(worth.weights, worth.total), lambda t: t * t, False)


def one_pair(goal: Goal, weights: Sequence[fmpq]) -> tuple[Prior, Prior, PairRule]:
    """The two hypotheses of the leaves of positive weight, and the rule of their weighted sum: with the hypotheses
    exchanged, D_f is that of x·f(1/x)."""
    weighed = [(leaf, arb(weight)) for leaf, weight in zip(divergences_of(goal), weights, strict=True) if weight]
    p0, p1 = weighed[0][0].p0, weighed[0][0].p1
    rules = [_oriented(leaf, p0, p1, weight) for leaf, weight in weighed]
    return p0, p1, rules[0] if len(rules) == 1 else lambda x, y, z: sum((rule(x, y, z) for rule in rules), arb(0))


def divergences_of(goal: Goal) -> list[PairGoal]:
    """The leaves of a goal, if all are divergences."""
    leaves = leaves_of(goal)
    found = [leaf for leaf in leaves if isinstance(leaf, PairGoal)]
    if len(found) < len(leaves):
        raise Refused("this is about divergences", "utility", goal.name)
    return found


def _oriented(leaf: PairGoal, p0: Prior, p1: Prior, weight: arb) -> PairRule:
    """A weighed divergence between two hypotheses, in either direction."""
    rule = pair_rule(leaf)
    if leaf.p0 == p0 and leaf.p1 == p1:
        return rule if weight == 1 else lambda x, y, z: weight * rule(x, y, z)
    if leaf.p0 == p1 and leaf.p1 == p0:
        return lambda x, y, z: weight * rule(y, x, -z)
    raise Refused("the divergences must be of one pair", "utility", leaf.name)


def _chord(left: Point, right: Point) -> Line | None:
    """A line at or above both ends, with short numbers; None when an end is infinite."""
    (a, f), (b, g) = left, right
    slope = None if f is None or g is None else above(arb((g - f) / (b - a)))
    if f is None or g is None or slope is None:
        return None
    start = above(arb(max(f - slope * a, g - slope * b)))
    return None if start is None else (slope, start)


# -- information under PML and LIP, whatever its prior --


def _above_information(prior: Prior, cone: Lifts, alpha: Vector) -> Vector:
    """g − α, with g·q at or above Σ r_x q_x ln(q_x/r·q) on the cone, r the prior of the information: with p·q = 1 and m
    the sum of r over the support of p, a column there is worth Σ r_x G(q_x) + m at most, G(t) = t·ln(t/m) − t, and G
    lies below its chord between the ends of each lift. Other inputs are worth no more than what revealing them is."""
    r = [fmpq(w, prior.total) for w in prior.weights]
    mass = sum((r[x] for x in cone.support), fmpq(0))
    found, level = [_times_log(w, 1 / w) if w else fmpq(0) for w in r], mass
    for x, (low, top) in zip(cone.support, cone.ends, strict=True):
        slope, start = _chord_of_bend(low, top, mass) if r[x] else (fmpq(0), fmpq(0))
        found[x] = r[x] * slope
        level += r[x] * start
    for x in cone.support:
        found[x] += level * cone.prior.weights[x] / cone.prior.total
    common = lcm(alpha.unit, *(int(v.q) for v in found))
    prices = (a * (common // alpha.unit) for a in alpha.entries)
    return Vector([int((v * common).p) - a for v, a in zip(found, prices, strict=True)], common)


def _chord_of_bend(low: fmpq, top: fmpq, mass: fmpq) -> Line:
    """A line at or above t·ln(t/mass) − t between two numbers ≥ 0."""
    at_low, at_top = ((_times_log(t, t / mass) if t else fmpq(0)) - t for t in (low, top))
    slope = finite_above(arb((at_top - at_low) / (top - low))) if low < top else fmpq(0)
    return slope, finite_above(arb(max(at_low - slope * low, at_top - slope * top)))


def _times_log(a: fmpq, b: fmpq) -> fmpq:
    """At or above a·ln b; both are positive."""
    return finite_above(narrow(lambda: arb(a) * arb(b).log()))


# -- distortions --


def _of_outputs(goal: LossGoal, alpha: Vector, cone: Cone, multipliers: Sequence[Multiplier]) -> fmpq:
    """The cone's bound on α − p·d(·, y), y any output."""
    prior = goal.source.single
    if prior is None:
        raise Refused("a distortion is bounded under one prior of its class", "source", goal.source)
    if goal.losses is None and isinstance(cone, Staircase) and not multipliers:
        return _of_names(prior, alpha, cone)
    k, losses = goal.k, goal.losses
    if losses is None:
        losses = [[Fraction(int(x != y)) for y in range(k)] for x in range(k)]
    common = lcm(*{d.denominator for row in losses for d in row})
    unit = prior.total * common * alpha.unit
    prices = [a * prior.total * common for a in alpha.entries]
    scaled = [[w * int(d * common) * alpha.unit for d in row] for w, row in zip(prior.weights, losses, strict=True)]
    vectors = (Vector([a - row[y] for a, row in zip(prices, scaled, strict=True)], unit) for y in range(len(losses[0])))
    return cone.excess(vectors, multipliers)


def _of_names(prior: Prior, alpha: Vector, cone: Staircase) -> fmpq:
    """The same for Hamming distortion under ε-LDP: α − p but α at one input. What they share is added up once."""
    prices, masses = [a * prior.total for a in alpha.entries], [w * alpha.unit for w in prior.weights]
    rest = [a - m for a, m in zip(prices, masses, strict=True)]
    whole, positive = sum(rest), sum(v for v in rest if v > 0)
    named = zip(prices, masses, rest, strict=True)
    most = max(whole + m + (cone.top - 1) * (positive + max(0, a) - max(0, v)) for a, m, v in named)
    return max(fmpq(0), most / (prior.total * alpha.unit)) * cone.k / (cone.top + cone.k - 1)


# -- several distributions --


class _Directions:
    """Φ(v), a weighted sum of divergences as a function of v = (P_1·q, …, P_m·q)."""

    def __init__(self, goal: Goal, weights: Sequence[fmpq]) -> None:
        self.priors: list[Prior] = []
        self.parts: list[tuple[arb, PairRule, int, int]] = []
        for leaf, weight in zip(divergences_of(goal), weights, strict=True):
            if weight:
                self.parts.append((arb(weight), pair_rule(leaf), self._place(leaf.p0), self._place(leaf.p1)))

    def _place(self, prior: Prior) -> int:
        """The number of a distribution, equal ones once."""
        if prior not in self.priors:
            self.priors.append(prior)
        return self.priors.index(prior)

    def _value(self, vertex: Vertex) -> fmpq:
        v = [fmpq(x) for x in vertex[1:]]
        return finite_above(sum((w * pair_value(rule, v[a], v[b]) for w, rule, a, b in self.parts), arb(0)))

    def above(self, cells: Iterator[list[Vertex]], alpha: Vector) -> Iterator[Vector]:
        """Σ λ_i·P_i − α of each cell, λ·v ≥ Φ(v) at each of its vertices."""
        whole, common = alpha
        total = lcm(*(p.total for p in self.priors))
        entries = [w * (total // p.total) * common for p in self.priors for w in p.weights]
        rows = fmpz_mat(len(self.priors), len(whole), entries)
        offset = fmpz_mat(1, len(whole), [a * total << SLOPE_BITS for a in whole])
        known: dict[Vertex, fmpq] = {}
        for cell in cells:
            for vertex in cell:
                if vertex not in known:
                    known[vertex] = self._value(vertex)
            m = len(cell)
            heights = fmpq_mat(m, 1, [known[vertex] for vertex in cell])
            slopes = fmpq_mat(m, m, [x for v in cell for x in v[1:]]).solve(heights)
            up = [(slope * (1 << SLOPE_BITS)).ceil() for slope in slopes.entries()]
            left = fmpz_mat(1, m, up) * rows - offset
            yield Vector([int(g) for g in left.entries()], total * common << SLOPE_BITS)


def _root(order: Sequence[int], top: fmpq) -> list[Vertex]:
    """The cone v_σ1 ≥ v_σ2 ≥ … ≥ v_σm ≥ v_σ1/E: the constant, and the patterns that are E on σ1, …, σj and 1 after, all
    scaled to the same sum; E is rounded up."""
    whole = int((top * (1 << ROOT_BITS)).ceil())
    unit, m = 1 << ROOT_BITS, len(order)
    sums = [count * whole + (m - count) * unit for count in range(m)]
    common = lcm(*sums)
    return [
        (0, *((whole if i in order[:count] else unit) * (common // sums[count]) for i in range(m)))
        for count in range(m)
    ]


def _middle(a: Vertex, b: Vertex) -> Vertex:
    depth = max(a[0], b[0])
    more, less = depth - a[0], depth - b[0]
    return (depth + 1, *((x << more) + (y << less) for x, y in zip(a[1:], b[1:], strict=True)))


def _cells(root: list[Vertex], tree: Sequence[int]) -> Iterator[list[Vertex]]:
    """The simplices that a tree cuts its root into."""
    edges = list(combinations(range(len(root)), 2))
    stack = [root]
    for token in tree:
        if not stack or not -1 <= token < len(edges):
            raise Refused("a tree must end where its cells do", "token", token)
        cell = stack.pop()
        if token < 0:
            yield cell
            continue
        ends = edges[token]
        middle = _middle(*(cell[end] for end in ends))
        stack += [[middle if i == end else v for i, v in enumerate(cell)] for end in reversed(ends)]
    if stack:
        raise Refused("a tree must cover its cone", "cells missing", len(stack))
