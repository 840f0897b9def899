"""Tail probabilities of a sum of independent log-likelihood ratios, bounded from above whatever rounding does.

S = Σ ℓ(Y_i) with Y_i drawn independently, report y with probability m_y. Every ℓ_y is rounded *up* to a multiple of a
step h, so {S ≥ s} ⊆ {Σ⌈ℓ/h⌉ ≥ s/h}: the tail of the rounded sum bounds that of S. The rounded sum has the n-fold
convolution of a distribution on a grid, formed by repeated squaring. All terms are non-negative, so a direct
convolution has a relative error of at most its number of terms times 2^-53 in every entry; the bound is multiplied by
that. Where only two values of ℓ occur the sum is binomial and no grid is needed. Beyond `MOST_CELLS` cells Chernoff's
bound stands in: min_t e^{−ts} (Σ m_y e^{tℓ_y})^n, valid for every t ≥ 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extremal.exact.weights import Floats

MOST_CELLS = 1 << 17
"""Cells of the n-fold convolution; a direct product of two such arrays takes about a second."""

CELLS_FOR_ONE = 1 << 12  # cells for the range of one ℓ, at most: the grid is no finer than that
FEWEST_CELLS = 16  # a coarser grid says less than Chernoff's bound
NEAR = 1e-9  # of a step: a value this far above a grid point is put on it, and the shortfall is counted
UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Tail:
    """P(S ≥ s) for a sum of n independent values.

    Attributes:
        values: the possible ℓ; −∞ and +∞ are allowed, not both for the same sum to be asked below +∞.
        probabilities: of each, adding up to 1.
        n: how many are added.

    >>> fair = Tail(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3)
    >>> fair.at_least(3), fair.at_least(-1)
    (0.125, 0.875)
    """

    values: Floats
    probabilities: Floats
    n: int

    def at_least(self, s: float) -> float:
        """An upper bound on P(S ≥ s), at most 1; equal to it up to rounding when at most two values occur."""
        never = float(self.probabilities[self.values == -math.inf].sum())
        at_once = float(self.probabilities[self.values == math.inf].sum())
        finite = max(0.0, 1 - never - at_once)
        alive = math.exp(self.n * math.log1p(-never)) if never < 1 else 0.0
        all_finite = finite**self.n
        infinite = max(0.0, alive - all_finite)  # S = +∞: none is −∞ and one is +∞
        if s == math.inf or not finite:
            return min(1.0, infinite * (1 + 8 * self.n * UNIT))
        return min(1.0, (infinite + all_finite * self._finite(s)) * (1 + 8 * self.n * UNIT))

    @property
    def exact(self) -> bool:
        """Whether the bound is the probability itself up to rounding: at most two finite values."""
        return self._single[0].size <= 2

    @cached_property
    def _single(self) -> tuple[Floats, Floats]:
        """The finite values, each once and increasing, and their probabilities given that the value is finite."""
        finite = np.isfinite(self.values)
        values, where = np.unique(self.values[finite], return_inverse=True)
        masses = np.bincount(where, weights=self.probabilities[finite])
        return values, masses / masses.sum()

    @cached_property
    def _grid(self) -> tuple[float, float, Floats] | None:
        """Step, start and upper tail of the rounded sum; None when n is too large for a grid."""
        values, masses = self._single
        cells = min(CELLS_FOR_ONE, (MOST_CELLS - 1) // self.n)
        if cells < FEWEST_CELLS:
            return None
        step = float(values[-1] - values[0]) / (cells - 1)
        codes = np.ceil((values - values[0]) / step - NEAR).astype(np.int64)
        short = max(0.0, float(np.max(values - values[0] - codes * step)))  # what rounding up still lacks
        single = np.bincount(codes, weights=masses)
        power, terms = _power(single, self.n)
        tail = np.cumsum(power[::-1])[::-1] * (1 + 4 * (terms + power.size) * UNIT)
        return step, self.n * (float(values[0]) + short), tail

    def _finite(self, s: float) -> float:
        values, masses = self._single
        slack = 4 * self.n * self.n * UNIT * float(np.abs(values).max())  # a float sum of n values is no further off
        if values.size == 1:
            return float(self.n * values[0] >= s - slack)
        if values.size == 2:
            return _binomial_tail(float(values[0]), float(values[1]), float(masses[1]), self.n, s - slack)
        bound = chernoff(values, masses, self.n, s)
        if self._grid is None:
            return bound
        step, start, tail = self._grid
        first = max(0, math.ceil((s - slack - start) / step - NEAR))
        return min(bound, float(tail[first]) if first < tail.size else 0.0)


def _binomial_tail(low: float, high: float, chance: float, n: int, s: float) -> float:
    from scipy.stats import binom

    needed = math.ceil((s - n * low) / (high - low))
    return float(binom.sf(needed - 1, n, chance)) if needed > 0 else 1.0


def _power(single: Floats, n: int) -> tuple[Floats, int]:
    """The n-fold convolution by repeated squaring, and how many rounded operations stand behind an entry at most."""
    result, square, terms, squared = np.ones(1), single, 1, 1
    while n:
        if n & 1:
            result, terms = np.convolve(result, square), terms + squared + min(result.size, square.size)
        n >>= 1
        if n:
            square, squared = np.convolve(square, square), 2 * squared + square.size
    return result, terms


def chernoff(values: Floats, masses: Floats, n: int, s: float) -> float:
    """min over t ≥ 0 of exp(n·log Σ m e^{tℓ} − ts): an upper bound on P(S ≥ s) for every t that is tried."""
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    largest = float(np.abs(values).max())

    def exponent(log_t: float) -> float:
        t = math.exp(log_t)
        error = 64 * UNIT * (n * (1 + t * largest) + t * abs(s))  # of the two terms below, each a few roundings
        return float(n * logsumexp(t * values, b=masses) - t * s) + error

    if n * float(masses @ values) >= s:
        return 1.0
    found = minimize_scalar(exponent, bounds=(-12.0, 12.0), method="bounded")
    return math.exp(min(0.0, float(found.fun)))
