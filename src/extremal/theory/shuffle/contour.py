"""Enclosures of E[(X_1 + … + X_n)₊] for independent copies of a variable with finitely many values.

*Smoothing.* With Z normal of standard deviation σ and independent, s·Φ(s/σ) ≤ s₊ ≤ s·Φ(s/σ) + σφ(s/σ) for every s, and
the right side is E(s + Z)₊. So U − V ≤ E[S₊] ≤ U with U = E(S + Z)₊ and V = σ² times the density of S + Z at 0.

*Contour.* With F(z) = (E e^{zX})ⁿ·e^{z²σ²/2} and any θ > 0, U = (1/2π)∫F(θ+iu)/(θ+iu)² du and V = (σ²/2π)∫F(θ+iu) du.
At the saddle point of F(θ)/θ² nothing cancels, so that δ = 1e-300 costs what δ = 1e-3 does, and n hardly matters.

*Trapezoid rule.* With step τ and L = 2π/τ, Poisson's formula turns the sum into Σ_j e^{−θjL}·E(S + Z + jL)₊ over all
integers j: terms that are not negative, so the sum is an upper bound as it stands, and with q = e^{−θL} it exceeds U by
at most U·q/(1−q) + L·q/(1−q)² + F(2θ)/(2eθ)·q/(1−q).

*Nodes.* The few that matter are evaluated in balls. For the others a bound of the modulus suffices; it is formed with
additions and multiplications of doubles only, from rotations that are rounded from balls, and its error is added
(`log_moduli`). Beyond the last node the Gaussian factor is summed as a geometric series. No library function of doubles
takes part in a proof; the choice of θ, σ, τ and of the nodes does, and any choice gives a valid enclosure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import acb, arb

from extremal.exact.weights import Floats

BITS = 128  # of balls: the n-th power of a moment loses log2(n) of them, and 1e-12 is left at n = 1e18
UNIT = 2.0**-53  # relative rounding of a double
NEGLIGIBLE = -35.0  # log of a node, relative to the first, below which a bound of its modulus will do
EXPONENT_SLACK = 2.0**-45  # relative: more than all roundings of an exponent after its modulus is bounded
SMALLEST_EXPONENT = -900.0  # smaller ones count as this: e^-900 is nothing beside any δ that is asked for
ALIAS = 23.0  # −log of what the trapezoid rule may add, relative: 1e-10
MOST_TERMS = 300  # of a sum that is simply added up, for few people
MOST_RARE, FEW_RARE = 3, 3  # expected rare values, and how many of them differ, that are simply added up
RARE_TAIL = 80.0  # −log of the probability of more rare values than are added up
MOST_NODES = 1 << 16  # of which a bound of the modulus is formed: 50 ms
LEAST_KEPT, KEPT_VALUES = 1500, 20_000  # nodes, and nodes × values, evaluated in balls before the smoothing is widened
EDGE = 37.0  # −log of the Gaussian factor at the last node: 1e-16


@dataclass(frozen=True)
class Law:
    """A variable with finitely many values, as balls; the weights sum to at most about 1."""

    values: tuple[arb, ...]
    weights: tuple[arb, ...]

    @cached_property
    def floats(self) -> tuple[Floats, Floats]:
        """Values and weights for searches."""
        return np.array([float(v.mid()) for v in self.values]), np.array([float(w.mid()) for w in self.weights])

    def moment(self, theta: arb) -> arb:
        """E e^{θX}."""
        total = arb(0)
        for value, weight in zip(self.values, self.weights, strict=True):
            total += weight * (theta * value).exp()
        return total

    def tilted(self, theta: float) -> tuple[float, float, float]:
        """log E e^{θX}, and mean and variance of X under the weights e^{θX}; for searches."""
        values, weights = self.floats
        exponents = theta * values
        top = float(exponents.max())
        masses = weights * np.exp(exponents - top)
        total = float(masses.sum())
        masses /= total
        mean = float(masses @ values)
        return top + math.log(total), mean, max(float(masses @ (values - mean) ** 2), 1e-300)

    def saddle(self, n: int, smoothing: float = 0.0) -> float:
        """θ > 0 near the minimum of n·log E e^{θX} + θ²σ²/2 − 2 log θ, which is convex in θ."""
        values, _ = self.floats
        low, high = 1e-14 / float(np.abs(values).max()), 600.0 / float(np.abs(values).max())
        theta = math.sqrt(low * high)
        _, mean, variance = self.tilted(0.0)
        if mean < 0:
            theta = -mean / variance
        for _ in range(60):
            theta = min(max(theta, low), high)
            _, mean, variance = self.tilted(theta)
            slope = n * mean + theta * smoothing**2 - 2 / theta
            low, high = (theta, high) if slope < 0 else (low, theta)
            step = slope / (n * variance + smoothing**2 + 2 / theta**2)
            moved = theta - step
            if not low < moved < high:
                moved = math.sqrt(low * high)
            if abs(moved - theta) < 1e-9 * theta:
                return moved
            theta = moved
        return theta


@dataclass(frozen=True)
class Contour:
    """Where an integral is taken: the real part θ, the smoothing σ, the step τ and the number of nodes."""

    theta: float
    smoothing: float
    step: float
    nodes: int

    @classmethod
    def through(cls, law: Law, n: int, kappa: float) -> Contour:
        """A good contour for the sum of n copies, with σ = κ standard deviations."""
        deviation = math.sqrt(n * law.tilted(law.saddle(n))[2])
        smoothing = kappa * deviation
        theta = law.saddle(n, smoothing)
        log_moment = n * law.tilted(theta)[0] + (theta * smoothing) ** 2 / 2
        size = log_moment - 2 * math.log(theta) - math.log(deviation) - 1.0  # about log U
        length = (ALIAS + 10 + max(0.0, -size)) / theta
        for _ in range(3):
            length = max(1.0, ALIAS + 2 + math.log(length) - size) / theta
        twice = n * law.tilted(2 * theta)[0] + 2 * (theta * smoothing) ** 2 - math.log(2 * math.e * theta)
        length = max(length, (twice - size + ALIAS + 2) / theta)
        step = 2 * math.pi / length
        smoothing = max(smoothing, math.sqrt(2 * EDGE) / (MOST_NODES * step))
        return cls(theta, smoothing, step, math.ceil(math.sqrt(2 * EDGE) / (smoothing * step)) + 1)


def log_moduli(law: Law, contour: Contour) -> Floats:
    """Upper bounds of log |E e^{(θ+ikτ)X} / E e^{θX}| for k = 1, 2, …, in doubles, whatever was rounded.

    The ratio is 1 + d with d = Σ e_i(e^{ikτx_i} − 1) and tilted weights e_i. Rotations are built by doubling,
    t(k + 2^j) = t(k)·w + (w − 1) with w = e^{i2^jτx} rounded from a ball: an error of at most 5.4 units × min(kτ|x|, 2)
    for each doubling, because t has at most that size and |w| = 1. The sum over m values adds m + 3 units of the same.
    Then log|1 + d| = ½log(1 − p) ≤ −½(p + p²/2 + … + p⁶/6) with p = −2 Re d − |d|².
    """
    theta, tau = arb(contour.theta), arb(contour.step)
    masses = [w * (theta * v).exp() for v, w in zip(law.values, law.weights, strict=True)]
    total = sum(masses, arb(0))
    tilted = np.array([float((mass / total).mid()) for mass in masses])
    doublings = contour.nodes.bit_length()
    turned = np.zeros((len(masses), 1 << doublings), dtype=np.complex128)
    turns = [acb(0, tau * value).exp() for value in law.values]
    for j in range(doublings):
        lack = np.array([_rounded(turn - 1) for turn in turns])[:, None]
        size = 1 << j
        turned[:, size : 2 * size] = turned[:, :size] * np.array([_rounded(turn) for turn in turns])[:, None] + lack
        turns = [turn * turn for turn in turns]
    d = tilted @ turned[:, 1 : contour.nodes + 1]
    spread = float(tilted @ np.abs(law.floats[0])) * 1.000001
    reach = np.minimum(np.arange(1, contour.nodes + 1) * (contour.step * spread), 2.0) * 1.000001
    units = 2.1 * (5.4 * doublings + len(masses) + 8) + 12
    p = -2 * d.real - d.real**2 - d.imag**2 - units * UNIT * reach
    p = np.clip(p, 0.0, 1.0)
    series = 1 + p * (1 / 2 + p * (1 / 3 + p * (1 / 4 + p * (1 / 5 + p / 6))))
    return np.asarray(-0.5 * p * series * (1 - EXPONENT_SLACK))


def _rounded(number: acb) -> complex:
    return complex(float(number.real), float(number.imag))


def total_of(exponents: Floats, factors: Floats | None = None) -> arb:
    """An upper bound of Σ factor·e^{exponent}: exponents are rounded up to whole numbers, whose exponentials are
    balls."""
    if not exponents.size:
        return arb(0)
    whole = np.ceil(np.maximum(exponents, SMALLEST_EXPONENT)).astype(np.int64)
    shift = int(whole.min())
    sums = np.bincount(whole - shift, weights=factors)
    total = arb(0)
    for place in np.flatnonzero(sums).tolist():
        total += arb(float(sums[place]) * 1.000001) * arb(place + shift).exp()
    return total


def beyond(contour: Contour) -> arb:
    """An upper bound of Σ e^{−k²τ²σ²/2} over k after the last node."""
    rate = arb(contour.step * contour.smoothing) ** 2
    ratio = (-contour.nodes * rate).exp()
    return (-(contour.nodes**2) * rate / 2).exp() * ratio / (1 - ratio)


def positive_part(law: Law, n: int, kappa: float) -> tuple[arb, arb]:
    """(lower, upper), exact balls, with lower ≤ E[(X_1 + … + X_n)₊] ≤ upper.

    Args:
        law: of each X.
        n: how many.
        kappa: smoothing in standard deviations; the width is about (κz)² relative where the sum's mean lies z standard
            deviations below 0.
    """
    if len(law.values) == 1:  # however many people: nothing is listed
        alone = n * law.values[0].max(arb(0)) * law.weights[0] ** n
        return alone.lower().max(arb(0)), alone.upper()
    if math.comb(n + len(law.values) - 1, n) <= MOST_TERMS:
        return _added_up(law, n)
    rare = _rarely(law, n)
    if rare is not None:
        return rare
    while True:
        contour = Contour.through(law, n, kappa)
        heights = np.arange(1, contour.nodes + 1) * contour.step
        exponents = n * log_moduli(law, contour) - (heights * contour.smoothing) ** 2 / 2 * (1 - EXPONENT_SLACK)
        shares = 1 / (1 + (heights / contour.theta) ** 2)
        kept = exponents + np.log(shares) > NEGLIGIBLE
        if np.count_nonzero(kept) <= max(LEAST_KEPT, KEPT_VALUES // len(law.values)) or kappa > 1:
            break
        kappa *= 3
    theta, sigma2, tau = arb(contour.theta), arb(contour.smoothing) ** 2, arb(contour.step)
    base = n * law.moment(theta).log() + theta**2 * sigma2 / 2
    above, density = 1 / theta**2, arb(1)
    for k in (np.flatnonzero(kept) + 1).tolist():
        z = acb(theta, tau * k)
        term = _power(law, z, n, base, z * z * sigma2 / 2)
        above += 2 * (term / (z * z)).real
        density += 2 * term.real
    rest = beyond(contour)
    dropped = 2 * (total_of(exponents[~kept], shares[~kept]) + rest) / theta**2
    scale = base.exp() * tau / (2 * arb.pi())
    upper = scale * (above + dropped)
    v = scale * (density + 2 * (total_of(exponents[~kept]) + rest)) * sigma2
    lower = scale * (above - dropped) - v - _aliases(law, n, contour, upper)
    return (lower.lower() if lower > 0 else arb(0)), upper.upper()


def _added_up(law: Law, n: int) -> tuple[arb, arb]:
    """The expectation as the sum over how often each value occurs: for few people."""
    total = arb(0)
    places = range(len(law.values))
    for chosen in itertools.combinations_with_replacement(places, n):
        counts = [chosen.count(i) for i in places]
        chance, size = arb(math.factorial(n)), arb(0)
        for count, value, weight in zip(counts, law.values, law.weights, strict=True):
            chance *= weight**count / math.factorial(count)
            size += count * value
        total += chance * size.max(arb(0))
    return total.lower().max(arb(0)), total.upper()


def _rarely(law: Law, n: int) -> tuple[arb, arb] | None:
    """The expectation where all values but one are rare; None elsewhere.

    With J of the n summands rare, all counts up to J = M are added up, and what is left is at most n·max X·P(J > M) ≤
    n·max X·(enρ/M)^M, by Chernoff, ρ the probability of a rare value.
    """
    heavy = int(np.argmax(law.floats[1]))
    rest = [(v, w) for i, (v, w) in enumerate(zip(law.values, law.weights, strict=True)) if i != heavy]
    expected = n * sum((w for _, w in rest), arb(0))
    if not expected < MOST_RARE or len(rest) > FEW_RARE:
        return None
    most = next(m for m in range(4, 200) if m * math.log(m / (math.e * float(expected) + 1e-300)) > RARE_TAIL)
    total = arb(0)
    for counts in itertools.product(range(most + 1), repeat=len(rest)):
        seen = sum(counts)
        if seen > min(most, n):
            continue
        chance = arb(math.perm(n, seen)) * law.weights[heavy] ** (n - seen)
        size = (n - seen) * law.values[heavy]
        for count, (value, weight) in zip(counts, rest, strict=True):
            chance *= weight**count / math.factorial(count)
            size += count * value
        total += chance * size.max(arb(0))
    tail = n * largest(law.values).max(arb(0)) * (arb(1).exp() * expected / most) ** most
    return total.lower().max(arb(0)), (total + tail).upper()


def _power(law: Law, z: acb, n: int, base: arb, gaussian: acb) -> acb:
    """E[e^{zX}]ⁿ·e^{z²σ²/2}·e^{−base}."""
    moment = acb(0)
    for value, weight in zip(law.values, law.weights, strict=True):
        moment += (z * value).exp() * weight
    if abs(moment) > 0:
        return (n * moment.log() + gaussian - base).exp()
    return moment**n * (gaussian - base).exp()  # a ball around 0: its power is a ball around 0


def _aliases(law: Law, n: int, contour: Contour, upper: arb) -> arb:
    """What the trapezoid rule may have added."""
    theta, sigma2 = arb(contour.theta), arb(contour.smoothing) ** 2
    length = 2 * arb.pi() / arb(contour.step)
    q = (-theta * length).exp()
    twice = (n * law.moment(2 * theta).log() + 2 * theta**2 * sigma2).exp() / (2 * theta * arb(1).exp())
    return upper * q / (1 - q) + length * q / (1 - q) ** 2 + twice * q / (1 - q)


def chernoff(law: Law, n: int) -> arb:
    """An upper bound of E[(X_1 + … + X_n)₊]: s₊ ≤ e^{θs}/(eθ) for every θ > 0."""
    theta = arb(law.saddle(n))
    return ((n * law.moment(theta).log()).exp() / (theta * arb(1).exp())).upper()


def largest(balls: Sequence[arb]) -> arb:
    """The largest of the upper ends."""
    best = balls[0].upper()
    for ball in balls[1:]:
        top = ball.upper()
        best = top if not top <= best else best
    return best
