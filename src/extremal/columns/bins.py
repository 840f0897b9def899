"""Numbers → bins: how an age or an income becomes one of k inputs, with a label and a value for each.

Edges must not come from the answers that are to be protected: their smallest and largest would be told to everybody.
So they are given, or evenly spread over a range that is given, or quantiles of a pilot that is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from extremal.columns.arrays import numbers
from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.exact.weights import Floats


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of numbers, in ascending order.

    Made by `ex.binned`.

    Attributes:
        edges: k + 1 numbers; a bin holds its lower edge, the last one both. What lies beyond counts in an end bin.
        names: k labels, for `inputs=` of a design.
        middles: the number that each bin stands for, for `ex.Mean`: the middle, or the pilot's mean in the bin.
        labels: the bin of each value, ready to be privatised.

    >>> import extremal as ex
    >>> ex.binned([17, 30], [0, 18, 65]).names
    ('0–18', '18–65')
    """

    edges: Floats
    names: tuple[str, ...]
    middles: Floats
    labels: list[str]

    @property
    def k(self) -> int:
        return len(self.names)

    def of(self, values: Any) -> list[str]:
        """The labels of other values."""
        return [self.names[i] for i in _places(_numbers(values, "values"), self.edges)]

    def __repr__(self) -> str:
        return f"Bins({self.k} bins from {self.edges[0]:g} to {self.edges[-1]:g}, {len(self.labels)} values)"


def binned(
    values: Any, bins: int | Sequence[float], *, between: tuple[float, float] | None = None, pilot: Any = None
) -> Bins:
    """Sort numbers into bins: labels to privatise, and labels and values to design for.

    Guarantee: edges do not depend on the values, so that bins disclose nothing.

    Args:
        values: the answers.
        bins: edges in ascending order, or how many bins.
        between: for a number of bins: evenly wide between these two, which must be public.
        pilot: for a number of bins: with equally many of these public numbers in each.

    Raises:
        InvalidParameter: a value that is not a finite number (its place is named, not the value), edges that do not
            increase, or a number of bins without `between` or `pilot`.

    Reference: docs/design/index.md, on numbers and their bins.

    >>> import extremal as ex
    >>> ages = ex.binned([17, 30, 64, 99], [0, 18, 30, 65, 120])
    >>> ages.labels, ages.middles.tolist()
    (['0–18', '30–65', '30–65', '65–120'], [9.0, 24.0, 47.5, 92.5])
    >>> ex.binned([0.5, 2], 4, between=(0, 1)).labels
    ['0.5–0.75', '0.75–1']
    """
    answers = _numbers(values, "values")
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        edges, sample = _spread(as_count(bins, "bins", 2), between, pilot)
    else:
        if between is not None or pilot is not None:
            raise InvalidParameter("edges need neither between nor pilot", parameter="bins", value=str(bins)[:60])
        edges, sample = _numbers(bins, "bins"), None
    if edges.size < 3 or (np.diff(edges) <= 0).any():
        raise InvalidParameter(
            "edges must increase, at least three of them", parameter="bins", value=edges[:8].tolist()
        )
    middles = (edges[1:] + edges[:-1]) / 2
    if sample is not None:
        place = _places(sample, edges)
        count = np.bincount(place, minlength=middles.size)
        middles = np.where(
            count > 0, np.bincount(place, weights=sample, minlength=middles.size) / np.maximum(count, 1), middles
        )
    names = tuple(f"{a:.10g}–{b:.10g}" for a, b in pairwise(edges.tolist()))
    return Bins(edges, names, np.asarray(middles), [names[i] for i in _places(answers, edges)])


def _spread(count: int, between: tuple[float, float] | None, pilot: Any) -> tuple[Floats, Floats | None]:
    if (between is None) == (pilot is None):
        raise InvalidParameter(
            "a number of bins needs either between=(low, high) or pilot=…",
            parameter="bins",
            value=count,
            hint="Edges taken from the answers themselves would reveal the smallest and the largest of them.",
        )
    if between is not None:
        ends = _numbers(between, "between")
        if ends.size != 2:
            raise InvalidParameter("between must be two numbers", parameter="len(between)", value=int(ends.size))
        return np.linspace(ends[0], ends[1], count + 1), None
    sample = _numbers(pilot, "pilot")
    return np.unique(np.quantile(sample, np.linspace(0, 1, count + 1))), sample


def _places(values: Floats, edges: Floats) -> Any:
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)


def _numbers(values: Any, parameter: str) -> Floats:
    array = numbers(values, parameter)
    if array.ndim != 1 or not array.size:
        raise InvalidParameter(
            f"{parameter} must be a list of numbers", parameter=f"{parameter}.shape", value=array.shape
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InvalidParameter(f"{parameter} must be finite numbers", parameter=f"{parameter}[i], i", value=int(bad[0]))
    return array
