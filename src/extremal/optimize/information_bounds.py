"""Two upper bounds on information under ε-LDP that need no search.

Both choose prices a_x of the staircase program: if φ(P(T)) ≤ V + a(T) for every set T and Σa ≤ cV then no ε-LDP mechanism keeps more than V.
(Σθ = s, every symbol is covered by weight (1−s)/c, so Σθφ ≤ sV + (1−s)Σa/c.)

*Fluid.* For t ≥ 0 let V = t − ln(1+t) and z_c = t/c. The tangent of φ − V at z_c passes through the origin, so g(z) = φ'(z_c)·z up to z_c and
φ(z) − V above is concave with g(0) = 0, hence subadditive, and g ≥ φ − V: the prices a_x = g(p_x) are feasible when Σg(p_x) ≤ cV. Tight when
light symbols can be grouped freely; loose when all symbols are of about the size z_c.

*Affine.* a_x = (cV−b)/k + b·p_x. What T costs then depends only on its size d and mass z, and z lies between the sums of the d smallest and
the d largest probabilities: V = max_d (k·M_d + d·b)/(k+cd), M_d = max_z φ(z) − bz there. Exact for the uniform prior, second order in the deviation from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.theory.curve import Floats, InformationCurve, log_excess

Proof = dict[str, Any]

_STEPS = 200  # halvings; bisection stops earlier when the floats are adjacent


def fluid_contact(prior: Floats, curve: InformationCurve) -> float:
    """t with Σg(p_x) = cV: the contact is z_c = t/c and the bound V = t − ln(1+t)."""
    c, worth = curve.c, curve.value(prior)
    low, high = 0.0, curve.top / c

    def surplus(t: float) -> float:
        light = prior <= t / c
        slope = curve.top - c * math.log1p(t)
        v = log_excess(t)
        return slope * float(prior[light].sum()) + float((worth[~light] - v).sum()) - c * v

    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if surplus(middle) > 0:
            low = middle
        else:
            high = middle
    return high


def fluid_prices(prior: Floats, curve: InformationCurve, t: float) -> Floats:
    """a_x = g(p_x)."""
    slope = curve.top - curve.c * math.log1p(t)
    return np.where(prior <= t / curve.c, slope * prior, curve.value(prior) - log_excess(t))


def fluid(prior: Floats, curve: InformationCurve) -> tuple[float, Proof]:
    """The fluid bound and its proof.

    >>> round(fluid(np.full(1000, 1e-3), InformationCurve(1.0))[0] / InformationCurve(1.0).limit, 9)
    1.0
    """
    t = fluid_contact(prior, curve)
    return log_excess(t), {"kind": "fluid", "contact": repr(t)}


def affine(prior: Floats, curve: InformationCurve) -> tuple[float, Proof]:
    """The affine bound at its best slope, and its proof.

    >>> curve = InformationCurve(1.0)
    >>> bool(abs(affine(np.full(6, 1 / 6), curve)[0] - curve.rate(np.arange(1, 6) / 6).max()) < 1e-15)
    True
    """
    ordered = np.sort(prior)
    k, c = prior.size, curve.c
    low, high, size = np.cumsum(ordered)[:-1], np.cumsum(ordered[::-1])[:-1], np.arange(1, k)

    def bound(b: float) -> float:
        z = np.clip(float(curve.argmax(b)), low, high)
        return float(((k * (curve.value(z) - b * z) + size * b) / (k + c * size)).max())

    left, right = float(curve.slope(1.0)), curve.top
    ratio = (math.sqrt(5) - 1) / 2
    inner = [right - ratio * (right - left), left + ratio * (right - left)]
    found = [bound(inner[0]), bound(inner[1])]
    while right - left > 1e-11 * curve.top:  # convex in b; the bound is valid at every b
        if found[0] <= found[1]:
            right, inner[1], found[1] = inner[1], inner[0], found[0]
            inner[0] = right - ratio * (right - left)
            found[0] = bound(inner[0])
        else:
            left, inner[0], found[0] = inner[0], inner[1], found[1]
            inner[1] = left + ratio * (right - left)
            found[1] = bound(inner[1])
    best = int(found[1] < found[0])
    return found[best], {"kind": "affine", "slope": repr(inner[best])}
