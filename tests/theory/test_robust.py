"""Hypotheses in hulls, correlated people and interaction: what KOV leave open, on small cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.theory import correlated_design, robust_design

EITHER = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1]]


def test_a_hull_is_harder_than_its_members() -> None:
    """Twelve digits from an independent program over all patterns and a grid of mixtures, refined."""
    found = robust_design(1, ex.SourceClass(EITHER), [0.3, 0.3, 0.25, 0.15])
    assert found.value == pytest.approx(0.0175375148376, rel=1e-9)
    assert found.upper_bound == pytest.approx(0.0175375148376, rel=1e-9)
    assert found.gap <= 1e-8
    assert ex.verify(found.design)
    members = ex.design(ex.LDP(1), ex.RobustDivergence(EITHER, [[0.3, 0.3, 0.25, 0.15]]))
    assert members.value == pytest.approx(0.0458775707, rel=1e-8)
    assert "no mechanism exceeds" in str(found)


@pytest.mark.parametrize("divergence", [ex.KL, ex.TotalVariation, ex.ChiSquared])
def test_no_pair_of_the_hulls_is_below_the_value_and_no_mechanism_above_the_bound(divergence: Any) -> None:
    generator = np.random.default_rng(12)
    for _ in range(3):
        corners = [
            generator.dirichlet(np.ones(3) * [4, 1, 1], size=2),
            generator.dirichlet(np.ones(3) * [1, 1, 4], size=3),
        ]
        found = robust_design(1, *(ex.SourceClass(c.tolist()) for c in corners), divergence)
        assert found.gap < 1e-6
        for _ in range(200):
            p, q = (generator.dirichlet(np.ones(len(c))) @ c for c in corners)
            assert divergence(p, q)(found.mechanism) >= found.value * (1 - 1e-9)
        for p, q in found.pairs:
            assert p in ex.SourceClass(corners[0].tolist())
            assert q in ex.SourceClass(corners[1].tolist())


def test_inequalities_are_hulls_of_their_corners() -> None:
    at_most = ex.SourceClass.from_inequalities([[1, 0, 0]], ["0.2"])
    found = robust_design(2, at_most, [0.6, 0.2, 0.2])
    assert found.value == pytest.approx(
        ex.design(ex.LDP(2), ex.KL(["0.2", "0.4", "0.4"], [0.6, 0.2, 0.2])).value, rel=1e-7
    )


def _copied(p: Any, share: float = 0.5) -> np.ndarray:
    return share * np.diag(p) + (1 - share) * np.outer(p, p)


def test_correlated_people_are_best_treated_differently() -> None:
    p0, p1 = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    found = correlated_design(_copied(p0), _copied(p1), 0.5)
    assert found.value == pytest.approx(0.0214905605, abs=5e-11)
    assert found.equal == pytest.approx(0.0214564201, abs=5e-11)
    response = _of_pair(
        _copied(p0), _copied(p1), ex.randomized_response(3, 0.5).matrix, ex.randomized_response(3, 0.5).matrix
    )
    assert response == pytest.approx(0.0167411, abs=5e-8)
    assert all(ex.LDP(0.5).holds(m) for m in found.mechanisms)
    assert _of_pair(_copied(p0), _copied(p1), *(m.matrix for m in found.mechanisms)) == pytest.approx(
        found.value, rel=1e-9
    )
    assert str(found) == "two mechanisms 0.0214905605; two equal ones 0.0214564201"


def _of_pair(joint0: np.ndarray, joint1: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    m0, m1 = (a.T @ j @ b for j in (joint0, joint1))
    return float((m0 * np.log(m0 / m1)).sum())


def test_no_random_pair_of_mechanisms_beats_the_vertices() -> None:
    generator = np.random.default_rng(18)
    for _ in range(3):
        joints = [generator.dirichlet(np.ones(9)).reshape(3, 3) for _ in range(2)]
        best = correlated_design(*joints, 1).value
        for _ in range(30):
            a, b = (
                ex.design(ex.LDP(1), ex.KL(*generator.dirichlet(np.ones(3), size=2))).mechanism.matrix for _ in range(2)
            )
            assert _of_pair(*joints, a, b) <= best * (1 + 1e-12)


def test_with_two_inputs_everybodys_response_is_optimal_for_any_joint_distribution() -> None:
    """KOV Theorem 18: randomised response simulates every mechanism with two inputs."""
    generator = np.random.default_rng(2)
    bit = ex.randomized_response(2, 1).matrix
    for _ in range(5):
        joints = [generator.dirichlet(np.ones(4)).reshape(2, 2) for _ in range(2)]
        found = correlated_design(*joints, 1)
        assert found.value == pytest.approx(_of_pair(*joints, bit, bit), rel=1e-12)
        assert found.value == pytest.approx(found.equal, rel=1e-12)


def test_no_sequential_protocol_beats_n_times_the_optimum_for_one() -> None:
    """The chain rule caps interaction: whatever earlier reports decide, each round adds at most the optimum of one."""
    p0, p1 = [0.41, 0.33, 0.16, 0.10], [0.11, 0.24, 0.27, 0.38]
    best = ex.design(ex.LDP(1), ex.KL(p0, p1))
    assert best.value == pytest.approx(0.0654613, abs=5e-8)
    generator = np.random.default_rng(31)
    for _ in range(20):
        first, *later = (_some(generator, best.mechanism) for _ in range(4))
        total = 0.0
        m0, m1 = (np.array(p) @ first for p in (p0, p1))
        for y, (a, b) in enumerate(zip(m0, m1, strict=True)):
            n0, n1 = (np.array(p) @ later[y % 3] for p in (p0, p1))
            total += a * math.log(a / b) + a * float((n0 * np.log(n0 / n1)).sum())
        assert total <= 2 * best.value * (1 + 1e-12)


def _some(generator: np.random.Generator, best: ex.Mechanism) -> np.ndarray:
    choices = [best, ex.randomized_response(4, 1), ex.subset_selection(4, 1, size=2), ex.geometric(4, 1)]
    return choices[int(generator.integers(4))].matrix


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="square matrices of probabilities"):
        correlated_design(np.eye(3) / 3, np.eye(2) / 2, 1)
    with pytest.raises(TooLarge, match="at most 4 inputs"):
        correlated_design(np.eye(5) / 5, np.eye(5) / 5, 1)
    with pytest.raises(InvalidParameter, match="robust_design"):
        ex.RobustDivergence(ex.SourceClass(EITHER), ex.SourceClass.ball([0.3, 0.3, 0.25, 0.15], 0.01))
