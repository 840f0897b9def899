"""At most so many different reports for a workload.

From the best design patterns are dropped a fraction at a time, those of least weight first, and the rest is designed
again, until few enough are left. A mechanism for n = k−1 unknown shares needs at least k reports, and randomised
response has as many; next to k reports the shifts of one set are better, which always make a mechanism. The bound stays
that of all mechanisms, so what the limit costs is seen in the gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from extremal.optimize.problem import NO_CHANGE
from extremal.optimize.workload.interior import optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, staircase_deviations
from extremal.optimize.workload.mechanisms import cost

KEPT_PATTERNS = 0.8  # of them, from one design to the next
BALANCED = 1e-7  # how far Σθd may be from zero, relative to the largest point
USED = 1e-9  # of the largest weight: what the interior point leaves on patterns that are not used
WIDEST = 2  # times k: longer cycles are hardly better, and patterns of the best design are
CYCLES = 4  # lengths that are tried, the longest that fit: lengths that are prime are better than others
STARTS = 100  # sets to descend from
DENSITIES = (0.6, 1.8)  # of them, times that of subset selection
PROPOSED = 3  # of each length, whose cost for the real inputs is computed
MOST_SHIFTED = 150  # inputs: all flips of all sets at once are 150 MB


def fewer_patterns(
    coordinates: Coordinates, sets: Sets, theta: Floats, growth: float, limit: int
) -> tuple[Sets, Floats] | None:
    """Patterns and weights on at most `limit` of them, or None when there are fewer than k to have."""
    k = coordinates.k
    if limit < k:
        return None
    used = theta > USED * theta.max()
    sets, theta = sets[:, used], theta[used]
    tried = [_designed(coordinates, np.eye(k, dtype=np.bool_), growth)]  # randomised response
    shifted = shifted_sets(coordinates, growth, limit)
    if shifted is not None:
        tried.append(_designed(coordinates, shifted[0], growth))
    while sets.shape[1] > limit:
        count = max(limit, int(KEPT_PATTERNS * sets.shape[1]))
        order = np.argsort(-theta)[:count]
        again = _designed(coordinates, sets[:, order], growth)
        if again is None:
            break
        sets, theta, _ = again
        if sets.shape[1] <= limit:
            tried.append(again)
    else:
        tried.append(_designed(coordinates, sets, growth))
    best = min((one for one in tried if one is not None), key=lambda one: one[2], default=None)
    return None if best is None else best[:2]


def shifted_sets(coordinates: Coordinates, growth: float, limit: int) -> tuple[Sets, Floats] | None:
    """A set and all its shifts on a cycle of k to `limit` inputs of which the first k are real, and their weights:
    every input lies in as many of them as any other, whatever the set, so that all count alike. None where there is
    none.

    On a cycle of m, J is circulant: its eigenvalues are the squares of the Fourier coefficients of the set, and what it
    costs is Σ_f w_f/|b_f|² times (m + growth·|T|)², w_f what the statistics have of frequency f. That is descended from
    random sets by flipping one input at a time; on part of the cycle the cost is no larger.
    """
    if coordinates.k > MOST_SHIFTED:
        return None
    found, least = None, math.inf
    for sets in _proposed(coordinates, growth, limit):
        theta = 1 + growth * (coordinates.prior @ sets)
        points = coordinates.points(staircase_deviations(sets, coordinates.prior, growth))
        value = cost(points, theta, coordinates.guarded)
        if value < least:
            found, least = (sets, theta / theta.sum()), value
    return found


def _proposed(coordinates: Coordinates, growth: float, limit: int) -> Iterator[Sets]:
    """All shifts of a few good sets of each length."""
    k, generator = coordinates.k, np.random.default_rng(0)  # proposals of a search, always the same ones
    largest = min(limit, WIDEST * k)
    for m in range(max(k, largest - CYCLES + 1), largest + 1):
        wanted = np.zeros((coordinates.rows.shape[0], m))
        wanted[:, :k] = coordinates.rows - (coordinates.rows @ coordinates.prior)[:, None]
        spectrum = (np.abs(np.fft.fft(wanted, axis=1)) ** 2).sum(axis=0)[1:]
        shares = generator.uniform(*DENSITIES, STARTS) / (growth + 2)
        chosen = generator.random((STARTS, m)) < shares[:, None]
        chosen[:, 0] = True
        for row in _descended(chosen, spectrum, growth):
            sets = np.array([np.roll(row, shift)[:k] for shift in range(m)]).T
            yield sets[:, sets.any(axis=0) & ~sets.all(axis=0)]


def _descended(chosen: Sets, spectrum: Floats, growth: float) -> Sets:
    """The best of some sets, one a row, once no flip of one input makes them cheaper."""
    rows, flips = np.arange(len(chosen)), np.eye(chosen.shape[1], dtype=np.bool_)
    costs = _costs(chosen, spectrum, growth)
    for _ in range(chosen.shape[1]):
        flipped = chosen[:, None, :] ^ flips
        tried = _costs(flipped, spectrum, growth)
        best = tried.argmin(axis=1)
        better = tried[rows, best] < costs * (1 - NO_CHANGE)
        if not better.any():
            break
        chosen = np.where(better[:, None], flipped[rows, best], chosen)
        costs = np.where(better, tried[rows, best], costs)
    return np.asarray(chosen[np.argsort(costs, kind="stable")[:PROPOSED]])


def _costs(chosen: Sets, spectrum: Floats, growth: float) -> Floats:
    """Of the shifts of each set."""
    power = np.abs(np.fft.fft(chosen, axis=-1)[..., 1:]) ** 2
    with np.errstate(divide="ignore"):
        within = (spectrum / power).sum(axis=-1)
    return np.asarray(within * (chosen.shape[-1] + growth * chosen.sum(axis=-1)) ** 2)


def _designed(coordinates: Coordinates, sets: Sets, growth: float) -> tuple[Sets, Floats, float] | None:
    """The best weights on these patterns, or None when no weights make a mechanism of them."""
    points = coordinates.points(staircase_deviations(sets, coordinates.prior, growth))
    try:
        found = optimal_design(points, coordinates.guarded)
    except np.linalg.LinAlgError:
        return None
    if np.abs(points @ found.theta).max() > BALANCED * np.abs(points).max() or abs(found.theta.sum() - 1) > BALANCED:
        return None
    used = found.theta > USED * found.theta.max()
    return sets[:, used], found.theta[used], found.value
