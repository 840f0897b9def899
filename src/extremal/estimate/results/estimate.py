"""What an estimate says, and how sure it is; everything beyond the points is worked out when it is asked for.

How far the estimate moves when not everybody follows the mechanism: suppose a share γ of the reports has another
distribution h. Then f = (1 − γ)·f_honest + γ·h, and because the unbiased estimate is linear,

    p̂_honest = (p̂ − γ·L h) / (1 − γ).

*Poisoning* takes the worst h for each cell: L h lies between the smallest and the largest influence of a single report.
*Non-compliance* takes a given h: random answers, or always the same one.

Reference: Cheu, Smith, Ullman, Manipulation Attacks in Local Differential Privacy (IEEE S&P 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import Channel
from extremal.estimate.methods.likelihood import project_onto_simplex, project_within
from extremal.estimate.methods.shrinkage import shrunk
from extremal.estimate.results import display, plot
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.functions import CDFEstimate, Functions, QuantileEstimate
from extremal.estimate.results.heavy import HeavyLabels, TopLabels, heavy_labels, top_labels
from extremal.estimate.results.linear import LinearEstimate
from extremal.estimate.results.plot import Bars
from extremal.exact.weights import Floats

ROUNDING = 1e-9  # of probabilities that people type: they sum to one up to this
MANY_CELLS = 10
"""Inputs from which tables show shrunk frequencies: below, a cell's own reports say more than the other cells do."""


@dataclass(frozen=True, eq=False)
class FrequencyEstimate(LinearEstimate, Functions):
    """Estimated frequencies with their uncertainty, from `ex.estimate_frequencies`.

    Attributes:
        estimate: the frequencies.
        centre: the sign-free linear estimate that standard errors and intervals belong to; `estimate` itself when
            unbiased.
        n: number of reports.
        method: "unbiased", "mle", "projected", "shrunk" or "smooth".
        deficit: for "mle", a bound on the mean log-likelihood that the estimate misses.

    >>> import extremal as ex
    >>> result = ex.estimate_frequencies({"no": 60, "yes": 40}, ex.randomized_response(["no", "yes"], 2))
    >>> result.n, result.estimate.round(3).tolist()
    (100, [0.631, 0.369])
    """

    method: str
    deficit: float | None

    @classmethod
    def of(cls, fit: Fit, method: str, points: Floats) -> FrequencyEstimate:
        """From a fit and the method's points of its rows."""
        combinations = fit.combinations
        return cls(
            combinations.of_rows(points),
            combinations.of_rows(fit.centre),
            fit.observed.n,
            fit,
            method,
            fit.deficit if method == "mle" else None,
        )

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"frequencies of {display.mechanism_words(self)}, method {self.method}"

    # -- the points shown

    @cached_property
    def candidate(self) -> tuple[str, Floats]:
        """What tables and plots show before it is moved into its interval, and its name.

        The method's own estimate; for "unbiased", whose entries may be negative, the projected one below
        `MANY_CELLS` inputs and the shrunk one from there on, for which the kind of the truth is chosen by the reports
        (measured in docs/estimate/points.md).
        """
        if self.method != "unbiased":
            return self.method, self.estimate
        fit = self.fit
        if fit.combinations.deficient:
            return "mle", fit.combinations.of_rows(fit.plausible)
        if len(self.inputs) < MANY_CELLS:
            return "projected", project_onto_simplex(fit.unbiased)
        return "shrunk", self._shrunk[0]

    @cached_property
    def _shrunk(self) -> tuple[Floats, str]:
        return shrunk(self.fit)

    def shown_within(self, limits: Floats) -> Floats:
        """The points that belong beside these limits: nearest to the candidate within them, and a distribution if one
        is.

        Of a thousand 95% intervals some fifty miss; where noise is that large no distribution lies in all of them, and
        the points are the candidate's, each moved into its interval.
        """
        if self.fit.combinations.matrix is not None:
            return np.asarray(np.clip(self.candidate[1], limits[:, 0], limits[:, 1]))
        return project_within(self.candidate[1], limits[:, 0], limits[:, 1])

    @property
    def reason(self) -> str:
        """Why these points are shown: what kind of truth the reports speak for; empty where there was no choice."""
        return f"the reports speak for: {self._shrunk[1]}" if self.candidate[0] == "shrunk" else ""

    # -- uncertainty

    @cached_property
    def standard_error_among_respondents(self) -> Floats:
        """Of each entry of `centre` as an estimate of the frequencies among these very respondents: privacy noise only.

        The variance of one report's contribution given its input, E B² − E a_X², without the sampling of respondents.
        """
        unit = self._unit - self._variance_without_privacy()
        return np.sqrt(np.maximum(unit, 0.0) / self.fit.observed.effective_n)

    # -- the price of privacy

    @cached_property
    def privacy_cost(self) -> Floats:
        """For each input: the variance over that of the same sample with unrandomised answers; ∞ where that has
        none."""
        without = self._variance_without_privacy()
        ratio = np.full(without.shape, np.inf)
        return np.asarray(np.divide(self._unit, without, out=ratio, where=without > 0))

    def equivalent_n(self) -> float:
        """How many unrandomised answers, drawn in the same way, give the same total variance.

        What strata, clusters and weights cost is not charged to privacy.
        """
        total = float(self._unit.sum())
        return self.n * float(self._variance_without_privacy().sum()) / total if total > 0 else np.inf

    def _variance_without_privacy(self) -> Floats:
        combinations, p = self.fit.combinations, self.fit.plausible
        return np.asarray(np.maximum(combinations.squares(p) - combinations.of_rows(p) ** 2, 0.0))

    # -- what could be wrong

    def poisoning(self, share: float = 0.01) -> Floats:
        """Where the unbiased estimate of the honest could lie if a `share` of the reports (by weight) were fake: rows
        (low, high).

        A bound over everything that fakes could send, from the largest influence of one report; not a detector. It is
        attained by those who always send the most influential report.
        """
        gamma, fit = _checked_share(share), self.fit
        smallest, largest = fit.unbiased_inverse.extremes(fit.combinations.matrix)
        observed = fit.combinations.of_rows(fit.unbiased)
        return np.column_stack([(observed - gamma * h) / (1 - gamma) for h in (largest, smallest)])

    def noncompliance(self, share: float = 0.01, reports: Any = None) -> Floats:
        """The unbiased estimate among compliers if a `share` ignored the mechanism and reported from `reports` instead.

        Args:
            share: of respondents.
            reports: one report that they always make, or a mapping from report to probability; uniformly random reports
                if not given.
        """
        gamma, fit = _checked_share(share), self.fit
        moved = fit.unbiased - gamma * fit.unbiased_inverse.apply(_statistic(fit.combinations.channel, reports))
        return fit.combinations.of_rows(moved / (1 - gamma))

    # -- functions of the frequencies

    def cdf(self) -> CDFEstimate:
        """The share of each input or an earlier one: inputs are taken in their order."""
        return CDFEstimate(self)

    def quantile(self, q: float = 0.5, level: float = 0.95) -> QuantileEstimate:
        """The first input that a share q of the respondents does not exceed, with an interval of inputs."""
        return self.cdf().quantile(q, level)

    def heavy(self, at_least: float = 0.0, level: float = 0.95) -> HeavyLabels:
        """The inputs that are more frequent than `at_least` beyond doubt, with limits that hold together for all.

        >>> import extremal as ex
        >>> m = ex.randomized_response(1000, 20)
        >>> ex.estimate_frequencies(m.privatize([7] * 700 + [8] * 300), m).heavy(0.1).inputs
        (7, 8)
        """
        limits = self.interval(level, simultaneous=True)
        return heavy_labels(self.inputs, self.centre, limits, at_least, level, self.n, self.sample)

    def top(self, count: int, level: float = 0.95) -> TopLabels:
        """The `count` most frequent inputs, with limits and ranks that hold together for all.

        Guarantee: with probability at least `level` every limit holds and every true rank lies within the ranks stated
        (where intervals are approximate, in large samples).

        >>> import extremal as ex
        >>> m = ex.randomized_response(1000, 20)
        >>> found = ex.estimate_frequencies(m.privatize([7] * 700 + [8] * 300), m).top(2)
        >>> found.inputs, found.order_is_certain
        ((7, 8), True)
        """
        limits = self.interval(level, simultaneous=True)
        return top_labels(self.inputs, count, self.centre, limits, level, self.n, self.sample)

    def difference(self, other: FrequencyEstimate) -> CombinedEstimate:
        """self − other for each input: two waves, two groups. The reports must be independent."""
        return CombinedEstimate.of([(1.0, self), (-1.0, other)], "difference")

    # -- showing

    def to_frame(
        self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas", robustness: bool = False
    ) -> Any:
        """A data frame with a row for each input; `library` is "pandas", "polars" or "pyarrow"."""
        return display.frame([((), self)], (), level, simultaneous, library, robustness)

    def summary(self, level: float = 0.95, simultaneous: bool = False, robustness: bool = False) -> str:
        """The whole answer as text; `robustness` adds what 1% of fake or random reporters could do."""
        return display.summary(self, level, simultaneous, robustness)

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None, truth: Any = None) -> Any:
        """Estimates with intervals: a matplotlib figure, new or that of the given Axes; `truth` adds known
        frequencies."""
        title = f"{self.candidate[0]} frequencies, n = {self.n} reports"
        rows, points = [self.rows_drawn("", level, simultaneous)], self.candidate[0]
        return plot.plot(rows, title, plot.SHARE, level, simultaneous, ax, truth, points)

    def rows_drawn(self, name: str, level: float, simultaneous: bool) -> Bars:
        """What a picture shows of it."""
        limits = self.interval(level, simultaneous)
        return Bars(name, self.inputs, self.shown_within(limits), limits)

    def _cells(self, level: float, simultaneous: bool) -> tuple[list[str], list[list[str]], list[str]]:
        return display.cells(self, level, simultaneous, robustness=False)

    def _below(self) -> list[str]:
        return display.below(self, robustness=False)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{label!r}: {value:.4g}" for label, value in zip(self.inputs[:6], self.estimate[:6].tolist(), strict=True)
        )
        more = ", …" if len(self.inputs) > 6 else ""
        return f"FrequencyEstimate({{{shown}{more}}}, n={self.n}, method={self.method!r})"


def _statistic(channel: Channel, reports: Any) -> Floats:
    """E s of reports that do not come from the mechanism: all alike, always the same one, or with given
    probabilities."""
    if reports is None:
        return channel.uniform()
    if not isinstance(reports, Mapping):
        return channel.statistic([channel.encode(reports)], np.ones(1))
    shares = np.array(list(reports.values()), dtype=np.float64)
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1) <= ROUNDING):
        raise InvalidParameter(
            "probabilities of reports must be non-negative and sum to 1", parameter="reports", value=dict(reports)
        )
    return channel.statistic([channel.encode(label) for label in reports], shares)


def _checked_share(share: float) -> float:
    if not 0 <= share < 1:
        raise InvalidParameter(
            "share must be at least 0 and less than 1", parameter="share", value=share, hint="Write 1% as 0.01."
        )
    return float(share)
