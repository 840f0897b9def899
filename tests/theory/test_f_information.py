"""f-information as a utility: the lift cone and the staircases solve it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import extremal as ex
from extremal.theory import f_information

PRIOR = [0.5, 0.3, 0.2]


@pytest.mark.parametrize("divergence", [ex.KL, ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation])
def test_it_is_the_divergence_from_independence(divergence: type[ex.KL]) -> None:
    generator = np.random.default_rng(1)
    for _ in range(10):
        q = generator.dirichlet(np.ones(4), size=3)
        joint = np.array(PRIOR)[:, None] * q
        apart = np.outer(PRIOR, joint.sum(axis=0))
        expected = divergence(joint.ravel(), apart.ravel())(np.eye(12))
        assert f_information(PRIOR, divergence)(q) == pytest.approx(expected, abs=1e-12)


def test_the_closed_form_of_region_1_is_optimal_for_every_f() -> None:
    """GSO Theorem 3: in the high-privacy region one mechanism is best for every utility."""
    best = ex.pml_high_privacy(PRIOR, "0.2")
    for divergence in (ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation):
        utility = f_information(PRIOR, divergence)
        assert ex.design(ex.PML("0.2", PRIOR), utility).value == pytest.approx(utility(best), rel=1e-9)


def test_under_ldp_it_agrees_with_information_and_obeys_data_processing() -> None:
    design = ex.design(ex.LDP(1), f_information(PRIOR, ex.KL))
    assert design.value == pytest.approx(ex.design(ex.LDP(1), ex.MutualInformation(PRIOR)).value, rel=1e-9)
    m = ex.randomized_response(3, 2)
    merged = m.then({0: "a", 1: "a", 2: "b"})
    assert f_information(PRIOR)(merged) <= f_information(PRIOR)(m)
    assert math.isfinite(f_information(PRIOR)(ex.Mechanism.from_matrix(np.eye(3))))
