"""Reasons about divergences, information and distortions (§7): each computes t."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from extremal.checker.cones import MOST_STEPS_OVER_RAYS, ColumnBounds, rays, unit
from extremal.checker.goals import DistortionGoal, DivergenceLeaf, InformationLeaf, Weighted
from extremal.checker.notions import LeakageSum, Lifted, Local, Notion, is_pure, pure_ratio
from extremal.checker.numbers import (
    INFINITE,
    ONE,
    ZERO,
    Bound,
    Interval,
    Vector,
    afford,
    dot,
    ends,
    ln,
    of_kind,
    one_of,
    require,
    rounded_up,
    shortened,
    solution,
    total,
    whole_numbers,
)
from extremal.checker.set_trees import of_sums
from extremal.checker.worths import PairWorth, PatternInformation, above, divergence

Prices = Sequence[tuple[int, int, Fraction]]
Reason = dict[str, Any]

# what §7 allows
MOST_REVEALED = 5000  # unit vectors
MOST_SETS = 16  # inputs whose sets are listed
MOST_NODES, MOST_NODES_TIMES_INPUTS = 20_000, 2 * 10**7
MOST_TOKENS, MOST_TOKENS_TIMES_INPUTS, MOST_DISTRIBUTIONS = 2**20, 2**26, 6
MOST_STEPS_OF_CHORDS = 2**19  # what half a minute allows here
MOST_SUMS = 4096  # of open symbols, that are listed


def price_of(prices: Prices, ratio: Fraction, r: Vector) -> Fraction:
    """Σ β_xz (r_x − E·r_z)⁺."""
    return sum((beta * max(ZERO, r[x] - ratio * r[z]) for x, z, beta in prices), ZERO)


def rays_of_reason(reason: Reason, notion: Notion, k: int, each: int) -> Iterator[Vector]:
    """The rays that `listed` runs over: unit vectors when inputs are revealed, for every column is a sum of them."""
    if reason["revealed"]:
        require(not reason["tree"] and k <= MOST_REVEALED, "revealed: no tree, at most 5,000 inputs")
        afford(k * each, MOST_STEPS_OVER_RAYS, "unit vectors")
        return (unit(x, k) for x in range(k))
    return rays(notion, k, reason["tree"], each)


def over_rays(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector, prices: Prices) -> Bound:
    """t = max over rays of (μ(r) − α·r − Σβ(…)⁺)/(w·r), w = 1/k. μ is subadditive: splitting loses nothing."""
    k, ratio = len(alpha), notion.ratio if isinstance(notion, Local) else ONE
    if isinstance(notion, LeakageSum) and not reason["revealed"]:
        return over_sets(reason, notion, leaves, alpha)
    found: list[Bound] = []
    for r in rays_of_reason(reason, notion, k, 2 * k * len(leaves)):
        worth = above(leaves, r)
        if worth == INFINITE:
            return INFINITE
        found.append((Fraction(worth) - dot(alpha, r) - price_of(prices, ratio, r)) * k / total(r))
    require(len(found) > 0, "at least one ray")
    return max(found)


def over_sets(reason: Reason, notion: LeakageSum, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """A column is a sum of multiples c_T of sets T, Σ c_T its largest entry: μ(q) ≤ α·q + s·max(q) with s = max over
    sets of μ(1_T) − α(T), μ(1) = 0. The largest entries add up to between 1 and E, so t = s·E if s > 0, else s."""
    k = len(alpha)
    require(not reason["tree"] and k <= MOST_SETS, "maximal leakage: no tree, at most 16 inputs")
    afford(2 * k * len(leaves) << k, MOST_STEPS_OVER_RAYS, "sets of inputs")
    found = [-total(alpha)]
    for mask in range(1, 2**k - 1):
        r = [Fraction(mask >> x & 1) for x in range(k)]
        worth = above(leaves, r)
        if worth == INFINITE:
            return INFINITE
        found.append(Fraction(worth) - dot(alpha, r))
    return max(found) * notion.ratio if max(found) > 0 else max(found)


# -- chords --


def chords(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """t of chords: between nodes for one pair of hypotheses, over simplices for several."""
    if reason["trees"]:
        return simplices(reason, notion, leaves, alpha)
    if len(leaves) == 1 and isinstance(leaves[0][1], InformationLeaf):
        require(not reason["nodes"] and not reason["multipliers"] and not reason["tree"], "information has no nodes")
        given = of_kind(notion, Lifted, "chords of information: PML or LIP")
        g = [v - a for v, a in zip(above_information(given, leaves[0][1].prior), alpha, strict=True)]
        return ColumnBounds(notion, len(alpha), (), ()).bound({0: g})
    require(PairWorth.is_one(leaves), "chords between nodes: divergences of one pair")
    pair = PairWorth(leaves)
    nodes = reason["nodes"]
    require(all(t >= 0 for t in nodes) and len(nodes) <= MOST_NODES, "at most 20,000 ratios, none negative")
    curve = Curve(list(pair.p0), list(pair.p1), [pair.above(t, ONE) for t in nodes], pair.above(ZERO, ONE),
                  pair.above(ONE, ZERO))  # fmt: skip
    return between_nodes(reason, notion, curve, alpha)


@dataclass(frozen=True)
class Curve:
    """μ = b·f(a/b): numbers above f at the nodes, at 0, and above its slope at infinity. Squares have no such ends."""

    a: Vector
    b: Vector
    heights: Sequence[Bound]
    at_zero: Bound = INFINITE
    slope: Bound = INFINITE
    squares: bool = False


def between_nodes(reason: Reason, notion: Notion, curve: Curve, alpha: Vector) -> Bound:
    """t = B of σa + τb − α over the pieces: f is convex, so a chord lies above it between its nodes."""
    nodes, k = reason["nodes"], len(alpha)
    n = len(nodes)
    require(1 <= n <= MOST_NODES and n * k <= MOST_NODES_TIMES_INPUTS, "1 to 20,000 nodes")
    afford(n * k, MOST_STEPS_OF_CHORDS, "nodes times inputs")
    require(all(s < t for s, t in itertools.pairwise(nodes)), "nodes increase")
    require(all(0 <= i <= n for i, *_ in reason["multipliers"]), "multipliers number pieces")
    cover = ColumnBounds(notion, k, reason["multipliers"], reason["tree"])
    if any(h == INFINITE for h in curve.heights):
        return INFINITE
    pieces = _pieces(nodes, curve, cover)
    if pieces is None:
        return INFINITE
    columns, below = whole_columns(curve.a, curve.b, alpha)
    vectors = {}
    for i, line in pieces.items():
        (sigma, tau), unit = whole_numbers(line)
        vectors[i] = [Fraction(sigma * a + tau * b - unit * v, below * unit) for a, b, v in columns]
    return cover.bound(vectors)


def whole_columns(a: Vector, b: Vector, alpha: Vector) -> tuple[list[tuple[int, ...]], int]:
    """The entries of three vectors at each input, as integers over one denominator."""
    flat, below = whole_numbers([*a, *b, *alpha])
    k = len(alpha)
    return list(zip(flat[:k], flat[k : 2 * k], flat[2 * k :], strict=True)), below


def _pieces(nodes: Vector, curve: Curve, cover: ColumnBounds) -> dict[int, tuple[Fraction, Fraction]] | None:
    """σ, τ of each chord, and of the ends n − 1 and n where columns may lie beyond a node; None where f is infinite."""
    n, heights = len(nodes), [Fraction(h) for h in curve.heights]
    pieces = {i: _through(nodes[i], heights[i], nodes[i + 1], heights[i + 1]) for i in range(n - 1)}
    below = [nodes[0] * b - a for a, b in zip(curve.a, curve.b, strict=True)]
    if (nodes[0] > 0 or curve.squares) and not cover.never_positive(n - 1, below):
        if curve.at_zero == INFINITE:
            return None
        pieces[n - 1] = _through(ZERO, Fraction(curve.at_zero), nodes[0], heights[0])
    beyond = [a - nodes[-1] * b for a, b in zip(curve.a, curve.b, strict=True)]
    if not cover.never_positive(n, beyond):
        if curve.slope == INFINITE:
            return None
        pieces[n] = (Fraction(curve.slope), heights[-1] - Fraction(curve.slope) * nodes[-1])
    return pieces or {0: (ZERO, ZERO)}  # one node, both ends proved: constants lie in the cone, so f = 0 there


def _through(s: Fraction, low: Fraction, t: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """σ, τ of the line σx + τ through two points."""
    slope = (high - low) / (t - s)
    return slope, low - slope * s


def above_information(notion: Lifted, r: Sequence[Fraction]) -> Vector:
    """g with g·q ≥ Σ r_x q_x ln(q_x/r·q) on the cone.

    Where p·q = 1, −M ln M ≤ m − M − M ln m for M = r·q and m = r(S), S the support of p; t·ln(t/m) − t is convex and
    below its chord σt + τ between the least and the largest q_x. An input where p = 0 adds at most what it is worth
    alone, since information is subadditive.
    """
    p, high, low = notion.prior, notion.ratio, notion.low
    mass = sum((w for w, v in zip(r, p, strict=True) if v), ZERO)
    found, level = [(w * -ln(w)).high if w else ZERO for w in r], mass
    for x, (w, v) in enumerate(zip(r, p, strict=True)):
        if v:
            first, last = max(low, (1 - high * (1 - v)) / v), min(high, (1 - low * (1 - v)) / v)
            bend = [((t * ln(t / mass)).high if t else ZERO) - t if w else ZERO for t in (first, last)]
            sigma = shortened((bend[1] - bend[0]) / (last - first)) if first < last else ZERO
            found[x] = w * sigma
            level += w * shortened(max(bend[0] - sigma * first, bend[1] - sigma * last))
    return [g + v * level for g, v in zip(found, p, strict=True)]


def simplices(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """Several distributions: Φ(P_1·q, …, P_m·q) is below a linear function on the cone over each cell."""
    ratio = pure_ratio(notion, "trees of chords: ε-LDP")
    require(ratio > 1, "trees of chords: ε > 0")
    require(not reason["nodes"] and not reason["multipliers"] and not reason["tree"], "trees alone")
    terms = [(weight, leaf) for weight, leaf in leaves if isinstance(leaf, DivergenceLeaf)]
    require(len(terms) == len(leaves), "trees of chords: divergences")
    distributions = list(dict.fromkeys(p for _, leaf in terms for p in (leaf.p0, leaf.p1)))
    number = {p: i for i, p in enumerate(distributions)}
    places = [(w, d.kind, number[d.p0], number[d.p1], d.parameter) for w, d in terms]
    roof = _roof(reason["trees"], len(distributions), len(alpha), rounded_up(ratio, 16), places)
    symbols = list(zip(*distributions, strict=True))
    vectors = {i: [dot(sigma, p) - a for p, a in zip(symbols, alpha, strict=True)] for i, sigma in enumerate(roof)}
    return ColumnBounds(notion, len(alpha), (), ()).bound(vectors)


Places = Sequence[tuple[Fraction, str, int, int, Fraction]]


def _roof(trees: Sequence[Sequence[int]], m: int, k: int, wide: Fraction, places: Places) -> Iterator[Vector]:
    """λ of each cell: λ·v is at least Φ at its vertices, hence on the cone over it."""
    tokens = sum(len(tree) for tree in trees)
    require(m <= MOST_DISTRIBUTIONS and len(trees) == math.factorial(m), "a tree for each order of ≤ 6 distributions")
    require(tokens <= MOST_TOKENS and tokens * k <= MOST_TOKENS_TIMES_INPUTS, "at most 2^20 tokens")
    afford(tokens * (k + m**3), MOST_STEPS_OF_CHORDS, "cells times inputs")
    known: dict[tuple[Fraction, ...], Fraction] = {}  # cells share their vertices
    for order, tree in zip(itertools.permutations(range(m)), trees, strict=True):
        for vertices in _simplices_of(_root(order, wide), tree):
            for v in vertices:
                known[tuple(v)] = known.get(tuple(v)) or _height(places, v)
            exact = solution(vertices, [[known[tuple(v)]] for v in vertices])
            yield [shortened(value) for (value,) in exact]  # rounded up, which only raises λ·v


def _height(places: Places, v: Vector) -> Fraction:
    """A number above Φ(v); v > 0, so that nothing is infinite."""
    found = ZERO
    for weight, kind, i, j, parameter in places:
        part = divergence(kind, v[i], v[j], parameter)
        found += weight * of_kind(part, Interval, "a finite height").high
    return shortened(found)


def _root(order: Sequence[int], wide: Fraction) -> list[Vector]:
    """u_j: E' on the first j of the order and 1 elsewhere, scaled to sum 1."""
    m = len(order)
    vertices = [[wide if i in order[:j] else ONE for i in range(m)] for j in range(m)]
    return [[v / total(u) for v in u] for u in vertices]


def _simplices_of(root: list[Vector], tokens: Sequence[int]) -> Iterator[list[Vector]]:
    """The simplices that a tree leaves: −1 keeps one, i cuts it in the middle of edge i."""
    edges = list(itertools.combinations(range(len(root)), 2))
    open_, at = [root], 0
    while open_:
        simplex = open_.pop()
        require(at < len(tokens), "a token for each simplex")
        token, at = tokens[at], at + 1
        if token == -1:
            yield simplex
            continue
        require(0 <= token < len(edges), "a token is −1 or an edge")
        a, b = edges[token]
        middle = [(v + w) / 2 for v, w in zip(simplex[a], simplex[b], strict=True)]
        first, second = ([middle if i == gone else u for i, u in enumerate(simplex)] for gone in (a, b))
        open_ += [second, first]  # the part without vertex a comes first
    require(at == len(tokens), "all tokens are used")


def outputs(reason: Reason, notion: Notion, goal: DistortionGoal, alpha: Vector) -> Fraction:
    """t = B of α_x − p_x·d(x, y), a vector for each output y."""
    p, k = one_of(goal.source.only, "a distortion with one prior"), goal.k
    require(not reason["nodes"] and not reason["trees"], "a distortion has no nodes and no trees")
    require(all(0 <= i < goal.columns for i, *_ in reason["multipliers"]), "multipliers number outputs")
    cover = ColumnBounds(notion, k, reason["multipliers"], reason["tree"])
    if goal.distances is None and is_pure(notion):
        return _hamming(alpha, p, notion.ratio)
    vectors = {y: [a - v * d for a, v, d in zip(alpha, p, goal.column(y), strict=True)] for y in range(goal.columns)}
    return cover.bound(vectors)


def _hamming(alpha: Vector, p: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """The same for Hamming under ε-LDP, where vector y is α − p but for α_y at y: k steps instead of k²."""
    k, step = len(alpha), ratio - 1
    others = [a - v for a, v in zip(alpha, p, strict=True)]
    common = total(others) + step * sum((v for v in others if v > 0), ZERO)
    most = max(common + v + step * (max(ZERO, a) - max(ZERO, a - v)) for a, v in zip(alpha, p, strict=True))
    return max(ZERO, most) * k / (ratio + k - 1)


# -- sets --


@dataclass(frozen=True)
class Group:
    """n symbols of the same probability p and price α."""

    p: Fraction
    alpha: Fraction
    n: int


def groups_of(prior: Sequence[Fraction], alpha: Vector) -> list[Group]:
    """By decreasing p, then increasing α; symbols of probability 0 take no part."""
    counts: dict[tuple[Fraction, Fraction], int] = {}
    for p, a in zip(prior, alpha, strict=True):
        if p:
            counts[-p, a] = counts.get((-p, a), 0) + 1
    return [Group(-p, a, n) for (p, a), n in sorted(counts.items())]


def sets(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Fraction:
    """t = 0: the trees show that α is feasible."""
    if not any(isinstance(leaf, InformationLeaf) for _, leaf in leaves):
        of_sums(reason["choices"], reason["trees"], pure_ratio(notion, "sets of divergences: ε-LDP"), leaves, alpha)
        return ZERO
    require(len(leaves) == 1, "sets: information alone")
    goal = of_kind(leaves[0][1], InformationLeaf, "sets: information alone")
    require(all(a >= 0 for p, a in zip(goal.prior, alpha, strict=True) if not p), "α ≥ 0 where p = 0")
    groups = groups_of(goal.prior, alpha)
    afford(sum(map(len, reason["trees"])) * len(groups), MOST_STEPS_OF_CHORDS, "tokens times groups")
    if is_pure(notion):
        require(len(reason["trees"]) == 1, "one tree under ε-LDP")
        require(all(0 <= y <= 1 for y in reason["choices"]), "choices are masses")
        _walk(reason["trees"][0], groups, Patterns(notion.ratio, groups, reason["choices"], total(alpha)))
        return ZERO
    notion = of_kind(notion, Lifted, "PML or LIP")
    require(notion.prior == goal.prior, "the prior of PML or LIP is that of the information")
    require(notion.ratio > 1 and len(reason["trees"]) == len(groups), "ε > 0, a tree for each group")
    of_support = sum((a for p, a in zip(goal.prior, alpha, strict=True) if p), ZERO)
    for j, tree in enumerate(reason["trees"]):
        others = [Group(g.p, g.alpha, g.n - (i == j)) for i, g in enumerate(groups)]
        _walk(tree, others, LiftsOnSets(notion, groups[j], others, reason["choices"], of_support))
    return ZERO


def _walk(tokens: Sequence[int], groups: Sequence[Group], closing: Any) -> None:
    """Depth first: −1 branches on how many of the next group are taken, any other token must close its node."""
    nodes, at = [(0, ZERO, ZERO)], 0
    while nodes:
        depth, mass, price = nodes.pop()
        require(at < len(tokens), "a token for each node")
        token, at = tokens[at], at + 1
        if token == -1:
            require(depth < len(groups), "a group to branch on")
            g = groups[depth]
            nodes += [(depth + 1, mass + i * g.p, price + i * g.alpha) for i in range(g.n, -1, -1)]
        else:
            require(closing.closes(token, depth, mass, price), "a node that its token closes")
    require(at == len(tokens), "all tokens are used")


class Patterns:
    """ε-LDP: the pattern 1 + c on T is worth φ(P(T)), which is below its tangent, and α is worth Σα + c·α(T)."""

    def __init__(self, ratio: Fraction, groups: Sequence[Group], choices: Vector, sum_alpha: Fraction) -> None:
        self.phi, self.groups, self.choices, self.sum_alpha = PatternInformation(ratio), groups, choices, sum_alpha
        self.tangents: dict[int, Any] = {}

    def closes(self, token: int, depth: int, z: Fraction, price: Fraction) -> bool:
        """φ(y) + φ'(y)(z − y) − cα(T) + Σ_open max(0, φ'(y)p_x − cα_x) ≤ Σα."""
        require(0 <= token < len(self.choices), "a token is a choice")
        y, c = self.choices[token], self.phi.c
        if token not in self.tangents:
            slope = self.phi.slope(y)
            gains = [g.n * (slope * g.p - c * g.alpha).positive() for g in self.groups]
            tails = list(itertools.accumulate(reversed(gains), initial=ends(ZERO)))[::-1]
            self.tangents[token] = (self.phi(y), slope, tails)
        value, slope, tails = self.tangents[token]
        return bool((value + slope * (z - y) - c * price + tails[depth]).high <= self.sum_alpha)


class LiftsOnSets:
    """PML, LIP: lifts low + step·y with y = 1 on a set, f at symbol j, 0 elsewhere, and p·y = b.

    Σp·g(λ) is the value; linear interpolation overstates it by p_j·dip(f) only. What is open is priced by ν.
    """

    def __init__(self, notion: Lifted, j: Group, groups: Sequence[Group], choices: Vector, sum_alpha: Fraction) -> None:
        self.j, self.groups, self.choices = j, groups, choices
        self.low, self.high = notion.low, notion.ratio
        self.step = self.high - self.low
        self.b = (1 - self.low) / self.step
        self.rise = self.g(self.high) - self.g(self.low)
        self.needed = (self.g(self.low) + self.b * self.rise - self.low * sum_alpha) / self.step
        self.mass = math.lcm(*(g.p.denominator for g in groups))
        self.sums = self._sums()

    @staticmethod
    def g(t: Fraction) -> Any:
        """t·ln t − t + 1."""
        return (t * ln(t) if t else ends(ZERO)) - t + 1

    def dip(self, f: Fraction) -> Any:
        return self.g(self.low) + f * self.rise - self.g(self.low + self.step * f)

    def _sums(self) -> list[set[int] | None]:
        """The sums of the symbols of groups d, d+1, … over `mass`; listed from the last group on while they are few."""
        found: list[set[int] | None] = [{0}]
        for g in reversed(self.groups):
            last, step = found[-1], int(g.p * self.mass)
            few = last is not None and len(last) * (g.n + 1) <= MOST_SUMS
            found.append({s + i * step for s in last for i in range(g.n + 1)} if few and last is not None else None)
        return found[::-1]

    def masses(self, depth: int, z: Fraction) -> tuple[Fraction, Fraction] | None:
        """Numbers between which every possible mass m = z + (a sum of open symbols), b − p_j ≤ m ≤ b, lies."""
        least, sums = self.b - self.j.p, self.sums[depth]
        if sums is not None:
            low, high = math.ceil((least - z) * self.mass), math.floor((self.b - z) * self.mass)
            possible = [s for s in sums if low <= s <= high]
            if not possible:
                return None
            return z + Fraction(min(possible), self.mass), z + Fraction(max(possible), self.mass)
        open_ = [g for g in self.groups[depth:] if g.n]
        lightest, every = min(g.p for g in open_), sum((g.n * g.p for g in open_), ZERO)
        first = z if z >= least else max(least, z + lightest)
        last = z + every if z + every <= self.b else min(self.b, z + every - lightest)
        return (first, last) if first <= last else None

    def closes(self, token: int, depth: int, z: Fraction, price: Fraction) -> bool:
        """ν(b − z) + α(T) + Σ_open min(0, α_x − νp_x) + f(α_j − νp_j) + p_j·dip(f)/step ≥ K at both ends of f."""
        masses = self.masses(depth, z)
        if masses is None:
            return True  # nothing lies below: any token closes
        require(0 <= token < len(self.choices), "a token is a choice")
        nu, j = self.choices[token], self.j
        rest = sum((g.n * min(ZERO, g.alpha - nu * g.p) for g in self.groups[depth:]), ZERO)
        for m in masses:
            f = (self.b - m) / j.p
            reached = nu * (self.b - z) + price + rest + f * (j.alpha - nu * j.p) + j.p * self.dip(f) / self.step
            if (reached - self.needed).low < 0:
                return False
        return True


# -- truncated --


def without_delta(reason: Reason, notion: Notion) -> tuple[Reason, Local, Fraction]:
    """The reason within `truncated`, ε-LDP, and the δ that it leaves out."""
    inner, given = reason["reason"], of_kind(notion, Local, "truncated: LDP")
    require(given.delta > 0, "truncated: (ε,δ)-LDP, δ > 0")
    require(inner["kind"] in REASONS_ABOUT_GAINS and not inner.get("revealed"), "truncated: a reason for ε-LDP")
    return inner, replace(given, delta=ZERO), given.delta


def truncated(t: Bound, delta: Fraction, revealed: Sequence[Bound], alpha: Vector, sizes: Sequence[int]) -> Bound:
    """t⁺ + min(1, (k−1)δ)·Σ_x (μ(e_x) − α_x)⁺: what a column has above E times its least entry is cut off, which is
    (k−1)δ at most for each input, and the rest lies in the cone of ε-LDP."""
    if INFINITE in (t, *revealed):
        return INFINITE
    share = min(ONE, (sum(sizes) - 1) * delta)
    over = (n * max(ZERO, Fraction(v) - a) for n, v, a in zip(sizes, revealed, alpha, strict=True))
    return max(ZERO, Fraction(t)) + share * sum(over, ZERO)


REASONS_ABOUT_GAINS = {"listed", "chords", "sets"}


def of_gain(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector, prices: Prices) -> Bound:
    """t for divergences and information."""
    kind, k = reason["kind"], len(alpha)
    if kind == "truncated":
        inner, pure, delta = without_delta(reason, notion)
        require(k <= MOST_REVEALED, "truncated: at most 5,000 inputs")
        t = of_gain(inner, pure, leaves, alpha, ())
        return truncated(t, delta, [above(leaves, unit(x, k)) for x in range(k)], alpha, [1] * k)
    require(kind in REASONS_ABOUT_GAINS, "a reason about utilities")
    if kind == "listed":
        return over_rays(reason, notion, leaves, alpha, prices)
    return chords(reason, notion, leaves, alpha) if kind == "chords" else sets(reason, notion, leaves, alpha)
