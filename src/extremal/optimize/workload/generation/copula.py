"""Random sets whose second moments are those that the bound asks for: a start for column generation.

The matrix inequality's dual says how the inputs should go together in the reports: V = (e^ε−1)²/m²·Cov(1_T) for sets of
nearly constant mass. A Gaussian vector with a suitable correlation matrix, thresholded at the quantile of the best
share r = 1/(e^ε + 1), has nearly these covariances; the correlations that do not fit a positive semidefinite matrix are
bent until they do. Only a proposal: the interior-point method makes a mechanism of the sets."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from extremal.optimize.workload.inequality import Inequality
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets

GRID = 2001
LEAST = 1e-6  # eigenvalues of the correlation matrix


def random_sets(
    coordinates: Coordinates, bound: Inequality, epsilon: float, count: int, generator: np.random.Generator
) -> Sets:
    """Sets, one a column, that are neither empty nor everything."""
    inner = coordinates.basis.T @ bound.z @ coordinates.basis
    target = coordinates.basis @ np.linalg.inv((inner + inner.T) / 2) @ coordinates.basis.T
    size = np.sqrt(np.maximum(np.diagonal(target), 1e-300))
    share = min(0.5, max(1.0 / coordinates.k, 1 / (math.exp(epsilon) + 1)))
    with np.errstate(over="ignore", invalid="ignore"):  # few statistics leave some directions without a size
        wanted = np.clip(np.nan_to_num(target / np.outer(size, size)), -1.0, 1.0)
    values, vectors = np.linalg.eigh(_gaussian(wanted, share))
    root = vectors * np.sqrt(np.maximum(values, LEAST))
    root /= np.sqrt((root**2).sum(axis=1, keepdims=True))
    draws = root @ generator.standard_normal((coordinates.k, count))
    sets = draws > NormalDist().inv_cdf(1 - share)
    return np.asarray(np.unique(sets[:, sets.any(axis=0) & ~sets.all(axis=0)], axis=1))


def _gaussian(wanted: Floats, share: float) -> Floats:
    """The normal correlations whose thresholded indicators have the wanted ones: dP/dρ is the bivariate density at the
    threshold.
    """
    threshold = NormalDist().inv_cdf(1 - share)
    rho = np.sin(np.linspace(-math.pi / 2, math.pi / 2, GRID))
    middle = (rho[1:] + rho[:-1]) / 2
    density = np.exp(-(threshold**2) / (1 + middle)) / (2 * math.pi * np.sqrt(1 - middle**2))
    both = np.concatenate([[0.0], np.cumsum(density * np.diff(rho))])
    both += share**2 - both[GRID // 2]
    indicator = (both - share**2) / (share * (1 - share))
    normal = np.interp(wanted, indicator, rho)
    np.fill_diagonal(normal, 1.0)
    return np.asarray(normal)
