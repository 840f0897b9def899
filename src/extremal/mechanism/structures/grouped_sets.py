"""Rows in groups, and reports that are sets with certain counts in each: a mixture of a few types of sets.

Group g has n_g rows. A *type* t says how many members a set has of each group; all N_t = Π_g C(n_g, t_g) sets of that
type are reports. A set of type t weighs high_t on its members and low_t on all other rows, over 2^62·N_t, so that a row
of group g sums to 2^62 exactly when Σ_t t_g·high_t + (n_g − t_g)·low_t = n_g·2^62. Two numbers for each type say
everything; the ratio of any column is high_t/low_t. Where inputs are equally likely within groups, the best mechanism
for their shares is of this form (`extremal.optimize.workload.structured.shares`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Column, Exponential, IndexSet, solve_exactly
from extremal.exact.weights import DENOMINATOR, Indices, frozen
from extremal.mechanism.labels import count_text
from extremal.mechanism.report_labels import SetLabels
from extremal.mechanism.structures.structure import refuse_many_rows, stored_list, stored_weight
from extremal.mechanism.structures.unlisted import Unlisted

MOST_ROWS, MOST_GROUPS = 1 << 16, 8
MOST_BITS = 1 << 18  # rows × types: the denominator has no more bits than that, and 62
_BITS = 192  # of e^ε where a search starts

Type = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GroupedSets(Unlisted):
    """The group of each row, the types, and the two weights of each type."""

    of: Indices
    types: tuple[Type, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    kind: ClassVar[str] = "grouped_sets"

    def __post_init__(self) -> None:
        refuse_many_rows(self.of.size, MOST_ROWS)
        sizes = self.sizes
        if sizes.size > MOST_GROUPS or not sizes.all() or not 1 <= len(self.types) * self.r <= MOST_BITS:
            raise InvalidParameter(
                f"there are up to {MOST_GROUPS} groups, none empty, and types × rows may be {MOST_BITS:,}",
                parameter="groups, types, rows",
                value=(sizes.size, len(self.types), self.r),
            )
        _refuse_bad_types(self.types, sizes.tolist())
        if not len(self.types) == len(self.low) == len(self.high) or not all(
            0 < low < high for low, high in zip(self.low, self.high, strict=True)
        ):
            raise InvalidParameter("0 < low < high is required of every type", parameter="low", value=self.low[:6])
        for g, n in enumerate(sizes.tolist()):
            total = sum(self.inside(g)) + sum(self.outside(g))
            if total != n * DENOMINATOR:
                raise InvalidParameter(
                    "each row of weights must sum to the denominator exactly",
                    parameter=f"sum of the weights of a row of group {g}, times {n}",
                    value=total,
                    hint=f"It is off by {total - n * DENOMINATOR} units of 2^-62.",
                )
        object.__setattr__(self, "of", frozen(self.of))

    def __reduce__(self) -> Any:
        return GroupedSets, (self.of, self.types, self.low, self.high)

    @property
    def r(self) -> int:
        return int(self.of.size)

    @cached_property
    def sizes(self) -> Indices:
        """How many rows each group has."""
        return np.bincount(self.of)

    @cached_property
    def members(self) -> tuple[Indices, ...]:
        """The rows of each group."""
        return tuple(np.flatnonzero(self.of == g) for g in range(self.sizes.size))

    def inside(self, group: int) -> list[int]:
        """For a row of the group, the weight over n_g·2^62 of reporting some set of each type that holds it."""
        return [t[group] * high for t, high in zip(self.types, self.high, strict=True)]

    def outside(self, group: int) -> list[int]:
        """The same for sets without the row."""
        n = int(self.sizes[group])
        return [(n - t[group]) * low for t, low in zip(self.types, self.low, strict=True)]

    @property
    def reports(self) -> SetLabels:
        """The names of the reports."""
        return SetLabels(self.of, self.types)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """N_t, how many sets there are of each type."""
        return tuple(math.prod(map(math.comb, self.sizes.tolist(), t)) for t in self.types)

    @property
    def m(self) -> int:
        return sum(self.numbers)

    @cached_property
    def denominator(self) -> int:
        return DENOMINATOR * math.prod(self.numbers)

    def columns(self) -> Iterator[Column]:
        """One column for each type: sets of a type differ only by permutations within the groups."""
        within, first = tuple(IndexSet.of(rows) for rows in self.members), 0
        for t, low, high, number in zip(self.types, self.low, self.high, self.numbers, strict=True):
            scale = self.denominator // (DENOMINATOR * number)
            held = IndexSet.of(np.concatenate([rows[:n] for rows, n in zip(self.members, t, strict=True)]))
            groups = ((low * scale, held.complement(self.r)), (high * scale, held))
            yield Column(first, groups, orbit=True, within=within)
            first += number

    def _no_list(self) -> tuple[str, str, str]:
        return "every set with certain counts in each group is an output", "m", count_text(self.m)

    def in_words(self) -> list[tuple[str, float]]:
        words = []
        for g, rows in enumerate(self.members):
            share = float(Fraction(sum(self.inside(g)), rows.size * DENOMINATOR))
            whose = f"the truth (one of {rows.size}, as input {rows[0]})"
            words += [(f"a set that holds {whose}", share), (f"a set without {whose}", 1 - share)]
        return words

    def to_json(self) -> dict[str, Any]:
        starts = np.flatnonzero(np.diff(self.of, prepend=-1))
        lengths = np.diff(starts, append=self.r)
        return {
            "kind": self.kind,
            "groups": [list(run) for run in zip(self.of[starts].tolist(), lengths.tolist(), strict=True)],
            "types": [list(t) for t in self.types],
            "low": [str(w) for w in self.low],
            "high": [str(w) for w in self.high],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> GroupedSets:
        runs = stored_list(content["groups"], "groups")
        if not all(map(_is_run, runs)) or sum(length for _, length in runs) > MOST_ROWS:
            raise MalformedFile(
                f"groups must be pairs of a group and a count, {MOST_ROWS:,} in all", parameter="groups", value=runs[:6]
            )
        of = np.repeat(np.array([g for g, _ in runs], dtype=np.intp), [length for _, length in runs])
        most = DENOMINATOR * MOST_ROWS
        low, high = (
            tuple(stored_weight(text, most) for text in stored_list(content[name], name)) for name in ("low", "high")
        )
        types = tuple(tuple(stored_list(t, "a type")) for t in stored_list(content["types"], "types"))
        return cls(of, types, low, high)


def _is_run(run: Any) -> bool:
    """Whether it is a pair of small numbers, as a file holds them."""
    return isinstance(run, list) and len(run) == 2 and all(type(n) is int and 0 <= n <= MOST_ROWS for n in run)


def _refuse_bad_types(types: Sequence[Type], sizes: list[int]) -> None:
    """Raise unless the types are different counts that together tell all rows apart."""
    if len(set(types)) < len(types) or not all(_counts_some(t, sizes) for t in types):
        raise InvalidParameter(
            "types must be different, each with counts of some members of the groups, not all",
            parameter="types",
            value=types[:6],
        )
    split = all(n == 1 or any(0 < t[g] < n for t in types) for g, n in enumerate(sizes))
    if not split or len(independent(types)) < len(sizes):
        raise InvalidParameter(
            "types must split every group, and be as many, linearly independent, as there are groups",
            parameter="types",
            value=types[:6],
            hint="Otherwise some rows would report alike.",
        )


def _counts_some(t: Type, sizes: list[int]) -> bool:
    counts = len(t) == len(sizes) and all(type(c) is int and 0 <= c <= n for c, n in zip(t, sizes, strict=True))
    return counts and 0 < sum(t) < sum(sizes)


def independent(vectors: Sequence[Sequence[int]]) -> list[int]:
    """The positions of the first vectors that are linearly independent and span all of them.

    >>> independent([(1, 2), (2, 4), (0, 1)])
    [0, 2]
    """
    chosen: list[int] = []
    reduced: list[tuple[int, list[Fraction]]] = []  # with the place of a 1 where all later ones have a 0
    for i, vector in enumerate(vectors):
        left = [Fraction(v) for v in vector]
        for place, known in reduced:
            left = [a - left[place] * b for a, b in zip(left, known, strict=True)]
        place = next((j for j, v in enumerate(left) if v), -1)
        if place >= 0:
            chosen.append(i)
            reduced.append((place, [v / left[place] for v in left]))
    return chosen


def grouped_structure(
    of: Indices, types: Sequence[Type], steps: Sequence[float], exponential: Exponential
) -> GroupedSets:
    """The types with high − low in these proportions, and every ratio within one unit of e^ε from below.

    Rows sum to one when Σ_t t_g·step_t = n_g·C for one number C: then 2^62 = C + Σ low_t. Proportions that satisfy it
    up to rounding are moved to whole numbers that satisfy it exactly: all steps and C to multiples of a determinant,
    but for as many types as there are groups, the heaviest possible, whose steps follow. Each low_t is the smallest
    that e^ε allows, and the few units that are left go to both weights of the heaviest type.

    Args:
        of: the group of each row.
        types: counts of members, one for each group.
        steps: proportional to high − low.
        exponential: e^ε, ε > 0.
    """
    order = sorted(range(len(types)), key=lambda i: -steps[i])
    types, wanted = [types[i] for i in order], [Fraction(steps[i]) for i in order]
    sizes = np.bincount(of).tolist()
    _refuse_bad_types(types, sizes)
    balance = _Balance.of(types, sizes)
    lower = exponential.bounds(_BITS)[0]
    growth, multiple = Fraction(lower, 1 << _BITS) - 1, balance.multiple
    common = sum((s * sum(t) for s, t in zip(wanted, types, strict=True)), Fraction(0)) / sum(sizes)
    wanted = balance.steps(wanted, common)
    room, total = DENOMINATOR, common + sum(wanted) / growth
    while True:
        scale = room / total / multiple
        shared = multiple * round(common * scale)
        rounded = [Fraction(multiple * round(v * scale)) for v in wanted]
        step = list(map(int, balance.steps(rounded, Fraction(shared))))
        if min(step) <= 0:
            raise InvalidParameter(
                "the types must make rows that sum to one with positive weights",
                parameter="steps",
                value=list(map(float, wanted[:6])),
                hint="The sums of t_g·step over types must be in proportion to the sizes of the groups.",
            )
        low = [_smallest_low(v, lower, exponential) for v in step]
        spare = DENOMINATOR - shared - sum(low)
        if spare >= 0:
            break
        room += 2 * spare
    low[0] += spare
    return GroupedSets(of, tuple(types), tuple(low), tuple(a + b for a, b in zip(low, step, strict=True)))


@dataclass(frozen=True)
class _Balance:
    """Steps with Σ_t t_g·step_t = n_g·C for every group g: those of `own` follow from the others and C.

    Attributes:
        types, sizes: of the structure.
        own: as many types as there are groups, linearly independent.
        inverse: the columns of the inverse of their matrix.
        multiple: other steps and C that are multiples of it make whole steps.
    """

    types: Sequence[Type]
    sizes: list[int]
    own: list[int]
    inverse: list[list[Fraction]]
    multiple: int

    @classmethod
    def of(cls, types: Sequence[Type], sizes: list[int]) -> _Balance:
        own, groups = independent(types), range(len(sizes))
        matrix = [[Fraction(types[i][g]) for i in own] for g in groups]
        inverse = [solve_exactly(matrix, [Fraction(int(g == h)) for h in groups]) or [] for g in groups]
        return cls(types, sizes, own, inverse, math.lcm(*(v.denominator for column in inverse for v in column)))

    def steps(self, given: list[Fraction], common: Fraction) -> list[Fraction]:
        others = [(self.types[i], v) for i, v in enumerate(given) if i not in self.own]
        right = [n * common - sum(t[g] * v for t, v in others) for g, n in enumerate(self.sizes)]
        moved = list(given)
        for place, i in enumerate(self.own):
            moved[i] = sum((column[place] * v for column, v in zip(self.inverse, right, strict=True)), Fraction(0))
        return moved


def _smallest_low(step: int, lower: int, exponential: Exponential) -> int:
    """The smallest l with l + step ≤ e^ε·l."""
    low = max(1, (step << _BITS) // (lower + 1 - (1 << _BITS)))
    while not exponential.at_least(low + step, low):
        low += 1
    return low
