"""Limits for a ratio of two means, E A/E B, of numbers (A, B) that each report contributes.

r is in the confidence set exactly if the limits of the linear statistic E(A − rB) hold zero: the set covers the true
ratio as often as those limits cover zero, however small the denominator is. With Gaffke's limits (`bounded`) no limit
need be found for that: r is too large where P(Σ W_y (a_y − r b_y) ≥ 0) is below the tail. A report with a = b = 0 adds
nothing to that sum, so that a share within a group that is seen has the limits of the group's own reports. If A takes
two values in such a group their count is binomial given its size, and the limits are those of `binomial`, exact.

Where the limits of E B hold zero every ratio is possible. An estimate outside the bounds is moved into them first, with
its limits, as everywhere. The search is over the angle φ of r = tan φ, which has an end where r has none.

References: Fieller, J. R. Statist. Soc. B 16 (1954), who inverted the normal limits of the same statistic; Gaffke,
Math. Methods Statist. 14 (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from extremal.columns.lists import Codes
from extremal.estimate.channels.channel import TWO_VALUES, two_valued
from extremal.estimate.intervals.binomial import beta_limits, mapped, mapped_limits, rising_root
from extremal.estimate.intervals.bounded import moved_within, upper_tails
from extremal.exact.weights import Floats

_DIGITS = 10  # of a contribution, relative to the largest: those that agree to so many are one value
_TINY = 1e-300  # a tail that is taken for this one is beyond every level


@dataclass(frozen=True, eq=False)
class Ratio:
    """What reports contribute to both means.

    Attributes:
        top, bottom: a_y and b_y of each report that can occur.
        shares: how often each did, as a share of all.
        n: how many reports there are, or how many are as precise.
        bounds: of the ratio.
        simple: whether reports are independent and count alike.
    """

    top: Floats
    bottom: Floats
    shares: Floats
    n: float
    bounds: tuple[float, float]
    simple: bool

    @property
    def estimate(self) -> float:
        """Of the ratio."""
        return float(self.top @ self.shares) / float(self.bottom @ self.shares)

    def merged(self) -> Ratio:
        """The same with reports that contribute the same put together."""
        scale = max(float(np.abs(self.top).max()), float(np.abs(self.bottom).max()), _TINY)
        pairs, back = np.unique(np.round((self.top + 1j * self.bottom) / scale, _DIGITS), return_inverse=True)
        first = np.zeros(pairs.size, dtype=np.intp)
        first[back] = np.arange(back.size)
        shares = np.bincount(back, weights=self.shares, minlength=pairs.size)
        return replace(self, top=self.top[first], bottom=self.bottom[first], shares=np.asarray(shares, np.float64))

    def exact(self, level: float) -> tuple[float, float] | None:
        """Limits from a binomial count; None where there is none."""
        inside = np.abs(self.bottom - 1) <= TWO_VALUES
        outside = (np.abs(self.bottom) <= TWO_VALUES) & (np.abs(self.top) <= TWO_VALUES)
        least, most = self.bounds
        values = self.top[inside]
        bounded = bool(np.isfinite(self.bounds).all()) and least < most
        if not (bounded and (inside | outside).all() and two_valued(values[None, :])[0]):
            return None
        small, step = float(values.min()), float(np.ptp(values))
        group = float(self.shares[inside].sum())
        share = float(self.shares[inside & (self.top > small + step / 2)].sum()) / group
        above, below = (np.array([(end - small) / step]) for end in (most, least))
        n = self.n * group
        if self.simple:
            found = mapped_limits(np.rint(n * np.array([share])).astype(np.int64), round(n), level, above, below)
        else:
            low = beta_limits(n * np.minimum(share, above), n, level)[..., 0]
            high = beta_limits(n * np.maximum(share, below), n, level)[..., 1]
            found = mapped(low, high, above, below)
        low, high = (least + (most - least) * found[0]).tolist()
        return low, high


def ratio_limits(ratios: Sequence[Ratio], level: float) -> Floats:
    """Rows (low, high).

    >>> half = Ratio(np.array([0.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]), np.array([0.5, 0.1, 0.4]), 50, (0, 1), True)
    >>> ratio_limits([half], 0.95).round(3).tolist()  # 5 of 30, whoever else reported
    [[0.068, 0.345]]
    """
    found = np.zeros((len(ratios), 2))
    rest = []
    for place, ratio in enumerate(ratios):
        limits = ratio.exact(level)
        if limits is None:
            rest.append(place)
        else:
            found[place] = limits
    if rest:
        found[rest] = _gaffke([ratios[place].merged() for place in rest], level)
    return found


def _gaffke(ratios: list[Ratio], level: float) -> Floats:
    size = max(ratio.shares.size for ratio in ratios)
    top = np.stack([np.pad(ratio.top, (0, size - ratio.top.size), "edge") for ratio in ratios])
    bottom = np.stack([np.pad(ratio.bottom, (0, size - ratio.bottom.size), "edge") for ratio in ratios])
    counts = np.stack([np.pad(ratio.n * ratio.shares, (0, size - ratio.shares.size)) for ratio in ratios])
    tail, found = (1 - level) / 2, np.array([ratio.bounds for ratio in ratios], dtype=np.float64)
    known = np.flatnonzero(upper_tails(-bottom, counts) < tail)  # that the denominator is not zero
    if known.size:
        estimate = np.array([ratios[place].estimate for place in known])
        least, most = found[known].T
        a, b, c = top[known], bottom[known], counts[known]
        largest = np.abs(a).max(axis=1)
        scale = np.where(largest > 0, largest, 1.0) / np.abs(b).max(axis=1)

        def excess(rows: Codes, angle: Floats, side: float) -> Floats:
            values = side * (np.cos(angle) / scale[rows])[:, None] * a[rows] - np.sin(angle)[:, None] * b[rows]
            return np.asarray(ndtri(tail) - ndtri(np.maximum(upper_tails(values, c[rows]), _TINY)))

        found[known] = inverted(excess, estimate, (least, most), scale)
    return found


def inverted(
    excess: Callable[[Codes, Floats, float], Floats], estimate: Floats, bounds: tuple[Floats, Floats], scale: Floats
) -> Floats:
    """Rows (low, high) of the ratios that a test accepts.

    Args:
        excess: for these rows and angles φ, how far beyond acceptance zero is as the upper limit of
            E(side·A·cos φ/scale − B·sin φ): negative where it is accepted.
        estimate: of each ratio, which is accepted.
        bounds: of each.
        scale: the ratio at φ = π/4.
    """
    least, most = bounds
    moved = estimate - np.clip(estimate, least, most)

    def upper(side: float, end: Floats) -> Floats:
        first = np.arctan(side * estimate / scale)
        span = np.maximum(np.arctan(end / scale) - first, 0.0)
        every = np.arange(estimate.size)
        found, beyond = end.copy(), np.flatnonzero(excess(every, first + span, side) > 0)
        if beyond.size:
            reached = rising_root(
                lambda angle: excess(beyond, first[beyond] + angle, side), np.zeros(beyond.size), span[beyond]
            )
            found[beyond] = scale[beyond] * np.tan(first[beyond] + reached)
        return found

    raw = np.column_stack([-upper(-1.0, -(least + moved)), upper(1.0, most + moved)])
    return moved_within(raw - moved[:, None], np.clip(estimate, least, most), least, most)
