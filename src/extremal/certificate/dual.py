"""The dual of the full 2^k program for f-divergences, checked without listing a single pattern.

*What it assumes*: KOV Theorem 4 (staircase patterns suffice), nothing else.

*What it checks*: for any α, OPT ≤ 1·α + k·v⁺/(1+(k−1)s), where v bounds μ(T) − α·(s + w·1_T) over all subsets T (s =
e^−ε, w = 1−s). Since μ(q) = sup_t [f'(t)·P₀q − f*(t)·P₁q], with f*(t) = t·f'(t) − f(t), this maximum over T is the
supremum over the ratios t that occur of h(t) = Σ_x [s·c_x(t) + w·c_x(t)⁺], c_x(t) = f'(t)P₀(x) − f*(t)P₁(x) − α_x. On
an interval [l, r] of t every c_x lies below its tangent in the slope at l; the sum of those is convex in the slope, so
sup h ≤ max(h(l), h(r) + (f'(r) − f'(l))·(r − l)). Intervals are halved where that exceeds the tolerance. For piecewise
linear f the slopes are few.

*How it rounds*: h is a sum of 2k terms; its float error is bounded by `UNIT` times the sum of their sizes, and added.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from extremal.certificate.refused import Refused
from extremal.exact.interval import up
from extremal.privacy import LDP, Notion
from extremal.utility import Divergence, Utility

Floats = npt.NDArray[np.float64]

UNIT = 2.0**-48  # 32 roundings on each term; NumPy sums pairwise
MOST_INTERVALS = 100_000
FIRST_POINTS = 17
RATIO_MARGIN = 1 + 1e-9  # far above the rounding of a ratio of sums


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound on the divergence that the dual vector proves."""
    if not isinstance(privacy, LDP) or privacy.delta or not isinstance(utility, Divergence):
        raise Refused("this dual is about f-divergences under ε-LDP", parameter="utility", value=utility.name)
    if utility.is_linear_within(privacy.exponential):
        return 0.0
    alpha = np.array([float(a) for a in proof["alpha"]])
    if alpha.shape != (utility.k,) or not np.isfinite(alpha).all():
        raise Refused(
            "the dual vector must have one finite entry for each input", parameter="len(alpha)", value=alpha.size
        )
    slack, epsilon = float(proof["slack"]), privacy.epsilon
    if not slack > 0:
        raise Refused("slack must be positive", parameter="slack", value=proof["slack"])
    height = _Height(utility, alpha, epsilon)
    worst = height.at_pieces() if utility.kinks is not None else _supremum(height, slack)
    total = float(up(math.fsum(alpha)))
    k, low = utility.k, math.exp(-epsilon) * (1 - 1e-15)
    return total if worst <= 0 else float(up(total + float(up(k * worst / (1 + (k - 1) * low), 4))))


class _Point(NamedTuple):
    """One supporting line: where, its slope, every c_x there, and h."""

    t: float
    slope: float
    reduced: Floats
    height: float


class _Height:
    """h(t), rounded up."""

    def __init__(self, utility: Divergence, alpha: Floats, epsilon: float) -> None:
        self.utility, self.alpha = utility, alpha
        self.low, self.step = math.exp(-epsilon), -math.expm1(-epsilon)
        self.p0, self.p1, self.size = utility.p0, utility.p1, float(np.abs(alpha).sum())

    def point(self, t: float) -> _Point:
        slope, constant = (float(v[0]) for v in self.utility.line(np.array([t])))
        reduced = slope * self.p0 - constant * self.p1 - self.alpha
        value = self.low * reduced.sum() + self.step * np.maximum(reduced, 0.0).sum()
        return _Point(t, slope, reduced, float(value + UNIT * (abs(slope) + abs(constant) + self.size)))

    def above(self, left: _Point, right: _Point) -> float:
        """sup of h between two points, from above: the smaller of two bounds.

        The first replaces every c_x by its tangent at the left end. The second settles the symbols whose c_x keeps its
        sign: their sum is concave and at most its larger end plus their curvature; only the others are bounded one by
            one.
        """
        bend = float(up((right.slope - left.slope) * (right.t - left.t), 8))
        tangents = max(left.height, right.height + bend)
        top = np.maximum(left.reduced, right.reduced) + self.p1 * bend
        inside = np.minimum(left.reduced, right.reduced) >= 0
        unsettled = ~inside & (top > 0)
        ends = [self.low * p.reduced.sum() + self.step * p.reduced[inside].sum() for p in (left, right)]
        settled = max(ends) + (self.low + self.step * float(self.p1[inside].sum())) * bend
        rounding = max(p.height for p in (left, right)) - max(self._plain(p) for p in (left, right))
        return min(tangents, float(settled + self.step * top[unsettled].sum()) * (1 + 1e-15) + 2 * abs(rounding))

    def _plain(self, point: _Point) -> float:
        return float(self.low * point.reduced.sum() + self.step * np.maximum(point.reduced, 0.0).sum())

    def at_pieces(self) -> float:
        """For piecewise linear f: one evaluation for each piece."""
        kinks = np.array(self.utility.kinks, dtype=np.float64)
        ends = np.concatenate(([0.0], kinks, [2 * kinks[-1] + 1]))
        return max(self.point(float(t)).height for t in (ends[:-1] + ends[1:]) / 2)

    def ratios(self) -> tuple[float, float]:
        """All ratios (s+wP₀(T))/(s+wP₁(T)) lie between these, which are attained along the ratio order
        (linear-fractional)."""
        order = np.argsort(np.arctan2(self.p0, self.p1), kind="stable")
        found = [np.ones(1)]
        for symbols in (order, order[::-1]):
            a, b = (self.low + self.step * np.cumsum(p[symbols]) for p in (self.p0, self.p1))
            found.append(a / b)
        every = np.concatenate(found)
        return float(every.min()) / RATIO_MARGIN, float(every.max()) * RATIO_MARGIN


def _supremum(height: _Height, slack: float) -> float:
    """An upper bound on h over all ratios that occur, at most `slack` above its positive part."""
    low, high = height.ratios()
    points = [height.point(float(t)) for t in np.exp(np.linspace(math.log(low), math.log(high), FIRST_POINTS))]
    worst = max(0.0, *(p.height for p in points))
    pending = list(itertools.pairwise(points))
    for _ in range(MOST_INTERVALS):
        if not pending:
            return worst + slack
        left, right = pending.pop()
        bound = height.above(left, right)
        if bound <= worst + slack:
            continue
        middle = math.sqrt(left.t * right.t)
        if not left.t < middle < right.t:  # the interval is one float wide: take what it gives
            worst = max(worst, bound)
            continue
        point = height.point(middle)
        worst = max(worst, point.height)
        pending += [(left, point), (point, right)]
    return max(worst, *(height.above(left, right) for left, right in pending)) + slack
