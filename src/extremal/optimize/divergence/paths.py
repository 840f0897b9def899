"""The best partition of a line of nodes: longest paths, by Dinkelbach's method.

A partition into L blocks is worth Σμ(B_l)/(1+(L−1)s). Given a value V, the longest path with edge weights μ − sV tells
whether some partition is worth more: gap = max Σμ − V(1+(L−1)s), and every partition is worth at most V +
max(gap,0)/(1+s).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from extremal.exact.weights import Indices
from extremal.optimize.divergence.lorenz import BlockValue, Floats, Nodes

MOST_ROUNDS = 60  # 1–3 are needed; rounding could make it cycle


def forward(rows: list[Floats], charge: float) -> tuple[Floats, Indices]:
    """Longest path from the first node to each, every edge charged `charge`; and the node before."""
    best, before = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.intp)
    for j in range(1, len(rows)):
        through = best[:j] + rows[j]
        i = through.argmax()
        best[j], before[j] = through[i] - charge, i
    return best, before


def backward(rows: list[Floats], charge: float) -> Floats:
    """Longest path from each node to the last."""
    best = np.full(len(rows), -np.inf)
    best[-1] = 0.0
    for j in range(len(rows) - 1, 0, -1):
        np.maximum(best[:j], rows[j] + (best[j] - charge), out=best[:j])
    return best


def path_to_end(before: Indices) -> Indices:
    path = [before.size - 1]
    while path[-1] > 0:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1], dtype=np.intp)


def best_partition(value: BlockValue, nodes: Nodes) -> tuple[float, Indices, float]:
    """(V, cuts, gap) of the best partition of these nodes; cuts is empty if every one is worth 0."""
    rows = value.rows(nodes)
    worth, cuts = 0.0, np.empty(0, dtype=np.intp)
    if len(rows) > 2:  # two blocks, often the best, spare a round or two
        both = np.array([row[0] for row in rows[1:-1]]) + rows[-1][1:]
        cut = int(both.argmax())
        if both[cut] / (1 + value.low) > worth:
            worth, cuts = float(both[cut]) / (1 + value.low), np.array([0, cut + 1, len(rows) - 1], dtype=np.intp)
    gap = 0.0
    for _ in range(MOST_ROUNDS):
        best, before = forward(rows, value.low * worth)
        gap = float(best[-1]) - worth * value.step
        found = path_to_end(before)
        blocks = [rows[stop][start] for start, stop in pairwise(found.tolist())]
        total = math.fsum(blocks) / (1 + (len(blocks) - 1) * value.low) if len(blocks) > 1 else 0.0
        if not total > worth:
            break
        worth, cuts = total, found
    return worth, cuts, gap


def best_with_outputs(value: BlockValue, nodes: Nodes, most: int) -> tuple[float, Indices]:
    """The best partition into at most `most` blocks: the layered program, O(most·n²)."""
    count = nodes.left0.size
    rows = value.rows(nodes)
    layer, before = np.full(count, -np.inf), []
    layer[0] = 0.0
    worth, cuts = 0.0, np.array([0, count - 1], dtype=np.intp)
    for blocks in range(1, min(most, count - 1) + 1):
        following, chosen = np.full(count, -np.inf), np.zeros(count, dtype=np.intp)
        for j in range(1, count):
            through = layer[:j] + rows[j]
            i = int(np.argmax(through))
            following[j], chosen[j] = through[i], i
        before.append(chosen)
        layer = following
        total = layer[-1] / (1 + (blocks - 1) * value.low)
        if total > worth:
            path = [count - 1]
            for chosen in reversed(before):
                path.append(int(chosen[path[-1]]))
            worth, cuts = float(total), np.array(path[::-1], dtype=np.intp)
    return worth, cuts
