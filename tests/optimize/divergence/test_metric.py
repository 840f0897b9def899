"""Metric privacy for divergences and information: chords, trees and listed rays agree with each other and with
ε-LDP."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.optimize.divergence.metric import last_private
from extremal.optimize.problem import Problem
from extremal.solver import SolverFailed
from extremal.testing.designs import check
from support.refusals import check_refusals

SMALL_EPSILON_GAP = (
    1e-8  # the solver's tolerance on duals, relative to values of order ε²; below ε = 0.1 for metrics that are no tree
)


def plane(k: int, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random((k, 2))
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def line(k: int, step: str = "0.1") -> list[list[float]]:
    return [[round(abs(i - j) * float(step), 6) for j in range(k)] for i in range(k)]


def star(k: int) -> np.ndarray:
    apart = np.full((k, k), 2.0)
    apart[0, :] = apart[:, 0] = 1.0
    np.fill_diagonal(apart, 0)
    return apart


def pair(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.random.default_rng(seed).dirichlet(np.ones(k), size=2)
    return p, q


@pytest.mark.parametrize(
    "divergence", [ex.KL, ex.ReverseKL, ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation, ex.JensenShannon]
)
@pytest.mark.parametrize("apart", [plane(4, 1), np.array(line(5)), star(5)], ids=["plane", "line", "star"])
def test_chords_agree_with_listed_rays(divergence: Any, apart: np.ndarray) -> None:
    p, q = pair(len(apart), 2)
    for epsilon in (0.1, 2):
        chords = ex.design(ex.MetricPrivacy(epsilon, apart), divergence(p, q))
        rays = ex.design(ex.MetricPrivacy(epsilon, apart), ex.Average([divergence(p, q)]))
        check(chords)
        check(rays)
        assert chords.value == pytest.approx(rays.value, rel=1e-8)
        assert chords.method.startswith("chords of f")
        assert rays.method == "listed extreme rays"


def test_equal_distances_are_ldp() -> None:
    p, q = pair(4, 3)
    equal = 1 - np.eye(4)
    for utility in (ex.KL(p, q), ex.MutualInformation(p), ex.WorstCase([ex.KL(p, q), ex.KL(q, p)])):
        metric, ldp = ex.design(ex.MetricPrivacy(1.5, equal), utility), ex.design(ex.LDP(1.5), utility)
        assert metric.value == pytest.approx(ldp.value, rel=1e-8)


def test_moderate_alphabets() -> None:
    p, q = pair(24, 6)
    check(ex.design(ex.MetricPrivacy(1, line(24)), ex.KL(p, q)))
    p, q = pair(9, 7)
    check(ex.design(ex.MetricPrivacy(2, plane(9, 8)), ex.KL(p, q)))
    check(
        ex.design(ex.MetricPrivacy(0.01, plane(6, 8)), ex.KL(p[:6] / p[:6].sum(), q[:6] / q[:6].sum())),
        SMALL_EPSILON_GAP,
    )


def test_the_value_grows_with_epsilon_and_shrinks_with_distance() -> None:
    p, q = pair(5, 9)
    values = [ex.design(ex.MetricPrivacy(e, plane(5, 1)), ex.KL(p, q)).value for e in (0.5, 1, 2, 4)]
    assert values == sorted(values)
    assert ex.design(ex.MetricPrivacy(1, 2 * plane(5, 1)), ex.KL(p, q)).value == pytest.approx(values[2], rel=1e-8)


@pytest.mark.parametrize("apart", [plane(4, 1), np.array(line(5))], ids=["plane", "line"])
def test_spoiled_certificates_are_refused(apart: np.ndarray) -> None:
    p, q = pair(len(apart), 2)
    d = ex.design(ex.MetricPrivacy(2, apart), ex.KL(p, q))
    listed = ex.design(ex.MetricPrivacy(2, apart), ex.MutualInformation(p))
    for design, other in ((d, ex.KL(p, (p + q) / 2)), (listed, ex.MutualInformation(q))):
        check_refusals(design, other)


def test_unrelated_inputs() -> None:
    """Groups at infinite distance from each other are told apart freely."""
    apart = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    d = ex.design(ex.MetricPrivacy(1, apart), ex.KL([0.2, 0.3, 0.5], [0.5, 0.3, 0.2]))
    check(d)
    rays = ex.design(ex.MetricPrivacy(1, apart), ex.Average([ex.KL([0.2, 0.3, 0.5], [0.5, 0.3, 0.2])]))
    assert d.value == pytest.approx(rays.value, rel=1e-8)
    for utility in (ex.KL([0.2, 0.3, 0.5], [0.5, 0.5, 0]), ex.ReverseKL([0.5, 0.5, 0], [0.2, 0.3, 0.5])):
        endless = check(ex.design(ex.MetricPrivacy(1, apart), utility))
        assert (endless.value, endless.upper_bound, endless.gap) == (math.inf, math.inf, 0.0)
        assert "infinite, and attained" in endless.summary()
    total = ex.design(ex.MetricPrivacy(1, apart), ex.ChiSquared([0.5, 0.5, 0], [0.2, 0.3, 0.5]))
    check(total)


def test_edges() -> None:
    p = [0.5, 0.3, 0.2]
    constant = ex.design(ex.MetricPrivacy(0, line(3)), ex.KL(p, [0.2, 0.3, 0.5]))
    assert (constant.mechanism.m, constant.value) == (1, 0.0)
    with pytest.raises(InvalidParameter, match="metrics that are no tree or line are solved for at most 40 inputs"):
        ex.design(ex.MetricPrivacy(1, plane(41, 1)), ex.KL(*pair(41, 1)))
    late = ex.design(ex.MetricPrivacy(1, plane(30, 1)), ex.KL(*pair(30, 1)), time_limit=0.01)
    assert late.method == "constant mechanism: time ran out"
    assert ex.verify(late)
    assert math.isfinite(late.upper_bound)


def test_a_small_epsilon_beside_the_tolerance_of_the_solver() -> None:
    """The program's own mechanism breaks the notion by 1e-9 there: rays are listed instead."""
    privacy = ex.MetricPrivacy("0.0000257", [[0, 1.25, 3.25], [1.25, 0, 2], [3.25, 2, 0]])
    p1 = [f"{w}/49999999999999999" for w in (36077255132030585, 5540773290519347, 8381971577450067)]
    found = check(ex.design(privacy, ex.SymmetricKL(["1/3", "1/3", "1/3"], p1)))
    assert found.value == pytest.approx(4.40486e-10, rel=1e-5)


def test_what_cannot_be_rounded_gives_way_to_an_earlier_round() -> None:
    privacy = ex.MetricPrivacy(1, line(3, "1"))
    problem = Problem(privacy, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    private, broken = np.full((3, 2), 0.5), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert last_private(problem, [private, broken]).m == 2
    with pytest.raises(SolverFailed, match="must satisfy the notion"):
        last_private(problem, [broken])
