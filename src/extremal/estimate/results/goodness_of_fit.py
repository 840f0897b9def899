"""Could the reports have come from the mechanism?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, gammaincc, ndtr

from extremal.estimate.results.fit import Fit
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label

ROUNDING = 1e-9  # of a share: an estimate this far outside its range, without a standard error, is inside
NO_SIGN = 0.05  # p-values from which a misfit is not spoken of


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
