"""Sums over the nodes of a contour (the page on shuffled reports, "Decided again"), in whole multiples of 2^-192.

A complex number of modulus at most 1 is a pair of whole numbers; a *unit* is 2^-192, in which errors are counted. A
product is rounded down in both parts, which costs less than 2 units beside the errors of its factors. Where a contour
lies is searched with floats: any contour gives true bounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from extremal.checker.numbers import ONE, ZERO, Interval, Unsettled, afford, ends, exp, ln

POINT = 192  # bits after the point: n-th powers, n < 2^40, of what 2^17 turns have made lose 100 of them
SPARE = 96  # more of them while a turn is computed
SERIES = 45  # terms: (2^-8)^45/45! is below 2^-500
PI = Interval(
    Fraction("3.14159265358979323846264338327950288419716939937510"),
    Fraction("3.14159265358979323846264338327950288419716939937511"),
)
GONE = 90  # −ln of what a node may be to be left out, or the Gaussian factor at the last node
MOST_TURNS = 2**24  # nodes times values of a sum: half a minute
FEW_SUMS = 500  # outcomes of a sum that are added up one by one
MOST_ANGLE = 2**20  # radians of one turn

Turn = tuple[int, int]
Values = Sequence[tuple[Fraction, Fraction]]
"""A variable: its values, each with its weight; the weights sum to about 1."""


def turned(a: Turn, b: Turn) -> Turn:
    """The product."""
    return (a[0] * b[0] - a[1] * b[1]) >> POINT, (a[0] * b[1] + a[1] * b[0]) >> POINT


def turn(angle: Fraction) -> Turn:
    """e^{i·angle} within 2 units: the exponential series at angle/2^s, squared s times."""
    afford(math.ceil(abs(angle)), MOST_ANGLE, "an angle")
    halvings, bits = math.ceil(abs(angle)).bit_length() + 8, POINT + SPARE
    small = (angle.numerator << bits) // (angle.denominator << halvings)
    parts, term = [1 << bits, 0], 1 << bits
    for j in range(1, SERIES):
        term = ((term * small) >> bits) // j
        parts[j % 2] += term if j % 4 < 2 else -term
    for _ in range(halvings):
        parts = [(parts[0] ** 2 - parts[1] ** 2) >> bits, (2 * parts[0] * parts[1]) >> bits]
    return parts[0] >> SPARE, parts[1] >> SPARE


def powered(a: Turn, n: int) -> Turn:
    """a^n; where a is within e units of a number of modulus at most 1, within 2n(e + 2) units."""
    found = (1 << POINT, 0)
    while n:
        if n & 1:
            found = turned(found, a)
        a, n = turned(a, a), n >> 1
    return found


def powered_up(a: int, n: int) -> int:
    """a^n rounded up, for 0 ≤ a ≤ 1."""
    found = 1 << POINT
    while n:
        if n & 1:
            found = ((found * a) >> POINT) + 1
        a, n = ((a * a) >> POINT) + 1, n >> 1
    return found


# -- a contour --


@dataclass(frozen=True)
class ContourNodes:
    """θ + ikbθ for k = 0, 1, …, count, and the variance of the smoothing."""

    theta: Fraction
    b: Fraction
    variance: Fraction
    count: int

    @property
    def step(self) -> Fraction:
        return self.b * self.theta

    @property
    def fall(self) -> Fraction:
        """The Gaussian factor at node k is e^{−fall·k²}."""
        return self.step**2 * self.variance / 2

    @property
    def beyond(self) -> Fraction:
        """Σ e^{−fall·k²} over k > count, at most: a geometric series."""
        ratio = exp(-2 * self.count * self.fall).high
        return exp(-self.fall * self.count**2).high * ratio / (ONE - ratio)

    def gaussian(self) -> Iterator[int]:
        """The Gaussian factors at nodes 1, 2, …, within 4k² units: each is the last times a ratio that falls itself."""
        ratio, square = (int(exp(-j * self.fall).low * 2**POINT) for j in (1, 2))
        factor = 1 << POINT
        for _ in range(self.count):
            factor = (factor * ratio) >> POINT
            yield factor
            ratio = (ratio * square) >> POINT


Float = tuple[list[float], list[float]]


def moments(law: Float, theta: float) -> tuple[float, float, float]:
    """log E e^{θX}, and mean and variance of X under the weights e^{θX}."""
    values, weights = law
    top = max(theta * v for v in values)
    masses = [w * math.exp(theta * v - top) for v, w in zip(values, weights, strict=True)]
    mass = math.fsum(masses)
    mean = math.fsum(m * v for m, v in zip(masses, values, strict=True)) / mass
    spread = math.fsum(m * (v - mean) ** 2 for m, v in zip(masses, values, strict=True)) / mass
    return top + math.log(mass), mean, spread


def saddle(law: Float, n: int, variance: float = 0.0) -> float:
    """Where n·log E e^{θX} + θ²σ²/2 − 2 log θ is least, by halving: its derivative increases."""
    size = max(map(abs, law[0]))
    low, high = 1e-14 / size, 600 / size
    for _ in range(90):
        middle = math.sqrt(low * high)
        rising = n * moments(law, middle)[1] + middle * variance - 2 / middle > 0
        low, high = (low, middle) if rising else (middle, high)
    return high


def contour_for(law: Float, n: int, kappa: float) -> ContourNodes:
    """A contour near the saddle, with a smoothing of κ standard deviations, whose aliases are about 1e-10."""
    theta = saddle(law, n)
    deviation = math.sqrt(n * moments(law, theta)[2]) or 1 / theta
    sigma = kappa * deviation
    theta = saddle(law, n, sigma**2)
    height = n * moments(law, theta)[0] + (theta * sigma) ** 2 / 2
    size = height - 2 * math.log(theta) - math.log(deviation) - 1  # about the logarithm of the result
    twice = n * moments(law, 2 * theta)[0] + 2 * (theta * sigma) ** 2 - math.log(2 * math.e * theta)
    reach = max(30.0, 30 - size - math.log(theta), twice - size + 25)  # of θ times the period
    b = Fraction(max(1, round(2**30 * 2 * math.pi / reach)), 2**30)
    exact = Fraction(theta)
    variance = Fraction(sigma) ** 2
    count = math.ceil(math.sqrt(2 * GONE / (float(b) * theta * sigma) ** 2))
    return ContourNodes(exact, b, variance, count)


def as_floats(law: Values) -> Float:
    return [float(v) for v, _ in law], [float(w) for _, w in law]


# -- what is summed --


def tilted(law: Values, theta: Fraction) -> tuple[list[Interval], Interval]:
    """w·e^{θx} for every value, and E e^{θX}."""
    masses = [exp(theta * x) * w for x, w in law]
    low, high = (sum(m.low for m in masses), sum(m.high for m in masses))
    return masses, Interval(Fraction(low), Fraction(high))


def moments_on(law: Values, nodes: ContourNodes) -> Iterator[tuple[Turn, int]]:
    """E e^{(θ+ikbθ)X} / E e^{θX} at nodes 1, 2, …, and how many units it may be off."""
    masses, mass = tilted(law, nodes.theta)
    now = [(int(m.low / mass.high * 2**POINT), 0) for m in masses]
    steps = [turn(nodes.step * x) for x, _ in law]
    afford(nodes.count * len(law), MOST_TURNS, "nodes of a contour")
    for k in range(1, nodes.count + 1):
        now = list(map(turned, now, steps))
        yield (sum(a for a, _ in now), sum(b for _, b in now)), 6 * len(law) * (k + 1)


def squared(moment: Turn, off: int) -> int:
    """The squared modulus, rounded up; at most 1."""
    return min(1 << POINT, ((moment[0] ** 2 + moment[1] ** 2) >> POINT) + 3 * off + 1)


def raised(law: Values, n: int, nodes: ContourNodes) -> Interval:
    """(E e^{θX})^n·e^{θ²σ²/2}, the common factor of all nodes."""
    mass = tilted(law, nodes.theta)[1]
    more = nodes.theta**2 * nodes.variance / 2
    return exp(Interval(n * ln(mass.low).low + more, n * ln(mass.high).high + more))


def positive_part(law: Values, n: int, kappa: float) -> Interval:
    """E[(X_1 + … + X_n)₊] for independent copies of X.

    Smoothed by a normal variable of variance σ², the sum over the nodes is at least that, and at most aliases and σ²
    times the density at 0 above it.
    """
    if len(law) == 1:
        return ends(max(ZERO, n * law[0][0]))
    if math.comb(n + len(law) - 1, n) <= FEW_SUMS:
        return ends(added_up(law, n))
    nodes = contour_for(as_floats(law), n, kappa)
    shift = turn(nodes.theta * nodes.variance * nodes.step)
    phase, above, density, lost = (1 << POINT, 0), 0, 0, 0
    top, scale = nodes.b.numerator, nodes.b.denominator
    for k, ((moment, off), gauss) in enumerate(zip(moments_on(law, nodes), nodes.gaussian(), strict=True), 1):
        phase = turned(phase, shift)
        if n * ((1 << POINT) - squared(moment, off)) > 2 * GONE << POINT:
            lost += 1 << (POINT - GONE)  # e^-90 is below 2^-90
            continue
        real, imaginary = turned(powered(moment, n), phase)
        across = top * k
        inner = real * (scale**2 - across**2) + 2 * imaginary * across * scale
        above += gauss * (inner * scale**2 // (scale**2 + across**2) ** 2) >> POINT
        density += gauss * real >> POINT
        lost += 2 * n * (off + 2) + 4 * k * k + 5 * k + 9
    one, rest = 1 << POINT, Fraction(2 * lost, 1 << POINT) + 2 * nodes.beyond
    common = raised(law, n, nodes) * nodes.b / (2 * PI)
    sums = [Fraction(one + 2 * part, one) for part in (above, density)]
    upper = common * Interval(max(ZERO, sums[0] - rest), sums[0] + rest) * (ONE / nodes.theta)
    spread = common * (sums[1] + rest) * (nodes.variance * nodes.theta)
    low = upper.low - spread.high - aliases(law, n, nodes, upper.high)
    return Interval(max(ZERO, low), upper.high)


def added_up(law: Values, n: int) -> Fraction:
    """The same over how often each value occurs: exactly, for few people."""
    expected = ZERO
    for chosen in itertools.combinations_with_replacement(range(len(law)), n):
        size = sum((law[j][0] for j in chosen), ZERO)
        if size > 0:
            orders = math.factorial(n) // math.prod(math.factorial(chosen.count(j)) for j in set(chosen))
            expected += orders * size * math.prod(law[j][1] for j in chosen)
    return expected


def aliases(law: Values, n: int, nodes: ContourNodes, upper: Fraction) -> Fraction:
    """What the sum may exceed the integral by: U·q/(1−q) + L·q/(1−q)² + F(2θ)·q/(2eθ(1−q)), L the period, q = e^−θL."""
    length = (2 * PI / nodes.step).high
    q = exp(-2 * PI / nodes.b).high
    if q >= 1:
        raise Unsettled
    twice = ContourNodes(2 * nodes.theta, nodes.b, nodes.variance, nodes.count)
    far = raised(law, n, twice).high / (2 * exp(ONE).low * nodes.theta)
    return upper * q / (1 - q) + length * q / (1 - q) ** 2 + far * q / (1 - q)


def without_phase(law: Values, n: int, nodes: ContourNodes) -> Fraction:
    """(1/2π)∫|m(θ+iu)|^n·e^{(θ²−u²)σ²/2}/(θ²+u²) du, at most: an even power is taken, for which a sum over nodes is."""
    total, top, scale = 0, nodes.b.numerator, nodes.b.denominator
    for k, ((moment, off), gauss) in enumerate(zip(moments_on(law, nodes), nodes.gaussian(), strict=True), 1):
        size = squared(moment, off)
        if n * ((1 << POINT) - size) > 2 * (GONE + 2) << POINT:
            total += 1 << (POINT - GONE)
            continue
        height = (gauss + 4 * k * k) * powered_up(size, n // 2) >> POINT
        total += (height + 1) * scale**2 // (scale**2 + (top * k) ** 2) + 1
    summed = 1 + Fraction(2 * total, 1 << POINT) + 2 * nodes.beyond
    return (raised(law, n, nodes) * nodes.b / (2 * PI)).high * summed / nodes.theta


def by_markov(law: Values, n: int, theta: Fraction) -> Fraction:
    """E[(X_1 + … + X_n)₊] at most: s₊ ≤ e^{θs}/(eθ)."""
    mass = tilted(law, theta)[1]
    return exp(ends(n * ln(mass.high).high)).high / (exp(ONE).low * theta)
