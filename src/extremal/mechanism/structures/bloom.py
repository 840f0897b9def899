"""A randomised Bloom filter: every input sets a few bits of a filter, which differ from cohort to cohort (RAPPOR).

A report is a cohort, uniform and drawn with it, and a word of `bits` bits. In cohort c input x sets `hashes` different
bits. *Permanent*: a bit is kept as 1 with probability own/2^62 if x sets it, other/2^62 if not. *Instantaneous*: a kept
bit is shown as 1 with probability one/2^62 if it is 1 and zero/2^62 if it is 0, anew for every report. One report
depends on x through own·one + (2^62 − own)·zero and the same for other, over 2^124; any number of reports together tell
no more than what is kept.

Two inputs differ in d bits that one sets and in d that the other sets; the largest ratio of their weights is (a(1−b))^d
/ (b(1−a))^d, with a and b the probabilities of a 1 where the bit is set and where not. d is at most `hashes`, and is
looked for exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Column, IndexSet
from extremal.exact.weights import DENOMINATOR, Indices
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, scattered
from extremal.mechanism.structures.structure import refuse_many_rows, stored_weight
from extremal.mechanism.structures.unlisted import LISTED_FOR_CHECKS, Unlisted, different_columns

MOST_BITS, MOST_HASHES, MOST_COHORTS = 1 << 12, 8, 1 << 10
COMPARED = 64  # inputs that are compared with all others, however many these are
FEW = 1 << 11  # inputs up to which all pairs are
_NUMBERS = ("bits", "hashes", "cohorts")


@dataclass(frozen=True, eq=False)
class BloomBits(Unlisted):
    """r inputs, a filter of `bits` bits, `hashes` of them set by each input, in `cohorts` ways."""

    r: int
    bits: int
    hashes: int
    cohorts: int
    own: int
    other: int
    one: int = DENOMINATOR
    zero: int = 0
    kind: ClassVar[str] = "bloom_filter"
    denominator: ClassVar[int] = DENOMINATOR**2  # of each bit of one report

    def __post_init__(self) -> None:
        refuse_many_rows(self.r, HASH_PRIME)
        whole = all(type(getattr(self, name)) is int for name in _NUMBERS)
        power = whole and 1 <= self.cohorts <= MOST_COHORTS and not self.cohorts & (self.cohorts - 1)
        if not power or not 1 <= self.hashes <= MOST_HASHES or not 2 * self.hashes <= self.bits <= MOST_BITS:
            raise InvalidParameter(
                f"a filter has up to {MOST_COHORTS} cohorts, a power of two, up to {MOST_HASHES} hashes, and bits from "
                f"twice as many to {MOST_BITS}",
                parameter="bits, hashes, cohorts",
                value=(self.bits, self.hashes, self.cohorts),
            )
        if not 0 < self.other < self.own < DENOMINATOR or not 0 <= self.zero < self.one <= DENOMINATOR:
            raise InvalidParameter(
                "a bit must be likelier 1 where it is set, and never certain", parameter="own", value=self.own
            )

    @property
    def cohort_bits(self) -> int:
        return self.cohorts.bit_length() - 1

    @property
    def m(self) -> int:
        return self.cohorts << self.bits

    @property
    def permanent(self) -> BloomBits:
        """What is kept, as if it were shown: the level of any number of reports together."""
        return replace(self, one=DENOMINATOR, zero=0)

    @property
    def shown(self) -> tuple[int, int]:
        """The weights, over 2^124, of a 1 in one report, where the bit is set and where not."""
        spread = self.one - self.zero
        base = self.zero * DENOMINATOR
        return base + self.own * spread, base + self.other * spread

    def places(self, rows: Indices, cohort: Indices) -> Indices:
        """The bits that rows[i] sets in cohort[i], increasing: n×hashes.

        The j-th is the one numbered ((a·u + b) mod P) mod (bits − j) among those not yet taken, with P = 2^21 − 9, u =
        (x + 1,234,567)³ mod P, and a and b what u is for the numbers 2(c·hashes + j) + 1 and + 2 instead of x.
        """
        u = scattered(np.asarray(rows, dtype=np.int64))
        taken = np.empty((u.size, 0), dtype=np.int64)
        for j in range(self.hashes):
            seed = 2 * (np.asarray(cohort, dtype=np.int64) * self.hashes + j)
            place = (scattered(seed + 1) * u + scattered(seed + 2)) % HASH_PRIME % (self.bits - j)
            for i in range(j):  # past those taken, the smallest first
                place += place >= taken[:, i]
            taken = np.sort(np.column_stack([taken, place]), axis=1)
        return taken

    def split(self, words: np.ndarray[Any, Any]) -> tuple[Indices, np.ndarray[Any, Any]]:
        """The cohort of each report, and its filter, from all bits of it: rows of 0 and 1."""
        powers = 1 << np.arange(self.cohort_bits - 1, -1, -1)
        return (words[:, : self.cohort_bits] @ powers).astype(np.intp), words[:, self.cohort_bits :]

    def filters(self, cohort: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which bits each input sets in a cohort, r×bits."""
        made = np.zeros((self.r, self.bits), dtype=np.bool_)
        places = self.places(np.arange(self.r), np.full(self.r, cohort))
        made[np.arange(self.r)[:, None], places] = True
        return made

    @cached_property
    def difference(self) -> int:
        """The most bits that an input sets and another does not, over pairs and cohorts; `hashes`, which is an upper
        bound, where inputs are too many for all pairs and those that were looked at share some."""
        found, every = 0, np.arange(self.r)
        few = every if self.r <= FEW else every[:COMPARED]
        for cohort in range(self.cohorts):
            places = self.places(every, np.full(self.r, cohort))
            for x in few.tolist():
                common = (places[:, :, None] == places[x][None, None, :]).any(axis=2).sum(axis=1)
                found = max(found, self.hashes - int(common.min()))
                if found == self.hashes:
                    return found
        return found if self.r <= FEW else self.hashes

    def columns(self) -> Iterator[Column]:
        """Two orbits that bound every column; the ratio of their weights is the largest that there is."""
        (a, b), d, unit = self.shown, self.difference, self.denominator
        if not d:  # no two inputs differ: one weight for all
            yield Column(0, ((unit, IndexSet(((0, self.r),))),))
            return
        high, low = (a * (unit - b)) ** d, (b * (unit - a)) ** d
        for j in sorted({1, self.r - 1}):
            members = IndexSet(((0, j),))
            yield Column(0, ((low, members.complement(self.r)), (high, members)), orbit=True, bound=True)

    def patterns(self) -> Iterator[Column]:
        """A word of a cohort weighs (a(1−b))^n·(b(1−a))^(hashes−n) on an input n of whose bits are 1 in it, up to a
        factor that is the same for all inputs."""
        if self.r * self.m > LISTED_FOR_CHECKS:
            return self.columns()
        words = np.arange(1 << self.bits)[None, :] >> np.arange(self.bits)[:, None] & 1
        ones = np.hstack([self.filters(cohort).astype(np.intp) @ words for cohort in range(self.cohorts)])
        (a, b), unit, most = self.shown, self.denominator, self.hashes
        high, low = a * (unit - b), b * (unit - a)
        return different_columns(ones, [high**n * low ** (most - n) for n in range(most + 1)])

    def _no_list(self) -> tuple[str, str, str]:
        why = f"every word of {self.bits} bits is an output in every cohort"
        return why, "m", f"2^{self.bits + self.cohort_bits}"

    def in_words(self) -> list[tuple[str, float]]:
        a, b = (weight / self.denominator for weight in self.shown)
        return [
            (f"1 in each of the {self.hashes} bits that the truth sets (in any other: {b:.6g})", a),
            ("0 there", 1 - a),
        ]

    def to_json(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        weights = {name: str(getattr(self, name)) for name in ("own", "other", "one", "zero")}
        return {"kind": self.kind, "rows": self.r, **numbers, **weights}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> BloomBits:
        weights = [stored_weight(content[name]) for name in ("own", "other", "one", "zero")]
        return cls(content["rows"], content["bits"], content["hashes"], content["cohorts"], *weights)
