"""The dual vectors of KOV's proofs, against all patterns."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.theory import response_dual, rr_threshold, staircase_patterns, total_variation_dual


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
        worth = utility.column_values(s)
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
