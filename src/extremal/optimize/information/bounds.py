"""Two upper bounds on information under ε-LDP that need no search.

Both choose prices a_x of the staircase program: if φ(P(T)) ≤ V + a(T) for every set T and Σa ≤ cV then no ε-LDP
mechanism keeps more than V.
(Σθ = s, every symbol is covered by weight (1−s)/c, so Σθφ ≤ sV + (1−s)Σa/c.)

*Fluid.* For t ≥ 0 let V = t − ln(1+t) and z_c = t/c. The tangent of φ − V at z_c passes through the origin, so g(z) =
φ'(z_c)·z up to z_c and φ(z) − V above is concave with g(0) = 0, hence subadditive, and g ≥ φ − V: the prices a_x =
g(p_x) are feasible when Σg(p_x) ≤ cV. Tight when light symbols can be grouped freely; loose when all symbols are of
about the size z_c.

*Affine.* a_x = (cV−b)/k + b·p_x. What T costs then depends only on its size d and mass z, and z lies between the sums
of the d smallest and the d largest probabilities: V = max_d (k·M_d + d·b)/(k+cd), M_d = max_z φ(z) − bz there. Exact
for the uniform prior, second order in the deviation from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from extremal.certificate import Concave, Proof
from extremal.exact import bisected
from extremal.optimize.problem import NO_CHANGE, decimal
from extremal.utility.curve import Floats, InformationCurve, log_excess


def fluid_contact(prior: Floats, curve: InformationCurve) -> float:
    """t with Σg(p_x) = cV: the contact is z_c = t/c and the bound V = t − ln(1+t)."""
    c, ordered = curve.c, np.sort(prior)
    masses = np.concatenate([[0.0], np.cumsum(ordered)])
    worth = np.concatenate([np.cumsum(curve.value(ordered)[::-1])[::-1], [0.0]])

    def surplus(t: float) -> float:
        light = int(np.searchsorted(ordered, t / c, side="right"))
        slope, v = curve.top - c * math.log1p(t), log_excess(t)
        return slope * float(masses[light]) + float(worth[light]) - (ordered.size - light) * v - c * v

    return bisected(lambda t: surplus(t) <= 0, 0.0, curve.top / c)


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
    return log_excess(t), Concave(decimal(t))


def affine(prior: Floats, curve: InformationCurve) -> tuple[float, Proof]:
    """The affine bound at its best slope, and its proof.

    >>> curve = InformationCurve(1.0)
    >>> bool(abs(affine(np.full(6, 1 / 6), curve)[0] - curve.rate(np.arange(1, 6) / 6).max()) < 1e-15)
    True
    """
    sizes = _Sizes(prior, curve)

    def bound(b: float) -> float:
        return float(((sizes.k * sizes.most(b) + sizes.d * b) / (sizes.k + curve.c * sizes.d)).max())

    b = _least(bound, float(curve.slope(1.0)), curve.top)
    v = bound(b)
    return v, Concave(decimal(v), ((decimal((curve.c * v - b) / sizes.k), decimal(b)),))


def convex(prior: Floats, curve: InformationCurve) -> tuple[float, Proof]:
    """Prices max(A₁ + b₁p, A₂ + b₂p), one line for the sizes up to d, one for those above: where two sizes are about
    equally good, heavy symbols go into the smaller sets and light ones into the larger, and one line cannot price both.

    >>> prior = (1 + 1e-3 * np.linspace(-1, 1, 1000)) / 1000
    >>> bool(convex(prior, InformationCurve(2.0))[0] < affine(prior, InformationCurve(2.0))[0])
    True
    """
    sizes = _Sizes(prior, curve)
    d = int(np.clip(np.floor(sizes.k * curve.best_mass), 1, sizes.k - 2)) if sizes.k > 2 else 1
    small = sizes.d <= d

    def solved(b: tuple[float, float]) -> tuple[float, list[float]]:
        parts = [(sizes.most(b[0])[small], sizes.d[small]), (sizes.most(b[1])[~small], sizes.d[~small])]

        def offsets(v: float) -> list[float]:
            return [float(((m - v) / n).max(initial=-np.inf)) for m, n in parts]

        def is_bound(v: float) -> bool:
            lines = [a + slope * prior for a, slope in zip(offsets(v), b, strict=True) if np.isfinite(a)]
            return float(np.max(lines, axis=0).sum()) <= curve.c * v

        v = bisected(is_bound, 0.0, 2 * curve.limit, width=NO_CHANGE * curve.limit)
        return v, offsets(v)

    slopes = [float(curve.slope(d / sizes.k)), float(curve.slope((d + 1) / sizes.k))]
    width = abs(slopes[0] - slopes[1])

    def with_slope(i: int, b: float) -> float:
        return solved((b, slopes[1]) if i == 0 else (slopes[0], b))[0]

    for _ in range(2):
        for i in (0, 1):
            slopes[i] = _least(partial(with_slope, i), slopes[i] - width, slopes[i] + width, 1e-4)
    v, offsets = solved((slopes[0], slopes[1]))
    lines = tuple((decimal(a), decimal(b)) for a, b in zip(offsets, slopes, strict=True) if np.isfinite(a))
    return v, Concave(decimal(v), lines)


class _Sizes:
    """Sets by their size d = 1, …, k−1, and the masses between which they lie."""

    def __init__(self, prior: Floats, curve: InformationCurve) -> None:
        ordered = np.sort(prior)
        self.curve, self.k, self.d = curve, prior.size, np.arange(1, prior.size)
        self.low, self.high = np.cumsum(ordered)[:-1], np.cumsum(ordered[::-1])[:-1]

    def most(self, b: float) -> Floats:
        """M_d = max φ(z) − bz over the masses of sets of d symbols."""
        z = np.clip(float(self.curve.argmax(b)), self.low, self.high)
        return np.asarray(self.curve.value(z) - b * z)


def _least(function: Callable[[float], float], left: float, right: float, accuracy: float = 1e-11) -> float:
    """Where a convex function is least, by golden section; it may be taken anywhere, so accuracy costs only
    tightness."""
    ratio, width = (math.sqrt(5) - 1) / 2, accuracy * (right - left)
    inner = [right - ratio * (right - left), left + ratio * (right - left)]
    found = [function(inner[0]), function(inner[1])]
    while right - left > width:
        if found[0] <= found[1]:
            right, inner[1], found[1] = inner[1], inner[0], found[0]
            inner[0] = right - ratio * (right - left)
            found[0] = function(inner[0])
        else:
            left, inner[0], found[0] = inner[0], inner[1], found[1]
            inner[1] = left + ratio * (right - left)
            found[1] = function(inner[1])
    return inner[int(found[1] < found[0])]
