"""The quaternary mechanism: reveal with probability δ, otherwise randomised response. The best (ε,δ) mechanism for one
bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.privacy import LDP


def quaternary(epsilon: Any, delta: Any, inputs: Any = None) -> Mechanism:
    """Optimal for two inputs under (ε,δ)-LDP and every utility with data processing (KOV eq 24, Theorem 18).

    Rows (δ, 0, (1−δ)/(1+e^ε), (1−δ)e^ε/(1+e^ε)) and (0, δ, (1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε)). With δ = 0 the last two
    columns are left.

    Guarantee: (ε,δ)-LDP in integers, tight to 2^-62.

    Args:
        epsilon: nats.
        delta: 0 ≤ δ < 1.
        inputs: two labels.

    >>> quaternary(1, 0.1).matrix[0].round(6).tolist()
    [0.1, 0.0, 0.242047, 0.657953]
    """
    notion = LDP(epsilon, delta)
    reveal = notion.exact_delta.numerator * DENOMINATOR // notion.exact_delta.denominator
    rest = DENOMINATOR - reveal
    lower, _ = notion.exponential.bounds(192)
    low = max(0, (rest << 192) // (lower + (1 << 192)) - 1)
    while not notion.exponential.at_least(rest - low, low):  # the smallest low weight whose partner is within e^ε
        low += 1
    weights = np.array([[reveal, 0, low, rest - low], [0, reveal, rest - low, low]], dtype=np.int64)
    return Mechanism.from_weights(weights if reveal else weights[:, 2:], privacy=notion, inputs=inputs)
