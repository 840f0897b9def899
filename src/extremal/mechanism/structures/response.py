"""Randomised response: high on the diagonal and low elsewhere, two numbers whatever the alphabet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Column, IndexSet
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS, Floats, Indices, Weights
from extremal.mechanism.structures.structure import (
    Levels,
    ListedWeights,
    refuse_bad_sums,
    refuse_large,
    refuse_many_rows,
    stored_weight,
)


@dataclass(frozen=True, eq=False)
class RandomizedResponse(ListedWeights):
    """high on the diagonal and low elsewhere, r = m: two numbers."""

    r: int
    low: int
    high: int
    kind: ClassVar[str] = "randomized_response"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        refuse_many_rows(self.r)
        if not 0 <= self.low < self.high:
            raise InvalidParameter("0 ≤ low < high is required", parameter="low", value=self.low)
        refuse_bad_sums([self.high + (self.r - 1) * self.low])

    @classmethod
    def recognised(cls, rows: Weights) -> RandomizedResponse | None:
        """These rows, if they are a randomised response."""
        r, m = rows.shape
        if r != m or r < 2 or rows[0, 0] <= rows[0, 1]:
            return None
        low, high = int(rows[0, 1]), int(rows[0, 0])
        same = np.count_nonzero(rows == low) == r * (r - 1) and (np.diagonal(rows) == high).all()
        return cls(r, low, high) if same else None

    @property
    def m(self) -> int:
        return self.r

    def columns(self) -> Iterator[Column]:
        for y in range(self.r):
            one = IndexSet(((y, y + 1),))
            yield Column(y, ((self.low, one.complement(self.r)), (self.high, one)))

    def kinds_of_columns(self) -> Iterator[Column]:
        return itertools.islice(self.columns(), 1)

    def rows(self) -> Weights:
        refuse_large(self.r, self.r, "the weights")
        array = np.full((self.r, self.r), self.low, dtype=np.int64)
        np.fill_diagonal(array, self.high)
        return array

    def row(self, i: int) -> Weights:
        weights = np.full(self.r, self.low, dtype=np.int64)
        weights[i] = self.high
        return weights

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        found: list[int] = np.where(rows == outputs, self.high, self.low).tolist()
        return found

    def marginal(self, row_prior: Floats) -> Floats:
        return np.asarray(np.ldexp(self.low * row_prior.sum() + (self.high - self.low) * row_prior, -WEIGHT_BITS))

    def levels(self) -> Levels:
        low, step = (math.ldexp(w, -WEIGHT_BITS) for w in (self.low, self.high - self.low))
        return Levels(np.full(self.m, low), np.full((1, self.m), step), lambda rows: rows[None, :])

    def plain_rows(self) -> None:
        return None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, "low": str(self.low), "high": str(self.high)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> RandomizedResponse:
        return cls(content["rows"], stored_weight(content["low"]), stored_weight(content["high"]))
