"""Mechanisms in rationals at small ε, where 1 and e^−ε are too close for floats to tell columns apart."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact import Exponential
from extremal.privacy import Notion

FINE = 1e-3  # ε below which a matrix is made in rationals: floats leave it 13 digits
MOST_ENTRIES = 10_000  # of a matrix in rationals, whose arithmetic is a thousand times slower
BITS = 160  # of e^ε: 2^−62 of weights at ε = 2^−60, and room
CORRECTIONS = 4  # of the weights; each adds the digits of a float

Rationals = npt.NDArray[Any]
"""An array of fractions."""


def wanted(privacy: Notion, entries: int) -> bool:
    """Whether a matrix of so many entries is made in rationals."""
    return privacy.epsilon < FINE and entries <= MOST_ENTRIES


def below(exponential: Exponential) -> Fraction:
    """A rational at or just below e^ε."""
    return Fraction(exponential.bounds(BITS)[0], 1 << BITS)


def with_unit_rows(
    columns: Rationals, weights: Rationals, change: Callable[[Rationals, Rationals, Fraction], npt.NDArray[np.float64]]
) -> Rationals:
    """The columns times their weights, which are corrected until rows sum to 1.

    Args:
        columns: rows × n.
        weights: of each column, nearly right.
        change: given what is missing in each row, the weights, and the unit in which to answer, how to change them.
    """
    for _ in range(CORRECTIONS):
        missing = 1 - columns @ weights
        unit = max(abs(r) for r in missing) or Fraction(1)
        better = weights + np.array([Fraction(c) * unit for c in change(missing, weights, unit).tolist()])
        if min(better) < 0 or max(abs(r) for r in 1 - columns @ better) >= unit:
            break
        weights = better
    return np.asarray(columns * weights)
