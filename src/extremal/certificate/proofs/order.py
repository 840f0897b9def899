"""The theorem of sorted partitions: divergences of one pair under ε-LDP on alphabets of any size.

*Assumes*: for every f-divergence some optimal ε-LDP mechanism is randomised response on a partition of the symbols
into blocks contiguous in likelihood ratio (E. Ghazi, Sort, Partition, Randomize, arXiv 2606.07443, 2026). The symbols
of a cell between two ratios are replaced by two at its ends, and partitions are bounded by a recursion over the nodes
of the polygon so made: docs/design/proofs.md, `order`, says why.

A symbol of weights a, b has the key floor(2^KEY_BITS·a/b), the end p/q that of its own ratio in weights. Keys never
decrease with the ratio, so a key unlike every key of an end decides the side; what has the key of an end is compared
exactly. Floats are divided in 64-bit integers (`exact.quotients`) to the same end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from extremal.certificate.arithmetic.cones import Staircase, staircase_of
from extremal.certificate.arithmetic.enclosures import PairRule, rational, upper
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.proofs.chords import one_pair
from extremal.certificate.proofs.dual import mixture
from extremal.certificate.reading import Number, Numbers
from extremal.exact import Prior
from extremal.exact.quotients import reached
from extremal.problem import Goal, Privacy

MOST_CELLS = 1_500  # with mass: the recursion takes the square of that many steps
MOST_ENDS = 2 * MOST_CELLS  # two for each cell, where gaps lie between them
KEY_BITS = 62  # of a ratio, in a 64-bit integer
SMALLEST, LARGEST = Fraction(1, 10**200), Fraction(10**200)  # of ends
CHUNK = 1 << 18  # symbols at a time
PATH_BITS = 128  # of differences of nodes; a bound is rounded up, so more bits would only make it longer

Node = tuple[fmpq, fmpq]  # what two hypotheses give to some symbols
Direction = tuple[int, int]  # a likelihood ratio


@dataclass(frozen=True)
class Order(Proof):
    """Fields: mix, as for `Dual`, the first divergence of positive weight saying which hypothesis is the first. value,
    a number V ≥ 0 (the bound is smallest when it is the optimum). ends, increasing numbers > 0: cell i holds the
    symbols with P₀/P₁ between ends i−1 and i, the first those from 0 on, the last those up to infinity.
    """

    kind: ClassVar[str] = "order"
    value: Number
    ends: Numbers
    mix: Numbers = ()

    def work(self, privacy: Privacy, goal: Goal) -> int:
        return 3 * len(self.ends) ** 2

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        cone, (p0, p1, rule) = staircase_of(privacy, goal.k), one_pair(goal, mixture(self.mix, goal))
        if not 1 <= len(self.ends) <= MOST_ENDS:
            raise Refused(f"there must be 1 to {MOST_ENDS} ends", "len(ends)", len(self.ends))
        if self.ends[0] < SMALLEST or self.ends[-1] > LARGEST or any(a >= b for a, b in pairwise(self.ends)):
            raise Refused("ends must increase, between 1e-200 and 1e200", "ends", len(self.ends))
        if self.value < 0:
            raise Refused("V must be ≥ 0", "value", str(self.value)[:20])
        cell = _cells(p0, p1, self.ends)
        (sums0, total0), (sums1, total1) = (p.masses(cell, len(self.ends) + 1) for p in (p0, p1))
        masses = [(a * total1, b * total0) for a, b in zip(sums0, sums1, strict=True)]
        return _longest_path(cone, rule, self._nodes(masses), total0 * total1, rational(self.value))

    def _nodes(self, masses: list[Direction]) -> list[Node]:
        """The polygon around the curve of cells with these masses."""
        directions = [(0, 1), *((end.numerator, end.denominator) for end in self.ends), (1, 0)]
        filled = [(ends, mass) for ends, mass in zip(pairwise(directions), masses, strict=True) if any(mass)]
        if len(filled) > MOST_CELLS:
            raise Refused(f"there may be {MOST_CELLS} cells with mass", "cells", len(filled))
        return _turning_points([ends for ends, _ in filled], [mass for _, mass in filled])


def _longest_path(cone: Staircase, rule: PairRule, nodes: list[Node], whole: int, value: fmpq) -> Bound:
    """V + g⁺/(1+E) for the nodes of a polygon, which are to be divided by `whole`."""
    with ctx.workprec(PATH_BITS + whole.bit_length()):  # differences of nodes are multiples of 1/whole: none is lost
        step, v = arb(cone.top - 1), arb(value)
        unit = step / whole
        points = [(unit * arb(x), unit * arb(y), unit * arb(x - y)) for x, y in nodes]
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


def _turning_points(ends: Sequence[tuple[Direction, Direction]], masses: Sequence[Direction]) -> list[Node]:
    """The nodes of the polygon around the curve of cells with the given ratios at their ends and masses in between.

    Only where the polygon turns: μ is convex, so that a cut on a straight line is worth no more than at one of its two
    ends, and an empty block is worth nothing.
    """
    nodes, x, y = [(fmpq(0), fmpq(0))], fmpq(0), fmpq(0)
    for c, ((first, last), (mass0, mass1)) in enumerate(zip(ends, masses, strict=True)):
        turn = first[1] * last[0] - first[0] * last[1]
        share = fmpq(mass1 * last[0] - mass0 * last[1], turn)  # the part of the cell's mass at its first ratio
        nodes.append((x + share * first[0], y + share * first[1]))
        x, y = x + mass0, y + mass1
        if c == len(ends) - 1 or last[0] * ends[c + 1][0][1] != last[1] * ends[c + 1][0][0]:
            nodes.append((x, y))
    return nodes


def _cells(p0: Prior, p1: Prior, ends: Numbers) -> npt.NDArray[np.int16]:
    """For each symbol the number of the cell that its ratio lies in, decided in integers."""
    if p0.binary is not None and p1.binary is not None:
        scale = p0.sum_of_values / p1.sum_of_values
        return reached(p0.binary, p1.binary, [end * scale for end in ends])
    weights0, weights1 = p0.weights, p1.weights
    limits = [(end.numerator * p0.total, end.denominator * p1.total) for end in ends]  # a/b against these decides
    keys = np.array([(above << KEY_BITS) // below for above, below in limits], dtype=object)
    cell = np.empty(len(p0), dtype=np.int16)
    for start in range(0, len(p0), CHUNK):
        stop = min(start + CHUNK, len(p0))
        a, b = (np.array(w[start:stop], dtype=object) for w in (weights0, weights1))
        never = b == 0  # the ratio is infinite, or the symbol has no mass
        key = (a << KEY_BITS) // np.where(never, 1, b)
        found = np.searchsorted(keys, key, side="right")
        for x in np.flatnonzero(found != np.searchsorted(keys, key, side="left")).tolist():
            if not never[x]:
                found[x] = _below(limits, a[x], b[x])
        found[never] = len(ends)
        cell[start:stop] = found
    return cell


def _below(limits: list[Direction], a: int, b: int) -> int:
    """How many of the increasing limits are at most a/b."""
    return bisect_right(limits, False, key=lambda limit: limit[0] * b > limit[1] * a)
