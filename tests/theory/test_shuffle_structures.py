"""Closed forms of pairs of inputs, exactly as the listed reports have them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.mechanism.structures import (
    BloomBits,
    GroupedSets,
    HadamardSets,
    HashedSets,
    IndependentBits,
    JointBlocks,
    ProjectiveSets,
    RandomizedResponse,
    Structure,
    SubsetSelection,
)
from extremal.mechanism.structures.joint import COIN, AllSets, Assignment, Block, Decomposed
from extremal.theory.shuffle import symmetric
from extremal.theory.shuffle.pairs import pairs_of
from extremal.theory.shuffle.reports import Classes, index, merged
from support.shuffles import all_divergences

UNIT = 1 << 62
Rows = list[list[Fraction]]


def _sets(k: int, sets: Sequence[Sequence[int]], weights: Callable[[int], tuple[Fraction, Fraction]]) -> Rows:
    return [[weights(y)[x in members] for y, members in enumerate(sets)] for x in range(k)]


def _response() -> tuple[Structure, Rows]:
    low = UNIT // 8
    rows = [[Fraction(UNIT - 3 * low if x == y else low, UNIT) for y in range(4)] for x in range(4)]
    return RandomizedResponse(4, low, UNIT - 3 * low), rows


def _subsets() -> tuple[Structure, Rows]:
    made = SubsetSelection(5, 2, 3 * UNIT // 4)
    low, high = (Fraction(w, made.denominator) for w in (made.low, made.high))
    return made, _sets(5, list(itertools.combinations(range(5), 2)), lambda _: (low, high))


def _unary() -> tuple[Structure, Rows]:
    made = IndependentBits(3, UNIT // 2, UNIT // 8)
    own, other = Fraction(1, 2), Fraction(1, 8)
    rows = []
    for x in range(3):
        row = []
        for word in itertools.product((0, 1), repeat=3):
            chance = Fraction(1)
            for j, bit in enumerate(word):
                p = own if j == x else other
                chance *= p if bit else 1 - p
            row.append(chance)
        rows.append(row)
    return made, rows


def _chosen(made: HadamardSets | ProjectiveSets) -> tuple[Structure, Rows]:
    favoured = made.favours(np.arange(made.r)[:, None], np.arange(made.m)[None, :])
    low, high = (Fraction(w, made.denominator) for w in (made.low, made.high))
    return made, [[high if flag else low for flag in row] for row in favoured.tolist()]


def _grouped() -> tuple[Structure, Rows]:
    made = ex.design(ex.LDP(1), ex.Frequencies([0.4, 0.2, 0.2, 0.1, 0.1])).mechanism.structure
    types, of = ((1, 1), (0, 2)), np.array([0, 0, 1, 1, 1])
    if not isinstance(made, GroupedSets):
        third = UNIT // 3 * 3
        low = (third // 30, third // 30)
        high = _completed(of, types, low)
        made = GroupedSets(of, types, low, high)
    rows: Rows = [[] for _ in range(made.r)]
    for t, low_t, high_t, number in zip(made.types, made.low, made.high, made.numbers, strict=True):
        choices = [
            itertools.combinations(members.tolist(), size) for members, size in zip(made.members, t, strict=True)
        ]
        for chosen in itertools.product(*choices):
            held = {x for part in chosen for x in part}
            for x in range(made.r):
                rows[x].append(Fraction(high_t if x in held else low_t, UNIT * number))
    return made, rows


def _completed(of: np.ndarray, types: Sequence[Sequence[int]], low: Sequence[int]) -> tuple[int, ...]:
    """The high weights for which every row sums to 2^62, of two groups and two types."""
    sizes = np.bincount(of).tolist()
    system = np.array([[t[g] for t in types] for g in range(2)], dtype=object)
    right = [sizes[g] * UNIT - sum((sizes[g] - t[g]) * v for t, v in zip(types, low, strict=True)) for g in range(2)]
    (a, b), (c, d) = system.tolist()
    determinant = a * d - b * c
    return tuple(int(v) // determinant for v in (d * right[0] - b * right[1], a * right[1] - c * right[0]))


def _joint() -> tuple[Structure, Rows]:
    families = ((AllSets(2, 1),), (AllSets(3, 1),))
    blocks = (
        Assignment((Block((0, 1), (0, 0), COIN // 2),), COIN // 4),
        Assignment((Block((0,), (0,), COIN // 4), Block((1,), (0,), COIN // 8)), 3 * (COIN // 4)),
    )
    rows = []
    for record in itertools.product(range(2), range(3)):
        row = []
        for assignment in blocks:
            for report in itertools.product(range(2), range(3)):
                chance = Fraction(assignment.weight, COIN)
                for block in assignment.blocks:
                    coin = Fraction(block.coin, COIN)
                    even = Fraction(1, int(np.prod([(2, 3)[j] for j in block.questions])))
                    chance *= (1 - coin) * even + coin * all(record[j] == report[j] for j in block.questions)
                row.append(chance)
        rows.append(row)
    return JointBlocks(families, blocks), rows


def _listed(rows: Rows, x: int, z: int, rest: Sequence[Fraction]) -> Classes:
    def exact(value: Fraction) -> fmpq:
        return fmpq(value.numerator, value.denominator)

    return merged((exact(a), exact(b), exact(c)) for a, b, c in zip(rows[x], rows[z], rest, strict=True))


def _key(classes: Classes) -> frozenset[tuple[fmpq, fmpq, fmpq]]:
    return frozenset(classes)


CASES = {
    "response": _response,
    "subsets": _subsets,
    "unary": _unary,
    "hadamard": lambda: _chosen(HadamardSets(r=6, inside=3 * UNIT // 4, blocks=1, width=8)),
    "hadamard blocks": lambda: _chosen(HadamardSets(r=5, inside=3 * UNIT // 4, blocks=2, width=4)),
    "projective": lambda: _chosen(ProjectiveSets(r=13, inside=UNIT // 2, order=3, coordinates=3)),
    "joint": _joint,
}


@pytest.mark.parametrize("name", CASES)
def test_closed_forms_are_those_of_listed_reports(name: str) -> None:
    """Every data set with equal others that is claimed to be real exists, and every pair is bounded by some blanket."""
    structure, rows = CASES[name]()
    count = len(rows)
    least = [min(column) for column in zip(*rows, strict=True)]
    pairs = pairs_of(structure)
    real = {
        _key(_listed(rows, x, z, rows[i])) for x, z in itertools.permutations(range(count), 2) for i in range(count)
    }
    claimed = {
        _key(classes)
        for pair in pairs
        for classes, other in zip(pair.other_classes, pair.others, strict=True)
        if other.real
    }
    assert claimed <= real
    if all(pair.complete for pair in pairs):
        every = {_key(classes) for pair in pairs for classes in pair.other_classes}
        assert real <= every
    blankets = {_key(_listed(rows, x, z, least)) for x, z in itertools.permutations(range(count), 2)}
    if name == "hadamard":  # a report that everybody favours counts with the smaller weight, which is valid
        assert sum(float(r) for _, _, r in pairs[0].blanket_classes) < float(sum(least))
    else:
        assert {_key(pair.blanket_classes) for pair in pairs} <= blankets
    for pair in pairs:
        for classes in pair.other_classes:
            assert sum((r for _, _, r in classes), fmpq(0)) == 1
            assert sum((a for a, _, _ in classes), fmpq(0)) == 1


def test_small_joint_records_lie_in_the_interval() -> None:
    structure, rows = _joint()
    reports = ex.theory.Shuffled((structure,), 2)  # type: ignore[arg-type]
    low, high = reports.delta(Fraction("0.2"))
    near = Fraction(np.exp(0.2))
    truth = max(float(v) for _, v in all_divergences(rows, 2, near))
    assert low <= truth * (1 + 1e-12)
    assert truth <= high * (1 + 1e-12)


def test_grouped_sets_sum_to_one_and_cover_all_pairs() -> None:
    structure, rows = _grouped()
    pairs = pairs_of(structure)
    real = {
        _key(_listed(rows, x, z, rows[i]))
        for x, z in itertools.permutations(range(len(rows)), 2)
        for i in range(len(rows))
    }
    assert real == {_key(classes) for pair in pairs for classes in pair.other_classes}


def test_a_bloom_filter_is_bounded_by_inputs_that_share_no_bit() -> None:
    made = BloomBits(4, 6, 2, 2, 3 * UNIT // 4, UNIT // 4)
    (pair,) = pairs_of(made)
    assert not pair.complete
    for classes in pair.other_classes:
        assert sum((r for _, _, r in classes), fmpq(0)) == 1
        assert index(classes) <= index(pair.blanket_classes)


def test_hashing_counts_the_seeds_of_a_triple(monkeypatch: pytest.MonkeyPatch) -> None:
    (pair,) = pairs_of(HashedSets(r=100, inside=UNIT // 2, buckets=4))
    assert [other.name for other in pair.others] == ["x₀", "x₁", "another"]
    assert not pair.complete
    for classes in pair.other_classes:
        assert sum((r for _, _, r in classes), fmpq(0)) == 1
    assert pairs_of(HashedSets(r=4, inside=UNIT // 2, buckets=4))[0].complete
    monkeypatch.setattr(symmetric, "HASH_PRIME", 101)
    monkeypatch.setattr(symmetric, "scattered", lambda rows: rows**3 % 101)
    structure = HashedSets(r=100, inside=UNIT // 2, buckets=4)
    a, b = np.divmod(np.arange(101**2), 101)
    for triple in ((0, 1, 2), (3, 10, 17), (5, 40, 99)):
        hashed = [(a * (x**3 % 101) + b) % 101 % 4 for x in triple]
        assert symmetric.hashed_together(structure, *triple) == int(
            ((hashed[0] == hashed[1]) & (hashed[1] == hashed[2])).sum()
        )


def test_joint_questions_about_means_are_refused() -> None:
    weights = np.array([[3, 1], [1, 3]], dtype=np.int64)
    made = JointBlocks(((Decomposed(weights),),), (Assignment((Block((0,), (0,), COIN // 2),), COIN),))
    with pytest.raises(InvalidParameter, match="no closed form"):
        pairs_of(made)


def test_listed_pairs_alike_are_looked_at_once() -> None:
    assert len(pairs_of(ex.subset_selection(6, 1).structure)) <= 4
    assert len(pairs_of(ex.Mechanism.from_matrix(ex.geometric(9, 1).matrix).structure)) >= 36


# -- several questions


def test_two_questions_together() -> None:
    """n = 2: the product of two shuffles, by enumeration over all data sets."""
    first, second = ex.randomized_response(3, 1), ex.randomized_response(2, 0.5)
    low, high = ex.shuffled({"a": first, "b": second}, 2).epsilon(0.05)
    ratio = Fraction(np.exp(high))
    from support.shuffles import exact_rows, histograms

    worst = Fraction(0)
    a, b = exact_rows(first), exact_rows(second)
    for (x, z), (u, v), i, j in itertools.product(
        itertools.permutations(range(3), 2), itertools.permutations(range(2), 2), range(3), range(2)
    ):
        p, p2 = histograms([a[x], a[i]]), histograms([a[z], a[i]])
        q, q2 = histograms([b[u], b[j]]), histograms([b[v], b[j]])
        total = sum(
            (
                max(
                    Fraction(0),
                    p.get(s, Fraction(0)) * q.get(t, Fraction(0))
                    - ratio * p2.get(s, Fraction(0)) * q2.get(t, Fraction(0)),
                )
                for s in {*p, *p2}
                for t in {*q, *q2}
            ),
            Fraction(0),
        )
        worst = max(worst, total)
    assert worst <= Fraction("0.05")
    assert low <= high <= 1.5


@pytest.mark.slow
def test_ten_questions_cost_what_a_normal_shift_does() -> None:
    asked = {str(i): ex.randomized_response(10, 2) for i in range(10)}
    low, high = ex.shuffled(asked, 10**6).epsilon(1e-8)
    assert low < 0.0307 < high < 0.0308
