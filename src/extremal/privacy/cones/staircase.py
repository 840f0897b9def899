"""The cone of ε-LDP: columns whose entries differ by a factor of at most e^ε, and its extreme rays.

Every extreme ray is a staircase pattern S_T = 1 + (e^ε − 1)·1_T with ∅ ≠ T ≠ all (KOV Theorem 4): 2^k − 2 of them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge

Floats = npt.NDArray[np.float64]

MOST_INPUTS = 16  # 65,534 patterns


def patterns(k: int, epsilon: float) -> Floats:
    """Every S_T/e^ε = e^−ε + (1−e^−ε)·1_T as columns; scaled to stay finite at large ε.

    Raises:
        TooLarge: more than 16 inputs.

    >>> patterns(2, 0.0).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if k > MOST_INPUTS:
        raise TooLarge(f"staircase patterns are listed for at most {MOST_INPUTS} inputs", parameter="k", value=k)
    masks = np.arange(1, 2**k - 1)
    inside = (masks[None, :] >> np.arange(k)[:, None]) & 1
    return np.where(inside == 1, 1.0, math.exp(-epsilon))
