"""Several questions to the same people, each shuffled apart: the losses of independent shuffles add up.

A person's answers to T questions are shuffled question by question, so that nothing links them. For one question let
δ(ε) be an upper bound, for all data sets and both orders of all pairs, at ε = h, 2h, …, Jh. True profiles are convex in
e^ε, so the chords of these bounds (of their lower convex hull) lie above them, and they are the profile of a pair of
distributions on losses that are multiples of h, which dominates every pair of data sets of that question (Doroshenko,
Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots, PETS 2022). The product of these pairs dominates the questionnaire;
its losses are sums, so that their law is a product of polynomials, multiplied in balls.

Where a question has many pairs of inputs, the profile takes long, and (ε,δ) pairs are added up instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, fmpq

from extremal.exact.bisection import bisected
from extremal.theory.shuffle.accounting import gaussian_guess, largest_delta
from extremal.theory.shuffle.contour import largest
from extremal.theory.shuffle.reports import PairReports

KNOTS = 120  # at which a profile is bounded: the composed ε is then within 2e-4 of the limit
MOST_PAIRS = 8  # of inputs, up to which profiles are followed
BEYOND = 1000  # the last knot has a δ about this much below the share of a question


@dataclass(frozen=True)
class Losses:
    """Probabilities of the losses −Jh, …, Jh under the first of two distributions, and of an infinite loss."""

    masses: arb_poly
    infinite: arb

    @classmethod
    def from_profile(cls, deltas: Sequence[arb], step: arb) -> Losses:
        """From upper bounds of δ at h, 2h, …, Jh that hold for both orders of a pair."""
        knots = len(deltas)
        places = [*range(-knots, 0), *range(1, knots + 1)]
        xs = {j: (step * j).exp() for j in places}
        # δ(−ε) of a pair is 1 − e^−ε + e^−ε·δ(ε) of the pair in the other order
        values = {j: deltas[j - 1] if j > 0 else 1 - xs[j] + xs[j] * deltas[-j - 1] for j in places}
        hull = _hull([(arb(0), arb(1), -knots - 1), *((xs[j], values[j].upper(), j) for j in places)])
        masses = [arb(0)] * (2 * knots + 1)
        for (x0, d0, _), (x1, d1, place), (x2, d2, _) in zip(hull, hull[1:], [*hull[2:], hull[-1]], strict=False):
            before = (d1 - d0) / (x1 - x0)
            after = arb(0) if place == knots else (d2 - d1) / (x2 - x1)
            masses[place + knots] = (x1 * (after - before)).max(arb(0))
        return cls(arb_poly(masses), deltas[-1])


Knot = tuple[arb, arb, int]


def _hull(points: list[Knot]) -> list[Knot]:
    """The lower convex hull, from left to right."""
    kept: list[Knot] = []
    for point in points:
        while len(kept) > 1 and not _turns_up(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _turns_up(a: Knot, b: Knot, c: Knot) -> bool:
    return bool((b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0]))


def composed(several: Sequence[Losses], step: arb) -> Callable[[Fraction], arb]:
    """ε ↦ an upper bound of δ for all questions together; steps must be the same."""
    product, finite, knots = arb_poly([1]), arb(1), 0
    for losses in several:
        product = product * losses.masses
        finite *= 1 - losses.infinite
        knots += (losses.masses.length() - 1) // 2
    masses = [product[j] for j in range(2 * knots + 1)]
    # Σ over losses above ε of mass·(1 − e^{ε − loss}): two sums from the right
    plain, damped = [arb(0)], [arb(0)]
    for j in range(2 * knots, -1, -1):
        plain.append(plain[-1] + masses[j])
        damped.append(damped[-1] + masses[j] * (-step * (j - knots)).exp())

    def delta(epsilon: Fraction) -> arb:
        level = arb(fmpq(epsilon.numerator, epsilon.denominator))
        near = knots - int(float(level / step))  # the number of losses above ε; one more or less adds nothing positive
        counts = [max(0, min(2 * knots + 1, near + more)) for more in (-1, 0, 1)]
        sums = [plain[count] - level.exp() * damped[count] for count in counts]
        return (1 - finite + largest(sums)).upper()

    return delta


def composed_upper(questions: Sequence[Sequence[PairReports]], n: int, delta: Fraction) -> float | None:
    """A proved upper end of ε at δ for all questions together, or None where a question has too many pairs."""
    if any(len(pairs) > MOST_PAIRS for pairs in questions):
        return None
    share = float(delta) / len(questions) / BEYOND
    reach = max(gaussian_guess(max(max(p.other_indices) for p in pairs), n, share) for pairs in questions if pairs)
    step = Fraction(repr(reach * 1.1 / KNOTS))
    profiles: dict[int, Losses] = {}
    for pairs in questions:
        if pairs and id(pairs) not in profiles:
            bounds = [largest_delta(pairs, n, step * j, quick=True) for j in range(1, KNOTS + 1)]
            profiles[id(pairs)] = Losses.from_profile(bounds, arb(fmpq(step.numerator, step.denominator)))
    if not profiles:
        return 0.0
    found = composed([profiles[id(pairs)] for pairs in questions if pairs], arb(fmpq(step.numerator, step.denominator)))
    goal = arb(fmpq(delta.numerator, delta.denominator))
    top = float(step) * KNOTS * len(questions)

    def holds(epsilon: float) -> bool:
        return bool(found(Fraction(repr(epsilon))) <= goal)

    return bisected(holds, 0.0, top, width=top * 1e-9) if holds(top) else None
