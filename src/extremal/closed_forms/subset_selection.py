"""Subset selection: report a random set of answers, likelier if it holds the true one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.privacy import LDP
from extremal.utility.curve import InformationCurve


def subset_selection(
    k: int | Sequence[Any], epsilon: Any, size: int | str = "frequencies", inputs: Any = None
) -> Mechanism:
    """Report one of the C(k,d) subsets S of d answers.

    Q(S|x) ∝ e^ε if x ∈ S, else 1. d = 1 is randomised response. Minimax for estimating frequencies with d ≈ k/(1+e^ε)
    (Ye and Barg 2018), and optimal for information under a uniform prior with the best d (KOV erratum E6).

    Guarantee: ε-LDP in integers. Up to 4,096 subsets are listed as outputs; beyond that the mechanism is kept as one
    number and samples without a list.

    Args:
        k: number of inputs, or their labels.
        epsilon: nats, above 0.
        size: "frequencies" (least variance under uniform frequencies), "information" (most information under a uniform
            prior), or d itself.
        inputs: labels; outputs are sorted tuples of them.

    >>> subset_selection(4, 0.5).outputs[:3]
    ((0, 1), (0, 2), (0, 3))
    """
    (count, labels), notion = count_and_labels(k, inputs), LDP(epsilon)
    if size == "frequencies":
        chosen = best_size_for_frequencies(count, notion.epsilon)
    elif size == "information":
        chosen = best_size_for_information(count, notion.epsilon)
    elif isinstance(size, str):
        raise InvalidParameter("size must be 'frequencies', 'information' or a number", parameter="size", value=size)
    else:
        chosen = as_count(size, "size", 1)
        if chosen >= count:
            raise InvalidParameter("size must be less than k", parameter="size", value=size)
    if not notion.epsilon:
        raise InvalidParameter(
            "epsilon must be positive: at 0 every subset is as good as none", parameter="epsilon", value=epsilon
        )
    return Mechanism.from_subsets(count, chosen, notion, inputs=labels)


def best_size_for_frequencies(k: int, epsilon: float) -> int:
    """d with the least variance, which lies next to k/(1+e^ε), so two neighbours are compared.

    For uniform frequencies each report's variance is inversely proportional to g(d) = c²·d(k−d)/(dE+k−d)², E = e^ε, c =
    E−1.
    """
    guess = k / (1 + math.exp(min(epsilon, 700.0)))
    candidates = {min(max(1, d), k - 1) for d in (math.floor(guess), math.ceil(guess))}
    return min(candidates, key=lambda d: (-_log_gain(k, d, epsilon), d))


def _log_gain(k: int, d: int, epsilon: float) -> float:
    """log of d(k−d)e^ε/(d·e^ε+k−d)², which falls on either side of d = k/(1+e^ε)."""
    return math.log(d) + math.log(k - d) + epsilon - 2 * (epsilon + math.log(d + (k - d) * math.exp(-epsilon)))


def best_size_for_information(k: int, epsilon: float) -> int:
    """d with the largest ψ(d/k), the information of reports that each cover that mass: the optimum for a uniform
    prior."""
    d = np.arange(1, k)
    return int(d[int(np.argmax(InformationCurve(epsilon).rate(d / k)))])
