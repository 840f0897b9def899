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
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.results import plot
from extremal.estimate.results.tabled import as_frame, framed, head, pandas, short
from extremal.exact import as_count
from extremal.exact.weights import Floats, Indices
from extremal.mechanism.labels import Label
from extremal.tables import aligned, html, number

MOST_SHOWN = 40  # rows of a table; the rest is counted


@dataclass(frozen=True, kw_only=True)
class LabelList(ABC):
    """Some labels out of many, with limits that hold together for all that were looked at.

    Attributes:
        labels: what each row is about.
        estimate: of the labels' frequencies, unbiased.
        low, high: the limits.
        level: with which probability everything that is said holds.
        n: how many reports.
        sample: how the respondents were drawn, in a few words.
    """

    labels: tuple[Any, ...]
    estimate: Floats
    low: Floats
    high: Floats
    level: float
    n: int
    sample: str = ""

    key: ClassVar[str] = "input"  # what a frame calls the labels

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What holds, and with which probability, in sentences."""

    def _columns(self) -> dict[str, list[Any]]:
        """What a frame has beside the limits."""
        return {}

    def _cells(self) -> dict[str, list[str]]:
        """What a table has beside the limits."""
        return {}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    @property
    def params(self) -> Any:
        """The points by label, a pandas Series."""
        return pandas().Series(self.estimate, index=list(self.labels))

    def conf_int(self) -> Any:
        """The limits by label, a pandas DataFrame; at the level that labels were listed at, for all together."""
        limits = np.column_stack([self.low, self.high])
        return pandas().DataFrame(limits, index=list(self.labels), columns=[0, 1])

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each label; `library` is "pandas", "polars" or "pyarrow"."""
        numbers = {name: getattr(self, name).tolist() for name in ("estimate", "low", "high")}
        return as_frame({self.key: list(self.labels), **numbers, **self._columns()}, library)

    @property
    def head(self) -> str:
        """The first line of a summary, as every estimate has it."""
        return head(f"Estimate: {self.title}", self.n, self.sample)

    def summary(self) -> str:
        """A table for a terminal: what it is, how many reports, labels with their limits, notes."""
        header, body, more = self._table()
        return framed(self.head, aligned(header, body, left=1).split("\n") + more, list(self.notes))

    def plot(self, ax: Any = None) -> Any:
        """Points with limits: a matplotlib figure, new or that of the given Axes."""
        limits = np.column_stack([self.low, self.high])
        rows = plot.Bars("", self.labels, np.clip(self.estimate, self.low, self.high), limits)
        return plot.plot([rows], self.head, plot.SHARE, self.level, True, ax)

    def _repr_html_(self) -> str:
        header, body, more = self._table()
        return html(header, body, self.head, [*more, *self.notes])

    def __str__(self) -> str:
        return self.summary()

    def _table(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Header and rows, and how many rows are left out."""
        rows = zip(self.labels, self.estimate, self.low, self.high, *self._cells().values(), strict=True)
        body = [[short(label), *(number(v, 4) for v in (p, a, b)), *more] for label, p, a, b, *more in rows]
        left_out = [f"… and {len(self) - MOST_SHOWN} more: use to_frame()"] if len(self) > MOST_SHOWN else []
        return ["", "estimate", "low", "high", *self._cells()], body[:MOST_SHOWN], left_out


@dataclass(frozen=True, kw_only=True)
class HeavyLabels(LabelList):
    """Labels above a threshold, the most frequent first. `str()` is a table for the terminal.

    Made by `FrequencyEstimate.heavy`.

    Attributes:
        labels, estimate, low, high, level, n, sample: see `LabelList`.
        at_least: the threshold.
        of: how many labels were looked at.
    """

    at_least: float
    of: int

    @property
    def inputs(self) -> tuple[Label, ...]:
        """The labels, by the name that other estimates have for them."""
        return self.labels

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"inputs of {self.of:,} above {self.at_least:g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many there are, and with which probability."""
        found = f"{len(self)} of {self.of:,} labels above {self.at_least:g}"
        return (f"{found}; {100 * self.level:g}% for all limits together",)


def heavy_labels(
    inputs: Sequence[Label], estimate: Floats, limits: Floats, at_least: float, level: float, n: int, sample: str = ""
) -> HeavyLabels:
    """Those of `inputs` whose lower limit exceeds the threshold; `limits` hold together at `level`.

    >>> found = heavy_labels(("a", "b"), np.array([0.7, 0.3]), np.array([[0.6, 0.8], [0.2, 0.4]]), 0.5, 0.95, 90)
    >>> found.inputs, found.of
    (('a',), 2)
    """
    if not (isinstance(at_least, (int, float)) and math.isfinite(at_least) and 0 <= at_least < 1):
        raise InvalidParameter("at_least must be a frequency below 1", parameter="at_least", value=at_least)
    chosen = np.flatnonzero(limits[:, 0] > at_least)
    order = chosen[np.argsort(-estimate[chosen], kind="stable")]
    return HeavyLabels(
        labels=tuple(inputs[i] for i in order.tolist()),
        estimate=estimate[order],
        low=limits[order, 0],
        high=limits[order, 1],
        at_least=float(at_least),
        level=level,
        of=len(inputs),
        n=n,
        sample=sample,
    )


@dataclass(frozen=True, kw_only=True)
class TopLabels(LabelList):
    """The most frequent labels by their estimates. `str()` is a table for the terminal.

    Made by `FrequencyEstimate.top`.

    Attributes:
        labels, estimate, low, high, level, n, sample: see `LabelList`; the largest estimate first.
        best_rank, worst_rank: between these lies the true rank, from 1 on; labels of equal frequency share ranks.
        of: how many labels were looked at.
    """

    best_rank: Indices
    worst_rank: Indices
    of: int

    @property
    def inputs(self) -> tuple[Label, ...]:
        """The labels, by the name that other estimates have for them."""
        return self.labels

    @property
    def belongs(self) -> tuple[bool, ...]:
        """For each label whether it is certain that it belongs among so many."""
        return tuple((self.worst_rank <= len(self)).tolist())

    @property
    def order_is_certain(self) -> bool:
        """Whether these are the most frequent labels, in this order, beyond doubt."""
        return bool((self.worst_rank == np.arange(1, len(self) + 1)).all())

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"the {len(self)} most frequent of {self.of:,} inputs"

    @property
    def notes(self) -> tuple[str, ...]:
        """Which labels and whether their order is certain, and with which probability."""
        sure = sum(self.belongs)
        order = "the order is certain" if self.order_is_certain else "the order is not certain: see the ranks"
        return (
            f"{sure} of these belong to the {len(self)} most frequent of {self.of:,} beyond doubt; {order}",
            f"{100 * self.level:g}% for all limits and ranks together",
        )

    def _columns(self) -> dict[str, list[Any]]:
        ranks = {name: getattr(self, name).tolist() for name in ("best_rank", "worst_rank")}
        return {**ranks, "belongs": list(self.belongs)}

    def _cells(self) -> dict[str, list[str]]:
        ranks = zip(self.best_rank.tolist(), self.worst_rank.tolist(), strict=True)
        return {"rank": [f"{i}" if i == j else f"{i} to {j}" for i, j in ranks]}


def top_labels(
    inputs: Sequence[Label], count: Any, estimate: Floats, limits: Floats, level: float, n: int, sample: str = ""
) -> TopLabels:
    """The `count` labels of largest estimate, with what `limits`, which hold together at `level`, say of their ranks.

    >>> limits = np.array([[0.6, 0.8], [0.1, 0.2], [0.0, 0.15]])
    >>> found = top_labels(("a", "b", "c"), 2, np.array([0.7, 0.15, 0.1]), limits, 0.95, 90)
    >>> found.inputs, found.best_rank.tolist(), found.worst_rank.tolist(), found.belongs
    (('a', 'b'), [1, 2], [1, 3], (True, False))
    """
    order = np.argsort(-estimate, kind="stable")[: as_count(count, "count", 1)]
    low, high = limits[order, 0], limits[order, 1]
    lows, highs = np.sort(limits[:, 0]), np.sort(limits[:, 1])
    best = 1 + lows.size - np.searchsorted(lows, high, side="right")
    worst = highs.size - np.searchsorted(highs, low, side="left")  # its own upper limit counts as the rank itself
    return TopLabels(
        labels=tuple(inputs[i] for i in order.tolist()),
        estimate=estimate[order],
        low=low,
        high=high,
        best_rank=best,
        worst_rank=np.maximum(worst, 1),
        level=level,
        of=len(inputs),
        n=n,
        sample=sample,
    )
