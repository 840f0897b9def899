"""Interval arithmetic on arrays, rounded outward.

An `Interval` encloses each of an array of real numbers between two floats. Sums, products and quotients are widened by
one unit in the last place on either side, which covers IEEE rounding to nearest. Logarithms and exponentials are
widened by `LIBRARY_ULPS`: NumPy's are within one unit in practice (tests compare them with Arb on a grid), four are
allowed for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.exact.weights import Floats

LIBRARY_ULPS = 4


def down(x: Any, steps: int = 1) -> Floats:
    """The float `steps` below each x."""
    for _ in range(steps):
        x = np.nextafter(x, -np.inf)
    return np.asarray(x, dtype=np.float64)


def up(x: Any, steps: int = 1) -> Floats:
    """The float `steps` above each x."""
    for _ in range(steps):
        x = np.nextafter(x, np.inf)
    return np.asarray(x, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Interval:
    """lo ≤ x ≤ hi, element by element.

    >>> third = Interval.of(1) / Interval.of(3)
    >>> bool(third.lo < third.hi), bool(third.lo <= 1 / 3 <= third.hi)
    (True, True)
    """

    lo: Floats
    hi: Floats

    @classmethod
    def of(cls, x: Any) -> Interval:
        """Floats taken as the exact numbers they are."""
        array = np.asarray(x, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def around(cls, numbers: list[Fraction] | tuple[Fraction, ...]) -> Interval:
        """Rationals, each between the floats next to it."""
        nearest = np.array([float(n) for n in numbers])
        exact = np.array([Fraction(float(f)) == n for f, n in zip(nearest, numbers, strict=True)])
        return cls(np.where(exact, nearest, down(nearest)), np.where(exact, nearest, up(nearest)))

    def __add__(self, other: Interval) -> Interval:
        return Interval(down(self.lo + other.lo), up(self.hi + other.hi))

    def __sub__(self, other: Interval) -> Interval:
        return Interval(down(self.lo - other.hi), up(self.hi - other.lo))

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: Interval) -> Interval:
        with np.errstate(invalid="ignore"):
            products = np.array([self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi])
        products = np.nan_to_num(
            products, nan=0.0, posinf=np.inf, neginf=-np.inf
        )  # 0·∞ is 0: the exact factor is finite
        return Interval(down(products.min(axis=0)), up(products.max(axis=0)))

    def __truediv__(self, other: Interval) -> Interval:
        """Division by an interval of positive numbers."""
        return self * Interval(down(1 / other.hi), up(1 / np.where(other.lo > 0, other.lo, np.nan)))

    def log(self) -> Interval:
        """Natural logarithm; −∞ where the lower end is 0."""
        with np.errstate(divide="ignore"):
            return Interval(down(np.log(self.lo), LIBRARY_ULPS), up(np.log(self.hi), LIBRARY_ULPS))

    def exp(self) -> Interval:
        return Interval(np.maximum(down(np.exp(self.lo), LIBRARY_ULPS), 0.0), up(np.exp(self.hi), LIBRARY_ULPS))

    def sqrt(self) -> Interval:
        return Interval(np.maximum(down(np.sqrt(np.maximum(self.lo, 0))), 0.0), up(np.sqrt(self.hi)))

    def positive_part(self) -> Interval:
        return Interval(np.maximum(self.lo, 0.0), np.maximum(self.hi, 0.0))

    def sum(self) -> Interval:
        """The sum of a one-dimensional interval array; `fsum` is correctly rounded."""
        return Interval(down(math.fsum(self.lo)), up(math.fsum(self.hi)))

    def dot(self, other: Interval) -> Interval:
        return (self * other).sum()

    def __getitem__(self, key: Any) -> Interval:
        return Interval(np.asarray(self.lo[key]), np.asarray(self.hi[key]))


def exponential_interval(lower: int, upper: int, bits: int) -> Interval:
    """The enclosure of e^ε that integer bounds at 2^bits give."""
    return Interval(down(float(Fraction(lower, 1 << bits))), up(float(Fraction(upper, 1 << bits))))
