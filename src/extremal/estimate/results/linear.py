"""Linear functions of the frequencies with their uncertainty: what estimates of shares and of workloads have in
common."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from extremal.estimate.intervals.levels import each
from extremal.estimate.reports.sampling import reach
from extremal.estimate.results import display
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.goodness_of_fit import GoodnessOfFit
from extremal.estimate.results.tabled import Tabled
from extremal.exact.weights import Floats


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
        alone, else n over the mean design effect."""
        if self.fit.observed.sampling is None:
            return self.fit.observed.effective_n
        total = float(self.fit.variances().sum())
        return float(self._unit.sum()) / total if total > 0 else float(self.n)

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
