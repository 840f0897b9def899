"""Exact pricing: is any set worth more than its price? Cells of directions, halved where the answer is not yet no.

On a cone over a simplex of directions v a convex homogeneous function lies below the linear function λ that equals it
at the vertices, so no set with its v there is worth more than max over T of (λ·P − α)·S_T, which is a sign rule. The
directions with v_i ≤ e^ε·v_j are first cut by the order of the coordinates into m! simplices, then at the middle of the
edge along which the function is bent most. A set that costs less than it is worth is met on the way, or there is none.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from extremal.exact.weights import Floats
from extremal.optimize.hypotheses.goals import Goals, Sets

Trees = tuple[tuple[int, ...], ...]

ROOT_BITS = 16  # of the E that bounds the directions, rounded up, as `Chords` does
_WHOLE = (-1, -1, -1)


@dataclass(frozen=True, eq=False)
class CellAnswer:
    """Attributes:
    excess: no set is worth more than its price plus this.
    trees: the cuts, one tree for each order of the distributions, as `Chords` reads them.
    sets: some that are worth more than their price by more than was asked, best first.
    """

    excess: float
    trees: Trees
    sets: Sets


def priced(goals: Goals, weights: Floats, alpha: Floats, enough: float, most: int, every: bool = False) -> CellAnswer:
    """Whether a set is worth `enough` more than its price.

    Args:
        goals: the divergences.
        weights: of each leaf, all positive.
        alpha: the price of each input.
        enough: cells below this are left whole.
        most: cells that may be looked at.
        every: go on when a set is found, to the end; for a proof.
    """
    vertices = _roots(goals)
    values = _worth(goals, weights, vertices)
    edges = np.array(list(itertools.combinations(range(goals.m), 2)), dtype=np.intp).reshape(-1, 2)
    cuts: list[tuple[int, int, int]] = [_WHOLE] * len(vertices)  # of each cell: the edge, and the numbers of its parts
    names, looked, excess = np.arange(len(cuts)), len(cuts), -math.inf
    while True:
        slopes = np.linalg.solve(vertices, values[..., None])[..., 0]
        gains = slopes @ goals.symbols - alpha
        found = goals.low * (slopes[:, 0] - alpha.sum()) + goals.step * np.maximum(gains, 0.0).sum(axis=1)
        over = found > enough
        excess, looked = max(excess, float(found[~over].max(initial=-math.inf))), looked + 2 * int(over.sum())
        if not over.any() or looked > most or not len(edges):
            return CellAnswer(max(excess, float(found.max())), _trees(cuts, math.factorial(goals.m)), _none(goals))
        if not every:
            sets = worthwhile(goals, weights, alpha, gains[over] > 0, enough)
            if len(sets):
                return CellAnswer(math.inf, (), sets)
        vertices, values, names = vertices[over], values[over], names[over]
        middles = (vertices[:, edges[:, 0]] + vertices[:, edges[:, 1]]) / 2
        heights = _worth(goals, weights, middles)
        chosen = np.argmax((values[:, edges[:, 0]] + values[:, edges[:, 1]]) / 2 - heights, axis=1)
        for i, (name, edge) in enumerate(zip(names.tolist(), chosen.tolist(), strict=True)):
            cuts[name] = (edge, len(cuts) + i, len(cuts) + len(names) + i)
        each = np.arange(len(names))
        parts = [(vertices.copy(), values.copy()) for _ in range(2)]
        for side, (points, tops) in enumerate(parts):
            points[each, edges[chosen, side]] = middles[each, chosen]
            tops[each, edges[chosen, side]] = heights[each, chosen]
        vertices, values = (np.concatenate(both) for both in zip(*parts, strict=True))
        names = np.arange(len(cuts), len(cuts) + len(vertices))
        cuts += [_WHOLE] * len(vertices)


def worthwhile(goals: Goals, weights: Floats, alpha: Floats, sets: Sets, enough: float) -> Sets:
    """Those of the sets that are worth more than `enough` beyond their price, best first, each once."""
    different = np.unique(sets, axis=0)
    proper = different[different.any(axis=1) & ~different.all(axis=1)]
    reduced = goals.reduced(proper, weights, alpha)
    order = np.argsort(-reduced, kind="stable")
    return np.asarray(proper[order][reduced[order] > enough])


def _none(goals: Goals) -> Sets:
    return np.zeros((0, goals.k), dtype=bool)


def _roots(goals: Goals) -> Floats:
    """The simplices of the orders: the constant, and the patterns that are E on the first j and 1 on the others."""
    above, m = math.ceil(math.exp(goals.epsilon) * 2**ROOT_BITS) / 2**ROOT_BITS - 1, goals.m
    found = []
    for order in itertools.permutations(range(m)):
        cell = []
        for count in range(m):
            over = np.zeros(m)
            over[list(order[:count])] = above
            cell.append(np.concatenate([[1 + over[0]], over[1:] - over[0]]) / (m + over.sum()))
        found.append(cell)
    return np.array(found)


def _worth(goals: Goals, weights: Floats, points: Floats) -> Floats:
    """The weighted sum of divergences at each point of an array of them."""
    return np.asarray((weights @ goals.each(points.reshape(-1, goals.m))).reshape(points.shape[:-1]))


def _trees(cuts: list[tuple[int, int, int]], roots: int) -> Trees:
    """The cuts as tokens, depth first."""
    found = []
    for root in range(roots):
        tokens, stack = [], [root]
        while stack:
            edge, first, second = cuts[stack.pop()]
            tokens.append(edge)
            if edge >= 0:
                stack += [second, first]
        found.append(tuple(tokens))
    return tuple(found)
