"""Limits for the mean of one bounded number per report, when that number takes more than two values; and for sums of
several such means.

B ∈ [b_min, b_max] is what one report contributes, θ = E B. Gaffke's upper limit is the quantile of Σ_y W_y b_y, where W
is a Dirichlet vector with the counts of the reports as its parameters and one more for b_max; the lower limit is the
mirror image. With two values it is Clopper and Pearson's limit, and it is nowhere wider than their limit for the two
ends; in large samples it is the normal one. That it holds with at least its level for every bounded distribution was
conjectured by Gaffke (2005) and by Learned-Miller and Thomas (2020); there is no counterexample and no proof, so it is
not called exact here. It is enumerated in audit/estimate/exact_coverage.py.

P(Σ W_y b_y ≥ q) = P(Σ (b_y − q)G_y ≥ 0) for independent Gamma(c_y) variables G_y, with the cumulant generating function
K(t) = −Σ c_y log(1 − t(b_y − q)). At the saddlepoint, κ = q + 1/t > b_max says everything: t = Σ c_y/(κ − b_y)/N and
q = κ − 1/t, N = Σ c_y; so the quantile is one search over κ with Lugannani and Rice's formula (1980), which errs
outwards in these tails: by 0.003 of the range for n = 2, 0.002 for n = 5.

Sums of independent parts are *melded* (Fay, Proschan, Brittain 2015): the upper limit of Σ c_i θ_i is the quantile of
Σ c_i X_i, where X_i has the distribution whose quantiles are the upper limits of θ_i (its lower limits, where c_i < 0).
For the difference of two binomial shares this holds with at least its level in all that was ever enumerated, and no
limits of the parts are cut before they are combined.

References: Gaffke, Math. Methods Statist. 14 (2005); Learned-Miller and Thomas, arXiv:1905.06208 (2020); Lugannani and
Rice, Adv. Appl. Probab. 12 (1980); Fay, Proschan and Brittain, Biometrics 71 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv, ndtr

from extremal.estimate.intervals.binomial import rising_root
from extremal.exact.weights import Floats

_STEPS = 70  # halvings of the logarithm of κ − b_max, which spans some 60 powers of two
_FURTHEST = 1e9  # ranges that κ is above b_max at most: there the tail is one half
_NEAREST = 1e-9  # ranges that κ is above b_max at least
_HALF = 0.5  # a tail from which no level rejects
_CENTRE = 1e-4  # |w| below which the formula is replaced by its limit, where two large terms cancel
GRID = 257  # probabilities at which a confidence distribution is tabulated
_ENDS = 16.0  # logits between which they lie: tails of 1e-7


def gaffke_limits(values: Floats, counts: Floats, level: float) -> Floats:
    """Rows (low, high) for the mean of each row of `values`, of which each report takes one.

    Args:
        values: a row for each mean, a column for each report.
        counts: how often each report was seen, for each mean; they need not be whole.
        level: of confidence.

    >>> gaffke_limits(np.array([[0.0, 1.0]]), np.array([[7.0, 3.0]]), 0.95).round(2).tolist()  # Clopper and Pearson's
    [[0.07, 0.65]]
    """
    tail = np.full((len(values), 1), (1 - level) / 2)
    return np.hstack([-upper_quantiles(-values, counts, tail), upper_quantiles(values, counts, tail)])


def moved_within(limits: Floats, estimate: Floats, least: Floats, most: Floats) -> Floats:
    """Limits cut to what is possible, the estimate moved there first: never empty, and only wider."""
    low = limits[:, 0] - np.maximum(estimate - most, 0.0)
    high = limits[:, 1] + np.maximum(least - estimate, 0.0)
    return np.column_stack([np.clip(low, least, most), np.clip(high, least, most)])


def upper_quantiles(values: Floats, counts: Floats, tails: Floats) -> Floats:
    """The q with P(Σ W_y b_y ≥ q) = tail, for each mean (rows) and each of its tails (columns)."""
    top = values.max(axis=1)
    spread = np.maximum(top - values.min(axis=1), np.finfo(np.float64).tiny)
    b = (values - top[:, None]) / spread[:, None]  # from −1 to 0
    c = counts + (np.arange(b.shape[1]) == b.argmax(axis=1)[:, None])
    wanted = np.asarray(tails).ravel()
    b, c = (np.repeat(table, tails.shape[1], axis=0) for table in (b, c))
    found = _tail_quantile(b, c, np.minimum(wanted, 0.5))
    if (wanted > 0.5).any():  # below the median: the upper tail of the mirror image
        mirrored = -1 - _tail_quantile(-1 - b, c, np.minimum(1 - wanted, 0.5))
        found = np.where(wanted <= 0.5, found, mirrored)
    return np.asarray(top[:, None] + spread[:, None] * found.reshape(tails.shape))


def upper_tails(values: Floats, counts: Floats) -> Floats:
    """P(Σ W_y b_y ≥ 0) for each row of `values`: the upper limit of its mean is at least 0 where this is at least the
    tail. One half or more is given as one half.

    With b_y ≤ b_max = 1 the saddlepoint is at κ = 1/s, where Σ c_y b_y/(1 − s b_y) = 0: multiplied by 1 − s it rises
    from the mean to c_max between s = 0 and 1.

    >>> upper_tails(np.array([[-0.3, 0.7]]), np.array([[9.0, 1.0]])).round(3).tolist()  # 0.3 or less of ten
    [0.15]
    """
    top = values.max(axis=1)
    found = np.where(top < 0, 0.0, _HALF)
    c = counts + (np.arange(values.shape[1]) == values.argmax(axis=1)[:, None])
    rest = np.flatnonzero((top > 0) & ((c * values).sum(axis=1) < 0))
    found[(top == 0) & ((c * values).sum(axis=1) < 0)] = 0.0
    if rest.size:
        c, b = c[rest], values[rest] / top[rest, None]
        b = np.where(c > 0, b, 0.0)  # a value without a count has no part in the sums

        def slope(s: Floats) -> Floats:
            away = 1 - s[:, None] * b
            part = np.divide(1 - s[:, None], away, out=np.ones_like(away), where=away > 0)
            return np.asarray((c * b * part).sum(axis=1))

        found[rest] = _tail(b, c, 1 / rising_root(slope, np.zeros(rest.size), np.ones(rest.size)))[0]
    return np.minimum(found, _HALF)


def _tail_quantile(b: Floats, c: Floats, tail: Floats) -> Floats:
    """For tails of at most one half."""
    near, far = np.full(len(b), np.log(_NEAREST)), np.full(len(b), np.log(_FURTHEST))
    top = np.where(c > 0, b, -np.inf).max(axis=1)
    b = np.where(c > 0, b, top[:, None] - 1)  # a value without a count has no part in the sums
    for _ in range(_STEPS):
        middle = (near + far) / 2
        reached = _tail(b, c, top + np.exp(middle))[0] >= tail  # a larger κ is a smaller q, and a larger tail
        near, far = np.where(reached, near, middle), np.where(reached, middle, far)
    return _tail(b, c, top + np.exp(near))[1]  # the end with the smaller tail: a limit errs outwards


def _tail(b: Floats, c: Floats, kappa: Floats) -> tuple[Floats, Floats]:
    """P(Σ W b ≥ q) by Lugannani and Rice's formula, and q."""
    total = c.sum(axis=1)
    weight = c / (kappa[:, None] - b)
    t = weight.sum(axis=1) / total
    q = kappa - 1 / t
    shrunk = t[:, None] * (kappa[:, None] - b)  # 1 − t(b − q)
    cumulant = -(c * np.log(shrunk)).sum(axis=1)
    w = np.sqrt(np.maximum(-2 * cumulant, 0.0))
    u = t * np.sqrt((c * ((b - q[:, None]) / shrunk) ** 2).sum(axis=1))
    centre = w < _CENTRE
    safe_w, safe_u = np.where(centre, 1.0, w), np.where(centre, 1.0, np.maximum(u, 1e-300))
    density = np.exp(-(safe_w**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(centre, 0.5, np.clip(ndtr(-safe_w) + density * (1 / safe_u - 1 / safe_w), 0.0, 1.0)), q


def probabilities() -> tuple[Floats, Floats]:
    """Tails at which confidence distributions are tabulated, dense near 0 and 1, and the weight of each."""
    edges = 1 / (1 + np.exp(-np.linspace(-_ENDS, _ENDS, GRID + 1)))
    edges[0], edges[-1] = 0.0, 1.0
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def binomial_quantiles(count: Floats, n: Floats, upper: bool) -> Floats:
    """Clopper and Pearson's one-sided limits of a share at all `probabilities`: a row for each count, increasing."""
    tails, _ = probabilities()
    x, size = count[:, None], np.asarray(n, dtype=np.float64)[:, None]
    a, b = (x + 1, size - x) if upper else (x, size - x + 1)
    found = betaincinv(np.maximum(a, 1e-300), np.maximum(b, 1e-300), tails)
    found = np.where(b <= 0, 1.0, found)
    return np.asarray(np.where(a <= 0, 0.0, found))


def melded_limits(parts: Sequence[tuple[Floats, Floats]], level: float) -> Floats:
    """Rows (low, high) for sums of independent parts; each part is (lower, upper) quantiles of its confidence
    distribution at `probabilities`, a row for each sum, in the direction that it enters."""
    return np.asarray(melded_at(parts, [level])[0])


def melded_at(parts: Sequence[tuple[Floats, Floats]], levels: Sequence[float]) -> Floats:
    """The same at several levels, one table for each: the distributions of the sums are worked out once."""
    tails = (1 - np.asarray(levels)) / 2
    rows = range(len(parts[0][0]))
    low = np.array([_summed([lower[i] for lower, _ in parts], tails, upper=False) for i in rows])
    high = np.array([_summed([upper[i] for _, upper in parts], 1 - tails, upper=True) for i in rows])
    return np.stack([low.T, high.T], axis=-1)


def _summed(quantiles: list[Floats], wanted: Floats, upper: bool) -> Floats:
    """Quantiles of the sum of independent variables that are given by theirs."""
    tails, weights = probabilities()
    total = quantiles[0]
    for other in quantiles[1:-1]:  # more than two parts: one after the other, tabulated again
        total = np.interp(tails, *_distribution(total, other, weights))
    if len(quantiles) == 1:
        return np.interp(wanted, tails, total)
    below, values = _distribution(total, quantiles[-1], weights)
    place = np.searchsorted(below, wanted)  # the outer neighbour: a limit errs outwards
    return np.asarray(values[np.clip(place + (1 if upper else -1), 0, values.size - 1)])


def _distribution(first: Floats, second: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The probability up to each value of the sum of two independent variables, and these values."""
    values = np.add.outer(first, second).ravel()
    order = np.argsort(values)
    mass = np.multiply.outer(weights, weights).ravel()[order]
    return np.cumsum(mass) - mass / 2, values[order]
