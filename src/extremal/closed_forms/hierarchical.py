"""Hierarchical histograms: report the block of an ordered answer at a random level of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.exact import as_count
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.structure import refuse_large
from extremal.privacy import LDP

_BITS = 192


def hierarchical(k: int, epsilon: Any, branching: int = 4, inputs: Any = None) -> Mechanism:
    """Draw one of the levels of a tree over the k ordered answers, and report the block of the answer there.

    Level l has blocks of branching^(h−l) consecutive answers, level h the answers themselves. The block is reported
    through Hadamard response, and the level with it. A block's frequency, from the reports at its level alone, has
    n·Var = h·((e^ε+1)/(e^ε−1))² for a rare block. The estimates of `ex.estimate_frequencies` weigh all levels by
    generalised least squares, so that blocks add up to their parents: that is the consistency step, and the
    best linear one.

    Guarantee: ε-LDP, decided on integers over 2^62.

    Args:
        k: number of inputs, in order; inputs × reports at most 2^24.
        epsilon: nats, above 0.
        branching: children of a block.
        inputs: labels; reports are numbers, level after level.

    Reference: Cormode, Kulkarni and Srivastava, Answering Range Queries Under Local Differential Privacy, VLDB 2019;
    Hay, Rastogi, Miklau and Suciu, VLDB 2010 (consistency).

    >>> m = hierarchical(16, 1)
    >>> m.m, m.privacy.level(m)
    (40, 1.0)
    """
    count, notion, children = as_count(k, "k", 2), LDP(epsilon), as_count(branching, "branching", 2)
    refuse_no_epsilon(notion)
    shape = levels_of(count, children)
    refuse_large(count, sum(width for _, width in shape), "the hierarchical mechanism")
    widest = shape[-1][1]
    low, high = _two_weights(len(shape) * widest // 2, notion)
    inputs_of = np.arange(count)
    parts = []
    for length, width in shape:
        even = np.bitwise_count((inputs_of // length + 1)[:, None] & np.arange(width)[None, :]) % 2 == 0
        parts.append(np.where(even, high, low) * (widest // width))  # every level has the same probability
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


def _two_weights(pairs: int, notion: LDP) -> tuple[int, int]:
    """(low, high) with pairs·(low + high) just below 2^62 and high ≤ e^ε·low."""
    total = DENOMINATOR // pairs
    lower, _ = notion.exponential.bounds(_BITS)
    low = max(1, (total << _BITS) // (lower + (1 << _BITS)) - 1)
    while not notion.exponential.at_least(total - low, low):
        low += 1
    return low, total - low
