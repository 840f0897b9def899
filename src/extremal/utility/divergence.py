"""f-divergences between the report distributions of two hypotheses.

D_f = Σ_y M₁(y)·f(M₀(y)/M₁(y)), M_ν = P_ν Q (KOV eq 3, 12; the sum is over y, erratum E12), for any convex f with f(1) =
0. Where M₁(y) = 0 the term is M₀(y)·lim f(x)/x; where M₀(y) = 0 it is M₁(y)·f(0). Both may be infinite, and then so is
the value.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from extremal.exact import Exponential
from extremal.utility.pair import Pair
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, SumOfColumns


class Divergence(SumOfColumns):
    """Base of the f-divergences; f is normalised to f(1) = f'(1) = 0 by adding a multiple of x − 1, which changes no
    divergence.

    Args:
        p0, p1: the two distributions of the input.
    """

    at_zero: float
    """f(0) of the normalised f."""
    slope_at_infinity: float
    """lim f(x)/x of the normalised f."""
    kinks: tuple[float, ...] | None = None
    """For piecewise linear f: where its slope changes. None when f is smooth."""

    def __init__(self, p0: Any, p1: Any) -> None:
        self.pair = Pair(p0, p1)
        self.k = len(self.pair)

    @property
    def p0(self) -> Floats:
        return self.pair.p0.values

    @property
    def p1(self) -> Floats:
        return self.pair.p1.values

    @abstractmethod
    def excess(self, delta: Floats, x: Floats) -> Floats:
        """The normalised f at x = 1 + δ > 0: accurate next to 1, where δ has the digits, and next to 0, where x has
        them."""

    @abstractmethod
    def derivative(self, x: Floats) -> Floats:
        """f'(x) of the normalised f for x > 0; at a kink any slope between."""

    def is_linear_within(self, exponential: Exponential) -> bool:
        """Whether f is exactly linear on [e^−ε, e^ε], so that no ε-LDP mechanism is worth anything; False when
        unknown."""
        return False

    def perspective(self, m0: Floats, m1: Floats, difference: Floats) -> Floats:
        """M₁·f(M₀/M₁), with the limits where either is 0; difference = M₀ − M₁, formed without cancellation."""
        none_under_1 = m1 <= 0
        none_under_0 = ~none_under_1 & (m0 <= 0)
        plain = ~none_under_0 & ~none_under_1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scale = np.where(plain, m1, 1.0)
            inside = np.asarray(
                m1 * self.excess(np.where(plain, difference / scale, 0.0), np.where(plain, m0 / scale, 1.0))
            )
        values = np.where(none_under_0, m1 * self.at_zero if math.isfinite(self.at_zero) else math.inf, inside)
        infinite = math.inf if math.isinf(self.slope_at_infinity) else 0.0
        slope = 0.0 if math.isinf(self.slope_at_infinity) else self.slope_at_infinity
        beyond = np.where(difference > 0, slope * difference + infinite, 0.0)
        return np.asarray(np.where(none_under_1, beyond, values))

    def line(self, x: Floats) -> tuple[Floats, Floats]:
        """The supporting line at x: (s, c) with f(z) ≥ s·z − c for all z, equality at x; s = f'(x), c = x·s − f(x)."""
        x = np.asarray(x, dtype=np.float64)
        slope = self.derivative(x)
        return slope, x * slope - self.excess(x - 1, x)

    def _values(self, reading: Reading) -> Floats:
        return self.perspective(reading.total(self.p0), reading.total(self.p1), reading.project(self.pair.difference))

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, **self.pair.to_json()}

    def __repr__(self) -> str:
        return f"{self.name}({self.pair.p0!r}, {self.pair.p1!r})"
