"""Which subset T has the largest μ(T) − α·S_T? Exactly, in O(k log k).

μ(T) = sup over supporting lines t of f'(t)·P₀ − f*(t)·P₁ on the column, so a best T is {x : c_x(t) > 0} for some t,
c_x(t) = f'(t)P₀(x) − f*(t)P₁(x) − α_x. As a function of the slope each c_x is concave, so x belongs to T for one
interval of t; sweeping the ends of the k intervals meets every candidate.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from extremal.utility.convex import ConvexFunction
from extremal.utility.pair import Masses

Floats = npt.NDArray[np.float64]
Sets = npt.NDArray[np.bool_]

_HALVINGS = 52


class Pricing:
    """Prices subsets of the symbols of two hypotheses for one f at one ε; columns are s + w·1_T, s = e^−ε."""

    def __init__(self, f: ConvexFunction, masses: Masses, epsilon: float) -> None:
        self.f, self.epsilon = f, epsilon
        self.low, self.step = math.exp(-epsilon), -math.expm1(-epsilon)
        self.p0, self.p1, self.difference = masses.p0, masses.p1, masses.difference

    def values(self, sets: Sets) -> Floats:
        """μ of each set (rows of `sets`)."""
        q0, q1, d = (sets @ v for v in (self.p0, self.p1, self.difference))
        return self.f.perspective(self.low + self.step * q0, self.low + self.step * q1, self.step * d)

    def best(self, alpha: Floats, count: int = 1) -> tuple[Floats, Sets]:
        """The `count` best local candidates: (reduced values, sets), best first; the first is the maximum over all
        subsets."""
        candidates = self._candidates(alpha)
        reduced = self.values(candidates) - self.low * alpha.sum() - self.step * (candidates @ alpha)
        left = np.concatenate(([-np.inf], reduced[:-1]))
        right = np.concatenate((reduced[1:], [-np.inf]))
        peaks = np.flatnonzero((reduced >= left) & (reduced > right))
        chosen = peaks[np.argsort(-reduced[peaks], kind="stable")][:count]
        return reduced[chosen], candidates[chosen]

    def _candidates(self, alpha: Floats) -> Sets:
        if self.f.kinks is not None:
            ends = np.concatenate(([0.0], np.array(self.f.kinks), [2 * self.f.kinks[-1] + 1]))
            slopes, constants = self.f.line((ends[:-1] + ends[1:]) / 2)
            return np.asarray(np.outer(slopes, self.p0) - np.outer(constants, self.p1) - alpha > 0)
        start, stop = self._windows(alpha)
        inside = start < stop
        ends = np.unique(np.concatenate([start[inside], stop[inside], [-self.epsilon, self.epsilon]]))
        middles = np.concatenate([[ends[0]], (ends[:-1] + ends[1:]) / 2, [ends[-1]]])
        return np.asarray((start[None, :] <= middles[:, None]) & (middles[:, None] <= stop[None, :]) & inside[None, :])

    def _windows(self, alpha: Floats) -> tuple[Floats, Floats]:
        """For each x the interval of log t where c_x > 0 (start > stop if there is none), by bisection on either side
        of its peak."""
        with np.errstate(divide="ignore"):
            peak = np.clip(np.log(self.p0) - np.log(self.p1), -self.epsilon, self.epsilon)
        positive = self._reduced(peak, alpha) > 0
        outer, inner = np.full(peak.size, -self.epsilon), peak.copy()
        outer2, inner2 = np.full(peak.size, self.epsilon), peak.copy()
        whole_left, whole_right = self._reduced(outer, alpha) > 0, self._reduced(outer2, alpha) > 0
        for _ in range(_HALVINGS):
            middle = (outer + inner) / 2
            above = self._reduced(middle, alpha) > 0
            inner, outer = np.where(above, middle, inner), np.where(above, outer, middle)
            middle = (outer2 + inner2) / 2
            above = self._reduced(middle, alpha) > 0
            inner2, outer2 = np.where(above, middle, inner2), np.where(above, outer2, middle)
        start = np.where(whole_left, -self.epsilon, inner)
        stop = np.where(whole_right, self.epsilon, inner2)
        return np.where(positive, start, 1.0), np.where(positive, stop, 0.0)

    def _reduced(self, log_t: Floats, alpha: Floats) -> Floats:
        slope, constant = self.f.line(np.exp(log_t))
        return np.asarray(slope * self.p0 - constant * self.p1 - alpha)
