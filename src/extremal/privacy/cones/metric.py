"""The shape of the cone of metric privacy: when the metric is a tree, and its extreme rays on small alphabets.

Columns q with q_x ≤ e^{εd(x,x')}·q_x'. If the metric is the path length in a tree, the inequalities along its edges
imply all others, and every choice of a direction on each edge is a ray: 2^(k−1) of them. Other rays are listed by
double description.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge
from extremal.exact.exponential import exp_bounds
from extremal.exact.polytope import as_columns, extreme_rays
from extremal.privacy.metric import MetricPrivacy

Floats = npt.NDArray[np.float64]
Edge = tuple[int, int]

MOST_ON_TREE = 16  # 32,768 rays
MOST_IN_GENERAL = 7  # 924 rays
_BITS = 96  # of e^{εd}, rounded up: nothing of it is left in a float
_FARTHEST = 740  # of εd: e^−740 is next to the smallest double, and what is farther apart is 0 in a float
_SAME = 10  # digits to which rays are the same, where rounding took one that several pairs make apart


def tree_edges(privacy: MetricPrivacy) -> list[Edge] | None:
    """The edges (parent, child) of the tree whose path lengths are the distances, parents first; None if the metric is
    no tree.

    >>> tree_edges(MetricPrivacy(1, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    [(0, 1), (1, 2)]
    """
    near, k = privacy.distances, privacy.k
    if not np.isfinite(near).all():
        return None
    edges, inside, parent, gap = [], [0], np.zeros(k, dtype=int), near[0].copy()
    paths = {(0, 0): Fraction(0)}
    while len(inside) < k:  # Prim's algorithm; if the metric is a tree, this finds it
        gap[inside] = math.inf
        x = int(np.argmin(gap))
        above = int(parent[x])
        edges.append((above, x))
        length = privacy.exact_distance(above, x)
        paths[x, x] = Fraction(0)
        for y in inside:
            paths[x, y] = paths[y, x] = paths[above, y] + length
            if paths[x, y] != privacy.exact_distance(x, y):
                return None
        inside.append(x)
        closer = near[x] < gap
        parent[closer], gap[closer] = x, near[x][closer]
    return edges


def metric_rays(privacy: MetricPrivacy) -> Floats:
    """Extreme rays as columns with largest entry 1; in the general case with e^{εd} rounded up.

    Raises:
        TooLarge: more than 16 inputs on a tree, or more than 7 otherwise.
    """
    edges, k = tree_edges(privacy), privacy.k
    if k > (MOST_ON_TREE if edges is not None else MOST_IN_GENERAL):
        raise TooLarge(
            f"the rays of metric privacy are listed for at most {MOST_ON_TREE} inputs on a tree or line and "
            f"{MOST_IN_GENERAL} otherwise",
            parameter="k",
            value=k,
            hint="f-divergences and distortions are solved without listing them.",
        )
    if edges is not None:
        return _directed(edges, privacy)
    planes = []
    for x, z in itertools.permutations(range(k), 2):
        exponent = privacy.exact_exponent(x, z) if privacy.relates(x, z) else None
        if exponent is not None and exponent <= _FARTHEST:
            factor = Fraction(exp_bounds(exponent, _BITS)[1], 1 << _BITS)
            planes.append([Fraction(int(i == x)) - factor * int(i == z) for i in range(k)])
    listed = as_columns(extreme_rays(k, planes))
    return listed[:, np.unique(listed.round(_SAME), axis=1, return_index=True)[1]]


def _directed(edges: list[Edge], privacy: MetricPrivacy) -> Floats:
    """One column for each choice of directions on the edges of a tree, parents first."""
    count = 1 << len(edges)
    logs = np.zeros((privacy.k, count))
    for i, (above, x) in enumerate(edges):
        sign = np.where((np.arange(count) >> i) & 1, 1.0, -1.0)
        logs[x] = logs[above] + sign * privacy.epsilon * privacy.distances[above, x]
    return np.asarray(np.exp(logs - logs.max(axis=0)))


def group_columns(privacy: MetricPrivacy) -> Floats:
    """One column for each group of inputs at finite distances: 1 on it and 0 elsewhere. Naming the group is private."""
    columns = np.zeros((privacy.k, 0))
    for group in _groups(privacy.distances):
        columns = np.c_[columns, np.isin(np.arange(privacy.k), group).astype(np.float64)]
    return columns


def _groups(distances: Floats) -> list[list[int]]:
    """Inputs connected by finite distances."""
    left, groups = set(range(len(distances))), []
    while left:
        group = [min(left)]
        for x in group:
            group.extend(y for y in sorted(left) if y not in group and math.isfinite(distances[x, y]))
        groups.append(sorted(group))
        left -= set(group)
    return groups
