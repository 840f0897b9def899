"""A circulant: one column of weights, shifted cyclically.

Output y weighs w[(x − y) mod r] on row x. Every row and every column then holds the same r weights, so that one sum
decides them all: a mechanism on 10,000 symbols is a few runs of equal weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Column, IndexSet, as_count
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS, Floats, Indices, Weights
from extremal.mechanism.labels import MOST_LABELS
from extremal.mechanism.structures.structure import (
    Levels,
    ListedWeights,
    refuse_bad_sums,
    refuse_large,
    refuse_many_rows,
    stored_list,
    stored_weight,
)

MOST_PIECES = 1 << 27  # runs of all columns together: 10,000 symbols with as many runs

Run = tuple[int, int]  # weight, how many rows in a row have it


@dataclass(frozen=True, eq=False)
class Circulant(ListedWeights):
    """Column 0 as runs of (weight, length) from row 0 on; column y is column 0 shifted down by y rows, cyclically."""

    runs: tuple[Run, ...]
    kind: ClassVar[str] = "circulant"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        if any(not 1 <= length <= MOST_LABELS or weight < 0 for weight, length in self.runs):
            raise InvalidParameter(
                "a run must have a weight of at least 0 and some rows", parameter="runs", value=self.runs[:6]
            )
        refuse_many_rows(self.r)
        if self.r * len(self.runs) > MOST_PIECES:
            raise TooLarge(
                f"a circulant may have at most {MOST_PIECES:,} runs in all its columns together",
                parameter="rows × runs",
                value=f"{self.r} × {len(self.runs)}",
            )
        refuse_bad_sums([sum(weight * length for weight, length in self.runs)])
        if len({weight for weight, _ in self.runs}) < 2:
            raise InvalidParameter(
                "a circulant needs at least 2 different weights", parameter="runs", value=self.runs[:6]
            )

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Circulant:
        """The circulant of these runs: empty ones left out, neighbours of equal weight joined."""
        joined: list[Run] = []
        for weight, length in runs:
            if joined and joined[-1][0] == weight:
                joined[-1] = (weight, joined[-1][1] + length)
            elif length:
                joined.append((weight, length))
        return cls(tuple(joined))

    @cached_property
    def r(self) -> int:
        return sum(length for _, length in self.runs)

    @property
    def m(self) -> int:
        return self.r

    @cached_property
    def _by_weight(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """Each different weight with its (first row, length) runs in column 0, weights increasing."""
        starts = accumulate((length for _, length in self.runs), initial=0)
        found: dict[int, list[tuple[int, int]]] = {}
        for (weight, length), start in zip(self.runs, starts, strict=False):
            found.setdefault(weight, []).append((start, length))
        return tuple((weight, tuple(found[weight])) for weight in sorted(found))

    def columns(self) -> Iterator[Column]:
        for y in range(self.r):
            yield Column(y, tuple((weight, self._shifted(runs, y)) for weight, runs in self._by_weight))

    def _shifted(self, runs: tuple[tuple[int, int], ...], y: int) -> IndexSet:
        pieces = sorted(
            piece for start, length in runs for piece in IndexSet.window((start + y) % self.r, length, self.r).runs
        )
        joined = pieces[:1]
        for a, b in pieces[1:]:
            joined = [*joined[:-1], (joined[-1][0], b)] if a == joined[-1][1] else [*joined, (a, b)]
        return IndexSet(tuple(joined))

    @cached_property
    def _column(self) -> Weights:
        return np.repeat(np.array([w for w, _ in self.runs], dtype=np.int64), [length for _, length in self.runs])

    def kinds_of_columns(self) -> Iterator[Column]:
        return itertools.islice(self.columns(), 1)

    def rows(self) -> Weights:
        refuse_large(self.r, self.r, "the weights")
        return np.array([self.row(i) for i in range(self.r)])

    def row(self, i: int) -> Weights:
        return np.asarray(self._column[(i - np.arange(self.r)) % self.r])

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        found: list[int] = self._column[(rows - outputs) % self.r].tolist()
        return found

    def level_masses(self, row_weights: Floats) -> Floats:
        """For each weight but the smallest, the sum of the row weights over its rows, in each column: levels×m."""
        prefix = np.concatenate(([0.0], np.cumsum(np.concatenate([row_weights, row_weights]))))
        y = np.arange(self.r)
        sums = [
            sum(prefix[(y + start) % self.r + n] - prefix[(y + start) % self.r] for start, n in runs)
            for _, runs in self._by_weight[1:]
        ]
        return np.array(sums)

    def marginal(self, row_prior: Floats) -> Floats:
        low = self._by_weight[0][0]
        above = np.array([float(weight - low) for weight, _ in self._by_weight[1:]])
        return np.asarray(np.ldexp(low * row_prior.sum() + above @ self.level_masses(row_prior), -WEIGHT_BITS))

    def levels(self) -> Levels:
        low, above = self._by_weight[0][0], self._by_weight[1:]
        base = np.full(self.m, math.ldexp(low, -WEIGHT_BITS))
        excess = np.array([[math.ldexp(weight - low, -WEIGHT_BITS)] for weight, _ in above])
        return Levels(base, np.broadcast_to(excess, (len(above), self.m)), self.level_masses)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "runs": [[str(weight), length] for weight, length in self.runs]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Circulant:
        runs = stored_list(content["runs"], "runs")
        return cls(tuple((stored_weight(weight), as_count(length, "length", 1)) for weight, length in runs))
