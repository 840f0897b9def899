"""Ways to store exact weights, so that large alphabets stay small.

A *kernel* holds each different row once (r rows, m outputs) as integers over 2^62:

* `Rows`: an r×m array, for anything;
* `TwoValuedColumns`: output y has weight high_y on a set of rows and low_y elsewhere (staircase columns, cyclic
  windows);
* `RandomizedResponse`: high on the diagonal, low elsewhere (r = m), two numbers whatever r;
* `SubsetSelection`: all subsets of a size, however many; one number;
* `Circulant` (in `circulant`): one column, shifted cyclically; a few runs of equal weights.

Every kernel's rows sum to its denominator (2^62, but for subset selection) exactly; construction refuses anything else.
A mechanism is a kernel plus the map from inputs to rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Column, IndexSet

WEIGHT_BITS = 62
DENOMINATOR = 1 << WEIGHT_BITS
LARGEST_DENSE = 1 << 24  # entries of a dense array: 128 MB of integers

Weights = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Kernel(Protocol):
    """Exact weights of the different rows of a mechanism."""

    kind: ClassVar[str]

    @property
    def denominator(self) -> int:
        """What every row sums to."""
        ...

    @property
    def r(self) -> int: ...
    @property
    def m(self) -> int: ...
    def columns(self) -> Iterator[Column]: ...
    def rows(self) -> Weights: ...
    def row(self, i: int) -> Weights: ...
    def marginal(self, row_prior: Floats) -> Floats:
        """Output probabilities when row i has probability row_prior[i]."""
        ...

    def to_json(self) -> dict[str, Any]: ...


def exact_sums(array: Weights, axis: int) -> list[int]:
    """Sums of non-negative 63-bit integers without overflow, as Python integers."""
    high = (array >> 31).sum(axis=axis, dtype=np.int64)
    low = (array & 0x7FFFFFFF).sum(axis=axis, dtype=np.int64)
    return [(h << 31) + w for h, w in zip(high.tolist(), low.tolist(), strict=True)]


def _refuse_bad_sums(sums: list[int]) -> None:
    for i, total in enumerate(sums):
        if total != DENOMINATOR:
            raise InvalidParameter(
                "each row of weights must sum to the denominator exactly",
                parameter=f"sum(weights[{i}])",
                value=total,
                hint=f"It is off by {total - DENOMINATOR} units of 2^-62; Mechanism.from_matrix rounds probabilities "
                "for you.",
            )


@dataclass(frozen=True, eq=False)
class Rows:
    """An r×m array of weights; every output has some weight."""

    array: Weights
    kind: ClassVar[str] = "rows"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        if (self.array < 0).any():
            raise InvalidParameter("weights must not be negative", parameter="weights", value=int(self.array.min()))
        _refuse_bad_sums(exact_sums(self.array, axis=1))
        unused = np.flatnonzero(~self.array.any(axis=0))
        if unused.size:
            raise InvalidParameter(
                "every output must have some weight",
                parameter="unused output",
                value=int(unused[0]),
                hint="Remove that column.",
            )
        self.array.setflags(write=False)

    @property
    def r(self) -> int:
        return int(self.array.shape[0])

    @property
    def m(self) -> int:
        return int(self.array.shape[1])

    def columns(self) -> Iterator[Column]:
        for y in range(self.m):
            column = self.array[:, y]
            order = np.argsort(column, kind="stable")
            ordered = column[order]
            edges = [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist(), self.r]
            members, values = order.tolist(), ordered.tolist()
            yield Column(y, tuple((values[a], _index_set(members, a, b)) for a, b in itertools.pairwise(edges)))

    def rows(self) -> Weights:
        return self.array

    def row(self, i: int) -> Weights:
        return np.asarray(self.array[i])

    def marginal(self, row_prior: Floats) -> Floats:
        return np.asarray(row_prior @ np.ldexp(self.array.astype(np.float64), -WEIGHT_BITS))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": [[str(w) for w in row] for row in self.array.tolist()]}


def _index_set(members: list[int], a: int, b: int) -> IndexSet:
    return IndexSet(((members[a], members[a] + 1),)) if b == a + 1 else IndexSet.of(members[a:b])


@dataclass(frozen=True, eq=False)
class TwoValuedColumns:
    """Output y weighs high[y] on sets[y] and low[y] on the other rows; every row sums to 2^62."""

    r: int
    sets: tuple[IndexSet, ...]
    low: Weights
    high: Weights
    kind: ClassVar[str] = "two_valued_columns"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
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
        _refuse_bad_sums(self._row_sums())
        self.low.setflags(write=False)
        self.high.setflags(write=False)

    @cached_property
    def _owner(self) -> npt.NDArray[np.intp]:
        return np.array([y for y, s in enumerate(self.sets) for _ in s.runs], dtype=np.intp)

    @cached_property
    def _edges(self) -> npt.NDArray[np.intp]:
        return np.array([run for s in self.sets for run in s.runs], dtype=np.intp).reshape(-1, 2)

    def _row_sums(self) -> list[int]:
        step, owner, edges = self.high - self.low, self._owner, self._edges
        sums = []
        for part in (step >> 31, step & 0x7FFFFFFF):
            change = np.zeros(self.r + 1, dtype=np.int64)
            np.add.at(change, edges[:, 0], part[owner])
            np.subtract.at(change, edges[:, 1], part[owner])
            sums.append(np.cumsum(change[:-1]).tolist())
        base = exact_sums(self.low[None, :], axis=1)[0]
        return [base + (h << 31) + w for h, w in zip(*sums, strict=True)]

    @property
    def m(self) -> int:
        return len(self.sets)

    def columns(self) -> Iterator[Column]:
        for y, (members, low, high) in enumerate(zip(self.sets, self.low.tolist(), self.high.tolist(), strict=True)):
            yield Column(y, ((low, members.complement(self.r)), (high, members)))

    def rows(self) -> Weights:
        refuse_large(self.r, self.m, "the weights")
        array = np.tile(self.low, (self.r, 1))
        for y, members in enumerate(self.sets):
            for a, b in members.runs:
                array[a:b, y] = self.high[y]
        return array

    def row(self, i: int) -> Weights:
        inside = np.array([any(a <= i < b for a, b in s.runs) for s in self.sets])
        return np.where(inside, self.high, self.low)

    def set_masses(self, row_weights: Floats) -> Floats:
        """The sum of the row weights over each set."""
        prefix = np.concatenate(([0.0], np.cumsum(row_weights)))
        sums = np.zeros(self.m)
        np.add.at(sums, self._owner, prefix[self._edges[:, 1]] - prefix[self._edges[:, 0]])
        return sums

    def marginal(self, row_prior: Floats) -> Floats:
        mass = self.set_masses(row_prior)
        return np.asarray(np.ldexp(self.low * row_prior.sum() + (self.high - self.low) * mass, -WEIGHT_BITS))

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


@dataclass(frozen=True, eq=False)
class RandomizedResponse:
    """high on the diagonal and low elsewhere, r = m: two numbers."""

    r: int
    low: int
    high: int
    kind: ClassVar[str] = "randomized_response"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        if self.r < 2:
            raise InvalidParameter("randomised response needs at least 2 rows", parameter="rows", value=self.r)
        if not 0 <= self.low < self.high:
            raise InvalidParameter("0 ≤ low < high is required", parameter="low", value=self.low)
        _refuse_bad_sums([self.high + (self.r - 1) * self.low])

    @property
    def m(self) -> int:
        return self.r

    def columns(self) -> Iterator[Column]:
        for y in range(self.r):
            one = IndexSet(((y, y + 1),))
            yield Column(y, ((self.low, one.complement(self.r)), (self.high, one)))

    def rows(self) -> Weights:
        refuse_large(self.r, self.r, "the weights")
        array = np.full((self.r, self.r), self.low, dtype=np.int64)
        np.fill_diagonal(array, self.high)
        return array

    def row(self, i: int) -> Weights:
        weights = np.full(self.r, self.low, dtype=np.int64)
        weights[i] = self.high
        return weights

    def marginal(self, row_prior: Floats) -> Floats:
        return np.asarray(np.ldexp(self.low * row_prior.sum() + (self.high - self.low) * row_prior, -WEIGHT_BITS))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, "low": str(self.low), "high": str(self.high)}


@dataclass(frozen=True, eq=False)
class SubsetSelection:
    """Every subset S of `size` of the r rows is a report: C(r, size) of them, too many to list.

    Row x lies in the report with probability inside/2^62, and given that, S is uniform among the subsets with (or
    without) x. So a subset that holds x has weight inside·(r−size), one that does not (2^62−inside)·size, over
    2^62·C(r−1, size−1)·(r−size).
    """

    r: int
    size: int
    inside: int
    kind: ClassVar[str] = "subset_selection"

    def __post_init__(self) -> None:
        if not 1 <= self.size < self.r:
            raise InvalidParameter(
                "size must be at least 1 and less than the number of rows", parameter="size", value=self.size
            )
        if not 0 < self.inside < DENOMINATOR or self.high <= self.low:
            raise InvalidParameter(
                "a report must hold the truth more often than by chance", parameter="inside", value=self.inside
            )

    @property
    def denominator(self) -> int:
        return DENOMINATOR * math.comb(self.r - 1, self.size - 1) * (self.r - self.size)

    @property
    def high(self) -> int:
        return self.inside * (self.r - self.size)

    @property
    def low(self) -> int:
        return (DENOMINATOR - self.inside) * self.size

    @property
    def m(self) -> int:
        return math.comb(self.r, self.size)

    def columns(self) -> Iterator[Column]:
        """One column that stands for all: subsets differ only by a permutation of the rows."""
        members = IndexSet(((0, self.size),))
        yield Column(0, ((self.low, members.complement(self.r)), (self.high, members)), orbit=True)

    def rows(self) -> Weights:
        raise self._too_many("the weights")

    def row(self, i: int) -> Weights:
        raise self._too_many(f"row {i}")

    def marginal(self, row_prior: Floats) -> Floats:
        raise self._too_many(f"the marginal for {row_prior.size} rows")

    def _too_many(self, what: str) -> TooLarge:
        return TooLarge(
            f"{what} cannot be listed: every subset of {self.size} of {self.r} is an output",
            parameter="m",
            value=f"{float(self.m):.3g}" if self.m < 10**300 else "above 1e300",
            hint="privatize(), the notions' holds() and estimate_frequencies() need no list.",
        )

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, "size": self.size, "inside": str(self.inside)}


def refuse_large(rows: int, columns: int, what: str) -> None:
    """Raise TooLarge when a dense rows×columns array is beyond the stated size."""
    if rows * columns > LARGEST_DENSE:
        raise TooLarge(
            f"{what} as a dense array may have at most 2^24 entries",
            parameter="rows × outputs",
            value=f"{rows} × {columns}",
            hint="Use marginal(), columns(), privatize() or the notions' holds(): they work on the stored structure.",
        )
