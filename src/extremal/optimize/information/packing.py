"""Packing designs: every light symbol in exactly r of N bins of equal mass, heavy symbols alone.

The fluid bound is met by a mixture whose sets all have the mass z_c of its contact and hold every symbol equally often.
With N bins, r of which hold any given light symbol, all bins have the mass rM/N (M: of the light symbols) when they are
level; heavy symbols (p > z_c) are bins of their own that count r times. With θ = 1/(N+(h+c)r) for each bin every row
sums to 1, exactly, and the mixture keeps

    (Σ_bins φ(load) + r·Σ_heavy φ(p))/(N + (h+c)r).

r is the smallest for which level bins come close enough to the bound. Symbols are gathered into rows first, by
decreasing probability: rows of about an eighth of a bin, and at the end ever lighter ones, which level the bins when
each row in turn goes to the r lightest. What is left is evened out by exchanges between a heavy and a light bin. The
loss is of second order in how far the bins are from level.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Indices
from extremal.mechanism.structures.structure import LARGEST_DENSE
from extremal.optimize.information.mixture import SetMixture
from extremal.utility.curve import Floats, InformationCurve

Sets = npt.NDArray[np.bool_]

PIECES = 8  # rows to a bin, about
LADDER = 1e-6  # of a bin: the lightest row that is wanted
STEPS = 1.5  # rows to a halving of their mass, for each bin that a row goes to: as many reach every bin once
MOST_BINS, MOST_ROWS = 3_000, 5_000  # of a design: 15 million entries of its sets
MOST_ROUNDS = 60  # of exchanges
PAIRS = 256  # of bins that exchange in a round
CANDIDATES = 24  # rows of a bin that may be exchanged, one or two at a time
SHARE = 0.25  # of what may be lost that the sizes of bins may lose


def packing(
    prior: Floats, curve: InformationCurve, contact: float, upper: float, aim: float, stop: Callable[[], bool]
) -> SetMixture | None:
    """A packing design within `aim` of the bound `upper`, relatively, or as close as it gets; None when there are no
    two bins."""
    order = np.argsort(-prior, kind="stable")
    h = int((prior > contact).sum())
    light = order[h:]
    if light.size < 2:
        return None
    mass, alone = float(prior[light].sum()), float(curve.value(prior[order[:h]]).sum())
    sizes = _sizes(curve, h, mass, alone, contact, upper * (1 - SHARE * aim))
    if sizes is None:
        return None
    r, bins = sizes
    row_of_light = _rows(prior[light], mass * r / bins, bins / r)
    masses = np.asarray(np.bincount(row_of_light, weights=prior[light]), dtype=np.float64)
    rows = masses.size
    if (h + rows) * (h + bins) > LARGEST_DENSE:
        return None
    inside, loads = _filled(masses, bins, r)

    def value() -> float:
        return (float(curve.value(loads).sum()) + r * alone) / (bins + (h + curve.c) * r)

    for _ in range(MOST_ROUNDS):
        if value() >= upper * (1 - aim) or stop() or not _evened(masses, inside, loads):
            break
    row_of = np.empty(prior.size, dtype=np.intp)
    row_of[order[:h]], row_of[light] = np.arange(h), h + row_of_light
    sets = np.zeros((h + rows, h + bins), dtype=bool)
    sets[np.arange(h), np.arange(h)] = True
    sets[h:, h:] = inside
    times = np.concatenate([np.full(h, r), np.ones(bins, dtype=np.int64)])
    return SetMixture(row_of, sets, times / (bins + (h + curve.c) * r), times)


def _sizes(
    curve: InformationCurve, h: int, mass: float, alone: float, contact: float, wanted: float
) -> tuple[int, int] | None:
    """(r, N): the smallest r for which N level bins are worth what is wanted, or the best there is."""
    r = np.arange(1, max(1, int(MOST_BINS * contact / mass)) + 1)[:, None]
    bins = np.maximum(np.floor(r * mass / contact).astype(np.int64) + np.array([0, 1]), 1)
    ideal = (bins * curve.value(np.minimum(r * mass / bins, 1.0)) + r * alone) / (bins + (h + curve.c) * r)
    ideal[(bins <= r) | (bins > MOST_BINS)] = -np.inf
    if not np.isfinite(ideal).any():
        return None
    good = np.flatnonzero((ideal >= wanted).any(axis=1))
    i = int(good[0]) if good.size else int(ideal.max(axis=1).argmax())
    return int(r[i, 0]), int(bins[i, int(ideal[i].argmax())])


def _rows(masses: Floats, load: float, spread: float) -> Indices:
    """The row of each symbol, of decreasing mass: pieces of a bin, then ever lighter ones."""
    ratio = 2.0 ** (-1 / (STEPS * spread))
    first = min(load / PIECES, 0.5 * float(masses.sum()) * (1 - ratio))
    ladder = first * ratio ** np.arange(min(MOST_ROWS // 2, int(np.log(LADDER * load / first) / np.log(ratio)) + 1))
    before = float(masses.sum() - ladder.sum())
    pieces = np.full(max(1, min(MOST_ROWS // 2, int(before / first))), before / max(1, int(before / first)))
    ends = np.cumsum(np.concatenate([pieces, ladder]))[:-1]
    reached = np.cumsum(masses)
    row_of = np.searchsorted(ends, reached - masses / 2, side="right")
    return np.unique(row_of, return_inverse=True)[1].astype(np.intp)


def _filled(masses: Floats, bins: int, r: int) -> tuple[Sets, Floats]:
    """Rows by decreasing mass, each into the r lightest bins."""
    inside, loads = np.zeros((masses.size, bins), dtype=bool), np.zeros(bins)
    for row in np.argsort(-masses, kind="stable").tolist():
        lightest = np.argpartition(loads, r - 1)[:r]
        inside[row, lightest] = True
        loads[lightest] += masses[row]
    return inside, loads


def _evened(masses: Floats, inside: Sets, loads: Floats) -> bool:
    """Exchanges of up to two rows for up to two between the heaviest and the lightest bin, the second heaviest and
    second lightest, and so on; whether any helped."""
    order, helped = np.argsort(loads), False
    for low, high in zip(order[:PAIRS].tolist(), order[::-1][: min(PAIRS, loads.size // 2)].tolist(), strict=False):
        excess = float(loads[high] - loads[low])
        given, sums_given = _choices(masses, np.flatnonzero(inside[:, high] & ~inside[:, low]))
        taken, sums_taken = _choices(masses, np.flatnonzero(inside[:, low] & ~inside[:, high]))
        by_sum = np.argsort(sums_taken)
        at = np.clip(np.searchsorted(sums_taken[by_sum], sums_given - excess / 2), 1, by_sum.size - 1)
        options = np.stack([by_sum[at - 1], by_sum[at]])
        off = np.abs(sums_given - sums_taken[options] - excess / 2)
        side, i = np.unravel_index(int(off.argmin()), off.shape)
        j = options[side, i]
        moved = float(sums_given[i] - sums_taken[j])
        if not 0 < moved < excess:
            continue
        for rows, source, target in ((given[i], high, low), (taken[j], low, high)):
            inside[rows[rows >= 0], source], inside[rows[rows >= 0], target] = False, True
        loads[low] += moved
        loads[high] -= moved
        helped = True
    return helped


def _choices(masses: Floats, rows: Indices) -> tuple[Indices, Floats]:
    """None, one or two of the rows (−1: none), and what they weigh; of many rows some, heavy and light."""
    if rows.size > CANDIDATES:
        rows = rows[np.linspace(0, rows.size - 1, CANDIDATES).astype(np.intp)]
    first, second = np.triu_indices(rows.size + 1, 1)
    padded, weights = np.append(rows, -1), np.append(masses[rows], 0.0)
    chosen = np.vstack([[-1, -1], np.stack([padded[first], padded[second]], axis=1)])
    return chosen, np.append(0.0, weights[first] + weights[second])
