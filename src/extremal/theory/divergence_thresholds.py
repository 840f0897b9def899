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

from extremal.optimize.divergence.lorenz import BlockValue, Indices, Lorenz
from extremal.optimize.divergence.paths import forward, path_to_end
from extremal.theory.ranges import Threshold, from_on, optimal_ranges, up_to
from extremal.theory.universal_threshold import binary_threshold
from extremal.utility import Divergence

SCANNED = (1e-3, 30.0)
"""The range of ε in which changes are looked for; beyond 30 nats e^−ε drowns in the rounding of the divergence."""

FINE, COARSE = 120, 48
"""Grid points for up to, and above, 300 different likelihood ratios."""

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


def rr_threshold_for_divergence(utility: Divergence) -> Threshold:
    lorenz = Lorenz.of(utility)
    if lorenz.n < lorenz.order.size:  # equal ratios: merging them wins at every ε (erratum E3)
        return Threshold(math.inf, (), SCANNED, 0)
    if lorenz.n <= 2:
        return Threshold(0.0, (SCANNED,), SCANNED, 0)
    rivals = Rivals(utility, lorenz, (np.arange(lorenz.n + 1, dtype=np.intp),))
    return from_on(rivals.ranges(SCANNED), SCANNED, rivals.points)
