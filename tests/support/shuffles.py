"""Shuffled reports by enumeration in fractions: every data set, every histogram. An oracle for tiny cases."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

import extremal as ex

Row = Sequence[Fraction]
Histogram = tuple[int, ...]


def histograms(rows: Sequence[Row]) -> dict[Histogram, Fraction]:
    """The law of the histogram of independent reports, one from each row."""
    law: dict[Histogram, Fraction] = {(0,) * len(rows[0]): Fraction(1)}
    for row in rows:
        longer: dict[Histogram, Fraction] = {}
        for seen, chance in law.items():
            for y, weight in enumerate(row):
                if weight:
                    more = (*seen[:y], seen[y] + 1, *seen[y + 1 :])
                    longer[more] = longer.get(more, Fraction(0)) + chance * weight
        law = longer
    return law


def divergence(rows: Sequence[Row], first: int, second: int, others: Sequence[int], ratio: Fraction) -> Fraction:
    """Σ(P − ratio·P')₊ between the histograms with the differing person at `first` and at `second`."""
    rest = [rows[x] for x in others]
    left, right = histograms([rows[first], *rest]), histograms([rows[second], *rest])
    terms = (left.get(h, Fraction(0)) - ratio * right.get(h, Fraction(0)) for h in {*left, *right})
    return sum((term for term in terms if term > 0), Fraction(0))


def all_divergences(rows: Sequence[Row], n: int, ratio: Fraction) -> Iterator[tuple[bool, Fraction]]:
    """For every pair and every data set: whether all others hold the same input, and the divergence."""
    for first, second in itertools.permutations(range(len(rows)), 2):
        for others in itertools.combinations_with_replacement(range(len(rows)), n - 1):
            yield len(set(others)) <= 1, divergence(rows, first, second, others, ratio)


def small_mechanism(rng: random.Random, zeros: bool) -> ex.Mechanism:
    """2 or 3 inputs and reports, weights from 0 or 1 to 8 over a power of two."""
    k, m = rng.choice((2, 3)), rng.choice((2, 3))
    while True:
        array = np.array([[rng.randrange(0 if zeros else 1, 9) for _ in range(m)] for _ in range(k)])
        array[:, 0] += 32 - array.sum(axis=1)
        if array.any(axis=0).all() and len({tuple(row) for row in array.tolist()}) == k:
            return ex.Mechanism.from_weights(array, 32)


def exact_rows(mechanism: ex.Mechanism) -> list[list[Fraction]]:
    """The rows of a mechanism that lists them."""
    return [[Fraction(int(w), mechanism.denominator) for w in row] for row in mechanism.weights]
