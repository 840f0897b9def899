"""Hadamard response: a set of reports for each answer, from the rows of Hadamard's matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.chosen_sets import ChosenSets, HadamardSets, largest_inside
from extremal.privacy import LDP

LISTED = 1 << 16  # inputs × reports up to which the columns are listed


def hadamard_response(k: int, epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report one of K reports, e^ε times likelier if it is in the set of the true answer.

    K = B·b: B blocks, the largest power of two up to e^ε, of b reports each, the smallest power of two above k/B. The
    answers are spread over the blocks, and each has half of the reports of its block, those where its row of
    Hadamard's b×b matrix is +1. With B = 1, n·Var ≈ ((e^ε+1)/(e^ε−1))² for every answer.

    Guarantee: ε-LDP, decided on integers over 2^62. Log₂K bits a report; estimation by Hadamard's fast transform.

    Args:
        k: number of inputs.
        epsilon: nats, above 0.
        inputs: labels; reports are numbers 0..K−1.

    Reference: Acharya, Sun and Zhang, Hadamard Response, AISTATS 2019.

    >>> m = hadamard_response(1_000_000, 1)
    >>> m.m, m.privacy.level(m)
    (1048576, 1.0)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    blocks, width = hadamard_shape(count, notion.epsilon)
    inside = largest_inside(blocks * width, width // 2, notion.exponential)
    return listed_if_small(HadamardSets(count, inside, blocks, width), notion, inputs)


def hadamard_shape(k: int, epsilon: float) -> tuple[int, int]:
    """(B, b) of Acharya, Sun and Zhang.

    >>> hadamard_shape(100, 0.5), hadamard_shape(100, 3)
    ((1, 128), (16, 8))
    """
    blocks = 1
    while 2 * blocks <= min(math.exp(min(epsilon, 40.0)), k):
        blocks *= 2
    return blocks, int(2 ** math.ceil(math.log2(-(-k // blocks) + 1)))


def listed_if_small(structure: ChosenSets, notion: LDP, inputs: Any) -> Mechanism:
    """Two-valued columns where they are few, so that everything that reads columns serves; else the rule."""
    if structure.r * structure.m > LISTED:
        return Mechanism.from_structure(structure, notion, inputs)
    held = structure.favours(np.arange(structure.r)[:, None], np.arange(structure.m)[None, :])
    if held.all(axis=0).any() or not held.any(axis=0).all():  # some report tells nothing: it has no set of its own
        weights = np.where(held, *_weights(structure, notion))
        weights[:, 0] += (1 << 62) - weights[0].sum()
        return Mechanism.from_weights(weights, privacy=notion, inputs=inputs)
    return Mechanism.from_cover(structure.r, [np.flatnonzero(column) for column in held.T], notion, inputs=inputs)


def _weights(structure: ChosenSets, notion: LDP) -> tuple[int, int]:
    """(high, low) over 2^62 with size·high + (m−size)·low as near below 2^62 as whole numbers allow."""
    low = structure.low * (1 << 62) // structure.denominator + 1
    while not notion.exponential.at_least(((1 << 62) - (structure.m - structure.size) * low) // structure.size, low):
        low += 1
    return ((1 << 62) - (structure.m - structure.size) * low) // structure.size, low
