"""Heavy labels, above a threshold beyond doubt, and the most frequent ones: with intervals that hold together.

Intervals for all labels hold together with probability at least `level` (Bonferroni). A label is listed when its lower
limit is above the threshold; then, with that probability, every listed label is that frequent and every interval that
is shown holds, however many labels were looked at and whichever were picked.

The same limits say how certain an order is. A label is outranked by every label whose lower limit is above its upper
one, and by no label whose upper limit is below its lower one: with probability at least `level` the true rank of every
label lies between these two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.results.tabled import as_frame
from extremal.exact import as_count
from extremal.exact.weights import Floats, Indices
from extremal.mechanism.labels import Label
from extremal.tables import aligned, number

MOST_SHOWN = 40  # rows of a table; the rest is counted


@dataclass(frozen=True)
class HeavyLabels:
    """Labels above a threshold, the most frequent first. `str()` is a table for the terminal.

    Attributes:
        inputs: the labels.
        estimate: of their frequencies, unbiased.
        low, high: limits that hold together for all labels that were looked at.
        at_least: the threshold.
        level: with which probability.
        of: how many labels were looked at.
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    low: Floats
    high: Floats
    at_least: float
    level: float
    of: int

    def __len__(self) -> int:
        return len(self.inputs)

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each label."""
        numbers = {"estimate": self.estimate, "low": self.low, "high": self.high}
        return as_frame({"input": list(self.inputs), **{k: v.tolist() for k, v in numbers.items()}}, library)

    def __str__(self) -> str:
        body = [
            [str(label), number(p, 4), number(a, 4), number(b, 4)]
            for label, p, a, b in zip(self.inputs[:MOST_SHOWN], self.estimate, self.low, self.high, strict=False)
        ]
        more = f"\n… and {len(self) - MOST_SHOWN} more" if len(self) > MOST_SHOWN else ""
        last = (
            f"{len(self)} of {self.of:,} labels above {self.at_least:g}; {100 * self.level:g}% for all limits together"
        )
        return f"{aligned(['label', 'estimate', 'low', 'high'], body, left=1)}{more}\n{last}"


def heavy_labels(
    inputs: Sequence[Label], estimate: Floats, limits: Floats, at_least: float, level: float
) -> HeavyLabels:
    """Those of `inputs` whose lower limit exceeds the threshold; `limits` hold together at `level`.

    >>> found = heavy_labels(("a", "b"), np.array([0.7, 0.3]), np.array([[0.6, 0.8], [0.2, 0.4]]), 0.5, 0.95)
    >>> found.inputs, found.of
    (('a',), 2)
    """
    if not (isinstance(at_least, (int, float)) and math.isfinite(at_least) and 0 <= at_least < 1):
        raise InvalidParameter("at_least must be a frequency below 1", parameter="at_least", value=at_least)
    chosen = np.flatnonzero(limits[:, 0] > at_least)
    order = chosen[np.argsort(-estimate[chosen], kind="stable")]
    names = tuple(inputs[i] for i in order.tolist())
    return HeavyLabels(names, estimate[order], limits[order, 0], limits[order, 1], float(at_least), level, len(inputs))


@dataclass(frozen=True)
class TopLabels:
    """The most frequent labels by their estimates. `str()` is a table for the terminal.

    Made by `FrequencyEstimate.top`.

    Attributes:
        inputs: the labels, the largest estimate first.
        estimate: of their frequencies, unbiased.
        low, high: limits that hold together for all labels that were looked at.
        best_rank, worst_rank: between these lies the true rank, from 1 on; labels of equal frequency share ranks.
        level: with which probability all limits and ranks hold.
        of: how many labels were looked at.
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    low: Floats
    high: Floats
    best_rank: Indices
    worst_rank: Indices
    level: float
    of: int

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def belongs(self) -> tuple[bool, ...]:
        """For each label whether it is certain that it belongs among so many."""
        return tuple((self.worst_rank <= len(self)).tolist())

    @property
    def order_is_certain(self) -> bool:
        """Whether these are the most frequent labels, in this order, beyond doubt."""
        return bool((self.worst_rank == np.arange(1, len(self) + 1)).all())

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each label."""
        columns = {
            name: getattr(self, name).tolist() for name in ("estimate", "low", "high", "best_rank", "worst_rank")
        }
        return as_frame({"input": list(self.inputs), **columns, "belongs": list(self.belongs)}, library)

    def __str__(self) -> str:
        numbers = zip(self.estimate, self.low, self.high, self.best_rank, self.worst_rank, strict=True)
        body = [
            [str(label), number(p, 4), number(a, 4), number(b, 4), f"{i}" if i == j else f"{i} to {j}"]
            for label, (p, a, b, i, j) in zip(self.inputs, numbers, strict=True)
        ]
        sure = sum(self.belongs)
        order = "the order is certain" if self.order_is_certain else "the order is not certain: see the ranks"
        last = f"{sure} of these belong to the {len(self)} most frequent of {self.of:,} beyond doubt; {order}"
        table = aligned(["label", "estimate", "low", "high", "rank"], body, left=1)
        return f"{table}\n{last}\n{100 * self.level:g}% for all limits and ranks together"


def top_labels(inputs: Sequence[Label], count: Any, estimate: Floats, limits: Floats, level: float) -> TopLabels:
    """The `count` labels of largest estimate, with what `limits`, which hold together at `level`, say of their ranks.

    >>> limits = np.array([[0.6, 0.8], [0.1, 0.2], [0.0, 0.15]])
    >>> found = top_labels(("a", "b", "c"), 2, np.array([0.7, 0.15, 0.1]), limits, 0.95)
    >>> found.inputs, found.best_rank.tolist(), found.worst_rank.tolist(), found.belongs
    (('a', 'b'), [1, 2], [1, 3], (True, False))
    """
    order = np.argsort(-estimate, kind="stable")[: as_count(count, "count", 1)]
    low, high = limits[order, 0], limits[order, 1]
    lows, highs = np.sort(limits[:, 0]), np.sort(limits[:, 1])
    best = 1 + lows.size - np.searchsorted(lows, high, side="right")
    worst = highs.size - np.searchsorted(highs, low, side="left")  # its own upper limit counts as the rank itself
    names = tuple(inputs[i] for i in order.tolist())
    return TopLabels(names, estimate[order], low, high, best, np.maximum(worst, 1), level, len(inputs))
