"""Projective geometry response: answers and reports are points of a projective space."""

from __future__ import annotations

import math
from typing import Any

from extremal.closed_forms.hadamard_response import listed_if_small
from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.chosen_sets import ProjectiveSets, is_prime, largest_inside, points
from extremal.privacy import LDP

LARGEST_ORDER = 1 << 12
MOST_VECTORS = 1 << 26  # an order whose transform would need more is taken only if both do


def projective_geometry(k: int, epsilon: Any, order: int | None = None, inputs: Any = None) -> Mechanism:
    """Report one of (q^t − 1)/(q − 1) points, e^ε times likelier if it lies in the hyperplane of the true answer.

    Answers and reports are the points of the projective space of t coordinates over the integers modulo a prime q, and
    y is in the set of x when x·y = 0. Two sets share the same number of points, so that the variance does not depend on
    the frequencies of others; at q = e^ε + 1 it is nearly that of subset selection, n·Var ≈ 4e^ε/(e^ε−1)².

    Guarantee: ε-LDP, decided on integers over 2^62. Log₂ of the number of points bits a report; estimation by a fast
    transform.

    Args:
        k: number of inputs.
        epsilon: nats, above 0.
        order: the prime q; of those next to e^ε + 1 the one of least variance if not given.
        inputs: labels; reports are numbers.

    Reference: Feldman, Nelson, Nguyen and Talwar, Private Frequency Estimation via Projective Geometry, ICML 2022.

    >>> m = projective_geometry(1_000_000, 1)
    >>> m.structure.order, m.structure.coordinates, m.privacy.level(m)
    (3, 14, 1.0)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
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
