"""Pairs of distributions with every named divergence, and the optimum over all 2^k patterns. For tests and audits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns
from extremal.utility import (
    KL,
    AlphaDivergence,
    ChiSquared,
    HockeyStick,
    JensenShannon,
    ReverseKL,
    SquaredHellinger,
    SymmetricKL,
    TotalVariation,
)

WITHOUT_PARAMETERS: tuple[Any, ...] = (
    KL,
    ReverseKL,
    SymmetricKL,
    TotalVariation,
    ChiSquared,
    SquaredHellinger,
    JensenShannon,
)
DIVERGENCES: tuple[Any, ...] = (
    *WITHOUT_PARAMETERS,
    lambda p, q: AlphaDivergence(p, q, "1.7"),
    lambda p, q: HockeyStick(p, q, "1.2"),
)


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


def random_divergence(generator: np.random.Generator, index: int) -> tuple[Any, float]:
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
