"""Score limits for the mean of one number per report, when that number takes more than two values.

θ = Σ a_x p_x is estimated by the mean θ̂ of B = a·L e_Y over n reports. Under a distribution with value θ, B has mean
θ and variance V(θ); the limits are the θ with |θ̂ − θ| = z·√(V(θ)/n), the variance taken *there* and not at the
estimate (Wilson 1927). Near a bound that is the difference between intervals that hold and intervals of width zero.

V depends on more than θ. It is followed along a straight line: upwards from the fitted distribution to the input with
the largest a_x, downwards to the one with the smallest. Along it the second moment of B is linear in θ, so that V is
quadratic and each limit the root of a quadratic. Where B takes two values all this is Wilson's interval for their
share.

As with counts, an estimate outside its possible range is moved into it first: limits are never empty, and never of
width zero unless the reports cannot vary. The coverage is `level` in large samples, and audited down to n = 20; it is
not exact.

Reference: Wilson, JASA 22 (1927), 209–212.
"""

from __future__ import annotations

import numpy as np

from extremal.exact.weights import Floats


def score_limits(
    estimate: Floats,
    n: Floats | float,
    z: float,
    bounds: tuple[Floats, Floats],
    fitted: Floats,
    variance: Floats,
    moments: tuple[Floats, Floats, Floats],
    cut: bool = True,
) -> Floats:
    """Rows (low, high).

    Args:
        estimate: θ̂.
        n: number of reports, or effective number.
        z: how many standard errors.
        bounds: the smallest and the largest possible θ.
        fitted: θ of the fitted distribution, within the bounds.
        variance: V there, of one report.
        moments: E B² at the lower bound, at the fitted distribution, at the upper bound.
        cut: whether limits stay within the bounds, the estimate moved there first.

    >>> one, zero = np.ones(1), np.zeros(1)
    >>> half = score_limits(one / 5, 50, 1.96, (zero, one), one / 5, one * 0.16, (zero, one / 5, one))
    >>> half.round(4).tolist()  # Wilson's interval for 10 of 50
    [[0.1124, 0.3304]]
    """
    least, most = bounds
    at_least, at_fit, at_most = moments
    up = _slope(at_most - at_fit, most - fitted)
    down = _slope(at_fit - at_least, fitted - least)
    below, above = (np.minimum(estimate, most), np.maximum(estimate, least)) if cut else (estimate, estimate)
    low_down, low_up = (_root(below, n, z, fitted, variance, slope, -1.0) for slope in (down, up))
    high_down, high_up = (_root(above, n, z, fitted, variance, slope, 1.0) for slope in (down, up))
    # The two lines meet at the fitted distribution: a root that is beyond it on one line is beyond it on the other.
    low = np.where(low_down <= fitted, low_down, low_up)
    high = np.where(high_up >= fitted, high_up, high_down)
    if not cut:  # beyond a bound the variance stays what it is there
        reach = z * np.sqrt(np.maximum(np.stack([at_least - least**2, at_most - most**2]), 0.0) / n)
        low = np.where(low < least, np.minimum(least, estimate - reach[0]), low)
        high = np.where(high > most, np.maximum(most, estimate + reach[1]), high)
        return np.column_stack([np.minimum(low, estimate), np.maximum(high, estimate)])
    return np.column_stack([np.clip(low, least, most), np.clip(high, least, most)])


def _slope(rise: Floats, run: Floats) -> Floats:
    return np.asarray(np.divide(rise, run, out=np.zeros_like(rise), where=run > 1e-12))


def _root(
    centre: Floats, n: Floats | float, z: float, fitted: Floats, variance: Floats, slope: Floats, side: float
) -> Floats:
    """θ on that side of the centre with (θ − centre)² = q·(V + slope·(θ − fitted) − θ² + fitted²), q = z²/n."""
    q = z * z / n
    a, b = 1 + q, centre + q * slope / 2
    c = centre**2 - q * (variance - slope * fitted + fitted**2)
    return np.asarray((b + side * np.sqrt(np.maximum(b * b - a * c, 0.0))) / a)
