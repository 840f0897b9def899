"""The shape of the cone of metric privacy: when the metric is a tree, and its extreme rays on small alphabets.

Columns q with q_x ≤ e^{εd(x,x')}·q_x'. On an extreme ray the inequalities that are tight connect the inputs (within a
group of inputs at finite distances; groups do not see each other), so a ray is fixed by a spanning tree of tight pairs
and a direction on each edge. If the metric is the path length in a tree, the inequalities along its edges imply all
others, and every choice of directions is a ray: 2^(k−1) of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge
from extremal.privacy.metric import MetricPrivacy

Floats = npt.NDArray[np.float64]
Edge = tuple[int, int]

MOST_ON_TREE = 16  # 32,768 rays
MOST_IN_GENERAL = 7  # 7^5 trees with 2^6 directions


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


def extreme_rays(privacy: MetricPrivacy, slack: float) -> Floats:
    """Extreme rays as columns with largest entry 1; those of the general case satisfy the inequalities within `slack`,
    relatively.

    Raises:
        TooLarge: more than 16 inputs on a tree, or more than 7 otherwise.
    """
    edges = tree_edges(privacy)
    most = MOST_ON_TREE if edges is not None else MOST_IN_GENERAL
    if privacy.k > most:
        raise TooLarge(
            f"the rays of metric privacy are listed for at most {MOST_ON_TREE} inputs on a tree or line and "
            f"{MOST_IN_GENERAL} otherwise",
            parameter="k",
            value=privacy.k,
            hint="f-divergences and distortions are solved without listing them.",
        )
    if edges is not None:
        return np.asarray(np.exp(_directed(edges, list(range(privacy.k)), privacy)))
    return np.hstack([_rays_of_group(group, privacy, slack) for group in _groups(privacy.distances)])


def group_columns(privacy: MetricPrivacy) -> Floats:
    """One column for each group of inputs at finite distances: 1 on it and 0 elsewhere. Naming the group is private."""
    columns = np.zeros((privacy.k, 0))
    for group in _groups(privacy.distances):
        columns = np.c_[columns, np.isin(np.arange(privacy.k), group).astype(np.float64)]
    return columns


def _rays_of_group(group: list[int], privacy: MetricPrivacy, slack: float) -> Floats:
    bounds = privacy.epsilon * privacy.distances[np.ix_(group, group)]
    kept = []
    for tree in _trees(len(group)):
        logs = _directed([(group[a], group[b]) for a, b in tree], group, privacy)
        inside = logs[group]
        apart = inside[:, None, :] - inside[None, :, :]
        good = (apart <= (bounds + slack * np.maximum(1, bounds))[:, :, None]).all(axis=(0, 1))
        kept.append(np.exp(logs[:, good]))
    candidates = np.hstack(kept)
    return candidates[
        :, np.unique(candidates.round(10), axis=1, return_index=True)[1]
    ]  # several trees give the same ray


def _directed(edges: list[Edge], group: list[int], privacy: MetricPrivacy) -> Floats:
    """One column for each choice of directions on the edges (parents first), by its logarithms; 0 outside the group."""
    count = 1 << len(edges)
    logs = np.full((privacy.k, count), -math.inf)
    logs[edges[0][0] if edges else group[0]] = 0.0
    for i, (above, x) in enumerate(edges):
        sign = np.where((np.arange(count) >> i) & 1, 1.0, -1.0)
        logs[x] = logs[above] + sign * privacy.epsilon * privacy.distances[above, x]
    return np.asarray(logs - logs.max(axis=0))


def _trees(n: int) -> Iterator[list[Edge]]:
    """Every spanning tree on 0..n−1, parents first (Prüfer sequences)."""
    if n <= 2:
        yield [(0, 1)] if n == 2 else []
        return
    for code in itertools.product(range(n), repeat=n - 2):
        degree = [1 + code.count(x) for x in range(n)]
        pairs = []
        for x in code:
            leaf = degree.index(1)
            pairs.append((leaf, x))
            degree[leaf] -= 1
            degree[x] -= 1
        a, b = (x for x in range(n) if degree[x] == 1)
        pairs.append((a, b))
        yield _parents_first(pairs)


def _parents_first(pairs: list[Edge]) -> list[Edge]:
    ordered, seen = [], [0]
    for above in seen:
        for a, b in pairs:
            other = b if a == above else a if b == above else None
            if other is not None and other not in seen:
                ordered.append((above, other))
                seen.append(other)
    return ordered


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
