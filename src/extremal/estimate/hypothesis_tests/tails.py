"""Tail probabilities of a sum of independent values on a grid, bounded from above whatever rounding does.

A test may use any statistic, so the log-likelihood ratios are rounded *before* they are added: to multiples of a power
of two (`on_grid`). Sums are then exact in floating point, and the sum of n of them has the n-fold convolution of one
distribution on the grid, formed by repeated squaring. All its terms are non-negative, so a direct convolution has a
relative error of at most its number of terms times 2^-53 in every entry, and the bound is multiplied by that; ends of a
long array that hold less than `DROPPED` are cut, and what was cut is added to the bound. Where only two values occur
the sum is binomial. Beyond some millions of reports Chernoff's bound stands alone: min_t e^{−ts}(Σ m_y e^{tℓ_y})^n,
valid for every t ≥ 0; for smaller n it bounds tails below what was cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from extremal.exact.weights import Floats

MOST_CELLS = 1 << 16
"""Cells of the n-fold convolution that matter; a direct product of two such arrays takes about a second."""
CELLS_FOR_ONE = 1 << 8
"""For the range of one value at most: rounding costs about (step/σ)²/12 of the reports, here some in 100,000."""
FEWEST_CELLS = 4
"""A coarser grid gives away too much power, and Chernoff's bound is used instead."""
WIDTH = 11
"""The sum stays in WIDTH·√n times the range of one value up to `DROPPED`, whatever the distribution (Hoeffding)."""
DROPPED = 1e-25
"""Mass that may be cut at an end: ten digits below any probability that a decision depends on."""
ACCURATE = 1e-15
"""Below this what was cut may dominate the bound, and Chernoff's may be smaller."""
SMALLEST = 1e-300
"""Above anything that underflow can lose."""
LONG = 1 << 12  # arrays up to this are never cut
BINOMIAL = 1e-11
"""Relative error granted to the incomplete beta function of a library; it is documented to be far smaller."""
UNIT = 2.0**-53  # the relative error of one rounding


def on_grid(values: Floats, n: int) -> tuple[Floats, float]:
    """The values rounded to the nearest multiples of a power of two, and that power; infinite ones stay.

    Sums of n rounded values are exact. With at most two different values, or n so large that no convolution is made,
    the grid is as fine as that allows; otherwise it has up to `CELLS_FOR_ONE` cells.

    >>> on_grid(np.array([0.1, 0.3]), 1000)[0].round(9).tolist()
    [0.1, 0.3]
    """
    finite = np.unique(values[np.isfinite(values)])
    largest = float(np.abs(finite).max(initial=0.0))
    if not largest:
        return values, 1.0
    step = 2.0 ** (math.ceil(math.log2(largest)) + math.ceil(math.log2(n)) - 51)
    cells = min(CELLS_FOR_ONE, int(MOST_CELLS / min(n, WIDTH * math.sqrt(n))))
    if finite.size > 2 and cells >= FEWEST_CELLS:
        step = max(step, 2.0 ** math.ceil(math.log2(float(finite[-1] - finite[0]) / cells)))
    return np.rint(values / step) * step, step


class _Power(NamedTuple):
    """Probabilities of offset, offset + 1, …; how many roundings stand behind each; the mass that was cut."""

    masses: Floats
    offset: int
    terms: int
    lost: float

    def times(self, other: _Power) -> _Power:
        masses = np.convolve(self.masses, other.masses)
        terms = self.terms + other.terms + min(self.masses.size, other.masses.size)
        offset, lost = self.offset + other.offset, self.lost + other.lost
        if masses.size > LONG:
            first = int(np.searchsorted(np.cumsum(masses), DROPPED))
            last = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), DROPPED))
            masses, offset, lost = masses[first:last], offset + first, lost + 2 * DROPPED
        return _Power(masses, offset, terms, lost)


@dataclass(frozen=True, eq=False)
class Tail:
    """P(S ≥ s) for a sum of n independent values.

    Attributes:
        values: multiples of `step`, or ±∞. A value −∞ makes the sum −∞; +∞ must have probability 0.
        probabilities: of each, adding up to 1.
        n: how many are added.
        step: of the grid.
        relative: how far each probability may be off, relatively.

    >>> fair = Tail(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1.0)
    >>> round(fair.at_least(3), 9), round(fair.at_least(-1), 9)
    (0.125, 0.875)
    """

    values: Floats
    probabilities: Floats
    n: int
    step: float
    relative: float = 0.0

    def at_least(self, s: float) -> float:
        """An upper bound on P(S ≥ s), at most 1; the probability itself up to rounding when `exact`."""
        if s == -math.inf:
            return 1.0
        if s == math.inf or not self.occurs or s > self.highest:
            return 0.0
        needed = math.ceil((s - self.lowest) / self.step)  # both are multiples of the step unless s is not
        return min(1.0, self._reaches(needed) * math.exp(self.n * (self.relative + 8 * UNIT)) + SMALLEST)

    @property
    def occurs(self) -> bool:
        """Whether S can be finite at all."""
        return bool(self._single[0].size)

    @property
    def lowest(self) -> float:
        """The smallest finite value of S."""
        return self.n * float(self._single[0][0])

    @property
    def highest(self) -> float:
        """The largest finite value of S."""
        return self.n * float(self._single[0][-1])

    @property
    def exact(self) -> bool:
        """Whether the bound is the probability itself up to rounding, and not only Chernoff's bound."""
        return len(self._codes) <= 2 or self._convolved is not None

    @cached_property
    def _single(self) -> tuple[Floats, Floats]:
        """The finite values that occur, each once and increasing, and their probabilities."""
        occurs = np.isfinite(self.values) & (self.probabilities > 0)
        values, where = np.unique(self.values[occurs], return_inverse=True)
        return values, np.bincount(where, weights=self.probabilities[occurs], minlength=values.size).astype(np.float64)

    @cached_property
    def _codes(self) -> list[int]:
        values = self._single[0]
        if not values.size:
            return []
        return [round(v) for v in ((values - values[0]) / self.step).tolist()]

    @cached_property
    def _convolved(self) -> tuple[int, Floats, float] | None:
        """Offset, upper tail and lost mass of S in steps above `lowest`; None when n is too large."""
        if self.n * self._codes[-1] > MOST_CELLS and WIDTH * math.sqrt(self.n) * self._codes[-1] > 4 * MOST_CELLS:
            return None
        single = np.zeros(self._codes[-1] + 1)
        single[self._codes] = self._single[1]
        power = _power(_Power(single, 0, 1, 0.0), self.n)
        tail = np.cumsum(power.masses[::-1])[::-1] * (1 + 4 * (power.terms + power.masses.size) * UNIT)
        return power.offset, tail, power.lost

    def _reaches(self, needed: int) -> float:
        """A bound on the probability that S is at least `needed` steps above `lowest`."""
        values, masses = self._single
        if values.size == 1:
            return float(masses[0]) ** self.n if needed <= 0 else 0.0
        if values.size == 2:
            total = float(masses.sum())
            return total**self.n * _binomial_tail(-(-needed // self._codes[1]), self.n, float(masses[1]) / total)
        bound = 1.0
        if self._convolved is not None:
            offset, tail, lost = self._convolved
            first = max(0, needed - offset)
            bound = lost + (float(tail[first]) if first < tail.size else 0.0)
        if bound > ACCURATE and self._convolved is not None:
            return bound
        return min(bound, chernoff(values, masses, self.n, self.lowest + needed * self.step))


def _binomial_tail(needed: int, n: int, chance: float) -> float:
    from scipy.stats import binom

    return float(binom.sf(needed - 1, n, chance)) * (1 + BINOMIAL) if needed > 0 else 1.0


def _power(single: _Power, n: int) -> _Power:
    """The n-fold convolution by repeated squaring."""
    result, square = _Power(np.ones(1), 0, 1, 0.0), single
    while n:
        if n & 1:
            result = result.times(square)
        n >>= 1
        if n:
            square = square.times(square)
    return result


def chernoff(values: Floats, masses: Floats, n: int, s: float) -> float:
    """min over t ≥ 0 of exp(n·log Σ m e^{tℓ} − ts): an upper bound on P(S ≥ s) for every t that is tried.

    >>> 0.125 <= chernoff(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 3.0) < 0.126
    True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    largest = float(np.abs(values).max())

    def exponent(log_t: float) -> float:
        t = math.exp(log_t) / largest
        error = 64 * UNIT * (n * (1 + t * largest) + t * abs(s))  # of the two terms below, each a few roundings
        return float(n * logsumexp(t * values, b=masses) - t * s) + error

    at_zero = n * math.log(float(masses.sum()))
    if n * float(masses @ values) >= s:
        return min(1.0, math.exp(at_zero))
    found = minimize_scalar(exponent, bounds=(-30.0, 30.0), method="bounded")
    return math.exp(min(0.0, at_zero, float(found.fun)))
