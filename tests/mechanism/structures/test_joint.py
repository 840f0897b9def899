"""One report for several questions: the level is exact and attained, and files say all of it."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, PrivacyViolation, TooLarge
from extremal.exact import Exponential
from extremal.mechanism.structures import JointBlocks, structure_from_json
from extremal.mechanism.structures.joint import (
    COIN,
    AllSets,
    Assignment,
    Block,
    Decomposed,
    Family,
    coin_at_most,
)

SCALE = Decomposed(np.array(ex.design(ex.LDP(2), ex.Mean(range(4))).mechanism.weights))


def block(
    families: tuple[tuple[Family, ...], ...], questions: tuple[int, ...], chosen: tuple[int, ...], epsilon: Any
) -> Block:
    odds = Fraction(1)
    for j, f in zip(questions, chosen, strict=True):
        odds *= families[j][f].odds
    return Block(questions, chosen, coin_at_most(Exponential(epsilon), odds))


FAMILIES: tuple[tuple[Family, ...], ...] = (
    (AllSets(2, 1),),
    (AllSets(3, 1), AllSets(3, 2)),
    (AllSets(5, 2),),
    (SCALE,),
)
MIXED = JointBlocks(
    FAMILIES,
    (
        Assignment((block(FAMILIES, (0, 1), (0, 0), 2),), COIN // 2),
        Assignment((block(FAMILIES, (1,), (1,), 1), block(FAMILIES, (2,), (0,), 1)), COIN // 4),
        Assignment((block(FAMILIES, (0, 3), (0, 0), 2),), COIN // 4),
    ),
)


def exact_rows(structure: JointBlocks, assignment: Assignment) -> list[list[Fraction]]:
    """P(y|x) for every record and every report of an assignment, from its definition."""

    def laws(family: Family) -> tuple[list[Fraction], list[list[Fraction]]]:
        if isinstance(family, AllSets):
            sets = list(itertools.combinations(range(family.k), family.size))
            holding = sum(0 in s for s in sets)
            rows = [[Fraction(int(x in s), holding) for s in sets] for x in range(family.k)]
            return [Fraction(1, len(sets))] * len(sets), rows
        low = [min(column) for column in zip(*family.weights.tolist(), strict=True)]
        rest = [[w - v for w, v in zip(row, low, strict=True)] for row in family.weights.tolist()]
        return [Fraction(v, sum(low)) for v in low], [[Fraction(e, sum(row)) for e in row] for row in rest]

    found = []
    for record in itertools.product(*(range(k) for k in structure.sizes)):
        whole = [Fraction(1)]
        for one in assignment.blocks:
            gamma = Fraction(one.coin, COIN)
            noise, truth = [1 - gamma], [gamma]
            for j, family in zip(one.questions, structure.of(one), strict=True):
                base, rows = laws(family)
                noise = [a * b for a in noise for b in base]
                truth = [a * b for a in truth for b in rows[record[j]]]
            whole = [a * (b + c) for a in whole for b, c in zip(noise, truth, strict=True)]
        found.append(whole)
    return found


def test_the_level_is_attained_on_the_whole_product() -> None:
    largest = Fraction(1)
    for assignment in MIXED.assignments:
        rows = exact_rows(MIXED, assignment)
        assert all(sum(row) == 1 for row in rows)
        of_columns = max(max(column) / min(column) for column in zip(*rows, strict=True))
        assert of_columns == Fraction(*MIXED.ratio(assignment))
        largest = max(largest, of_columns)
    assert ex.LDP(2).holds(MIXED)
    assert Exponential(2).at_least(largest.numerator, largest.denominator)
    assert ex.LDP(2).level(MIXED) == pytest.approx(2, abs=1e-14)
    assert not ex.LDP("1.9999999999999").holds(MIXED)


def test_a_large_product_has_the_level_of_the_response_that_it_is() -> None:
    """A block of nine yes/no questions is randomized response on 512 records, too many columns to read one by one."""
    pairs = tuple((AllSets(2, 1),) for _ in range(9))
    nine = JointBlocks(pairs, (Assignment((block(pairs, tuple(range(9)), (0,) * 9, 2),), COIN),))
    response = ex.randomized_response(512, 2)
    uniform = ex.PML(2, [1 / 512] * 512)
    assert uniform.level(nine) == pytest.approx(uniform.level(response), rel=1e-12)
    assert uniform.level(nine) < ex.LDP(2).level(nine) == pytest.approx(2, abs=1e-14)


def test_one_unit_more_on_a_coin_breaks_the_claim() -> None:
    coin = MIXED.assignments[0].blocks[0].coin
    tilted = JointBlocks(FAMILIES, (Assignment((Block((0, 1), (0, 0), coin + 1),), COIN),))
    assert ex.LDP(2).holds(JointBlocks(FAMILIES, (Assignment((Block((0, 1), (0, 0), coin),), COIN),)))
    assert not ex.LDP(2).holds(tilted)
    with pytest.raises(PrivacyViolation):
        ex.Mechanism.from_structure(tilted, ex.LDP(2))


@pytest.mark.parametrize(
    ("epsilon", "odds", "coin"),
    [
        (4, 16, 6936523697887470),
        (2, 4, 5539242524516729),
        (4, 10, 7590931761103695),
        (2, Fraction(24, 3), 3999393771010684),
        (1, Fraction(11, 3), 2874104890462836),
        (5, Fraction(256, 9), 7550311559049078),  # at most one mismatch among eight
    ],
)
def test_coins_to_the_integer(epsilon: int, odds: Any, coin: int) -> None:
    assert coin_at_most(Exponential(epsilon), Fraction(odds)) == coin


def test_a_question_alone_is_its_own_mechanism() -> None:
    """Summed over the other reports, a question of a block is at e^ε = 1 + γ/(1 − γ)·odds."""
    rows = exact_rows(MIXED, MIXED.assignments[0])
    reports = 3
    for x, first in ((0, 0), (1, 1)):
        records = [i for i, r in enumerate(itertools.product(*(range(k) for k in MIXED.sizes))) if r[0] == x]
        alone = [[sum(rows[i][y * reports : (y + 1) * reports]) for y in range(2)] for i in records]
        kind = MIXED.kinds(0)[0]
        assert alone[0] == alone[-1]
        assert MIXED.alone(0, kind)[first] == pytest.approx([float(p) for p in alone[0]], abs=1e-15)
    assert MIXED.asked(0) == Fraction(3, 4)
    assert [(k.family, k.weight) for k in MIXED.kinds(1)] == [(0, COIN // 2), (1, COIN // 4)]
    assert MIXED.kinds(3)[0].family == 0
    assert MIXED.mixture(3).sum(axis=1) == pytest.approx(np.ones(4))
    assert MIXED.mixture(1).shape == (3, 6)


def test_what_is_stored_is_read_again() -> None:
    again = structure_from_json(json.loads(json.dumps(MIXED.to_json())))
    assert isinstance(again, JointBlocks)
    assert again.to_json() == MIXED.to_json()
    assert (again.sizes, again.r, again.m, again.k, again.row_classes) == ((2, 3, 5, 4), 120, MIXED.m, 120, 120)
    mechanism = ex.Mechanism.from_structure(MIXED, ex.LDP(2))
    assert "by the truth" in str(mechanism)
    for refused in (MIXED.rows, MIXED.distinct_rows):
        with pytest.raises(TooLarge, match="set of answers"):
            refused()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AllSets(2, 2), "not all of them"),
        (lambda: AllSets(True, 1), "not all of them"),
        (lambda: Decomposed(np.ones((1, 2), dtype=np.int64)), "rows of at most"),
        (lambda: Decomposed(np.ones((2, 2), dtype=np.int64)), "differ between answers"),
        (lambda: Decomposed(np.array([[0, 2], [1, 1]])), "must be positive"),
        (lambda: Decomposed(np.array([[1, 2], [1, 1]])), "sum to the same"),
        (lambda: JointBlocks((), ()), "1 to 4096 questions"),
        (lambda: JointBlocks(((),), ()), "each with a family"),
        (lambda: JointBlocks(((AllSets(2, 1), AllSets(3, 1)),), ()), "same answers"),
        (lambda: JointBlocks(((AllSets(2, 1),),), ()), "1 to 8192 assignments"),
        (lambda: one(Block((0,), (0,), 1), weight=COIN - 1), "sum to 2\\^53"),
        (lambda: one(Block((0,), (0,), 0)), "coin must lie"),
        (lambda: one(Block((0,), (0,), COIN)), "coin must lie"),
        (lambda: one(Block((0,), (1,), 1)), "a family of each"),
        (lambda: one(Block((), (), 1)), "a family of each"),
        (lambda: one(Block((1, 0), (0, 0), 1)), "in their order"),
        (lambda: one(Block((2,), (0,), 1)), "each once"),
        (lambda: one(), "some questions"),
        (lambda: one(Block((0,), (0,), 1), Block((0,), (0,), 1)), "each once"),
        (lambda: coin_at_most(Exponential("1e-9"), Fraction(1 << 60)), "no coin"),
    ],
)
def test_what_is_no_joint_mechanism_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def one(*blocks: Block, weight: int = COIN) -> JointBlocks:
    return JointBlocks(((AllSets(2, 1),), (AllSets(2, 1),)), (Assignment(blocks, weight),))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["questions"][0][0].update(size="1"),
        lambda c: c["questions"].__setitem__(0, [{"answers": 2}]),
        lambda c: c["questions"].__setitem__(0, [{"weights": [["1", "2"], ["1"]]}]),
        lambda c: c["assignments"][0]["blocks"][0].update(questions=["0", 1]),
        lambda c: c["assignments"][0].update(weight=5),
        lambda c: c.update(assignments={}),
    ],
)
def test_strange_files_are_refused(change: Any) -> None:
    content = json.loads(json.dumps(MIXED.to_json()))
    change(content)
    with pytest.raises((MalformedFile, InvalidParameter)):
        structure_from_json(content)
