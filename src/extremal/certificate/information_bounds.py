"""Bounds on information under ε-LDP that are checked by concavity alone.

Prices a with φ(P(T)) ≤ V + a(T) for every set T prove OPT ≤ V + (Σa − cV)⁺/E: a mechanism with column weights θ, Σθ =
s, covers every symbol by (1−s)/c, so Σθφ ≤ sV + (1−s)Σa/c, and 1−s ≤ c/E because every pattern is at most E. A number
in the proof is only a choice; whatever it is, the bound returned holds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.certificate.information_curve import Source, log1p, log_excess, positive_number, source_of
from extremal.certificate.refused import Refused
from extremal.exact.interval import Interval, up
from extremal.privacy import Notion
from extremal.utility import Utility


def fluid(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices g(p_x): the tangent of φ − V through the origin up to its contact z_c = t/c, φ − V beyond; V = t −
    ln(1+t).

    g is concave with g(0) = 0, hence subadditive, and g ≥ φ − V. Next to the contact the tangent is taken: it lies
    above.
    """
    source = source_of(privacy, utility, "fluid")
    curve, p = source.curve, source.p
    if not curve.c.hi > 0 or source.k == 1:
        return 0.0
    t = Interval.of(positive_number(proof, "contact"))
    v = log_excess(t)
    line, rest = (curve.top - curve.c * log1p(t)) * p, curve.value(p) - v
    beyond = p.lo > (t / curve.c).hi
    prices = Interval(np.where(beyond, rest.lo, line.lo), np.where(beyond, rest.hi, line.hi))
    return _with_excess(source, v, prices.sum())


def _with_excess(source: Source, v: Interval, prices: Interval) -> float:
    excess = (prices - source.curve.c * v).positive_part()
    return float((v + excess / source.curve.e).hi)


def _most(source: Source, slope: float) -> Interval:
    """M_d ≥ φ(z) − b·z for the sets of d = 1, …, k−1 symbols.

    Their mass z lies between the sums of the d smallest and d largest probabilities; there φ is below its tangent at
    any point y of them.
    """
    if not math.isfinite(slope):
        raise Refused("a slope must be finite", parameter="slope", value=slope)
    curve, b = source.curve, Interval.of(slope)
    low, high = source.sums(largest=False), source.sums(largest=True)
    c = float(curve.c.hi)
    guess = math.expm1(min((float(curve.top.hi) - slope) / c, math.log1p(c))) / c
    y = Interval.of(np.clip(guess, low.lo, high.hi))
    tilt = curve.slope(y) - b
    ends = [tilt * (Interval.of(end) - y) for end in (low.lo, high.hi)]
    rise = Interval(np.zeros(source.k - 1), np.maximum(0.0, np.maximum(ends[0].hi, ends[1].hi)))
    return curve.value(y) - b * y + rise


def affine(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices (cV−b)/k + b·p_x: T costs by its size d and mass z only, so V = max_d (k·M_d + d·b)/(k+cd) with M_d ≥ φ(z)
    − bz."""
    source = source_of(privacy, utility, "affine")
    curve, k = source.curve, source.k
    if not curve.c.hi > 0 or k == 1:
        return 0.0
    slope = float(proof["slope"])
    best, b = _most(source, slope), Interval.of(slope)
    size, count = Interval.of(np.arange(1.0, k)), Interval.of(float(k))
    bound = (count * best + size * b) / (count + curve.c * size)
    return max(0.0, float(bound.hi.max()))


def convex(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices max_i (A_i + b_i·p_x): T of size d and mass z costs at least d·A_i + b_i·z for every i, so one line that
    suffices for d is enough."""
    source = source_of(privacy, utility, "convex")
    curve, k = source.curve, source.k
    if not curve.c.hi > 0 or k == 1:
        return 0.0
    v = Interval.of(positive_number(proof, "value"))
    lines = [(float(a), float(b)) for a, b in proof["lines"]]
    if not lines or not all(math.isfinite(a) for a, _ in lines):
        raise Refused("there must be lines with finite offsets", parameter="lines", value=lines[:4])
    size = Interval.of(np.arange(1.0, k))
    short = [(_most(source, b) - v - size * Interval.of(a)).hi for a, b in lines]
    prices = [Interval.of(a) + Interval.of(b) * source.p for a, b in lines]
    highest = Interval(np.max([line.lo for line in prices], axis=0), np.max([line.hi for line in prices], axis=0))
    excess = max(0.0, float(np.min(short, axis=0).max()))
    return float(up(_with_excess(source, v, highest.sum()) + excess))


def response(_: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices φ(p_x) − V with V = I_RR: adding a symbol to a set costs at least D = φ(p₁)+φ(p₂)−φ(p₁+p₂) for the two
    smallest symbols.

    So φ(P(T)) ≤ V + a(T) + (|T|−1)(V−D)⁺, and the bound is V + (k−1)(V−D)⁺: V itself when randomised response is
    optimal.
    """
    source = source_of(privacy, utility, "response")
    curve, k = source.curve, source.k
    if not curve.c.hi > 0 or k == 1:
        return 0.0
    v = curve.value(source.p).sum() / (curve.c + Interval.of(float(k)))
    two = source.p[:2]
    both = Interval(np.asarray(two.lo.sum() * (1 - 2**-50)), up(two.hi.sum()))
    merge = curve.value(two).sum() - curve.value(both)
    short = (v - merge).positive_part()
    return float((v + Interval.of(float(k - 1)) * short).hi)
