"""Large alphabets: ways to a mixture that is nearly optimal, each compared with bounds for the whole prior.

*Windows.* Symbols on a circle, heavy and light alternating, reports are the k windows of d: exact for the uniform
prior, second order next to it.
When d and d+1 are about equally good: two circles, the heavier symbols in windows of d, the lighter ones in windows of
d+1, or, with many symbols, blocks of d and of d+1 without overlap.
*Circulant design.* Heavy symbols alone; the light ones in g groups of equal mass on a circle, windows of d of them.
With θ_w = 1/(g+hd+cd) for a window and dθ_w for each of the h heavy symbols every row sums to 1.
*Coarsening.* Light symbols are merged into super-symbols of **unequal** mass (equal ones have too few subset sums), to
be solved by column generation.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from extremal.exact.weights import Indices
from extremal.optimize.information.mixture import SetMixture
from extremal.optimize.problem import NO_CHANGE
from extremal.utility.curve import Floats, InformationCurve

_NEAR = 3  # window lengths on either side of the best one for a uniform prior
_SPLITS = 24  # places tried where windows of d end and those of d+1 begin
_DESIGNS = 8  # circulant designs tried, the most promising by their ideal value
_MOST_GROUPS = 1500  # of a circulant design: as many reports
_SWAPS = 2000  # exchanges between the heaviest and the lightest group
_WORTH_IT = 1e-9  # relative: an exchange that evens out less is not made
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
    return np.asarray(np.minimum(sums[d : d + ring.size] - sums[: ring.size], 1.0))


def two_rings(prior: Floats, curve: InformationCurve) -> SetMixture | None:
    """The heavier symbols in windows of d, the lighter ones in windows of d+1; the split that keeps most. None when
    there is no room for both."""
    k = prior.size
    d = int(k * curve.best_mass)
    splits = (
        np.unique(np.rint(np.linspace(d + 1, k - d - 2, _SPLITS)).astype(np.int64))
        if 1 <= d < k / 2 - 2
        else np.empty(0, np.int64)
    )
    order = np.argsort(-prior, kind="stable")
    rings: dict[int, tuple[Indices, Indices]] = {}
    best = (-np.inf, 0)
    for s in splits.tolist():
        heavy, light = order[:s], order[s:]
        rings[s] = heavy[alternating(prior[heavy])], light[alternating(prior[light])]
        worth = [
            float(curve.value(_windows(prior[ring], n)).sum()) / n for ring, n in zip(rings[s], (d, d + 1), strict=True)
        ]
        best = max(best, (sum(worth) / (s / d + (k - s) / (d + 1) + curve.c), s))
    if not splits.size:
        return None
    s = best[1]
    cover = 1 / (s / d + (k - s) / (d + 1) + curve.c)
    sets = np.zeros((k, k), dtype=bool)
    for ring, n, first in zip(rings[s], (d, d + 1), (0, s), strict=True):
        inside = (np.arange(ring.size)[:, None] - np.arange(ring.size)[None, :]) % ring.size < n
        sets[ring[:, None], first + np.arange(ring.size)[None, :]] = inside
    times = np.where(np.arange(k) < s, d + 1, d)
    return SetMixture(np.arange(k), sets, cover / (d * (d + 1)) * times, times)


def blocks(prior: Floats, curve: InformationCurve) -> SetMixture | None:
    """Randomised response on blocks of d and d+1 symbols, the heavier ones in the smaller blocks, dealt so that masses
    agree."""
    k = prior.size
    d = int(k * curve.best_mass)
    order = np.argsort(-prior, kind="stable")
    best: tuple[float, Indices | None] = (-np.inf, None)
    numbers = np.arange(-(-k // (d + 1)), k // d + 1) if d >= 1 else np.empty(0, np.int64)
    for number in numbers[:: max(1, numbers.size // _SPLITS)].tolist():
        small = number * (d + 1) - k  # blocks of d
        if number < 2 or small < 0 or small > number:
            continue
        row_of = np.empty(k, dtype=np.intp)
        row_of[order[: small * d]] = _dealt(d, small)
        row_of[order[small * d :]] = small + _dealt(d + 1, number - small)
        mass = np.bincount(row_of, weights=prior, minlength=number)
        best = max(best, (float(curve.value(mass).sum()) / (number + curve.c), row_of), key=lambda found: found[0])
    if best[1] is None:
        return None
    number = int(best[1].max()) + 1
    return SetMixture(
        best[1], np.eye(number, dtype=bool), np.full(number, 1 / (number + curve.c)), np.ones(number, dtype=np.int64)
    )


def _dealt(rounds: int, players: int) -> Indices:
    """Cards in decreasing order to players, the direction turning after each round."""
    order = np.tile(np.arange(players, dtype=np.intp), (rounds, 1))
    order[1::2] = order[1::2, ::-1]
    return order.ravel()


def circulant(prior: Floats, curve: InformationCurve, contact: float) -> SetMixture | None:
    """The best circulant design found; None when every symbol is heavy."""
    order = np.argsort(-prior, kind="stable")
    crowd = int((prior > contact).sum())
    best: tuple[float, _Circulant | None] = (-np.inf, None)
    for h in {max(crowd - 1, 0), crowd, min(crowd + 1, prior.size - 2)}:
        heavy, light = order[:h], order[h:]
        if light.size < 2:
            continue
        mass, alone = float(prior[light].sum()), float(curve.value(prior[heavy]).sum())
        groups = np.arange(2, min(light.size, _MOST_GROUPS) + 1)
        lengths = np.clip(np.rint(groups * contact / mass), 1, groups - 1).astype(np.int64)
        ideal = (groups * curve.value(lengths * mass / groups) + lengths * alone) / (groups + (h + curve.c) * lengths)
        ideal[prior[light[0]] > mass / groups] = -np.inf  # a symbol would outweigh its group
        for i in np.argsort(-ideal, kind="stable")[:_DESIGNS].tolist():
            g, d = int(groups[i]), int(lengths[i])
            if np.isfinite(ideal[i]):
                group, load = _equal_groups(prior[light], g)
                ring = alternating(load)
                value = (float(curve.value(_windows(load[ring], d)).sum()) + d * alone) / (g + (h + curve.c) * d)
                best = max(best, (value, _Circulant(heavy, light, group, ring, d)), key=lambda found: found[0])
    return None if best[1] is None else best[1].mixture(curve)


@dataclass(frozen=True, eq=False)
class _Circulant:
    """Heavy symbols, the groups of the light ones, the order of the groups on the circle, the length of the windows."""

    heavy: Indices
    light: Indices
    group: Indices
    ring: Indices
    d: int

    def mixture(self, curve: InformationCurve) -> SetMixture:
        h, g = self.heavy.size, self.ring.size
        position = np.empty(g, dtype=np.intp)
        position[self.ring] = np.arange(g)
        row_of = np.empty(h + self.light.size, dtype=np.intp)
        row_of[self.heavy], row_of[self.light] = np.arange(h), h + position[self.group]
        sets = np.zeros((h + g, h + g), dtype=bool)
        sets[np.arange(h), np.arange(h)] = True
        sets[h:, h:] = (np.arange(g)[:, None] - np.arange(g)[None, :]) % g < self.d
        times = np.append(np.full(h, self.d), np.ones(g, dtype=np.int64))
        return SetMixture(row_of, sets, times / (g + (h + curve.c) * self.d), times)


def _equal_groups(mass: Floats, g: int) -> tuple[Indices, Floats]:
    """Decreasing masses put into the lightest of g groups, then exchanges between the heaviest and the lightest
    group."""
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
        i, j = divmod(int(off.argmin()), take.size)
        if off[i, j] >= excess / 2 * (1 - _WORTH_IT) or excess < NO_CHANGE:
            break
        moved = float(give[i] - take[j])
        if j < len(members[low]):
            members[high].append(members[low].pop(j))
        members[low].append(members[high].pop(i))
        loads[high] -= moved
        loads[low] += moved
    for number, inside in enumerate(members):
        group[inside] = number
    return group, np.asarray(np.bincount(group, weights=mass, minlength=g), dtype=np.float64)


def coarsened(prior: Floats, contact: float, rows: int, rng: np.random.Generator) -> Indices:
    """Super-symbol of each symbol: heavy ones alone, some of the heaviest light ones alone, the rest in groups of
    unequal mass."""
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
