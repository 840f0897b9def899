"""Integer weights for the symmetric staircase mechanisms, with no matrix and no rounding loop.

The builders choose the smallest low weight l for which the high weight h that completes the row satisfies h ≤ e^ε·l,
decided exactly. So h/l is within one unit of e^ε from below: the level is at most ε and as close to it as 2^-62 allows.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from extremal.exact import Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.structures.chosen_sets import largest_inside
from extremal.mechanism.structures.response import RandomizedResponse
from extremal.mechanism.structures.rows import Rows
from extremal.mechanism.structures.structure import Structure
from extremal.mechanism.structures.subsets import SubsetSelection
from extremal.mechanism.structures.two_valued import TwoValuedColumns

LISTED_SUBSETS = 4096  # reports that are still listed one by one


def response_structure(r: int, exponential: Exponential) -> Structure:
    """r-ary randomised response: high + (r−1)·low = 2^62 with high ≤ e^ε·low (KOV eq 15)."""
    low, high, spare = _two_weights(r, 1, exponential)
    if low >= high:
        return uniform_structure(r)
    return RandomizedResponse(r, low, high + spare)


def window_structure(r: int, length: int, exponential: Exponential) -> Structure:
    """r outputs, output y high on the `length` rows y, y+1, … (cyclically): every row lies in exactly `length`
    windows."""
    return cover_structure(r, tuple(IndexSet.window(y, length, r) for y in range(r)), [1] * r, length, exponential)


def cover_structure(
    r: int, sets: tuple[IndexSet, ...], times: list[int], cover: int, exponential: Exponential
) -> Structure:
    """Output y high on sets[y] with times[y] shares of weight; every row lies in `cover` of the shares.

    Row sums are total·low + cover·(high−low) for every row, so two integers serve all columns. When no integers satisfy
    it with 2^62 the few units left over go to output 0 for every row alike, which keeps its column two-valued and only
    lowers its ratio.
    """
    low, high, spare = _two_weights(sum(times), cover, exponential)
    if low >= high:
        return uniform_structure(len(sets))
    shares = np.array(times, dtype=np.int64)
    lows, highs = shares * low, shares * high
    lows[0] += spare
    highs[0] += spare
    return TwoValuedColumns(r, sets, lows, highs)


def subset_structure(r: int, size: int, exponential: Exponential) -> SubsetSelection:
    """All subsets of `size`: the largest integer `inside` with inside·(r−size) ≤ e^ε·(2^62−inside)·size (Ye and Barg
    2018)."""
    return SubsetSelection(r, size, largest_inside(r, size, exponential))


def listed_subsets(r: int, size: int, exponential: Exponential) -> Structure:
    """The same with every subset listed, over 2^62."""
    subsets = tuple(IndexSet.of(s) for s in itertools.combinations(range(r), size))
    return cover_structure(r, subsets, [1] * len(subsets), math.comb(r - 1, size - 1), exponential)


def uniform_structure(m: int) -> Rows:
    """One row for everybody, uniform up to the units that 2^62 leaves over: the mechanism of ε = 0."""
    row = np.full((1, m), DENOMINATOR // m, dtype=np.int64)
    row[0, : DENOMINATOR % m] += 1
    return Rows(row)


def _two_weights(r: int, length: int, exponential: Exponential) -> tuple[int, int, int]:
    """(low, high, spare) with length·high + (r−length)·low + spare = 2^62, high ≤ e^ε·low, 0 ≤ spare < length."""
    low = exponential.least_low(DENOMINATOR, length, r - length)
    high, spare = divmod(DENOMINATOR - (r - length) * low, length)
    return low, high, spare
