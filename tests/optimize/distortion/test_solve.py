"""Any loss under LDP, PML, LIP and metric privacy: oracles, baselines, other outputs than inputs, spoiled
certificates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import extremal as ex
from extremal.testing.designs import check
from support.refusals import check_refusals

AGREE = 1e-9  # with a second linear program, whose tolerance that is


def grid(side: int, step: float = 1.0) -> np.ndarray:
    points = np.array([(i, j) for i in range(side) for j in range(side)]) * step
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)).round(12)


def dense_program(prior: np.ndarray, loss: np.ndarray, cone: list[np.ndarray]) -> float:
    """min Σ p d Q over row-stochastic Q whose columns satisfy row·q ≤ 0 for each row of the cone: a second opinion."""
    k, m = loss.shape
    inequalities = np.zeros((len(cone) * m, k * m))
    for i, row in enumerate(cone):
        for y in range(m):
            inequalities[i * m + y, y::m] = row
    sums = np.kron(np.eye(k), np.ones(m))
    return float(
        linprog(
            (prior[:, None] * loss).ravel(), inequalities, np.zeros(len(inequalities)), sums, np.ones(k), method="highs"
        ).fun
    )


def pairs(bounds: np.ndarray) -> list[np.ndarray]:
    k = len(bounds)
    unit = np.eye(k)
    return [unit[x] - bounds[x, y] * unit[y] for x in range(k) for y in range(k) if x != y]


@pytest.mark.parametrize("seed", range(6))
def test_against_a_second_linear_program(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k, m = int(generator.integers(2, 7)), int(generator.integers(2, 7))
    prior, loss, epsilon = generator.dirichlet(np.ones(k)), generator.random((k, m)), float(generator.uniform(0.1, 3))
    apart = np.abs(np.subtract.outer(*[np.sort(generator.random(k))] * 2))
    unit = np.eye(k)
    notions: list[tuple[Any, list[np.ndarray]]] = [
        (ex.LDP(epsilon), pairs(np.full((k, k), math.exp(epsilon)))),
        (ex.MetricPrivacy(epsilon, apart), pairs(np.exp(epsilon * apart))),
        (ex.PML(epsilon, prior), [unit[x] - math.exp(epsilon) * prior for x in range(k)]),
        (
            ex.LIP(epsilon, prior),
            [unit[x] - math.exp(epsilon) * prior for x in range(k)]
            + [math.exp(-epsilon) * prior - unit[x] for x in range(k)],
        ),
    ]
    for notion, cone in notions:
        d = ex.design(notion, ex.Distortion(prior, loss))
        check(d)
        assert d.value == pytest.approx(dense_program(prior, loss, cone), abs=AGREE)


def test_hamming_goes_the_same_way_as_the_general_program() -> None:
    source = ex.SourceClass([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    for epsilon in (0.1, 1, 4):
        game, program = (
            ex.design(ex.LDP(epsilon), ex.Hamming(source)),
            ex.design(ex.LDP(epsilon), ex.Distortion(source, 1 - np.eye(3))),
        )
        assert game.value == pytest.approx(program.value, rel=1e-12)


def test_metric_privacy_with_equal_distances_is_ldp() -> None:
    loss = grid(2)
    prior = [0.4, 0.3, 0.2, 0.1]
    ldp = ex.design(ex.LDP(1), ex.Distortion(prior, loss))
    metric = ex.design(ex.MetricPrivacy(1, 1 - np.eye(4)), ex.Distortion(prior, loss))
    assert ldp.value == pytest.approx(metric.value, rel=1e-12)
    check(metric)


def test_geo_indistinguishability_on_a_grid() -> None:
    apart = grid(4)
    prior = np.random.default_rng(0).dirichlet(np.ones(16))
    d = ex.design(ex.MetricPrivacy(1, apart), ex.Distortion(prior, apart))
    check(d)
    assert ex.MetricPrivacy(1, apart).holds(d.mechanism)
    laplace = np.exp(-apart) / np.exp(-apart).sum(
        axis=1, keepdims=True
    )  # e^{−εd}: ½ε-private on a grid without borders, 2ε in general
    halved = np.exp(-apart / 2) / np.exp(-apart / 2).sum(axis=1, keepdims=True)
    m = ex.Mechanism.from_matrix(halved)
    assert ex.MetricPrivacy(1, apart).level(m) <= 1
    assert d.value < ex.Distortion(prior, apart)(m)
    assert ex.MetricPrivacy(1, apart).level(ex.Mechanism.from_matrix(laplace)) > 1


def test_outputs_need_not_be_inputs() -> None:
    loss = [[0, 1, 0.4], [1, 0, 0.4], [1, 1, 0.4], [0.5, 0, 0.4]]
    utility = ex.Distortion([0.25, 0.25, 0.25, 0.25], loss, outputs=["yes", "no", "skip"])
    d = ex.design(ex.LDP(1), utility, inputs=["a", "b", "c", "d"])
    check(d)
    assert set(d.mechanism.outputs) <= {"yes", "no", "skip"}
    unnamed = ex.design(ex.LDP(1), ex.Distortion([0.25] * 4, loss))
    assert unnamed.value == pytest.approx(d.value, rel=1e-12)


@pytest.mark.parametrize("kind", ["list", "ball", "simplex", "permutation_invariant"])
def test_worst_case_over_a_class(kind: str) -> None:
    generator = np.random.default_rng(7)
    prior = [0.4, 0.3, 0.2, 0.1]
    source = {
        "list": ex.SourceClass([prior, [0.1, 0.2, 0.3, 0.4]]),
        "ball": ex.SourceClass.ball(prior, 0.15),
        "simplex": ex.SourceClass.simplex(4),
        "permutation_invariant": ex.SourceClass.permutation_invariant(prior),
    }[kind]
    loss = generator.random((4, 5))
    for notion in (ex.LDP(1), ex.PML(0.5, prior), ex.MetricPrivacy(1, grid(2))):
        d = ex.design(notion, ex.Distortion(source, loss))
        check(d)
        listed = ex.design(notion, ex.Distortion(ex.SourceClass(source.vertices()), loss))
        assert d.value == pytest.approx(listed.value, rel=1e-9)
        assert d.value >= ex.design(notion, ex.Distortion(source.vertices()[0], loss)).value - 1e-12


def test_leakage_over_a_class() -> None:
    generator = np.random.default_rng(8)
    source = ex.SourceClass([[0.5, 0.3, 0.2, 0], [0.1, 0.2, 0.3, 0.4]])
    loss = generator.random((4, 4))
    prior = [0.25] * 4
    d = ex.design(ex.PML(0.4, source), ex.Distortion(prior, loss))
    check(d)
    single = ex.design(ex.PML(0.4, [0.1, 0.2, 0.3, 0.4]), ex.Distortion(prior, loss))
    assert d.value >= single.value - 1e-12
    check_refusals(d, ex.Distortion(prior, loss / 2), unique_dual=False)


def test_inputs_outside_the_support_are_free_under_leakage() -> None:
    d = ex.design(ex.PML(0.3, [0.5, 0.5, 0]), ex.Distortion([0.3, 0.3, 0.4], 1 - np.eye(3)))
    check(d)
    check(ex.design(ex.LIP(0.3, [0.5, 0.5, 0], lower=0.1), ex.Distortion([0.3, 0.3, 0.4], 1 - np.eye(3))))


@pytest.mark.parametrize(
    "notion", [ex.LDP(1), ex.PML(0.6, [0.4, 0.3, 0.2, 0.1]), ex.MetricPrivacy(1, grid(2))], ids=lambda n: n.name
)
def test_spoiled_certificates_are_refused(notion: Any) -> None:
    prior = [0.4, 0.3, 0.2, 0.1]
    d = ex.design(notion, ex.Distortion(prior, grid(2)))
    check_refusals(d, ex.Distortion([0.1, 0.2, 0.3, 0.4], grid(2)))


def test_edges(tmp_path: Any) -> None:
    utility = ex.Distortion([0.5, 0.3, 0.2], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    constant = ex.design(ex.LDP(0), utility)
    assert (constant.mechanism.m, constant.gap) == (1, 0.0)
    far = ex.MetricPrivacy(1, [[0, math.inf, math.inf], [math.inf, 0, math.inf], [math.inf, math.inf, 0]])
    free = ex.design(far, utility)
    assert (free.value, free.lower_bound) == (0.0, 0.0)
    assert ex.verify(free)
    nothing = ex.design(ex.LDP(1), ex.Distortion([0.5, 0.5], [[1, 1], [1, 1]]))
    assert nothing.value == pytest.approx(1, rel=1e-14)
    saved = ex.design(ex.MetricPrivacy(1, grid(2)), ex.Distortion([0.25] * 4, grid(2)))
    saved.save(tmp_path / "grid.json")
    assert ex.verify(tmp_path / "grid.certificate.json")


def test_inputs_at_distance_zero_get_the_same_row() -> None:
    apart = grid(2)[[0, 0, 1, 2, 3]][:, [0, 0, 1, 2, 3]]
    for epsilon in (0, 1):
        d = ex.design(ex.MetricPrivacy(epsilon, apart), ex.Distortion([0.1, 0.2, 0.3, 0.2, 0.2], apart))
        check(d)
        assert (d.mechanism.weights[0] == d.mechanism.weights[1]).all()


@pytest.mark.parametrize("prior", [[0.5, 0.3, 0.2], [0.6, 0.4, 0]], ids=["all occur", "one is free"])
def test_epsilon_zero_under_leakage(prior: list[float]) -> None:
    loss = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    for notion in (ex.PML(0, prior), ex.LIP(0, prior), ex.PML(0, ex.SourceClass([prior, [0.3, 0.7, 0]]))):
        d = ex.design(notion, ex.Distortion([0.3, 0.3, 0.4], loss))
        check(d)
        assert (d.mechanism.weights[0] == d.mechanism.weights[1]).all()


def test_large_epsilon_and_tiny_atoms() -> None:
    apart = grid(2)
    for notion in (
        ex.LDP(30),
        ex.LIP(12, [0.4, 0.3, 0.2, 0.1]),
        ex.MetricPrivacy(12, apart),
        ex.PML(0.001, [0.4, 0.35, 0.25 - 3e-10, 3e-10]),
    ):
        d = ex.design(notion, ex.Distortion([0.4, 0.3, 0.2, 0.1], apart + 0.1))
        check(d)


def test_time_limit_returns_what_is_known() -> None:
    apart = grid(7)
    d = ex.design(ex.MetricPrivacy(2, apart), ex.Distortion(np.full(49, 1 / 49), apart), time_limit=0.01)
    assert d.method == "constant report: time ran out"
    assert ex.verify(d)
    assert d.lower_bound == 0.0


def test_losses_that_do_not_depend_on_the_input_need_no_information() -> None:
    found = ex.design(ex.LDP(1), ex.Distortion([0.5, 0.3, 0.2], [[2, 1], [2, 1], [2, 1]]))
    assert (found.value, found.lower_bound) == (1.0, pytest.approx(1.0, rel=1e-14))
    assert ex.verify(found)


@pytest.mark.parametrize("kind", ["list", "ball", "permutations", "simplex"])
def test_a_class_in_the_notion_and_in_the_cost_at_once(kind: str) -> None:
    prior, loss = [0.5, 0.3, 0.2], [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    source = {
        "list": ex.SourceClass([prior, [0.4, 0.4, 0.2]]),
        "ball": ex.SourceClass.ball(prior, 0.05),
        "permutations": ex.SourceClass.permutation_invariant(prior),
        "simplex": ex.SourceClass.simplex(3),
    }[kind]
    both = check(ex.design(ex.PML(0.5, source), ex.Distortion(source, loss)))
    assert both.value >= ex.design(ex.PML(0.5, prior), ex.Distortion(source, loss)).lower_bound
    assert both.value >= ex.design(ex.PML(0.5, source), ex.Distortion(prior, loss)).lower_bound
