"""Large alphabets: three ways to a mixture that is nearly optimal, each compared with bounds for the whole prior.

*Windows.* Symbols on a circle, heavy and light alternating, reports are the k windows of d: exact for the uniform prior, second order next to it.
*Circulant design.* Heavy symbols alone; the light ones in g groups of equal mass on a circle, windows of d of them. With θ_w = 1/(g+hd+cd) for a window
and dθ_w for each of the h heavy symbols every row sums to 1.
*Coarsening.* Light symbols are merged into super-symbols of **unequal** mass (equal ones have too few subset sums), to be solved by column generation.
"""

from __future__ import annotations

import heapq

import numpy as np

from extremal.exact.view import Indices
from extremal.optimize.information_mixture import Mixture
from extremal.theory.curve import Floats, InformationCurve

_NEAR = 3  # window lengths on either side of the best one for a uniform prior
_DESIGNS = 8  # circulant designs tried, the most promising by their ideal value
_SWAPS = 4000  # exchanges between the heaviest and the lightest group
_SHARE_ALONE = 0.25  # of the super-symbols are the heaviest of the light symbols, left alone


def alternating(prior: Floats) -> Indices:
    """Symbols in the order heaviest, lightest, second heaviest, …: neighbours balance each other."""
    order = np.argsort(-prior, kind="stable")
    mixed = np.empty_like(order)
    half = (order.size + 1) // 2
    mixed[0::2], mixed[1::2] = order[:half], order[half:][::-1]
    return mixed


def best_window(prior: Floats, curve: InformationCurve) -> tuple[int, float]:
    """The length d of windows in alternating order that keeps most information, and how much it keeps."""
    k, ring = prior.size, prior[alternating(prior)]
    middle = int(np.argmax(curve.rate(np.arange(1, k) / k))) + 1
    best = (middle, -np.inf)
    for d in range(max(1, middle - _NEAR), min(k - 1, middle + _NEAR) + 1):
        best = max(best, (d, _ring_value(ring, d, curve)), key=lambda found: found[1])
    return best


def _ring_value(ring: Floats, d: int, curve: InformationCurve) -> float:
    return float(curve.value(_windows(ring, d)).sum() / (ring.size + curve.c * d))


def _windows(ring: Floats, d: int) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((ring, ring[:d])))))
    return np.minimum(sums[d : d + ring.size] - sums[: ring.size], 1.0)


def circulant(prior: Floats, curve: InformationCurve, contact: float) -> Mixture | None:
    """The best circulant design found; None when every symbol is heavy."""
    order = np.argsort(-prior, kind="stable")
    crowd = int((prior > contact).sum())
    best: tuple[float, Mixture | None] = (-np.inf, None)
    for h in {max(crowd - 1, 0), crowd, min(crowd + 1, prior.size - 2)}:
        heavy, light = order[:h], order[h:]
        mass = float(prior[light].sum())
        groups = np.arange(2, light.size + 1)
        lengths = np.clip(np.rint(groups * contact / mass), 1, groups - 1).astype(np.int64)
        theta = 1 / (groups + (h + curve.c) * lengths)
        ideal = theta * (groups * curve.value(lengths * mass / groups) + lengths * float(curve.value(prior[heavy]).sum()))
        ideal -= np.where(prior[light[0]] > mass / groups, np.inf, 0.0) if light.size else 0.0  # a symbol outweighs a group
        for i in np.argsort(-ideal)[:_DESIGNS].tolist():
            if not np.isfinite(ideal[i]):
                continue
            made = _circulant(prior, heavy, light, int(groups[i]), int(lengths[i]), curve)
            best = max(best, (made.value(prior, curve), made), key=lambda found: found[0])
    return best[1]


def _circulant(prior: Floats, heavy: Indices, light: Indices, g: int, d: int, curve: InformationCurve) -> Mixture:
    h = heavy.size
    group, load = _equal_groups(prior[light], g)
    position = np.empty(g, dtype=np.intp)
    position[alternating(load)] = np.arange(g)
    row_of = np.empty(prior.size, dtype=np.intp)
    row_of[heavy], row_of[light] = np.arange(h), h + position[group]
    sets = np.zeros((h + g, h + g), dtype=bool)
    sets[np.arange(h), np.arange(h)] = True
    sets[h:, h:] = (np.arange(g)[:, None] - np.arange(g)[None, :]) % g < d
    weights = np.append(np.full(h, float(d)), np.ones(g)) / (g + (h + curve.c) * d)
    return Mixture(row_of, sets, weights)


def _equal_groups(mass: Floats, g: int) -> tuple[Indices, Floats]:
    """Decreasing masses put into the lightest of g groups, then exchanges between the heaviest and the lightest group."""
    heap = [(0.0, i) for i in range(g)]
    group = np.empty(mass.size, dtype=np.intp)
    for x in np.argsort(-mass, kind="stable").tolist():
        load, i = heapq.heappop(heap)
        group[x] = i
        heapq.heappush(heap, (load + float(mass[x]), i))
    loads = np.bincount(group, weights=mass, minlength=g)
    members = [np.flatnonzero(group == i).tolist() for i in range(g)]
    for _ in range(_SWAPS):
        high, low = int(loads.argmax()), int(loads.argmin())
        excess = float(loads[high] - loads[low])
        give, take = mass[members[high]], np.append(mass[members[low]], 0.0)
        off = np.abs(give[:, None] - take[None, :] - excess / 2)
        i, j = np.unravel_index(int(off.argmin()), off.shape)
        if off[i, j] >= excess / 2 * (1 - 1e-9) or excess < 1e-15:
            break
        moved = float(give[i] - take[j])
        if j < len(members[low]):
            members[high].append(members[low].pop(int(j)))
        members[low].append(members[high].pop(int(i)))
        loads[high] -= moved
        loads[low] += moved
    for i, inside in enumerate(members):
        group[inside] = i
    return group, np.bincount(group, weights=mass, minlength=g)


def coarsened(prior: Floats, contact: float, rows: int, rng: np.random.Generator) -> Indices:
    """Super-symbol of each symbol: heavy ones alone, some of the heaviest light ones alone, the rest in groups of unequal mass."""
    order = np.argsort(-prior, kind="stable")
    alone = min(prior.size, int((prior > contact).sum()) + int(_SHARE_ALONE * rows))
    rest, groups = order[alone:], max(1, min(rows, prior.size - alone))
    row_of = np.empty(prior.size, dtype=np.intp)
    row_of[order[:alone]] = np.arange(alone)
    wanted = rng.dirichlet(np.full(groups, 4.0)) * prior[rest].sum()
    heap = [(-float(w), i) for i, w in enumerate(wanted)]
    heapq.heapify(heap)
    for x in rest.tolist():  # decreasing mass, into the group that lacks most
        lack, i = heap[0]
        row_of[x] = alone + i
        heapq.heapreplace(heap, (lack + float(prior[x]), i))
    return np.unique(row_of, return_inverse=True)[1].astype(np.intp)
