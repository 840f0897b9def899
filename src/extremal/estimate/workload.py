"""The statistics that were wanted, from the reports: also where single shares are not identified.

With π the workload's prior and D = diag(Qᵀπ), report y is worth T_y = A L e_y, L = (QD⁻¹Qᵀ)⁺QD⁻¹, and the estimate is
the mean of T over the reports. Σ_y T_y Q(y|x) = a_x for every input x, so it is unbiased whatever the true shares are;
at π its variance is the least possible and n times it is the value of the workload. Standard errors and limits are
those of `ex.estimate_frequencies`: exact where T takes two values, as that of every designed mean of two reports does.
ReadStatistics that the mechanism does not identify are refused by name. Subset selection is read
with the weights for the prior if that has at most eight different values, else with those for equal shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Channel
from extremal.estimate.channels.dense import DenseChannel
from extremal.estimate.channels.grouped_sets import ClassedSubsetsChannel
from extremal.estimate.frequencies import refuse_too_few
from extremal.estimate.methods.combinations import Combinations
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import Reports
from extremal.estimate.results import display
from extremal.estimate.results.fit import Fit, Observed
from extremal.estimate.results.linear import LinearEstimate
from extremal.exact import ANY_LABELS, matrix_in_order
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import GroupedSets, IndependentBits, RandomizedResponse, SubsetSelection
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload
from extremal.utility.fisher import by_row, fisher

MOST_STATISTICS = 1 << 16  # listed one by one
MOST_ENTRIES = 1 << 20  # of a mechanism that could be read without its matrix: least squares then takes a second


@dataclass(frozen=True, eq=False)
class WorkloadEstimate(LinearEstimate):
    """Estimated statistics with their uncertainty, from `ex.estimate_workload`.

    Attributes:
        estimate: the statistics.
        n: number of reports.

    >>> import extremal as ex
    >>> found = ex.estimate_workload({0: 60, 1: 40}, ex.randomized_response(2, 1), ex.Mean([0, 10]))
    >>> found.names, found.estimate.round(2).tolist(), found.exact
    (('mean',), [2.84], True)
    """

    @property
    def names(self) -> tuple[Any, ...]:
        """What each statistic is called."""
        return self.labels

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        count = len(self.names)
        return f"{count} statistic{'s' * (count > 1)} of {display.mechanism_words(self)}"

    @property
    def lowest(self) -> Floats:
        """What each statistic is at least."""
        return self.fit.combinations.range()[0]

    @property
    def highest(self) -> Floats:
        """What each statistic is at most."""
        return self.fit.combinations.range()[1]

    def _keys(self) -> dict[str, list[Any]]:
        return {"statistic": list(self.names)}

    def _below(self) -> list[str]:
        return [display.intervals_words(self), *super()._below()]

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
    missing: str = "refuse",
    sample: Sample | None = None,
) -> WorkloadEstimate:
    """Estimate the statistics of a workload, with intervals.

    Guarantee: unbiased for every n and every true shares; when the reports were designed for this workload and the
        prior is right, n × the total variance is the design's value, and no private mechanism and unbiased estimate is
        better than its bound. `result.exact` says whether intervals hold with at least their level for every n.

    Args:
        reports: raw reports, a data frame with `column`, a mapping from report to count, or a path.
        mechanism: what made the reports.
        workload: an `ex.Mean`, `ex.CDF`, `ex.Frequencies`, `ex.Ranges`, `ex.Workload`, or a matrix of coefficients.
        missing: "refuse" or "drop".
        column, weights, counts, check_hash, sample: as in `ex.estimate_frequencies`.

    Raises:
        NotIdentified: the mechanism does not tell apart what a statistic needs.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on linear estimates.

    >>> import extremal as ex
    >>> m = ex.design(ex.LDP(1), ex.Mean([0, 10, 20])).mechanism
    >>> counts = {y: 100 for y in m.outputs}
    >>> ex.estimate_workload(counts, m, ex.Mean([0, 10, 20])).names
    ('mean',)
    """
    if missing not in ("refuse", "drop"):
        raise InvalidParameter("missing must be one of refuse, drop", parameter="missing", value=missing)
    statistics = ReadStatistics.of(mechanism, workload)
    given = Reports(reports, mechanism, column, counts=counts, drop=missing == "drop", check_hash=check_hash)
    found = given.sampled(statistics.combinations.channel, Sample.of(sample, weights=weights))
    refuse_too_few(found)
    return statistics.estimate(Observed.of(statistics.combinations.channel, found[None]))


@dataclass(frozen=True, eq=False)
class ReadStatistics:
    """How the reports of a mechanism are read for a workload.

    Attributes:
        combinations: the statistics, by the mechanism's rows.
        prior: of the rows, at which no unbiased estimate has less variance.
    """

    combinations: Combinations
    prior: Floats

    @classmethod
    def of(cls, mechanism: Mechanism, workload: Workload | Any) -> ReadStatistics:
        """Refuses statistics that the mechanism does not identify."""
        given = matrix_in_order(workload, "workload", ANY_LABELS, mechanism.input_labels)
        wanted = workload if isinstance(workload, Workload) else Workload(given, mechanism.k)
        if wanted.k != mechanism.k:
            raise InvalidParameter(
                f"the workload must be about {mechanism.k} inputs, as the mechanism is",
                parameter="workload.k",
                value=wanted.k,
            )
        prior = wanted.prior.values if wanted.prior is not None else wanted.worst_prior(mechanism).prior
        names, coefficients = statistics_of(wanted, mechanism.input_labels)
        channel = _channel(mechanism, by_row(mechanism, prior))
        whole = channel.combinations() is None
        rows = coefficients
        if mechanism.row_of is not None:
            rows = coefficients[:, np.unique(mechanism.row_of, return_index=True)[1]]
        if not whole or mechanism.row_of is not None:
            _refuse_unidentified(mechanism, prior, names, coefficients)
        combinations = Combinations(mechanism, channel, names, rows, plain=False, deficient=not whole)
        return cls(combinations, by_row(mechanism, prior))

    def estimate(self, observed: Observed) -> WorkloadEstimate:
        """From what was observed."""
        fit = Fit.of(self.combinations, observed, self.prior)
        centre = self.combinations.of_rows(fit.centre)
        return WorkloadEstimate(centre, centre, observed.n, fit)


def _channel(mechanism: Mechanism, prior: Floats) -> Channel:
    """One whose weights are those of the prior, where that can be; randomised response has no choice, and bits are read
    one by one."""
    structure = mechanism.structure
    if isinstance(structure, SubsetSelection):
        return ClassedSubsetsChannel.of_prior(mechanism, prior) or channel_of(mechanism)
    if (
        isinstance(structure, (RandomizedResponse, GroupedSets, IndependentBits))
        or mechanism.row_classes * mechanism.m > MOST_ENTRIES
    ):
        return channel_of(mechanism)
    return DenseChannel(mechanism)


def _refuse_unidentified(mechanism: Mechanism, prior: Floats, names: tuple[Any, ...], rows: Floats) -> None:
    information = fisher(mechanism, prior)
    if information.decoder(rows) is not None:
        return
    raise NotIdentified(
        "the mechanism must identify every wanted statistic",
        parameter="workload",
        value=next(
            (name for name, row in zip(names, rows, strict=True) if information.decoder(row[None, :]) is None), names[0]
        ),
        hint="ex.design for this workload makes a mechanism that does.",
    )


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
