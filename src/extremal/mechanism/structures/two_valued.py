"""Two-valued columns: each output high on a set of rows and low elsewhere (staircase columns, cyclic windows)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Column, IndexSet
from extremal.exact.weights import (
    DENOMINATOR,
    WEIGHT_BITS,
    Floats,
    Indices,
    Weights,
    as_probabilities,
    exact_sums,
    frozen,
    halves,
    joined,
)
from extremal.mechanism.structures.structure import (
    SMALL,
    Levels,
    ListedWeights,
    refuse_bad_sums,
    refuse_large,
    refuse_many_rows,
    stored_list,
    stored_weight,
)


@dataclass(frozen=True, eq=False)
class TwoValuedColumns(ListedWeights):
    """Output y weighs high[y] on sets[y] and low[y] on the other rows; every row sums to 2^62."""

    r: int
    sets: tuple[IndexSet, ...]
    low: Weights
    high: Weights
    kind: ClassVar[str] = "two_valued_columns"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        refuse_many_rows(self.r)
        if not len(self.sets) == len(self.low) == len(self.high):
            raise InvalidParameter(
                "every set needs one low and one high weight", parameter="sets", value=len(self.sets)
            )
        if (self.low < 0).any() or (self.high <= self.low).any():
            raise InvalidParameter(
                "0 ≤ low < high is required of every column", parameter="low", value=self.low[:6].tolist()
            )
        for y, members in enumerate(self.sets):
            if not members.runs or members.runs[-1][1] > self.r or len(members) == self.r:
                raise InvalidParameter(
                    "a set must hold some rows, not all", parameter=f"sets[{y}]", value=members.runs[:6]
                )
        self._refuse_bad_sums()
        object.__setattr__(self, "low", frozen(self.low))
        object.__setattr__(self, "high", frozen(self.high))

    def __reduce__(self) -> Any:
        return TwoValuedColumns, (self.r, self.sets, self.low, self.high)

    @classmethod
    def recognised(cls, rows: Weights) -> TwoValuedColumns | None:
        """These rows, if they are many and every column has just two values."""
        if rows.size <= SMALL:
            return None
        low, high = rows.min(axis=0), rows.max(axis=0)
        inside = rows == high
        if (low == high).any() or not (inside | (rows == low)).all():
            return None
        return cls(rows.shape[0], tuple(IndexSet.of(np.flatnonzero(column)) for column in inside.T), low, high)

    @cached_property
    def _owner(self) -> Indices:
        return np.array([y for y, s in enumerate(self.sets) for _ in s.runs], dtype=np.intp)

    @cached_property
    def _edges(self) -> Indices:
        return np.array([run for s in self.sets for run in s.runs], dtype=np.intp).reshape(-1, 2)

    def _refuse_bad_sums(self) -> None:
        owner, edges = self._owner, self._edges
        sums = []
        for part in halves(self.high - self.low):
            change = np.zeros(self.r + 1, dtype=np.int64)
            np.add.at(change, edges[:, 0], part[owner])
            np.subtract.at(change, edges[:, 1], part[owner])
            sums.append(np.cumsum(change[:-1]))
        base = exact_sums(self.low[None, :], axis=1)[0]
        # Rows with the same two halves have the same sum, and few are different where all are right.
        for i in np.unique(np.stack(sums), axis=1, return_index=True)[1][:2].tolist():
            refuse_bad_sums([base + joined(int(sums[0][i]), int(sums[1][i]))], first=i)

    @property
    def m(self) -> int:
        return len(self.sets)

    @cached_property
    def window(self) -> int | None:
        """The length, if output y is high by one step on the rows y, y+1, … (cyclically) and m = r; else None."""
        steps, length = self.high - self.low, len(self.sets[0])
        if self.m != self.r or not (steps == steps[0]).all():
            return None
        return length if all(s == IndexSet.window(y, length, self.r) for y, s in enumerate(self.sets)) else None

    def columns(self) -> Iterator[Column]:
        for y, (members, low, high) in enumerate(zip(self.sets, self.low.tolist(), self.high.tolist(), strict=True)):
            yield Column(y, ((low, members.complement(self.r)), (high, members)))

    def kinds_of_columns(self) -> Iterator[Column]:
        pairs = {pair: y for y, pair in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True))}
        for (low, high), y in pairs.items():
            yield Column(y, ((low, self.sets[y].complement(self.r)), (high, self.sets[y])))

    def two_valued(self) -> tuple[list[Indices], list[int], list[int]]:
        return [members.indices() for members in self.sets], self.low.tolist(), self.high.tolist()

    def rows(self) -> Weights:
        refuse_large(self.r, self.m, "the weights")
        array = np.tile(self.low, (self.r, 1))
        for y, members in enumerate(self.sets):
            for a, b in members.runs:
                array[a:b, y] = self.high[y]
        return array

    def row(self, i: int) -> Weights:
        inside = np.array([_holds(s, i) for s in self.sets])
        return np.where(inside, self.high, self.low)

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        pairs = zip(rows.tolist(), outputs.tolist(), strict=True)
        return [int(self.high[y] if _holds(self.sets[y], i) else self.low[y]) for i, y in pairs]

    def set_masses(self, row_weights: Floats) -> Floats:
        """The sum of the row weights over each set."""
        prefix = np.concatenate(([0.0], np.cumsum(row_weights)))
        sums = np.zeros(self.m)
        np.add.at(sums, self._owner, prefix[self._edges[:, 1]] - prefix[self._edges[:, 0]])
        return sums

    def marginal(self, row_prior: Floats) -> Floats:
        mass = self.set_masses(row_prior)
        return np.asarray(np.ldexp(self.low * row_prior.sum() + (self.high - self.low) * mass, -WEIGHT_BITS))

    def levels(self) -> Levels:
        step = as_probabilities(self.high - self.low)
        return Levels(as_probabilities(self.low), step[None, :], lambda rows: self.set_masses(rows)[None, :])

    def to_json(self) -> dict[str, Any]:
        pairs = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        distinct = {pair: code for code, pair in enumerate(dict.fromkeys(pairs))}
        return {
            "kind": self.kind,
            "rows": self.r,
            "weights": [[str(low), str(high)] for low, high in distinct],
            "columns": [
                [distinct[pair], *(edge for run in s.runs for edge in run)]
                for pair, s in zip(pairs, self.sets, strict=True)
            ],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> TwoValuedColumns:
        weights = [
            [stored_weight(w) for w in stored_list(pair, "a pair")]
            for pair in stored_list(content["weights"], "weights")
        ]
        if not all(len(pair) == 2 for pair in weights):
            raise MalformedFile(
                "weights must be pairs of low and high", parameter="weights", value=content["weights"][:6]
            )
        pairs = np.array(weights, dtype=np.int64).reshape(-1, 2)
        refuse_many_rows(content["rows"])
        columns = stored_list(content["columns"], "columns")
        read = [_column_from_json(column, len(pairs), content["rows"]) for column in columns]
        codes = [code for code, _ in read]
        return cls(content["rows"], tuple(members for _, members in read), pairs[codes, 0], pairs[codes, 1])


def _column_from_json(column: Any, pairs: int, rows: int) -> tuple[int, IndexSet]:
    """Which pair of weights a column has, and the rows that have the higher one."""
    code, *edges = column if isinstance(column, list) and column else [-1]
    whole = all(type(edge) is int for edge in (code, *edges)) and len(edges) % 2 == 0 and 0 <= code < pairs
    within = whole and (not edges or 0 <= edges[0] < edges[-1] <= rows)
    if not within or edges != sorted(set(edges)):
        raise MalformedFile(
            "a column is a weight pair and increasing run edges", parameter="column", value=[code, *edges][:8]
        )
    return code, IndexSet(tuple(zip(edges[::2], edges[1::2], strict=True)))


def _holds(members: IndexSet, i: int) -> bool:
    return any(a <= i < b for a, b in members.runs)
