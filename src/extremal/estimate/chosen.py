"""Frequencies of chosen labels from local hashing, where all of them would be too many.

Each report is hashed for each chosen label: n·L operations, and nothing of the size of the alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.indicators import MOST_HASHES, HashChannel
from extremal.estimate.intervals.levels import each, quantile
from extremal.estimate.reports.tally import Reports
from extremal.estimate.results.heavy import HeavyLabels, heavy_labels
from extremal.exact import as_count
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism


@dataclass(frozen=True)
class ChosenEstimate:
    """Unbiased estimates of the frequencies of some labels.

    Attributes:
        inputs: the labels.
        estimate, standard_error: one number for each.
        n: how many reports.
    """

    inputs: tuple[Any, ...]
    estimate: Floats
    standard_error: Floats
    n: int

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Normal intervals, one row (low, high) for each label; valid together when `simultaneous` (Bonferroni)."""
        half = quantile(each(level, len(self.inputs) if simultaneous else 1)) * self.standard_error
        return np.column_stack([self.estimate - half, self.estimate + half])

    def heavy(self, at_least: float = 0.0, level: float = 0.95) -> HeavyLabels:
        """Those of the labels that are more frequent than `at_least` beyond doubt, with limits that hold together."""
        return heavy_labels(self.inputs, self.estimate, self.interval(level, simultaneous=True), at_least, level)


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
    error = np.sqrt(held * (1 - held) / (found.n - 1)) / (a - b)
    return ChosenEstimate(tuple(labels), np.asarray((held - b) / (a - b)), np.asarray(error), found.n)
