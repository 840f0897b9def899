"""The statistics that were wanted, from the reports: also where single shares are not identified.

With π the workload's prior, m = Qᵀπ and V the excess information there, report y is worth T_y = Aπ + A_c V⁺(q_y −
m_y)/m_y, and the estimate is the mean of T over the reports. Σ_y T_y Q(y|x) = a_x for every input x, so it is unbiased
whatever the true shares are; at π its variance is the least possible and n times it is the value of the workload.
Standard errors are from the scatter of T among the reports, which is honest at any shares. Statistics that the
mechanism does not identify are refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, MissingDependency, NotIdentified, TooLarge
from extremal.estimate.channels.channel import ListedReports
from extremal.estimate.channels.grouped_sets import GroupedSetsChannel
from extremal.estimate.channels.subsets import SubsetChannel
from extremal.estimate.intervals.levels import each, quantile
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import FEWEST, Reports
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import GroupedSets, SubsetSelection
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload
from extremal.utility.fisher import by_row, fisher, report_moments

MOST_STATISTICS = 1 << 16  # listed one by one
_AT_A_TIME = 1 << 22  # bits of sets worked on together

HoldsSets = SubsetChannel | GroupedSetsChannel


@dataclass(frozen=True, eq=False)
class WorkloadEstimate:
    """Estimated statistics with their uncertainty, from `ex.estimate_workload`.

    Attributes:
        names: what each statistic is called.
        estimate: the statistics.
        n: number of reports.
        effective_n: the same, corrected for unequal weights (Kish).
        lowest, highest: what each statistic can be at all.

    >>> import extremal as ex
    >>> found = ex.estimate_workload({0: 60, 1: 40}, ex.randomized_response(2, 1), ex.Mean([0, 10]))
    >>> found.names, found.estimate.round(2).tolist()
    (('mean',), [2.84])
    """

    names: tuple[Any, ...]
    estimate: Floats
    n: int
    effective_n: float
    lowest: Floats
    highest: Floats
    _decoder: Floats
    _scatter: Floats

    @cached_property
    def standard_error(self) -> Floats:
        """Of each statistic."""
        variances = np.einsum("ij,ij->i", self._decoder @ self._scatter, self._decoder)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0) / self.effective_n))

    @cached_property
    def covariance(self) -> Floats:
        """Of all statistics."""
        return np.asarray(self._decoder @ self._scatter @ self._decoder.T / self.effective_n)

    def interval(self, level: float = 0.95, simultaneous: bool = False, bounded: bool = True) -> Floats:
        """Confidence limits, one row (low, high) for each statistic: estimate ± z·s.e., cut to what is possible when
        `bounded`.

        Args:
            level: of confidence, between 0 and 1.
            simultaneous: all hold together with probability `level` (Bonferroni).
            bounded: cut to the possible range, the estimate first moved into it, so that the length stays honest.
        """
        reach = quantile(each(level, len(self.names) if simultaneous else 1)) * self.standard_error
        if not bounded:
            return np.column_stack([self.estimate - reach, self.estimate + reach])
        low = np.maximum(self.lowest, np.minimum(self.estimate, self.highest) - reach)
        return np.column_stack([low, np.minimum(self.highest, np.maximum(self.estimate, self.lowest) + reach)])

    def to_frame(self, level: float = 0.95) -> Any:
        """A pandas frame: estimate, standard error, limits."""
        try:
            import pandas
        except ImportError:
            raise MissingDependency("a data frame needs pandas", hint="pip install 'extremal[frames]'") from None
        limits = self.interval(level)
        table = {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "low": limits[:, 0],
            "high": limits[:, 1],
        }
        return pandas.DataFrame(table, index=list(self.names))

    def summary(self, level: float = 0.95) -> str:
        """A table for a terminal; the first and last twenty when there are many."""
        limits, count = self.interval(level), len(self.names)
        shown = range(count) if count <= 40 else [*range(20), *range(count - 20, count)]
        lines = [
            f"{count} statistic{'s' * (count > 1)} from {self.n} reports",
            f"{'':>16} {'estimate':>11} {'s.e.':>10}   {100 * level:.4g}% interval",
        ]
        for i in shown:
            name, error = str(self.names[i])[:16], self.standard_error[i]
            lines += [f"{name:>16} {self.estimate[i]:>11.5f} {error:>10.5f}   [{limits[i, 0]:.5f}, {limits[i, 1]:.5f}]"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"WorkloadEstimate({len(self.names)} statistics, n={self.n})"


def estimate_workload(
    reports: Any,
    mechanism: Mechanism,
    workload: Workload | Any,
    *,
    column: str | None = None,
    weights: Any = None,
    counts: bool = False,
    check_hash: bool = True,
    sample: Sample | None = None,
) -> WorkloadEstimate:
    """The statistics of a workload, with intervals.

    Guarantee: unbiased for every n and every true shares; when the reports were designed for this workload and the
        prior is right, n × the total variance is the design's value, and no private mechanism and unbiased estimate is
        better than its bound.

    Args:
        reports: raw reports, a data frame with `column`, a mapping from report to count, or a path.
        mechanism: what made the reports.
        workload: an `ex.Mean`, `ex.CDF`, `ex.Frequencies`, `ex.Ranges`, `ex.Workload`, or a matrix of coefficients.
        column, weights, counts, check_hash, sample: as in `ex.estimate_frequencies`; of a sample only the weights.

    Raises:
        NotIdentified: the mechanism does not tell apart what a statistic needs.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on linear estimates.

    >>> import extremal as ex
    >>> m = ex.design(ex.LDP(1), ex.Mean([0, 10, 20])).mechanism
    >>> counts = {y: 100 for y in m.outputs}
    >>> ex.estimate_workload(counts, m, ex.Mean([0, 10, 20])).names
    ('mean',)
    """
    decoding = decoding_of(mechanism, workload)
    channel = sets_of(mechanism)
    given = Reports(reports, mechanism, column, counts=counts, check_hash=check_hash)
    drawn = Sample.of(sample, weights=weights)
    counted = given.tally(ListedReports(mechanism) if channel is None else channel, drawn.only_weights())
    if counted.n < FEWEST:
        raise InvalidParameter(
            "there must be at least two reports: one says nothing about its own spread",
            parameter="number of reports",
            value=counted.n,
        )
    keys, shares = counted.shares()
    first, second = (
        report_moments(mechanism, decoding.prior, _spread(keys, shares, mechanism.m))
        if channel is None
        else set_moments(channel, by_row(mechanism, decoding.prior), keys, shares)
    )
    scatter = (second - np.outer(first, first)) * (counted.effective_n / max(counted.effective_n - 1, 1))
    return decoding.estimate(first, scatter, counted.n, counted.effective_n)


@dataclass(frozen=True, eq=False)
class Decoding:
    """What one report is worth: the statistics at the prior, and what the deviation of a report's lift adds.

    Attributes:
        names, rows: the statistics, in coefficients of the inputs.
        prior: at which no unbiased estimate has less variance.
        decoder: A_c V⁺.
    """

    names: tuple[Any, ...]
    rows: Floats
    prior: Floats
    decoder: Floats

    def estimate(self, mean: Floats, scatter: Floats, n: int, effective_n: float) -> WorkloadEstimate:
        """From the mean and the scatter of the deviations among the reports."""
        rows = self.rows
        return WorkloadEstimate(
            self.names,
            np.asarray(rows @ self.prior + self.decoder @ mean),
            n,
            effective_n,
            rows.min(axis=1),
            rows.max(axis=1),
            self.decoder,
            scatter,
        )


def decoding_of(mechanism: Mechanism, workload: Workload | Any) -> Decoding:
    """How `estimate_workload` reads the reports; refuses statistics that the mechanism does not identify."""
    wanted = workload if isinstance(workload, Workload) else Workload(workload, mechanism.k)
    if wanted.k != mechanism.k:
        raise InvalidParameter(
            f"the workload must be about {mechanism.k} inputs, as the mechanism is",
            parameter="workload.k",
            value=wanted.k,
        )
    prior = wanted.prior.values if wanted.prior is not None else wanted.worst_prior(mechanism).prior
    names, rows = statistics_of(wanted, mechanism.input_labels)
    try:
        information = fisher(mechanism, prior)
    except TooLarge:  # too many subsets to count: the unbiased estimate that is best for equally likely inputs
        prior = np.full(mechanism.k, 1 / mechanism.k)
        information = fisher(mechanism, prior)
    decoder = information.decoder(rows)
    if decoder is None:
        raise NotIdentified(
            "the mechanism must identify every wanted statistic",
            parameter="workload",
            value=next(
                (name for name, row in zip(names, rows, strict=True) if information.decoder(row[None, :]) is None),
                names[0],
            ),
            hint="ex.design for this workload makes a mechanism that does.",
        )
    return Decoding(names, rows, prior, decoder)


def sets_of(mechanism: Mechanism) -> HoldsSets | None:
    """The channel of a mechanism whose reports are sets that are never listed; None for any other."""
    if isinstance(mechanism.structure, SubsetSelection):
        return SubsetChannel(mechanism)
    return GroupedSetsChannel(mechanism) if isinstance(mechanism.structure, GroupedSets) else None


def _spread(keys: list[Any], shares: Floats, m: int) -> Floats:
    return np.asarray(np.bincount(np.array(keys, dtype=np.intp), weights=shares, minlength=m), dtype=np.float64)


def set_moments(channel: HoldsSets, prior: Floats, keys: list[Any], shares: Floats) -> tuple[Floats, Floats]:
    """Reports that are sets: the lift of a report is one number on its members, another elsewhere; `prior` is of the
    rows."""
    first, second = np.zeros(channel.r), np.zeros((channel.r, channel.r))
    at_a_time = max(1, _AT_A_TIME // channel.r)
    for start in range(0, len(keys), at_a_time):
        members, low, step = channel.sets(keys[start : start + at_a_time])
        mass = members @ prior
        lifts = (members - mass[:, None]) * (step / (low + step * mass))[:, None]
        f = shares[start : start + at_a_time]
        first += f @ lifts
        second += (lifts.T * f) @ lifts
    return first, second


def statistics_of(workload: Workload, inputs: Any) -> tuple[tuple[Any, ...], Floats]:
    """Names and coefficients of the statistics as a person would list them; `inputs` are the labels by position."""
    k = workload.k
    if isinstance(workload, Mean):
        return ("mean",), workload.rows
    if isinstance(workload, Frequencies):
        rows = np.zeros((len(workload.items), k))
        rows[np.arange(len(workload.items)), workload.items] = 1.0
        return tuple(inputs[x] for x in workload.items), rows
    if isinstance(workload, CDF):
        return tuple(f"≤ {inputs[t]}" for t in workload.thresholds), workload.rows
    if isinstance(workload, Ranges):
        return _ranges(k, inputs)
    return tuple(range(workload.rows.shape[0])), workload.rows


def _ranges(k: int, inputs: Any) -> tuple[tuple[Any, ...], Floats]:
    if k * (k + 1) // 2 > MOST_STATISTICS:
        raise InvalidParameter(
            f"at most {MOST_STATISTICS} ranges are listed",
            parameter="k",
            value=k,
            hint="Estimate the CDF: a range is a difference of two.",
        )
    first, last = np.triu_indices(k)
    places = np.arange(k)
    table = (first[:, None] <= places) & (places <= last[:, None])
    names = tuple(f"{inputs[a]}–{inputs[b]}" for a, b in zip(first.tolist(), last.tolist(), strict=True))
    return names, table.astype(np.float64)
