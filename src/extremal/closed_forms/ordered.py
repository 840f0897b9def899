"""Ordered answers: geometric noise, stochastic rounding, the piecewise mechanism, the square wave, and hierarchies.

The piecewise mechanism and the square wave are windows: input x of k favours W consecutive reports, x..x+W−1, of
k+W−1. Where they were stated on an interval, the window is a share of its length; here it is that share of the k − 1
steps, to the nearest whole one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.closed_forms.bits import refuse_no_epsilon
from extremal.exact import Exponential, IndexSet, as_count
from extremal.exact.weights import DENOMINATOR, Weights
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.mechanism.structures.staircase import uniform_structure
from extremal.mechanism.structures.structure import refuse_large
from extremal.privacy import LDP

HYBRID_FROM = 0.61  # ε up to which the hybrid is stochastic rounding alone
_SMALL = 1e-3  # ε below which the window of the square wave is taken from its series


def geometric(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Add two-sided geometric noise on 0..k−1, clamped to the ends.

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
    (count, labels), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
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


def stochastic_rounding(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report 1 with a probability that rises evenly, from 1/(1+e^ε) at the first answer to e^ε/(1+e^ε) at the last.

    With the answers as v = −1..1 in equal steps, (2y − 1)·(e^ε+1)/(e^ε−1) is unbiased for v, and n·MSE of the mean is
    ((e^ε+1)/(e^ε−1))² − mean(v)²: minimax over all distributions of the answers.

    Guarantee: ε-LDP, decided on integers over 2^62. Single frequencies are not identified, only the mean of v.

    Args:
        k: number of inputs, or their labels, in order.
        epsilon: nats.
        inputs: labels; reports are 0 and 1.

    Reference: Duchi, Jordan and Wainwright, Minimax Optimal Procedures for Locally Private Estimation, JASA 2018.

    >>> stochastic_rounding(3, 1).matrix[:, 1].round(4).tolist()
    [0.2689, 0.5, 0.7311]
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    ones = rising_weights(count, DENOMINATOR, notion.exponential)
    return Mechanism.from_weights(
        np.column_stack([DENOMINATOR - ones, ones]), privacy=notion, inputs=inputs, outputs=[0, 1]
    )


def rising_weights(k: int, total: int, exponential: Exponential) -> Weights:
    """Weights of the report 1, of `total`, rising in k even steps between the two that e^ε allows."""
    low = exponential.least_low(total)
    return np.array([low + (total - 2 * low) * x // (k - 1) for x in range(k)], dtype=np.int64)


def piecewise(k: int | Sequence[Any], epsilon: Any, hybrid: bool = False, inputs: Any = None) -> Mechanism:
    """Report a point of a line longer than the answers', likelier by e^ε in a window around the true one.

    With the answers as v = −1..1 in equal steps, the window is e^(−ε/2) of their range, and an affine function of the
    report is unbiased for v, with variance v²/(s−1) + (s+3)/(3(s−1)²), s = e^(ε/2), up to the steps of the grid. The
    hybrid reports so with probability 1 − e^(−ε/2) if ε > 0.61, and by stochastic rounding otherwise: never worse than
    either.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, or their labels, in order.
        epsilon: nats, above 0.
        hybrid: mix with stochastic rounding, whose two reports are the last.
        inputs: labels; reports are numbers in order.

    Reference: Wang et al., Collecting and Analyzing Multidimensional Data with Local Differential Privacy, ICDE 2019.

    >>> m = piecewise(101, 1)
    >>> m.m, m.privacy.level(m)
    (161, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    refuse_no_epsilon(notion)
    window = min(count - 1, max(1, round((count - 1) * math.exp(-notion.epsilon / 2))))
    if not hybrid:
        return _windows(count, window, notion, inputs)
    if notion.epsilon <= HYBRID_FROM:
        return stochastic_rounding(count, epsilon, inputs)
    return _hybrid(count, window, notion, inputs)


def square_wave(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report a point of a line longer than the answers', likelier by e^ε within b of the true one.

    b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε)) of the range, which maximises the information between a report and a
    uniform answer. For the whole distribution of an ordered answer, by maximum likelihood.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, or their labels, in order.
        epsilon: nats, above 0.
        inputs: labels; reports are numbers in order.

    Reference: Li, Wang, Lopuhaä-Zwakenberg, Li and Škorić, Estimating Numerical Distributions under Local Differential
    Privacy, SIGMOD 2020.

    >>> m = square_wave(101, 1)
    >>> m.m, m.privacy.level(m)
    (151, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
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
    low = notion.exponential.least_low(spent, window, m - window)
    high = (spent - (m - window) * low) // window
    weights = np.full((k, m + 2), low, dtype=np.int64)
    for x in range(k):
        weights[x, x : x + window] = high
    left = DENOMINATOR - window * high - (m - window) * low
    ones = rising_weights(k, left, notion.exponential)
    weights[:, m], weights[:, m + 1] = left - ones, ones
    return Mechanism.from_weights(weights, privacy=notion, inputs=inputs)


def hierarchical(k: int | Sequence[Any], epsilon: Any, branching: int = 4, inputs: Any = None) -> Mechanism:
    """Draw one of the levels of a tree over the k ordered answers, and report the block of the answer there.

    Level l has blocks of branching^(h−l) consecutive answers, level h the answers themselves. The block is reported
    through Hadamard response, and the level with it. A block's frequency, from the reports at its level alone, has
    n·Var = h·((e^ε+1)/(e^ε−1))² for a rare block. The estimates of `ex.estimate_frequencies` weigh all levels by
    generalised least squares, so that blocks add up to their parents: that is the consistency step, and the
    best linear one.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, or their labels, in order; inputs × reports at most 2^24.
        epsilon: nats, above 0.
        branching: children of a block.
        inputs: labels; reports are numbers, level after level.

    Reference: Cormode, Kulkarni and Srivastava, Answering Range Queries Under Local Differential Privacy, VLDB 2019;
    Hay, Rastogi, Miklau and Suciu, VLDB 2010 (consistency).

    >>> m = hierarchical(16, 1)
    >>> m.m, m.privacy.level(m)
    (40, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    children = as_count(branching, "branching", 2)
    refuse_no_epsilon(notion)
    shape = levels_of(count, children)
    refuse_large(count, sum(width for _, width in shape), "the hierarchical mechanism")
    widest = shape[-1][1]
    both = DENOMINATOR // (len(shape) * widest // 2)  # of a report in the answer's set and one outside it
    low = notion.exponential.least_low(both)
    inputs_of = np.arange(count)
    parts = []
    for length, width in shape:
        even = np.bitwise_count((inputs_of // length + 1)[:, None] & np.arange(width)[None, :]) % 2 == 0
        parts.append(np.where(even, both - low, low) * (widest // width))  # every level has the same probability
    weights = np.concatenate(parts, axis=1)
    weights[:, 0] += DENOMINATOR - weights[0].sum()  # what whole numbers leave over, the same for all
    return Mechanism.from_weights(weights, privacy=notion, inputs=inputs)


def levels_of(k: int, branching: int) -> list[tuple[int, int]]:
    """(answers in a block, reports) of each level from the top: the reports are the power of two above the blocks.

    >>> levels_of(16, 4), levels_of(5, 2)
    ([(4, 8), (1, 32)], [(4, 4), (2, 4), (1, 8)])
    """
    lengths = [1]
    while lengths[-1] * branching < k:
        lengths.append(lengths[-1] * branching)
    return [(length, 1 << (-(-k // length)).bit_length()) for length in reversed(lengths)]
