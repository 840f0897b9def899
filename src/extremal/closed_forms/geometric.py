"""The truncated geometric mechanism: noise that falls off with distance, for ordered answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.mechanism.structures.staircase import uniform_structure
from extremal.privacy import LDP


def geometric(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Two-sided geometric noise on 0..k−1, clamped to the ends.

    With a = e^{−ε/(k−1)}: Q(y|x) = (1−a)/(1+a)·a^|y−x| inside, a^x/(1+a) at the lower end and a^{k−1−x}/(1+a) at the
    upper.

    KOV Section 3.4 prints ε^{1/(k−1)} for a, which is no distribution for ε ≥ 1 and less private the smaller ε is below
    1 (erratum E7).

    Guarantee: ε-LDP in integers; the level is attained at the two ends.

    Args:
        k: number of ordered inputs (or their labels in order), 2..4096 (its columns have k different values each).
        epsilon: nats between the two ends.
        inputs: labels, also of the outputs.

    >>> geometric(4, 1).matrix[0].round(6).tolist()
    [0.58257, 0.118328, 0.084786, 0.214316]
    """
    (count, labels), notion = count_and_labels(k, inputs), LDP(epsilon)
    if not notion.epsilon:
        row = uniform_structure(count).array
        return Mechanism.from_weights(np.repeat(row, count, axis=0), privacy=notion, inputs=labels, outputs=labels)
    rate = notion.epsilon / (count - 1)
    x = np.arange(count)
    scale = math.tanh(rate / 2)  # (1−a)/(1+a)
    matrix = scale * np.exp(-rate * np.abs(x[:, None] - x[None, :]))
    end = 1 / (1 + math.exp(-rate))
    matrix[:, 0], matrix[:, -1] = end * np.exp(-rate * x), end * np.exp(-rate * (count - 1 - x))
    return Mechanism.from_matrix(matrix, notion, inputs=labels, outputs=labels)
