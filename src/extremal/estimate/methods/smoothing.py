"""EM with smoothing: frequencies of ordered inputs whose neighbours are alike.

Maximum likelihood through a mechanism that blurs an order (a geometric one, square waves) chases noise: neighbouring
frequencies alternate between nothing and too much. Each step of EM,

    p_x ← p_x · Σ_y f_y Q(y|x) / (Qᵀp)_y,

is therefore followed by averaging over neighbours, p ← S^j p, with S the average (p_{x−1} + 2p_x + p_{x+1})/4, ends
repeated. The cosine transform makes S diagonal, with entries (1 + cos(πi/k))/2, so that any strength j > 0 costs the
same. The two steps balance: where reports say much about single inputs EM wins, where they do not the answer is smooth.

How much to smooth is chosen by the reports. The fixed point moves with them as ∂p/∂f = (I − ∂T/∂p)⁻¹ ∂T/∂f, T the two
steps together, so tr(Qᵀ ∂p/∂f) − 1 is the number of parameters that the fit uses up, and the strength with the least
Akaike criterion −n Σ f log(Qᵀp) + parameters is taken: strengths in steps of four, from hardly any smoothing to almost
uniform.

When it loses. A truth with spikes, or inputs without an order: a spike of one input is spread over its neighbours, and
`shrunk` is better. docs/estimate/points.md has measured distances.

References: Silverman, Jones, Wilson, Nychka, J. R. Statist. Soc. B 52 (1990), 271–324; Nychka, ibid. 52; Li, Wang,
Lopuhaä-Zwakenberg, Li, Skoric, SIGMOD (2020), who use it for square waves with j = 1; Akaike (1973).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import dct, idct

from extremal.errors import InvalidParameter
from extremal.estimate.channels.bloom import BloomChannel
from extremal.estimate.channels.indicators import IndicatorChannel
from extremal.exact.weights import Floats
from extremal.mechanism.structures.structure import refuse_large

if TYPE_CHECKING:
    from extremal.estimate.results.fit import Fit

Linear = Callable[[Floats], Floats]

_ITERATIONS = 500  # of EM; some dozens are usual, a weak average on blurred reports takes a few hundred
_TOLERANCE = 1e-6  # of Σ|p − p before|: far below any sampling error
_RATIO = 4.0  # between strengths: a factor of two in the width of the average
_WEAKEST = 1 / 64  # strength below which the average moves no share by more than a hundredth of itself
_PATIENCE = 2  # weaker strengths tried after the best one


def smoothed(fit: Fit) -> Floats:
    """The smoothed distribution of the rows, which must be the inputs in their order."""
    channel = fit.combinations.channel
    if not fit.combinations.plain:
        raise InvalidParameter("smooth needs every input by itself", parameter="method", value="smooth")
    if isinstance(channel, (IndicatorChannel, BloomChannel)):
        raise InvalidParameter(
            "smooth needs the shares of the reports, which are too many here",
            parameter="method",
            value="smooth",
            hint='Use method="unbiased", "projected" or "shrunk".',
        )
    refuse_large(channel.r, channel.r, "smoothing")
    # Subset selection counts members of reports: one drawn from each report makes a channel with rows that sum to one.
    mass = float(fit.observed.statistic.sum())
    return smooth(
        fit.observed.statistic / mass,
        fit.observed.effective_n,
        lambda p: channel.expected(p) / mass,
        lambda v: channel.back(v) / mass,
        channel.r,
    )[0]


def smooth(f: Floats, n: float, expected: Linear, back: Linear, k: int) -> tuple[Floats, float]:
    """The smoothed distribution with the least Akaike criterion, and its strength j.

    Args:
        f: shares of the reports.
        n: how many they were.
        expected: p → Qᵀp, for one p or for each column of a matrix.
        back: v → Qv, likewise.
        k: number of inputs.

    >>> q = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    >>> smooth(np.array([0.4, 0.3, 0.2, 0.1]), 1000, lambda p: q.T @ p, lambda v: q @ v, 4)[0].round(2).tolist()
    [0.49, 0.33, 0.16, 0.01]
    """
    p, best, chosen, waited = np.full(k, 1 / k), np.inf, 0.0, 0
    answer = p
    strength = float(k * k)
    while strength >= _WEAKEST and waited <= _PATIENCE:
        p = fixed_point(f, expected, back, p, strength)
        criterion = parameters(f, expected, back, p, strength) - n * _mean_log(f, expected(p))
        if criterion < best:
            best, answer, chosen, waited = criterion, p, strength, 0
        else:
            waited += 1
        strength /= _RATIO
    return answer, chosen


def fixed_point(f: Floats, expected: Linear, back: Linear, start: Floats, strength: float) -> Floats:
    """Where EM and averaging with this strength come to rest."""
    p, seen = start, f > 0
    for _ in range(_ITERATIONS):
        ratio = np.divide(f, expected(p), out=np.zeros_like(f), where=seen)
        after = np.maximum(averaged(p * back(ratio), strength), 0.0)
        after /= after.sum()
        moved = float(np.abs(after - p).sum())
        p = after
        if moved <= _TOLERANCE:
            break
    return p


def averaged(p: Floats, strength: float) -> Floats:
    """S^j p, for one p or each column of a matrix: keeps the sum."""
    k = p.shape[0]
    damping = ((1 + np.cos(np.pi * np.arange(k) / k)) / 2) ** strength
    return np.asarray(idct(dct(p, axis=0, norm="ortho").T * damping, norm="ortho").T)


def parameters(f: Floats, expected: Linear, back: Linear, p: Floats, strength: float) -> float:
    """How many parameters the fit uses up: tr(Qᵀ ∂p/∂f) − 1 at the fixed point."""
    k = p.size
    m = np.maximum(expected(p), 1e-300)
    rows = expected(np.eye(k))  # Qᵀ, one column for each input
    curvature = np.diag(back(f / m)) - p[:, None] * (rows.T * (f / m**2)) @ rows
    system = np.eye(k) - averaged(curvature, strength)
    # tr(Qᵀ A⁻¹ S diag(p) Q diag(1/m)) = tr(A⁻¹ S diag(p) Q diag(1/m) Qᵀ)
    inner = averaged(p[:, None] * ((rows.T / m) @ rows), strength)
    return float(np.trace(np.linalg.solve(system, inner))) - 1


def _mean_log(f: Floats, m: Floats) -> float:
    seen = f > 0
    return float(f[seen] @ np.log(np.maximum(m[seen], 1e-300)))
