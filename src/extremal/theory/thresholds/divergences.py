"""When the binary mechanism, or randomised response, is optimal for one given f-divergence.

By the partition theorem (docs/design.md) the optimum at ε is the best randomised response on contiguous blocks of the
symbols in likelihood-ratio order, max Σ_l μ(B_l)/(L − 1 + e^ε). A mechanism worth V is therefore optimal iff no
partition has Σ_l (μ(B_l) − V) > (e^ε − 1)·V, which one longest-path computation decides, O(k²) and vectorised. Near a
change the partition that wins beyond it is known; its worth and the mechanism's are two smooth functions of ε, and
their crossing is the threshold, so that no tolerance enters its value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extremal.optimize.divergence.lorenz import BlockValue, Floats, Indices, Lorenz
from extremal.optimize.divergence.paths import forward, path_to_end
from extremal.theory.thresholds.ranges import Threshold, from_on, halved, optimal_ranges, up_to
from extremal.theory.thresholds.universal import binary_threshold
from extremal.utility import Divergence

SCANNED = (1e-3, 30.0)
"""The range of ε in which changes are looked for; beyond 30 nats e^−ε drowns in the rounding of the divergence."""

FINE, COARSE = 120, 48
"""Grid points for up to, and above, 300 different likelihood ratios."""

RESPONSE_SCANNED = (1e-3, 40.0)
"""The same for randomised response, where neighbouring pairs are resolved to their own size."""

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
        """By halving: the ε nearest to `beyond` at which `rival` is not worth more than this mechanism."""
        while True:
            middle = (near + beyond) / 2
            if middle in (near, beyond):
                return near
            mine, value = self.worth(middle)
            if value.total(self.lorenz.nodes, rival) > mine:
                beyond = middle
            else:
                near = middle

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
        return halved(margin, outside, inside)

    ranges = optimal_ranges(margin, RESPONSE_SCANNED, rivals.points, refine)
    return from_on(ranges, RESPONSE_SCANNED, rivals.points)
