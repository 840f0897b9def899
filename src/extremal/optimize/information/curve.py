"""What a staircase column is worth in information: a concave curve of the prior mass that it covers.

E = e^ε, c = E − 1. The column S_T = 1 + c·1_T has mass m = 1 + cz under the prior, z = P(T), and is worth (KOV eq 5)

    φ(z) = z·E·ε − m·ln m = z·f(c) − f(cz),   f(d) = (1+d)·ln(1+d) − d,

concave with φ(0) = φ(1) = 0 and φ'(z) = f(c) − c·ln(1+cz) (KOV Lemma 27 misprints the derivative, erratum E10). The
form with f has no cancellation at small ε: all terms are of order c².
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_SERIES_BELOW = 0.05  # d up to which the power series is used
_TERMS = 14  # 0.05^14 < 1e-18


def entropy_excess(d: Any) -> Floats:
    """f(d) = (1+d)ln(1+d) − d for d ≥ 0; all of `d` by one formula, chosen by its largest entry."""
    d = np.asarray(d, dtype=np.float64)
    if d.size and d.max() >= _SERIES_BELOW:
        return np.asarray((1 + d) * np.log1p(d) - d)
    series = np.zeros_like(d)
    for n in range(_TERMS, 1, -1):
        series = (-1.0) ** n / (n * (n - 1)) + d * series
    return np.asarray(d * d * series)


def log_excess(t: float) -> float:
    """t − ln(1+t) for t ≥ 0, accurate next to 0.

    >>> log_excess(1e-9)
    4.999999996666667e-19
    """
    if t >= _SERIES_BELOW:
        return t - math.log1p(t)
    return math.fsum((-1.0) ** n * t**n / n for n in range(2, _TERMS + 1))


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
        return float(entropy_excess(self.c))

    def value(self, z: Any) -> Floats:
        """φ(z)."""
        z = np.asarray(z, dtype=np.float64)
        if self.c < _SERIES_BELOW:
            return np.asarray(z * self.top - entropy_excess(self.c * z))
        d = self.c * z
        return np.asarray(z * self.top - ((1 + d) * np.log1p(d) - d))

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
