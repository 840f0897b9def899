"""Frequencies of chosen labels from local hashing, where all of them would be too many.

Each report is hashed for each chosen label: n·L operations, and nothing of the size of the alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.indicators import MOST_HASHES, HashChannel
from extremal.estimate.intervals.binomial import mapped_limits
from extremal.estimate.intervals.levels import each
from extremal.estimate.reports.tally import Reports
from extremal.estimate.results.heavy import HeavyLabels, TopLabels, heavy_labels, top_labels
from extremal.estimate.results.tabled import Tabled
from extremal.exact import as_count
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import HashedSets


@dataclass(frozen=True, eq=False)
class ChosenEstimate(Tabled):
    """Unbiased estimates of the frequencies of some labels.

    The number of reports that hold a label is binomial, because the seeds hash any two labels independently.

    Attributes:
        inputs: the labels.
        estimate: one number for each.
        n: how many reports.
    """

    inputs: tuple[Any, ...]
    estimate: Floats
    n: int
    channel: HashChannel = field(repr=False)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The inputs."""
        return self.inputs

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"frequencies of {len(self.inputs)} of {self.channel.r:,} inputs"

    @property
    def _held(self) -> Floats:
        """The share of the reports that hold each label."""
        return np.asarray(self.channel.other + (self.channel.own - self.channel.other) * self.estimate)

    @property
    def standard_error(self) -> Floats:
        """Of each estimate."""
        step = self.channel.own - self.channel.other
        return np.asarray(np.sqrt(np.maximum(self._held * (1 - self._held), 0.0) / (self.n - 1)) / step)

    @cached_property
    def covariance(self) -> Floats:
        """Of the estimates; three labels are treated as hashed independently."""
        c, held = self.channel, self._held
        both = c.pair_without + (c.pair_with_truth - c.pair_without) * np.add.outer(self.estimate, self.estimate)
        np.fill_diagonal(both, held)
        return np.asarray((both - np.outer(held, held)) / ((self.n - 1) * (c.own - c.other) ** 2))

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Exact limits, one row (low, high) for each label; valid together when `simultaneous` (Bonferroni)."""
        counts = np.rint(self._held * self.n).astype(np.int64)
        of_each = each(level, len(self.inputs) if simultaneous else 1)
        inside, outside = (np.full(counts.shape, share) for share in (self.channel.own, self.channel.other))
        return mapped_limits(counts, self.n, of_each, inside, outside)

    def heavy(self, at_least: float = 0.0, level: float = 0.95) -> HeavyLabels:
        """Those of the labels that are more frequent than `at_least` beyond doubt, with limits that hold together."""
        limits = self.interval(level, simultaneous=True)
        return heavy_labels(self.inputs, self.estimate, limits, at_least, level, self.n)

    def top(self, count: int, level: float = 0.95) -> TopLabels:
        """The `count` most frequent of the labels, with limits and ranks that hold together."""
        limits = self.interval(level, simultaneous=True)
        return top_labels(self.inputs, count, self.estimate, limits, level, self.n)


def estimate_chosen(
    reports: Any, mechanism: Mechanism, labels: Sequence[Any], column: str | None = None
) -> ChosenEstimate:
    """Estimate the frequencies of `labels` alone from reports of local hashing.

    Args:
        reports: as `ex.estimate_frequencies` takes them.
        mechanism: an `ex.local_hashing`.
        labels: input labels; reports × labels may be 10^9.
        column: of a data frame.

    >>> import extremal as ex
    >>> m = ex.local_hashing(1_000_000, 20)
    >>> found = estimate_chosen(m.privatize([7] * 90 + [999_999] * 10), m, [7, 8])
    >>> bool(abs(found.estimate - [0.9, 0]).max() < 0.1)
    True
    """
    if not isinstance(mechanism.structure, HashedSets):
        raise InvalidParameter(
            "chosen labels are estimated from local hashing alone",
            parameter="mechanism",
            value=mechanism.structure.kind,
            hint="Leave labels= out: the shares of all labels are estimated.",
        )
    channel = HashChannel(mechanism)
    codes = np.array([mechanism.input_labels.code(label, "labels") for label in labels], dtype=np.int64)
    as_count(codes.size, "len(labels)", 1)
    found = Reports(reports, mechanism, column).tally(channel)
    keys, shares = found.shares()
    if found.n < 2 or len(keys) * codes.size > MOST_HASHES:
        raise InvalidParameter(
            "there must be at least two reports, and reports × labels at most 10^9",
            parameter="reports × labels",
            value=f"{found.n} × {codes.size}",
        )
    held = channel.held_among(np.asarray(keys, dtype=np.int64), shares, codes)
    a, b = channel.own, channel.other
    return ChosenEstimate(tuple(labels), np.asarray((held - b) / (a - b)), found.n, channel)
