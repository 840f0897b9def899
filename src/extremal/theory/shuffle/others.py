"""An upper bound over every data set that misses the truth by O(1/n): the worst others are equal others.

The blanket shows an adversary who did not report from it, and that costs up to 34% of ε for binary response. Here
nothing is shown but an exchange.

**Exchange.** The differing person reports d, the others z_2, …, z_n from rows R_2, …, R_n of one support, and W is any
law on it; w_j = W/R_j. With N(z) = 1 + Σ w_j(z_j), keep the order with probability 1/N(z), and exchange d and z_j with
probability w_j(z_j)/N(z). Shuffling forgets the exchange, so the divergence of the tuple v after it is an upper bound.
Its density, relative to W ⊗ R_2 ⊗ … ⊗ R_n, is Σ_j (Q/R_j)(v_j)/N_j with R_1 = W, N = 1 + Σ_{j≥2} w_j(v_j), N_1 = N and
N_j = N + w_j(v_1) − w_j(v_j): the factor R_j(v_1) cancels. So H_ε ≤ E[(Σ_j G_j(v_j)/N_j)₊], G_j = (Q(·|x₀) −
e^ε·Q(·|x₁))/R_j, with equality for equal others and W = R.

**Range.** Put x = 1 − N/n, so that nx = Σ_{j≥2}(1 − w_j(v_j)). Outside −b ≤ x ≤ a the integrand costs at most the
probability β of that, by Chernoff for the independent w_j(z_j), from which N(v) differs by at most D = max w − min w.
The logarithm of Chernoff's bound is linear in the numbers of people who hold each input, so one input alone is worst.

**Given v_1 = y**, the other terms are independent. Inside the range N lies between N_0 = n(1−a) and N_1 = n(1+b), and
G_j/N_j = (1/N)·G_j·N/(N + c) with c = w_j(y) − w_j(v_j) is at most (1/N)·G̃_j, the larger of the two values at N_0 and
N_1. Several y may be treated together, with the largest of their values; it is monotone in w_j(y). Also 1/N ≤
(1/n)·e^x·e^s with s = max(−log(1−a) − a, b − log(1+b)), and e^x is a product over the slots.

**Contour, absolute values, convexity.** Smoothing only adds, and with m_{x,y}(z) = E_{Q(·|x)}[e^{(1−w_x)/n}·e^{zG̃}]

    H_ε ≤ β + (e^s/n)·Σ_y W(y)·e^{θG_W(y)}·(1/2π)∫ Π_x |m_{x,y}(θ+iu)|^{n_x}·e^{(θ²−u²)σ²/2}/(θ²+u²) du,

n_x people holding x. The integrand is the exponential of a linear function of the n_x, hence convex, and the maximum
over all data sets is at one where all others hold the same x. An even power of |m| times the Gaussian factor times
1/(θ²+u²) is a characteristic function, so the trapezoid sum is again an upper bound as it stands.

Prior work: the blanket of Balle, Bell, Gascón and Nissim (CRYPTO 2019); this exchange argument is new here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb, fmpq

from extremal.exact.weights import Floats
from extremal.theory.shuffle.contour import (
    EDGE,
    EXPONENT_SLACK,
    MOST_NODES,
    NEGLIGIBLE,
    Contour,
    Law,
    beyond,
    largest,
    log_moduli,
    total_of,
)
from extremal.theory.shuffle.reports import Classes, PairReports

OUTSIDE = 1e-5  # share of the target δ that the range may cost, on either side
ALIASED = 21.0  # −log of what the trapezoid rule may add, relative: 1e-9


@dataclass(frozen=True)
class HeldInput:
    """An input x that others may hold, with the pair: for each class of reports Q(·|x₀), Q(·|x₁), R = Q(·|x), W and w =
    W/R, exactly, and the parts into which the first report is divided."""

    classes: Classes
    guide: tuple[fmpq, ...]
    ratios: tuple[fmpq, ...]
    parts: tuple[int, ...]

    @cached_property
    def floats(self) -> tuple[Floats, Floats]:
        """R and 1 − w."""
        return np.array([float(r) for _, _, r in self.classes]), np.array([float(1 - w) for w in self.ratios])

    def chernoff(self, sign: int, rate: arb) -> arb:
        """E e^{±λ(1−w)} under R."""
        pairs = zip(self.classes, self.ratios, strict=True)
        return sum((arb(r) * (sign * rate * arb(1 - w)).exp() for (_, _, r), w in pairs), arb(0))

    def gains(self, ratio: arb) -> list[arb]:
        """G = (Q(·|x₀) − e^ε·Q(·|x₁))/R."""
        return [(arb(q0) - ratio * arb(q1)) / arb(r) for q0, q1, r in self.classes]


def held_inputs(pair: PairReports, parts: int) -> list[HeldInput] | None:
    """The inputs that others may hold; None where the supports of the rows differ.

    W is the mean of the rows of the pair, or, where reports are listed, the row that reveals most. The first report is
    known exactly; where reports are listed it is known up to so many `parts`, of about equal w.
    """
    rows = [[r for _, _, r in classes] for classes in pair.other_classes]
    worst = max(range(len(rows)), key=lambda i: pair.other_indices[i])
    made = []
    for classes, row in zip(pair.other_classes, rows, strict=True):
        guide = tuple(rows[worst]) if pair.aligned else tuple((q0 + q1) / 2 for q0, q1, _ in classes)
        if not all(guide) or not all(row):
            return None
        made.append((classes, guide, tuple(w / r for w, r in zip(guide, row, strict=True))))
    if not pair.aligned:
        return [HeldInput(*x, _ranks(x[2], len(x[2]))) for x in made]
    second = max((i for i in range(len(rows)) if i != worst), key=lambda i: pair.other_indices[i])
    common = _ranks(made[second][2], parts)
    return [HeldInput(*x, common) for x in made]


def _ranks(ratios: tuple[fmpq, ...], parts: int) -> tuple[int, ...]:
    """Equal ratios in one part; about equally many different ones in each."""
    different = sorted(set(ratios))
    place = {ratio: i * parts // len(different) for i, ratio in enumerate(different)}
    return tuple(place[ratio] for ratio in ratios)


@dataclass(frozen=True)
class Range:
    """−b ≤ x ≤ a, what lies outside, and n."""

    n: int
    a: arb
    b: arb
    outside: arb

    @cached_property
    def ends(self) -> tuple[arb, arb]:
        return self.n * (1 - self.a), self.n * (1 + self.b)

    @property
    def slack(self) -> arb:
        return largest([-(1 - self.a).log() - self.a, self.b - (1 + self.b).log()])

    @classmethod
    def around(cls, inputs: list[HeldInput], n: int, target: float) -> Range | None:
        """A range whose outside costs little beside the target; None where it would reach too far."""
        spread = arb(max(max(x.ratios) - min(x.ratios) for x in inputs))
        lack = -math.log(target * OUTSIDE)
        reach, cost = [], arb(0)
        for sign in (1, -1):
            edge, rate = _reach(inputs, n, sign, lack)
            far, speed = arb(edge) + spread / n, arb(rate)
            worst = largest([x.chernoff(sign, speed) for x in inputs])
            cost += ((n - 1) * worst.log() - speed * (n * far - spread)).exp()
            reach.append(far)
        fits = reach[0] < 1 and 2 * spread < n * (1 - reach[0]) and cost < target / 2
        return cls(n, reach[0], reach[1], cost) if fits else None


def _reach(inputs: list[HeldInput], n: int, sign: int, lack: float) -> tuple[float, float]:
    """The smallest edge at which Chernoff's bound is e^−lack, with its λ; for the proof any will do."""
    shares = [x.floats for x in inputs]
    variance = max(float(r @ d**2) for r, d in shares)
    if variance == 0:
        return 0.0, 1.0
    start = math.sqrt(2 * lack / (n * variance))
    best = math.inf, start
    for rate in start * np.exp(np.linspace(-2.0, 0.7, 28)):
        with np.errstate(over="ignore"):  # a rate that is far too large loses
            moment = max(float(np.log1p(r @ np.expm1(sign * rate * d))) for r, d in shares)
        best = min(best, (((n - 1) * moment + lack) / (rate * n), float(rate)))
    return best[0] * 1.000001, best[1]


def everybody(pair: PairReports, n: int, ratio: arb, target: float, kappa: float, parts: int = 1) -> arb | None:
    """An upper bound of the divergence at e^ε = ratio for this pair and every data set; None where there is none.

    Args:
        pair: with the classes of every input that others may hold, up to symmetries that fix the pair.
        n: people, the differing one included.
        ratio: e^ε.
        target: the δ of interest; what lies outside the range costs little beside it.
        kappa: smoothing in standard deviations.
        parts: how finely the first report is known where reports are listed.
    """
    inputs = held_inputs(pair, parts)
    within = None if inputs is None else Range.around(inputs, n, target)
    if inputs is None or within is None:
        return None
    coarse = [_law(x, within, ratio, (min(x.ratios), max(x.ratios))) for x in inputs]
    saddles = [law.saddle(n) for law in coarse]
    sizes = [n * law.tilted(theta)[0] - 2 * math.log(theta) for law, theta in zip(coarse, saddles, strict=True)]
    order = sorted(range(len(inputs)), key=lambda i: -sizes[i])
    theta = saddles[order[0]]
    smoothing = kappa * math.sqrt(n * coarse[order[0]].tilted(theta)[2])
    scale = within.slack.exp() / n
    allowed = (arb(target) - within.outside) / scale
    best = arb(0)
    for i in order:
        simple = _without_phase(inputs[i], coarse[i], within, ratio, theta, smoothing)
        if not (simple <= best or simple <= allowed):
            simple = _vertex(inputs[i], within, ratio, theta, smoothing)
        best = largest([best, simple])
    return (within.outside + scale * best).upper()


def _law(x: HeldInput, within: Range, ratio: arb, seen: tuple[fmpq, ...]) -> Law:
    """G̃ with the weights R·e^{(1−w)/n}, the largest over what w(y) may be, of which the ends are given."""
    values, weights = [], []
    for gain, w, (_, _, r) in zip(x.gains(ratio), x.ratios, x.classes, strict=True):
        lacks = [arb(y - w) for y in set(seen)]
        values.append(largest([gain * end / (end + lack) for lack in lacks for end in within.ends]))
        weights.append(arb(r) * (arb(1 - w) / within.n).exp())
    return Law(tuple(values), tuple(weights))


def _without_phase(x: HeldInput, coarse: Law, within: Range, ratio: arb, theta: float, smoothing: float) -> arb:
    """The same by |m(θ+iu)| ≤ m(θ) and ∫du/(θ²+u²) = π/θ, for all y at once: enough for most inputs. A coarse law has
    larger values than any fine one, and so has its moment."""
    real = arb(theta)
    own = (within.n - 1) * coarse.moment(real).log() + (real * arb(smoothing)) ** 2 / 2
    return (own.exp() * sum(_first_report(x, ratio, real).values(), arb(0)) / (2 * real)).upper()


def _first_report(x: HeldInput, ratio: arb, theta: arb) -> dict[int, arb]:
    """Σ_y W(y)·e^{θG_W(y)} over each part."""
    sums: dict[int, arb] = {}
    for gain, w, guide, part in zip(x.gains(ratio), x.ratios, x.guide, x.parts, strict=True):
        sums[part] = sums.get(part, arb(0)) + arb(guide) * (theta * gain / arb(w)).exp()
    return sums


def _vertex(x: HeldInput, within: Range, ratio: arb, theta: float, smoothing: float) -> arb:
    """Σ_y W(y)·e^{θG_W(y)}·(1/2π)∫|m_{x,y}|^{n−1}…: all others hold x."""
    total = arb(0)
    for part, mass in _first_report(x, ratio, arb(theta)).items():
        seen = [w for w, where in zip(x.ratios, x.parts, strict=True) if where == part]
        law = _law(x, within, ratio, (min(seen), max(seen)))
        total += mass * _integral(law, within.n - 1, theta, smoothing)
    return total.upper()


def _integral(law: Law, count: int, theta: float, smoothing: float) -> arb:
    """An upper bound of (1/2π)∫|m(θ+iu)|^count·e^{(θ²−u²)σ²/2}/(θ²+u²) du."""
    deviation = math.sqrt(count * law.tilted(theta)[2])
    step = 2 * math.pi * theta / (ALIASED + (theta * deviation) ** 2 / 2)
    contour = Contour(theta, smoothing, step, math.ceil(math.sqrt(2 * EDGE) / (smoothing * step)) + 1)
    real, tau = arb(theta), arb(step)
    base = count * law.moment(real).log() + (real * arb(smoothing)) ** 2 / 2
    if contour.nodes > MOST_NODES:  # almost no spread is left: nothing to gain from the phase
        return base.exp() / (2 * real)
    heights = np.arange(1, contour.nodes + 1) * contour.step
    even = count - count % 2
    exponents = even * log_moduli(law, contour) - (heights * smoothing) ** 2 / 2 * (1 - EXPONENT_SLACK)
    shares = 1 / (1 + (heights / theta) ** 2) * 1.0000000001
    kept = exponents + np.log(shares) > NEGLIGIBLE
    total = arb(1) + 2 * (total_of(exponents[~kept], shares[~kept]) + beyond(contour))
    for exponent, share in zip(exponents[kept].tolist(), shares[kept].tolist(), strict=True):
        total += 2 * arb(share) * arb(exponent).exp()
    return base.exp() * tau / (2 * arb.pi()) * total / real**2
