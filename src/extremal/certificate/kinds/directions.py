"""Several hypotheses under ε-LDP: simplices of directions, and on each a linear function above all divergences.

A sum of divergences between m distributions depends on a column q only through v = (P_1·q, …, P_m·q), and as a function
Φ(v) it is convex and homogeneous. On a cone over a simplex with vertices v_1, …, v_m therefore Φ(v) ≤ λ·v, where
λ·v_i = Φ(v_i): what is left for a dual vector α is a linear function of q, whose largest value under ε-LDP is known.
The directions that occur have v_i ≤ E·v_j. They are covered by one cone for each order of the coordinates,

    v_σ1 ≥ v_σ2 ≥ … ≥ v_σm ≥ v_σ1/E,   with vertices the constant and the patterns that are E on σ1, …, σj and 1 after,

and each is cut into smaller ones at midpoints of edges, as the proof says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import lcm, prod
from typing import Any, ClassVar

from flint import arb, fmpq, fmpq_mat, fmpz_mat

from extremal.certificate.arithmetic.cones import Vector, staircase_of
from extremal.certificate.arithmetic.enclosures import above, fraction, leaves_of, pair_rule, pair_value
from extremal.certificate.kinds.dual import dual_vector, mixture
from extremal.certificate.kinds.partition import pair_of
from extremal.certificate.proof import Numbers, Proof, Trees
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.privacy import Notion
from extremal.utility import Utility

MOST_DISTRIBUTIONS = 6
MOST_TOKENS = 1 << 20
MOST_ENTRIES = 1 << 26  # tokens times inputs
ROOT_BITS = 16  # of the E that bounds the directions, rounded up: a larger cone, of short numbers
SLOPE_BITS = 160  # of λ, rounded up: v ≥ 0, so λ·v only grows

Vertex = tuple[int, ...]  # how often it was halved, and m integers: to be divided by 2 as often, and by a common number
Value = Callable[[Vertex], Any]


@dataclass(frozen=True)
class Directions(Proof):
    """OPT ≤ Σα + k·max(0, max over cells of [Σg + (E−1)Σg⁺])/(E+k−1), g = Σ_i λ_i·P_i − α.

    Fields: alpha, one number an input. mix, as for `Rays`. trees, one for each order of the distributions of positive
    weight, lexicographically (distributions numbered as they first occur): tokens depth first, −1 for a cell, i ≥ 0 for
    a cut at the middle of edge i, edges (a, b), a < b, lexicographically; first comes the part in which the middle
    takes the place of a.
    """

    kind: ClassVar[str] = "directions"
    alpha: Numbers
    mix: Numbers
    trees: Trees

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        cone = staircase_of(privacy, utility.k)
        if cone.top == 1:
            raise Refused("directions need ε > 0", parameter="privacy", value=privacy)
        alpha, mix = dual_vector(self.alpha, utility), mixture(self.mix, utility)
        priors, value = _sum_of_divergences(utility, mix)
        m, tokens = len(priors), sum(map(len, self.trees))
        if m > MOST_DISTRIBUTIONS or tokens > MOST_TOKENS or tokens * utility.k > MOST_ENTRIES:
            raise Refused("too many distributions or cells", parameter="trees", value=(m, tokens))
        if len(self.trees) != prod(range(1, m + 1)):
            raise Refused("there must be a tree for each order", parameter="len(trees)", value=len(self.trees))
        known: dict[Vertex, Any] = {}
        excess, vectors = _Excess(priors, alpha), []
        for order, tree in zip(permutations(range(m)), self.trees, strict=True):
            for cell in _cells(_root(order, cone.top), tree):
                for vertex in cell:
                    if vertex not in known:
                        known[vertex] = value(vertex)
                vectors.append(excess.of(cell, [known[vertex] for vertex in cell]))
        return fraction(alpha.total + cone.excess(vectors, ()))


def _sum_of_divergences(utility: Utility, mix: Sequence[Any]) -> tuple[list[Prior], Value]:
    """The distributions that count, and a rational at or above Φ at a vertex."""
    priors: list[Prior] = []
    parts: list[tuple[Any, ...]] = []
    for leaf, weight in zip(leaves_of(utility), mix, strict=True):
        pair, rule = pair_of(leaf), pair_rule(leaf)
        if weight:
            places = []
            for prior in (pair.p0, pair.p1):
                same = (i for i, p in enumerate(priors) if p.weights == prior.weights)
                places.append(next(same, len(priors)))
                if places[-1] == len(priors):
                    priors.append(prior)
            parts.append((arb(weight), rule, *places))

    def value(vertex: Vertex) -> Any:
        v = [fmpq(x) for x in vertex[1:]]
        return above(sum((w * pair_value(rule, v[a], v[b]) for w, rule, a, b in parts), arb(0)))

    return priors, value


def _root(order: Sequence[int], top: Any) -> list[Vertex]:
    """The vertices of the cone of an order, all scaled to the same sum; E is rounded up."""
    whole = -((-int(top.p) << ROOT_BITS) // int(top.q))
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
    edges = list(combinations(range(len(root)), 2))
    stack = [root]
    for token in tree:
        if not stack or not -1 <= token < len(edges):
            raise Refused("a tree must end where its cells do", parameter="token", value=token)
        cell = stack.pop()
        if token < 0:
            yield cell
            continue
        ends = edges[token]
        middle = _middle(*(cell[end] for end in ends))
        stack += [[middle if i == end else v for i, v in enumerate(cell)] for end in reversed(ends)]
    if stack:
        raise Refused("a tree must cover its cone", parameter="cells missing", value=len(stack))


class _Excess:
    """g = Σ λ_i·P_i − α of a cell as integers over a denominator, λ·v ≥ Φ(v) at each of its vertices."""

    def __init__(self, priors: list[Prior], alpha: Vector) -> None:
        whole, common = alpha
        total = lcm(*(p.total for p in priors))
        rows = [w * (total // p.total) * common for p in priors for w in p.weights]
        self.rows = fmpz_mat(len(priors), len(whole), rows)
        self.offset = fmpz_mat(1, len(whole), [a * total << SLOPE_BITS for a in whole])
        self.unit = total * common << SLOPE_BITS

    def of(self, cell: list[Vertex], heights: list[Any]) -> Vector:
        m = len(cell)
        slopes = fmpq_mat(m, m, [x for v in cell for x in v[1:]]).solve(fmpq_mat(m, 1, heights))
        up = [(int(slope.p) << SLOPE_BITS) // int(slope.q) + 1 for slope in slopes.entries()]
        return Vector([int(g) for g in (fmpz_mat(1, m, up) * self.rows - self.offset).entries()], self.unit)
