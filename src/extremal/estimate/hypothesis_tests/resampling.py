"""p-values that are valid at every n: how many of B draws under the hypothesis reach the statistic.

If the data and the draws are exchangeable under H₀, P((1 + #{draws ≥ observed})/(B + 1) ≤ α) ≤ α for every α (Barnard
1963). The draws use the operating system's randomness afresh for each call, so two calls may give p-values that differ by
about √(p(1−p)/B). When none of them reaches the statistic, the p-value is below 1/(B + 1) and the limiting χ²
distribution says how far below, if every cell is expected at least 5 times: decisions at α ≥ 1/(B + 1) do not depend on it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

DRAWS = 9_999
BATCH = 1_000
SMALLEST_EXPECTED = 5.0
"""Below this expected count (Cochran's rule) the limiting χ² distribution is not used."""
SAME = 1e-9
"""Relative: a draw of the same table counts as reaching the statistic, whatever the order of its sums."""


def p_value(
    observed: float,
    draw: Callable[[np.random.Generator, int], Any],
    freedom: int,
    smallest_expected: float,
    what: str,
    draws: int = DRAWS,
) -> tuple[float, str]:
    """The p-value and how it was found; `draw(generator, count)` gives `count` statistics under the hypothesis."""
    generator, reached, done = np.random.default_rng(secrets.randbits(128)), 0, 0
    while done < draws:
        batch = min(BATCH, draws - done)
        reached += int(np.count_nonzero(np.asarray(draw(generator, batch)) >= observed * (1 - SAME) - SAME))
        done += batch
    found = (1 + reached) / (draws + 1)
    if not reached and smallest_expected >= SMALLEST_EXPECTED:
        from scipy.stats import chi2

        limit = float(chi2.sf(observed, freedom))
        if limit < found:
            return limit, f"limiting χ² distribution; none of {draws} {what} reached the statistic"
    return found, f"{draws} {what}"
