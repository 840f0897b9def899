"""One statistic: the best column is found along a line.

For W = vvᵀ a proof needs only g with g·1 = 0: (g·v)² ≤ F(Q)·gᵀMg, and gᵀJg = Σ_y (g·q_y)²/m_y. Since (g·q)²/m = max_τ
(2τ g·q − τ²m), the inequality (g·q)²/m ≤ α·q + t·m for all q ∈ [1, E]^k says that for every real τ

    φ(τ) = min_q Σ_x q_x·u_x(τ) = Σ_x min(u_x, E·u_x) ≥ 0,        u_x(τ) = p_x τ² − 2g_x τ + α_x + t·p_x.

The line is cut on both sides of each of the 2k roots. On a piece [a, b] a u_x of constant sign counts as it is; one
that may change sign as E·u − (E−1)·max(0, u(a), u(b)), which is below min(u, E·u). The sum is a quadratic, whose least
value on the piece is exact; if φ ≥ −η everywhere then t + η does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from extremal.certificate.arithmetic.whole import Integers
from extremal.certificate.kinds.workload import RATIO_BITS, exact_problem, upper_ratio
from extremal.certificate.proof import Counts, Proof, Whole, Wholes
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import Utility
from extremal.utility.workload import RESOLUTION

CUT_BITS = 96  # of the largest vertex: how finely the line is cut


@dataclass(frozen=True)
class LineSweep(Proof):
    """F ≥ (g·v)²/(α·1 + t + η + ρ·|g|²) for one statistic v.

    Fields: g, all but its last entry, which makes the sum zero; alpha, α in units of g²; level, t in units of g²;
    groups, for merged inputs the group of each, else empty.
    """

    kind: ClassVar[str] = "line sweep"
    g: Wholes
    alpha: Wholes
    level: Whole
    groups: Counts = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction:
        high = upper_ratio(privacy)
        problem = exact_problem(utility, self.groups)
        k = problem.k
        if len(self.g) != k - 1 or len(self.alpha) != k:
            raise Refused(f"g and alpha must be about {k} inputs", parameter="len(alpha)", value=len(self.alpha))
        g = [*self.g, -sum(self.g)]
        column = _single(problem.gram)
        # W = vvᵀ/denominator, and v = gram[:, x]/√gram[x, x]: (g·v)² = (g·gram[:, x])²/gram[x, x]
        along = sum(a * int(w) for a, w in zip(g, problem.gram[:, column], strict=True))
        # total·u_x(τ) = w_x·τ² − 2·total·g_x·τ + total·α_x + level·w_x
        total, weights = problem.total, problem.weights
        lines = _Lines(
            weights,
            -2 * total * np.array(g, dtype=object),
            total * np.array(self.alpha, dtype=object) + self.level * weights,
        )
        level = sum(self.alpha) + self.level + lines.shortfall(high) / total
        cost = level + RESOLUTION * sum(a * a for a in g)
        if cost <= 0 or not along:
            raise Refused("the proof must give a positive bound", parameter="level", value=self.level)
        return Fraction(along**2, int(problem.gram[column, column]) * problem.denominator) / cost


def _single(gram: Integers) -> int:
    """The place of the largest diagonal entry of W = vvᵀ; refused when W has another rank."""
    x = max(range(gram.shape[0]), key=lambda i: int(gram[i, i]))
    if not gram[x, x] or not (np.outer(gram[:, x], gram[:, x]) == gram * gram[x, x]).all():
        raise Refused("the line is swept for one statistic only", parameter="utility", value="several statistics")
    return x


class _Lines:
    """The quadratics a·τ² + b·τ + c, a ≥ 0, one for each input, in integers; τ = T/2^s with T an integer."""

    def __init__(self, a: Integers, b: Integers, c: Integers) -> None:
        largest = max((abs(int(y)) // (2 * int(x)) for x, y in zip(a, b, strict=True) if x), default=1)
        self.shift = max(0, CUT_BITS - largest.bit_length())
        self.a, self.b, self.c = a, b << self.shift, c << 2 * self.shift  # times 4^s

    def shortfall(self, high: int) -> Fraction:
        """η ≥ 0 with φ ≥ −η on the whole line, for the ratio high/2^RATIO_BITS."""
        cuts = self._cuts()
        ends = [self._at(cut) for cut in cuts]
        worst = min(self._beyond(cuts[0], ends[0], -1, high), self._beyond(cuts[-1], ends[-1], 1, high))
        for i in range(len(cuts) - 1):
            worst = min(worst, self._least(cuts[i], cuts[i + 1], ends[i], ends[i + 1], high))
        return Fraction(max(0, -worst), 1 << (RATIO_BITS + 2 * self.shift))

    def _cuts(self) -> list[int]:
        """Integers on both sides of every root (or vertex), and one beyond them on either side; any cuts would do."""
        found: set[int] = set()
        for a, b, c in zip(self.a.tolist(), self.b.tolist(), self.c.tolist(), strict=True):
            square = b * b - 4 * a * c
            if a:
                root = isqrt(max(0, square))  # no root: the vertex, beyond which u only rises
                places = ((-b - root) // (2 * a), (-b + root) // (2 * a))
            elif b:
                places = (-c // b, -c // b)
            else:
                continue
            found |= {place + side for place in places for side in (-2, 2)}
        cuts = sorted(found) or [0]
        return [2 * min(cuts[0], 0) - 1, *cuts, 2 * max(cuts[-1], 0) + 1]

    def _at(self, cut: int) -> Integers:
        return np.asarray((self.a * cut + self.b) * cut + self.c, dtype=object)

    def _added(self, positive: Any, high: int) -> tuple[int, int, int]:
        """The sum of the quadratics, E times those that are not positive."""
        factor = np.array([1 << RATIO_BITS if p else high for p in positive.tolist()], dtype=object)
        a, b, c = (int((factor * v).sum()) for v in (self.a, self.b, self.c))
        return a, b, c

    def _least(self, left: int, right: int, at_left: Integers, at_right: Integers, high: int) -> int:
        """A lower bound on 2^RATIO_BITS·φ over a piece between two cuts."""
        low = 1 << RATIO_BITS
        top, bottom = np.maximum(at_left, at_right), np.minimum(at_left, at_right)
        dips = (-self.b > 2 * self.a * left) & (-self.b < 2 * self.a * right) & (4 * self.a * self.c < self.b * self.b)
        positive = (bottom >= 0) & ~dips.astype(bool)
        changing = ~positive & (top > 0)
        lost = (high - low) * int(top[changing].sum()) if changing.any() else 0
        a, b, c = self._added(positive, high)
        least = min((a * x + b) * x + c for x in (left, right))
        if a > 0 and 2 * a * left < -b < 2 * a * right:
            least = min(least, c - -(-b * b // (4 * a)))
        return least - lost

    def _beyond(self, cut: int, at: Integers, side: int, high: int) -> int:
        """A lower bound on 2^RATIO_BITS·φ beyond the outermost cut, where every u keeps its sign: rising if positive,
        falling if negative.
        """
        outward = side * (2 * self.a * cut + self.b)
        rising = (at >= 0) & (outward >= 0)
        falling = (at <= 0) & (outward <= 0) & (self.a == 0)
        if not (rising | falling).all():
            raise Refused("beyond the outermost cuts every u must keep its sign", parameter="g", value="cuts")
        a, b, c = self._added(rising, high)
        if a > 0 and side * -b > side * 2 * a * cut:
            return c - -(-b * b // (4 * a))
        if a == 0 and side * b < 0:
            raise Refused("φ must not fall without end", parameter="g", value="prior")
        return (a * cut + b) * cut + c
