"""Nodes for a proof by lines: where to cut the range of ratios so that chords of f, less α, are nowhere worth much.

A proof holds a dual vector α and nodes t; the kernel bounds every column by the chord of f over its own interval. The
search starts with a geometric grid and halves every interval whose chord is worth more than a tolerance. Nodes are kept
by their logarithm, so that t and t − 1 both have all their digits; a proof gets them as decimals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.optimize.problem import decimal
from extremal.utility import Divergence

Floats = npt.NDArray[np.float64]
Most = Callable[[Floats], Floats]
"""For vectors g in rows: what g·q is at most, over the columns of the cone, in the units of the tolerance."""

FIRST_NODES = 25
MOST_NODES = 600
NARROWEST = 1e-6  # of an interval, relatively: a narrower one gains 1e-13 at most, and its chord is rounding
LARGEST = 1e150  # stands for what is infinite or beyond floats
FAR = 30.0  # a range that begins at −∞ has its second node at e^−30 at first
OUTWARD = 1e-9  # the first and the last node are this much outside the range, relatively to its width


def staircase_nodes(utility: Divergence, alpha: Floats, epsilon: float, tolerance: float) -> tuple[Fraction, ...]:
    """Under ε-LDP: the sum of what is left over all columns is at most tolerance, where that can be."""
    low, step = math.exp(-epsilon), -math.expm1(-epsilon)

    def most(g: Floats) -> Floats:
        total = low * g.sum(axis=1) + step * np.maximum(g, 0).sum(axis=1)
        return np.asarray(total * utility.k / (1 + (utility.k - 1) * low))

    return cover(utility, alpha, most, (-epsilon, epsilon), tolerance)


def cover(
    utility: Divergence, alpha: Floats, most: Most, logs: tuple[float, float], tolerance: float
) -> tuple[Fraction, ...]:
    """Increasing nodes around the ratios whose logarithms lie between the two given; kinks alone if f has any.

    A range that begins at −∞ begins with the node 0.
    """
    if utility.kinks is not None:
        return tuple(sorted({decimal(t) for t in utility.kinks}))
    low, high = logs
    floor = max(low, -FAR)
    width = max(high - floor, 1e-300)
    inner = np.linspace(floor - OUTWARD * width, high + OUTWARD * width, FIRST_NODES)
    start = inner if low == floor else np.concatenate([[-np.inf], inner])
    ends = _halved(utility, alpha, most, start, tolerance)
    return tuple(node(log) for log in ends)


def node(log: float) -> Fraction:
    """e^log as a decimal with all the digits of its distance from 0 or from 1, whichever is nearer."""
    if log < -1:
        return decimal(math.exp(log))
    return 1 + decimal(math.expm1(log))


def _halved(utility: Divergence, alpha: Floats, most: Most, start: Floats, tolerance: float) -> list[float]:
    kept: set[float] = set(start.tolist())
    left, right = start[:-1], start[1:]
    while left.size and len(kept) < MOST_NODES:
        middle = np.where(np.isfinite(left), (left + right) / 2, right - 8)
        narrow = (right - left <= NARROWEST * np.maximum(np.abs(left), np.abs(right))) | (middle <= -720)
        split = (most(chords(utility, left, right) - alpha) > tolerance) & ~narrow
        left, middle, right = left[split], middle[split], right[split]
        kept.update(middle.tolist())
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return sorted(kept)


def chords(utility: Divergence, left: Floats, right: Floats) -> Floats:
    """For each interval of log t the line through the ends of f on it, as a vector over the symbols: σP₀ + τP₁.

    From −∞ the line starts at f(0); to +∞ it has the last slope of f.
    """
    at, after = np.exp(left), np.exp(right)
    apart, beyond = np.expm1(left), np.expm1(right)
    with np.errstate(all="ignore"):
        f = np.where(at > 0, utility.excess(apart, np.where(at > 0, at, 1.0)), utility.at_zero)
        slope = (utility.excess(beyond, after) - f) / np.where(after < 0.5, after - at, beyond - apart)
        slope = np.where(np.isinf(right), utility.slope_at_infinity, slope)
        # P₀ − tP₁, from the side where t has its digits.
        from_zero = utility.p0 - np.outer(at, utility.p1)
        from_one = utility.pair.difference - np.outer(apart, utility.p1)
        lines = slope[:, None] * np.where(at[:, None] < 0.5, from_zero, from_one) + np.outer(f, utility.p1)
    return np.asarray(np.nan_to_num(lines, posinf=LARGEST, neginf=-LARGEST))
