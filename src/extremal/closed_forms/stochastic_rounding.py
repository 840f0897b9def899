"""Stochastic rounding: an ordered answer as one bit, likelier to be 1 the larger it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.exact import Exponential, as_count
from extremal.exact.weights import DENOMINATOR, Weights
from extremal.mechanism import Mechanism
from extremal.privacy import LDP

_BITS = 192


def stochastic_rounding(k: int, epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report 1 with a probability that rises evenly, from 1/(1+e^ε) at the first answer to e^ε/(1+e^ε) at the last.

    With the answers as v = −1..1 in equal steps, (2y − 1)·(e^ε+1)/(e^ε−1) is unbiased for v, and n·MSE of the mean is
    ((e^ε+1)/(e^ε−1))² − mean(v)²: minimax over all distributions of the answers.

    Guarantee: ε-LDP, decided on integers over 2^62. Single frequencies are not identified, only the mean of v.

    Args:
        k: number of inputs, in order.
        epsilon: nats.
        inputs: labels; reports are 0 and 1.

    Reference: Duchi, Jordan and Wainwright, Minimax Optimal Procedures for Locally Private Estimation, JASA 2018.

    >>> stochastic_rounding(3, 1).matrix[:, 1].round(4).tolist()
    [0.2689, 0.5, 0.7311]
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    ones = rising_weights(count, DENOMINATOR, notion.exponential)
    return Mechanism.from_weights(
        np.column_stack([DENOMINATOR - ones, ones]), privacy=notion, inputs=inputs, outputs=[0, 1]
    )


def rising_weights(k: int, total: int, exponential: Exponential) -> Weights:
    """Weights of the report 1, of `total`, rising in k even steps between the two that e^ε allows."""
    lower, _ = exponential.bounds(_BITS)
    low = max(1, (total << _BITS) // (lower + (1 << _BITS)) - 1)
    while not exponential.at_least(total - low, low):
        low += 1
    return np.array([low + (total - 2 * low) * x // (k - 1) for x in range(k)], dtype=np.int64)
