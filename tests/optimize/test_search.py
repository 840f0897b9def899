"""The one loop of column generation, on programs that can be listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from extremal.optimize.search import Columns, Floats, Limits, Master, Priced, Pricing, generate
from extremal.solver import SolverFailed

RNG = np.random.default_rng(4)
ROWS, COUNT = 6, 400
EVERY = RNG.uniform(0, 1, (COUNT, ROWS))
WORTH = np.sqrt((EVERY**2).sum(axis=1))  # of these; single rows, with which the search begins, are worth nothing


class Listed(Pricing):
    """Prices by looking at all columns; the bound raises the point along the ones vector."""

    most = 5

    def __init__(self) -> None:
        self.priced, self.widened = 0, 0

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        self.priced += 1
        gain = WORTH - EVERY @ point
        raised = point + max(0.0, float((gain / EVERY.sum(axis=1)).max()))
        return Priced(point, EVERY[gain > 0], WORTH[gain > 0], float(raised.sum()), raised, kept="kept")

    def widen(self, master: Master) -> bool:
        self.widened += 1
        return False


def limits(tolerance: float = 1e-9, **more: object) -> Limits:
    return replace(Limits(tolerance, lambda: False, lambda _: None, lambda: None), **more)


def started(count: int = 3) -> Master:
    master = Master(np.ones(ROWS), np.ones(ROWS))
    master.add(EVERY[:count], WORTH[:count])
    master.add(np.eye(ROWS), np.zeros(ROWS))
    assert master.solve()
    return master


def optimum() -> float:
    return started(COUNT).value


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_optimum_of_all_columns_is_found_and_bounded(share: float) -> None:
    master, pricing = started(), Listed()
    best = generate(master, pricing, Priced.nothing(ROWS), limits(), share=share)
    assert master.value == pytest.approx(optimum(), rel=1e-9)
    assert best.kept == "kept"
    assert master.value <= best.bound * (1 + 1e-12)
    assert best.bound == pytest.approx(master.value, rel=1e-8)
    columns, weights = master.mixture()
    assert weights @ columns == pytest.approx(np.ones(ROWS), abs=1e-9)
    assert len(columns) <= ROWS


def test_better_points_are_told_one_by_one() -> None:
    seen: list[float] = []
    best = generate(started(), Listed(), Priced.nothing(ROWS), limits(), watch=lambda priced: seen.append(priced.bound))
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == best.bound


def test_a_bound_that_is_known_ends_the_search() -> None:
    pricing = Listed()
    generate(started(), pricing, Priced.nothing(ROWS), limits(known=started().value))
    assert pricing.priced == 0


def test_time_and_patience_end_it() -> None:
    pricing = Listed()
    generate(started(), pricing, Priced.nothing(ROWS), limits(stop=lambda: True))
    assert pricing.priced == 0
    impatient = Listed()
    generate(started(), impatient, Priced.nothing(ROWS), limits(tolerance=1e-15, patience=0))
    assert impatient.priced < 20


def test_nothing_left_asks_for_a_wider_search() -> None:
    """Without a bound the search ends when pricing finds nothing and cannot be widened."""

    class WithoutBound(Listed):
        def price(self, point: Floats, gap: float, best: float) -> Priced:
            return replace(super().price(point, gap, best), bound=inf, raised=None)

    master, pricing = started(), WithoutBound()
    best = generate(master, pricing, Priced.nothing(ROWS), limits())
    assert best.bound == inf
    assert pricing.widened == 1
    assert master.value == pytest.approx(optimum(), rel=1e-9)


def test_further_points_and_columns_are_used() -> None:
    class Curious(Listed):
        def price(self, point: Floats, gap: float, best: float) -> Priced:
            return replace(super().price(point, gap, best), columns=EVERY[:0], values=WORTH[:0])

        def others(self, master: Master) -> Iterable[Floats]:
            yield master.point

        def explore(self, point: Floats, master: Master, gap: float) -> Iterable[Columns]:
            yield EVERY, WORTH

    master, pricing = started(), Curious()
    generate(master, pricing, Priced.nothing(ROWS), limits())
    assert master.value == pytest.approx(optimum(), rel=1e-9)
    assert pricing.priced >= 4


def test_columns_are_told_apart() -> None:
    master = Master(np.ones(2), np.ones(2), admits=lambda columns: columns[:, 0] > 0, digits=10)
    near = np.array([[1.0, 0.5], [1.0, 0.5 + 1e-12], [0.0, 1.0], [1.0, 0.25]])
    assert master.add(near, np.array([1.0, 1.0, 1.0, np.inf])) == 1
    exact = Master(np.ones(2), np.ones(2))
    assert exact.add(near[:2], np.ones(2)) == 2
    assert exact.add(near[:2], np.ones(2)) == 0
    assert len(exact.columns) == 2


def test_units_change_nothing_but_the_program() -> None:
    plain, scaled = started(), Master(np.ones(ROWS), np.ones(ROWS), np.full(ROWS, 0.25), 0.25)
    scaled.add(EVERY[:3], WORTH[:3])
    scaled.add(np.eye(ROWS), np.zeros(ROWS))
    assert scaled.solve()
    assert scaled.value == pytest.approx(plain.value)
    assert scaled.point == pytest.approx(plain.point)
    assert scaled.mixture()[1] == pytest.approx(plain.mixture()[1])


def test_a_variable_that_is_no_column_has_no_weight() -> None:
    """max Σθ s.t. θ_i − t = 0, Σθ ≤ 1: t is fixed, not a column."""
    master = Master(np.array([0.0, 0.0, -np.inf]), np.array([0.0, 0.0, 1.0]))
    master.fix(np.array([[-1.0, -1.0, 0.0]]), np.zeros(1))
    master.add(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.ones(2))
    assert master.solve()
    assert master.weights == pytest.approx([0.5, 0.5])
    assert len(master.mixture()[0]) == 2


def test_a_solver_that_fails_leaves_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    master = started()
    value, weights = master.value, master.weights
    master.add(EVERY[3:6], WORTH[3:6])

    def fails(*_: object) -> None:
        raise SolverFailed("no vertex", parameter="status", value="Time limit reached")

    monkeypatch.setattr("extremal.solver.LinearProgram.solve", fails)
    assert not master.solve()
    master.polish()  # the vertex is an older one than the program's: left as it is
    assert master.value == value
    assert (master.weights == weights).all()
    assert generate(master, Listed(), Priced.nothing(ROWS), limits()).kept == "kept"


def test_a_program_that_misled_the_solver_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from extremal.solver import LinearProgram

    master, solve, calls = started(), LinearProgram.solve, []

    def fails_once(self: LinearProgram, seconds: float | None = None) -> object:
        calls.append(self)
        if len(calls) == 1:
            raise SolverFailed("no vertex", parameter="status", value="Unknown")
        return solve(self, seconds)

    master.add(EVERY, WORTH)
    monkeypatch.setattr("extremal.solver.LinearProgram.solve", fails_once)
    assert master.solve(polish=True)
    assert calls[0] is not calls[1]
    assert master.value == pytest.approx(optimum(), rel=1e-9)


def test_before_any_answer_there_is_nothing() -> None:
    master = Master(np.ones(2), np.ones(2))
    master.polish()
    assert master.weights.size == 0
    assert master.add(np.zeros((0, 2)), np.zeros(0)) == 0
