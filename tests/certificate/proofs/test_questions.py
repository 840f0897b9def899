"""Bounds on the shares of several questions: exact where they should be, never beyond a mechanism."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.certificate import Agreements, NotKnown, Refused, YesNo, enclosure
from extremal.certificate.proofs.questions import krawtchouk, root_below
from extremal.certificate.proofs.yes_no import _by_recursion, largest_squares, most_told
from extremal.mechanism.structures import JointBlocks
from extremal.mechanism.structures.joint import COIN, AllSets, Assignment, Block, Decomposed
from extremal.problem import QuestionsGoal, TablesGoal
from support.proofs.examples import asked_example, means_of_signs, shares_of_questions

ONE, ZERO = Fraction(1), Fraction(0)


def goal_of(*sizes: int, largest: bool = False, weights: tuple[int, ...] = ()) -> QuestionsGoal:
    return QuestionsGoal(sizes, tuple(map(Fraction, weights)) or (ONE,) * len(sizes), largest)


def block_cost(count: int, epsilon: float) -> float:
    """n × variance of a ±1 answer with the best block of yes/no questions."""
    c = math.expm1(epsilon)
    return min(count / s * (1 + 2**s / c) ** 2 for s in range(1, count + 1))


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", [0.5, 1, 1.3, 2, 3, 4, 6])
def test_blocks_are_optimal_for_up_to_seven_yes_no_questions(count: int, epsilon: float) -> None:
    bound = YesNo((2,) * count).bound(ex.LDP(epsilon), goal_of(*[2] * count))
    assert 2 * float(bound) / count == pytest.approx(block_cost(count, epsilon), rel=1e-12)
    largest = YesNo((2,) * count).bound(ex.LDP(epsilon), goal_of(*[2] * count, largest=True))
    assert 4 * float(largest) == pytest.approx(block_cost(count, epsilon), rel=1e-12)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
def test_no_set_is_better_than_a_block_at_any_level(count: int) -> None:
    """1/√Σμ of a set is (z + m)/√W, a line in z = 2^J/(e^ε − 1). Between the places where one block takes over from
    another the best block is a line too, so that it is enough to compare there, at z = 0, and by slope for large z."""
    lines = [(m, math.sqrt(w)) for m, w in enumerate(largest_squares(count)) if w]
    blocks = [(2 ** (count - s), 2 ** (count - s) * math.sqrt(s)) for s in range(count, 0, -1)]
    assert max(root for _, root in lines) == blocks[-1][1]  # the slopes: one question at a time
    places = [0.0]
    for (m, root), (more, larger) in itertools.pairwise(blocks):
        places.append((more / larger - m / root) / (1 / root - 1 / larger))
    assert places == sorted(places)
    for z in places:
        best = min((z + m) / root for m, root in blocks)
        assert min((z + m) / root for m, root in lines) >= best * (1 - 1e-12)


@pytest.mark.parametrize(("count", "sets"), [(1, 3), (2, 5), (3, 10), (4, 27), (5, 119)])
def test_all_closed_sets_are_listed(count: int, sets: int) -> None:
    """Against all sets of records, one by one, where they are few."""
    records = list(itertools.product((0, 1), repeat=count))
    order = [np.cumsum(r) for r in records]
    if count <= 3:
        best = [0] * (len(records) + 1)
        closed = 0
        for word in range(1 << len(records)):
            inside = [i for i in range(len(records)) if word >> i & 1]
            if all(j in inside for i in inside for j in range(len(records)) if (order[j] >= order[i]).all()):
                closed += 1
                sums = [sum(2 * records[i][j] - 1 for i in inside) for j in range(count)]
                best[len(inside)] = max(best[len(inside)], sum(s * s for s in sums))
        assert closed == sets
        assert best == list(largest_squares(count))
    assert len(largest_squares(count)) == 2**count + 1


@pytest.mark.parametrize("epsilon", [2, 4, 6])
def test_the_recursion_is_above_the_truth_and_near(epsilon: float) -> None:
    ratio = Fraction(math.exp(epsilon))
    for count in (2, 4):
        exact, above = float(most_told(count, ratio)), float(_by_recursion(count, ratio - 1))
        assert exact <= above <= 1.005 * exact


def test_more_than_seven_questions() -> None:
    for epsilon, least in ((1, 1.0), (2, 0.99), (4, 0.96)):
        bound = YesNo((2,) * 8).bound(ex.LDP(epsilon), goal_of(*[2] * 8))
        assert least * block_cost(8, epsilon) <= 2 * float(bound) / 8 <= block_cost(8, epsilon) * (1 + 1e-12)
    assert _by_recursion(2, Fraction(10**400)) <= 25


def test_the_inequality_is_used_up_to_a_ratio_of_three_alone() -> None:
    for ratio, alone in ((Fraction(3), True), (Fraction(39, 10), False)):
        assert (most_told(8, ratio) == ((ratio - 1) / (ratio + 1)) ** 2) == alone


def test_weights_count_below_a_ratio_of_three() -> None:
    weighted = goal_of(2, 2, weights=(1, 4))
    bound = YesNo((2, 2)).bound(ex.LDP(1), weighted)
    assert float(bound) == pytest.approx((math.sqrt(0.5) + math.sqrt(2)) ** 2 / math.tanh(0.5) ** 2)
    with pytest.raises(Refused, match="same weight"):
        YesNo((2, 2)).bound(ex.LDP(2), weighted)


def test_no_numbers_are_parsevals_bound() -> None:
    """Σ(k_j − 1)μ_j ≤ sinh²(ε/2)."""
    bound = Agreements((2, 3), (0, 1), (Fraction(0),) * 3).bound(ex.LDP(1), goal_of(2, 3))
    v, b = [1, 2], [0.5, 2 / 3]
    wanted = sum(math.sqrt(x * y) for x, y in zip(v, b, strict=True)) ** 2 / math.sinh(0.5) ** 2
    assert float(bound) == pytest.approx(wanted, rel=1e-12)


def test_characters_are_sums_over_records() -> None:
    for n, k in ((2, 3), (3, 2), (2, 4)):
        table = krawtchouk(n, k)
        for a in range(n + 1):
            for m in range(n + 1):
                total = 0
                for record in itertools.product(range(k), repeat=n):
                    if sum(x != 0 for x in record) == m:
                        total += math.prod(k - 1 if record[j] == 0 else -1 for j in range(a))
                assert table[a][m] * (k - 1) ** a == total


def test_a_workload_and_its_questions_have_the_same_bound() -> None:
    for proof, sizes in ((YesNo((2, 2, 2, 2)), (2, 2, 2, 2)), (Agreements((2, 3), (0, 1), (ONE / 50,) * 3), (2, 3))):
        listed = proof.bound(ex.LDP(2), shares_of_questions(*sizes))
        unbiased = proof.bound(ex.LDP(2), goal_of(*sizes))
        assert 0 < unbiased / listed - 1 < 1e-12  # a workload counts a bias, which can only lower its bound


def test_a_known_constant_changes_no_bound() -> None:
    """Σ p is known: the share of one of two answers, or the mean of ±1, says what both shares say."""
    proof, both = YesNo((2, 2, 2)), shares_of_questions(2, 2, 2)
    of_both = proof.bound(ex.LDP(2), both)
    assert proof.bound(ex.LDP(2), means_of_signs(3)) / of_both == pytest.approx(2, rel=1e-20)
    assert proof.bound(ex.LDP(2), ex.Workload(both.rows[::2].tolist(), 8)) / of_both == pytest.approx(0.5, rel=1e-20)
    assert proof.bound(ex.LDP(2), ex.Workload((both.rows[1::2] + 5).tolist(), 8)) == pytest.approx(of_both / 2)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_a_design_for_means_of_signs_is_proved_optimal(epsilon: float) -> None:
    found = ex.design(ex.LDP(epsilon), means_of_signs(4))
    assert found.value == pytest.approx(4 * block_cost(4, epsilon), rel=1e-6)  # a bias is counted
    assert found.gap < 1e-12
    assert ex.verify(found)


@pytest.mark.parametrize(
    ("proof", "notion", "goal", "why"),
    [
        (YesNo((2, 2)), ex.LDP(1), goal_of(2, 2, 2), "questions of the goal"),
        (YesNo((2, 2)), ex.LDP(1), ex.KL(["0.5", "0.5"], ["0.4", "0.6"]), "shares of questions"),
        (YesNo((2, 3)), ex.LDP(1), goal_of(2, 3), "yes/no questions"),
        (YesNo((2,) * 25), ex.LDP(1), goal_of(*[2] * 25), "up to 24"),
        (YesNo((2, 2)), ex.LDP(1), TablesGoal((2, 2)), "the shares of"),
        (YesNo((2, 2)), ex.LDP(1), TablesGoal((2, 2, 2)), "questions of the goal"),
        (YesNo((2, 2)), ex.LDP(1, "0.1"), goal_of(2, 2), "about ε-LDP"),
        (YesNo((2, 2)), ex.LDP(0), goal_of(2, 2), "nothing is told"),
        (YesNo((2, 2)), ex.LDP(1), ex.Frequencies(4), "shares of every question"),
        (YesNo((2, 2)), ex.LDP(1), ex.Workload([[1, 0, 0, -1]], 4), "shares of every question"),
        (YesNo((2, 2)), ex.LDP(1), ex.Workload([[1, 1, -1, -1], [1, -1, 1, -2]], 4), "shares of every question"),
        (YesNo((2, 2)), ex.LDP(1), ex.Frequencies(["0.4", "0.2", "0.2", "0.2"]), "equally likely"),
        (YesNo((2, 2)), ex.LDP(1), ex.Frequencies(5), "make the records"),
        (YesNo(()), ex.LDP(1), ex.Frequencies(4), "make the records"),
        (Agreements((2, 2), (0,), ()), ex.LDP(1), goal_of(2, 2), "a group"),
        (Agreements((2, 2), (0, 2), (ONE,) * 3), ex.LDP(1), goal_of(2, 2), "a group"),
        (Agreements((2, 3), (0, 0), (ONE,) * 2), ex.LDP(1), goal_of(2, 3), "same number of answers"),
        (Agreements((2, 2), (0, 0), (ONE,)), ex.LDP(1), goal_of(2, 2), "a number ≥ 0"),
        (Agreements((2, 2), (0, 0), (ONE, -ONE)), ex.LDP(1), goal_of(2, 2), "a number ≥ 0"),
        (Agreements((2, 2, 2), (0,) * 3, (ZERO, ONE / 2, ZERO)), ex.LDP(1), goal_of(2, 2, 2), "every r_A"),  # r_3 = −½
        (Agreements((2, 2, 2), (0,) * 3, (ONE,) * 3), ex.LDP(1), goal_of(2, 2, 2), "ν must be"),  # ν = 7
        (
            Agreements((2, 2, 2), (0,) * 3, (ONE, Fraction(0), Fraction(0))),
            ex.LDP(2),
            goal_of(2, 2, 2),
            "positive bound",
        ),
        (Agreements((2,) * 13, tuple(range(13)), ()), ex.LDP(1), goal_of(*[2] * 13), "a number ≥ 0"),
    ],
)
def test_what_does_not_check_is_refused(proof: Any, notion: Any, goal: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        proof.bound(notion, goal)


def test_roots_are_below() -> None:
    for number in (Fraction(2), Fraction(1, 3), Fraction(0)):
        assert root_below(number) ** 2 <= number
        assert float(root_below(number)) == pytest.approx(math.sqrt(number))


# -- values


def blocks(*families: Any) -> ex.Mechanism:
    options = tuple((family,) for family in families)
    asked = Block(tuple(range(len(families))), (0,) * len(families), COIN // 2)
    return ex.Mechanism.from_structure(JointBlocks(options, (Assignment((asked,), COIN),)))


def test_the_cost_of_blocks_is_that_of_the_listed_product() -> None:
    """By the information matrix of all records, for the sum over questions."""
    example = asked_example((2, 2, 2), largest=False)
    mechanism = ex.Questionnaire.within("1.5", {str(j): 2 for j in range(3)}, "joint").joint
    assert mechanism is not None
    rows = []
    structure = mechanism.structure
    for record in itertools.product(range(2), repeat=3):
        parts = []
        for assignment in structure.assignments:
            (block,) = assignment.blocks
            gamma, noise, truth = block.coin / COIN, np.ones(1), np.ones(1)
            for j, family in zip(block.questions, structure.of(block), strict=True):
                noise, truth = np.kron(noise, family.base()), np.kron(truth, family.truth()[record[j]])
            parts.append(assignment.weight / COIN * ((1 - gamma) * noise + gamma * truth))
        rows.append(np.concatenate(parts))
    assert float(example.high) == pytest.approx(shares_of_questions(2, 2, 2)(np.array(rows)), rel=1e-9)


def test_what_has_no_known_cost() -> None:
    with pytest.raises(NotKnown, match="same questions"):
        enclosure(goal_of(2, 3), blocks(AllSets(3, 1), AllSets(2, 1)))
    with pytest.raises(NotKnown, match="same questions"):
        enclosure(goal_of(2, 2), ex.randomized_response(4, 1))
    scale = Decomposed(np.array([[1, 3], [3, 1]]))
    with pytest.raises(NotKnown, match="sets of answers"):
        enclosure(goal_of(2, 2), blocks(scale, AllSets(2, 1)))
    one = JointBlocks(((AllSets(2, 1),),) * 2, (Assignment((Block((0,), (0,), 1),), COIN),))
    assert enclosure(goal_of(2, 2), ex.Mechanism.from_structure(one)) == (math.inf, math.inf)
    assert enclosure(TablesGoal((2, 2)), ex.Mechanism.from_structure(one)) == (math.inf, math.inf)


# -- cross-tables


def test_two_coins_tell_the_product_about_two_questions() -> None:
    """Blocks of one question each, both asked: the listed product of two mechanisms says what their table costs."""
    coins = COIN // 2, COIN // 3
    apart = tuple(Block((j,), (0,), coin) for j, coin in enumerate(coins))
    structure = JointBlocks(((AllSets(2, 1),), (AllSets(3, 1),)), (Assignment(apart, COIN),))
    rows = [
        (1 - coin / COIN) * np.full((k, k), 1 / k) + coin / COIN * np.eye(k)
        for coin, k in zip(coins, (2, 3), strict=True)
    ]
    (low, high) = enclosure(TablesGoal((2, 3)), ex.Mechanism.from_structure(structure))
    assert low == high
    assert float(low) == pytest.approx(ex.Frequencies(6)(np.kron(*rows)), rel=1e-9)


def test_agreements_bound_tables_of_their_questions_alone() -> None:
    privacy = ex.LDP(1)
    assert float(Agreements((2, 2), (0, 0), (ZERO, ZERO)).bound(privacy, TablesGoal((2, 2)))) > 0
    with pytest.raises(Refused, match="questions of the goal"):
        Agreements((2, 3), (0, 1), (ZERO,) * 3).bound(privacy, TablesGoal((2, 2)))
    nothing_left = (ONE / 7, *[ZERO] * 8, ONE / 7)  # N̂ = 1 for one and for two of ten questions
    with pytest.raises(Refused, match="positive bound"):
        Agreements((2,) * 10, (0,) * 10, nothing_left).bound(privacy, TablesGoal((2,) * 10))
