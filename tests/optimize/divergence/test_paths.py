"""The best partition by longest paths, against the program over all 2^k patterns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.divergence.lorenz import BlockValue, Lorenz
from extremal.optimize.divergence.paths import best_partition
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns

INSTANCES = 2000


AGREEMENT = 1e-11


DIVERGENCES: list[Any] = [
    ex.KL,
    ex.ReverseKL,
    ex.SymmetricKL,
    ex.TotalVariation,
    ex.ChiSquared,
    ex.SquaredHellinger,
    ex.JensenShannon,
    lambda p, q: ex.AlphaDivergence(p, q, "1.7"),
    lambda p, q: ex.HockeyStick(p, q, "1.2"),
]


def full_program(utility: Any, epsilon: float) -> float:
    """The 2^k linear program; its basis solved again with one step of refinement in extended precision."""
    columns = patterns(utility.k, epsilon)
    values = utility.column_values(columns)
    weights = best_mixture(columns, values[None, :]).weights
    used = np.flatnonzero(weights > 1e-12 * weights.max())
    basis = columns[:, used]
    theta = np.linalg.lstsq(basis, np.ones(utility.k), rcond=None)[0]
    residual = 1 - (basis.astype(np.longdouble) @ theta.astype(np.longdouble)).astype(np.float64)
    theta = theta + np.linalg.lstsq(basis, residual, rcond=None)[0]
    return math.fsum(theta * values[used])


def instance(generator: np.random.Generator, index: int) -> tuple[Any, float]:
    """Dirichlet pairs, with ties, zeros, and nearly equal ones among them."""
    k = int(generator.integers(2, 9 if index % 8 else 11))
    p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
    match index % 5:
        case 1:
            p0[0] = p1[0] = min(p0[0], p1[0])  # a tie P₀(x) = P₁(x)
        case 2:
            p0[: k // 2], p1[k - 1] = 0.0, 0.0
        case 3:
            p1 = p0 * (1 + 1e-4 * generator.standard_normal(k))
        case 4:
            p0[1 : k // 2 + 1], p1[1 : k // 2 + 1] = p0[0], p1[0]  # equal ratios
    p0, p1 = p0 / p0.sum(), p1 / p1.sum()
    epsilon = float(np.exp(generator.uniform(np.log(0.01), np.log(8))))
    return DIVERGENCES[index % len(DIVERGENCES)](p0, p1), epsilon


def test_agreement_with_the_full_program_on_2000_instances() -> None:
    generator = np.random.default_rng(20260)
    worst = 0.0
    for index in range(INSTANCES):
        utility, epsilon = instance(generator, index)
        value = BlockValue.of(utility, epsilon)
        worth, _, gap = best_partition(value, Lorenz.of(utility).nodes)
        expected = full_program(utility, epsilon)
        assert gap <= 1e-12 * worth + 1e-15
        # Hockey sticks may be worth nothing but rounding; everything else is compared relatively.
        assert worth == pytest.approx(expected, rel=AGREEMENT, abs=1e-15), (index, utility.name, epsilon)
        worst = max(worst, abs(worth / expected - 1) if expected > 1e-12 else 0.0)
    assert worst <= AGREEMENT
