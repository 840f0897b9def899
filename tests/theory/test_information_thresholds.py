"""Thresholds for information, and the curve that everything about information is made of."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.theory import binary_threshold_for, response_is_optimal, rr_threshold
from extremal.utility.curve import InformationCurve, log_excess

epsilons = st.floats(1e-3, 12)
masses = st.floats(0, 1)


@given(epsilons, masses)
def test_the_curve_is_the_worth_of_a_staircase_column(epsilon: float, z: float) -> None:
    with mpmath.workdps(40):
        E, w = mpmath.exp(epsilon), mpmath.mpf(z)
        m = 1 + (E - 1) * w
        expected = w * E * epsilon - m * mpmath.log(m)
    curve = InformationCurve(epsilon)
    assert abs(float(curve.value(z)) - float(expected)) <= 1e-13 * curve.top


@given(epsilons, masses)
def test_lemma_27_slope_with_erratum_e10_and_its_inverse(epsilon: float, z: float) -> None:
    curve = InformationCurve(epsilon)
    assert float(curve.argmax(curve.slope(z))) == pytest.approx(z, abs=1e-9)


@given(epsilons)
def test_the_limit_is_the_largest_rate(epsilon: float) -> None:
    curve = InformationCurve(epsilon)
    rates = curve.rate(np.linspace(0, 1, 2001))
    assert rates.max() <= curve.limit * (1 + 1e-12)
    assert float(curve.rate(curve.best_mass)) == pytest.approx(curve.limit, rel=1e-11)
    m = epsilon / -np.expm1(-epsilon)
    assert curve.limit == pytest.approx(m - 1 - np.log(m), rel=1e-6, abs=1e-15)


def test_series_and_direct_formula_agree_where_they_meet() -> None:
    assert log_excess(0.05 * (1 - 1e-15)) == pytest.approx(log_excess(0.05), rel=1e-12)


def test_thresholds_of_the_reference(reference: dict[str, dict[str, Any]]) -> None:
    case = reference["ldp_thresholds_mi_k3"]
    prior, expected = case["arguments"]["prior"], case["expected"]
    assert rr_threshold(ex.MutualInformation(prior)) == pytest.approx(float(expected["rr_optimal_from"]), abs=1e-11)
    assert binary_threshold_for(ex.MutualInformation(prior)) == pytest.approx(
        float(expected["binary_optimal_up_to"]), abs=1e-8
    )


@pytest.mark.parametrize(("k", "threshold"), [(2, 0.0), (3, 0.0), (6, 1.710), (12, 2.925), (100, 5.850)])
def test_randomised_response_thresholds_of_uniform_priors(k: int, threshold: float) -> None:
    assert rr_threshold(ex.MutualInformation([f"1/{k}"] * k)) == pytest.approx(threshold, abs=5e-4)


def test_erratum_e6_one_bit_is_never_optimal_for_three_equal_answers() -> None:
    third = ["1/3"] * 3
    assert binary_threshold_for(ex.MutualInformation(third)) == 0.0
    assert response_is_optimal(third, 0.01)
    for epsilon, share in ((0.1, 0.22083), (0.01, 0.22210)):
        found = ex.design(ex.LDP(epsilon), ex.MutualInformation(third)).value
        one_bit = ex.MutualInformation(third)(ex.binary_for_information(third, epsilon))
        assert (found - one_bit) / found / epsilon == pytest.approx(share, abs=2e-5)  # → 2/9


def test_one_bit_is_optimal_up_to_a_positive_threshold_when_half_is_attained() -> None:
    assert binary_threshold_for(ex.MutualInformation(["1/4"] * 4)) > 0.5


def test_randomised_response_exactly_where_the_full_program_says_so() -> None:
    generator = np.random.default_rng(7)
    for _ in range(30):
        k, epsilon = int(generator.integers(2, 7)), float(generator.uniform(0.2, 6))
        prior = generator.dirichlet(np.ones(k))
        oracle = ex.design(
            ex.LDP(epsilon), ex.Average([ex.MutualInformation(prior)])
        )  # the full program over 2^k patterns
        response = ex.MutualInformation(prior)(ex.randomized_response(k, epsilon))
        assert response_is_optimal(prior, epsilon) == (response >= oracle.value * (1 - 1e-10))


def test_a_symbol_that_never_occurs_changes_nothing() -> None:
    assert rr_threshold(ex.MutualInformation([0.5, 0.3, 0.2, 0])) == rr_threshold(ex.MutualInformation([0.5, 0.3, 0.2]))
