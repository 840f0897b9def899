"""Pairs of inputs of words of bits and of joint questionnaires, in closed form.

* Unary encoding: the bits of x₀, x₁ and a third input.
* Bloom filters: the bits that x₀ and x₁ set. A pair that shares no bit dominates every pair that does: with α, β, γ the
  likelihoods of the bits of x₀ alone, of x₁ alone and of both, (α − cβ)γ is below αγ' − cβγ'' in convex order for
  independent copies γ', γ'' of mean 1, and sums keep that order.
* Joint questionnaires, records in and one report out: which blocks favour the records. With up to three questions, or
  four yes/no ones, every pair is looked at, by the questions in which the two records differ, with every third record,
  by the questions in which it agrees with one of them or with none. With more questions, records that differ in every
  answer dominate all others in the blanket, because φ(αu − βv) is submodular for convex φ, so that fewer common reports
  spread more.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from flint import fmpq

from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures import BloomBits, IndependentBits, JointBlocks
from extremal.mechanism.structures.joint import COIN, AllSets
from extremal.theory.shuffle.reports import Classes, OtherInput, PairReports, patterns

BLOOM_COMPARED = 1 << 10  # inputs among which a pair with few common bits is looked for
MOST_WORD = 64  # bits of unary encoding up to which the report of ones only counts with its own, larger minimum
MOST_KINDS = 256  # of two records and a third, up to which all are looked at: four yes/no questions, three others


def unary_pairs(structure: IndependentBits) -> Iterator[PairReports]:
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


def bloom_pairs(structure: BloomBits) -> Iterator[PairReports]:
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
                        held = [so_far + count * owned for so_far, owned in zip(held, owners, strict=True)]
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

Record = tuple[int, ...]
"""An answer for each question, by a number: equal numbers are equal answers."""

Asked = tuple[int, tuple[tuple[int, int, int], ...]]
"""A block: its coin, and for each question that it asks the number of it, of its answers and of those in a set."""


def joint_pairs(structure: JointBlocks) -> Iterator[PairReports]:
    """Relative to what does not depend on the record, a block is 1 + c if its sets hold all answers of the record that
    it asks for, and 1 otherwise."""
    sizes = structure.sizes
    few = math.prod(2 * min(k, 3) for k in sizes) <= MOST_KINDS
    kinds = _assignments(structure, named=few or max(sizes) == 2)

    def classes(records: tuple[Record, ...], place: int | None) -> Callable[[], Classes]:
        def made() -> Classes:
            rows = []
            for blocks, weight in kinds.items():
                for chosen in itertools.product(*(_block_patterns(block, records) for block in blocks)):
                    base = math.prod((part[0] for part in chosen), start=fmpq(weight, COIN))
                    likely = [math.prod((part[1][i] for part in chosen), start=base) for i in range(len(records))]
                    rows.append((likely[0], likely[1], base if place is None else likely[place]))
            return tuple(rows)

        return made

    first = (0,) * len(sizes)
    for second in itertools.product((0, 1), repeat=len(sizes)) if few else [(1,) * len(sizes)]:
        if any(second):
            pair, thirds = (first, second), list(_third_records(sizes, second, few))
            others = [OtherInput("x₀", classes(pair, 0)), OtherInput("x₁", classes(pair, 1))]
            others += [OtherInput("a third record", classes((*pair, third), 2)) for third in thirds]
            differ = f"records that differ in {sum(second)} of {len(sizes)} answers"
            yield PairReports(differ, classes(pair, None), tuple(others), complete=few)


def _third_records(sizes: tuple[int, ...], second: Record, few: bool) -> Iterator[Record]:
    """Records other than the pair, up to names of answers; where questions are many, one that agrees with neither
    wherever there is a third answer, and of yes/no questions one that agrees with both in turn."""
    if not few:
        yield (2,) * len(sizes) if max(sizes) > 2 else tuple(j % 2 for j in range(len(sizes)))
        return
    answers = [(0, 1) if k == 2 or not differs else (0, 1, 2) for k, differs in zip(sizes, second, strict=True)]
    for record in itertools.product(*answers):
        if any(record) and record != second:
            yield record


def _assignments(structure: JointBlocks, named: bool) -> Counter[tuple[Asked, ...]]:
    """The blocks of each assignment and their weights; those alike together, if questions need not be named."""
    kinds: Counter[tuple[Asked, ...]] = Counter()
    for assignment in structure.assignments:
        blocks = []
        for block in assignment.blocks:
            families = [(j, f) for j, f in zip(block.questions, structure.of(block), strict=True)]
            if not all(isinstance(family, AllSets) for _, family in families):
                raise InvalidParameter(
                    "the reports of a joint questionnaire about means or ordered answers have no closed form here",
                    parameter="questionnaire",
                    value="joint, with goals",
                    hint='Shuffle the questions apart: Questionnaire.within(…, strategy="split").',
                )
            sets = [(j if named else 0, f.k, f.size) for j, f in families if isinstance(f, AllSets)]
            blocks.append((block.coin, tuple(sorted(sets))))
        kinds[tuple(sorted(blocks))] += assignment.weight
    return kinds


def _block_patterns(block: Asked, records: tuple[Record, ...]) -> list[tuple[fmpq, list[fmpq]]]:
    """For each set of records that a report of a block may favour: its blanket, and what the records have above it."""
    coin, sets = block

    def common(some: tuple[int, ...]) -> fmpq:
        share = fmpq(1)
        for j, k, size in sets:
            different = len({records[i][j] % k for i in some})  # of two answers a third is the first
            share *= fmpq(math.perm(size, different), math.perm(k, different))
        return share

    odds = math.prod((fmpq(k, size) for _, k, size in sets), start=fmpq(coin, COIN - coin))
    found = patterns(len(records), common).items()
    return [(n * fmpq(COIN - coin, COIN), [1 + odds * h for h in held]) for held, n in found if n]
