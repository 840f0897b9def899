"""The most balanced two-way split of a prior: the partition problem, in integers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction

from extremal.exact import Prior

EXACT_UP_TO = 40  # symbols: two halves of 2^20 subset sums each


@dataclass(frozen=True)
class Balance:
    """A set T and how far it is from half.

    Attributes:
        members: the symbols of T.
        probability: P(T), exact.
        proven: True when no other set is closer to ½.
    """

    members: tuple[int, ...]
    probability: Fraction
    proven: bool

    @property
    def imbalance(self) -> Fraction:
        """|2P(T) − 1|. The binary mechanism on T loses at most about imbalance² of the information of a perfect split,
        relatively."""
        return abs(2 * self.probability - 1)


def balanced_subset(prior: Prior, exact_up_to: int = EXACT_UP_TO) -> Balance:
    """T with P(T) closest to ½: exactly up to `exact_up_to` symbols (meet in the middle; 40 take seconds), else by
    largest differencing.

    >>> balanced_subset(Prior([0.5, 0.3, 0.2])).probability
    Fraction(1, 2)
    """
    weights = list(prior.weights)
    support = [x for x, w in enumerate(weights) if w]
    if len(support) <= exact_up_to:
        chosen, proven = _meet_in_the_middle(weights, support, prior.total), True
    else:
        chosen = _largest_differencing(weights, support)
        proven = abs(2 * sum(weights[x] for x in chosen) - prior.total) <= prior.total % 2
    total = sum(weights[x] for x in chosen)
    return Balance(tuple(sorted(chosen)), Fraction(total, prior.total), proven)


def _subset_sums(weights: list[int], symbols: list[int]) -> list[tuple[int, int]]:
    """(sum, mask) of every subset, sorted, built by merging: each symbol doubles the list."""
    sums = [(0, 0)]
    for bit, x in enumerate(symbols):
        sums = list(heapq.merge(sums, [(s + weights[x], mask | 1 << bit) for s, mask in sums]))
    return sums


def _meet_in_the_middle(weights: list[int], support: list[int], total: int) -> list[int]:
    left, right = support[::2], support[1::2]
    first, second = _subset_sums(weights, left), _subset_sums(weights, right)
    best, choice = total + 1, (0, 0)
    j = len(second) - 1
    for s, mask in first:  # as s grows the best partner 2·(s + t) ≈ total moves down
        while j > 0 and 2 * (s + second[j][0]) > total:
            j -= 1
        for t, other in second[j : j + 2]:
            distance = abs(2 * (s + t) - total)
            if distance < best:
                best, choice = distance, (mask, other)
    masks = ((left, choice[0]), (right, choice[1]))
    return [x for symbols, mask in masks for bit, x in enumerate(symbols) if mask >> bit & 1]


def _largest_differencing(weights: list[int], support: list[int]) -> list[int]:
    """Karmarkar and Karp: put the two largest on opposite sides, keep their difference, repeat; then two-colour the
    pairs."""
    heap = [(-weights[x], x) for x in support]
    heapq.heapify(heap)
    opposite: dict[int, list[int]] = {x: [] for x in support}
    while len(heap) > 1:
        (a, x), (b, y) = heapq.heappop(heap), heapq.heappop(heap)
        opposite[x].append(y)
        heapq.heappush(heap, (a - b, x))
    chosen, stack = [], [(heap[0][1], True)]
    while stack:
        x, inside = stack.pop()
        if inside:
            chosen.append(x)
        stack += [(y, not inside) for y in opposite[x]]
    return chosen
