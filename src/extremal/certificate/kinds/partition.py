"""The theorem of sorted partitions: f-divergences under ε-LDP on alphabets of any size.

*Assumes*: for every f-divergence some optimal ε-LDP mechanism is randomised response on a partition of the symbols
into blocks contiguous in likelihood ratio (E. Ghazi, Sort, Partition, Randomize, arXiv 2606.07443, 2026). L blocks B
are worth Σμ(B)/(L−1+E), μ(B) = M₁f(M₀/M₁) with M_i = 1 + (E−1)P_i(B).

*Checks*: symbols are gathered in cells, each between the ratios of two named symbols, cells in order of ratio.
Replacing the symbols of a cell by two at its end ratios with the same total mass makes the hypotheses easier to tell
apart (the symbols are a random function of those two), so the optimum for the new pair is no smaller. For any V ≥ 0:
if every path from the first node to the last one satisfies Σ(μ(B) − V) ≤ (E−1)V + g, no partition is worth more than
V + g⁺/(1+E). Paths are bounded by the recursion over nodes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from flint import arb, ctx, fmpq

from extremal.certificate.arithmetic.cones import Staircase, staircase_of
from extremal.certificate.arithmetic.enclosures import PairRule, leaves_of, pair_rule, rational, upper
from extremal.certificate.kinds.dual import mixture
from extremal.certificate.proof import Number, Numbers, Pairs, Proof
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import Divergence, Utility
from extremal.utility.pair import Pair

MOST_CELLS = 1_500  # the recursion takes the square of that many steps
KEY_BITS = 62
Node = tuple[Any, Any]  # what two hypotheses give to some symbols
Bound = Fraction | float
PATH_BITS = 128  # of differences of nodes; a bound is rounded up, so more bits would only make it longer


@dataclass(frozen=True)
class Partition(Proof):
    """Fields: value, a number V ≥ 0 (the bound is smallest when it is the optimum); cells, pairs of symbols in order
    of likelihood ratio: a cell holds the symbols whose ratio lies between those of its two, and every symbol must be
    in one.
    """

    kind: ClassVar[str] = "partition"
    value: Number
    cells: Pairs

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        pair = pair_of(utility)
        return longest_path(staircase_of(privacy, utility.k), pair_rule(utility), *_nodes(pair, self.cells), self.value)


@dataclass(frozen=True)
class MeanPartition(Proof):
    """The theorem for a mean of divergences of one pair, which is one f-divergence: with the hypotheses exchanged, D_f
    is that of x·f(1/x). The least of several parts is at most any mean of them.

    Fields: mix, as for `Rays`; value and cells, as for `Partition`, the first divergence of positive weight saying
    which hypothesis is the first.
    """

    kind: ClassVar[str] = "partition of a mean"
    mix: Numbers
    value: Number
    cells: Pairs

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        parts = zip(leaves_of(utility), mixture(self.mix, utility), strict=True)
        weighed = [(leaf, pair_of(leaf), arb(weight)) for leaf, weight in parts if weight]
        pair = weighed[0][1]
        rules = [_oriented(leaf, own, pair, weight) for leaf, own, weight in weighed]
        return longest_path(
            staircase_of(privacy, utility.k),
            lambda x, y, z: sum((rule(x, y, z) for rule in rules), arb(0)),
            *_nodes(pair, self.cells),
            self.value,
        )


def pair_of(utility: Utility) -> Pair:
    """The hypotheses of a divergence; anything else is refused."""
    if not isinstance(utility, Divergence):
        raise Refused("the theorem is about f-divergences", parameter="utility", value=utility.name)
    return utility.pair


def _oriented(leaf: Utility, own: Pair, pair: Pair, weight: Any) -> PairRule:
    """A weighed divergence between the hypotheses of a pair, in either direction."""
    rule, (p0, p1) = pair_rule(leaf), (own.p0, own.p1)
    if p0.weights == pair.p0.weights and p1.weights == pair.p1.weights:
        return lambda x, y, z: weight * rule(x, y, z)
    if p0.weights == pair.p1.weights and p1.weights == pair.p0.weights:
        return lambda x, y, z: weight * rule(y, x, -z)
    raise Refused("the divergences must be of one pair", parameter="utility", value=leaf.name)


def longest_path(cone: Staircase, rule: PairRule, nodes: list[Node], whole: int, value: Fraction) -> Bound:
    """V + g⁺/(1+E) for the nodes of a polygon, which are to be divided by `whole`."""
    if value < 0:
        raise Refused("V must be ≥ 0", parameter="value", value=value)
    with ctx.workprec(PATH_BITS + whole.bit_length()):  # differences of nodes are multiples of 1/whole: none is lost
        step, v = arb(cone.top - 1), arb(rational(value))
        points = [(step * arb(x / whole), step * arb(y / whole), step * arb((x - y) / whole)) for x, y in nodes]
    with ctx.workprec(PATH_BITS):
        # μ is subadditive: symbols that are added to a block are worth at most as much as by themselves. So a path to i
        # and then to j is worth at most what it was at an earlier j, plus what lies between: `known` less `alone`.
        longest, known, alone, before = [arb(0)], [arb.pos_inf()], arb(0), 0
        for j in range(1, len(points)):
            x, y, z = points[j]
            a, b, c = points[j - 1]
            alone, best, limit = alone + rule(x - a, y - b, z - c), arb.neg_inf(), arb.neg_inf()
            if not alone.is_finite():  # symbols that are worth infinitely much by themselves: nothing is known any more
                alone, known = arb(0), [arb.pos_inf()] * j
            x, y = 1 + x, 1 + y
            for i in (before, *range(j)):
                if known[i] <= limit:
                    continue
                a, b, c = points[i]
                path = (longest[i] + rule(x - a, y - b, z - c)).upper()
                known[i] = path - alone
                if not path <= best:
                    best, before = arb.pos_inf() if path.is_nan() else path, i
                    limit = best - alone
            longest.append((best - v).upper())
            known.append(arb.pos_inf())
        gap = longest[-1] - v * step
        return upper(v + gap.max(arb(0)) / arb(cone.top + 1))


def turning_points(ends: Sequence[tuple[Node, Node]], masses: Sequence[Node]) -> list[Node]:
    """The nodes of the polygon around the curve of cells with the given ratios at their ends and masses in between.

    Only where the polygon turns: μ is convex, so that a cut on a straight line is worth no more than at one of its two
    ends, and an empty block is worth nothing.
    """
    nodes, x, y = [(fmpq(0), fmpq(0))], fmpq(0), fmpq(0)
    for c, ((first, last), (mass0, mass1)) in enumerate(zip(ends, masses, strict=True)):
        turn = first[1] * last[0] - first[0] * last[1]
        if turn > 0:  # the part of the cell's mass that sits at its first ratio
            share = fmpq(mass1 * last[0] - mass0 * last[1], turn)
            nodes.append((x + share * first[0], y + share * first[1]))
        x, y = x + mass0, y + mass1
        if c == len(ends) - 1 or last[0] * ends[c + 1][0][1] != last[1] * ends[c + 1][0][0]:
            nodes.append((x, y))
    return nodes


def _nodes(pair: Pair, cells: Pairs) -> tuple[list[Node], int]:
    """The nodes (P₀, P₁ to the left of it) of the polygon, times the integer that is returned too."""
    p0, p1 = pair.p0, pair.p1
    if not 1 <= len(cells) <= MOST_CELLS or any(not 0 <= x < len(pair) for cell in cells for x in cell):
        raise Refused(
            f"there must be 1 to {MOST_CELLS} cells between symbols that exist",
            parameter="len(cells)",
            value=len(cells),
        )
    u, v = p0.weights, p1.weights
    ends = [((u[a], v[a]), (u[b], v[b])) for a, b in cells]
    edges = [end for cell in ends for end in cell]
    if any(_sign(a, b) > 0 for a, b in pairwise(edges)) or (0, 0) in edges:
        raise Refused("cells must be in order of likelihood ratio", parameter="cells", value=cells[:4])
    nodes = turning_points(ends, _gathered(u, v, ends))
    return [(x * p1.total, y * p0.total) for x, y in nodes], p0.total * p1.total


def _sign(a: tuple[int, int], b: tuple[int, int]) -> int:
    """Negative when the ratio of a is smaller than that of b: by cross products, never by division."""
    difference = a[0] * b[1] - b[0] * a[1]
    return (difference > 0) - (difference < 0)


def _gathered(weights0: Sequence[int], weights1: Sequence[int], ends: list[Any]) -> Any:
    """The two masses of each cell; every symbol is proved to lie in its cell.

    The key of a symbol never decreases with its ratio: a symbol whose key is strictly between those of a cell's ends is
    inside; where keys are equal, cross products decide.
    """
    u, v = np.array(weights0, dtype=object), np.array(weights1, dtype=object)
    used = (u + v) > 0
    u, v = u[used], v[used]
    more = sum(weights1).bit_length() - sum(weights0).bit_length()  # weights of one size make keys that differ
    up, down = max(0, more), max(0, -more)
    key = ((u << up + KEY_BITS) // ((u << up) + (v << down))).astype(np.int64)
    first, last = (
        np.array([(a << up + KEY_BITS) // ((a << up) + (b << down)) for a, b in side], dtype=np.int64)
        for side in zip(*ends, strict=True)
    )
    cell = np.maximum(np.searchsorted(first, key, side="right") - 1, 0)
    for x in np.flatnonzero((key <= first[cell]) | (key >= last[cell])).tolist():
        symbol = (u[x], v[x])
        cell[x] = place = max(bisect_right(ends, 0, key=lambda end: _sign(end[0], symbol)) - 1, 0)
        if _sign(ends[place][0], symbol) > 0 or _sign(symbol, ends[place][1]) > 0:
            raise Refused("every symbol must lie in a cell", parameter="symbol", value=int(x))
    sums = np.zeros((len(ends), 2), dtype=object)
    np.add.at(sums, cell, np.column_stack([u, v]))
    return sums.tolist()
