"""Up to which ε one bit is the best report for every f-divergence at once (KOV Theorem 5, Lemma 24).

T = {x : P₀(x) ≥ P₁(x)}. The binary mechanism on T dominates every ε-LDP mechanism, in Blackwell's sense, for telling P₀
from P₁ exactly when T maximises and its complement minimises the ratio (1 + c·P₀(A))/(1 + c·P₁(A)) over all sets A, c =
e^ε − 1. A ratio of sums is largest at T iff every symbol of T has a likelihood ratio of at least that maximum and no
other has; only the smallest ratio l₊ in T and the largest l₋ outside matter, so that

    ε* = log(1 + min{(l₊ − 1)/Σ_T(P₀ − l₊P₁), (1 − l₋)/Σ_{T^c}(l₋P₁ − P₀)}),

a term with denominator 0 being +∞. Lemma 24 prints ε(j) = 0 for T itself, which would make ε* = 0 always (erratum E2);
a symbol with P₀(x) = P₁(x) > 0 does make it 0, and Theorem 5 is false there (erratum E1).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.utility import TotalVariation


def binary_threshold(p0: Any, p1: Any) -> float:
    """The largest ε* such that the binary mechanism is optimal for every f-divergence at every ε ≤ ε*.

    0 if some symbol has P₀(x) = P₁(x) > 0; infinity if one bit is always best (two symbols, P₀ = P₁).

    Guarantee: the closed form of KOV Lemma 24 with erratum E2, relatively accurate to about 1e-14; above it some
    hockey-stick divergence prefers another mechanism. For one divergence see `binary_threshold_for`.

    Args:
        p0, p1: the two distributions to tell apart; a million symbols are fine.

    Reference: Kairouz, Oh, Viswanath, JMLR 17 (2016), Theorem 5 and Lemma 24.

    >>> round(binary_threshold([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 12)
    0.887303195001
    >>> binary_threshold([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), binary_threshold([0.7, 0.3], [0.4, 0.6])
    (0.0, inf)
    """
    pair = TotalVariation(p0, p1)
    q0, q1, difference = pair.p0, pair.p1, pair.pair.difference
    if not difference.any():
        return math.inf
    if ((difference == 0) & (q0 > 0)).any():
        return 0.0
    above, below = difference > 0, difference < 0
    # Ratios are at least 1 inside T and below 1 outside; each is formed from the side that is not zero.
    return math.log1p(
        min(_room(difference[above], q0[above], q1[above]), _room(-difference[below], q1[below], q0[below]))
    )


def _room(gap: Any, more: Any, less: Any) -> float:
    """(l − 1)/Σ(more − l·less) with l the smallest ratio more/less.

    Outside T, with l₋ = 1/l: (1 − 1/l)/Σ(more/l − less) = (l − 1)/Σ(more − l·less), the same expression.
    """
    with np.errstate(divide="ignore"):
        excess = np.where(less > 0, gap / np.where(less > 0, less, 1.0), np.inf)  # l − 1, without cancellation
    smallest = float(excess.min())
    if math.isinf(smallest):
        return math.inf
    spare = math.fsum(np.maximum(less * (excess - smallest), 0.0)[less > 0].tolist()) + math.fsum(
        more[less == 0].tolist()
    )
    return smallest / spare if spare > 0 else math.inf
