"""Prices of the symbols, checked against every set by branch and bound: the certificate of column generation for
information.

To prove: φ(P(T)) ≤ V + slack + a(T) for all 2^k sets T. Masses are integers over 2^62 and prices integers over a power
of two, so the state of a node is exact; only the bound of a node is a float, and each of its terms carries a proven
margin.

*Search.* Symbols that are worth their price at the margin are in by default, the others out; they are decided in the
order of how little their price a/p differs from that margin. A node has decided some; the others can raise its mass at
a price of at least r⁺ a unit of mass, or lower it and save at most r⁻ ≤ r⁺. So no set below it is better than the
maximum of the concave φ(y) − a − r(y−z) over the masses within reach. Equal symbols are decided together, by their
number. A node whose bound is within V + slack is closed; what is left at the end, or when `MOST_NODES` is reached, adds
its excess to the bound, which therefore always holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate.information_curve import SERIES_BELOW, Curve, _series, positive_number, source_of
from extremal.certificate.refused import Refused
from extremal.exact.interval import Interval, up
from extremal.exact.weights import Floats
from extremal.privacy import Notion
from extremal.utility import MutualInformation, Utility

Integers = npt.NDArray[np.int64]

BITS = 62
MOST_NODES = 1 << 20  # at one level
HALF_ULP = 2.0**-53
_TIE = 1e-9  # relative: prices closer than this are decided by decreasing mass; the order is a choice, never a claim


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The bound V + largest excess + (Σa − cV)⁺/E."""
    source = source_of(privacy, utility, "prices")
    if not isinstance(utility, MutualInformation) or not source.curve.c.hi > 0 or source.k == 1:
        return 0.0
    given = np.array([float(a) for a in proof["prices"]])
    if given.shape != (utility.k,) or not np.isfinite(given).all():
        raise Refused("there must be one finite price for each input", parameter="prices", value=given.shape)
    v, slack = positive_number(proof, "value"), positive_number(proof, "slack")
    weights = utility.prior.weights
    support = [x for x, w in enumerate(weights) if w]
    mass = np.array([max(1, (weights[x] << BITS) // utility.prior.total) for x in support], dtype=np.int64)
    scale = BITS - 2 - math.frexp(math.fsum(np.abs(given[support])) + 1e-300)[1]
    price = np.array([math.floor(math.ldexp(a, scale)) for a in given[support].tolist()], dtype=np.int64)
    total = math.ldexp(float(sum(price.tolist())), -scale)
    excess = max(slack, _largest(_Items.of(mass, price, scale, source.curve), v + slack, source.curve, source.k) - v)
    surplus = (Interval.of(up(total)) - source.curve.c * Interval.of(v)).positive_part() / source.curve.e
    return float((Interval.of(v) + Interval.of(up(excess)) + surplus).hi)


@dataclass(frozen=True, eq=False)
class _Items:
    """Groups of equal symbols in the order of decision; everything exact but the slopes, which are on the safe side.

    Attributes:
        mass, price, count: of one symbol in units, and how many there are.
        start: how many are in by default.
        raise_slope, lower_slope: r⁺ and r⁻ of what is undecided before each level (and after the last).
        more, less: mass that can still be added or removed.
        unit: the float value of one unit of price.
    """

    mass: Integers
    price: Integers
    count: Integers
    start: Integers
    raise_slope: Floats
    lower_slope: Floats
    more: Integers
    less: Integers
    unit: float

    @classmethod
    def of(cls, mass: Integers, price: Integers, scale: int, curve: Curve) -> _Items:
        pairs, count = np.unique(np.stack([mass, price], axis=1), axis=0, return_counts=True)
        mass, price, unit = pairs[:, 0], pairs[:, 1], math.ldexp(1.0, -scale)
        ratio = (price * unit) / np.ldexp(mass.astype(np.float64), -BITS)
        start, margin = _default(mass, ratio, count, curve)
        distance = np.abs(ratio - margin)
        size = _TIE * (abs(margin) + float(np.abs(ratio).max()) * 1e-6 + 1e-300)
        order = np.lexsort((-mass, np.floor(distance / size)))
        mass, price, count, start, ratio = mass[order], price[order], count[order], start[order], ratio[order]
        spread = 4 * HALF_ULP * np.abs(ratio)  # one division and two conversions
        add = np.where(start < count, ratio - spread, np.inf)
        remove = np.where(start > 0, ratio + spread, -np.inf)
        backwards = slice(None, None, -1)
        lowest = np.append(np.minimum.accumulate(add[backwards])[backwards], np.inf)
        highest = np.append(np.maximum.accumulate(remove[backwards])[backwards], -np.inf)
        more = np.append(np.cumsum(((count - start) * mass)[backwards])[backwards], 0)
        less = np.append(np.cumsum((start * mass)[backwards])[backwards], 0)
        return cls(mass, price, count, start, lowest, highest, more, less, unit)


def _default(mass: Integers, ratio: Floats, count: npt.NDArray[np.intp], curve: Curve) -> tuple[Integers, float]:
    """How many of each group are in when symbols are taken by increasing price until the next one is not worth it; that
    margin."""
    top, c = float(curve.top.hi), float(curve.c.hi)
    start, z = np.zeros(mass.size, dtype=np.int64), 0.0
    for g in np.argsort(ratio, kind="stable").tolist():
        p, r = math.ldexp(float(mass[g]), -BITS), float(ratio[g])
        room = math.expm1(min(max((top - r) / c, 0.0), 700.0)) / c - z
        start[g] = min(int(count[g]), max(0, math.floor(room / p)))
        z += float(start[g]) * p
        if start[g] < count[g]:
            return start, r
    return start, top - c * math.log1p(c * z)


def _largest(items: _Items, threshold: float, curve: Curve, k: int) -> float:
    """An upper bound on max_T φ(P(T)) − a(T), no better than `threshold`."""
    bounds = _Bounds(items, curve, k)
    z = np.array([int((items.start * items.mass).sum())], dtype=np.int64)
    a = np.array([int((items.start * items.price).sum())], dtype=np.int64)
    for level in range(items.mass.size + 1):
        bound = bounds.at(level, z, a)
        kept = bound > threshold
        z, a, bound = z[kept], a[kept], bound[kept]
        if not z.size:
            return threshold
        if level == items.mass.size or z.size * (int(items.count[level]) + 1) > MOST_NODES:
            return float(bound.max())
        change = np.arange(items.count[level] + 1) - items.start[level]
        z = (z[:, None] + change * items.mass[level]).ravel()
        a = (a[:, None] + change * items.price[level]).ravel()
    return threshold


class _Bounds:
    """The bound of nodes at each level."""

    def __init__(self, items: _Items, curve: Curve, k: int) -> None:
        self.items = items
        self.top, self.c = float(curve.top.hi), float(curve.c.lo)
        whole = curve.slope(Interval.of(1.0))
        steepest = max(self.top, abs(float(whole.lo)))
        self.rounding = steepest * k * 2.0 ** (1 - BITS)  # integer masses are off by at most one unit for each symbol
        self.turn, self.tilt = zip(
            *(self._turning(slope, curve) for slope in (items.raise_slope, items.lower_slope)), strict=True
        )
        crossed = items.lower_slope - items.raise_slope
        self.crossing = np.where(
            np.isfinite(crossed), np.maximum(crossed, 0.0), 0.0
        )  # exchange at a profit, if rounding crossed the slopes

    def _turning(self, slope: Floats, curve: Curve) -> tuple[Integers, Floats]:
        """Where φ' equals each slope, in units, and by how much φ' may differ there: φ(y) − ry is larger elsewhere by
        at most that."""
        finite = np.isfinite(slope)
        r = np.where(finite, slope, 0.0)
        y = np.clip(np.expm1(np.clip((self.top - r) / self.c, 0.0, 700.0)) / self.c, 0.0, 1.0)
        units = np.floor(np.ldexp(y, BITS)).astype(np.int64)
        inside = Interval.of(np.ldexp(units.astype(np.float64), -BITS))
        off = curve.slope(inside) - Interval.of(r)
        tilt = np.where(
            (y > 0) & (y < 1),
            np.maximum(np.abs(off.lo), np.abs(off.hi)),
            np.maximum(0.0, np.where(y > 0, -off.lo, off.hi)),
        )
        return units, np.where(finite, tilt, 0.0)

    def at(self, level: int, z: Integers, a: Integers) -> Floats:
        """Upper bounds for nodes with masses z and prices a, in units."""
        items = self.items
        low, high = self.turn[0][level], self.turn[1][level]
        raised = np.minimum(np.maximum(z, low), z + items.more[level]) if items.more[level] else z
        lowered = np.maximum(np.minimum(z, high), z - items.less[level]) if items.less[level] else z
        y = np.where(z < low, raised, lowered)
        slope = np.where(y > z, items.raise_slope[level], np.where(y < z, items.lower_slope[level], 0.0))
        moved = slope * np.ldexp((y - z).astype(np.float64), -BITS)
        paid = a * items.unit
        worth = self._worth(np.ldexp(y.astype(np.float64), -BITS))
        margin = 8 * HALF_ULP * (np.abs(moved) + np.abs(paid) + np.abs(worth))
        return np.asarray(
            worth
            - paid
            - moved
            + margin
            + (self.tilt[0][level] + self.tilt[1][level] + self.crossing[level] + self.rounding)
        )

    def _worth(self, z: Floats) -> Floats:
        """φ(z) from above: f(c) rounded up, f(cz) with its largest error subtracted."""
        d = self.c * z
        first = z * self.top
        if self.c < SERIES_BELOW:
            f = _series(d, 1)
            return np.asarray(first - f + 32 * HALF_ULP * (first + f))
        whole = (1 + d) * np.log1p(d)
        return np.asarray(first - (whole - d) + HALF_ULP * (4 * first + 24 * whole + 8 * d))
