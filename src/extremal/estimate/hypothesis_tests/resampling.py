"""p-values that are valid at every n: how many of B draws under the hypothesis reach the statistic.

If the data and the draws are exchangeable under H₀, P((1 + #{draws ≥ observed})/(B + 1) ≤ α) ≤ α for every α (Barnard
1963). The draws use the operating system's randomness afresh for each call, so two calls may give p-values that differ
by about √(p(1−p)/B). When none of them reaches the statistic, the p-value is below 1/(B + 1) and the limiting χ²
distribution says how far below, if every cell is expected at least 5 times: decisions at α ≥ 1/(B + 1) do not depend on
it, and a smaller α is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count

DRAWS = 9_999  # p-values are known to ±0.002 near 0.05, and may be as small as 0.0001
BATCH = 1_000  # draws at a time: enough for NumPy to be at full speed
MOST_NUMBERS = 1 << 22  # of a batch of tables in memory
SMALLEST_EXPECTED = 5.0
"""Below this expected count (Cochran's rule) the limiting χ² distribution is not used."""
SAME = 1e-9
"""Relative: a draw of the same table counts as reaching the statistic, whatever the order of its sums."""


def as_draws(draws: Any, alpha: float) -> int:
    """How many draws: enough for a p-value of at most alpha."""
    count = as_count(draws, "draws", 1)
    if (count + 1) * alpha < 1 - 1e-12:
        raise InvalidParameter(
            "the smallest p-value, 1/(draws + 1), must not exceed alpha",
            parameter="draws",
            value=count,
            hint=f"For alpha={alpha:g} give draws={int(np.ceil(1 / alpha)) - 1} or more.",
        )
    return count


def p_value(
    observed: float,
    draw: Callable[[np.random.Generator, int], Any],
    freedom: int,
    smallest_expected: float,
    what: str,
    draws: int,
    cells: int,
) -> tuple[float, str]:
    """The p-value and how it was found.

    Args:
        observed: the statistic.
        draw: `draw(generator, count)` gives `count` statistics under the hypothesis.
        freedom: degrees of freedom of the limit.
        smallest_expected: count of any cell.
        what: the draws, in words.
        draws: how many.
        cells: numbers that one draw takes.
    """
    generator, reached, done = np.random.default_rng(secrets.randbits(128)), 0, 0
    most = max(1, min(BATCH, MOST_NUMBERS // cells))
    while done < draws:
        batch = min(most, draws - done)
        reached += int(np.count_nonzero(np.asarray(draw(generator, batch)) >= observed * (1 - SAME) - SAME))
        done += batch
    found = (1 + reached) / (draws + 1)
    if not reached and smallest_expected >= SMALLEST_EXPECTED:
        from scipy.special import chdtrc

        limit = float(chdtrc(freedom, observed))
        if limit < found:
            return limit, f"limiting χ² distribution; none of {draws} {what} reached the statistic"
    return found, f"{draws} {what}"
