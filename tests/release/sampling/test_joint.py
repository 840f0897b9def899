"""Reports on records follow the stated law, exactly; one coin serves the whole block."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import extremal as ex
from extremal.errors import TooLarge
from extremal.mechanism.structures import JointBlocks
from extremal.mechanism.structures.joint import COIN, AllSets, Assignment, Block, Decomposed
from extremal.release.sampling.joint import FromJoint, _whole_below, draw_records, ranks_of
from extremal.release.sampling.sampler import sample_codes
from extremal.release.sampling.words import CipherWords

SCALE = Decomposed(np.array([[1, 5, 2], [2, 2, 4], [1, 3, 4]]))
STRUCTURE = JointBlocks(
    ((AllSets(2, 1),), (AllSets(4, 2),), (SCALE,)),
    (
        Assignment((Block((0, 1), (0, 0), COIN // 3),), COIN // 2),
        Assignment((Block((0,), (0,), COIN // 4), Block((2,), (0,), COIN // 2)), COIN // 2),
    ),
)


def law(structure: JointBlocks, record: tuple[int, ...]) -> Any:
    """The probabilities of all numbered reports on a record."""
    parts = []
    for assignment in structure.assignments:
        whole = np.ones(1)
        for block in assignment.blocks:
            gamma, noise, truth = block.coin / COIN, np.ones(1), np.ones(1)
            for j, family in zip(block.questions, structure.of(block), strict=True):
                noise, truth = np.kron(noise, family.base()), np.kron(truth, family.truth()[record[j]])
            whole = np.kron(whole, (1 - gamma) * noise + gamma * truth)
        parts.append(assignment.weight / COIN * whole)
    return np.concatenate(parts)


def p_value(structure: JointBlocks, wanted: JointBlocks, seed: bytes) -> float:
    """Of the chi-squared test that draws from one structure follow another's law."""
    n, statistic, degrees = 20_000, 0.0, 0
    mechanism = ex.Mechanism.from_structure(structure)
    for number, record in enumerate(itertools.product(*(range(k) for k in structure.sizes))):
        source = CipherWords(bytes([number]) * 16 + seed)
        counts = np.bincount(sample_codes(mechanism, np.full(n, number), source=source), minlength=structure.m)
        expected = n * law(wanted, record)
        statistic += float(((counts - expected) ** 2 / expected).sum())
        degrees += structure.m - 1
    return float(chi2.sf(statistic, degrees))


def test_reports_follow_the_law_and_a_tilted_coin_does_not() -> None:
    assert p_value(STRUCTURE, STRUCTURE, b"a" * 16) > 1e-6
    first, second = STRUCTURE.assignments
    tilted = Assignment((Block((0, 1), (0, 0), COIN // 3 + COIN // 25),), first.weight)
    assert p_value(JointBlocks(STRUCTURE.families, (tilted, second)), STRUCTURE, b"b" * 16) < 1e-6


def test_independent_coins_are_not_one_coin() -> None:
    first, second = STRUCTURE.assignments
    apart = Assignment(tuple(Block((j,), (0,), COIN // 3) for j in (0, 1)), first.weight)
    assert p_value(JointBlocks(STRUCTURE.families, (apart, second)), STRUCTURE, b"c" * 16) < 1e-6


def test_records_are_reported_question_by_question() -> None:
    records = np.array([[1, 3, 2]] * 500)
    found = list(draw_records(STRUCTURE, records, CipherWords(b"d" * 32)))
    assert {(d.assignment, d.question) for d in found} == {(0, 0), (0, 1), (1, 0), (1, 2)}
    places = np.sort(np.concatenate([d.places for d in found if d.question == 0]))
    assert places.tolist() == list(range(500))
    sets = next(d.reports for d in found if d.question == 1)
    assert sets.shape[1] == 2
    assert (sets[:, 0] < sets[:, 1]).all()


def test_sets_are_numbered_in_lexicographic_order() -> None:
    every = np.array(list(itertools.combinations(range(6), 3)))
    assert ranks_of(every, 6).tolist() == list(range(20))


def test_whole_numbers_below_any_bound() -> None:
    for bound in (1, 2, 3, (1 << 61) + 1):
        drawn = _whole_below(bound, 2000, CipherWords(b"e" * 32))
        assert drawn.min() >= 0
        assert drawn.max() < bound
    assert abs(np.mean(_whole_below(3, 30_000, CipherWords(b"f" * 32))) - 1) < 6 * (2 / 3 / 30_000) ** 0.5


def test_reports_without_a_number_are_refused() -> None:
    wide = JointBlocks(((AllSets(100, 40),),), (Assignment((Block((0,), (0,), 1),), COIN),))
    with pytest.raises(TooLarge, match="no number"):
        FromJoint(wide)
