"""How far the estimate moves when not everybody follows the mechanism.

Suppose a share γ of the reports has another distribution h. Then f = (1 − γ)·f_honest + γ·h, and because the unbiased
estimate is linear,

    p̂_honest = (p̂ − γ·L h) / (1 − γ).

*Poisoning* takes the worst h for each cell: L h lies between the smallest and the largest influence of a single report.
That bounds what fakes could have done, is attained by those who always send the most influential report, and detects
nothing. *Non-compliance* takes a given h: random answers, or always the same one.

Reference: Cheu, Smith, Ullman, Manipulation Attacks in Local Differential Privacy (IEEE S&P 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.results.fit import Fit
from extremal.exact.weights import Floats


def poisoning(fit: Fit, share: float) -> Floats:
    """Rows (low, high) for each thing estimated."""
    gamma = _checked_share(share)
    smallest, largest = fit.unbiased_inverse.extremes(fit.combinations.matrix)
    observed = fit.combinations.of_rows(fit.unbiased)
    return np.column_stack([(observed - gamma * largest) / (1 - gamma), (observed - gamma * smallest) / (1 - gamma)])


def noncompliance(fit: Fit, share: float, reports: Any) -> Floats:
    gamma = _checked_share(share)
    moved = fit.unbiased - gamma * fit.unbiased_inverse.apply(_distribution(fit, reports))
    return fit.combinations.of_rows(moved / (1 - gamma))


def _distribution(fit: Fit, reports: Any) -> Floats:
    if reports is None:
        return fit.combinations.channel.uniform()
    if not isinstance(reports, Mapping):
        return fit.combinations.channel.statistic([fit.combinations.channel.encode(reports)], np.ones(1))
    shares = np.array(list(reports.values()), dtype=np.float64)
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1) <= 1e-9):
        raise InvalidParameter(
            "probabilities of reports must be non-negative and sum to 1", parameter="reports", value=dict(reports)
        )
    return fit.combinations.channel.statistic([fit.combinations.channel.encode(label) for label in reports], shares)


def _checked_share(share: float) -> float:
    if not 0 <= share < 1:
        raise InvalidParameter(
            "share must be at least 0 and less than 1", parameter="share", value=share, hint="Write 1% as 0.01."
        )
    return float(share)
