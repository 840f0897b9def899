"""Exact pricing by a tree over sets: is any set worth more than its price, however many distributions there are?

Inputs are decided one after the other, those first in which the distributions differ most. Below a node the ratio of
what two distributions make of a column lies between two numbers, where a convex function lies below its chord; all
chords together are a linear function, whose best set below the node is a sign rule. Few sets are worth nearly as much
as their price, so that few nodes stay open: some thousand for 20 inputs, whatever the number of distributions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.exact.weights import Floats, Indices
from extremal.optimize.hypotheses.goals import Goals, Sets
from extremal.optimize.tokens import BRANCH, in_depth_first_order

CLOSED = 0  # token of a node that chords close, as the kernel reads it
ROUNDS = 8  # a guard: a ratio of linear functions is raised a few times until it stays
AT_ONCE = 2_000  # nodes: arrays of some megabytes
ROOM = 0.9  # of what a set may be worth above its price: the rest is for rounding


@dataclass(frozen=True, eq=False)
class TreeAnswer:
    """Attributes:
    order, tokens: the tree, as the kernel reads it; no tokens when it was given up or a set was found.
    sets: those that are worth more than their price by more than was asked.
    """

    order: Indices
    tokens: tuple[int, ...]
    sets: Sets


class _Chords:
    """The pairs of distributions, and the divergences of each as a function of the ratio."""

    def __init__(self, goals: Goals, weights: Floats) -> None:
        self.goals = goals
        self.symbols = np.array([p.values for p in goals.priors])
        found: dict[tuple[int, int], list[int]] = {}
        for n, leaf in enumerate(goals.leaves):
            found.setdefault((min(leaf.first, leaf.second), max(leaf.first, leaf.second)), []).append(n)
        self.weights, self.members = weights, list(found.values())
        self.first, self.second = np.array(list(found), dtype=np.intp).reshape(-1, 2).T

    def heights(self, ratios: Floats) -> Floats:
        """Of each pair (columns) at a ratio for each node, for v = 1 of the second."""
        one, found = np.ones(len(ratios)), np.zeros_like(ratios)
        for pair, members in enumerate(self.members):
            r = ratios[:, pair]
            for n in members:
                f, turned = self.goals.leaves[n].f, self.goals.leaves[n].first != self.first[pair]
                value = f.perspective(one, r, 1 - r) if turned else f.perspective(r, one, r - 1)
                found[:, pair] += self.weights[n] * value
        return found

    def ends(self, at: Floats, free: Indices, sign: float) -> Floats:
        """The largest ratio of each pair below each node (sign 1), or the smallest."""
        a, b = at[:, self.first], at[:, self.second]
        steps = self.goals.step * self.symbols[:, free]
        mine, theirs = steps[self.first], steps[self.second]
        ratio = a / b
        for _ in range(ROUNDS):
            taken = sign * (mine - ratio[:, :, None] * theirs) > 0
            new = (a + (taken * mine).sum(axis=2)) / (b + (taken * theirs).sum(axis=2))
            if not (sign * (new - ratio) > 0).any():
                break
            ratio = np.maximum(ratio, new) if sign > 0 else np.minimum(ratio, new)
        return np.asarray(ratio)

    def most(self, at: Floats, free: Indices, alpha: Floats) -> Floats:
        """What no set below each node exceeds, the price of what is decided not yet taken off."""
        top, low = self.ends(at, free, 1.0), self.ends(at, free, -1.0)
        high, base = self.heights(top), self.heights(low)
        apart = top > low
        slope = np.where(apart, (high - base) / np.where(apart, top - low, 1.0), 0.0)
        lines = np.zeros((len(at), len(self.symbols)))
        np.add.at(lines.T, self.first, slope.T)
        np.add.at(lines.T, self.second, (high - slope * top).T)
        gains = lines @ self.symbols[:, free] - alpha[free]
        return np.asarray((lines * at).sum(axis=1) + self.goals.step * np.maximum(gains, 0.0).sum(axis=1))


def proved(goals: Goals, weights: Floats, alpha: Floats, enough: float, most: int) -> TreeAnswer:
    """The tree that no set is worth `enough` more than its price, or sets that are; at most so many nodes."""
    chords, k = _Chords(goals, weights), goals.k
    order = np.argsort(-np.ptp(chords.symbols, axis=0), kind="stable")
    at, paid = np.full((1, goals.m), goals.low), np.array([goals.low * float(alpha.sum())])
    inside, levels, looked = np.zeros((1, k), dtype=np.bool_), [], 0
    for depth in range(k + 1):
        looked += len(at)
        if looked > most:
            return TreeAnswer(order, (), np.zeros((0, k), dtype=np.bool_))
        parts = range(0, len(at), AT_ONCE)
        worth = [chords.most(at[i : i + AT_ONCE], order[depth:], alpha) for i in parts]
        left = np.concatenate(worth) - paid > ROOM * enough
        levels.append(np.where(left, BRANCH, CLOSED))
        at, paid, inside = at[left], paid[left], inside[left]
        if depth == k or not len(at):
            break
        x, takes = order[depth], np.tile([1.0, 0.0], len(at))
        at, paid, inside = (np.repeat(each, 2, axis=0) for each in (at, paid, inside))
        at = at + goals.step * takes[:, None] * chords.symbols[:, x]
        paid, inside[:, x] = paid + goals.step * alpha[x] * takes, takes > 0
    tokens = () if len(inside) else tuple(in_depth_first_order(levels, np.ones(k, dtype=np.int64)).tolist())
    return TreeAnswer(order, tokens, inside)
