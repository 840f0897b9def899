"""Randomised response with a report that says nothing: three numbers whatever the alphabet."""

from __future__ import annotations

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
    refuse_bad_sums,
    refuse_large,
    refuse_many_rows,
    stored_weight,
)


@dataclass(frozen=True, eq=False)
class Abstaining:
    """high on the diagonal, low elsewhere, and a last output of the same weight for all rows."""

    r: int
    low: int
    high: int
    silent: int
    kind: ClassVar[str] = "abstaining"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        refuse_many_rows(self.r)
        if not 0 <= self.low < self.high or self.silent < 1:
            raise InvalidParameter("0 ≤ low < high and silent ≥ 1 are required", parameter="low", value=self.low)
        refuse_bad_sums([self.high + (self.r - 1) * self.low + self.silent])

    @property
    def m(self) -> int:
        return self.r + 1

    def columns(self) -> Iterator[Column]:
        for y in range(self.r):
            one = IndexSet(((y, y + 1),))
            yield Column(y, ((self.low, one.complement(self.r)), (self.high, one)))
        yield Column(self.r, ((self.silent, IndexSet(((0, self.r),))),))

    def kinds_of_columns(self) -> Iterator[Column]:
        return self.columns()

    def rows(self) -> Weights:
        refuse_large(self.r, self.m, "the weights")
        return np.array([self.row(i) for i in range(self.r)])

    def row(self, i: int) -> Weights:
        weights = np.full(self.m, self.low, dtype=np.int64)
        weights[i], weights[-1] = self.high, self.silent
        return weights

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        own = np.where(rows == outputs, self.high, self.low)
        found: list[int] = np.where(outputs == self.r, self.silent, own).tolist()
        return found

    def marginal(self, row_prior: Floats) -> Floats:
        total = row_prior.sum()
        shown = self.low * total + (self.high - self.low) * row_prior
        return np.asarray(np.ldexp(np.append(shown, self.silent * total), -WEIGHT_BITS))

    def levels(self) -> Levels:
        low, step, silent = (math.ldexp(w, -WEIGHT_BITS) for w in (self.low, self.high - self.low, self.silent))
        base = np.append(np.full(self.r, low), silent)
        return Levels(base, np.append(np.full(self.r, step), 0.0)[None, :], lambda rows: np.append(rows, 0.0)[None, :])

    def plain_rows(self) -> Weights | None:
        return None

    def in_words(self) -> None:
        return None

    def to_json(self) -> dict[str, Any]:
        numbers = {"low": str(self.low), "high": str(self.high), "silent": str(self.silent)}
        return {"kind": self.kind, "rows": self.r, **numbers}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Abstaining:
        low, high, silent = (stored_weight(content[name]) for name in ("low", "high", "silent"))
        return cls(content["rows"], low, high, silent)
