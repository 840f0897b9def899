"""From weights on patterns to a mechanism in exact weights.

A design in floats has far more outputs than it needs: only Σθ D and Σθ DDᵀ matter, so at most k(k+1)/2 patterns suffice
(Carathéodory). The rows are then made to sum to one to the last float, and `Mechanism.from_matrix` rounds to integers
and mixes a constant into what rounding broke."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from extremal.mechanism import Mechanism
from extremal.optimize.workload.lifts import Floats, Sets
from extremal.privacy import Notion

FAINT = 1e-9  # weights below this, relative to the largest, are dust of the interior-point method
WORTHLESS = 1e-9  # relative: what faint weights may take off the cost
UNBALANCED = 1e-9  # relative: sums of rows further apart are no rounding
MOST_REDUCED = 2000  # patterns: two seconds on 40 inputs; beyond, the reduction costs more than the outputs


def reduced(points: Floats, theta: Floats, statistics: Floats, limited: Floats | None = None) -> Floats:
    """Weights with the same Σθd and Σθddᵀ (within rounding) on as few points as those moments need; the same
    `limited`·θ too, if it is given. `statistics` is B, by which faint weights are judged."""
    kept = np.where(theta > FAINT * theta.max(), theta, 0.0)
    if not _is_as_good(points, kept, theta, statistics):  # a rare input has a report of its own
        kept = np.where(theta > FAINT**2 * theta.max(), theta, 0.0)
    used = np.flatnonzero(kept)
    n, rows = points.shape[0], np.zeros((0, theta.size)) if limited is None else limited
    if n * (n + 1) // 2 + n + 1 + len(rows) < used.size <= MOST_REDUCED:
        kept[used] = fewest(np.vstack([second_moments(points[:, used]), rows[:, used]]), theta[used])
    return kept


def _is_as_good(points: Floats, fewer: Floats, theta: Floats, statistics: Floats) -> bool:
    without = cost(points, fewer, statistics)
    return bool(np.isfinite(without) and without <= (1 + WORTHLESS) * cost(points, theta, statistics))


def cost(points: Floats, theta: Floats, statistics: Floats) -> float:
    """tr(B V⁻¹ Bᵀ) of weights that sum to 1, V about the mean, which is 0 unless too much is gone; infinite where V has
    no inverse."""
    used = theta > 0
    shares = theta[used] / theta.sum()
    about = points[:, used] - (points[:, used] @ shares)[:, None]
    v = (about * shares) @ about.T
    try:
        return float(np.sum(cho_solve(cho_factor(v, lower=True), statistics.T).T * statistics))
    except np.linalg.LinAlgError:
        return np.inf


def second_moments(points: Floats) -> Floats:
    """Of each point 1, its coordinates and their products."""
    d = points / np.abs(points).max()
    i, j = np.triu_indices(d.shape[0])
    return np.vstack([np.ones(d.shape[1]), d, d[i] * d[j]])


def fewest(moments: Floats, weights: Floats) -> Floats:
    """Weights with the same Σ w·moments (within rounding) on no more points than there are moments (one a row)."""
    from scipy.optimize import nnls

    sizes = np.abs(moments).max(axis=1)
    sizes[sizes == 0] = 1.0
    scaled = moments / sizes[:, None]
    target = scaled @ weights
    found, residual = nnls(scaled, target, maxiter=30 * weights.size)
    return np.asarray(weights if residual > 1e-7 * np.linalg.norm(target) else found)


def balanced(columns: Floats, weights: Floats) -> Floats:
    """Weights moved a little so that Σ w·column = 1 in every row; the least change relative to the weights."""
    used = weights > 0
    w = weights[used]
    scaled = columns[:, used] * w
    for _ in range(4):
        off = 1.0 - scaled.sum(axis=1)
        if np.abs(off).max() < 1e-15:
            break
        factor = 1 + np.linalg.lstsq(scaled, off, rcond=None)[0]
        if factor.min() <= 0:
            break
        scaled, w = scaled * factor, w * factor
    moved = np.zeros_like(weights)
    moved[used] = w
    return moved


def with_row_sums(columns: Floats, epsilon: float) -> Floats:
    """Columns of an ε-LDP matrix, or of one with δ, whose rows sum to one up to rounding, made to; where weights could
    not be balanced in floats, for very rare inputs, all are scaled down until a last report has entries of ratio e^ε.
    """
    sums = columns.sum(axis=1)
    if np.ptp(sums) <= UNBALANCED * sums.max() or not epsilon:
        return np.asarray(columns / sums[:, None])
    scaled = columns * (math.expm1(epsilon) / (math.exp(epsilon) * sums.max() - sums.min()))
    return np.hstack([scaled, np.maximum(1 - scaled.sum(axis=1, keepdims=True), 0.0)])


def staircase_mechanism(
    sets: Sets, theta: Floats, prior: Floats, privacy: Notion, inputs: Any = None, row_of: Any = None
) -> Mechanism:
    """The mechanism with weight θ on the lift of each set's staircase column; `row_of` spreads merged inputs back."""
    low, used = float(np.exp(-privacy.epsilon)), theta > 0
    columns = np.where(sets[:, used], 1.0, low)
    matrix = with_row_sums(columns * balanced(columns, theta[used] / (prior @ columns)), privacy.epsilon)
    return Mechanism.from_matrix(matrix if row_of is None else matrix[row_of], privacy=privacy, inputs=inputs)
