"""Bounds on information under ε-LDP that are checked by concavity alone.

Prices a with φ(P(T)) ≤ V + a(T) for every set T prove OPT ≤ V + (Σa − cV)⁺/E: a mechanism with column weights θ, Σθ = s, covers every symbol by
(1−s)/c, so Σθφ ≤ sV + (1−s)Σa/c, and 1−s ≤ c/E because every pattern is at most E. A number in the proof is only a choice; whatever it is, the
bound returned holds.
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
    """Prices g(p_x): the tangent of φ − V through the origin up to its contact z_c = t/c, φ − V beyond; V = t − ln(1+t).

    g is concave with g(0) = 0, hence subadditive, and g ≥ φ − V. Next to the contact the tangent is taken: it lies above.
    """
    source = source_of(privacy, utility, "fluid")
    curve, p = source.curve, source.p
    if not curve.c.hi > 0:
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


def affine(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices (cV−b)/k + b·p_x: T costs by its size d and mass z only, so V = max_d (k·M_d + d·b)/(k+cd) with M_d ≥ φ(z) − bz.

    z lies between the sums of the d smallest and d largest probabilities; there φ is below its tangent at any point y of them.
    """
    source = source_of(privacy, utility, "affine")
    curve, k = source.curve, source.k
    if not curve.c.hi > 0 or k == 1:
        return 0.0
    slope = float(proof["slope"])
    if not math.isfinite(slope):
        raise Refused("slope must be finite", parameter="slope", value=slope)
    low, high, b = source.sums(largest=False), source.sums(largest=True), Interval.of(slope)
    c = float(curve.c.hi)
    guess = math.expm1(min((float(curve.top.hi) - slope) / c, math.log1p(c))) / c
    y = Interval.of(np.clip(guess, low.lo, high.hi))
    tilt = curve.slope(y) - b
    ends = [tilt * (Interval.of(end) - y) for end in (low.lo, high.hi)]
    rise = Interval(np.zeros(k - 1), np.maximum(0.0, np.maximum(ends[0].hi, ends[1].hi)))
    best = curve.value(y) - b * y + rise
    size, count = Interval.of(np.arange(1.0, k)), Interval.of(float(k))
    bound = (count * best + size * b) / (count + curve.c * size)
    return max(0.0, float(bound.hi.max()))


def response(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """Prices φ(p_x) − V with V = I_RR: adding a symbol to a set costs at least D = φ(p₁)+φ(p₂)−φ(p₁+p₂) for the two smallest symbols.

    So φ(P(T)) ≤ V + a(T) + (|T|−1)(V−D)⁺, and the bound is V + (k−1)(V−D)⁺: V itself when randomised response is optimal.
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
