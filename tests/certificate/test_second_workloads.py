"""The kernel against a second checker of proofs about workloads, in rationals, written from the page on proofs."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import (
    CoupledColumns,
    LineSweep,
    ListedColumns,
    ListedCounts,
    MatrixInequality,
    Refused,
    Revealed,
)
from extremal.certificate.kinds.sweep import _Lines
from extremal.certificate.kinds.workload import RATIO_BITS
from support.proofs.lies import varied
from support.proofs.second_workloads import workload_disagreement
from support.proofs.workload_attacks import workloads

P, WITH_ZERO = ["0.4", "0.3", "0.2", "0.1"], ["0.5", "0.5", "0", "0"]
UTILITIES: list[Any] = [
    ex.Frequencies(P),
    ex.Frequencies(P, [0, 2], [0.5, 3.0]),
    ex.CDF(P),
    ex.CDF(P, [0, 2]),
    ex.Ranges(WITH_ZERO),
    ex.Mean([1, 2, 4, 4.5], P),
    ex.Workload([[1, 0.5, 0, 0], [0, 1, 1, 0.25]], P),
]
NOTIONS = [ex.LDP.from_ratio("7/2"), ex.LDP.from_ratio("10/9"), ex.LDP("0.7"), ex.LDP(0)]


def whole(random: np.random.Generator, *shape: int, size: int = 1000) -> Any:
    return random.integers(-size, size, size=shape).tolist()


def a_triangle(random: np.random.Generator, k: int) -> tuple[tuple[int, ...], ...]:
    """Of a matrix like a covariance, so that the bound is positive."""
    a = random.integers(-30, 30, size=(k - 1, k - 1))
    square = a @ a.T + 100 * np.eye(k - 1, dtype=np.int64)
    return tuple(tuple(int(v) for v in row[: i + 1]) for i, row in enumerate(square))


def proofs(random: np.random.Generator, k: int) -> list[Any]:
    """One of each kind, with numbers of no meaning, merged or not."""
    groups: tuple[int, ...] = ()
    count = k
    if random.random() < 0.5:
        count = int(random.integers(2, k))
        groups = tuple(random.permutation([*range(count), *random.integers(count, size=k - count)]).tolist())
    z, alpha = a_triangle(random, count), tuple(whole(random, count, size=10**7))
    d, prices = tuple(random.integers(1, 1000, size=count).tolist()), tuple(whole(random, count, size=10**5))
    n = tuple(tuple(random.integers(0, 40, size=i + 1).tolist()) for i in range(2)) if random.random() < 0.5 else ()
    blocks = tuple(random.integers(2, size=count).tolist()) if n else ()
    return [
        ListedColumns(z, alpha, groups),
        MatrixInequality(d, n, blocks, z, int(random.integers(-14, -4)), groups),
        LineSweep(tuple(whole(random, count - 1)), prices, int(random.integers(10**6)), groups),
    ]


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_the_same_bound_from_numbers_of_no_meaning(notion: Any) -> None:
    random, accepted = np.random.default_rng(3), set()
    for utility in UTILITIES:
        for _ in range(8):
            for proof in proofs(random, 4):
                assert workload_disagreement(proof, notion, utility) == "", (proof, utility)
                try:
                    proof.bound(notion, utility)
                    accepted.add(proof.kind)
                except Refused:
                    continue
    assert accepted == {"listed columns", "matrix inequality", "line sweep"} or not notion.epsilon


def test_the_same_bound_where_inputs_are_alike() -> None:
    random = np.random.default_rng(4)
    even, grouped = ex.Frequencies(4), ex.Frequencies(["0.2", "0.2", "0.2", "0.4"])
    accepted = 0
    for utility, classes in (
        (even, (0, 0, 0, 0)),
        (even, (0, 1, 0, 1)),
        (grouped, (0, 0, 0, 1)),
        (grouped, (0, 1, 0, 2)),
        (grouped, (0, 0, 1, 1)),
        (ex.Ranges(4), (0, 1, 1, 0)),
        (ex.Ranges(4), (0, 1, 2, 3)),
        (ex.Frequencies(4, [0, 1, 2, 3], [1.0, 1.0, 0.25, 0.25]), (0, 0, 1, 1)),
        (ex.Workload([[1, 1, 0, 0], [2, 2, 3, 3], [1, 0, 0, 0], [0, 1, 0, 0]], 4), (0, 0, 1, 1)),
    ):
        count = max(classes) + 1
        for _ in range(6):
            diagonal = tuple(random.integers(50, 1000, size=count).tolist())
            pairs = tuple(tuple((-random.integers(0, 9, size=g)).tolist()) for g in range(1, count))
            proof = ListedCounts(classes, diagonal, pairs, tuple(whole(random, count, size=10**6)))
            for notion in NOTIONS[:3]:
                assert workload_disagreement(proof, notion, utility) == ""
                try:
                    proof.bound(notion, utility)
                    accepted += 1
                except Refused:
                    continue
    assert accepted >= 50


@pytest.mark.parametrize(
    "notion",
    [
        ex.PML("0.5", P),
        ex.LIP("0.5", P),
        ex.PML("0.5", WITH_ZERO),
        ex.MetricPrivacy("0.5", [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]),
        ex.LDP(1, delta=0.1),
    ],
    ids=repr,
)
def test_columns_of_other_notions_are_the_rays_of_their_cones(notion: Any) -> None:
    random = np.random.default_rng(6)
    for utility in UTILITIES[:3]:
        proof = ListedColumns(a_triangle(random, 4), tuple(whole(random, 4, size=10**7)))
        assert workload_disagreement(proof, notion, utility) == ""
        merged = ListedColumns(a_triangle(random, 2), (5, 7), (0, 0, 1, 1))
        if notion.name != "LDP":
            with pytest.raises(Refused, match="merged"):
                merged.bound(notion, utility)
    if notion.name == "PML" and not notion.source.single.weights[2]:
        assert workload_disagreement(proof, notion, ex.Frequencies(WITH_ZERO)) == ""
        with pytest.raises(Refused, match="rules out"):
            proof.bound(notion, ex.Frequencies(WITH_ZERO))


@pytest.mark.parametrize(
    "notion", [ex.LDP("0.7", "0.1"), ex.LDP.from_ratio("7/2", delta="1/3"), ex.LDP(0, "0.2")], ids=repr
)
def test_the_same_bound_for_coupled_columns(notion: Any) -> None:
    random, accepted = np.random.default_rng(12), 0
    for utility in UTILITIES:
        assert workload_disagreement(Revealed(), notion, utility) == ""
        assert workload_disagreement(Revealed((Fraction(1),)), notion, utility) == ""
        for groups in ((), (0, 1, 0, 2), (1, 0, 1, 0)):
            count = max(groups, default=3) + 1
            alpha = tuple(whole(random, count, size=10**6))
            prices = tuple(random.integers(0, 10**7, size=count * (count - 1)).tolist())
            for told in (prices, (*prices[:-1], -1), prices[1:]):
                proof = CoupledColumns(a_triangle(random, count), alpha, told, groups)
                assert workload_disagreement(proof, notion, utility) == "", (proof, utility)
                try:
                    proof.bound(notion, utility)
                    accepted += 1
                except Refused:
                    continue
    assert accepted >= 15


def test_coupled_columns_are_about_at_most_six_inputs_under_ldp() -> None:
    z = tuple(tuple(int(i == j) for j in range(i + 1)) for i in range(6))
    for proof, notion, k in (
        (CoupledColumns(z, (0,) * 7, (0,) * 42), ex.LDP(1, "0.1"), 7),
        (CoupledColumns(z[:3], (0,) * 4, (0,) * 12), ex.PML(1, P), 4),
        (CoupledColumns(z[:3], (0,) * 3, (0,) * 12), ex.LDP(1, "0.1"), 4),
    ):
        with pytest.raises(Refused):
            proof.bound(notion, ex.Frequencies(k))


@pytest.mark.parametrize("part", range(4))
def test_two_checkers_agree_whatever_the_fields_hold(part: int) -> None:
    told = 0
    for seed in range(part * 9, part * 9 + 9):
        random = np.random.default_rng([5, seed])
        for lie in varied(random, workloads(random), 3):
            told += 1
            assert workload_disagreement(lie.proof, lie.privacy, lie.utility) == "", lie
    assert told > 50


@pytest.mark.parametrize("notion", [ex.LDP(1, delta=0.1), ex.PML(1, P)], ids=repr)
def test_only_the_listed_columns_know_other_notions(notion: Any) -> None:
    for proof in (
        ListedCounts((0, 0, 0, 0), (4,), (), (0,)),
        MatrixInequality((1, 1, 1, 1), (), (), ((4,), (1, 4), (1, 1, 4)), -20),
        LineSweep((1, 2, 3), (0, 0, 0, 0), 10**6),
    ):
        with pytest.raises(Refused, match="ε-LDP"):
            proof.bound(notion, ex.Frequencies(4))
    if notion.name == "LDP":
        with pytest.raises(Refused):
            ListedColumns(((4,), (1, 4), (1, 1, 4)), (0, 0, 0, 0)).bound(notion, ex.Frequencies(4))


def test_a_class_that_somebody_derived_is_refused() -> None:
    class Mine(ex.Frequencies):
        pass

    with pytest.raises(Refused, match="workload"):
        ListedColumns(((4,), (1, 4), (1, 1, 4)), (0, 0, 0, 0)).bound(ex.LDP(1), Mine(P))
    with pytest.raises(Refused, match="one prior"):
        ListedColumns(((4,), (1, 4)), (0, 0, 0)).bound(ex.LDP(1), ex.Frequencies(ex.SourceClass.simplex(3)))


# -- the sweep, piece by piece --


def a_sweep(random: np.random.Generator) -> _Lines:
    lines: _Lines = object.__new__(_Lines)
    lines.shift = 0
    lines.a = np.array(random.integers(0, 4, size=3).tolist(), dtype=object)
    lines.b = np.array(random.integers(-40, 40, size=3).tolist(), dtype=object)
    lines.c = np.array(random.integers(-30, 60, size=3).tolist(), dtype=object)
    return lines


def least_at(lines: _Lines, points: Any, high: int) -> Fraction:
    def at(t: Fraction) -> Fraction:
        values = [a * t * t + b * t + c for a, b, c in zip(lines.a, lines.b, lines.c, strict=True)]
        return sum((min(v * (1 << RATIO_BITS), v * high) for v in values), Fraction(0))

    return min(map(at, points))


def test_a_piece_is_never_said_to_be_higher_than_it_is() -> None:
    random, high = np.random.default_rng(8), 5 << (RATIO_BITS - 1)
    tight = 0
    for _ in range(150):
        lines = a_sweep(random)
        left = int(random.integers(-12, 12))
        right = left + int(random.integers(1, 6))
        found = lines._least(left, right, lines._at(left), lines._at(right), high)
        true = least_at(lines, [left + Fraction(i, 24) * (right - left) for i in range(25)], high)
        assert found <= true
        tight += found == true
    assert tight > 15


def test_beyond_the_cuts_nothing_is_lower_than_said() -> None:
    random, high, accepted = np.random.default_rng(9), 5 << (RATIO_BITS - 1), 0
    for _ in range(60):
        lines = a_sweep(random)
        for side, cut in itertools.product((-1, 1), (3, 9, 20)):
            try:
                found = lines._beyond(side * cut, lines._at(side * cut), side, high)
            except Refused:
                continue
            accepted += 1
            points = [side * (cut + Fraction(i, 7)) for i in range(20)] + [side * (cut + Fraction(10**9))]
            assert found <= least_at(lines, points, high)
    assert accepted > 30
