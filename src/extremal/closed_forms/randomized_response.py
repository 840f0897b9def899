"""Randomised response: tell the truth with the largest probability that ε allows, otherwise any other answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.privacy import LDP


def randomized_response(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """k-ary randomised response at ε.

    Q(y|x) = e^ε/(k−1+e^ε) if y = x, else 1/(k−1+e^ε) (KOV eq 15; Warner 1965 for k = 2).

    Guarantee: ε-LDP in integers, tight to 2^-62 of probability. Stored as two numbers whatever k. At ε = 0 it is the
    uniform mechanism.

    Args:
        k: number of inputs, at least 2; or their labels.
        epsilon: nats.
        inputs: labels, also of the outputs; 0..k−1 if not given.

    Reference: KOV Theorems 8 and 14 say when it is optimal (with erratum E3: no two equal likelihood ratios).

    >>> randomized_response(4, 1).matrix[0].round(6).tolist()
    [0.475367, 0.174878, 0.174878, 0.174878]
    >>> randomized_response(["no", "yes"], 1).inputs
    ('no', 'yes')
    """
    count, labels = count_and_labels(k, inputs)
    return Mechanism.from_partition(np.arange(count), LDP(epsilon), inputs=labels, outputs=labels)
