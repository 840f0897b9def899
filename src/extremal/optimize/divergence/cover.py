"""Chords of f, and the nodes between them, as a proof by lines holds them.

A proof holds a dual vector α and nodes t; the kernel bounds every column by the chord of f over its own interval. Nodes
are kept by their logarithm, so that t and t − 1 both have all their digits; a proof gets them as decimals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import Chords, Dual
from extremal.optimize.problem import decimal, decimals
from extremal.privacy.cones.metric import Edge
from extremal.utility import Divergence

Floats = npt.NDArray[np.float64]
Multiplier = tuple[int, int, int, Fraction]

LARGEST = 1e150  # stands for what is infinite or beyond floats
LIGHTEST = 1e-12  # columns lighter than this are the solver's rounding
CLOSE = 1e-5  # nodes nearer than this, relatively, gain 1e-11 at most and lose as much in the slope of their chord


def node(log: float) -> Fraction:
    """e^log as a decimal with all the digits of its distance from 0 or from 1, whichever is nearer."""
    if log < -1:
        return decimal(math.exp(log))
    return 1 + decimal(math.expm1(log))


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


def log_ratios(first: Floats, second: Floats, difference: Floats) -> Floats:
    """ln(first/second), from the difference where the two are near."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(difference) < 0.5 * second
        return np.asarray(np.where(near, np.log1p(difference / second), np.log(first) - np.log(second)))


def refined(logs: Floats, columns: Floats, utility: Divergence) -> Floats:
    """More nodes where the columns have their ratios: at them, and a quarter of the way to the nodes beside them.

    A piecewise linear f needs no others than its kinks. None is dropped: it would come back, and rounds would cycle.
    """
    if utility.kinks is not None:
        return logs
    total0, total1, apart = utility.p0 @ columns, utility.p1 @ columns, utility.pair.difference @ columns
    used = (total0 > 0) & (total1 > 0) & (columns.max(axis=0) > LIGHTEST)
    ratios = log_ratios(total0, total1, apart)[used]
    ratios = np.unique(ratios[np.isfinite(ratios) & (ratios > logs[0]) & (ratios < logs[-1])])
    at = np.clip(np.searchsorted(logs, ratios), 1, logs.size - 1)
    left, right = np.maximum(logs[at - 1], ratios - 1), np.minimum(logs[at], ratios + 1)
    candidates = np.concatenate([ratios, ratios + (right - ratios) / 4, ratios - (ratios - left) / 4])
    merged = np.unique(np.r_[logs, candidates])
    with np.errstate(invalid="ignore"):
        apart_enough = np.r_[True, ~(np.diff(merged) <= CLOSE * np.abs(merged[1:]))]
    apart_enough[-1] = True
    return np.asarray(merged[apart_enough])


@dataclass(frozen=True, eq=False)
class Cover:
    """The intervals of log t that one line each is for.

    Attributes:
        logs: the ends of the intervals, increasing; −∞ for t = 0; +∞ when f has a last slope and the ratio no bound.
        ends: multipliers (side, x, z, f) that prove that no ratio lies outside; a tree needs none.
    """

    logs: Floats
    ends: tuple[Multiplier, ...] = ()

    def lines(self, utility: Divergence) -> Floats:
        """c_i for each interval, as columns (k × intervals)."""
        return chords(utility, self.logs[:-1], self.logs[1:]).T

    def nodes(self, utility: Divergence) -> tuple[Fraction, ...]:
        if utility.kinks is not None:
            return tuple(sorted({decimal(t) for t in utility.kinks}))
        return tuple(node(log) for log in self.logs.tolist() if log < math.inf)

    def proof(self, utility: Divergence, alpha: Floats, flows: list[Multiplier], tree: tuple[Edge, ...]) -> Dual:
        nodes = self.nodes(utility)
        count = len(nodes)
        beyond = [(count - 1 + side, x, z, f) for side, x, z, f in self.ends]
        numbered = [(_number(i, count, utility.kinks is not None), x, z, f) for i, x, z, f in flows]
        return Dual(decimals(alpha), Chords(nodes, () if tree else (*numbered, *beyond), tree))


def _number(interval: int, count: int, kinks: bool) -> int:
    """What a proof with so many nodes calls the line of an interval: chords by their place, then the two ends."""
    if kinks:  # intervals: up to the first kink, between kinks, beyond the last
        return count - 1 if interval == 0 else count if interval == count else interval - 1
    return count if interval == count - 1 else interval
