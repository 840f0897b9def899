"""How an estimate came about, at the level of the mechanism's rows, and what follows for its variance and limits.

One report contributes L·e_Y to the estimate. Its variance is worked out twice: with Y as the fitted frequencies say,
which does not call a report impossible because it was not seen, and over the reports themselves, because fitted
frequencies are pulled together and make large cells look less variable than they are. The larger one is used. Weights
enter through their squares, clusters and strata through the sums of each cluster (`reports.sampling`).

Limits are exact wherever the contribution takes two values: then the number of reports with the larger one is binomial,
whatever the other frequencies are. With weights or clusters the same limits are taken at the effective number of
reports, and are approximate. Everything else gets score limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.estimate.channels.channel import NEGLIGIBLE, Channel, Flags, Floats, Inverse
from extremal.estimate.intervals.binomial import beta_limits, mapped, mapped_limits
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.combinations import Combinations
from extremal.estimate.reports.sampling import Sampling
from extremal.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Fit:
    """How an estimate came about, at the level of the mechanism's rows."""

    mechanism: Mechanism
    channel: Channel
    combinations: Combinations
    statistic: Floats
    unbiased_inverse: Inverse
    unbiased: Floats
    inverse: Inverse
    centre: Floats
    plausible: Floats
    spread: Floats
    effective_n: float
    weighted: bool
    distinct: int
    n: int
    squares: Floats
    sampling: Sampling | None = None
    dropped: int = 0
    likeliest: Floats | None = None

    def covariance(self, coefficients: Floats | None) -> Floats:
        """Of these linear functions of what is estimated (None: of each)."""
        rows = self._rows(coefficients)
        if self.sampling is not None:
            return self.sampling.covariance(self.inverse, rows, self.centre)
        fitted = self.inverse.covariance(rows, self.plausible, self.spread) / self.effective_n
        scale = np.sqrt(
            np.divide(
                self.variances(coefficients),
                np.diagonal(fitted),
                out=np.ones(len(fitted)),
                where=np.diagonal(fitted) > 0,
            )
        )
        return np.asarray(fitted * np.outer(scale, scale))

    def variances(self, coefficients: Floats | None = None) -> Floats:
        """The diagonal of `covariance`."""
        rows = self._rows(coefficients)
        if self.sampling is not None:
            return self.sampling.variances(self.inverse, rows, self.centre)
        return self.unit_variances(rows) / self.effective_n

    def unit_variances(self, rows: Floats | None) -> Floats:
        """Of what one report contributes: the larger of the fitted and the seen."""
        if rows is None:
            fitted = self.inverse.variances(self.plausible, self.spread)
        else:
            # One at a time: the whole covariance of many combinations is not needed.
            fitted = self.inverse.moments(rows) @ self.spread
            at, middle = rows @ self.spread, rows @ self.plausible
            fitted = fitted - 2 * at * middle + middle**2
        seen = self.inverse.sample_variances(rows, self.squares, self.centre)
        return np.asarray(np.maximum(np.fmax(fitted, seen), 0.0))

    def limits(self, coefficients: Floats | None, level: float) -> Floats:
        """Rows (low, high) for these linear functions of what is estimated (None: for each)."""
        rows = self._rows(coefficients)
        estimate = self.centre if rows is None else np.asarray(rows @ self.centre)
        size = estimate.size
        least, most = (np.zeros(size), np.ones(size)) if rows is None else (rows.min(axis=1), rows.max(axis=1))
        exact = self.inverse.binary(rows) & (most > least)
        found = np.column_stack([least, most])  # a constant is known
        if exact.any():
            found[exact] = self._binomial(rows, estimate, least, most, level, exact)
        rest = ~exact & (most > least)
        if rest.any():
            found[rest] = self._score(rows, estimate, least, most, level, rest)
        return found

    def exact(self, coefficients: Floats | None) -> Flags:
        """Which of these have exact limits."""
        known = self.inverse.binary(self._rows(coefficients))
        return known & (self.sampling is None and not self.weighted)

    def _binomial(
        self, rows: Floats | None, estimate: Floats, least: Floats, most: Floats, level: float, chosen: Flags
    ) -> Floats:
        small, large = (np.broadcast_to(v, estimate.shape)[chosen] for v in self.inverse.extremes(rows))
        least, most, step = least[chosen], most[chosen], large - small
        inside, outside = (most - small) / step, (least - small) / step
        share = (estimate[chosen] - small) / step
        if self.weighted or self.sampling is not None:
            n = self._effective(rows, chosen)
            low = beta_limits(n * np.minimum(share, inside), n, level)[..., 0]
            high = beta_limits(n * np.maximum(share, outside), n, level)[..., 1]
            found = mapped(low, high, inside, outside)
        else:
            found = mapped_limits(np.rint(self.n * share).astype(np.int64), self.n, level, inside, outside)
        return np.asarray(least[:, None] + (most - least)[:, None] * found)

    def _score(
        self, rows: Floats | None, estimate: Floats, least: Floats, most: Floats, level: float, chosen: Flags
    ) -> Floats:
        ends, fitted = self._ends(rows, least, most, chosen)
        n = self._effective(rows, chosen)
        return score_limits(
            estimate[chosen],
            n,
            quantile(level),
            (least[chosen], most[chosen]),
            fitted,
            self.unit_variances(rows)[chosen],
            ends,
        )

    def _ends(
        self, rows: Floats | None, least: Floats, most: Floats, chosen: Flags
    ) -> tuple[tuple[Floats, Floats, Floats], Floats]:
        """The second moments of a report's contribution at the least, the fitted and the largest value, and the fitted
        value."""
        if rows is None:
            low, middle, high = (moment[chosen] for moment in self.inverse.ends(self.plausible))
            return (low, middle, high), self.plausible[chosen]
        moments, a = self.inverse.moments(rows)[chosen], rows[chosen]
        low = _mean_where(moments, a == least[chosen, None], self.plausible)
        high = _mean_where(moments, a == most[chosen, None], self.plausible)
        return (low, moments @ self.plausible, high), np.asarray(a @ self.plausible)

    def _effective(self, rows: Floats | None, chosen: Flags) -> Floats:
        """How many independent unweighted reports are as precise, for each."""
        unit = self.unit_variances(rows)[chosen]
        if self.sampling is None:
            return np.full(unit.shape, self.effective_n)
        return self.sampling.effective(unit, self.sampling.variances(self.inverse, rows, self.centre)[chosen])

    def _rows(self, coefficients: Floats | None) -> Floats | None:
        return self.combinations.matrix if coefficients is None else self.combinations.rows(coefficients)


def _mean_where(moments: Floats, where: Flags, p: Floats) -> Floats:
    """The mean of each row's moments over the inputs at a bound, weighted by their frequencies if they have any."""
    weight = where * (p + NEGLIGIBLE)
    return np.asarray((moments * weight).sum(axis=1) / weight.sum(axis=1))
