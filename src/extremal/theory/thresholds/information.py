"""When the two classical mechanisms keep most information: randomised response from some ε on, one bit up to some ε.

Randomised response: see `optimize/information/response.py`, which has the criterion and why it holds.

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
from extremal.optimize.design import design
from extremal.optimize.information.response import TIE, response_is_optimal, response_margin
from extremal.privacy import LDP
from extremal.utility import MutualInformation
from extremal.utility.curve import InformationCurve

__all__ = ["binary_threshold_for_information", "response_is_optimal", "rr_threshold_for_information"]

SCANNED = (1e-3, 60.0)
"""The range of ε, in nats, in which thresholds are looked for."""

_GRID = 400  # points of the scan; one change of sign was always seen
_BINARY_LOSS = 1e-11  # relative loss up to which one bit is called optimal; the optimum is known to about 1e-12


def rr_threshold_for_information(prior: Any) -> float:
    """The ε from which on randomised response is optimal for mutual information.

    0 if it is optimal throughout the scanned range (`SCANNED`), infinity if it is not optimal at its upper end.

    Guarantee: `response_is_optimal` just above, not just below; the set of such ε is scanned, not assumed to be an
    interval, and the last change is reported.

    Reference: KOV Theorem 14, with erratum E3.

    >>> round(rr_threshold_for_information([0.5, 0.3, 0.2]), 9)
    0.865644668
    >>> round(rr_threshold_for_information([1/6] * 6), 3)
    1.71
    """
    values = as_prior(prior).values
    return _last_change(lambda epsilon: response_margin(values, epsilon) / InformationCurve(epsilon).limit + TIE)


def binary_threshold_for_information(prior: Any, time_limit: float = 60.0) -> float:
    """The ε up to which one bit about the most balanced set is optimal for mutual information.

    0 if it is optimal nowhere in `SCANNED` (the uniform prior on three symbols), infinity if at its upper end. The
    optimum is computed by `ex.design` at each ε tried, to 1e-12; one bit counts as optimal when it loses less than
    1e-11, relatively.

    Args:
        prior: the distribution of the input; more than about 30 different probabilities take minutes.
        time_limit: seconds for each ε tried.

    Guarantee: accurate to about 1e-10; between the ε of the scan nothing is proven.

    Reference: KOV Theorem 12, with erratum E6.

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
