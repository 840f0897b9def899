"""`sets` about sums of divergences under ε-LDP (§7): a tree decides input by input what a set holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from extremal.checker.goals import DivergenceLeaf, Weighted
from extremal.checker.numbers import (
    ONE,
    ZERO,
    Interval,
    Vector,
    afford,
    dot,
    of_kind,
    require,
    rounded_up,
    shortened,
    total,
    whole_numbers,
)
from extremal.checker.worths import divergence

ROUGH = 10  # bits after the point of ratios that are tried first: few of them, so that most heights are known
MOST_STEPS_OF_TREES = 2**23  # tokens times inputs times divergences: half a minute


def of_sums(
    choices: Vector, trees: Sequence[Sequence[int]], ratio: Fraction, leaves: Sequence[Weighted], alpha: Vector
) -> None:
    """Refuse unless the tree shows that no pattern 1 + c on a set is worth more than α."""
    k = len(alpha)
    require(len(trees) == 1 and sorted(choices) == list(range(k)), "sets of divergences: one tree, every input once")
    afford(len(trees[0]) * k * len(leaves), MOST_STEPS_OF_TREES, "tokens times inputs times divergences")
    order, closing, at = [int(x) for x in choices], ChordsOfPairs(leaves, alpha, rounded_up(ratio, 64) - 1), 0
    nodes: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while nodes:
        depth, taken = nodes.pop()
        require(at < len(trees[0]), "a token for each node")
        token, at = trees[0][at], at + 1
        require(token in (-1, 0), "a token is −1 or 0")
        if token == 0:
            require(closing.closes(taken, order[depth:]), "a node that chords close")
            continue
        require(depth < k, "an input to branch on")
        nodes += [(depth + 1, taken), (depth + 1, taken | {order[depth]})]
    require(at == len(trees[0]), "all tokens are used")


class ChordsOfPairs:
    """Between the least and the largest v_i/v_j below a node, v_i = 1 + c·P_i(T), divergences lie below their chord."""

    def __init__(self, leaves: Sequence[Weighted], alpha: Vector, c: Fraction) -> None:
        terms = [
            (weight, of_kind(leaf, DivergenceLeaf, "sets: information alone, or divergences"))
            for weight, leaf in leaves
        ]
        self.rows = list(dict.fromkeys(p for _, leaf in terms for p in (leaf.p0, leaf.p1)))
        self.alpha, self.c = alpha, c
        self.pairs: dict[tuple[int, int], list[Any]] = {}
        for weight, leaf in terms:
            i, j = self.rows.index(leaf.p0), self.rows.index(leaf.p1)
            self.pairs.setdefault((min(i, j), max(i, j)), []).append((weight, leaf.kind, leaf.parameter, i > j))
        self.known: dict[tuple[tuple[int, int], Fraction], Fraction] = {}
        self.wholes = {(i, j): whole_numbers([ONE / c, *self.rows[i], *self.rows[j]])[0] for i, j in self.pairs}

    def closes(self, taken: frozenset[int], free: Sequence[int]) -> bool:
        """Whether no pattern below the node is worth more than its price, by rough ends or by the true ones."""
        v = [1 + self.c * total([row[x] for x in taken]) for row in self.rows]
        price = total(self.alpha) + self.c * total([self.alpha[x] for x in taken])
        found = {pair: (self.end(pair, taken, free, 1), self.end(pair, taken, free, -1)) for pair in self.pairs}
        rough = {pair: (rounded_up(top, ROUGH), -rounded_up(-low, ROUGH) or low) for pair, (top, low) in found.items()}
        return self.most(v, free, rough) <= price or self.most(v, free, found) <= price

    def most(
        self, v: Vector, free: Sequence[int], ranges: dict[tuple[int, int], tuple[Fraction, Fraction]]
    ) -> Fraction:
        """The sum of the chords, open inputs taken where they gain more than they cost."""
        lines = [ZERO] * len(v)
        for (i, j), (top, low) in ranges.items():
            high = self.height((i, j), top)
            slope = (high - self.height((i, j), low)) / (top - low) if top > low else ZERO
            lines[i], lines[j] = lines[i] + shortened(slope), lines[j] + shortened(high - slope * top)
        gains = [dot(lines, [row[x] for row in self.rows]) - self.alpha[x] for x in free]
        return dot(lines, v) + self.c * total([gain for gain in gains if gain > 0])

    def end(self, pair: tuple[int, int], taken: frozenset[int], free: Sequence[int], sign: int) -> Fraction:
        """The largest ratio (sign 1) or the smallest: inputs join while they move it that way."""
        one, *both = self.wholes[pair]
        mine, theirs = both[: len(self.alpha)], both[len(self.alpha) :]
        first, second = one + sum(mine[x] for x in taken), one + sum(theirs[x] for x in taken)
        a, b = first, second
        while True:
            joined = [x for x in free if sign * (mine[x] * b - a * theirs[x]) > 0]
            new = first + sum(mine[x] for x in joined), second + sum(theirs[x] for x in joined)
            if new[0] * b == a * new[1]:
                return Fraction(a, b)
            a, b = new

    def height(self, pair: tuple[int, int], ratio: Fraction) -> Fraction:
        """A number above the divergences of a pair at a ratio, for v_j = 1."""
        if (pair, ratio) not in self.known:
            found = ZERO
            for weight, kind, parameter, turned in self.pairs[pair]:
                part = divergence(kind, ONE, ratio, parameter) if turned else divergence(kind, ratio, ONE, parameter)
                found += weight * of_kind(part, Interval, "a finite height").high
            self.known[pair, ratio] = shortened(found)
        return self.known[pair, ratio]
