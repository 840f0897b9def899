"""The cone of columns that a notion admits (§5): its extreme rays, and bounds on linear functions of all columns."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction

from extremal.checker.notions import ClassLifted, Lifted, Local, Metrical, Notion, is_coupled, is_pure, pure_ratio
from extremal.checker.numbers import ONE, ZERO, Vector, afford, of_kind, require, whole_numbers

MOST_PATTERNS, MOST_LIFTED, MOST_DESCRIBED, MOST_ON_A_TREE, MOST_COUPLED = 16, 14, 8, 16, 6  # inputs, as §5 allows
MOST_NESTED, MOST_CHOSEN = 10, 12  # inputs, too
MOST_STEPS_OVER_RAYS = 2**21  # a step is a product of rationals, or a logarithm
MOST_MEETINGS = 2**27  # of rays on either side of an inequality
Tree = Sequence[tuple[int, int]]
Multipliers = Sequence[tuple[int, int, int, Fraction]]
Ray = tuple[list[int], int]  # whole numbers, and the inequalities that are equalities on it, as bits


def unit(x: int, k: int) -> Vector:
    return [Fraction(int(x == z)) for z in range(k)]


# -- rays --


def rays(notion: Notion, k: int, tree: Tree, each: int) -> Iterator[Vector]:
    """The extreme rays of the cone, in rationals; what is done with one of them takes `each` steps."""
    if tree:
        return rays_of_larger_cone(notion, k, tree, each)
    if isinstance(notion, Local):
        return coupled_rays(notion.ratio, k) if notion.delta else patterns(notion.ratio, k, each)
    if isinstance(notion, Lifted):
        support = sum(p > 0 for p in notion.prior)
        require(support <= MOST_LIFTED, "at most 14 inputs of positive probability")
        afford(support * 2**support * each, MOST_STEPS_OVER_RAYS, "lift vectors")
        return lifts(notion, k)
    if isinstance(notion, ClassLifted) and notion.source.is_decided_by_sets:
        require(k <= MOST_NESTED, "at most 10 inputs whose nested sets are listed")
        afford(3**k * each, MOST_STEPS_OVER_RAYS, "nested sets")
        return nested(notion, k)
    require(k <= MOST_DESCRIBED, "at most 8 inputs whose rays are found from inequalities")
    named = sorted(inequalities(notion, k), key=lambda one: one[0][::-1])  # prior by prior: fewer rays on the way
    return iter(described([row for _, row in named], k))


def rays_of_larger_cone(notion: Notion, k: int, tree: Tree, each: int) -> Iterator[Vector]:
    """Of the cone that only the named inequalities of a class cut, or those along a tree of a metric."""
    if isinstance(notion, ClassLifted):
        require(k <= MOST_CHOSEN, "at most 12 inputs whose rays are found from some inequalities")
        return iter(described(chosen(notion, k, tree), k))
    edges = edges_of(notion, k, tree)
    require(k <= MOST_ON_A_TREE, "at most 16 inputs on a tree")
    afford(2**k * each, MOST_STEPS_OVER_RAYS, "rays of a tree")
    return rays_of_tree(edges, k)


def patterns(ratio: Fraction, k: int, each: int) -> Iterator[Vector]:
    """{1, E}^k without the two constants, which are sums of others."""
    require(2 <= k <= MOST_PATTERNS, "2 to 16 inputs whose patterns are listed")
    afford(2**k * each, MOST_STEPS_OVER_RAYS, "patterns")
    every = itertools.product((ONE, ratio), repeat=k)
    return (list(p) for p in itertools.islice(every, 1, 2**k - 1))


def coupled_rays(ratio: Fraction, k: int) -> Iterator[Vector]:
    """Of the cells of the planes q_x = E·q_z: 0 off a support, powers E^0, E^-1, …, E^-L on it, each at least once."""
    require(k <= MOST_COUPLED, "at most 6 inputs under (ε,δ)-LDP")
    for levels in itertools.product(range(-1, k), repeat=k):
        used = {v for v in levels if v >= 0}
        if used and used == set(range(len(used))) and (len(used) > 1 or sum(v >= 0 for v in levels) == 1):
            yield [ZERO if v < 0 else ONE / ratio**v for v in levels]


def lifts(notion: Lifted, k: int) -> Iterator[Vector]:
    """p·q = 1: all low or high but one, which is what is left; unit vectors where p = 0."""
    p, support = notion.prior, [x for x in range(k) if notion.prior[x]]
    yield from (unit(x, k) for x in range(k) if not p[x])
    for j in support:
        others = [x for x in support if x != j]
        for chosen in itertools.product((notion.low, notion.ratio), repeat=len(others)):
            left = (ONE - sum((p[x] * v for x, v in zip(others, chosen, strict=True)), ZERO)) / p[j]
            if notion.low <= left <= notion.ratio:
                ray = [ZERO] * k
                for x, v in zip(others, chosen, strict=True):
                    ray[x] = v
                ray[j] = left
                yield ray


def inequalities(notion: Notion, k: int) -> Iterator[tuple[tuple[int, int], Vector]]:
    """((a, b), row) for every inequality row·q ≤ 0 of a class or a metric."""
    if isinstance(notion, ClassLifted):
        corners = notion.source.extreme()
        for x, (v, p) in itertools.product(range(k), enumerate(corners)):
            if any(corner[x] for corner in corners):
                yield (x, v), of_prior(notion, x, p)
    if isinstance(notion, Metrical):
        for x, z in itertools.product(range(k), repeat=2):
            ratio = notion.ratio_between(x, z)
            if ratio is not None and x != z:
                yield (x, z), [Fraction(int(i == x)) - (ratio if i == z else ZERO) for i in range(k)]


def of_prior(notion: ClassLifted, x: int, p: Vector) -> Vector:
    """q_x ≤ E·p·q as row·q ≤ 0, E rounded up to a multiple of 2^-64."""
    above = Fraction(math.ceil(notion.ratio * 2**64), 2**64)
    return [Fraction(int(x == z)) - above * share for z, share in enumerate(p)]


def chosen(notion: ClassLifted, k: int, names: Tree) -> list[Vector]:
    """The rows of some inequalities (x, v) of a class."""
    corners = notion.source.extreme()
    occurs = [any(corner[x] for corner in corners) for x in range(k)]
    for x, v in names:
        require(0 <= x < k and occurs[x] and 0 <= v < len(corners), "inputs that can occur, and extreme priors")
    return [of_prior(notion, x, corners[v]) for x, v in names]


def nested(notion: ClassLifted, k: int) -> Iterator[Vector]:
    """For all S ⊂ T with g(S) < 1/E ≤ g(T), g the least probability of a set: g(T) − g(S) on S, 1/E − g(S) on T∖S."""
    sets = [[x for x in range(k) if number >> x & 1] for number in range(2**k)]
    g, level = [notion.source.least_probability(chosen) for chosen in sets], ONE / notion.ratio
    for (s, inner), (t, outer) in itertools.product(enumerate(sets), repeat=2):
        if s & t == s and g[s] < level <= g[t]:
            ray = [ZERO] * k
            for x in outer:
                ray[x] = g[t] - g[s] if x in inner else level - g[s]
            yield ray


def described(rows: Sequence[Vector], k: int) -> list[Vector]:
    """The extreme rays of {q ≥ 0, row·q ≤ 0}, by the double description method, in whole numbers.

    The rays of q ≥ 0 are the unit vectors. A further inequality keeps the rays on its side and adds, for every two
    adjacent rays on different sides, the one between them on the plane. Two rays are adjacent when no third one
    satisfies with equality every inequality that both do: at least k − 2.
    """
    found = [([int(x == z) for z in range(k)], (1 << k) - 1 ^ 1 << x) for x in range(k)]
    steps = 0
    for number, row in enumerate(rows, start=k):
        found, more = _cut(found, whole_numbers(row)[0], number, steps)
        steps += more
    afford(steps, MOST_MEETINGS, "rays on either side of inequalities")
    return [[Fraction(v, sum(q)) for v in q] for q, _ in found]


def _cut(found: list[Ray], row: Sequence[int], number: int, spent: int) -> tuple[list[Ray], int]:
    """The rays of a cone after one more inequality row·q ≤ 0, and its steps; nothing where they are too many."""
    sides = [sum(map(operator.mul, row, q)) for q, _ in found]
    inside, outside = ([i for i, side in enumerate(sides) if sign * side > 0] for sign in (-1, 1))
    steps = len(inside) * len(outside) + 40 * len(found)
    if spent + steps > MOST_MEETINGS:
        return found, MOST_MEETINGS + 1
    kept = [(q, held | (side == 0) << number) for (q, held), side in zip(found, sides, strict=True) if side <= 0]
    for a, b in _adjacent([held for _, held in found], number, len(row), inside, outside):
        mixed = [sides[b] * v - sides[a] * w for v, w in zip(found[a][0], found[b][0], strict=True)]
        common = math.gcd(*mixed)
        kept.append(([v // common for v in mixed], found[a][1] & found[b][1] | 1 << number))
    return kept, steps


def _adjacent(tight: Sequence[int], count: int, k: int, inside: list[int], outside: list[int]) -> list[tuple[int, int]]:
    """The pairs, one of either side, such that no third ray satisfies with equality every inequality that both do."""
    rays_of = [sum(1 << i for i, mine in enumerate(tight) if mine >> number & 1) for number in range(count)]
    every, pairs = (1 << len(tight)) - 1, []
    for a in inside:
        near = ((b, tight[a] & tight[b]) for b in outside)
        pairs += [(a, b) for b, both in near if both.bit_count() >= k - 2 and _on_all(both, rays_of, every) == 2]
    return pairs


def _on_all(chosen: int, rays_of: Sequence[int], every: int) -> int:
    """How many rays satisfy all the chosen inequalities with equality."""
    while chosen:
        every &= rays_of[chosen.bit_length() - 1]
        chosen ^= 1 << chosen.bit_length() - 1
    return every.bit_count()


def edges_of(notion: Notion, k: int, tree: Tree) -> list[tuple[int, int, Fraction]]:
    """(parent, child, F) of a spanning tree, each parent placed before its children."""
    notion = of_kind(notion, Metrical, "a tree is for metric privacy")
    require(len(tree) == k - 1, "a tree has every input once")
    placed, found = {tree[0][0]} if tree else {0}, []
    for z, x in tree:
        require(0 <= x < k and 0 <= z < k and z in placed and x not in placed, "parents before children, each once")
        ratio = notion.ratio_between(x, z)
        require(ratio is not None, "edges of finite length")
        placed.add(x)
        found.append((z, x, ratio or ONE))
    return found


def rays_of_tree(edges: Sequence[tuple[int, int, Fraction]], k: int) -> Iterator[Vector]:
    """Each edge tight one way or the other."""
    for signs in itertools.product((False, True), repeat=len(edges)):
        ray = [ONE] * k
        for (z, x, ratio), more in zip(edges, signs, strict=True):
            ray[x] = ray[z] * ratio if more else ray[z] / ratio
        yield ray


# -- bounds --


def _largest(vectors: Sequence[Vector]) -> Fraction:
    """Σ_x max_g g_x⁺."""
    return sum((max(ZERO, *column) for column in zip(*vectors, strict=True)), ZERO)


class ColumnBounds:
    """Bounds on Σ_y g_y·q_y, every g_y among given vectors, for all columns of a private mechanism.

    Vectors are numbered; multipliers f ≥ 0 belong to inequality (a, b) and to a vector's number.
    """

    def __init__(self, notion: Notion, k: int, multipliers: Multipliers, tree: Tree) -> None:
        self.notion, self.k = notion, k
        self.edges = edges_of(notion, k, tree) if tree else []
        self.factors: dict[int, dict[tuple[int, int], Fraction]] = {}
        if not multipliers:
            return
        require(not tree, "multipliers and a tree do not go together")
        self.corners = notion.source.extreme() if isinstance(notion, ClassLifted) else []
        for i, a, b, f in multipliers:
            require(f >= 0, "multipliers are not negative")
            self.inequality(a, b)
            at = self.factors.setdefault(i, {})
            at[a, b] = at.get((a, b), ZERO) + f

    def inequality(self, a: int, b: int) -> dict[int, Fraction]:
        """The coefficients, where they are not 0, of inequality (a, b) of the notion: row·q ≤ 0."""
        notion = self.notion
        require(0 <= a < self.k, "inequalities of inputs")
        if isinstance(notion, ClassLifted):
            require(0 <= b < len(self.corners) and notion.source.can_occur[a], "inequalities of inputs that can occur")
            row = {z: -notion.ratio * p for z, p in enumerate(self.corners[b]) if p}
            row[a] = row.get(a, ZERO) + 1
            return row
        require(0 <= b < self.k and a != b, "inequalities of two inputs")
        ratio = notion.ratio_between(a, b) if isinstance(notion, Metrical) else None
        if isinstance(notion, Local) and notion.delta:
            ratio = notion.ratio
        require(ratio is not None, "multipliers where the cone has inequalities")
        return {a: ONE, b: -(ratio or ONE)}

    def reduced(self, i: int, g: Vector) -> Vector:
        """g − Σ f·row over the multipliers of vector i."""
        left = list(g)
        for at, f in self.factors.get(i, {}).items():
            for z, w in self.inequality(*at).items():
                left[z] -= f * w
        return left

    def bound(self, vectors: dict[int, Vector]) -> Fraction:
        """B of the vectors."""
        require(len(vectors) > 0, "at least one vector")
        notion, every = self.notion, list(vectors.values())
        if self.edges:
            return max(map(self._at_root, every))
        if isinstance(notion, Lifted):
            free = [x for x in range(self.k) if not notion.prior[x]]
            return max(map(self._lifted, every)) + _largest([[g[x] for x in free] for g in every])
        if is_pure(notion):
            most = max(ZERO, *map(self._raised, every))
            return most * self.k / (notion.ratio + self.k - 1)
        worth = _largest([self.reduced(i, g) for i, g in vectors.items()])
        return worth + (notion.delta * self._largest_factors(list(vectors)) if isinstance(notion, Local) else ZERO)

    def _largest_factors(self, numbers: Sequence[int]) -> Fraction:
        """Σ_xz max_g f_g(x, z)."""
        largest: dict[tuple[int, int], Fraction] = {}
        for i in numbers:
            for at, f in self.factors.get(i, {}).items():
                largest[at] = max(largest.get(at, ZERO), f)
        return sum(largest.values(), ZERO)

    def never_positive(self, i: int, g: Vector) -> bool:
        """Whether g·q ≤ 0 is shown for all columns, with the multipliers of vector i."""
        notion = self.notion
        if self.edges:
            return self._at_root(g) <= 0
        if isinstance(notion, Lifted):
            return self._lifted(g) <= 0 and all(v <= 0 for v, p in zip(g, notion.prior, strict=True) if not p)
        if is_pure(notion):
            return self._raised(g) <= 0
        return max(g if is_coupled(notion) else self.reduced(i, g)) <= 0

    def _raised(self, g: Vector) -> Fraction:
        """Σg + (E−1)Σg⁺, the largest value on {1, E}^k."""
        whole, below = whole_numbers(g)
        positive = sum(v for v in whole if v > 0)
        return (sum(whole) + (pure_ratio(self.notion, "ε-LDP") - 1) * positive) / below

    def _lifted(self, g: Vector) -> Fraction:
        """max g·q over low ≤ q ≤ E, p·q = 1 on the support: ν + Σ max over {low, E} of (g − νp)·q, at the best ν.

        In whole numbers g = G/below, p = P/mass, ν = mass·G_x/(P_x·below) for an input x.
        """
        notion = of_kind(self.notion, Lifted, "PML or LIP for one prior")
        (whole, below), (weights, mass) = whole_numbers(g), whole_numbers(notion.prior)
        spread = 2 * max(weights).bit_length()  # two quotients G/P differ by 2^-spread, or not at all
        support = sorted((x for x, p in enumerate(weights) if p), key=lambda x: -((whole[x] << spread) // weights[x]))
        left, best = mass * (ONE - notion.low) / (notion.ratio - notion.low), support[-1]
        for x in support:  # raised from low to E in the order of g/p until p·q = 1
            left -= weights[x]
            if left <= 0:
                best = x
                break
        over = [whole[x] * weights[best] - whole[best] * weights[x] for x in support]
        high, low = sum(v for v in over if v > 0), sum(v for v in over if v < 0)
        return (whole[best] * mass + notion.ratio * high + notion.low * low) / (below * weights[best])

    def _at_root(self, g: Vector) -> Fraction:
        """max g·q with q = 1 at the root: from the leaves, a child adds V·F to its parent if V > 0, else V/F."""
        values = list(g)
        for z, x, ratio in reversed(self.edges):
            values[z] += values[x] * ratio if values[x] > 0 else values[x] / ratio
        return values[self.edges[0][0]]
