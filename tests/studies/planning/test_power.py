"""Plans of tests: what they promise is what the test prints, and what happens."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.studies.planning.hypotheses import RatioTest
from extremal.tables import outward
from support.surveys.simulated import simulated_rejections

P0, P1 = [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]
WIDE = ex.Mechanism.from_weights([[4, 2, 1, 1], [1, 4, 2, 1], [1, 1, 2, 4]], 8)


def test_the_plan_says_what_the_test_will_print() -> None:
    for found in (
        ex.plan_test(p0=P0, p1=P1, epsilon=1, n=150),
        ex.plan_test(WIDE, p0=P0, p1=P1, n=60, alpha=0.01),
    ):
        counts = np.zeros(found.mechanism.m, dtype=int)
        counts[0] = found.n
        printed = ex.test_hypotheses(counts, found.mechanism, P0, P1, found.alpha, counts=True)
        assert (printed.level, printed.critical, printed.exact) == (found.level, found.critical, found.exact)
        assert printed.missed == pytest.approx(1 - found.power, abs=1e-12)
        assert found.level <= found.alpha


@pytest.mark.parametrize("mechanism", [None, WIDE])
def test_n_does_and_one_fewer_does_not(mechanism: ex.Mechanism | None) -> None:
    options = {"p0": P0, "p1": P1} | ({"epsilon": 1} if mechanism is None else {})
    found = ex.plan_test(mechanism, power=0.8, **options)
    assert found.solved == "n"
    assert found.power >= 0.8
    assert ex.plan_test(mechanism, n=found.n - 1, **options).power < 0.8
    assert found.without_privacy < found.n


def test_epsilon_does_and_a_little_less_does_not() -> None:
    found = ex.plan_test(p0=P0, p1=P1, n=300, power=0.8)
    assert found.solved == "epsilon"
    assert found.power >= 0.8
    assert ex.plan_test(p0=P0, p1=P1, n=300, epsilon=round(found.epsilon - 1e-4, 4)).power < 0.8


@pytest.mark.parametrize("case", range(4))
def test_simulated_tests_are_as_powerful_as_planned(case: int) -> None:
    """The audit does the same for 20 plans and more data."""
    found = [
        lambda: ex.plan_test(p0=P0, p1=P1, epsilon=1, power=0.8),
        lambda: ex.plan_test(p0=P0, p1=P1, epsilon=3, power=0.9, alpha=0.01),
        lambda: ex.plan_test(p0=[0.5, 0.5], p1=[0.4, 0.6], n=200, epsilon=2),
        lambda: ex.plan_test(WIDE, p0=P0, p1=P1, power=0.6),
    ][case]()
    p0, p1 = (P0, P1) if found.mechanism.k == 3 else ([0.5, 0.5], [0.4, 0.6])
    tests = 4000
    false, seen = simulated_rejections(
        found.mechanism, p0, p1, found.n, found.alpha, tests, np.random.default_rng(case)
    )
    assert abs(seen - found.power) <= 5 * math.sqrt(found.power * (1 - found.power) / tests)
    assert false <= found.level + 5 * math.sqrt(found.level * (1 - found.level) / tests)


def test_a_plan_with_fewer_people_is_less_powerful_than_promised() -> None:
    found = ex.plan_test(p0=P0, p1=P1, epsilon=1, power=0.8)
    _, seen = simulated_rejections(found.mechanism, P0, P1, found.n // 2, 0.05, 4000, np.random.default_rng(2))
    assert seen < 0.8 - 5 * math.sqrt(0.16 / 4000)


@pytest.mark.parametrize("n", [1, 7, 100, 800])
def test_the_sketch_is_the_power(n: int) -> None:
    tested = RatioTest(*(WIDE.marginal(p) for p in (P0, P1)), 0.05, 3)
    assert tested.sketch(n) == pytest.approx(tested.power(n), abs=1e-9)


def test_the_design_is_at_least_as_good_as_randomised_response() -> None:
    best = ex.plan_test(p0=P0, p1=P1, epsilon=1, n=100)
    usual = ex.plan_test(ex.randomized_response(3, 1), p0=P0, p1=P1, n=100)
    assert best.power > usual.power


def test_the_sentences_hold_the_numbers() -> None:
    found = ex.plan_test(p0=P0, p1=P1, epsilon=1, power=0.8)
    said = str(found)
    assert said.startswith(
        f"Plan: {found.n:,} people at ε = 1; power {outward(found.power, up=False)} (asked for: 0.8), exact for this n."
    )
    assert f"at least {found.critical:.4g}: with probability at most {outward(found.level, up=True)}" in said
    assert f"needs {found.without_privacy:,} people" in said
    assert f"{found.n - 1:,} people do not reach" in said
    assert "asked for" not in str(ex.plan_test(p0=P0, p1=P1, epsilon=1, n=10))
    plain = ex.Mechanism.from_matrix(np.eye(3))
    assert ex.plan_test(plain, p0=P0, p1=P1, n=found.without_privacy).power >= found.power


def test_frames_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extremal.studies.planning.planned.POINTS", 3)
    found = ex.plan_test(p0=[0.5, 0.5], p1=[0.3, 0.7], epsilon=1, power=0.8)
    frame = found.to_frame(ns=[50, 500], epsilons=[0.5, 1])
    assert frame["power"].tolist() == sorted(frame["power"].tolist()[:2]) + sorted(frame["power"].tolist()[2:])
    assert found.to_frame(ns=iter([50, 500]), epsilons=[0.5, 1]).equals(frame)
    assert found.to_frame()["power"].max() > 0.99
    drawn = found.plot()
    assert [axis.get_xlabel() for axis in drawn.axes] == ["people n", "ε (nats)"]
    given = ex.plan_test(ex.randomized_response(2, 1), p0=[0.5, 0.5], p1=[0.3, 0.7], power=0.8)
    assert len(given.plot().axes) == 1
    with pytest.raises(ex.errors.InvalidParameter, match="one mechanism"):
        given.to_frame(epsilons=[1])


def test_a_report_that_decides_at_once() -> None:
    plain = ex.Mechanism.from_matrix(np.eye(2))
    found = ex.plan_test(plain, p0=[1, 0], p1=[0.5, 0.5], power=0.99)
    assert found.n == 7
    assert found.power == pytest.approx(1 - 2**-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 1}, "give two of"),
        ({"epsilon": 1, "n": 10, "power": 0.8}, "give two of"),
        ({"epsilon": 1, "power": 0.04}, "above alpha"),
        ({"epsilon": 1, "power": 80}, "between 0 and 1"),
        ({"mechanism": 3, "n": 10}, "must be a Mechanism"),
        ({"mechanism": WIDE, "epsilon": 1, "n": 10}, "its own level"),
        ({"n": 3, "power": 0.8}, r"some ε up to 50.*needs \d+ people"),
        ({"p1": P0, "epsilon": 1, "power": 0.8}, "p1 must give other shares than p0"),
        (
            {"p1": None, "transition": np.eye(3), "epsilon": 1, "power": 0.8},
            "transition must give other shares than p0",
        ),
        ({"p1": None, "transition": "x", "epsilon": 1, "power": 0.8}, "transition must hold numbers"),
        ({"p1": P0, "n": 10, "power": 0.8}, "no number of people"),
        ({"p1": [0.5, 0.5], "epsilon": 1, "n": 10}, "p1"),
    ],
)
def test_bad_plans_are_refused_with_the_fix(options: dict[str, object], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.plan_test(**{"p0": P0, "p1": P1, **options})


@pytest.mark.parametrize("value", [0.999999, 0.04855, 0.05, 1.0, 0.0, 1e-9, 0.80000001, 12345.6])
def test_what_is_said_is_rounded_outwards(value: float) -> None:
    assert float(outward(value, up=False)) <= value * (1 + 1e-9)
    assert float(outward(value, up=True)) >= value * (1 - 1e-9)
    assert outward(math.inf, up=True) == "inf"


def test_the_power_to_see_a_change_is_what_surveys_reach() -> None:
    m, before, moved = ex.randomized_response(2, 3), np.array([0.7, 0.3]), np.array([[0.85, 0.15], [0.05, 0.95]])
    found = ex.plan_test(m, p0=before, transition=moved, power=0.8)
    assert found.power >= 0.8
    assert ex.plan_test(m, p0=before, transition=moved, n=found.n - 1).power < 0.8
    assert found.without_privacy < found.n
    generator, rejected = np.random.default_rng(4), [0, 0]
    for i, rows in enumerate((moved, np.array([[0.95, 0.05], [0.05 * 7 / 3, 1 - 0.05 * 7 / 3]]))):
        joint = before[:, None] * rows
        cells = (m.matrix.T @ joint @ m.matrix).ravel()
        for _ in range(120):
            counts = generator.multinomial(found.n, cells)
            frame = pd.DataFrame({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]}).loc[np.repeat(np.arange(4), counts)]
            rejected[i] += bool(ex.estimate_change(frame, "x", "z", m).test())
    assert rejected[0] / 120 == pytest.approx(found.power, abs=0.16)  # 4.4 standard errors
    assert rejected[1] / 120 <= 0.05 + 0.09
    assert "asked twice" in str(found)
    with pytest.raises(ex.errors.InvalidParameter, match="one of them"):
        ex.plan_test(m, p0=before, power=0.8)
    with pytest.raises(ex.errors.InvalidParameter, match="2 × 2 matrix"):
        ex.plan_test(m, p0=before, transition=[[1.0]], power=0.8)
