"""McKenna, Maity, Mazumdar and Miklau's workload-adaptive mechanism (VLDB 2020), to compare designs with.

From its published description: the strategy is an m×k matrix with m = 4k outputs, every column a distribution, kept
within z ≤ Q[:, x] ≤ e^ε·z for a vector z that is optimised too. The loss tr(W J⁻¹), J = Σ_y q_y q_yᵀ/m_y, is lowered by
projected gradient: each column is projected onto its bounded simplex (clip after adding a constant), and the gradient
by z goes through that projection. Random starts, step size by backtracking. Only the
comparison is ours, the method is theirs.

Run as a program it prints the table of n × total mean squared error beside `ex.design`'s value and certified bound.
"""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

import extremal as ex

Floats = npt.NDArray[np.float64]


def projected(r: Floats, z: Floats, ratio: float) -> tuple[Floats, Floats, Floats]:
    """Each column of r onto {z ≤ q ≤ ratio·z, Σq = 1}; also which entries are at the lower and the upper end."""
    low, high = z[:, None], ratio * z[:, None]
    lo, hi = (low - r).min(axis=0), (high - r).max(axis=0)
    for _ in range(80):  # the sum rises with the constant: bisect it
        middle = (lo + hi) / 2
        above = np.clip(r + middle, low, high).sum(axis=0) > 1
        lo, hi = np.where(above, lo, middle), np.where(above, middle, hi)
    shifted = r + (lo + hi) / 2
    q = np.clip(shifted, low, high)
    return q / q.sum(axis=0), shifted <= low, shifted >= high


def loss(q: Floats, prior: Floats, gram: Floats) -> tuple[float, Floats]:
    """tr(W J⁻¹) and its gradient by q (m×k)."""
    mass = q @ prior
    inverse = np.linalg.inv((q.T / mass) @ q)
    slope = inverse @ gram @ inverse
    through = q @ slope
    gradient = -2 * through / mass[:, None] + np.outer((through * q).sum(axis=1) / mass**2, prior)
    return float(np.sum(gram * inverse)), gradient


def by_projected_gradient(gram: Floats, prior: Floats, epsilon: float, rounds: int = 4000, seed: int = 0) -> Floats:
    """The strategy as a row-stochastic k×m matrix. Steps in Q and in z have sizes of their own."""
    k, ratio, generator = prior.size, math.exp(epsilon), np.random.default_rng(seed)
    z = np.full(4 * k, (1 + math.exp(-epsilon)) / (8 * k))
    q, low, high = projected(generator.random((4 * k, k)) / (2 * k), z, ratio)
    value, gradient = loss(q, prior, gram)
    step, step_z, quiet = 1e-2 / np.abs(gradient).max(), 1e-3 / np.abs(gradient).max(), 0
    for _ in range(rounds):
        before = value
        for _ in range(30):
            trial, low_t, high_t = projected(q - step * gradient, z, ratio)
            value_t, gradient_t = loss(trial, prior, gram)
            if value_t < value:
                q, low, high, value, gradient, step = trial, low_t, high_t, value_t, gradient_t, 1.4 * step
                break
            step /= 2
        free = ~(low | high)
        mean = np.where(free, gradient, 0.0).sum(axis=0) / np.maximum(free.sum(axis=0), 1)
        by_z = (np.where(low, gradient - mean, 0.0) + ratio * np.where(high, gradient - mean, 0.0)).sum(axis=1)
        for _ in range(30):
            trial_z = np.maximum(z * np.exp(-step_z * by_z), 1e-12)
            trial_z *= min(max(trial_z.sum(), (1 + 1e-6) / ratio), 1 - 1e-6) / trial_z.sum()
            # entries at an end move with it; the others keep their place
            moved = np.where(low, trial_z[:, None], np.where(high, ratio * trial_z[:, None], q))
            trial, low_t, high_t = projected(moved, trial_z, ratio)
            value_t, gradient_t = loss(trial, prior, gram)
            if value_t < value:
                q, z, low, high, value, gradient = trial, trial_z, low_t, high_t, value_t, gradient_t
                step_z *= 1.4
                break
            step_z /= 2
        quiet = quiet + 1 if before - value < 1e-7 * value else 0
        if quiet > 20:
            break
    return np.asarray(q.T)


def table() -> None:
    """Workloads × ε: theirs (best of three starts) over ours."""
    prior = np.arange(1.0, 11) ** -1.5
    prior /= prior.sum()
    print(f"{'workload':<22} {'ε':>4} {'design':>10} {'bound':>10} {'gradient':>10} {'ratio':>7} {'seconds':>8}")
    for name, utility in (
        ("frequencies uniform", ex.Frequencies(10)),
        ("frequencies Zipf 1.5", ex.Frequencies(prior)),
        ("CDF uniform", ex.CDF(10)),
        ("CDF Zipf 1.5", ex.CDF(prior)),
        ("ranges uniform", ex.Ranges(10)),
        ("CDF uniform, k=20", ex.CDF(20)),
    ):
        for epsilon in (0.5, 1.0, 2.0, 4.0):
            found = ex.design(ex.LDP(epsilon), utility)
            start = time.perf_counter()
            theirs = min(
                utility(by_projected_gradient(utility.gram, utility.prior.values, epsilon, seed=s)) for s in range(3)
            )
            seconds = time.perf_counter() - start
            print(
                f"{name:<22} {epsilon:>4g} {found.value:>10.4f} {found.lower_bound:>10.4f} {theirs:>10.4f} "
                f"{theirs / found.value:>7.3f} {seconds:>8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    table()
