"""Subset selection: all subsets of a size, however many, from one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from extremal.errors import InvalidParameter
from extremal.exact import Column, IndexSet
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.labels import MOST_LABELS
from extremal.mechanism.structures.structure import refuse_many_rows, stored_weight
from extremal.mechanism.structures.unlisted import Unlisted

MOST_SUBSET_ROWS = 1 << 16  # their number is an integer of as many bits
MOST_MEMBERS = MOST_SUBSET_ROWS // MOST_LABELS.bit_length()  # of sets from larger alphabets: no more bits than that
_SHOWN_AS_FLOAT = 10**300  # counts of outputs below this still have a float


@dataclass(frozen=True, eq=False)
class SubsetSelection(Unlisted):
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
        few = type(self.size) is int and 0 < self.size <= MOST_MEMBERS
        refuse_many_rows(self.r, MOST_LABELS if few else MOST_SUBSET_ROWS)
        if type(self.size) is not int or not 1 <= self.size < self.r:
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

    def _no_list(self) -> tuple[str, str, str]:
        count = f"{float(self.m):.3g}" if self.m < _SHOWN_AS_FLOAT else "above 1e300"
        return f"every subset of {self.size} of {self.r} is an output", "m", count

    def in_words(self) -> list[tuple[str, float]]:
        inside = self.inside / DENOMINATOR
        return [(f"a subset of {self.size} that holds the truth", inside), ("any other", 1 - inside)]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, "size": self.size, "inside": str(self.inside)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> SubsetSelection:
        return cls(content["rows"], content["size"], stored_weight(content["inside"]))
