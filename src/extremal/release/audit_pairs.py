"""What an audit counts where reports are too many to list: pairs of inputs.

For two inputs x and z the event "the report favours x and not z" has the largest ratio that the mechanism allows, and
its probability under either is known exactly. Counting it needs no list of reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import ChosenSets, IndependentBits, Structure

MOST_INPUTS = 6


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
    return isinstance(structure, (ChosenSets, IndependentBits))


def pair_events(mechanism: Mechanism, draws: int, sample: Callable[[Any], Any]) -> list[PairEvent]:
    """Draw for each of a few inputs, and count the event of each ordered pair of them."""
    k = mechanism.k
    chosen = sorted({round(i * (k - 1) / (MOST_INPUTS - 1)) for i in range(MOST_INPUTS)})
    rows = chosen if mechanism.row_of is None else mechanism.row_of[chosen].tolist()
    held = {}
    for x in chosen:
        drawn = sample(np.full(draws, x))
        held[x] = np.array([_held(mechanism.structure, drawn, row) for row in rows])
    events = []
    for i, x in enumerate(chosen):
        for j, z in enumerate(chosen):
            if rows[i] != rows[j]:
                counts = tuple(int((held[truth][i] & ~held[truth][j]).sum()) for truth in (x, z))
                events.append(PairEvent(x, z, (counts[0], counts[1]), _exact(mechanism.structure, rows[i], rows[j])))
    return events


def _held(structure: Structure, drawn: npt.NDArray[np.int64], row: int) -> npt.NDArray[np.bool_]:
    if isinstance(structure, ChosenSets):
        return structure.favours(np.array([row]), drawn)
    return np.asarray(drawn[:, row // 8] >> (7 - row % 8) & 1, dtype=np.bool_)


def _exact(structure: Structure, x: int, z: int) -> tuple[float, float]:
    if isinstance(structure, ChosenSets):
        inside, apart = structure.inside / DENOMINATOR, 1 - float(structure.overlap(x, z))
        odds = structure.size / (structure.m - structure.size)
        return inside * apart, (1 - inside) * apart * odds
    assert isinstance(structure, IndependentBits)
    own, other = structure.own / DENOMINATOR, structure.other / DENOMINATOR
    return own * (1 - other), (1 - own) * other
