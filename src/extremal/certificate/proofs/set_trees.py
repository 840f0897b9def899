"""The tree over sets for sums of divergences between several distributions under ε-LDP.

A pattern is 1 + c on a set T of inputs, c = E − 1, and v_i = 1 + c·P_i(T) is what distribution i makes of it. A tree
decides input by input, in the order that the proof names, what is in T. Below a node the ratio v_i/v_j of each pair
lies between two numbers, which are found exactly, and between them a convex function lies below its chord. The chords
of all pairs add up to one linear function of the pattern; what is open is taken where that gains more than it costs.
The node is closed when even so no pattern is worth more than its price (docs/design/proofs.md, `sets`). Coefficients
are whole multiples of 2^-SCALE, rounded up, which only raises what they multiply: v > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from flint import arb, fmpq

from extremal.certificate.arithmetic.cones import Staircase, Vector
from extremal.certificate.arithmetic.enclosures import PairRule, finite_above, pair_rule, pair_value
from extremal.certificate.proof import Refused
from extremal.certificate.proofs.dual import RATIO_BITS, SumWorth
from extremal.exact import Prior
from extremal.problem import PairGoal

SCALE = 200  # bits after the point of coefficients
COARSE = 10  # bits after the point of ratios that are tried first: few of them, so that most chords are known
BRANCH, CLOSED = -1, 0  # tokens

Ratio = tuple[int, int]  # of two positive whole numbers
Node = tuple[int, tuple[int, ...], int]  # inputs decided; of those taken the weight in each distribution, and the price


class SumTree:
    """The replay of a tree."""

    def __init__(self, worth: SumWorth, leaves: Sequence[PairGoal], alpha: Vector, cone: Staircase) -> None:
        self.unit = 1 << RATIO_BITS
        self.c = int((cone.top * self.unit).ceil()) - self.unit  # over unit: a slightly larger cone
        self.priors: list[Prior] = []
        parts: dict[tuple[int, int], list[tuple[arb, PairRule, bool]]] = {}
        for leaf, weight in zip(leaves, worth.weights, strict=True):
            if weight:
                i, j = self._place(leaf.p0), self._place(leaf.p1)
                parts.setdefault((min(i, j), max(i, j)), []).append((arb(weight), pair_rule(leaf), i > j))
        self.pairs = list(parts.items())
        self.scaled = [self.unit * p.total for p in self.priors]  # what v_i is counted in
        entries = alpha.entries
        self.all_paid = sum((a << SCALE) // alpha.unit for a in entries)
        self.paid = [(self.c * a << SCALE) // (self.unit * alpha.unit) for a in entries]  # rounded down: harder
        self.height = cache(self._height)

    def _place(self, prior: Prior) -> int:
        if prior not in self.priors:
            self.priors.append(prior)
        return self.priors.index(prior)

    def run(self, order: Sequence[int], tokens: Sequence[int]) -> None:
        """Refuse unless the tree closes all of its nodes."""
        if sorted(order) != list(range(len(self.paid))):
            raise Refused("choices must name every input once", "choices", len(order))
        gains = [tuple(p.weights[x] for p in self.priors) for x in order]
        stack: list[Node] = [(0, (0,) * len(self.priors), 0)]
        for token in tokens:
            if not stack:
                raise Refused("a tree must end where its nodes are all closed", "tree", len(tokens))
            depth, inside, price = stack.pop()
            if token == CLOSED:
                self._close(inside, price, order[depth:])
            elif token == BRANCH and depth < len(order):
                taken = tuple(a + b for a, b in zip(inside, gains[depth], strict=True))
                stack += [(depth + 1, inside, price), (depth + 1, taken, price + self.paid[order[depth]])]
            else:
                raise Refused("a node branches on the next input or is closed", "token", token)
        if stack:
            raise Refused("a tree must close all of its nodes", "tree", len(stack))

    def _close(self, inside: tuple[int, ...], price: int, free: Sequence[int]) -> None:
        at = [s + self.c * w for s, w in zip(self.scaled, inside, strict=True)]
        ends = [(self._end(at, i, j, free, 1), self._end(at, i, j, free, -1)) for (i, j), _ in self.pairs]
        wide = [(_coarse(*top, 1), _coarse(*low, -1)) for top, low in ends]
        if (
            self._excess(at, free, wide) - price > self.all_paid
            and self._excess(at, free, ends) - price > self.all_paid
        ):
            raise Refused("a node of the tree is not closed by its chords", "open", len(free))

    def _excess(self, at: list[int], free: Sequence[int], ends: Sequence[tuple[Ratio, Ratio]]) -> int:
        """The most that the chords make of a pattern below the node, less what its open inputs cost; rounded up."""
        slopes = [0] * len(self.priors)
        for name, ((i, j), _) in enumerate(self.pairs):
            top, low = (fmpq(*end) for end in ends[name])
            high = self.height(name, top)
            slope = (high - self.height(name, low)) / (top - low) if top > low else fmpq(0)
            slopes[i] += int((slope * (1 << SCALE)).ceil())
            slopes[j] += int(((high - slope * top) * (1 << SCALE)).ceil())
        lines = list(zip(slopes, self.scaled, self.priors, strict=True))
        found = sum(_up(s * v, unit) for v, (s, unit, _) in zip(at, lines, strict=True))
        for x in free:
            gain = sum(_up(s * self.c * p.weights[x], unit) for s, unit, p in lines)
            found += max(0, gain - self.paid[x])
        return found

    def _end(self, at: list[int], i: int, j: int, free: Sequence[int], sign: int) -> Ratio:
        """The largest v_i/v_j below a node, or the smallest: a ratio of linear functions, raised until it stays."""
        mine, theirs = self.priors[i], self.priors[j]
        a, b = at[i] * theirs.total, at[j] * mine.total
        steps = [(self.c * mine.weights[x] * theirs.total, self.c * theirs.weights[x] * mine.total) for x in free]
        top, bottom = a, b
        while True:
            taken = [(s, t) for s, t in steps if sign * (s * bottom - top * t) > 0]
            new = a + sum(s for s, _ in taken), b + sum(t for _, t in taken)
            if new[0] * bottom == top * new[1]:
                return top, bottom
            top, bottom = new

    def _height(self, name: int, ratio: fmpq) -> fmpq:
        """At or above the divergences of a pair at a ratio, for v_j = 1."""
        one, found = fmpq(1), arb(0)
        for weight, rule, turned in self.pairs[name][1]:
            found += weight * (pair_value(rule, one, ratio) if turned else pair_value(rule, ratio, one))
        return finite_above(found)


def _coarse(top: int, bottom: int, sign: int) -> Ratio:
    """A ratio beyond, with few bits; itself where those are none."""
    found = sign * _up(sign * top << COARSE, bottom)
    return (found, 1 << COARSE) if found else (top, bottom)


def _up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
