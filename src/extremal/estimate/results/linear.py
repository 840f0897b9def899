"""Linear functions of the frequencies with their uncertainty: what estimates of shares and of workloads have in common,
and whether the reports can have come from the mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betainc, gammaincc, ndtr

from extremal.estimate.intervals.levels import each
from extremal.estimate.reports.degrees import reach
from extremal.estimate.results import display
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.tabled import Tabled
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label

ROUNDING = 1e-9  # of a share: an estimate this far outside its range, without a standard error, is inside
NO_SIGN = 0.05  # p-values from which a misfit is not spoken of


@dataclass(frozen=True, eq=False)
class LinearEstimate(Tabled):
    """Linear functions of the frequencies, from reports.

    Attributes:
        estimate: the points.
        centre: the sign-free linear estimate that standard errors and intervals belong to; `estimate` itself when
            unbiased.
        n: number of reports.
    """

    estimate: Floats
    centre: Floats
    n: int
    fit: Fit = field(repr=False)

    @property
    def labels(self) -> tuple[Any, ...]:
        """What is estimated."""
        return self.fit.combinations.names

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words; empty for a simple sample."""
        observed = self.fit.observed
        words = "weights" if observed.sampling is None and observed.weighted else ""
        words = words if observed.sampling is None else observed.sampling.words
        return f"{words}; as {self.effective_n:.0f}" if words else ""

    @cached_property
    def standard_error(self) -> Floats:
        """Of each entry of `centre`, for the population that respondents were drawn from."""
        return np.sqrt(np.maximum(self.fit.variances(), 0.0))

    @cached_property
    def covariance(self) -> Floats:
        """Of `centre`; raises TooLarge above 2^24 entries (the standard errors do not)."""
        return self.fit.covariance(None)

    @property
    def effective_n(self) -> float:
        """How many independent reports of equal weight are as precise: Kish's (Σw)²/Σw² (1965) where there are weights
        alone, else n over the mean design effect, which is the one at 95% limits where that is larger."""
        return self.fit.effective_n

    @property
    def design_effect(self) -> Floats:
        """For each: the variance over that of a simple random sample of as many reports of the same mechanism.

        Kish's deff, as in R's survey: what weights and clusters cost. 1 without them.
        """
        unit = self._unit
        return np.asarray(np.divide(self.standard_error**2 * self.n, unit, out=np.ones(unit.shape), where=unit > 0))

    @cached_property
    def exact(self) -> bool:
        """Whether every interval is exact: it holds with at least its level, whatever the truth and n."""
        return bool(self.fit.exact(None).all())

    def interval(self, level: float = 0.95, simultaneous: bool = False, bounded: bool = True) -> Floats:
        """Confidence limits, one row (low, high) for each.

        Where the count behind a row is binomial, Blaker's interval for its share, mapped to the estimate: coverage at
        least `level` for every n and every truth. With weights, strata or clusters the same at the effective number of
        reports, which is approximate. Elsewhere score limits, of coverage `level` in large samples. An estimate outside
        its possible range is moved into it first, so no interval is empty.

        Args:
            level: of confidence, between 0 and 1.
            simultaneous: all intervals hold together with probability `level` (Bonferroni: valid for any dependence;
                two frequencies that sum to one are one statement and need no correction).
            bounded: False gives centre ± z·s.e. (with clusters, t·s.e.) instead, which may leave the possible range.
        """
        of_each = each(level, self._statements if simultaneous else 1)
        if not bounded:
            half = reach(of_each, self.fit.degrees) * self.standard_error
            return np.column_stack([self.centre - half, self.centre + half])
        return self.fit.limits(None, of_each)

    @property
    def _statements(self) -> int:
        count = len(self.labels)
        return 1 if count == 2 and self.fit.combinations.matrix is None else count

    @property
    def _unit(self) -> Floats:
        """The variance of one report's contribution."""
        return self.fit.unit_variances(self.fit.combinations.matrix)

    def goodness_of_fit(self) -> GoodnessOfFit:
        """Could these reports have come from this mechanism? See `GoodnessOfFit`."""
        return GoodnessOfFit.of(self.fit)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences."""
        return display.notes(self)


@dataclass(frozen=True)
class GoodnessOfFit:
    """Could the reports have come from this mechanism?

    If they did, their distribution is Qᵀp for some p on the simplex. Two ways to be wrong, each tested:

    * off the range of Qᵀ (possible when there are more outputs than identified rows): Pearson's X² against the
      least-squares fit. Outputs that fewer than ten reports are expected of are put together first, because X² of rare
      outputs is far from χ²; what is left has m' − rank degrees of freedom, and there is no test if that is none;
    * inside the range, but only with a negative p: the most negative estimate, by its binomial tail where the count is
      binomial, by its standardised distance otherwise (variance taken at the bound), corrected for their number.

    `p_value` is the smaller one, doubled when both apply. With weights, n is the effective number of reports (a
    first-order Rao–Scott correction). A small value says that the mechanism, the labels or the independence of the
    reports is not what was assumed; a large one does not prove the contrary: a square mechanism fits every set of
    reports that leads to non-negative estimates.

    Attributes:
        p_value: of both tests together.
        statistic, degrees: X² and its degrees of freedom.
        p_value_range, p_value_sign: of each test; None where nothing lies off the range.
        worst, distance: the most negative input, and its standardised distance to the possible range (negative:
            outside).
    """

    p_value: float
    statistic: float
    degrees: int
    p_value_range: float | None
    worst: Label
    distance: float
    p_value_sign: float

    def __str__(self) -> str:
        if self.p_value_range is None and self.distance >= 0:
            return "cannot be tested here; any non-negative estimates are consistent with this mechanism"
        if self.p_value >= NO_SIGN:
            return f"no sign of misfit (p = {self.p_value:.3g})"
        parts = [f"p = {self.p_value:.3g}"]
        if self.p_value_range is not None:
            parts.append(f"X² = {self.statistic:.4g} on {self.degrees} degrees of freedom")
        if self.distance < 0:
            parts.append(f"{self.worst!r} is {-self.distance:.1f} standard errors outside its range")
        return ", ".join(parts)

    @classmethod
    def of(cls, fit: Fit) -> GoodnessOfFit:
        """Both tests."""
        combinations, n = fit.combinations, fit.observed.effective_n
        least, most = combinations.range()
        centre = combinations.of_rows(fit.centre)
        gap = np.minimum(centre - least, most - centre)
        error = np.sqrt(np.maximum(fit.variances(), 0.0))
        standard = np.divide(gap, error, out=np.where(gap < -ROUNDING, -np.inf, np.inf), where=error > 0)
        tails = np.where(gap < 0, _tails(fit, centre, least, most), 1.0)
        worst = int(np.argmin(np.where(gap < 0, tails, 1 + np.maximum(standard, 0))))
        sign = min(1.0, 2 * combinations.count * float(tails.min()))
        per_report, degrees = combinations.channel.misfit(fit.observed.statistic, fit.plausible, n)
        statistic = per_report * n
        beyond = float(gammaincc(degrees / 2, statistic / 2)) if degrees else None
        together = sign if beyond is None else min(1.0, 2 * min(sign, beyond))
        distance = float(standard[worst])
        return cls(together, statistic, degrees, beyond, combinations.names[worst], distance, sign)


def _tails(fit: Fit, centre: Floats, least: Floats, most: Floats) -> Floats:
    """P(an estimate at least as far outside | the truth at the bound that it crossed)."""
    rows, n = fit.combinations.matrix, fit.observed.effective_n
    low_side = centre < least
    bound = np.where(low_side, least, most)
    small, large = (np.broadcast_to(v, centre.shape) for v in fit.inverse.extremes(rows))
    binary = fit.inverse.binary(rows)
    step = np.where(binary, large - small, 1.0)
    share, at = (centre - small) / step, np.clip((bound - small) / step, 0.0, 1.0)
    x = np.clip(np.where(low_side, n * share, n * (1 - share)), 0.0, n)  # reports on the side that has too few
    exact = np.where(x < n, betainc(np.maximum(n - x, 1e-9), x + 1, np.where(low_side, 1 - at, at)), 1.0)
    if binary.all():
        return np.asarray(exact)
    variance = np.maximum(fit.unit_variances(rows), 1e-300)
    return np.asarray(np.where(binary, exact, ndtr(-np.abs(centre - bound) / np.sqrt(variance / n))))
