"""Heavy labels: those whose frequency is above a threshold beyond doubt, with intervals that hold together.

Intervals for all labels hold together with probability at least `level` (Bonferroni). A label is listed when its lower
limit is above the threshold; then, with that probability, every listed label is that frequent and every interval that
is shown holds, however many labels were looked at and whichever were picked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.results.tabled import as_frame
from extremal.exact.weights import Floats
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
