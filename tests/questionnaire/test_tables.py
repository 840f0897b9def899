"""What strategies cost, to the digits that were computed by other code."""

from __future__ import annotations

import math

import pytest

import extremal as ex
from audit.questionnaire.cross_tables import cells_of, certified, numbers_of, of_blocks, verdicts
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
    ("count", "size", "epsilon", "bound"), [(3, 3, 4, 0.990597), (4, 2, 1, None), (3, 2, 1, 16.1374)]
)
def test_the_bound_on_cross_tables_is_proved(count: int, size: int, epsilon: int, bound: float | None) -> None:
    """Of the cells of all pairs, by any mechanism: three questions at ε = 4 are optimal in one block, at ε = 1 the best
    mechanism of all is known."""
    found, pairs = certified(count, size, epsilon), math.comb(count, 2)
    assert verdicts(found) == "proved/proved"
    assert found.value / pairs == pytest.approx(of_blocks(count, size, epsilon), rel=1e-9)
    assert numbers_of(count, epsilon)[1] * (1 - 1e-6) <= found.bound / pairs <= found.value / pairs
    if bound is not None:
        assert found.bound / pairs == pytest.approx(bound, rel=1e-5)


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
