"""Pairs of inputs of structures whose reports are sets, in closed form.

Where permutations of the inputs leave a mechanism as it is, one pair of each orbit suffices, with one other input of
each orbit that fixes the pair; no report is listed:

* randomised response, subset selection, grouped sets: how many sets of a type hold x₀, x₁ and a third input;
* Hadamard response, projective geometry: the rank of the three vectors;
* local hashing: pairwise independence, and for three inputs the number of seeds that hash them to one bucket, counted
  exactly. With up to five inputs all triples are counted. With more, one triple gives lower bounds, and upper bounds
  rest on the blanket: three inputs may depend on each other in as many ways as there are triples.

Bits and joint questionnaires are in `theory.shuffle.bits`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import (
    BloomBits,
    ChosenSets,
    GroupedSets,
    HadamardSets,
    HashedSets,
    IndependentBits,
    JointBlocks,
    ProjectiveSets,
    RandomizedResponse,
    SubsetSelection,
)
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, points, scattered
from extremal.theory.shuffle.bits import bloom_pairs, joint_pairs, unary_pairs
from extremal.theory.shuffle.reports import Classes, Common, OtherInput, PairReports, patterns

FEW_HASHED = 5  # inputs of hashing up to which all triples are counted: ten of them, a tenth of a second each

# -- sets with two levels


def _response(structure: RandomizedResponse) -> Iterator[PairReports]:
    scale = fmpq(structure.r, DENOMINATOR)  # all weights of a level together, to be shared by the sets of one
    levels = [(structure.low * scale, structure.high * scale)]
    yield _set_pair("any two answers", _memberships([structure.r], [(1,)]), levels, (0, 0), [structure.r])


def _subsets(structure: SubsetSelection) -> Iterator[PairReports]:
    scale = fmpq(
        structure.r, structure.size * (structure.r - structure.size) * DENOMINATOR
    )  # C(r, s)/C(r−1, s−1) = r/s
    levels = [(structure.low * scale, structure.high * scale)]
    shares = _memberships([structure.r], [(structure.size,)])
    yield _set_pair("any two answers", shares, levels, (0, 0), [structure.r])


def _grouped(structure: GroupedSets) -> Iterator[PairReports]:
    sizes = structure.sizes.tolist()
    levels = [
        (fmpq(low, DENOMINATOR), fmpq(high, DENOMINATOR))
        for low, high in zip(structure.low, structure.high, strict=True)
    ]
    shares = _memberships(sizes, structure.types)
    for first, second in itertools.product(range(len(sizes)), repeat=2):
        if first != second or sizes[first] > 1:
            name = f"an answer of group {first + 1} and one of group {second + 1}"
            yield _set_pair(name, shares, levels, (first, second), sizes)


TwoLevels = Sequence[tuple[fmpq, fmpq]]
"""For each type of sets the probability of all of them together on a row in none, and on a row in all."""

Memberships = Callable[[int, tuple[int, ...], tuple[int, ...]], fmpq]
"""(type, groups of some rows, whether each is in the set) ↦ the share of the sets of the type."""


def _memberships(sizes: list[int], types: Sequence[tuple[int, ...]]) -> Memberships:
    """The share of the sets of a type (t_g of the n_g rows of each group) that hold some rows and miss others: Π_g
    (t_g)_h·(n_g − t_g)_m / (n_g)_{h+m}, falling factorials."""

    def found(kind: int, groups: tuple[int, ...], held: tuple[int, ...]) -> fmpq:
        share = fmpq(1)
        for g, n in enumerate(sizes):
            t = types[kind][g]
            inside = sum(h for where, h in zip(groups, held, strict=True) if where == g)
            outside = sum(1 - h for where, h in zip(groups, held, strict=True) if where == g)
            share *= fmpq(math.perm(t, inside) * math.perm(n - t, outside), math.perm(n, inside + outside))
        return share

    return found


def _set_pair(name: str, share: Memberships, levels: TwoLevels, pair: tuple[int, int], sizes: list[int]) -> PairReports:
    """A pair of rows in these groups; the blanket is the weight of a set that misses the input."""

    def classes(third: int | None, place: int | None) -> Callable[[], Classes]:
        groups = pair if third is None else (*pair, third)

        def made() -> Classes:
            rows = []
            for kind, (low, high) in enumerate(levels):
                for held in itertools.product((0, 1), repeat=len(groups)):
                    part = share(kind, groups, held)
                    ends = [high if h else low for h in held]
                    rows.append((part * ends[0], part * ends[1], part * (low if place is None else ends[place])))
            return tuple(rows)

        return made

    left = list(sizes)
    for g in pair:
        left[g] -= 1
    thirds = [g for g, n in enumerate(left) if n > 0]
    others = [OtherInput("x₀", classes(None, 0)), OtherInput("x₁", classes(None, 1))]
    others += [OtherInput(f"another of group {g + 1}" if len(sizes) > 1 else "another", classes(g, 2)) for g in thirds]
    return PairReports(name, classes(None, None), tuple(others), complete=True)


# -- sets that the inputs choose


def _chosen(structure: ChosenSets) -> Iterator[PairReports]:
    """Hadamard, projective and hashed sets: one pair of each kind, with third inputs of each kind that can be."""
    yield _chosen_pair(structure, 0, 1)
    if isinstance(structure, HadamardSets) and structure.blocks > 1 and structure.r > structure.blocks:
        yield _chosen_pair(structure, 0, structure.blocks)  # the same block


def _chosen_pair(structure: ChosenSets, x: int, z: int) -> PairReports:
    low, high = (fmpq(w, structure.denominator) for w in (structure.low, structure.high))
    shared = structure.overlap(x, z) * structure.size
    both = fmpq(shared.numerator, shared.denominator)
    pair = patterns(2, lambda some: (fmpq(structure.m), fmpq(structure.size), both)[len(some)])

    def classes(counts: dict[tuple[int, ...], fmpq], place: int | None) -> Callable[[], Classes]:
        def made() -> Classes:
            rows = [([high if h else low for h in held], n) for held, n in counts.items() if n]
            # A report that every input favours would have a larger minimum; the smaller blanket is valid.
            return tuple((n * w[0], n * w[1], n * (low if place is None else w[place])) for w, n in rows)

        return made

    others = [OtherInput("x₀", classes(pair, 0)), OtherInput("x₁", classes(pair, 1))]
    for name, common, real in _thirds(structure, x, z):
        others.append(OtherInput(name, classes(patterns(3, common), 2), real))
    complete = structure.r <= FEW_HASHED or not isinstance(structure, HashedSets)
    return PairReports(f"inputs {x} and {z}", classes(pair, None), tuple(others), complete)


def _thirds(structure: ChosenSets, x: int, z: int) -> Iterator[tuple[str, Common, bool]]:
    """Third inputs: a name, their common reports with the pair, and whether this pair has such a third input."""
    few = [i for i in range(min(structure.r, 1 << 12)) if i not in (x, z)]
    if structure.r == 2:
        return
    if isinstance(structure, HashedSets):
        yield from _hashed_thirds(structure, x, z)
        return
    if isinstance(structure, ProjectiveSets):
        q, t = structure.order, structure.coordinates
        on_line = set(_line(structure, x, z))
        for name, rank, real in (
            ("another, on a line with them", 2, any(i in on_line for i in few)),
            ("another", 3, any(i not in on_line for i in few)),
        ):
            if rank <= t:
                sizes = [points(q, t - j) for j in (0, 1, 2, rank)]
                yield name, _by_size(sizes), real
        return
    if isinstance(structure, HadamardSets):
        yield from _hadamard_thirds(structure, x, z, few)


def _hashed_thirds(structure: HashedSets, x: int, z: int) -> Iterator[tuple[str, Common, bool]]:
    """Every number of seeds that some triple has, where inputs are few; otherwise that of one triple. Any two inputs
    hash alike, so that a triple gives the same reports whichever of it is the pair."""
    few = itertools.combinations(range(structure.r), 3) if structure.r <= FEW_HASHED else [(x, z, 2)]
    shared = structure.overlap(x, z) * structure.size
    for seeds in sorted({hashed_together(structure, *triple) for triple in few}):
        sizes = [fmpq(structure.m), fmpq(structure.size), fmpq(shared.numerator, shared.denominator), fmpq(seeds)]
        yield "another", lambda some, sizes=sizes: sizes[len(some)], True  # type: ignore[misc]


def hashed_together(structure: HashedSets, x: int, y: int, z: int) -> int:
    """How many seeds hash three inputs to one bucket.

    With v the value of x modulo P, those of y and z are v + d and v + cd modulo P, where v and d go through all numbers
    and c = (u_z − u_x)/(u_y − u_x). Buckets agree where the differences, less P if the sum wraps, are multiples of the
    number of buckets; for given d the sums wrap from P − d and from P − cd on, which makes three ranges of v.
    """
    first, second, third = (int(u) for u in scattered(np.array([x, y, z], dtype=np.int64)))
    slope = (third - first) * pow(second - first, -1, HASH_PRIME) % HASH_PRIME
    one = np.arange(HASH_PRIME, dtype=np.int64)
    two = one * slope % HASH_PRIME
    buckets = structure.buckets
    neither = (one % buckets == 0) & (two % buckets == 0)
    both = ((HASH_PRIME - one) % buckets == 0) & ((HASH_PRIME - two) % buckets == 0)
    only_one = ((HASH_PRIME - one) % buckets == 0) & (two % buckets == 0) & (one > two)
    only_two = (one % buckets == 0) & ((HASH_PRIME - two) % buckets == 0) & (two > one)
    larger, smaller = np.maximum(one, two), np.minimum(one, two)
    lengths = neither * (HASH_PRIME - larger) + both * smaller + (only_one | only_two) * (larger - smaller)
    return int(lengths.sum())


def _hadamard_thirds(structure: HadamardSets, x: int, z: int, few: list[int]) -> Iterator[tuple[str, Common, bool]]:
    """In the block of either of the pair or of none; within one block the sum of their lines, or independent."""
    blocks, width = structure.blocks, structure.width
    lines = {i: (i % blocks, i // blocks + 1) for i in (x, z, *few)}
    (bx, lx), (bz, lz) = lines[x], lines[z]
    kinds: dict[tuple[bool, bool, bool], bool] = {}
    for i in few:
        b, line = lines[i]
        kinds[b == bx, b == bz, b == bx == bz and line == lx ^ lz] = True
    if bx == bz:
        possible = [(True, True, True), *([(True, True, False)] if width >= 8 else [])]
    else:
        possible = [(True, False, False), (False, True, False)]
    possible += [(False, False, False)] if blocks > len({bx, bz}) else []
    for first, second, dependent in possible:
        same = {(0, 1): bx == bz, (0, 2): first, (1, 2): second}

        def common(some: tuple[int, ...], same: dict[Any, bool] = same, dependent: bool = dependent) -> fmpq:
            rank = len(some) - (dependent and len(some) == 3)
            one_block = all(same[pair] for pair in itertools.combinations(sorted(some), 2))
            return fmpq((width >> rank) * int(one_block)) if some else fmpq(structure.m)

        yield "another", common, kinds.get((first, second, dependent), False)


def _by_size(sizes: list[int]) -> Common:
    return lambda some: fmpq(sizes[len(some)])


def _line(structure: ProjectiveSets, x: int, z: int) -> list[int]:
    """The points on the line through two points."""
    q, t = structure.order, structure.coordinates
    digits = [[int(v) // q**j % q for j in range(t)] for v in structure.vectors(np.array([x, z]))]
    found = []
    for a, b in [(0, 1), *((1, c) for c in range(q))]:
        vector = [(a * u + b * v) % q for u, v in zip(*digits, strict=True)]
        first = next(v for v in reversed(vector) if v)
        scaled = [v * pow(first, -1, q) % q for v in vector]
        found.append(int(structure.numbers(np.array([sum(v * q**j for j, v in enumerate(scaled))]))[0]))
    return found


SYMMETRIC: dict[Any, Callable[[Any], Iterator[PairReports]]] = {
    RandomizedResponse: _response,
    SubsetSelection: _subsets,
    GroupedSets: _grouped,
    ChosenSets: _chosen,
    IndependentBits: unary_pairs,
    BloomBits: bloom_pairs,
    JointBlocks: joint_pairs,
}
"""A structure → its pairs up to symmetry."""
