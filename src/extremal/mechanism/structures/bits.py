"""Independent bits: a report is one bit for each row, all drawn independently (unary encoding).

The bit of the true row is 1 with probability own/2^62, every other bit with probability other/2^62. There are 2^r
reports, and two numbers say everything: a report with j ones weighs own·(2^62−other) on the rows of its ones and
other·(2^62−own) on those of its zeros, up to a factor that depends on j alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from extremal.errors import InvalidParameter
from extremal.exact import Column, Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures.structure import refuse_many_rows, stored_weight
from extremal.mechanism.structures.unlisted import Unlisted


@dataclass(frozen=True, eq=False)
class IndependentBits(Unlisted):
    """r bits, that of the truth with weight `own` and the others with weight `other`, of 2^62 each."""

    r: int
    own: int
    other: int
    kind: ClassVar[str] = "independent_bits"
    denominator: ClassVar[int] = DENOMINATOR  # of each bit; a whole report has this to the power r

    def __post_init__(self) -> None:
        refuse_many_rows(self.r)
        if not 0 < self.other < self.own < DENOMINATOR:
            raise InvalidParameter(
                "a bit must be likelier for the truth, and never certain", parameter="own", value=self.own
            )

    @property
    def m(self) -> int:
        return 1 << self.r

    def columns(self) -> Iterator[Column]:
        """The reports with one 1, and those with one 0: all others have the same two weights on a larger set than the
        first and a smaller one than the second, so that every ratio to a mean of weights lies between theirs."""
        high, low = self.own * (DENOMINATOR - self.other), self.other * (DENOMINATOR - self.own)
        for j in sorted({1, self.r - 1}):
            ones = IndexSet(((0, j),))
            yield Column(1 << (self.r - j), ((low, ones.complement(self.r)), (high, ones)), orbit=True, bound=True)

    def _no_list(self) -> tuple[str, str, str]:
        return f"every word of {self.r} bits is an output", "m", f"2^{self.r}"

    def in_words(self) -> list[tuple[str, float]]:
        own, other = self.own / DENOMINATOR, self.other / DENOMINATOR
        return [(f"1 in the bit of the truth (in any other: {other:.6g})", own), ("0 there", 1 - own)]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "rows": self.r, "own": str(self.own), "other": str(self.other)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> IndependentBits:
        return cls(content["rows"], stored_weight(content["own"]), stored_weight(content["other"]))


def optimised_bits(r: int, exponential: Exponential) -> IndependentBits:
    """own = ½ and the smallest `other` with 2^62−other ≤ e^ε·other (Wang et al. 2017)."""
    return IndependentBits(r, DENOMINATOR // 2, exponential.least_low(DENOMINATOR))


def symmetric_bits(r: int, exponential: Exponential) -> IndependentBits:
    """own + other = 1 and the smallest `other` with (2^62−other)² ≤ e^ε·other² (Erlingsson et al. 2014)."""
    other = exponential.least_low(DENOMINATOR, power=2)
    return IndependentBits(r, DENOMINATOR - other, other)
