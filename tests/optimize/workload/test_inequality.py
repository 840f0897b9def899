"""The matrix inequality made as large as possible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import extremal as ex
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates
from extremal.optimize.workload.proofs import matrix_inequality, proven


def test_a_prior_with_zeros_has_an_inequality() -> None:
    """As at the worst prior of a ball; the bound is below what randomised response and subset selection cost."""
    generator = np.random.default_rng(0)
    prior = generator.dirichlet(np.ones(12))
    prior[:3] = 0.0
    prior /= prior.sum()
    goal = ex.CDF(prior)
    found = best_inequality(Coordinates(prior, goal.rows), 1.0, 1.0)
    assert 0 < found.bound <= min(goal(ex.randomized_response(12, 1)), goal(ex.subset_selection(12, 1)))


def test_few_statistics_have_a_close_inequality() -> None:
    """One statistic, whose optimum another way finds: on the edge of UᵀRU ⪰ 0, which is approached from inside."""
    goal = ex.Workload(np.random.default_rng(0).normal(size=(1, 24)), 24)
    best = ex.design(ex.LDP(2), goal).value
    found = best_inequality(Coordinates(np.full(24, 1 / 24), goal.rows), 2.0, 5.0)
    assert 0.9 * best < found.bound < best


def test_a_large_epsilon_has_a_close_inequality() -> None:
    """Where the search without γ ends at two thirds of it."""
    prior = np.random.default_rng(16).dirichlet(np.full(16, 0.3))
    rows = np.random.default_rng(3).normal(size=(16, 16))
    assert best_inequality(Coordinates(prior, rows), 5.0, 5.0).bound > 14


def test_few_statistics_at_a_skewed_prior_have_a_close_inequality() -> None:
    goal = ex.Workload(np.random.default_rng(1).normal(size=(8, 12)), np.random.default_rng(0).dirichlet([0.2] * 12))
    found = best_inequality(Coordinates(goal.prior.values, goal.rows), 1.5, 5.0)
    best = ex.design(ex.LDP("1.5"), goal).value
    assert 0.9 * best < found.bound < best * (1 + 1e-9)


def test_what_the_kernel_refuses_is_dropped() -> None:
    goal = ex.Workload(np.random.default_rng(0).normal(size=(3, 6)), 6)
    found = best_inequality(Coordinates(np.full(6, 1 / 6), goal.rows), 1.0, 1.0)
    wrong = replace(found, z=2 * found.z)
    proof = wrong.proof(ex.LDP(1), goal)
    assert 0 < proof.bound(ex.LDP(1), goal) < found.bound
    assert proven((matrix_inequality(found.d, found.pairs, found.blocks, 2 * found.z),), ex.LDP(1), goal) == ()
