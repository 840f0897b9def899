"""Where a mechanism is optimal for an f-divergence, and the ε at which that changes.

*Every f-divergence at once* (KOV Theorem 5, Lemma 24). T = {x : P₀(x) ≥ P₁(x)}. The binary mechanism on T dominates
every ε-LDP mechanism, in Blackwell's sense, for telling P₀ from P₁ exactly when T maximises and its complement
minimises the ratio (1 + c·P₀(A))/(1 + c·P₁(A)) over all sets A, c = e^ε − 1. A ratio of sums is largest at T iff every
symbol of T has a likelihood ratio of at least that maximum and no other has; only the smallest ratio l₊ in T and the
largest l₋ outside matter, so that

    ε* = log(1 + min{(l₊ − 1)/Σ_T(P₀ − l₊P₁), (1 − l₋)/Σ_{T^c}(l₋P₁ − P₀)}),

a term with denominator 0 being +∞. Lemma 24 prints ε(j) = 0 for T itself, which would make ε* = 0 always (erratum E2);
a symbol with P₀(x) = P₁(x) > 0 does make it 0, and Theorem 5 is false there (erratum E1).

*One f-divergence.* By the partition theorem (docs/design/index.md) the optimum at ε is the best randomised response on
contiguous blocks of the symbols in likelihood-ratio order, max Σ_l μ(B_l)/(L − 1 + e^ε). A mechanism worth V is
therefore optimal iff no partition has Σ_l (μ(B_l) − V) > (e^ε − 1)·V, which one longest-path computation decides,
O(k²) and vectorised. Near a change the partition that wins beyond it is known; its worth and the mechanism's are two
smooth functions of ε, and their crossing is the threshold, so that no tolerance enters its value.

Nothing guarantees that randomised response, once optimal, stays optimal as ε grows: for f = x⁴ − 4x + 3 it can be
optimal between two levels only. So the set of ε is scanned on a geometric grid and each change refined to the accuracy
of floats. What lies between two neighbouring grid points that agree may be missed, and `scanned` and `points` say how
fine the grid was.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extremal.exact.bisection import bisected
from extremal.optimize.divergence.lorenz import BlockValue, Floats, Indices, Lorenz
from extremal.optimize.divergence.paths import forward, path_to_end
from extremal.tables import number
from extremal.utility import Divergence, TotalVariation

SCANNED = (1e-3, 30.0)
"""The range of ε in which changes are looked for; beyond 30 nats e^−ε drowns in the rounding of the divergence."""

RESPONSE_SCANNED = (1e-3, 40.0)
"""The same for randomised response, where neighbouring pairs are resolved to their own size."""

FINE, COARSE = 120, 48  # points of a grid for up to, and above, 300 different likelihood ratios

Margin = Callable[[float], float]
"""ε ↦ how far a mechanism is from being beaten: optimal iff not negative."""


class Threshold(float):
    """A threshold in nats that remembers where it comes from; an ordinary float otherwise.

    Attributes:
        ranges: the ranges (start, stop) of ε, within those scanned, where the mechanism is optimal.
        scanned: the smallest and largest ε looked at.
        points: the number of ε of the grid.

    Made by `ex.theory.binary_threshold_for` and `ex.theory.rr_threshold`.

    Reference: KOV Theorems 5, 8, 12 and 14, with errata E1–E3 and E6.

    >>> Threshold(1.5, ((1.5, 30.0),), (0.001, 30.0), 120).is_interval
    True
    """

    ranges: tuple[tuple[float, float], ...]
    scanned: tuple[float, float]
    points: int

    def __new__(
        cls, value: float, ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int
    ) -> Threshold:
        self = super().__new__(cls, value)
        self.ranges, self.scanned, self.points = ranges, scanned, points
        return self

    @property
    def is_interval(self) -> bool:
        """Whether one number tells it all: at most one range, and it touches the end that the threshold is about."""
        touching = [r for r in self.ranges if r[0] <= self.scanned[0] or r[1] >= self.scanned[1]]
        return len(self.ranges) <= 1 and len(touching) == len(self.ranges)

    def describe(self) -> str:
        """The ranges in words.

        >>> Threshold(math.inf, ((2.4, 3.6),), (0.001, 30.0), 120).describe()
        'optimal for ε in [2.4, 3.6]; 120 values from 0.001 to 30 were tried'
        """
        found = " and ".join(f"[{number(a)}, {number(b)}]" for a, b in self.ranges)
        tried = f"{self.points} values from {number(self.scanned[0])} to {number(self.scanned[1])} were tried"
        return f"optimal for ε in {found}; {tried}" if found else f"optimal nowhere; {tried}"


def optimal_ranges(
    margin: Margin, scanned: tuple[float, float], points: int, refine: Callable[[float, float], float] | None = None
) -> tuple[tuple[float, float], ...]:
    """The ranges where `margin` is not negative; an end between the grid points (inside, outside) is found by `refine`,
    or by halving.

    >>> optimal_ranges(lambda e: (e - 1) * (2 - e), (0.1, 10), 50)
    ((1.0, 2.0),)
    """
    grid: list[float] = np.geomspace(*scanned, points).tolist()
    grid[0], grid[-1] = scanned
    inside = [margin(epsilon) >= 0 for epsilon in grid]

    def between(good: float, bad: float) -> float:
        return bisected(lambda e: margin(e) >= 0, bad, good) if refine is None else refine(good, bad)

    found, start = [], grid[0] if inside[0] else None
    for i in range(1, points):
        if inside[i] and start is None:
            start = between(grid[i], grid[i - 1])
        elif not inside[i] and start is not None:
            found.append((start, between(grid[i - 1], grid[i])))
            start = None
    if start is not None:
        found.append((start, grid[-1]))
    return tuple(found)


def up_to(ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int) -> Threshold:
    """The end of the range at the lower end of the scan: 0 if there is none, infinity if it covers everything."""
    first = ranges[0] if ranges and ranges[0][0] <= scanned[0] else (0.0, 0.0)
    return Threshold(math.inf if first[1] >= scanned[1] else first[1], ranges, scanned, points)


def from_on(ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int) -> Threshold:
    """The start of the range at the upper end of the scan: infinity if there is none, 0 if it covers everything."""
    last = ranges[-1] if ranges and ranges[-1][1] >= scanned[1] else (math.inf, 0.0)
    return Threshold(0.0 if last[0] <= scanned[0] else last[0], ranges, scanned, points)


def binary_threshold(p0: Any, p1: Any) -> float:
    """The largest ε* such that the binary mechanism is optimal for every f-divergence at every ε ≤ ε*.

    0 if some symbol has P₀(x) = P₁(x) > 0; infinity if one bit is always best (two symbols, P₀ = P₁).

    Guarantee: the closed form of KOV Lemma 24 with erratum E2, relatively accurate to about 1e-14; above it some
    hockey-stick divergence prefers another mechanism. For one divergence see `binary_threshold_for`.

    Args:
        p0, p1: the two distributions to tell apart; a million symbols are fine.

    Reference: Kairouz, Oh, Viswanath, JMLR 17 (2016), Theorem 5 and Lemma 24.

    >>> round(binary_threshold([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 12)
    0.887303195001
    >>> binary_threshold([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), binary_threshold([0.7, 0.3], [0.4, 0.6])
    (0.0, inf)
    """
    pair = TotalVariation(p0, p1)
    q0, q1, difference = pair.p0, pair.p1, pair.pair.difference
    if not difference.any():
        return math.inf
    if ((difference == 0) & (q0 > 0)).any():
        return 0.0
    above, below = difference > 0, difference < 0
    # Ratios are at least 1 inside T and below 1 outside; each is formed from the side that is not zero.
    return math.log1p(
        min(_room(difference[above], q0[above], q1[above]), _room(-difference[below], q1[below], q0[below]))
    )


def _room(gap: Any, more: Any, less: Any) -> float:
    """(l − 1)/Σ(more − l·less) with l the smallest ratio more/less.

    Outside T, with l₋ = 1/l: (1 − 1/l)/Σ(more/l − less) = (l − 1)/Σ(more − l·less), the same expression.
    """
    with np.errstate(divide="ignore"):
        excess = np.where(less > 0, gap / np.where(less > 0, less, 1.0), np.inf)  # l − 1, without cancellation
    smallest = float(excess.min())
    if math.isinf(smallest):
        return math.inf
    spare = math.fsum(np.maximum(less * (excess - smallest), 0.0)[less > 0].tolist()) + math.fsum(
        more[less == 0].tolist()
    )
    return smallest / spare if spare > 0 else math.inf


_PAIR_TIE = 2e-16  # relative to the pair: what its rounding may hide counts against randomised response
_TIE = 2e-14  # relative: what the sums of a partition may be off by, a few units in the last place


@dataclass(frozen=True, eq=False)
class Rivals:
    """One mechanism, given by its cuts in likelihood-ratio order, against every other partition."""

    utility: Divergence
    lorenz: Lorenz
    candidates: tuple[Indices, ...]

    def worth(self, epsilon: float) -> tuple[float, BlockValue]:
        value = BlockValue.of(self.utility, epsilon)
        return max(value.total(self.lorenz.nodes, cuts) for cuts in self.candidates), value

    def best(self, epsilon: float) -> tuple[float, Indices]:
        """(how much the best partition exceeds this mechanism, that partition)."""
        mine, value = self.worth(epsilon)
        rows = value.rows(self.lorenz.nodes)
        longest, before = forward(rows, value.low * mine)
        found = path_to_end(before)
        return float(longest[-1]) - value.step * mine - _TIE * mine * (1 + found.size * value.low), found

    def margin(self, epsilon: float) -> float:
        return -self.best(epsilon)[0]

    def crossing(self, near: float, beyond: float) -> float:
        """The ε between `near`, where nothing wins, and `beyond`, up to which nothing wins.

        Where the partition that wins at `beyond` crosses, another one may win already: then that one is followed.
        """
        while True:
            excess, rival = self.best(beyond)
            if excess <= 0:
                return beyond
            crossing = self._met(rival, near, beyond)
            if crossing == beyond:
                return crossing
            beyond = crossing

    def _met(self, rival: Indices, near: float, beyond: float) -> float:
        """The ε nearest to `beyond` at which `rival` is not worth more than this mechanism."""

        def unbeaten(epsilon: float) -> bool:
            mine, value = self.worth(epsilon)
            return value.total(self.lorenz.nodes, rival) <= mine

        return bisected(unbeaten, beyond, near)

    @cached_property
    def points(self) -> int:
        return FINE if self.lorenz.n <= 300 else COARSE

    def ranges(self, scanned: tuple[float, float]) -> tuple[tuple[float, float], ...]:
        """Ranges of ε where nothing beats the mechanism, ends by crossing."""
        return optimal_ranges(self.margin, scanned, self.points, self.crossing)


def binary_threshold_for_divergence(utility: Divergence) -> Threshold:
    lorenz = Lorenz.of(utility)
    if lorenz.n <= 2:
        return Threshold(math.inf, (SCANNED,), SCANNED, 0)
    gap = lorenz.tilt
    sides = {int((gap < 0).sum()), int((gap <= 0).sum())} - {0, lorenz.n}
    cuts = tuple(np.array([0, side, lorenz.n], dtype=np.intp) for side in sorted(sides))
    universal = binary_threshold(utility.pair.p0, utility.pair.p1)
    scanned = (min(max(universal, 1e-6), SCANNED[1] / 2) if universal > 0 else SCANNED[0], SCANNED[1])
    rivals = Rivals(utility, lorenz, cuts)
    ranges = rivals.ranges(scanned)
    if universal > 0 and ranges and ranges[0][0] <= scanned[0]:
        ranges = ((0.0, ranges[0][1]), *ranges[1:])  # below the universal threshold nothing needs to be tried
    return up_to(ranges, scanned, rivals.points)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Randomised response against merging two neighbours, the symbols being in likelihood-ratio order.

    Let s = e^−ε, w = 1 − s and u(B) = (s + wP₀(B), s + wP₁(B)). Randomised response worth V is optimal iff every block
    B of neighbours has Σ_B μ(x) − μ(B) ≥ (|B| − 1)·sV. If the ratio of u(x) lies between the likelihood ratios of the
    two neighbours of x, for every x, pairs decide: adding the first symbol a to the block {b, c, …} raises μ by an
    integral of supporting lines at ratios beyond those met when it is added to {b} alone, and a line evaluated at a
    falls as its point of contact moves away from a. So the left side is at least the sum over neighbouring pairs. This
    costs O(k), and a pair is computed to 1e-16 of its own size, not of V: thresholds up to 40 nats are resolved.
    """

    utility: Divergence
    p0: Floats
    p1: Floats
    difference: Floats

    @classmethod
    def of(cls, utility: Divergence, lorenz: Lorenz) -> Neighbours:
        order = lorenz.order
        return cls(utility, utility.p0[order], utility.p1[order], utility.pair.difference[order])

    def margin(self, epsilon: float) -> float | None:
        """The least of μ(x) + μ(x') − μ(x,x') − sV over neighbours; None when pairs do not decide."""
        value = BlockValue.of(self.utility, epsilon)
        low, step = value.low, value.step
        u0, u1 = low + step * self.p0, low + step * self.p1
        beyond_left = self.p0[:-2] * u1[1:-1] > u0[1:-1] * self.p1[:-2]
        beyond_right = u0[1:-1] * self.p1[2:] > self.p0[2:] * u1[1:-1]
        if beyond_left.any() or beyond_right.any():
            return None
        alone = self.utility.perspective(u0, u1, step * self.difference)
        gap = step * (self.difference[:-1] + self.difference[1:])
        both = self.utility.perspective(u0[:-1] + step * self.p0[1:], u1[:-1] + step * self.p1[1:], gap)
        worth = math.fsum(alone.tolist()) / (1 + (alone.size - 1) * low)
        apart = alone[:-1] + alone[1:]
        return float((apart - both - low * worth - _PAIR_TIE * np.abs(apart)).min())


def rr_threshold_for_divergence(utility: Divergence) -> Threshold:
    lorenz = Lorenz.of(utility)
    if lorenz.n < lorenz.order.size:  # equal ratios: merging them wins at every ε (erratum E3)
        return Threshold(math.inf, (), RESPONSE_SCANNED, 0)
    if lorenz.n <= 2:
        return Threshold(0.0, (RESPONSE_SCANNED,), RESPONSE_SCANNED, 0)
    rivals = Rivals(utility, lorenz, (np.arange(lorenz.n + 1, dtype=np.intp),))
    neighbours = Neighbours.of(utility, lorenz)

    def margin(epsilon: float) -> float:
        found = neighbours.margin(epsilon)
        return rivals.margin(epsilon) if found is None else found

    def refine(inside: float, outside: float) -> float:
        if neighbours.margin(inside) is None or neighbours.margin(outside) is None:
            return rivals.crossing(inside, outside)
        return bisected(lambda e: margin(e) >= 0, outside, inside)

    ranges = optimal_ranges(margin, RESPONSE_SCANNED, rivals.points, refine)
    return from_on(ranges, RESPONSE_SCANNED, rivals.points)
