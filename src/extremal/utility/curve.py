"""What a staircase column is worth in information: a concave curve of the prior mass that it covers.

E = e^ε, c = E − 1. The column S_T = 1 + c·1_T has mass m = 1 + cz under the prior, z = P(T), and is worth (KOV eq 5)

    φ(z) = z·E·ε − m·ln m = z·f(c) − f(cz),   f(d) = (1+d)·ln(1+d) − d,

concave with φ(0) = φ(1) = 0 and φ'(z) = f(c) − c·ln(1+cz) (KOV Lemma 27 misprints the derivative, erratum E10). The
form with f has no cancellation at small ε: all terms are of order c². Closed forms, searches, theory and studies take φ
and ψ = φ/m from here; the checkers have their own, in intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.utility.functions import SERIES_BELOW, entropy_series, log_series

Floats = npt.NDArray[np.float64]


def _f(d: Floats, small: bool) -> Floats:
    """f(d) = (1+d)ln(1+d) − d for d ≥ 0, all of them below SERIES_BELOW or by the direct formula: one test instead of
    one for each entry, which searches pay for."""
    return entropy_series(d) if small else np.asarray((1 + d) * np.log1p(d) - d)


def log_excess(t: float) -> float:
    """t − ln(1+t) for t ≥ 0, accurate next to 0.

    >>> log_excess(1e-9)
    4.999999996666667e-19
    """
    return t - math.log1p(t) if t >= SERIES_BELOW else float(log_series(np.asarray(t)))


@dataclass(frozen=True)
class InformationCurve:
    """φ at one ε > 0.

    >>> curve = InformationCurve(1.0)
    >>> round(float(curve.value(0.5)), 9), round(curve.limit, 9)
    (0.206260663, 0.123301561)
    """

    epsilon: float

    @cached_property
    def c(self) -> float:
        """e^ε − 1."""
        return math.expm1(self.epsilon)

    @cached_property
    def top(self) -> float:
        """φ'(0) = f(c) = Eε − c."""
        return float(_f(np.asarray(self.c), self.c < SERIES_BELOW))

    def value(self, z: Any) -> Floats:
        """φ(z)."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(z * self.top - _f(self.c * z, self.c < SERIES_BELOW))

    def slope(self, z: Any) -> Floats:
        """φ'(z)."""
        return np.asarray(self.top - self.c * np.log1p(self.c * np.asarray(z, dtype=np.float64)))

    def argmax(self, slope: Any) -> Floats:
        """The z in [0,1] that maximises φ(z) − slope·z."""
        exponent = (self.top - np.asarray(slope, dtype=np.float64)) / self.c
        return np.asarray(np.clip(np.expm1(np.minimum(exponent, self.epsilon)) / self.c, 0.0, 1.0))

    def rate(self, z: Any) -> Floats:
        """ψ(z) = φ(z)/(1+cz): the information of a mechanism all of whose columns cover mass z."""
        return np.asarray(self.value(z) / (1 + self.c * np.asarray(z, dtype=np.float64)))

    @cached_property
    def best_mass(self) -> float:
        """The z with the largest ψ: 1 + cz = ε/(1−e^−ε), between 1/E and 1/2."""
        return self.top / self.c**2

    @cached_property
    def limit(self) -> float:
        """max ψ = m − 1 − ln m, m = ε/(1−e^−ε): no ε-LDP report carries more information, whatever the prior."""
        return log_excess(self.top / self.c)

    def response(self, prior: Floats) -> float:
        """The information of randomised response on all symbols of positive probability: Σφ(p)/(c+k)."""
        return math.fsum(self.value(prior).tolist()) / (self.c + prior.size)

    def binary(self, z: float) -> float:
        """The information of one bit about a set of probability z: (φ(z)+φ(1−z))/(c+2)."""
        return float(self.value(z) + self.value(1 - z)) / (self.c + 2)
