"""The prior of a class at which a workload costs most, as a certificate names it.

F(Q, ·) is concave, so its largest value over a class is at a mixture of few vertices: vertices are added where the
slope points, their weights found by Newton's steps. All is done in floats; where the search ends does not matter to the
proof kernel, which encloses F there and bounds it over the class by the decoder that is best there.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np

from extremal.certificate import ChosenPrior
from extremal.errors import TooLarge
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.problem import chosen_prior
from extremal.utility import Workload
from extremal.utility.fisher import squared_influence

ROUNDS = 60  # vertices added: more than a class of a few inputs needs
NEWTON_STEPS = 12  # for each: steps converge quadratically
ENOUGH = 1e-14  # relative: what a vertex gains at least
NOISE = 1e-12  # relative: of F in floats; F is flat at its top, where only its slope tells
DIFFERENCE = 1e-6  # of weights, for second derivatives: the root of what floats resolve
DAMPED = 1e-12  # of the second derivatives, so that a system can be solved
LEAST = 1e-13  # of a weight: what is below is none


def worst_prior(utility: Workload, mechanism: Mechanism) -> ChosenPrior | None:
    """A prior of the class at which the mechanism estimates nearly worst; None where there is no class."""
    source = utility.source
    if source.single is not None:
        return None
    uniform = Prior([Fraction(1, source.k)] * source.k)
    search = _WorstMixture(utility, mechanism, uniform if source.admits(uniform) else source.member())
    # all subsets of a size are reports: every input counts alike, and the first prior is the worst
    with suppress(TooLarge):
        search.run()
    return chosen_prior(source, search.corners, [Fraction(w) for w in search.weights.tolist()])


class _WorstMixture:
    """Vertices of the class so far, and their weights."""

    def __init__(self, utility: Workload, mechanism: Mechanism, first: Prior) -> None:
        self.utility, self.mechanism = utility, mechanism
        self.corners, self.weights = [first], np.array([1.0])

    def run(self) -> None:
        value, slope = self._at(self.weights)
        for _ in range(ROUNDS):
            best = self.utility.source.extreme_prior(slope.tolist())
            gain = float(slope @ (best.values - self._prior(self.weights)))
            if not np.isfinite(value) or gain <= ENOUGH * abs(value) or best in self.corners:
                return
            self.corners.append(best)
            self.weights = np.append(self.weights, 0.0)
            for _ in range(NEWTON_STEPS):
                before = self.weights
                value, slope = self._step()
                if self.weights.size == before.size and np.abs(self.weights - before).max() <= LEAST:
                    break

    def _prior(self, weights: Floats) -> Floats:
        return np.asarray(weights @ np.array([corner.values for corner in self.corners]))

    def _at(self, weights: Floats) -> tuple[float, Floats]:
        """F and its slope; infinite, and flat, where a statistic is not identified."""
        fisher = self.utility.information(self.mechanism, self._prior(weights))
        found = fisher.decoded(self.utility.rows)
        if found is None or not np.isfinite(found[1]):
            return np.inf, np.zeros(self.utility.k)
        return found[1], squared_influence(self.mechanism, fisher, found[0])

    def _step(self) -> tuple[float, Floats]:
        """One damped step towards the best weights ≥ 0 of the corners; those without weight are dropped."""
        weights = self.weights
        value, slope = self._at(weights)
        goal = self._goal(np.array([corner.values for corner in self.corners]) @ slope)
        change = goal - weights
        shrinking = change < 0
        share = min(1.0, float(np.min(weights[shrinking] / -change[shrinking], initial=np.inf)))
        while share > DAMPED:
            moved = np.maximum(weights + share * change, 0.0)
            moved[moved < LEAST] = 0.0
            moved /= moved.sum()
            gained, pointing = self._at(moved)
            if gained >= value * (1 - NOISE):
                weights, value, slope = moved, gained, pointing
                break
            share /= 4
        used = weights > 0
        self.corners = [corner for corner, kept in zip(self.corners, used, strict=True) if kept]
        self.weights = weights[used]
        return value, slope

    def _goal(self, first: Floats) -> Floats:
        """Where a quadratic with these derivatives in the weights is largest."""
        weights, n = self.weights, self.weights.size
        corners, second = np.array([corner.values for corner in self.corners]), np.zeros((n, n))
        for j in range(n):  # along corner j − prior: that is all a step on the simplex needs
            moved = (1 - DIFFERENCE) * weights
            moved[j] += DIFFERENCE
            second[:, j] = (corners @ self._at(moved)[1] - first) / DIFFERENCE
        free = (weights > 0) | (first > first @ weights)
        while True:
            index = np.flatnonzero(free)
            size = index.size
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = second[np.ix_(index, index)] - DAMPED * np.abs(second).max() * np.eye(size)
            system[size, size] = 0.0
            wanted = np.append(second[index] @ weights - first[index], 1.0)
            target = np.linalg.lstsq(system, wanted, rcond=None)[0][:size]
            stuck = (target < 0) & (weights[index] <= 0)
            if not stuck.any():
                break
            free[index[stuck]] = False
        goal = np.zeros(n)
        goal[index] = target
        return goal
