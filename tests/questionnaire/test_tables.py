"""What strategies cost, to the digits that were computed by other code."""

from __future__ import annotations

import itertools
import math

import pytest

import extremal as ex
from audit.questionnaire.cross_tables import cells_of, certified, designed, of_blocks, verdicts
from extremal.errors import InvalidParameter
from extremal.exact import Exponential
from extremal.mechanism.structures.joint import coin_at_most


@pytest.mark.parametrize(
    ("count", "epsilon", "per_person", "cost"),
    [
        (3, 1, 2, 16.6124),
        (3, 2, 3, 3.8041),
        (3, 4, 3, 0.990597),
        (6, 1, 2, 58.1436),
        (6, 2, 2, 13.88),
        (6, 2, 3, 11.4123),
        (6, 4, 4, 2.31845),
        (6, 6, 6, 1.00752),
    ],
)
def test_cross_tables_of_yes_no_questions(count: int, epsilon: int, per_person: int, cost: float) -> None:
    """n × the total squared error of the four cells: with μ = γ² of each question and pair in a block of s of J,
    (2·J/s + J(J − 1)/(s(s − 1)))/(4γ²)."""
    asked = ex.Questionnaire.within(epsilon, {str(j): 2 for j in range(count)}, "joint", per_person)
    stated = of_blocks(count, per_person, epsilon)
    assert cells_of(asked, "0", "1") == pytest.approx(stated, rel=1e-9)
    assert stated == pytest.approx(cost, rel=4e-4)


def test_twelve_times_fewer_people_for_a_cross_table() -> None:
    six = {str(j): 2 for j in range(6)}
    split = cells_of(ex.Questionnaire.within(4, six, "split"), "0", "1")
    joint = cells_of(ex.Questionnaire.within(4, six, "joint"), "0", "1")
    assert split == pytest.approx(28.233278, rel=1e-6)
    assert split / joint == pytest.approx(12.18, abs=0.005)


@pytest.mark.parametrize(
    ("count", "size", "epsilon", "bound"),
    [
        (3, 3, 4, 0.990597),
        (6, 4, 4, 2.318454),
        (6, 6, 6, 1.0075204),
        (12, 2, 1, 156.14532),
        (12, 3, 2, 30.700032),
        (12, 4, 4, 5.7810802),
        (12, 6, 6, 2.5044540),
    ],
)
def test_the_bound_on_cross_tables_is_proved(count: int, size: int, epsilon: int, bound: float) -> None:
    """Of the cells of all pairs, by any mechanism: three questions at ε = 4 are optimal in one block, six in fours."""
    found = certified(count, size, epsilon)
    assert verdicts(found) == "proved/proved"
    assert found.value == pytest.approx(of_blocks(count, size, epsilon), rel=1e-9)
    assert found.bound == pytest.approx(bound, rel=1e-6)
    assert found.bound <= found.value


@pytest.mark.parametrize(("count", "size", "epsilon", "bound"), [(3, 3, 4, 0.990597), (3, 2, 1, 16.1374)])
def test_the_best_mechanism_of_all_for_cross_tables(count: int, size: int, epsilon: int, bound: float) -> None:
    """Where every record is listed: nothing is better than it, and the bound by agreements is not above it."""
    listed, pairs = designed(count, size, epsilon), math.comb(count, 2)
    assert verdicts(listed) == "proved/proved"
    assert listed.value / pairs == pytest.approx(of_blocks(count, size, epsilon), rel=1e-9)
    assert listed.bound / pairs == pytest.approx(bound, rel=1e-5)
    assert certified(count, size, epsilon).bound <= listed.bound / pairs * (1 + 1e-7)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (3, 3)])
def test_tables_of_mixed_questions_cost_what_their_parts_do(sizes: tuple[int, ...]) -> None:
    """The value of a certificate against the rows of every pair of questions, listed."""
    asked = ex.Questionnaire.within(2, {str(j): k for j, k in enumerate(sizes)}, "joint", 2)
    found = asked.certificate(tables=True)
    pairs = list(itertools.combinations(asked.questions, 2))
    assert found.value == pytest.approx(sum(cells_of(asked, *pair) for pair in pairs) / len(pairs), rel=1e-9)
    assert verdicts(found) == "proved/proved"


def test_tables_need_people_who_are_asked_both() -> None:
    for given, per_person in (({"a": 2, "b": 2}, 1), ({"a": 2}, None)):
        with pytest.raises(InvalidParameter, match="per_person=2"):
            ex.Questionnaire.within(1, given, "joint", per_person).certificate(tables=True)


@pytest.mark.parametrize(
    ("epsilon", "sizes", "members", "coin"),
    [
        (4, (2, 2, 2, 2), (1, 1, 1, 1), 6936523697887470),
        (2, (2, 2), (1, 1), 5539242524516729),
        (4, (2, 5), (1, 1), 7590931761103695),
        (2, (24,), (3,), 3999393771010684),
        (1, (11,), (3,), 2874104890462836),
        (5, (256,), (9,), 7550311559049078),
    ],
)
def test_coins(epsilon: int, sizes: tuple[int, ...], members: tuple[int, ...], coin: int) -> None:
    from fractions import Fraction

    odds = math.prod((Fraction(k, d) for k, d in zip(sizes, members, strict=True)), start=Fraction(1))
    assert coin_at_most(Exponential(epsilon), odds) == coin


def match_sets(
    sizes: tuple[int, ...], held: tuple[int, ...], weights: tuple[int, ...], least: int
) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    """All records, and for every report, a set of `held` answers to each question, the records that match it: the
    weights of the questions whose answer is in its set reach `least`."""
    records = list(itertools.product(*map(range, sizes)))
    reports = itertools.product(*(itertools.combinations(range(k), d) for k, d in zip(sizes, held, strict=True)))
    matched = [
        [i for i, x in enumerate(records) if sum(w for w, a, s in zip(weights, x, y, strict=True) if a in s) >= least]
        for y in reports
    ]
    return records, matched


def told(sizes: tuple[int, ...], records: list[tuple[int, ...]], mechanism: ex.Mechanism, *asked: int) -> float:
    """μ of one or two questions, from what their shares or their cross-table cost: Σ Π(k − 1)/μ_A over Πk."""
    cells = itertools.product(*(range(sizes[j]) for j in asked))
    rows = [[float(all(x[j] == a for j, a in zip(asked, cell, strict=True))) for x in records] for cell in cells]
    cost = ex.Workload(rows, len(records))(mechanism) * math.prod(sizes[j] for j in asked)
    if len(asked) > 1:
        cost -= sum((sizes[j] - 1) / told(sizes, records, mechanism, j) for j in asked)
    return float(math.prod(sizes[j] - 1 for j in asked) / cost)


def test_balls_and_weighted_thresholds_are_mechanisms_like_others() -> None:
    """Written as sets of records: at most one mismatch of eight, and questions of different weights."""
    eight = (2,) * 8
    records, matched = match_sets(eight, (1,) * 8, (1,) * 8, 7)
    assert {len(part) for part in matched} == {9}
    ball = ex.Mechanism.from_cover(len(records), matched, ex.LDP(5))
    assert told(eight, records, ball, 0) == pytest.approx(0.4250707943, abs=5e-11)
    assert told(eight, records, ball, 2, 5) == pytest.approx(0.2168728542, abs=5e-11)
    sizes = (2, 3, 5)
    records, matched = match_sets(sizes, (1, 1, 2), (2, 1, 1), 3)
    assert (len(matched), {sum(i in part for part in matched) for i in range(30)}) == (60, {18})
    weighted = ex.Mechanism.from_cover(len(records), matched, ex.LDP(3))
    expected = {
        (0,): 0.7247384740,
        (1,): 0.0805264971,
        (2,): 0.0536843314,
        (0, 1): 0.0805264971,
        (0, 2): 0.0536843314,
        (1, 2): 0.0134210829,
    }
    for asked, mu in expected.items():
        assert told(sizes, records, weighted, *asked) == pytest.approx(mu, abs=5e-11), asked
