"""Block designs are what they claim to be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.workload.structured.blocks import (
    block_design,
    difference_set,
    is_difference_set,
    restricted_design,
)
from extremal.utility import Frequencies

KNOWN = [
    (7, 3),
    (7, 4),
    (11, 5),
    (13, 4),
    (13, 9),
    (15, 7),
    (21, 5),
    (31, 6),
    (31, 15),
    (35, 17),
    (37, 9),
    (40, 13),
    (57, 8),
    (73, 9),
    (85, 21),
]


@pytest.mark.parametrize(("k", "d"), KNOWN)
def test_every_pair_of_inputs_occurs_equally_often(k: int, d: int) -> None:
    sets = block_design(k, d)
    assert sets is not None
    assert len(sets) == k
    member = np.zeros((k, k), dtype=int)
    for y, chosen in enumerate(sets):
        assert len(set(chosen)) == d
        member[list(chosen), y] = 1
    together = member @ member.T
    assert (np.diagonal(together) == d).all()
    assert set(together[~np.eye(k, dtype=bool)].tolist()) == {d * (d - 1) // (k - 1)}


def together(k: int, sets: tuple[tuple[int, ...], ...]) -> np.ndarray:
    member = np.zeros((k, len(sets)), dtype=int)
    for y, chosen in enumerate(sets):
        member[list(chosen), y] = 1
    return member @ member.T


@pytest.mark.parametrize(
    ("k", "d", "count"), [(16, 4, 20), (8, 4, 14), (27, 9, 39), (6, 3, 10), (64, 16, 84), (10, 4, 30), (17, 5, 68)]
)
def test_residuals_and_families_are_balanced_too(k: int, d: int, count: int) -> None:
    sets = block_design(k, d)
    assert sets is not None
    assert len(sets) == count
    assert {len(set(chosen)) for chosen in sets} == {d}
    pairs = together(k, sets)
    assert set(np.diagonal(pairs).tolist()) == {count * d // k}
    assert set(pairs[~np.eye(k, dtype=bool)].tolist()) == {count * d * (d - 1) // (k * (k - 1))}


@pytest.mark.parametrize(("k", "epsilon"), [(61, 0.5), (100, 1.0), (100, 4.0)])
def test_a_geometry_on_fewer_points_still_holds_every_pair_equally_often(k: int, epsilon: float) -> None:
    sets = restricted_design(k, np.expm1(epsilon))
    pairs = together(k, sets)
    assert len(set(np.diagonal(pairs).tolist())) == 1
    assert len(set(pairs[~np.eye(k, dtype=bool)].tolist())) == 1
    few = ex.Mechanism.from_cover(k, sets, ex.LDP(epsilon))
    best = Frequencies(k)(ex.subset_selection(k, epsilon))
    assert best * (1 - 1e-9) <= Frequencies(k)(few) <= 1.1 * best


@pytest.mark.parametrize("p", [2, 3, 5, 7])
def test_affine_planes_have_one_line_through_two_points(p: int) -> None:
    lines = block_design(p * p, p)
    assert lines is not None
    assert len(lines) == p * p + p
    pairs = [pair for line in lines for pair in itertools.combinations(sorted(line), 2)]
    assert len(pairs) == len(set(pairs)) == p * p * (p * p - 1) // 2


def test_what_is_not_a_difference_set_is_not_taken_for_one() -> None:
    assert not is_difference_set((0, 1, 2), 7)
    assert difference_set(8, 3) is None
    assert difference_set(16, 6) is None  # exists, but in no cyclic group
    assert block_design(8, 3) is None  # 21 base sets would be as many as half of all subsets
    assert block_design(10, 10) is None


@pytest.mark.parametrize(("k", "d", "epsilon"), [(7, 3, 0.3), (13, 4, 1.0), (21, 5, 1.4), (9, 3, 0.9)])
def test_a_block_design_is_worth_all_subsets(k: int, d: int, epsilon: float) -> None:
    sets = block_design(k, d)
    assert sets is not None
    few = ex.Mechanism.from_cover(k, sets, ex.LDP(epsilon))
    assert Frequencies(k)(few) == pytest.approx(Frequencies(k)(ex.subset_selection(k, epsilon, size=d)), rel=1e-9)
    assert few.m == len(sets)
    assert Frequencies(ex.SourceClass.simplex(k))(few) == pytest.approx(Frequencies(k)(few), rel=1e-8)
