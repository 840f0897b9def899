"""What a mechanism lets through of a divergence: never more than its coefficient, and nearly that much somewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.theory import contraction

CONTRACTING = (ex.KL, ex.ReverseKL, ex.SymmetricKL, ex.ChiSquared, ex.SquaredHellinger, ex.JensenShannon)


def _mechanism(generator: np.random.Generator, k: int) -> ex.Mechanism:
    return ex.Mechanism.from_matrix(generator.dirichlet(np.ones(int(generator.integers(2, 5))), size=k))


@given(st.integers(0, 2**12))
def test_no_divergence_exceeds_its_contraction(seed: int) -> None:
    generator = np.random.default_rng(seed)
    k = int(generator.integers(2, 5))
    m, p0, p1 = _mechanism(generator, k), generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
    found = contraction(m)
    for divergence in (*CONTRACTING, lambda a, b: ex.AlphaDivergence(a, b, "-0.5")):
        utility = divergence(p0, p1)
        assert utility(m) <= found.divergence * utility(np.eye(k)) * (1 + 1e-9)
    assert ex.TotalVariation(p0, p1)(m) <= found.total_variation * ex.TotalVariation(p0, p1)(np.eye(k)) * (1 + 1e-9)
    for gamma in (1, 1.3, 2.5):
        whole = ex.HockeyStick(p0, p1, gamma)(np.eye(k))
        assert ex.HockeyStick(p0, p1, gamma)(m) <= found.hockey_stick(gamma, min(1.0, whole)) + 1e-12
        assert found.hockey_stick(gamma, min(1.0, whole)) <= found.hockey_stick(gamma) * whole + 1e-12


def test_two_inputs_attain_the_coefficient() -> None:
    """Distributions on the pair that differ little have a χ² that shrinks by the coefficient, and by no less."""
    generator = np.random.default_rng(3)
    for _ in range(10):
        m = _mechanism(generator, 4)
        found = contraction(m)
        ratios = []
        for share in np.linspace(0.01, 0.99, 197):
            p0, p1 = np.zeros(4), np.zeros(4)
            x, z = found.pair
            p1[[x, z]] = share, 1 - share
            p0[[x, z]] = share + 1e-4, 1 - share - 1e-4
            ratios.append(ex.ChiSquared(p0, p1)(m) / ex.ChiSquared(p0, p1)(np.eye(4)))
        assert max(ratios) == pytest.approx(found.divergence, rel=1e-3)
        assert max(ratios) <= found.divergence * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_local_privacy_bounds_the_coefficient_and_binary_response_attains_it(epsilon: float) -> None:
    for m in (ex.randomized_response(5, epsilon), ex.subset_selection(6, epsilon), ex.geometric(4, epsilon)):
        assert contraction(m).divergence <= math.tanh(epsilon / 2) ** 2 * (1 + 1e-12)
    bit = contraction(ex.randomized_response(2, epsilon))
    assert bit.divergence == pytest.approx(math.tanh(epsilon / 2) ** 2, rel=1e-12)
    assert bit.total_variation == pytest.approx(math.tanh(epsilon / 2), rel=1e-12)


def test_values_of_the_statement() -> None:
    assert contraction(ex.randomized_response(4, 1)).divergence == pytest.approx(0.1388612065231148, rel=1e-13)
    assert contraction(ex.randomized_response(3, 0)).divergence == 0
    assert contraction(ex.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]])).divergence == 1
    assert "total variation" in str(contraction(ex.randomized_response(2, 1)))


@pytest.mark.parametrize("gamma", [0.4, 1, 1.2, 2])
def test_the_bound_on_a_hockey_stick_is_the_optimum(gamma: float) -> None:
    generator = np.random.default_rng(8)
    for _ in range(5):
        u = ex.HockeyStick(generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4)), gamma)
        table = ex.theory.converses(u, 1.5)
        bound = next(b for b in table.bounds if b.name == "contraction")
        assert table.optimum == pytest.approx(bound.value, rel=1e-9, abs=1e-15)


def test_powers_that_are_not_operator_convex_have_no_contraction() -> None:
    table = ex.theory.converses(ex.AlphaDivergence([0.7, 0.3], [0.4, 0.6], 5), 1, optimum=False)
    assert "contraction" not in {b.name for b in table.bounds}


def test_bad_input() -> None:
    found = contraction(ex.randomized_response(3, 1))
    assert found.hockey_stick(2, 0) == 0
    with pytest.raises(InvalidParameter, match="gamma ≥ 1"):
        found.hockey_stick(0.5)
    with pytest.raises(InvalidParameter, match="those of a mechanism"):
        contraction(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(TooLarge, match="at most 512 different rows"):
        contraction(ex.randomized_response(600, 1))
