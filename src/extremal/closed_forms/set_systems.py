"""Reports that favour a set of answers: all subsets of a size, the rows of Hadamard's matrix, and hyperplanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from extremal.closed_forms.bits import refuse_no_epsilon
from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.mechanism.structures.chosen_sets import (
    ChosenSets,
    HadamardSets,
    ProjectiveSets,
    is_prime,
    largest_inside,
    points,
)
from extremal.privacy import LDP
from extremal.utility.curve import InformationCurve

LISTED = 1 << 16  # inputs × reports up to which the columns are listed
LARGEST_ORDER = 1 << 12  # e^ε + 1 at ε = 8.3, where n·Var of a rare answer is 0.001 already
MOST_VECTORS = 1 << 26  # an order whose transform would need more is taken only if both do


def subset_selection(
    k: int | Sequence[Any], epsilon: Any, size: int | str = "frequencies", inputs: Any = None
) -> Mechanism:
    """Report one of the C(k,d) subsets S of d answers.

    Q(S|x) ∝ e^ε if x ∈ S, else 1. d = 1 is randomised response. Minimax for estimating frequencies with d ≈ k/(1+e^ε)
    (Ye and Barg 2018), and optimal for information under a uniform prior with the best d (KOV erratum E6).

    Guarantee: ε-LDP in integers. Up to 4,096 subsets are listed as outputs; beyond that the mechanism is kept as one
    number and samples without a list.

    Args:
        k: number of inputs, or their labels, or their labels.
        epsilon: nats, above 0.
        size: "frequencies" (least variance under uniform frequencies), "information" (most information under a uniform
            prior), or d itself.
        inputs: labels; outputs are sorted tuples of them.

    >>> subset_selection(4, 0.5).outputs[:3]
    ((0, 1), (0, 2), (0, 3))
    """
    (count, labels), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
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


def hadamard_response(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report one of K reports, e^ε times likelier if it is in the set of the true answer.

    K = B·b: B blocks, the largest power of two up to e^ε, of b reports each, the smallest power of two above k/B. The
    answers are spread over the blocks, and each has half of the reports of its block, those where its row of
    Hadamard's b×b matrix is +1. With B = 1, n·Var ≈ ((e^ε+1)/(e^ε−1))² for every answer.

    Guarantee: ε-LDP, decided on integers over 2^62. Log₂K bits a report; estimation by Hadamard's fast transform.

    Args:
        k: number of inputs, or their labels.
        epsilon: nats, above 0.
        inputs: labels; reports are numbers 0..K−1.

    Reference: Acharya, Sun and Zhang, Hadamard Response, AISTATS 2019.

    >>> m = hadamard_response(1_000_000, 1)
    >>> m.m, m.privacy.level(m)
    (1048576, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
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
        weights[:, 0] += DENOMINATOR - weights[0].sum()
        return Mechanism.from_weights(weights, privacy=notion, inputs=inputs)
    return Mechanism.from_cover(structure.r, [np.flatnonzero(column) for column in held.T], notion, inputs=inputs)


def _weights(structure: ChosenSets, notion: LDP) -> tuple[int, int]:
    """(high, low) over 2^62 with size·high + (m−size)·low as near below 2^62 as whole numbers allow."""
    low = structure.low * DENOMINATOR // structure.denominator + 1
    while not notion.exponential.at_least((DENOMINATOR - (structure.m - structure.size) * low) // structure.size, low):
        low += 1
    return (DENOMINATOR - (structure.m - structure.size) * low) // structure.size, low


def projective_geometry(
    k: int | Sequence[Any], epsilon: Any, order: int | None = None, inputs: Any = None
) -> Mechanism:
    """Report one of (q^t − 1)/(q − 1) points, e^ε times likelier if it lies in the hyperplane of the true answer.

    Answers and reports are the points of the projective space of t coordinates over the integers modulo a prime q, and
    y is in the set of x when x·y = 0. Two sets share the same number of points, so that the variance does not depend on
    the frequencies of others; at q = e^ε + 1 it is nearly that of subset selection, n·Var ≈ 4e^ε/(e^ε−1)².

    Guarantee: ε-LDP, decided on integers over 2^62. Log₂ of the number of points bits a report; estimation by a fast
    transform.

    Args:
        k: number of inputs, or their labels.
        epsilon: nats, above 0.
        order: the prime q; of those next to e^ε + 1 the one of least variance if not given.
        inputs: labels; reports are numbers.

    Reference: Feldman, Nelson, Nguyen and Talwar, Private Frequency Estimation via Projective Geometry, ICML 2022.

    >>> m = projective_geometry(1_000_000, 1)
    >>> m.structure.order, m.structure.coordinates, m.privacy.level(m)
    (3, 14, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    refuse_no_epsilon(notion)
    q = best_order(count, notion.epsilon) if order is None else as_count(order, "order", 2)
    t = coordinates_for(count, q)
    inside = largest_inside(points(q, t), points(q, t - 1), notion.exponential)
    return listed_if_small(ProjectiveSets(count, inside, q, t), notion, inputs)


def coordinates_for(k: int, order: int) -> int:
    """The fewest coordinates, at least 2, that give k points.

    >>> coordinates_for(14, 3), coordinates_for(4, 3)
    (4, 2)
    """
    t = 2
    while points(order, t) < k:
        t += 1
    return t


def best_order(k: int, epsilon: float) -> int:
    """The prime of least variance for a rare answer among the neighbours of e^ε + 1, with a transform that fits.

    >>> [best_order(1000, epsilon) for epsilon in (0.5, 1, 2, 3)]
    [3, 3, 7, 23]
    """
    target = min(math.exp(min(epsilon, 20.0)) + 1, LARGEST_ORDER)
    below = next(q for q in range(int(target), 1, -1) if is_prime(q))
    above = next(q for q in range(int(target) + 1, 2 * LARGEST_ORDER) if is_prime(q))
    return min((below, above), key=lambda q: (q ** coordinates_for(k, q) > MOST_VECTORS, _variance(k, q, epsilon)))


def _variance(k: int, q: int, epsilon: float) -> float:
    """b(1−b)/(a−b)² with a, b the probabilities that a report lies in the set of the truth, and of another answer."""
    t = coordinates_for(k, q)
    m, c, both = points(q, t), points(q, t - 1), points(q, t - 2)
    low = 1 / (c * math.exp(min(epsilon, 600.0)) + m - c)
    high = low * math.exp(min(epsilon, 600.0))
    a, b = c * high, both * high + (c - both) * low
    return b * (1 - b) / (a - b) ** 2
