"""Two inputs, two reports: the shuffled reports are a count, and every data set can be gone through.

Let a of the n−1 others hold input 1, T be their reports of one kind, with mass function f_a and distribution function
F_a, and label that kind so that α = P(other kind|x₀) − e^ε·P(other kind|x₁) > 0; where neither label does that, the
divergence is 0. The count of all reports has P(t) − e^ε·P'(t) = α·f_a(t) − (α + β)·f_a(t−1) with β = e^ε − 1. A sum of
independent bits is log-concave (Newton), so the sign changes once and the divergence is

    δ_a(ε) = max_t α·f_a(t) − β·F_a(t−1),

with a single peak in t: a value above both neighbours is the maximum.

*Values.* For θ < 0, α·f(t) − β·F(t−1) is an integral of E e^{sT}·e^{−st}·(α − β·e^s/(1 − e^s)) over one period of s =
θ + iu. N equidistant nodes add the values at t + jN with weights e^{θjN}, which are bounded. |E e^{sT}| and the kernel
decrease in |u| up to π, so one ball bounds all nodes after it.

*All data sets.* If between a₁ and a₂ of the others hold input 1, show the adversary the a₂ − a₁ whose input is not
fixed: δ_a(n) ≤ δ_{a₁}(n − (a₂ − a₁)) for all a in the block. A block that fails is halved, until neither half is
settled like that; such a block goes to `theory.shuffle.compositions` where the tilted count spreads over many values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import acb, arb, fmpq

from extremal.mechanism import Mechanism
from extremal.mechanism.structures import JointBlocks
from extremal.theory.shuffle.accounting import LARGEST, SMALLEST, at, exponential, falling_root, log_ratio
from extremal.theory.shuffle.compositions import LEAST_TILT, Compositions

MOST_HALVED = 1_000  # blocks before a question is given up
STEPS = [5e-8 * 4.0**i for i in range(10)]  # from a lower end to where an upper end is tried, relative: to 1%
NEAR_THE_END = 12  # data sets next to equal others that are tried for a lower end
NEAR_IN_SERIES = 128  # the same where a series gives them all
DROPPED = 60.0  # −log of what the nodes left out may add, relative

Ends = tuple[arb, arb]


@dataclass(frozen=True)
class BinaryReports:
    """P(report 1 | input 0) and P(report 1 | input 1)."""

    chances: tuple[fmpq, fmpq]

    @classmethod
    def of(cls, mechanism: Mechanism | JointBlocks) -> BinaryReports | None:
        """The reports of a mechanism with two different rows and two outputs, none of them certain; None for others."""
        structure = mechanism.structure if isinstance(mechanism, Mechanism) else mechanism
        if isinstance(structure, JointBlocks) or structure.r != 2 or structure.m != 2:
            return None
        rows = structure.rows().tolist()
        chances = fmpq(rows[0][1], structure.denominator), fmpq(rows[1][1], structure.denominator)
        return cls(chances) if all(0 < p < 1 for p in chances) else None

    def alone(self, ratio: arb) -> arb:
        """The divergence of one report: what no number of others makes larger."""
        kinds = [(p[x], p[1 - x]) for p in self._kinds for x in (0, 1)]
        return max((arb(own) - ratio * arb(other) for own, other in kinds), key=float).max(arb(0)).upper()

    @property
    def _kinds(self) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """The chances of either kind of report."""
        return self.chances, (1 - self.chances[0], 1 - self.chances[1])

    def labelled(self, first: int, ratio: arb) -> tuple[tuple[fmpq, fmpq], arb] | None:
        """The chances of the kind of report that is counted, and α > 0, where the differing person holds `first` or the
        other input; None where the divergence is 0, or α so small that balls do not tell."""
        for p in self._kinds:
            gain = arb(1 - p[first]) - ratio * arb(1 - p[1 - first])
            if gain > 0:
                return p, gain
        return None

    def divergence(self, first: int, held: tuple[int, int], ratio: arb) -> Ends:
        """(lower, upper) of the divergence where the differing person holds `first` or the other input, and held[x] of
        the others hold x."""
        found = self.labelled(first, ratio)
        if found is not None:
            return _peak(_Count(held, Compositions(sum(held) + 1, *found, ratio - 1)))
        gain = arb(self.chances[first]) - ratio * arb(self.chances[1 - first])
        return arb(0), gain.max(arb(0)).upper()

    @property
    def firsts(self) -> tuple[int, ...]:
        """Inputs of the differing person that must be looked at: one where exchanging inputs and reports changes
        nothing."""
        return (0,) if self.chances[0] + self.chances[1] == 1 else (0, 1)

    def series(self, first: int, n: int, ratio: arb) -> Compositions | None:
        """All data sets by one series; None where counts are too few for it."""
        found = self.labelled(first, ratio)
        if found is None:
            return None
        whole = Compositions(n, *found, ratio - 1)
        return whole if whole.spread else None

    def lower(self, n: int, ratio: arb) -> arb:
        """A lower bound over data sets: equal others and those next to them."""
        best = arb(0)
        for first in self.firsts:
            series = self.series(first, n, ratio)
            found = arb(0) if series is None else series.lower(NEAR_IN_SERIES)
            best = best.max(found)
            if found > 0:
                continue
            for few in range(min(NEAR_THE_END, n)):
                for held in ((few, n - 1 - few), (n - 1 - few, few)):
                    best = best.max(self.divergence(first, held, ratio)[0])
        return best.lower()

    def at_most(self, n: int, ratio: arb, target: arb) -> bool:
        """Whether the divergence is shown to be at most the target for every data set."""
        return all(self._at_most(first, n, ratio, target) for first in self.firsts)

    def _at_most(self, first: int, n: int, ratio: arb, target: arb) -> bool:
        series = self.series(first, n, ratio)

        @cache
        def shown(a: int, b: int) -> bool:
            return bool(self.divergence(first, (n - 1 - b, a), ratio)[1] <= target)

        blocks, halved = [(0, n - 1)], 0
        while blocks:
            a, b = blocks.pop()
            if shown(a, b):
                continue
            if a == b or halved > MOST_HALVED:
                return False
            halves = [((a + b) // 2 + 1, b), (a, (a + b) // 2)]
            if series is None or any(shown(*half) for half in halves):
                blocks += halves
                halved += 1
            elif not series.at_most(target, a, b):
                return False
        return True


@dataclass(frozen=True)
class _Count:
    """T, where held[x] of the others hold x."""

    held: tuple[int, int]
    of: Compositions

    @property
    def gain(self) -> arb:
        return self.of.gain

    @property
    def loss(self) -> arb:
        return self.of.loss

    def tilted(self, theta: float) -> tuple[float, float]:
        """Mean and variance of T under the weights e^{θT}; for searches."""
        mean = variance = 0.0
        for count, chance in zip(self.held, self.of.chances, strict=True):
            p = float(chance) * math.exp(theta)
            p /= p + float(1 - chance)
            mean, variance = mean + count * p, variance + count * p * (1 - p)
        return mean, variance

    def value(self, t: int, theta: float) -> Ends:
        """(lower, upper) of α·f(t) − β·F(t−1)."""
        if t < 0 or t > sum(self.held) + 1:
            return arb(-1), arb(-1)
        variance = self.tilted(theta)[1]
        real = arb(theta)
        base = self.of.log_moment(real, self.held) - real * t
        below = (
            self.of.log_moment(2 * real, self.held) - 2 * real * t
        )  # log of what bounds the values at t − N, before e^{θN}
        small = max(0.0, -float(base)) + math.log(1 + 1 / float(self.gain))
        nodes = int((DROPPED + small + max(0.0, float(below))) / -theta + 24 * math.sqrt(variance) + 64)
        last = min(nodes // 2, int(nodes / (2 * math.pi) * math.sqrt(2 * (DROPPED + 4) / max(variance, 1e-3))) + 2)
        turn = 2 * arb.pi() / nodes
        decay = real.exp()
        total = self.gain - self.loss * decay / (1 - decay)
        for k in range(1, last + 1):
            term = self._node(acb(real, turn * k), t, base)
            total += term.real if 2 * k == nodes else 2 * term.real
        error = arb(0)
        if last < nodes // 2:
            size = abs(self._node(acb(real, turn * last), t, base, kernel=False))
            step = abs(1 - acb(real, turn * last).exp())
            error = nodes * size * (self.gain + self.loss * decay / step)
        scale = base.exp() / nodes
        q = (real * nodes).exp()
        error = scale * error + (self.gain + self.loss) * q / (1 - q)
        if nodes <= t:
            error += (self.gain + self.loss) * below.exp() * q / (1 - q)
        middle = scale * total
        return (middle - error).lower(), (middle + error).upper()

    def _node(self, s: acb, t: int, base: arb, kernel: bool = True) -> acb:
        es = s.exp()
        value = (-s * t - base).exp()
        for count, p in zip(self.held, self.of.chances, strict=True):
            value *= (es * arb(p) + arb(1 - p)) ** count
        return value * (self.gain - self.loss * es / (1 - es)) if kernel else value


def _peak(count: _Count) -> Ends:
    """(lower, upper) of the maximum over t."""
    theta = min(count.of.tilt, -LEAST_TILT)
    ceiling = count.of.ceiling(count.held)
    if ceiling < SMALLEST:
        return arb(0), ceiling
    t = max(0, round(count.tilted(theta)[0] + 0.5))
    known: dict[int, Ends] = {}

    def value(t: int) -> Ends:
        if t not in known:
            known[t] = count.value(t, theta)
        return known[t]

    for _ in range(1000):
        here, up, down = value(t)[0], value(t + 1)[0], value(t - 1)[0]
        if up > here and not down > up:
            t += 1
        elif down > here:
            t -= 1
        else:
            break
    low = value(t)[0].max(arb(0))
    for reach in (1, 2, 3):
        if value(t - reach)[1] < value(t)[0] and value(t + reach)[1] < value(t)[0]:
            high = value(t)[1]
            for near in range(t - reach + 1, t + reach):
                high = high.max(value(near)[1])
            return low.lower(), high.upper()
    return low.lower(), ceiling


def binary_lower(reports: BinaryReports, n: int, delta: Fraction, local: float, guess: float) -> float:
    """A proved lower end of ε at δ."""
    goal = arb(fmpq(delta.numerator, delta.denominator))

    def excess(epsilon: float) -> float:
        return log_ratio(reports.lower(n, at(epsilon)), goal)

    return falling_root(excess, guess, local, 1)


def binary_upper(reports: BinaryReports, n: int, delta: Fraction, local: float, low: float) -> float | None:
    """A proved upper end of ε at δ, as close to a lower end as all data sets allow; None if none is near."""
    goal = arb(fmpq(delta.numerator, delta.denominator))
    for step in STEPS:
        high = max(low, 1e-12) * (1 + step)
        if high >= min(local, LARGEST):
            return local
        if reports.at_most(n, at(high), goal):
            return high
    return None


def binary_delta(reports: BinaryReports, n: int, epsilon: Fraction) -> Ends:
    """(lower, upper) for δ at ε."""
    ratio = exponential(epsilon)
    ceiling = reports.alone(ratio)
    low = reports.lower(n, ratio)
    step = arb(1) + arb(2) ** -20
    high = low * step
    while high > 0 and high < ceiling:
        if reports.at_most(n, ratio, high):
            return low, high.upper()
        step = 1 + 4 * (step - 1)
        high = low * step
    return low, ceiling
