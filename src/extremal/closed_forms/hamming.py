"""The mechanisms of the Hamming-distortion paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.privacy import LDP


def hamming(k: int, d: Any, zero_columns: int = 0, inputs: Any = None) -> Mechanism:
    """KSS Q_d^(l): tell the truth with probability 1 − d among the first M − l symbols; the last l are never reported
    (KSS eq 5, 25).

    With n = k − l: Q(i|i) = 1 − d and Q(j|i) = d/(n−1) for i, j ≤ n; inputs beyond n behave like input n. The level is
    log((n−1)(1−d)/d) (KSS eq 26, where the logarithm is dropped in places: erratum H7). `d` is the parameter, not the
    achieved distortion when l > 0.

    Guarantee: LDP at that level, in integers; no claim when d = 0.

    Args:
        k: number of inputs M.
        d: 0 ≤ d ≤ 1.
        zero_columns: l, 0 ≤ l ≤ k − 2.
        inputs: labels; the outputs are the first k − l of them.

    >>> hamming(4, 0.35, zero_columns=1).matrix[3].round(6).tolist()
    [0.175, 0.175, 0.65]
    """
    count, dropped = as_count(k, "k", 2), as_count(zero_columns, "zero_columns", 0)
    share = as_fraction(d, "d")
    if not 0 <= share <= 1:
        raise InvalidParameter("d must lie between 0 and 1", parameter="d", value=d)
    n = count - dropped
    if n < 2:
        raise InvalidParameter(
            f"zero_columns must be at most k − 2 = {count - 2}", parameter="zero_columns", value=zero_columns
        )
    labels = list(range(count)) if inputs is None else list(inputs)
    rows = np.minimum(np.arange(count), n - 1)
    low = math.floor(share * DENOMINATOR) // (n - 1)  # the truth is rounded up: a false report is no likelier than d
    weights = np.full((n, n), low, dtype=np.int64)
    np.fill_diagonal(weights, DENOMINATOR - (n - 1) * low)
    m = Mechanism.from_weights(weights[rows], DENOMINATOR, None, inputs=labels, outputs=labels[:n])
    level = LDP(0).level(m)
    return m if level > 100 else m.claiming(LDP(level))
