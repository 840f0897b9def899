"""The arithmetic of the checker that stands alone: enclosures that hold, are narrow, and are refused where they decide
nothing; costs and definiteness against exact elimination."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import extremal as ex
from extremal.certificate import enclosure
from extremal.checker import numbers, verdicts
from extremal.checker.costs import FINE_INVERSE, cost
from extremal.checker.goals import read_goal
from extremal.checker.matrices import require_definite
from extremal.checker.mechanisms import read_mechanism
from extremal.checker.numbers import INFINITE, Interval, Rejected, Undecided, Unsettled, afford, ends, settled
from support.checkers import claiming

NARROW = Fraction(1, 10**100)


@pytest.mark.parametrize("name", ["ln", "exp", "root"])
def test_an_enclosure_holds_the_number_and_is_narrow(name: str) -> None:
    draw = random.Random(name)
    for _ in range(40):
        x = (
            Fraction(draw.randint(1, 10**30), draw.randint(1, 10**30))
            if name != "exp"
            else Fraction(draw.uniform(-50, 50))
        )
        found = getattr(numbers, name)(x)
        with ctx.workprec(600):
            ball = arb(fmpq(x.numerator, x.denominator))
            true = {"ln": ball.log(), "exp": ball.exp(), "root": ball.sqrt()}[name]
            low, high = (arb(fmpq(end.numerator, end.denominator)) for end in (found.low, found.high))
            assert low <= true <= high
        assert found.high - found.low <= NARROW * max(abs(found.low), NARROW)


def test_intervals_hold_what_their_numbers_make() -> None:
    draw = random.Random(0)
    for _ in range(200):
        a, b, c, d = (Fraction(draw.randint(-9, 9), draw.randint(1, 9)) for _ in range(4))
        x, y = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
        for made, true in (
            (x + y, a + c),
            (x - y, a - c),
            (x * y, a * c),
            (-x, -a),
            (x.positive(), max(a, Fraction(0))),
        ):
            assert made.low <= true <= made.high
        if y.low > 0 or y.high < 0:
            assert (x / y).low <= a / c <= (x / y).high
        else:
            with pytest.raises(Unsettled):
                x / y


def test_a_question_is_asked_again_with_more_digits() -> None:
    third = Fraction(1, 3)
    near = Fraction(10**300 + 1, 3 * 10**300)
    gap = settled(lambda: _positive(numbers.exp(near) - numbers.exp(third)))
    assert gap
    with pytest.raises(Undecided):
        settled(lambda: _positive(numbers.exp(third) - numbers.exp(third)))


def _positive(x: Interval) -> bool:
    if x.low <= 0 <= x.high:
        raise Unsettled
    return x.low > 0


def test_work_is_refused_before_it_starts() -> None:
    numbers.Work.spent = 0
    with pytest.raises(Undecided, match="at most 10"):
        afford(11, 10, "steps")
    numbers.Work.spent = 0
    for _ in range(3):
        afford(10, 10, "steps")
    with pytest.raises(Undecided, match="together"):
        afford(10, 10, "steps")
    numbers.Work.spent = 0


def test_definiteness_is_that_of_exact_pivots() -> None:
    draw, said = random.Random(1), set()
    for _ in range(60):
        n = draw.randint(1, 6)
        b = [[Fraction(draw.randint(-4, 4)) for _ in range(n)] for _ in range(n)]
        shift = Fraction(draw.randint(-6, 6), 4)
        a = [[sum(b[x][i] * b[z][i] for i in range(n)) + (shift if x == z else 0) for z in range(n)] for x in range(n)]
        definite, whole = _has_positive_pivots(a), [[int(4 * v) for v in row] for row in a]
        said.add(definite)
        if definite:
            require_definite(whole)
        else:
            with pytest.raises(Rejected):
                require_definite(whole)
    assert said == {True, False}


def _has_positive_pivots(a: list[list[Fraction]]) -> bool:
    rows = [list(row) for row in a]
    for i, own in enumerate(rows):
        if own[i] <= 0:
            return False
        for row in rows[i + 1 :]:
            factor = row[i] / own[i]
            row[:] = [v - factor * w for v, w in zip(row, own, strict=True)]
    return True


COSTS: dict[str, tuple[Any, Any]] = {
    "all sets": (lambda: ex.subset_selection(7, 1, size=3), ex.Frequencies(7)),
    "all sets, two classes": (
        lambda: ex.subset_selection(5, 1, size=2),
        ex.Frequencies(["0.3", "0.3", "0.1", "0.1", "0.2"]),
    ),
    "all sets, another goal": (lambda: ex.subset_selection(5, 1, size=2), ex.CDF(5)),
    "response": (lambda: ex.randomized_response(6, 2), ex.Ranges(6)),
    "listed": (lambda: ex.Mechanism.from_matrix(np.random.default_rng(3).dirichlet(np.ones(6), size=4)), ex.CDF(4)),
    "fewer reports than inputs": (lambda: ex.stochastic_rounding(5, 1), ex.Mean(range(5))),
    "not identified": (lambda: ex.stochastic_rounding(5, 1), ex.Frequencies(5)),
    "an input of probability 0": (lambda: ex.randomized_response(4, 1), ex.CDF(["0.5", "0", "0.25", "0.25"])),
    "a report of probability 0": (
        lambda: ex.Mechanism.from_matrix([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5]]),
        ex.Frequencies(["0.5", "0.5", "0"]),
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_cost_is_that_of_the_kernel(name: str) -> None:
    make, goal = COSTS[name]
    mechanism = make()
    found = cost(read_goal(goal.to_json()), read_mechanism(claiming(mechanism, None)), None)  # type: ignore[arg-type]
    low, high = enclosure(goal, mechanism)
    if isinstance(found, float):
        assert found == INFINITE == low
    else:
        assert found.low <= high
        assert low <= found.high
        assert found.high - found.low <= Fraction(2, 2**FINE_INVERSE) * found.high


@pytest.mark.parametrize(
    ("value", "low", "high", "over_class", "said"),
    [
        (1, 1, 1, False, "proved"),
        (1, 1 + Fraction(1, 2**53), 1 + Fraction(1, 2**53), False, "proved"),
        (1, 1 + Fraction(1, 2**52), 1 + Fraction(1, 2**52), False, "refuted"),
        (1, 1 - Fraction(1, 2**53), 1 - Fraction(1, 2**53), False, "refuted"),
        (1, 1 - Fraction(1, 10**7), 1, True, "proved"),
        (1, 1 - Fraction(1, 10**5), 1, True, "not proven"),
        (1, 1, 1 + Fraction(1, 10**7), True, "not proven"),
        (1, Fraction(1, 2), Fraction(3, 4), True, "refuted"),
        (1, Fraction(3, 2), 2, True, "refuted"),
    ],
)
def test_a_value_is_next_to_the_true_one(value: int, low: Any, high: Any, over_class: bool, said: str) -> None:
    assert verdicts.judged(Fraction(value), Interval(Fraction(low), Fraction(high)), over_class) == said


def test_infinity_is_claimed_of_what_is_infinite_only() -> None:
    assert verdicts.judged(INFINITE, INFINITE, over_class=False) == "proved"
    assert verdicts.judged(INFINITE, ends(10**400), over_class=False) == "refuted"
    assert verdicts.judged(Fraction(1), INFINITE, over_class=False) == "refuted"
