"""Pairs of inputs of the structures with symmetry, in closed form.

Where permutations of the inputs leave a mechanism as it is, one pair of each orbit suffices, with one other input of
each orbit that fixes the pair; no report is listed:

* randomised response, subset selection, grouped sets: how many sets of a type hold x₀, x₁ and a third input;
* unary encoding: the bits of x₀, x₁ and a third input;
* Hadamard response, projective geometry: the rank of the three vectors;
* local hashing: pairwise independence. Three inputs have no closed form, so the others hold x₀ or x₁ in lower bounds,
  and upper bounds rest on the blanket;
* Bloom filters: the bits that x₀ and x₁ set. A pair that shares no bit dominates every pair that does: with α, β, γ the
  likelihoods of the bits of x₀ alone, of x₁ alone and of both, (α − cβ)γ is below αγ' − cβγ'' in convex order for
  independent copies γ', γ'' of mean 1, and sums keep that order;
* joint questionnaires, records in and one report out: which blocks favour the records. Records that differ in every
  answer dominate all others, because φ(αu − βv) is submodular for convex φ, so that fewer common reports spread more.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from extremal.errors import InvalidParameter
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
from extremal.mechanism.structures.chosen_sets import points
from extremal.mechanism.structures.joint import COIN, AllSets
from extremal.theory.shuffle.reports import Classes, OtherInput, PairReports

BLOOM_COMPARED = 1 << 10  # inputs among which a pair with few common bits is looked for
MOST_WORD = 64  # bits of unary encoding up to which the report of ones only counts with its own, larger minimum

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
    pair = _patterns(2, lambda some: (fmpq(structure.m), fmpq(structure.size), both)[len(some)])

    def classes(counts: dict[tuple[int, ...], fmpq], place: int | None) -> Callable[[], Classes]:
        def made() -> Classes:
            rows = [([high if h else low for h in held], n) for held, n in counts.items() if n]
            # A report that every input favours would have a larger minimum; the smaller blanket is valid.
            return tuple((n * w[0], n * w[1], n * (low if place is None else w[place])) for w, n in rows)

        return made

    others = [OtherInput("x₀", classes(pair, 0)), OtherInput("x₁", classes(pair, 1))]
    for name, common, real in _thirds(structure, x, z):
        others.append(OtherInput(name, classes(_patterns(3, common), 2), real))
    complete = structure.r == 2 or not isinstance(structure, HashedSets)
    return PairReports(f"inputs {x} and {z}", classes(pair, None), tuple(others), complete)


Common = Callable[[tuple[int, ...]], fmpq]
"""How many reports all of these inputs (numbered 0, 1, 2) favour."""


def _patterns(inputs: int, common: Common) -> dict[tuple[int, ...], fmpq]:
    """How many reports exactly these inputs favour, by inclusion and exclusion."""
    counts = {}
    for held in itertools.product((0, 1), repeat=inputs):
        within = [j for j in range(inputs) if held[j]]
        without = [j for j in range(inputs) if not held[j]]
        counts[held] = sum(
            (
                (-1) ** size * common((*within, *more))
                for size in range(len(without) + 1)
                for more in itertools.combinations(without, size)
            ),
            fmpq(0),
        )
    return counts


def _thirds(structure: ChosenSets, x: int, z: int) -> Iterator[tuple[str, Common, bool]]:
    """Third inputs: a name, their common reports with the pair, and whether this pair has such a third input. Of
    hashing none, because three inputs do not hash independently."""
    few = [i for i in range(min(structure.r, 1 << 12)) if i not in (x, z)]
    if structure.r == 2 or isinstance(structure, HashedSets):
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
        possible = [(True, True, True), *([(True, True, False)] if width >= 8 else []), (False, False, False)]
    else:
        possible = [(True, False, False), (False, True, False), (False, False, False)]
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


# -- bits


def _unary(structure: IndependentBits) -> Iterator[PairReports]:
    one = fmpq(structure.own, DENOMINATOR), fmpq(structure.other, DENOMINATOR)

    def likelihood(own: bool, bit: int) -> fmpq:
        chance = one[0] if own else one[1]
        return chance if bit else 1 - chance

    def row(x: int, bits: tuple[int, ...]) -> fmpq:
        return math.prod((likelihood(j == x, bit) for j, bit in enumerate(bits)), start=fmpq(1))

    def classes(count: int, of: int) -> Callable[[], Classes]:
        words = list(itertools.product((0, 1), repeat=count))
        return lambda: tuple((row(0, w), row(1, w), row(of, w)) for w in words)

    def blanket() -> Classes:
        """Some bit is 0 unless all are 1, and the input of a bit that is 0 is the least likely."""
        made = []
        least = likelihood(True, 0) / likelihood(False, 0)
        for w in itertools.product((0, 1), repeat=2):
            base = likelihood(False, w[0]) * likelihood(False, w[1])
            q0, q1 = row(0, w), row(1, w)
            if w == (1, 1) and structure.r <= MOST_WORD:
                rest = one[1] ** (structure.r - 2)
                made.append((q0 * rest, q1 * rest, q0 * rest))
                made.append((q0 * (1 - rest), q1 * (1 - rest), base * (1 - rest) * least))
            else:
                made.append((q0, q1, base * least))
        return tuple(made)

    others = [OtherInput("x₀", classes(2, 0)), OtherInput("x₁", classes(2, 1))]
    others += [OtherInput("another", classes(3, 2))] if structure.r > 2 else []
    yield PairReports("any two answers", blanket, tuple(others), complete=True)


def _bloom(structure: BloomBits) -> Iterator[PairReports]:
    """The blanket of a pair that shares no bit, which bounds every pair; the data sets of the pair of inputs 0 and z
    with the fewest common bits."""
    one = tuple(fmpq(w, structure.denominator) for w in structure.shown)
    ratio = (1 - one[0]) / (1 - one[1]), one[0] / one[1]
    h = structure.hashes

    def chance(ones: int, of: int) -> fmpq:
        return math.comb(of, ones) * one[1] ** ones * (1 - one[1]) ** (of - ones)

    def blanket() -> Classes:
        made = []
        for i, j in itertools.product(range(h + 1), repeat=2):
            base = chance(i, h) * chance(j, h)
            likely = [ratio[1] ** c * ratio[0] ** (h - c) for c in (i, j)]
            made.append((base * likely[0], base * likely[1], base * ratio[0] ** h))
        return tuple(made)

    every = np.arange(min(structure.r, BLOOM_COMPARED))
    places = [structure.places(every, np.full(every.size, c)) for c in range(structure.cohorts)]
    few = [0]
    for _ in range(min(2, structure.r - 1)):  # the input with the fewest bits in common with those before
        common = sum((p[:, :, None] == p[few].ravel()[None, None, :]).sum(axis=(1, 2)) for p in places)
        few.append(min((i for i in range(every.size) if i not in few), key=np.asarray(common).__getitem__))
    patterns = Counter(_regions([set(p[i].tolist()) for i in few]) for p in places)

    def classes(of: int) -> Callable[[], Classes]:
        def made() -> Classes:
            rows = []
            for regions, cohorts in patterns.items():
                for ones in itertools.product(*(range(size + 1) for _, size in regions)):
                    base = fmpq(cohorts, structure.cohorts)
                    held = [0] * len(few)
                    for (owners, size), count in zip(regions, ones, strict=True):
                        base *= chance(count, size)
                        held = [h + count * owned for h, owned in zip(held, owners, strict=True)]
                    likely = [base * ratio[1] ** c * ratio[0] ** (h - c) for c in held]
                    rows.append((likely[0], likely[1], likely[of]))
            return tuple(rows)

        return made

    others = tuple(OtherInput(f"input {i}", classes(place)) for place, i in enumerate(few))
    yield PairReports(f"inputs {few[0]} and {few[1]}", blanket, others, complete=False)


def _regions(filters: list[set[int]]) -> tuple[tuple[tuple[int, ...], int], ...]:
    """How many bits are set by exactly these inputs, for each set of inputs."""
    owners = Counter(tuple(int(bit in f) for f in filters) for bit in set().union(*filters))
    return tuple(sorted(owners.items()))


# -- records of several answers


def _joint(structure: JointBlocks) -> Iterator[PairReports]:
    """Two records that differ in every answer. Relative to what does not depend on the record, a block is 1 + c if its
    sets hold all answers of the record that it asks for, and 1 otherwise."""
    kinds: Counter[tuple[tuple[int, tuple[tuple[int, int], ...]], ...]] = Counter()
    for assignment in structure.assignments:
        blocks = []
        for block in assignment.blocks:
            families = structure.of(block)
            if not all(isinstance(family, AllSets) for family in families):
                raise InvalidParameter(
                    "the reports of a joint questionnaire about means or ordered answers have no closed form here",
                    parameter="questionnaire",
                    value="joint, with goals",
                    hint='Shuffle the questions apart: Questionnaire.within(…, strategy="split").',
                )
            blocks.append((block.coin, tuple(sorted((f.k, f.size) for f in families if isinstance(f, AllSets)))))
        kinds[tuple(sorted(blocks))] += assignment.weight

    def classes(records: int, place: int | None) -> Callable[[], Classes]:
        def made() -> Classes:
            rows = []
            for blocks, weight in kinds.items():
                parts = [_block_patterns(*block, records) for block in blocks]
                for chosen in itertools.product(*parts):
                    base = math.prod((part[0] for part in chosen), start=fmpq(weight, COIN))
                    likely = [math.prod((part[1][i] for part in chosen), start=base) for i in range(records)]
                    rows.append((likely[0], likely[1], base if place is None else likely[place]))
            return tuple(rows)

        return made

    others = tuple(
        OtherInput(name, classes(max(2, place + 1), place))
        for place, name in enumerate(("x₀", "x₁", "a third record"))
        if place < 2 or max(structure.sizes) > 2
    )
    yield PairReports("two records that differ in every answer", classes(2, None), others, complete=False)


def _block_patterns(coin: int, families: tuple[tuple[int, int], ...], records: int) -> list[tuple[fmpq, list[fmpq]]]:
    """For each set of records that a report of the block may favour: its blanket, and what the records have above it.
    Of two possible answers a third record has that of the first."""

    def common(some: tuple[int, ...]) -> fmpq:
        share = fmpq(1)
        for k, size in families:
            different = len({0 if i == 2 and k == 2 else i for i in some})
            share *= fmpq(math.perm(size, different), math.perm(k, different))
        return share

    odds = math.prod((fmpq(k, size) for k, size in families), start=fmpq(coin, COIN - coin))
    found = _patterns(records, common).items()
    return [(n * fmpq(COIN - coin, COIN), [1 + odds * h for h in held]) for held, n in found if n]


SYMMETRIC: dict[Any, Callable[[Any], Iterator[PairReports]]] = {
    RandomizedResponse: _response,
    SubsetSelection: _subsets,
    GroupedSets: _grouped,
    ChosenSets: _chosen,
    IndependentBits: _unary,
    BloomBits: _bloom,
    JointBlocks: _joint,
}
"""A structure → its pairs up to symmetry."""
