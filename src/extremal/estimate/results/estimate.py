"""What an estimate says, and how sure it is.

Everything beyond the point estimate is worked out when it is asked for, each part in the module of its name beside this
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from extremal.estimate.channels.channel import Floats
from extremal.estimate.results import display, functions, goodness, plot, robustness
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.functions import FunctionEstimate
from extremal.estimate.results.goodness import GoodnessOfFit
from extremal.estimate.results.intervals import quantile
from extremal.mechanism.labels import Label


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """Estimated frequencies with their uncertainty, from `ex.estimate_frequencies`.

    Attributes:
        inputs: what was estimated: the labels, in order (or combinations of them, with merge=True).
        estimate: the frequencies.
        centre: the sign-free linear estimate that standard errors and intervals belong to; `estimate` itself when
            unbiased.
        n: number of reports.
        method: "unbiased", "mle" or "projected".
        deficit: for "mle", a bound on the mean log-likelihood that the estimate misses.
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    centre: Floats
    n: int
    method: str
    deficit: float | None
    fit: Fit = field(repr=False)

    # -- uncertainty

    @cached_property
    def standard_error(self) -> Floats:
        """Of each entry of `centre`."""
        return np.sqrt(np.maximum(self.fit.variances(), 0.0))

    @cached_property
    def covariance(self) -> Floats:
        """Of `centre`; raises TooLarge above 2^24 entries (the standard errors do not)."""
        return self.fit.covariance(None)

    @property
    def effective_n(self) -> float:
        """Number of reports, corrected for unequal weights: (Σw)²/Σw² (Kish 1965)."""
        return self.fit.effective_n

    def interval(self, level: float = 0.95, simultaneous: bool = False, bounded: bool = True) -> Floats:
        """Confidence limits, one row (low, high) for each input.

        centre ± z·s.e.; when `bounded`, cut to the possible range with the centre first moved into it, so that a
        negative estimate still gets an interval of honest length: [max(0, p̃ − z·se), min(1, max(p̃, 0) + z·se)]. That
        covers more than `level` near a bound (about (1 + level)/2 at it), never less; away from it, and without bounds
        everywhere, the coverage is `level`.

        Args:
            level: of confidence, between 0 and 1.
            simultaneous: all intervals hold together with probability `level` (Šidák's inequality: valid for any
                correlation).
            bounded: cut to the possible range, [0, 1] for a frequency.
        """
        z = quantile(level, len(self.inputs) if simultaneous else 1)
        reach = z * self.standard_error
        if not bounded:
            return np.column_stack([self.centre - reach, self.centre + reach])
        least, most = self.fit.combinations.range()
        low = np.maximum(least, np.minimum(self.centre, most) - reach)
        return np.column_stack([low, np.minimum(most, np.maximum(self.centre, least) + reach)])

    # -- the price of privacy

    @cached_property
    def design_effect(self) -> Floats:
        """For each input: the variance over that of the same sample with unrandomised answers; ∞ where that has
        none."""
        without = self._variance_without_privacy()
        ratio = np.full(without.shape, np.inf)
        return np.asarray(np.divide(self.standard_error**2 * self.effective_n, without, out=ratio, where=without > 0))

    def equivalent_n(self) -> float:
        """How many unrandomised answers give the same total variance."""
        total = float(np.sum(self.standard_error**2))
        return float(np.sum(self._variance_without_privacy())) / total if total > 0 else np.inf

    def _variance_without_privacy(self) -> Floats:
        combinations, p = self.fit.combinations, self.fit.plausible
        return np.asarray(np.maximum(combinations.squares(p) - combinations.of_rows(p) ** 2, 0.0))

    # -- what could be wrong

    def poisoning(self, share: float = 0.01) -> Floats:
        """Where the unbiased estimate of the honest could lie if a `share` of the reports (by weight) were fake: rows
        (low, high).

        A bound over everything that fakes could send, from the largest influence of one report; not a detector.
        See `extremal.estimate.results.robustness`.
        """
        return robustness.poisoning(self.fit, share)

    def noncompliance(self, share: float = 0.01, reports: Any = None) -> Floats:
        """The unbiased estimate among compliers if a `share` ignored the mechanism and reported from `reports` instead.

        Args:
            share: of respondents.
            reports: one report that they always make, or a mapping from report to probability; uniformly random reports
                if not given.
        """
        return robustness.noncompliance(self.fit, share, reports)

    def goodness_of_fit(self) -> GoodnessOfFit:
        """Could these reports have come from this mechanism? See `extremal.estimate.results.goodness`."""
        return goodness.goodness_of_fit(self)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences."""
        return display.notes(self)

    # -- functions of the frequencies

    def linear(self, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
        """Σ a_x p_x, with coefficients in the order of `inputs` or by label (0 where not named)."""
        return functions.linear(self, coefficients)

    def mean(self, values: Mapping[Any, float] | Iterable[float] | None = None) -> FunctionEstimate:
        """The mean of a number attached to each input; the labels themselves if they are numbers."""
        return functions.mean(self, values)

    def total(self, population: float, values: Mapping[Any, float] | Iterable[float] | None = None) -> FunctionEstimate:
        """The mean times the size of the population."""
        return functions.total(self, population, values)

    def contrast(self, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
        """Σ a_x p_x with coefficients that sum to zero, such as {"yes": 1, "no": −1}."""
        return functions.contrast(self, coefficients)

    def ratio(self, numerator: Any, denominator: Any) -> FunctionEstimate:
        """A ratio of two sums; each is a label, a list of labels, or coefficients by label."""
        return functions.ratio(self, numerator, denominator)

    def function(
        self, of: Callable[[Floats], float], gradient: Callable[[Floats], Any] | None = None
    ) -> FunctionEstimate:
        """Any smooth function of the frequencies; the gradient is taken numerically if not given."""
        return functions.function(self, of, gradient)

    # -- showing

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with a row for each input; `library` is "pandas", "polars" or "pyarrow"."""
        return display.frame([((), self)], (), level, simultaneous, library)

    def summary(self, level: float = 0.95, simultaneous: bool = False) -> str:
        """The whole answer as text."""
        return display.summary(self, level, simultaneous)

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None, truth: Any = None) -> Any:
        """Estimates with intervals: a matplotlib figure, new or that of the given Axes; `truth` adds known
        frequencies."""
        return plot.plot([("", self)], level, simultaneous, ax, truth)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{label!r}: {value:.4g}" for label, value in zip(self.inputs[:6], self.estimate[:6].tolist(), strict=True)
        )
        more = ", …" if len(self.inputs) > 6 else ""
        return f"FrequencyEstimate({{{shown}{more}}}, n={self.n}, method={self.method!r})"
