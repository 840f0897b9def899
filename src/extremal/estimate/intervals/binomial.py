"""Exact confidence limits for a share of which a binomial count is seen, shorter than those of Clopper and Pearson.

X ~ Bin(n, t). The acceptability of t after X = x is α(t, x) = P_t(γ(t, X) ≤ γ(t, x)) with γ(t, x) = min(P_t(X ≥ x),
P_t(X ≤ x)), the probability of a result at least as far in a tail. {t : α(t, x) > 1 − level} holds the truth with
probability at least `level`, whatever t and n; the interval around it is what `mapped_limits` maps (Blaker 2000). It
lies inside Clopper and Pearson's interval, holds x/n, is nested in the level and monotone in x.

The lower limit needs no search. Let a(t) = P_t(X ≥ x) and p₀ the t with a(t) = (1 − level)/2, the limit of Clopper and
Pearson. Up to p₀, α ≤ 2a ≤ 1 − level. With c the largest number for which P_t(X ≤ c) ≤ a(t) at t = p₀, and p₁ > p₀
where P_t(X ≤ c + 1) = a(t), α(t) = a(t) + P_t(X ≤ c) on [p₀, p₁), which falls and then rises, and α(p₁) = 2a(p₁) > 1 −
level. So the limit is where that sum reaches 1 − level, or p₁ if it does not. Roots are bracketed and the outer end is
taken, so that rounding can only widen. The upper limit is the mirror image, 1 − lower(n − x).

Counts need not be whole: `beta_limits` are those of Clopper and Pearson at an effective number of reports, which is how
weights and clusters enter (Korn and Graubard 1998). These are approximate, and called so.

References: Blaker, Canadian Journal of Statistics 28 (2000), 783–798; Klaschka and Reiczigel, Computational Statistics
36 (2021), 1775–1790, for what matching intervals and tests must satisfy; Korn and Graubard, Survey Methodology 24
(1998), 193–201.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrik, betainc, betaincinv

from extremal.exact.weights import Floats

_SLACK = 1e-9
"""Relative: the distribution functions carry rounding of about 1e-13, ties between tails are real (t = 1/2), and a
limit errs outwards."""
_RESOLUTION = 1e-11
"""Relative width at which a bracket is narrow enough; the outer end is what counts."""
_STEPS = 150
"""Of a bracketing that halves at least every third step: more than the resolution needs."""


def _limits(for_low: npt.NDArray[np.int64], for_high: npt.NDArray[np.int64], n: int, level: float) -> Floats:
    """The lower limits of some counts beside the upper limits of others: all in one go, each different count once."""
    distinct, back = np.unique(np.stack([for_low, n - for_high]), return_inverse=True)
    low, mirrored = _lower(distinct.astype(np.float64), float(n), level)[back.reshape(2, *for_low.shape)]
    return np.stack([low, 1 - mirrored], axis=-1)


def beta_limits(count: npt.ArrayLike, n: npt.ArrayLike, level: float) -> Floats:
    """Clopper and Pearson's limits, by quantiles of the beta distribution, which also take counts that are not whole.

    >>> beta_limits([0, 3, 10], 10, 0.95).round(4).tolist()
    [[0.0, 0.3085], [0.0667, 0.6525], [0.6915, 1.0]]
    """
    x, size = np.broadcast_arrays(np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64))
    x, tail = np.clip(x, 0.0, size), (1 - level) / 2
    low = np.where(x > 0, betaincinv(np.maximum(x, 1e-300), size - x + 1, tail), 0.0)
    high = np.where(x < size, 1 - betaincinv(np.maximum(size - x, 1e-300), x + 1, tail), 1.0)
    return np.stack([low, high], axis=-1)


def mapped_limits(count: npt.ArrayLike, n: int, level: float, inside: npt.ArrayLike, outside: npt.ArrayLike) -> Floats:
    """Exact limits for p when the count is Bin(n, b + (a − b)p), a = `inside` > b = `outside`, 0 ≤ p ≤ 1.

    A count below nb is first moved up to ⌈nb⌉ for the upper limit, one above na down to ⌊na⌋ for the lower one: limits
    are monotone in the count, so this only widens, and no interval is empty. Every row satisfies 0 ≤ low ≤ high ≤ 1,
    with low < 1 and high > 0.

    Guarantee: P(low ≤ p ≤ high) ≥ level for every p in [0, 1] and every n.

    >>> mapped_limits([10, 40, 90], 100, 0.95, 0.75, 0.25).round(3).tolist()
    [[0.0, 0.187], [0.111, 0.5], [0.813, 1.0]]
    >>> mapped_limits([0, 3, 10], 10, 0.95, 1, 0).round(4).tolist()  # of a share that is counted as it is
    [[0.0, 0.2829], [0.0873, 0.6194], [0.7171, 1.0]]
    """
    a, b = np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64)
    x = np.asarray(count, dtype=np.int64)
    most, least = np.floor(n * a).astype(np.int64), np.ceil(n * b).astype(np.int64)
    found = _limits(np.minimum(x, most), np.maximum(x, least), n, level)
    return mapped(found[..., 0], found[..., 1], a, b)


def mapped(low: Floats, high: Floats, inside: Floats, outside: Floats) -> Floats:
    """Limits of t = b + (a − b)p as limits of p, cut to [0, 1]."""
    step = inside - outside
    return np.stack([np.clip((low - outside) / step, 0.0, 1.0), np.clip((high - outside) / step, 0.0, 1.0)], axis=-1)


def _lower(x: Floats, n: float, level: float) -> Floats:
    """The lower limit for sorted counts x."""
    wanted = (1 - level) * (1 - _SLACK)
    seen = x > 0
    result = np.zeros_like(x)
    if not seen.any():
        return result
    x = x[seen]
    start = np.asarray(betaincinv(x, n - x + 1, wanted / 2))
    c = _below(np.full_like(x, wanted / 2 * (1 + 2 * _SLACK)), x, n, start)
    end = rising_root(lambda t: _at_least(x, n, t) * (1 + _SLACK) - _at_most(c + 1, n, t), start, x / n)
    reached = _at_least(x, n, end) + _at_most(c, n, end) > wanted
    low = end.copy()
    if reached.any():
        y, d = x[reached], c[reached]
        low[reached] = rising_root(
            lambda t: _at_least(y, n, t) + _at_most(d, n, t) - wanted, start[reached], end[reached]
        )
    result[seen] = np.minimum(low, x / n)
    return result


def _at_least(x: Floats, n: float, t: Floats) -> Floats:
    """P(X ≥ x), x > 0."""
    return np.asarray(np.where(x > 0, betainc(np.maximum(x, 1), n - x + 1, t), 1.0))


def _at_most(x: Floats, n: float, t: Floats) -> Floats:
    """P(X ≤ x); 0 for x < 0, 1 for x ≥ n."""
    inner = np.clip(x, 0, n - 1)
    return np.asarray(np.where(x < 0, 0.0, np.where(x >= n, 1.0, betainc(n - inner, inner + 1, 1 - t))))


def _below(tail: Floats, x: Floats, n: float, t: Floats) -> Floats:
    """The largest c < x with P_t(X ≤ c) ≤ tail, −1 if none."""
    guess = np.floor(np.nan_to_num(bdtrik(tail, n, t), nan=-1.0))
    c: Floats = np.asarray(np.clip(guess + 1, -1.0, x - 1), dtype=np.float64)
    while True:  # the guess is off by one or two where rounding decides
        high = (c >= 0) & (_at_most(c, n, t) > tail)
        if not high.any():
            break
        c = np.where(high, c - 1, c)
    while True:
        low = (c < x - 1) & (_at_most(c + 1, n, t) <= tail)
        if not low.any():
            return c
        c = np.where(low, c + 1, c)


def rising_root(function: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
    """Where a function rises through zero, each between `left` and `right`: the left end of a narrow bracket.

    Regula falsi with the weights of Anderson and Björck, and a bisection whenever the bracket did not halve in two
    steps.
    """
    left, right = left.copy(), right.copy()
    below, above = function(left), function(right)
    before = right - left
    with np.errstate(divide="ignore", invalid="ignore"):
        for step in range(_STEPS):
            width = right - left
            if (width <= _RESOLUTION * right).all():
                break
            middle = left - below * width / (above - below)
            bisect = ~((middle > left) & (middle < right))
            if step % 3 == 2:
                bisect |= width > before / 2
                before = width
            # A step to an end would leave the bracket wide: half a resolution inside, it closes it.
            inside = np.minimum(_RESOLUTION * right, width) / 2
            middle = np.where(bisect, left + width / 2, np.clip(middle, left + inside, right - inside))
            value = function(middle)
            up = value > 0
            factor = 1 - value / np.where(up, above, below)
            factor = np.where(factor > 0, factor, 0.5)
            below, above = np.where(up, below * factor, value), np.where(up, value, above * factor)
            left, right = np.where(up, left, middle), np.where(up, middle, right)
    return left
