"""What a confidence level asks of one interval, and of each of several that shall hold together."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from extremal.errors import InvalidParameter


def checked_level(level: float, name: str = "level") -> float:
    """The level as a float between 0 and 1; anything else is refused."""
    if not isinstance(level, (int, float, np.floating)) or not 0 < level < 1:
        raise InvalidParameter(
            f"{name} must lie between 0 and 1", parameter=name, value=level, hint="Write 95% as 0.95."
        )
    return float(level)


def each(level: float, intervals: int) -> float:
    """The level of each of `intervals` that hold together with probability `level`, however they depend (Bonferroni).

    >>> each(0.95, 5)
    0.99
    """
    return 1 - (1 - checked_level(level)) / intervals


def quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level for a standard normal Z.

    >>> round(quantile(0.95), 4)
    1.96
    """
    return -NormalDist().inv_cdf((1 - checked_level(level)) / 2)
