"""The worth of a staircase column in outward-rounded intervals, for the checkers of information.

φ(z) = z·f(c) − f(cz) and φ'(z) = f(c) − c·ln(1+cz), with f(d) = (1+d)ln(1+d) − d increasing on d ≥ 0, c = e^ε − 1 (see
docs/design/information.md).
e^ε comes from integer bounds, so nothing here trusts a float ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from extremal.certificate.refused import Refused
from extremal.exact.exponential import FIRST_BITS
from extremal.exact.interval import LIBRARY_ULPS, Interval, down, up
from extremal.exact.weights import Floats
from extremal.privacy import LDP, Notion
from extremal.utility import MutualInformation, Utility

SERIES_BELOW = 0.25  # d up to which the power series is used: beyond, (1+d)ln(1+d) − d loses less than two digits
SERIES_TERMS = 30  # the first term left out is below 0.25^29/930 of d², less than 2^-67
# Horner's rule on alternating terms of ratio below 1/4: each of the last steps adds 2 roundings, earlier ones are
# damped
SERIES_ULPS = 12


def _series(d: Floats, first: int) -> Floats:
    """Σ_{n≥2} (−d)^n/w_n with w_n = n(n−1) (first = 1) or n (first = 0), by Horner's rule."""
    total = np.zeros_like(d)
    for n in range(SERIES_TERMS, 1, -1):
        total = (1.0 if n % 2 == 0 else -1.0) / (n * (n - 1) if first else n) + d * total
    return np.asarray(d * d * total)


def _monotone(x: Interval, first: int, direct: Any) -> Interval:
    """An increasing function that vanishes at 0, by series below SERIES_BELOW and by `direct` above."""
    ends = []
    for side, end in ((down, x.lo), (up, x.hi)):
        end = np.maximum(end, 0.0)
        series = side(_series(np.minimum(end, SERIES_BELOW), first), SERIES_ULPS)
        exact = direct(Interval.of(np.maximum(end, SERIES_BELOW)))
        ends.append(np.where(end < SERIES_BELOW, series, exact.lo if side is down else exact.hi))
    return Interval(np.maximum(ends[0], 0.0), ends[1])


def log1p(x: Interval) -> Interval:
    """ln(1+x) for x ≥ 0; the library's error is allowed for as in `Interval.log`."""
    low, high = np.log1p(np.maximum(x.lo, 0.0)), np.log1p(np.maximum(x.hi, 0.0))
    return Interval(np.maximum(down(low, LIBRARY_ULPS), 0.0), up(high, LIBRARY_ULPS))


def entropy_excess(d: Interval) -> Interval:
    """f(d) = (1+d)ln(1+d) − d for d ≥ 0."""
    return _monotone(d, 1, lambda x: (Interval.of(1.0) + x) * log1p(x) - x)


def log_excess(t: Interval) -> Interval:
    """t − ln(1+t) for t ≥ 0."""
    return _monotone(t, 0, lambda x: x - log1p(x))


@dataclass(frozen=True, eq=False)
class Curve:
    """φ at the ε of a notion.

    Attributes:
        e, c: e^ε and e^ε − 1, enclosed.
        top: φ'(0) = f(c).
    """

    e: Interval
    c: Interval
    top: Interval

    @classmethod
    def of(cls, privacy: LDP) -> Curve:
        lower, upper = privacy.exponential.bounds(FIRST_BITS)
        one = 1 << FIRST_BITS
        e = Interval(down(float(Fraction(lower, one))), up(float(Fraction(upper, one))))
        c = Interval(down(float(Fraction(lower - one, one))), up(float(Fraction(upper - one, one))))
        c = Interval.of(0.0) if upper == one else Interval(np.maximum(c.lo, 0.0), c.hi)
        return cls(e, c, entropy_excess(c))

    def value(self, z: Interval) -> Interval:
        """φ(z)."""
        return z * self.top - entropy_excess(self.c * z)

    def slope(self, z: Interval) -> Interval:
        """φ'(z)."""
        return self.top - self.c * log1p(self.c * z)


@dataclass(frozen=True, eq=False)
class Source:
    """The problem of a proof: the curve and the positive probabilities, exact and enclosed, in increasing order.

    Attributes:
        weights, total: integers; the probabilities are weights/total.
        p: the same as intervals.
    """

    curve: Curve
    weights: list[int]
    total: int
    p: Interval

    @property
    def k(self) -> int:
        return len(self.weights)

    def sums(self, largest: bool) -> Interval:
        """The masses of the 1, 2, …, k−1 smallest (or largest) symbols, from exact integer sums."""
        ordered = self.weights[::-1] if largest else self.weights
        return quotients(list(accumulate(ordered))[:-1], self.total)


def quotients(numerators: list[int], denominator: int) -> Interval:
    """n/denominator, each between floats: division of integers is correctly rounded."""
    nearest = np.array([n / denominator for n in numerators])
    return Interval(np.maximum(down(nearest), 0.0), up(nearest))


def source_of(privacy: Notion, utility: Utility, kind: str) -> Source:
    """The problem, when it is information under ε-LDP.

    Raises:
        Refused: it is another one.
    """
    if not isinstance(privacy, LDP) or privacy.delta or not isinstance(utility, MutualInformation):
        raise Refused(
            f"a proof by {kind} is about mutual information under ε-LDP", parameter="utility", value=utility.name
        )
    prior = utility.prior
    weights = sorted(w for w in prior.weights if w)
    return Source(Curve.of(privacy), weights, prior.total, quotients(weights, prior.total))


def positive_number(proof: dict[str, Any], field: str) -> float:
    """A finite number of a proof, at least 0.

    Raises:
        Refused: it is not.
    """
    number = float(proof[field])
    if not (np.isfinite(number) and number >= 0):
        raise Refused(f"{field} must be finite and not negative", parameter=field, value=number)
    return number
