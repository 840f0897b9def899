"""Staircase patterns and weights, and the dual vectors of the paper's proofs against all patterns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.testing import epsilons, ldp_mechanisms
from extremal.theory import response_dual, rr_threshold, staircase_patterns, staircase_weights, total_variation_dual


def test_definition_3_in_the_order_of_the_paper(reference: dict[str, Any]) -> None:
    case = reference["ldp_staircase_matrix_k3_eps1"]
    expected = np.array([[float(v) for v in row] for row in case["expected"]["staircase_pattern_matrix"]])
    assert staircase_patterns(3, case["arguments"]["epsilon"]) == pytest.approx(expected, abs=1e-15)


CASES = ("k2_eps1", "k3_eps0.5", "k3_eps2.5", "k3_eps5", "k4_eps0.5", "k4_eps2.5", "k6_eps0.5", "k6_eps5")


@pytest.mark.parametrize("case_id", [f"ldp_opt_fdiv_{case}" for case in CASES])
def test_optimal_weights_and_pattern_numbers_of_the_reference(reference: dict[str, Any], case_id: str) -> None:
    case = reference[case_id]
    arguments, expected = case["arguments"], case["expected"]
    found = ex.design(ex.LDP(arguments["epsilon"]), ex.KL(arguments["p0"], arguments["p1"]))
    weights = staircase_weights(found.mechanism)
    assert list(weights.indices) == expected["OPT_kl_pattern_indices_one_based"]
    assert weights.theta == pytest.approx([float(t) for t in expected["OPT_kl_theta"]], rel=1e-10)


def test_theorem_2_optimal_mechanisms_are_staircases_with_at_most_k_reports() -> None:
    generator = np.random.default_rng(2)
    for i in range(60):
        k, epsilon = int(generator.integers(2, 7)), round(float(generator.uniform(0.1, 5)), 3)
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        utility = [ex.KL(p0, p1), ex.ChiSquared(p0, p1), ex.MutualInformation(p0)][i % 3]
        m = ex.design(ex.LDP(epsilon), utility).mechanism
        weights = staircase_weights(m, epsilon)
        assert m.m <= k
        assert len(weights.indices) <= k
        assert (
            np.abs(
                np.array(weights.theta) @ staircase_patterns(k, epsilon)[:, np.array(weights.indices) - 1].T - 1
            ).max()
            < 1e-12
        )


@given(ldp_mechanisms(k=4))
def test_the_factorisation_is_the_mechanism(m: ex.Mechanism) -> None:
    weights = staircase_weights(m)
    s = staircase_patterns(4, weights.epsilon)[:, np.array(weights.indices) - 1]
    assert s @ np.array(weights.theta) == pytest.approx(np.ones(4), abs=1e-12)
    assert weights.matrix().sum(axis=1) == pytest.approx(np.ones(4), abs=1e-12)
    assert ex.MutualInformation([0.1, 0.2, 0.3, 0.4])(weights.matrix()) == pytest.approx(
        ex.MutualInformation([0.1, 0.2, 0.3, 0.4])(m), rel=1e-9, abs=1e-14
    )


@given(epsilons(0.05, 8))
def test_closed_forms_use_the_patterns_that_they_should(epsilon: float) -> None:
    weights = staircase_weights(ex.randomized_response(4, epsilon))
    assert weights.indices == (2, 3, 5, 9)
    assert weights.theta == pytest.approx([1 / (3 + math.exp(epsilon))] * 4, rel=1e-12)


def test_what_is_no_staircase_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="each output's weights must be c and e\\^ε·c"):
        staircase_weights(ex.geometric(4, 1))
    with pytest.raises(InvalidParameter, match="a staircase has a finite level"):
        staircase_weights(ex.Mechanism.from_matrix([[1, 0], [0, 1]]))
    with pytest.raises(TooLarge, match="2\\^k patterns are listed"):
        staircase_patterns(30, 1)
    assert "pattern" in str(staircase_weights(ex.randomized_response(3, 1)))


def _instances(seed: int, count: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        k = int(generator.integers(2, 7))
        epsilon = round(float(generator.uniform(0.1, 8)), 3)
        found.append((generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k)), epsilon))
    return found


def test_theorem_6_the_dual_of_total_variation_is_feasible_and_met() -> None:
    for p0, p1, epsilon in _instances(6, 40):
        alpha, s = total_variation_dual(p0, p1, epsilon), staircase_patterns(p0.size, epsilon)
        utility = ex.TotalVariation(p0, p1)
        assert (alpha @ s >= utility.column_values(s) * (1 - 1e-12) - 1e-12).all()
        assert alpha.sum() == pytest.approx(utility(ex.binary(p0, p1, epsilon)), rel=1e-12)


@pytest.mark.parametrize("divergence", [ex.KL, ex.ChiSquared, ex.SquaredHellinger, ex.SymmetricKL])
def test_theorem_8_the_dual_of_randomised_response_is_feasible_exactly_where_it_is_optimal(
    divergence: type[ex.KL],
) -> None:
    seen = set()
    for p0, p1, epsilon in _instances(8, 25):
        utility = divergence(p0, p1)
        alpha, s = response_dual(utility, epsilon), staircase_patterns(p0.size, epsilon)
        worth = utility.column_values(s) + utility.f.tangent * (utility.pair.difference @ s)  # f as it is written
        feasible = bool((alpha @ s >= worth - 1e-11 * np.abs(worth).max()).all())
        assert alpha.sum() == pytest.approx(utility(ex.randomized_response(p0.size, epsilon)), rel=1e-10)
        assert feasible == (epsilon >= rr_threshold(utility))
        seen.add(feasible)
    assert seen == {True, False}


def test_information_has_the_same_dual() -> None:
    prior = [0.5, 0.3, 0.2]
    for epsilon, optimal in ((0.5, False), (2, True)):
        utility = ex.MutualInformation(prior)
        alpha, s = response_dual(utility, epsilon), staircase_patterns(3, epsilon)
        assert bool((alpha @ s >= utility.column_values(s) - 1e-12).all()) == optimal
    with pytest.raises(InvalidParameter, match="a positive epsilon"):
        response_dual(ex.MutualInformation(prior), 0)


def test_equation_45_is_about_f_as_it_is_written() -> None:
    """KOV eq 45, 46 with f = x log x, in 30 digits; for −log x the tangent is taken off the other way."""
    p0, p1 = [0.41, 0.33, 0.16, 0.10], [0.11, 0.24, 0.27, 0.38]
    printed = [0.52752262296834, 0.10198775467866, -0.087210317789036, -0.14016498422725]
    assert response_dual(ex.KL(p0, p1), 5) == pytest.approx(printed, abs=1e-12)
    reverse, plain = response_dual(ex.ReverseKL(p0, p1), 5), response_dual(ex.SymmetricKL(p0, p1), 5)
    assert reverse + response_dual(ex.KL(p0, p1), 5) == pytest.approx(plain, abs=1e-14)
