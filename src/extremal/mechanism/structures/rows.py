"""Rows: an array of weights, for anything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Column, IndexSet
from extremal.exact.weights import DENOMINATOR, Floats, Indices, Weights, as_probabilities, exact_sums, frozen
from extremal.mechanism.structures.structure import Levels, ListedWeights, refuse_bad_sums, stored_list, stored_weight


@dataclass(frozen=True, eq=False)
class Rows(ListedWeights):
    """An r×m array of weights; every output has some weight."""

    array: Weights
    kind: ClassVar[str] = "rows"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        if (self.array < 0).any():
            raise InvalidParameter("weights must not be negative", parameter="weights", value=int(self.array.min()))
        refuse_bad_sums(exact_sums(self.array, axis=1))
        unused = np.flatnonzero(~self.array.any(axis=0))
        if unused.size:
            raise InvalidParameter(
                "every output must have some weight",
                parameter="unused output",
                value=int(unused[0]),
                hint="Remove that column.",
            )
        object.__setattr__(self, "array", frozen(self.array))

    def __reduce__(self) -> Any:
        return Rows, (self.array,)

    @property
    def r(self) -> int:
        return int(self.array.shape[0])

    @property
    def m(self) -> int:
        return int(self.array.shape[1])

    def columns(self) -> Iterator[Column]:
        for y in range(self.m):
            order = np.argsort(self.array[:, y], kind="stable")  # within equal weights rows stay in order
            ordered = self.array[order, y]
            other = ordered[1:] != ordered[:-1]
            cuts = np.flatnonzero(other | (order[1:] != order[:-1] + 1)) + 1
            starts, stops = np.concatenate(([0], cuts)), np.concatenate((cuts, [self.r]))
            runs = list(zip(order[starts].tolist(), (order[stops - 1] + 1).tolist(), strict=True))
            values = ordered[starts].tolist()
            edges = [0, *(np.flatnonzero(other[cuts - 1]) + 1).tolist(), len(runs)]
            yield Column(y, tuple((values[a], IndexSet(tuple(runs[a:b]))) for a, b in itertools.pairwise(edges)))

    def kinds_of_columns(self) -> Iterator[Column]:
        return self.columns()

    def rows(self) -> Weights:
        return self.array

    def row(self, i: int) -> Weights:
        return np.asarray(self.array[i])

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        found: list[int] = self.array[rows, outputs].tolist()
        return found

    def marginal(self, row_prior: Floats) -> Floats:
        return np.asarray(row_prior @ as_probabilities(self.array))

    def levels(self) -> Levels:
        smallest = self.array.min(axis=0)
        return Levels(as_probabilities(smallest), as_probabilities(self.array - smallest))

    def plain_rows(self) -> Weights:
        return self.array

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": [[str(w) for w in row] for row in self.array.tolist()]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Rows:
        rows = [[stored_weight(w) for w in stored_list(row, "a row")] for row in stored_list(content["rows"], "rows")]
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise MalformedFile(
                "rows must be lists of equally many weights", parameter="number of rows", value=len(rows)
            )
        return cls(np.array(rows, dtype=np.int64))
