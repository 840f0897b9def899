"""Reports near the answer on a line: the piecewise mechanism, its hybrid, and the square wave.

Both are windows: input x of k favours W consecutive reports, x..x+W−1, of k+W−1. Where the mechanisms were stated on
an interval, the window is a share of its length; here it is that share of the k − 1 steps, to the nearest whole one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.closed_forms.stochastic_rounding import rising_weights, stochastic_rounding
from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.exact import Exponential, IndexSet, as_count
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.structure import refuse_large
from extremal.privacy import LDP

HYBRID_FROM = 0.61  # ε up to which the hybrid is stochastic rounding alone
_SMALL = 1e-3  # ε below which the window of the square wave is taken from its series
_BITS = 192


def piecewise(k: int, epsilon: Any, hybrid: bool = False, inputs: Any = None) -> Mechanism:
    """Report a point of a line longer than the answers', likelier by e^ε in a window around the true one.

    With the answers as v = −1..1 in equal steps, the window is e^(−ε/2) of their range, and an affine function of the
    report is unbiased for v, with variance v²/(s−1) + (s+3)/(3(s−1)²), s = e^(ε/2), up to the steps of the grid. The
    hybrid reports so with probability 1 − e^(−ε/2) if ε > 0.61, and by stochastic rounding otherwise: never worse than
    either.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, in order.
        epsilon: nats, above 0.
        hybrid: mix with stochastic rounding, whose two reports are the last.
        inputs: labels; reports are numbers in order.

    Reference: Wang et al., Collecting and Analyzing Multidimensional Data with Local Differential Privacy, ICDE 2019.

    >>> m = piecewise(101, 1)
    >>> m.m, m.privacy.level(m)
    (161, 1.0)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    window = min(count - 1, max(1, round((count - 1) * math.exp(-notion.epsilon / 2))))
    if not hybrid:
        return _windows(count, window, notion, inputs)
    if notion.epsilon <= HYBRID_FROM:
        return stochastic_rounding(count, epsilon, inputs)
    return _hybrid(count, window, notion, inputs)


def square_wave(k: int, epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report a point of a line longer than the answers', likelier by e^ε within b of the true one.

    b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε)) of the range, which maximises the information between a report and a
    uniform answer. For the whole distribution of an ordered answer, by maximum likelihood.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, in order.
        epsilon: nats, above 0.
        inputs: labels; reports are numbers in order.

    Reference: Li, Wang, Lopuhaä-Zwakenberg, Li and Škorić, Estimating Numerical Distributions under Local Differential
    Privacy, SIGMOD 2020.

    >>> m = square_wave(101, 1)
    >>> m.m, m.privacy.level(m)
    (151, 1.0)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    window = round(2 * half_window(notion.epsilon) * (count - 1))
    return _windows(count, min(count - 1, max(1, window)), notion, inputs)


def half_window(epsilon: float) -> float:
    """b of the square wave, as a share of the range.

    >>> round(half_window(1), 6), round(half_window(1e-9), 6), half_window(1e-3) < half_window(0.999e-3)
    (0.256083, 0.5, True)
    """
    if epsilon < _SMALL:
        return 0.5 - epsilon / 3 + 5 * epsilon**2 / 36
    return (epsilon - 1 + math.exp(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))


def _windows(k: int, window: int, notion: LDP, inputs: Any) -> Mechanism:
    sets = [IndexSet(((max(0, y - window + 1), min(k, y + 1)),)) for y in range(k + window - 1)]
    return Mechanism.from_cover(k, sets, notion, inputs=inputs)


def _hybrid(k: int, window: int, notion: LDP, inputs: Any) -> Mechanism:
    m = k + window - 1
    refuse_large(k, m + 2, "the hybrid mechanism")
    spent = int(DENOMINATOR * -math.expm1(-notion.epsilon / 2))
    low, high = _two_weights(m, window, spent, notion.exponential)
    weights = np.full((k, m + 2), low, dtype=np.int64)
    for x in range(k):
        weights[x, x : x + window] = high
    left = DENOMINATOR - window * high - (m - window) * low
    ones = rising_weights(k, left, notion.exponential)
    weights[:, m], weights[:, m + 1] = left - ones, ones
    return Mechanism.from_weights(weights, privacy=notion, inputs=inputs)


def _two_weights(m: int, window: int, total: int, exponential: Exponential) -> tuple[int, int]:
    """(low, high) with window·high + (m−window)·low just below `total` and high ≤ e^ε·low."""
    lower, _ = exponential.bounds(_BITS)
    low = max(1, (total << _BITS) // (window * lower + ((m - window) << _BITS)) - 1)
    while not exponential.at_least((total - (m - window) * low) // window, low):
        low += 1
    return low, (total - (m - window) * low) // window
