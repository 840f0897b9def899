"""Sets that the inputs choose: input x favours a set S_x of reports, all sets of one size, given by a rule.

The report lies in S_x with probability inside/2^62, and is uniform on S_x or on its complement given that. With m
reports and c of them in S_x, one in S_x weighs inside·(m−c) and any other (2^62−inside)·c, over 2^62·c·(m−c). The rule
says which reports x favours, so that neither the sets nor the reports are ever listed: Hadamard's rows (Acharya,
Sun and Zhang 2019), hyperplanes of a projective space (Feldman, Nelson, Nguyen and Talwar 2022), the graph of a hash
function (Wang et al. 2017).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Column, Exponential, IndexSet, as_count
from extremal.exact.weights import DENOMINATOR, Floats, Indices
from extremal.mechanism.structures.structure import refuse_many_rows, stored_weight
from extremal.mechanism.structures.unlisted import LISTED_FOR_CHECKS, Unlisted, different_columns

MOST_REPORTS = 1 << 24  # of Hadamard response: four for each of the most inputs
_BITS = 192  # of e^ε where a search starts

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class ChosenSets(Unlisted):
    """r inputs, each with its set of reports; `inside` is the weight, over 2^62, of reporting from it."""

    r: int
    inside: int
    kind: ClassVar[str]
    favoured: ClassVar[str]
    """What a report from the set of the truth is, in words."""

    def __post_init__(self) -> None:
        refuse_many_rows(self.r)
        self._refuse_bad_rule()
        if not 0 < self.inside < DENOMINATOR or self.high <= self.low:
            raise InvalidParameter(
                "a report must favour the truth more often than by chance", parameter="inside", value=self.inside
            )

    @abstractmethod
    def _refuse_bad_rule(self) -> None:
        """Raise when the rule does not give every input a set."""

    @property
    @abstractmethod
    def m(self) -> int:
        """Number of reports."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of reports that each input favours."""

    @abstractmethod
    def favours(self, rows: Indices, outputs: Indices) -> Flags:
        """Whether rows[i] favours outputs[i]; the two are broadcast."""

    @abstractmethod
    def overlap(self, x: int, z: int) -> Fraction:
        """The share of S_x that lies in S_z, for x ≠ z."""

    @property
    def high(self) -> int:
        return self.inside * (self.m - self.size)

    @property
    def low(self) -> int:
        return (DENOMINATOR - self.inside) * self.size

    @property
    def denominator(self) -> int:
        return DENOMINATOR * self.size * (self.m - self.size)

    def columns(self) -> Iterator[Column]:
        """Two orbits that bound every column: one row alone is favoured, and all but one.

        All columns have these two weights. The largest ratio of two weights is theirs exactly; a ratio to a mean of
        weights is at most theirs, so that a level of PML or LIP read from them is an upper bound. `patterns` lists the
        columns themselves while they are few.
        """
        for j in sorted({1, self.r - 1}):
            members = IndexSet(((0, j),))
            yield Column(0, ((self.low, members.complement(self.r)), (self.high, members)), orbit=True, bound=True)

    def patterns(self) -> Iterator[Column]:
        if self.r * self.m > LISTED_FOR_CHECKS:
            return self.columns()
        inside = self.favours(np.arange(self.r)[:, None], np.arange(self.m)[None, :])
        return different_columns(inside.astype(np.intp), (self.low, self.high))

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        return [self.high if inside else self.low for inside in self.favours(rows, outputs).tolist()]

    def _no_list(self) -> tuple[str, str, str]:
        return "there are too many reports", "rows × outputs", f"{self.r} × {self.m}"

    def in_words(self) -> list[tuple[str, float]]:
        inside = self.inside / DENOMINATOR
        return [(self.favoured, inside), ("any other", 1 - inside)]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, **self._rule(), "inside": str(self.inside)}

    @abstractmethod
    def _rule(self) -> dict[str, int]:
        """The numbers of the rule, by the names of the fields."""

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        names = [field.name for field in fields(cls) if field.name not in ("r", "inside")]
        numbers = {name: as_count(content[name], name, 1) for name in names}
        return cls(r=content["rows"], inside=stored_weight(content["inside"]), **numbers)


@dataclass(frozen=True, eq=False)
class HadamardSets(ChosenSets):
    """`blocks` blocks of `width` reports, both powers of two. Input x belongs to block x mod blocks and favours the
    reports y of it with an even number of common bits in y and its line ⌊x/blocks⌋ + 1: half of the block."""

    blocks: int
    width: int
    kind: ClassVar[str] = "hadamard"
    favoured: ClassVar[str] = "a report on which the truth's row of Hadamard's matrix is +1"

    def _refuse_bad_rule(self) -> None:
        powers = all(n >= 1 and n & (n - 1) == 0 for n in (self.blocks, self.width))
        fits = self.r <= self.blocks * (self.width - 1) and self.m <= MOST_REPORTS
        if not powers or self.width < 2 or not fits:
            raise InvalidParameter(
                "blocks and width must be powers of two with a line for each input, and a product of at most 2^24",
                parameter="blocks × width",
                value=f"{self.blocks} × {self.width}",
            )

    @property
    def m(self) -> int:
        return self.blocks * self.width

    @property
    def size(self) -> int:
        return self.width // 2

    def favours(self, rows: Indices, outputs: Indices) -> Flags:
        common = (rows // self.blocks + 1) & (outputs % self.width)
        return np.asarray((rows % self.blocks == outputs // self.width) & (np.bitwise_count(common) % 2 == 0))

    def overlap(self, x: int, z: int) -> Fraction:
        return Fraction(int((x - z) % self.blocks == 0), 2)

    def _rule(self) -> dict[str, int]:
        return {"blocks": self.blocks, "width": self.width}


@dataclass(frozen=True, eq=False)
class ProjectiveSets(ChosenSets):
    """Points of the projective space over the integers modulo the prime `order`, with `coordinates` coordinates: inputs
    and reports are points, and x favours the points y with x·y = 0.

    A point is the number whose digits in base `order` are its coordinates, the first digit being 1; points are numbered
    by that number.
    """

    order: int
    coordinates: int
    kind: ClassVar[str] = "projective"
    favoured: ClassVar[str] = "a point of the truth's hyperplane"

    def _refuse_bad_rule(self) -> None:
        small = self.order < 1 << 16 and 2 <= self.coordinates <= 32  # before any work that grows with them
        if not small or self.order**self.coordinates > 1 << 32 or not is_prime(self.order):
            raise InvalidParameter(
                "the order must be prime, with at least 2 coordinates and at most 2^32 vectors",
                parameter="order^coordinates",
                value=f"{self.order}^{self.coordinates}",
            )
        if self.r > self.m:
            raise InvalidParameter("there must be a point for each input", parameter="rows", value=self.r)

    @property
    def m(self) -> int:
        return points(self.order, self.coordinates)

    @property
    def size(self) -> int:
        return points(self.order, self.coordinates - 1)

    @cached_property
    def _starts(self) -> Indices:
        """For each number of free digits, the first point with it."""
        return np.array([points(self.order, j) for j in range(self.coordinates)], dtype=np.intp)

    def vectors(self, numbers: Indices) -> Indices:
        """The coordinates of points as numbers in base `order`."""
        free = np.searchsorted(self._starts, numbers, side="right") - 1
        return np.asarray(numbers - self._starts[free] + np.power(self.order, free, dtype=np.intp))

    def numbers(self, vectors: Indices) -> Indices:
        """The points of vectors whose first digit is 1."""
        powers = np.power(self.order, np.arange(self.coordinates), dtype=np.intp)
        free = np.searchsorted(powers, vectors, side="right") - 1
        return np.asarray(vectors - powers[free] + self._starts[free])

    def favours(self, rows: Indices, outputs: Indices) -> Flags:
        left, right = self.vectors(rows), self.vectors(outputs)
        product = np.zeros(np.broadcast_shapes(left.shape, right.shape), dtype=np.intp)
        for _ in range(self.coordinates):
            product += (left % self.order) * (right % self.order)
            left, right = left // self.order, right // self.order
        return np.asarray(product % self.order == 0)

    def overlap(self, x: int, z: int) -> Fraction:
        return Fraction(points(self.order, self.coordinates - 2), self.size)

    def _rule(self) -> dict[str, int]:
        return {"order": self.order, "coordinates": self.coordinates}


HASH_PRIME = (1 << 21) - 9  # the largest prime below 2^21: seeds are pairs modulo it


@dataclass(frozen=True, eq=False)
class HashedSets(ChosenSets):
    """A seed (a, b) modulo the prime P = 2^21 − 9 hashes x to the bucket ((a·u + b) mod P) mod `buckets`, u = (x +
    1,234,567)³ mod P; the report is the seed and a bucket, as the number (a·P + b)·buckets + bucket, and x favours its
    own bucket under every seed.

    Over the seeds two inputs hash independently (Carter and Wegman 1979), exactly, whatever they are. Cubes are all
    different modulo P, and scatter the inputs: three in a row (x, x+1, x+2) would depend on each other without them.
    """

    buckets: int
    kind: ClassVar[str] = "hashed"
    favoured: ClassVar[str] = "a seed, and the bucket of the truth under it"

    def _refuse_bad_rule(self) -> None:
        if not 2 <= self.buckets <= 1 << 20 or self.r > HASH_PRIME:
            raise InvalidParameter(
                f"hashing has 2 to 2^20 buckets and at most {HASH_PRIME} inputs",
                parameter="buckets, inputs",
                value=(self.buckets, self.r),
            )

    @property
    def m(self) -> int:
        return HASH_PRIME**2 * self.buckets

    @property
    def size(self) -> int:
        return HASH_PRIME**2

    @cached_property
    def shares(self) -> Floats:
        """How often each bucket is hashed to: equally, up to 1/P."""
        return np.asarray((HASH_PRIME - 1 - np.arange(self.buckets)) // self.buckets + 1) / HASH_PRIME

    def favours(self, rows: Indices, outputs: Indices) -> Flags:
        seeds, bucket = np.divmod(outputs, self.buckets)
        a, b = np.divmod(seeds, HASH_PRIME)
        return np.asarray((a * scattered(rows) + b) % HASH_PRIME % self.buckets == bucket)

    def overlap(self, x: int, z: int) -> Fraction:
        full, more = divmod(HASH_PRIME, self.buckets)
        return Fraction(more * (full + 1) ** 2 + (self.buckets - more) * full**2, HASH_PRIME**2)

    def _rule(self) -> dict[str, int]:
        return {"buckets": self.buckets}


def scattered(rows: Indices) -> Indices:
    """Where hashing sees the inputs: (x + 1,234,567)³ modulo P, which takes no two to the same place.

    >>> np.unique(scattered(np.arange(HASH_PRIME))).size == HASH_PRIME
    True
    """
    moved = (rows + 1_234_567) % HASH_PRIME
    return np.asarray(moved * moved % HASH_PRIME * moved % HASH_PRIME)


def largest_inside(m: int, size: int, exponential: Exponential) -> int:
    """The largest weight of the set with inside·(m−size) ≤ e^ε·(2^62−inside)·size."""
    lower, _ = exponential.bounds(_BITS)
    inside = min(DENOMINATOR - 1, DENOMINATOR * lower * size // (lower * size + ((m - size) << _BITS)) + 1)
    while not exponential.at_least(inside * (m - size), (DENOMINATOR - inside) * size):
        inside -= 1
    return inside


def hashed_inside(buckets: int, exponential: Exponential) -> int:
    """The same for hashing to so many buckets."""
    return largest_inside(HASH_PRIME**2 * buckets, HASH_PRIME**2, exponential)


def points(order: int, coordinates: int) -> int:
    """How many points the projective space with that many coordinates has: (q^t − 1)/(q − 1).

    >>> points(3, 4), points(2, 3), points(5, 0)
    (40, 7, 0)
    """
    return int((order**coordinates - 1) // (order - 1))


def is_prime(n: int) -> bool:
    """Whether n is prime, by division.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return n >= 2 and all(n % d for d in range(2, int(n**0.5) + 1))
