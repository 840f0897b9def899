"""At most so many different reports: the heaviest patterns, designed again.

A mechanism for n = k−1 unknown shares needs at least k reports, and randomised response has as many. From the best
design patterns are dropped a fraction at a time, those of least weight first, and the rest is designed again, until few
enough are left. The bound stays that of all mechanisms, so what the limit costs is seen in the gap."""

from __future__ import annotations

import numpy as np

from extremal.optimize.workload.interior import optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, staircase_deviations

KEPT = 0.8  # of the patterns, from one design to the next
BALANCED = 1e-7  # how far Σθd may be from zero, relative to the largest point
USED = 1e-9


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
    while sets.shape[1] > limit:
        count = max(limit, int(KEPT * sets.shape[1]))
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
