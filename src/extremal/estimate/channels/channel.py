"""What the estimators ask of a mechanism, answered from its structure.

A *channel* is a mechanism seen from the analyst's side, at the level of its r different rows. Reports are summed up in
a *statistic* s with E s linear in the row probabilities p; for most mechanisms s is the vector f of report frequencies
and E f = Qᵀp. An *inverse* is a linear map L with L·E s = p: the estimate Ls is unbiased whatever p is. Everything else
(covariances, the influence of a single report, fits) is asked of these two, so that randomised response on 10,000
symbols needs no matrix.

To teach the estimators a new structure, write a class with the methods of `Channel` and one with those of `Inverse`,
and add the first to `CHANNELS` in `extremal.estimate.channels`. Everything without an entry is treated as a dense
matrix, up to 2^24 entries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels

Flags = npt.NDArray[np.bool_]

WORST_CONDITION = 1e12
"""A matrix beyond this condition number counts as singular: entries carry rounding of 1e-16, and standard errors would
be 1e12/√n."""


class Inverse(Protocol):
    """L, with the moments of L·e_Y, the contribution of one report Y to the estimate."""

    def apply(self, statistic: Floats) -> Floats:
        """L s, for one s or for each column of a matrix."""
        ...

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        """E (L e_Y − centre)² for each row, with Y the report of a value drawn from `spread`."""
        ...

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        """E (A L e_Y − A centre)(…)ᵀ with A = `rows` (None: the identity)."""
        ...

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        """The smallest and the largest value over reports y of each entry of A L e_y."""
        ...

    def binary(self, rows: Floats | None) -> Flags:
        """For which entries A L e_y takes two values only: their count is binomial, whatever p is."""
        ...

    def moments(self, rows: Floats | None) -> Floats:
        """E (A L e_Y)² given each input: a row for each entry, a column for each row of the mechanism."""
        ...

    def ends(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """E (L e_Y)² of each entry when the truth is another input, when it follows p, and when it is its own."""
        ...

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        """Mean of (A L e_Y − A centre)² over the reports themselves; NaN where `statistic` does not tell."""
        ...

    def influence(self, rows: Floats | None) -> Floats | None:
        """A L e_y for each report, where the statistic is the shares of listed reports; else None."""
        ...


class Encoder(Protocol):
    """All that counting reports needs."""

    labels: Labels
    """What reports are, or are sets of."""

    def encode(self, label: Any) -> Hashable:
        """A report as the key that it is counted under; refuses what the mechanism never reports."""
        ...


class Channel(Encoder, Protocol):
    """A mechanism from the analyst's side."""

    @property
    def r(self) -> int:
        """Number of different rows."""
        ...

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        """s for reports `keys` with shares that sum to one."""
        ...

    def uniform(self) -> Floats:
        """s when every report is equally frequent."""
        ...

    def expected(self, p: Floats) -> Floats:
        """E s when row i has probability p_i."""
        ...

    def back(self, v: Floats) -> Floats:
        """The adjoint of `expected`: Qv."""
        ...

    def smallest_share(self, p: Floats) -> float:
        """The smallest entry of E s: times n, how many reports the rarest cell can expect."""
        ...

    def combinations(self) -> Floats | None:
        """None if p is identified, else a ρ×r matrix whose rows span the identified combinations of p."""
        ...

    def inverse(self, prior: Floats) -> Inverse:
        """The generalised least squares inverse, weighted for `prior`."""
        ...

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        """The p on the simplex of largest likelihood, and a bound on what it misses of the largest mean
        log-likelihood."""
        ...

    def misfit(self, statistic: Floats, p: Floats, n: float) -> tuple[float, int]:
        """Pearson's X²/n of s against the nearest E s (p ≥ 0 not imposed; weights at p), and its degrees of freedom;
        outputs that few of n reports are expected of are pooled."""
        ...


class ListedReports:
    """Reports that are counted by their positions among the outputs: the statistic is f, their frequencies."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.labels: Labels = mechanism.output_labels
        self.m = mechanism.m

    def encode(self, label: Any) -> Hashable:
        return self.labels.code(label, "reports")

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        codes = np.asarray(keys, dtype=np.intp)
        return np.asarray(np.bincount(codes, weights=shares, minlength=self.m), dtype=np.float64)

    def smallest_share(self: Channel, p: Floats) -> float:
        return float(self.expected(p).min())

    def uniform(self) -> Floats:
        return np.full(self.m, 1 / self.m)


class WithoutLikelihood:
    """A channel whose reports are not listed: no likelihood, and no test of how they fit the mechanism."""

    no_likelihood = "maximum likelihood needs the reports listed, and they are too many"
    instead = 'Use method="unbiased" or "projected".'

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        raise InvalidParameter(self.no_likelihood, parameter="method", value="mle", hint=self.instead)

    def misfit(self, statistic: Floats, p: Floats, n: float) -> tuple[float, int]:
        return 0.0, 0


NEGLIGIBLE = 1e-12
"""The share that an input without any is given where a mean over inputs would otherwise have no weight."""

TWO_VALUES = 1e-9
"""Relative distance within which values of an influence count as the same: an inverse carries rounding of about
1e-12."""


def two_valued(influence: Floats) -> Flags:
    """Which rows take exactly two values, up to rounding."""
    low, high = influence.min(axis=1, keepdims=True), influence.max(axis=1, keepdims=True)
    near = TWO_VALUES * (high - low)
    same = (influence - low <= near) | (high - influence <= near)
    return np.asarray(same.all(axis=1) & (high > low)[:, 0])


class EndsByMoments(ABC):
    """`Inverse.ends` from all the moments."""

    @abstractmethod
    def moments(self, rows: Floats | None) -> Floats: ...

    def influence(self, rows: Floats | None) -> Floats | None:
        return None

    def ends(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        moments = self.moments(None)
        weights = (p + NEGLIGIBLE) * ~np.eye(p.size, dtype=np.bool_)
        others = (moments * weights).sum(axis=1) / weights.sum(axis=1)
        return np.asarray(others), np.asarray(moments @ p), np.diagonal(moments).copy()


def dense_moment(influence: Floats, rows: Floats | None, w: Floats, centre: Floats, spread: Floats) -> Floats:
    """E (B e_Y − A centre)(…)ᵀ with B = `influence`, A = `rows`, Y distributed as `w`."""
    a, b = (centre, spread) if rows is None else (rows @ centre, rows @ spread)
    return np.asarray((influence * w) @ influence.T - np.outer(a, b) - np.outer(b, a) + np.outer(a, a))
