"""What no estimate from n ε-LDP reports can beat: lower bounds on the worst mean squared error, for every n.

Each bound is a mean risk over some distributions, which no worst risk is below. All hold for every estimator, biased
ones too. c = e^ε − 1, τ = tanh(ε/2).

**Two points** (a mean, few people). P_± on {0, 1} with means ½(1 ± t). Every ε-LDP report of a bit is a garbling of
randomised response (KOV Theorem 18), so the affinity Σ√(M₊M₋) of one report is at least √(1−τ²t²), whatever earlier
reports were, and that of n reports at least (1−τ²t²)^(n/2). With posterior π the mean risk is t²·E[π(1−π)], and
E[1 − (2π−1)²] ≥ 1 − E|2π−1| = 1 − TV: the risk is at least (t²/4)(1 − √(1 − (1−τ²t²)^n)).

**Van Trees** (many people). For a prior with density Π_j cos²(πw_j/2h)/h on a cube of half-width h in an orthonormal
basis of D directions, every estimate of w has a mean risk of at least D²/(n·J + Dπ²/h²), J a bound of the trace of the
Fisher information of one report (Gill and Levit 1995, with the identity for their matrix C). It is conditional on
earlier reports, so that mechanisms may be chosen one after another.

*A mean.* The direction is P(1) = ½ + w. By Theorem 18 randomised response has the largest information, 4τ²/(1−4τ²w²).

*Shares, all directions.* Around the uniform distribution, D = k − 1. On the cube every share is at least (1−ρ)/k with ρ
= h(k−1)√k, so the probability of a report is at least 1−ρ times its mean over inputs. The trace is then at most
Σ_y(|q_y|² − (Σq_y)²/k)/((1−ρ)·mean q_y), a sublinear function of the columns q_y: a staircase is worst (KOV Theorem 4),
and with m inputs at e^ε its share of the trace is at most T = max_m c²m(k−m)k/(k+cm)². For large n the bound is
(k−1)²/(nT): what subset selection attains at the uniform distribution (Ye and Barg 2018), so it is sharp.

*Shares, within pairs.* D = ⌊k/2⌋ and w_i moves √½·w_i from one symbol of a pair to the other: ρ = hk/√2 is far smaller,
which pays where n is below about k³. A column that splits m pairs has ½·c²mk²/(k+cm)² in place of T.

**Pairs** (shares, few people). Pair the symbols, d = ⌊k/2⌋, and let p_z be 1/k times 1 ± t within pair i, as z_i ∈ {±1}
says. Turning z_i moves p by 2t/k on two symbols, so the risks at both add up to at least 4t²/k²·(1 − TV_i) (Assouad).
Under z, Q(y|x)/M(y) has mean 1 and a ratio of at most e^ε, hence a variance of at most sinh²(ε/2); the pairs are
orthogonal directions of norm² 2/(k(1−t²)), so the χ²-divergences of one report to all d neighbours sum to at most
8t²·sinh²(ε/2)/(k(1−t²)). With Pinsker and Cauchy–Schwarz ΣTV_i ≤ √(½·d·n·that): the risk is at least (2t²/k²)·(d −
√(½·d·n·that)) for every t in (0,1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from extremal.exact import Exponential, as_count

STEPS = 200  # of a golden-section search: far below the last digit of a double


def mean_estimation(epsilon: Any, n: int) -> float:
    """No estimate of the mean of values in [0, 1] from n ε-LDP reports has a mean squared error below this for every
    distribution.

    The larger of max_t (t²/4)(1 − √(1 − (1−τ²t²)^n)) and max_t 1/(4nτ²/(1−τ²t²) + 4π²/t²), τ = tanh(ε/2). For large n
    it is 1/(4nτ²), which one bit of randomised response attains. For values in [a, b], multiply by (b−a)².

    Args:
        epsilon: nats.
        n: people, each with one report; mechanisms may differ and be chosen after seeing earlier reports.

    Guarantee: proven for every n and ε, in floats; the proof is at the top of this module.

    Reference: R. Gill, B. Levit, Applications of the van Trees inequality, Bernoulli 1 (1995); J. Duchi, M. Jordan, M.
    Wainwright, Minimax Optimal Procedures for Locally Private Estimation, JASA 113 (2018), for the rate 1/(n·ε²).

    >>> round(1_000_000 * mean_estimation(1, 1_000_000), 4)
    1.1634
    """
    level, count = Exponential(epsilon).epsilon, as_count(n, "n", 1)
    kept = math.tanh(level / 2) ** 2

    def two_points(t: float) -> float:
        overlap = math.exp(count * math.log1p(-kept * t * t))
        # 1 − √(1 − x) without cancellation
        return t * t / 4 * overlap / (1 + math.sqrt(1 - overlap))

    def van_trees(t: float) -> float:
        return 1 / (4 * count * kept / (1 - kept * t * t) + 4 * math.pi**2 / t**2)

    return max(_largest(two_points), _largest(van_trees))


def share_estimation(k: int, epsilon: Any, n: int) -> float:
    """No estimate of k shares from n ε-LDP reports has a total mean squared error below this for every distribution.

    The largest of three bounds: for many people (k−1)²/(nT), T = max_m c²m(k−m)k/(k+cm)², c = e^ε − 1, which is sharp.

    Args:
        k: number of symbols.
        epsilon: nats.
        n: people, each with one report; mechanisms may differ and share randomness.

    Guarantee: proven for every n, k and ε, in floats; the proof is at the top of this module.

    Reference: R. Gill, B. Levit, Bernoulli 1 (1995); M. Ye, A. Barg, Optimal schemes for discrete distribution
    estimation under locally differential privacy, IEEE Trans. Inf. Theory 64 (2018); J. Duchi, M. Jordan, M.
    Wainwright, JASA 113 (2018), for the rate k/(n·ε²) at small ε.

    >>> round(10_000 * share_estimation(10, 1, 10_000), 4)
    4.9213
    """
    level, count, size = Exponential(epsilon).epsilon, as_count(n, "n", 1), as_count(k, "k", 2)
    if size == 2:
        return 2 * mean_estimation(epsilon, n)  # both shares are off by the same
    step, pairs = math.expm1(level), size // 2
    loss = 2 * math.sinh(level / 2) * math.sqrt(pairs * count / size)

    def assouad(t: float) -> float:
        return 2 * (t / size) ** 2 * (pairs - loss * t / math.sqrt(1 - t * t))

    def van_trees(dimension: int, information: float, reach: float) -> float:
        """With half-width h = reach·t, and every probability at least 1 − t times what it was."""
        spread = dimension * (math.pi / reach) ** 2
        return _largest(lambda t: dimension**2 / (count * information / (1 - t) + spread / t**2))

    whole = max(step**2 * m * (size - m) * size / (size + step * m) ** 2 for m in _around(size / (step + 2), size - 1))
    split = max(step**2 * m * size**2 / (2 * (size + step * m) ** 2) for m in _around(size / (step or 1), pairs))
    return max(
        0.0,
        _largest(assouad),
        van_trees(size - 1, whole, 1 / ((size - 1) * math.sqrt(size))),
        van_trees(pairs, split, math.sqrt(2) / size),
    )


def _around(best: float, most: int) -> tuple[int, int]:
    """The whole numbers from 1 to `most` next to where a function with one peak has it."""
    low = min(max(1, math.floor(best)), most)
    return low, min(low + 1, most)


def _largest(risk: Callable[[float], float]) -> float:
    """The largest value that a golden-section search over (0, 1) sees: any value is a bound."""
    low, high = 0.0, 1 - 2.0**-50
    for _ in range(STEPS):
        first, second = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, second) if risk(first) >= risk(second) else (first, high)
    return risk((low + high) / 2)
