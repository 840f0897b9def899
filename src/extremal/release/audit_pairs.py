"""What an audit counts where reports are too many to list: pairs of inputs.

For two inputs x and z the event "the report favours x and not z" has the largest ratio that the mechanism allows, and
its probability under either is known exactly. Counting it needs no list of reports. To favour x is to lie in the set
of x, to have a 1 in its bit, to hold it among others; for a Bloom filter, to have a 1 in every bit that x sets and z
does not, and a 0 in every bit that z sets and x does not, in the cohorts where these are most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import (
    BloomBits,
    ChosenSets,
    GroupedSets,
    IndependentBits,
    Structure,
    SubsetSelection,
)

MOST_CHOSEN = 6  # inputs, spread over all: 30 ordered pairs, each with its own limits

Paired = ChosenSets | IndependentBits | SubsetSelection | BloomBits | GroupedSets
"""Structures whose reports favour an input or not."""

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairEvent:
    """How often a report favoured `x` and not `z`, when the truth was x and when it was z.

    Attributes:
        x, z: positions of the inputs.
        counts: under x, under z.
        exact: the probabilities, under x and under z.
    """

    x: int
    z: int
    counts: tuple[int, int]
    exact: tuple[float, float]


def has_pairs(structure: Structure) -> bool:
    """Whether this is the way to audit a structure."""
    return isinstance(structure, Paired)


def pair_events(mechanism: Mechanism, draws: int, sample: Callable[[Any], Any]) -> list[PairEvent]:
    """Draw for each of a few inputs, and count the event of each ordered pair of them."""
    k, structure = mechanism.k, mechanism.structure
    if not isinstance(structure, Paired):
        raise InvalidParameter("reports must favour an input or not", parameter="kind", value=structure.kind)
    chosen = sorted({round(i * (k - 1) / (MOST_CHOSEN - 1)) for i in range(MOST_CHOSEN)})
    rows = chosen if mechanism.row_of is None else mechanism.row_of[chosen].tolist()
    pairs = [(i, j) for i, j in permutations(range(len(chosen)), 2) if rows[i] != rows[j]]
    counts = np.zeros((len(pairs), 2), dtype=np.int64)
    for truth, x in enumerate(chosen):  # one input's reports at a time: words of bits take room
        favours = _of_pairs(structure, sample(np.full(draws, x)), rows)
        for n, (i, j) in enumerate(pairs):
            if truth in (i, j):
                counts[n, int(truth == j)] = favours(i, j).sum()
    return [
        PairEvent(chosen[i], chosen[j], (int(under_x), int(under_z)), _exact(structure, rows[i], rows[j]))
        for (i, j), (under_x, under_z) in zip(pairs, counts, strict=True)
    ]


Favours = Callable[[int, int], npt.NDArray[np.bool_]]


def _of_pairs(structure: Paired, drawn: npt.NDArray[np.int64], rows: list[int]) -> Favours:
    """(i, j) ↦ which of the reports favour rows[i] and not rows[j]."""
    if isinstance(structure, BloomBits):
        start = structure.cohort_bits
        bits = np.unpackbits(drawn.astype(np.uint8), axis=1, count=start + structure.bits).astype(np.bool_)
        cohort = bits[:, :start] @ (1 << np.arange(start - 1, -1, -1))

        def in_filter(i: int, j: int) -> npt.NDArray[np.bool_]:
            found = np.zeros(drawn.shape[0], dtype=np.bool_)
            for c, ones, zeros in _differences(structure, rows[i], rows[j]):
                here = np.flatnonzero(cohort == c)
                found[here] = bits[np.ix_(here, start + ones)].all(axis=1) & ~bits[np.ix_(here, start + zeros)].any(
                    axis=1
                )
            return found

        return in_filter
    held = [_held(structure, drawn, row) for row in rows]
    return lambda i, j: held[i] & ~held[j]


def _held(
    structure: ChosenSets | IndependentBits | SubsetSelection | GroupedSets, drawn: npt.NDArray[np.int64], row: int
) -> npt.NDArray[np.bool_]:
    if isinstance(structure, ChosenSets):
        return structure.favours(np.array([row]), drawn)
    if isinstance(structure, SubsetSelection):
        return np.asarray((drawn == row).any(axis=1))
    return np.asarray(drawn[:, row // 8] >> (7 - row % 8) & 1, dtype=np.bool_)


def _differences(structure: BloomBits, x: int, z: int) -> list[tuple[int, Codes, Codes]]:
    """The cohorts in which x and z differ most, each with the bits that x alone and that z alone sets."""
    every = np.arange(structure.cohorts)
    ones, zeros = (structure.places(np.full(every.size, row), every) for row in (x, z))
    found = [(c, np.setdiff1d(ones[c], zeros[c]), np.setdiff1d(zeros[c], ones[c])) for c in every.tolist()]
    most = max(alone.size for _, alone, _ in found)
    return [one for one in found if one[1].size == most]


def _exact(structure: Paired, x: int, z: int) -> tuple[float, float]:
    if isinstance(structure, ChosenSets):
        inside, apart = structure.inside / DENOMINATOR, 1 - float(structure.overlap(x, z))
        odds = structure.size / (structure.m - structure.size)
        return inside * apart, (1 - inside) * apart * odds
    if isinstance(structure, SubsetSelection):
        inside, others = structure.inside / DENOMINATOR, structure.r - 1
        return inside * (1 - (structure.size - 1) / others), (1 - inside) * structure.size / others
    if isinstance(structure, BloomBits):
        a, b = (weight / structure.denominator for weight in structure.shown)
        cohorts = _differences(structure, x, z)
        share, d = len(cohorts) / structure.cohorts, cohorts[0][1].size
        return share * (a * (1 - b)) ** d, share * (b * (1 - a)) ** d
    if isinstance(structure, GroupedSets):
        held, free = _apart(structure, x, z)
        return held / DENOMINATOR, free / DENOMINATOR
    own, other = structure.own / DENOMINATOR, structure.other / DENOMINATOR
    return own * (1 - other), (1 - own) * other


def _apart(structure: GroupedSets, x: int, z: int) -> tuple[float, float]:
    """The weights of the sets that hold x and not z, under x and under z, over 2^62."""
    g, h = int(structure.of[x]), int(structure.of[z])
    sizes, held, free = structure.sizes.tolist(), 0.0, 0.0
    for t, low, high in zip(structure.types, structure.low, structure.high, strict=True):
        share = t[g] / sizes[g] * (sizes[h] - t[h]) / (sizes[h] - (g == h))
        held, free = held + share * high, free + share * low
    return held, free
