"""What the estimators ask of a mechanism, answered from its structure.

A *channel* is a mechanism seen from the analyst's side, at the level of its r different rows. Reports are summed up in
a *statistic* s with E s linear in the row probabilities p; for most mechanisms s is the vector f of report frequencies
and E f = Qᵀp. An *inverse* is a linear map L with L·E s = p: the estimate Ls is unbiased whatever p is. Everything else
(covariances, the influence of a single report, fits) is asked of these two, so that randomised response on 10,000
symbols needs no matrix.

To teach the estimators a new structure, write a class with the methods of `Channel` and one with those of `Inverse`,
and add the first to `CHANNELS` in `extremal.estimate.structures`. Everything without an entry is treated as a dense
matrix, up to 2^24 entries.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures import RandomizedResponse
from extremal.mechanism.structures.structure import refuse_large

Floats = npt.NDArray[np.float64]

WORST_CONDITION = 1e12
"""A matrix beyond this condition number counts as singular: entries carry rounding of 1e-16, and standard errors would
be 1e12/√n."""


class Inverse(Protocol):
    """L, with the moments of L·e_Y, the contribution of one report Y to the estimate."""

    def apply(self, statistic: Floats) -> Floats:
        """L s."""
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


class Channel(Protocol):
    """A mechanism from the analyst's side."""

    @property
    def r(self) -> int:
        """Number of different rows."""
        ...

    def encode(self, label: Any) -> Hashable:
        """A report as the key that it is counted under; refuses what the mechanism never reports."""
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

    def misfit(self, statistic: Floats, p: Floats) -> tuple[float, int]:
        """Pearson's X²/n of s against the nearest E s (p ≥ 0 not imposed; weights at p), and its degrees of freedom."""
        ...


class ResponseChannel:
    """Randomised response: Q = low + c·I with c = high − low, so Qᵀp = f means p = (f − low)/c. Two numbers whatever
    r."""

    def __init__(self, mechanism: Mechanism) -> None:
        kernel = mechanism.kernel
        if not isinstance(kernel, RandomizedResponse):
            raise InvalidParameter("the mechanism must be a randomised response", parameter="kind", value=kernel.kind)
        self.r = kernel.r
        self.labels: Labels = mechanism.output_labels
        self.low, self.step = (
            float(np.ldexp(kernel.low, -WEIGHT_BITS)),
            float(np.ldexp(kernel.high - kernel.low, -WEIGHT_BITS)),
        )

    def encode(self, label: Any) -> Hashable:
        return self.labels.code(label, "reports")

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        return np.asarray(
            np.bincount(np.asarray(keys, dtype=np.intp), weights=shares, minlength=self.r), dtype=np.float64
        )

    def uniform(self) -> Floats:
        return np.full(self.r, 1 / self.r)

    def expected(self, p: Floats) -> Floats:
        return np.asarray(self.low * p.sum() + self.step * p)

    def smallest_share(self, p: Floats) -> float:
        return float(self.expected(p).min())

    def combinations(self) -> Floats | None:
        return None

    def inverse(self, prior: Floats) -> Inverse:
        return ResponseInverse(self.low, self.step)

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        """p_y = (f_y/λ − low/c)⁺, the water level λ found by sorting: exact, no iteration."""
        f, offset = statistic, self.low / self.step
        ordered = np.sort(f)[::-1]
        scale = (1 + offset * np.arange(1, self.r + 1)) / np.cumsum(ordered)
        kept = int(np.flatnonzero(ordered * scale > offset)[-1])
        p = np.maximum(f * scale[kept] - offset, 0.0)
        p /= p.sum()
        m = self.expected(p)
        ratio = np.divide(f, m, out=np.zeros_like(f), where=m > 0)
        return p, max(0.0, float(self.low * ratio.sum() + self.step * ratio.max()) - 1)

    def misfit(self, statistic: Floats, p: Floats) -> tuple[float, int]:
        return 0.0, 0


class ResponseInverse:
    """L = (I − low·11ᵀ)/c."""

    def __init__(self, low: float, step: float) -> None:
        self.low, self.step = low, step

    def apply(self, statistic: Floats) -> Floats:
        return np.asarray((statistic - self.low * statistic.sum()) / self.step)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        w = self.low * spread.sum() + self.step * spread
        # (1{Y=x} − low)/c has second moment (w(1 − low)² + (1 − w)low²)/c² and mean `spread`.
        second = (w * (1 - 2 * self.low) + self.low**2) / self.step**2
        return np.asarray(second - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        if rows is None:
            refuse_large(centre.size, centre.size, "the covariance")
            w = self.low * spread.sum() + self.step * spread
            second = (np.diag(w) + self.low * (self.low - w[:, None] - w)) / self.step**2
            return np.asarray(second + np.outer(centre, centre) - np.outer(spread, centre) - np.outer(centre, spread))
        return dense_moment(self._rows(rows), rows, self.low * spread.sum() + self.step * spread, centre, spread)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        if rows is None:
            return np.array([-self.low / self.step]), np.array([(1 - self.low) / self.step])
        influence = self._rows(rows)
        return influence.min(axis=1), influence.max(axis=1)

    def _rows(self, rows: Floats) -> Floats:
        return np.asarray((rows - self.low * rows.sum(axis=1, keepdims=True)) / self.step)


def dense_moment(influence: Floats, rows: Floats | None, w: Floats, centre: Floats, spread: Floats) -> Floats:
    """E (B e_Y − A centre)(…)ᵀ with B = `influence`, A = `rows`, Y distributed as `w`."""
    a, b = (centre, spread) if rows is None else (rows @ centre, rows @ spread)
    return np.asarray((influence * w) @ influence.T - np.outer(a, b) - np.outer(b, a) + np.outer(a, a))
