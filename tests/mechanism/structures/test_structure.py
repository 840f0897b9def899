"""Every structure says the same as the dense rows it stands for, to all who ask, and comes back from its JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import extremal as ex
from extremal.errors import MalformedFile, TooLarge
from extremal.exact import Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR, as_probabilities, exact_sums
from extremal.mechanism.structures import (
    STRUCTURES,
    BloomBits,
    Circulant,
    Colourings,
    HadamardSets,
    HashedSets,
    JointBlocks,
    ProjectiveSets,
    RandomizedResponse,
    Rows,
    Structure,
    TwoValuedColumns,
    structure_from_json,
)
from extremal.mechanism.structures.bits import optimised_bits
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.mechanism.structures.joint import COIN, AllSets, Assignment, Block
from extremal.mechanism.structures.staircase import subset_structure, window_structure

QUARTER = DENOMINATOR // 4
LISTED: list[Structure] = [
    Rows(np.array([[QUARTER, 3 * QUARTER, 0], [QUARTER, 2 * QUARTER, QUARTER]])),
    RandomizedResponse(3, QUARTER, 2 * QUARTER),
    window_structure(7, 3, Exponential(1)),
    TwoValuedColumns(
        4,
        (IndexSet(((0, 1), (2, 3))), IndexSet(((1, 2), (3, 4)))),
        np.array([QUARTER, QUARTER]),
        np.array([3 * QUARTER, 3 * QUARTER]),
    ),
    Circulant(((QUARTER, 1), (3 * QUARTER, 1), (0, 3))),
    Colourings(
        np.array([[0, 1, 0, 1, 1], [1, 0, 2, 2, 0]], dtype=np.uint16),
        np.array([QUARTER // 2, QUARTER // 2]),
        np.array([3 * QUARTER // 2, QUARTER]),
    ),
]
UNLISTED: list[Structure] = [
    subset_structure(100, 30, Exponential(1)),
    optimised_bits(100, Exponential(1)),
    BloomBits(100, 64, 2, 4, 3 * QUARTER, QUARTER),
    grouped_structure(np.arange(100) % 3 // 2, [(20, 5), (10, 20)], [5.0, 2.0], Exponential(1)),
    JointBlocks(((AllSets(4, 2),), (AllSets(25, 1),)), (Assignment((Block((0, 1), (0, 0), COIN // 3),), COIN),)),
]
RULES: list[Structure] = [  # any entry can be had, but not all
    HadamardSets(100, 3 * QUARTER, 1, 128),
    ProjectiveSets(100, 3 * QUARTER, 3, 5),
    HashedSets(100, 3 * QUARTER, 3),
]


def test_every_kind_is_tried_here() -> None:
    assert {structure.kind for structure in [*LISTED, *UNLISTED, *RULES]} == set(STRUCTURES)
    assert all(cls.kind == kind for kind, cls in STRUCTURES.items())


@pytest.mark.parametrize("structure", LISTED, ids=lambda s: s.kind)
def test_the_same_as_dense_rows(structure: Structure) -> None:
    dense = Rows(structure.rows().copy())
    assert (structure.r, structure.m, structure.denominator) == (dense.r, dense.m, DENOMINATOR)
    assert exact_sums(dense.array, axis=1) == [DENOMINATOR] * structure.r
    assert [c.groups for c in structure.columns()] == [c.groups for c in dense.columns()]
    assert all(np.array_equal(structure.row(i), dense.row(i)) for i in range(structure.r))
    prior = np.linspace(1, 2, structure.r) / np.linspace(1, 2, structure.r).sum()
    assert structure.marginal(prior) == pytest.approx(dense.marginal(prior), rel=1e-13)
    rows, outputs = (index.ravel() for index in np.indices((structure.r, structure.m)))
    assert structure.entries(rows, outputs) == dense.array.ravel().tolist()
    assert structure.in_words() is None


@pytest.mark.parametrize("structure", LISTED, ids=lambda s: s.kind)
def test_levels_add_up_to_the_columns(structure: Structure) -> None:
    levels = structure.levels()
    prior = np.linspace(1, 2, structure.r) / np.linspace(1, 2, structure.r).sum()
    above = prior @ levels.excess if levels.masses is None else (levels.masses(prior) * levels.excess).sum(axis=0)
    assert levels.base + above == pytest.approx(structure.marginal(prior), rel=1e-13)
    assert levels.base.tolist() == as_probabilities(structure.rows().min(axis=0)).tolist()
    assert (levels.excess >= 0).all()


@pytest.mark.parametrize("structure", [*LISTED, *UNLISTED, *RULES], ids=lambda s: s.kind)
def test_json_gives_the_same_structure_back(structure: Structure) -> None:
    stored = structure.to_json()
    again = structure_from_json(json.loads(json.dumps(stored)))
    assert type(again) is type(structure)
    assert again.to_json() == stored
    assert [c.groups for c in again.columns()] == [c.groups for c in structure.columns()]


@pytest.mark.parametrize("structure", [*UNLISTED, *RULES], ids=lambda s: s.kind)
def test_what_cannot_be_listed_is_said_in_words(structure: Structure) -> None:
    one = np.zeros(1, dtype=np.intp)
    asked = [structure.rows, structure.levels, lambda: structure.row(0), lambda: structure.marginal(np.ones(100))]
    if structure in UNLISTED:
        asked.append(lambda: structure.entries(one, one))
    for ask in asked:
        with pytest.raises(TooLarge, match="cannot be listed"):
            ask()
    words = structure.in_words()
    assert words is not None
    assert sum(probability for _, probability in words) == pytest.approx(len(words) // 2)  # yes or no, by group


def test_an_unknown_kind_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(MalformedFile, match="of a known kind; got kind='braid'.*Known: rows, two_valued"):
        structure_from_json({"kind": "braid"})


@pytest.mark.parametrize(
    "m",
    [ex.randomized_response(10_000, 1), ex.Mechanism.from_windows(10_000, 2_500, ex.LDP(1))],
    ids=["response", "windows"],
)
def test_large_alphabets_stay_small(m: ex.Mechanism, tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert ex.LDP(1).holds(m)
    assert not ex.LDP(0.999999999).holds(m)
    for dense in ("matrix", "weights"):
        with pytest.raises(
            TooLarge,
            match=rf"{dense} as a dense array may have at most 2\^24 entries; got rows × outputs='10000 × 10000'",
        ):
            getattr(m, dense)
    with pytest.raises(TooLarge, match="dense array"):
        m.distinct_rows()
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 300_000
    assert ex.load(path) == m
    assert "9990 more" in str(m)


def test_a_partition_of_a_million_symbols(tmp_path) -> None:  # type: ignore[no-untyped-def]
    blocks = np.arange(1_000_000) * 7 // 1_000_000
    m = ex.Mechanism.from_partition(blocks, ex.LDP(2))
    assert (m.k, m.m, m.row_classes) == (1_000_000, 7, 7)
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 2_000
    again = ex.load(path)
    assert again == m
    assert again.marginal(np.full(1_000_000, 1e-6)).sum() == pytest.approx(1)
