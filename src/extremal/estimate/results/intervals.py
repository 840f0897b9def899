"""How many standard errors an interval reaches."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from extremal.errors import InvalidParameter


def quantile(level: float, intervals: int = 1) -> float:
    """z with P(|Z| ≤ z) = level, for each of `intervals` to hold together by Šidák's inequality."""
    if not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise InvalidParameter(
            "level must lie between 0 and 1", parameter="level", value=level, hint="Write 95% as 0.95."
        )
    # 1 − level^(1/intervals) without cancellation.
    missing = -np.expm1(np.log(float(level)) / intervals)
    return -NormalDist().inv_cdf(float(missing) / 2)
