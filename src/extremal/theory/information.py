"""When the two classical mechanisms keep most information: randomised response from some ε on, one bit up to some ε.

Randomised response on the symbols of positive probability is optimal exactly when

    I_RR ≤ φ(p₁) + φ(p₂) − φ(p₁+p₂),   p₁ ≤ p₂ the two smallest probabilities.

*Why.* Take the dual a_x = φ(p_x) − V, V = I_RR, of the staircase program (φ(P(T)) ≤ V + a(T) for every T, Σa = cV). It
is the only one that is tight on all singletons, so randomised response is optimal iff it is feasible: Σ_T φ(p_x) −
φ(P(T)) ≥ (|T|−1)·V. By concavity adding a symbol to T costs φ(z)+φ(y)−φ(z+y), increasing in both arguments, hence never
less than for the two smallest symbols.

One bit about the most balanced set (KOV Theorem 12) is optimal for small ε if the balanced partition is unique or
exactly half; the theorem omits that condition and is false for the uniform prior on three symbols (erratum E6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.exact import Prior, as_prior
from extremal.theory.curve import Floats, InformationCurve

SCANNED = (1e-3, 60.0)
"""The range of ε, in nats, in which thresholds are looked for."""

_GRID = 400  # points of the scan; one change of sign was always seen
_TIE = 1e-13  # relative: a margin above −1e-13 is a tie, evaluation is accurate to a few 1e-15
_BINARY_LOSS = 1e-11  # relative loss up to which one bit is called optimal; the optimum is known to about 1e-12


def response_margin(prior: Floats, epsilon: float) -> float:
    """φ(p₁) + φ(p₂) − φ(p₁+p₂) − I_RR over the two smallest positive probabilities: randomised response is optimal iff
    it is not negative."""
    curve = InformationCurve(epsilon)
    support = np.sort(prior[prior > 0])
    if support.size < 2:
        return 0.0
    first, second, both = curve.value([support[0], support[1], support[0] + support[1]]).tolist()
    return float(first + second - both - curve.response(support))


def response_is_optimal(prior: Any, epsilon: float) -> bool:
    """Whether randomised response keeps most information among all ε-LDP mechanisms.

    >>> response_is_optimal([0.5, 0.3, 0.2], 2), response_is_optimal([0.5, 0.3, 0.2], 0.5)
    (True, False)
    """
    values = as_prior(prior).values
    return response_margin(values, epsilon) >= -_TIE * InformationCurve(epsilon).limit


def rr_threshold_for_information(prior: Any) -> float:
    """The ε from which on randomised response is optimal for mutual information.

    0 if it is optimal throughout the scanned range (`SCANNED`), infinity if it is not optimal at its upper end.

    Guarantee: `response_is_optimal` just above, not just below; the set of such ε is scanned, not assumed to be an
    interval, and the last change is reported.

    >>> round(rr_threshold_for_information([0.5, 0.3, 0.2]), 9)
    0.865644668
    >>> round(rr_threshold_for_information([1/6] * 6), 3)
    1.71
    """
    values = as_prior(prior).values
    return _last_change(lambda epsilon: response_margin(values, epsilon) / InformationCurve(epsilon).limit + _TIE)


def binary_threshold_for_information(prior: Any, time_limit: float = 60.0) -> float:
    """The ε up to which one bit about the most balanced set is optimal for mutual information.

    0 if it is optimal nowhere in `SCANNED` (the uniform prior on three symbols), infinity if at its upper end. The
    optimum is computed by `ex.design` at each ε tried, to 1e-12; one bit counts as optimal when it loses less than
    1e-11, relatively.

    Args:
        prior: the distribution of the input; more than about 30 different probabilities take minutes.
        time_limit: seconds for each ε tried.

    >>> round(binary_threshold_for_information([0.5, 0.3, 0.2]), 8)
    0.86564467
    """
    exact = as_prior(prior)
    z = float(balanced_subset(exact).probability)
    low, high = (math.log(end) for end in SCANNED)
    if not _binary_is_optimal(exact, z, math.exp(low), time_limit):
        return 0.0
    if _binary_is_optimal(exact, z, math.exp(high), time_limit):
        return math.inf
    while high - low > 1e-12:
        middle = (low + high) / 2
        if _binary_is_optimal(exact, z, math.exp(middle), time_limit):
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def _binary_is_optimal(prior: Prior, z: float, epsilon: float, time_limit: float) -> bool:
    from extremal.optimize import design
    from extremal.privacy import LDP
    from extremal.utility import MutualInformation

    reached = InformationCurve(epsilon).binary(z)
    best = design(LDP(epsilon), MutualInformation(prior), tolerance=1e-12, time_limit=time_limit)
    return reached >= best.value * (1 - _BINARY_LOSS)


def _last_change(margin: Callable[[float], float]) -> float:
    """The largest root at which `margin` turns from negative to non-negative, by bisection on a geometric grid."""
    grid: list[float] = np.geomspace(*SCANNED, _GRID).tolist()
    inside = [margin(epsilon) >= 0 for epsilon in grid]
    if not inside[-1]:
        return math.inf
    if all(inside):
        return 0.0
    last = max(i for i, holds in enumerate(inside) if not holds)
    low, high = grid[last], grid[last + 1]
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if margin(middle) >= 0:
            high = middle
        else:
            low = middle
