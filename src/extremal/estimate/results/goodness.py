"""Could the reports have come from this mechanism?

If they did, their distribution is Qᵀp for some p on the simplex. Two ways to be wrong, each tested:

* off the range of Qᵀ (possible when there are more outputs than identified rows): Pearson's X² against the
  least-squares fit, which has m − rank degrees of freedom;
* inside the range, but only with a negative p: the most negative standardised estimate, corrected for their number.

`p_value` is the smaller one, doubled when both apply. With weights, n is the effective number of reports (a first-order
Rao–Scott correction). A small value says that the mechanism, the labels or the independence of the reports is not what
was assumed; a large one does not prove the contrary: a square mechanism fits every set of reports that leads to
non-negative estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from extremal.mechanism.labels import Label

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate


@dataclass(frozen=True)
class GoodnessOfFit:
    """Attributes: p_value of both tests together; X² `statistic` and its `degrees` of freedom; the `worst` input and
    its standardised distance to the possible range (negative: outside)."""

    p_value: float
    statistic: float
    degrees: int
    p_value_range: float | None
    worst: Label
    distance: float
    p_value_sign: float

    def __str__(self) -> str:
        parts = [f"p = {self.p_value:.3g}"]
        if self.p_value_range is not None:
            parts.append(f"X² = {self.statistic:.4g} on {self.degrees} degrees of freedom")
        if self.distance < 0:
            parts.append(f"{self.worst!r} is {-self.distance:.1f} standard errors outside its range")
        return ", ".join(parts)


def goodness_of_fit(result: FrequencyEstimate) -> GoodnessOfFit:
    fit = result.fit
    least, most = fit.combinations.range()
    gap = np.minimum(result.centre - least, most - result.centre)
    error = result.standard_error
    standard = np.divide(gap, error, out=np.where(gap < -1e-9, -np.inf, np.inf), where=error > 0)
    worst = int(np.argmin(standard))
    distance = float(standard[worst])
    sign = (
        min(1.0, 2 * len(result.inputs) * NormalDist().cdf(distance)) if np.isfinite(distance) else float(distance > 0)
    )
    per_report, degrees = fit.channel.misfit(fit.statistic, fit.plausible)
    statistic = per_report * fit.effective_n
    beyond = None
    if degrees:
        from scipy.special import gammaincc

        beyond = float(gammaincc(degrees / 2, statistic / 2))
    together = sign if beyond is None else min(1.0, 2 * min(sign, beyond))
    return GoodnessOfFit(together, statistic, degrees, beyond, result.inputs[worst], distance, sign)
