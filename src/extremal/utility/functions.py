"""Convex functions evaluated next to 1 without cancellation.

Everything takes both x and δ = x − 1, which callers form without subtracting: δ has its digits next to 1, x next to 0.
A divergence is unchanged when a multiple of x − 1 is added to f, so each f is taken with f(1) = f'(1) = 0: then small
differences give small values, with full relative accuracy.
"""

from __future__ import annotations

import numpy as np

from extremal.exact.weights import Floats

SERIES_BELOW = 0.05  # |δ| up to which the series is used
_TERMS = 14  # 0.05^14 < 1e-18: the series is exact to double precision there


def entropy_series(d: Floats) -> Floats:
    """(1+d)·log(1+d) − d = Σ_{n≥2} (−1)^n d^n / (n(n−1)) for |d| < SERIES_BELOW."""
    return _from_the_square(d, [(-1.0) ** n / (n * (n - 1)) for n in range(_TERMS, 1, -1)])


def log_series(d: Floats) -> Floats:
    """d − log(1+d) = Σ_{n≥2} (−1)^n d^n / n for |d| < SERIES_BELOW."""
    return _from_the_square(d, [(-1.0) ** n / n for n in range(_TERMS, 1, -1)])


def _from_the_square(d: Floats, coefficients: list[float]) -> Floats:
    """A power series from d² on, by Horner's rule; the coefficient of the highest power comes first."""
    series = np.full_like(d, coefficients[0])
    for coefficient in coefficients[1:]:
        series *= d
        series += coefficient
    series *= d * d
    return series


def logarithm(delta: Floats, x: Floats) -> Floats:
    """log x, from δ next to 1 and from x elsewhere."""
    near = np.abs(delta) < 0.5
    if near.all():
        return np.asarray(np.log1p(delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(np.log(x))
    found[near] = np.log1p(delta[near])
    return found


def entropy_excess(delta: Floats, x: Floats) -> Floats:
    """x·log x − δ for x = 1 + δ ≥ 0: δ²/2 − δ³/6 + δ⁴/12 − … next to 1.

    >>> entropy_excess(np.array([0.0, 1e-12, -1.0]), np.array([1.0, 1 + 1e-12, 0.0])).tolist()
    [0.0, 4.999999999998333e-25, 1.0]
    """
    delta, x = np.asarray(delta, dtype=np.float64), np.asarray(x, dtype=np.float64)
    small = np.abs(delta) < SERIES_BELOW
    if small.all():
        return entropy_series(delta)
    with np.errstate(invalid="ignore"):
        direct = np.asarray(x * logarithm(delta, x) - delta)
    direct[x <= 0] = 1.0
    direct[small] = entropy_series(delta[small])
    return direct


def log_excess(delta: Floats, x: Floats) -> Floats:
    """δ − log x for x = 1 + δ ≥ 0; infinite at 0."""
    delta, x = np.asarray(delta, dtype=np.float64), np.asarray(x, dtype=np.float64)
    direct = np.asarray(delta - logarithm(delta, x))
    small = np.abs(delta) < SERIES_BELOW
    direct[small] = log_series(delta[small])
    return direct


def power_excess(delta: Floats, x: Floats, alpha: float) -> Floats:
    """(x^α − 1 − αδ)/(α(α−1)) for x = 1 + δ, with its limits at α = 1 (entropy_excess) and α = 0 (log_excess)."""
    delta = np.asarray(delta, dtype=np.float64)
    if alpha == 1:
        return entropy_excess(delta, x)
    if alpha == 0:
        return log_excess(delta, x)
    small = np.abs(delta) < SERIES_BELOW / (1 + abs(alpha))
    d = np.where(small, delta, 0.0)
    term, series = d * d / 2, np.zeros_like(d)
    for n in range(2, _TERMS + 8):  # binomial series, each term from the one before
        series = series + term
        term = term * d * (alpha - n) / (n + 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_x = logarithm(delta, x)
        if abs(alpha - 1) < abs(alpha):  # the form without cancellation in α next to 1, or next to 0
            powers = np.where(x > 0, x * np.expm1((alpha - 1) * log_x) / (alpha - 1), 0.0 if alpha > 0 else np.inf)
            direct = (powers - delta) / alpha
        else:
            direct = (np.expm1(alpha * log_x) / alpha - delta) / (alpha - 1)
    return np.where(small, series, direct)
