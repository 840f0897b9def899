"""What several divergences make of a column: a convex, homogeneous function of its m inner products.

A column q matters only through v = (P_1·q, …, P_m·q). v is kept as its first entry and the differences of the others to
it, so that hypotheses which hardly differ, and small ε, lose no digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.utility import Average, Divergence, Utility, WorstCase
from extremal.utility.convex import ConvexFunction
from extremal.utility.pair import Pair

Sets = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Leaf:
    """One divergence: f, and the numbers of its two distributions."""

    f: ConvexFunction
    first: int
    second: int


class Goals:
    """Parts, of which the least counts; each a mean of divergences. Columns are e^−ε + (1 − e^−ε)·1_T.

    Attributes:
        priors: the distributions, numbered as they first occur.
        leaves: the divergences.
        weights: parts × leaves.
    """

    def __init__(self, k: int, epsilon: float) -> None:
        self.k, self.epsilon = k, epsilon
        self.low, self.step = math.exp(-epsilon), -math.expm1(-epsilon)
        self.priors: list[Prior] = []
        self.leaves: list[Leaf] = []
        self.weights = np.zeros((0, 0))

    @classmethod
    def of(cls, utility: Utility, epsilon: float) -> Goals:
        """A mean of divergences, or the least of several."""
        made = cls(utility.k, epsilon)
        parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
        rows = [list(divergences(part, 1.0)) for part in parts]
        made.weights = np.zeros((len(rows), sum(map(len, rows))))
        for i, row in enumerate(rows):
            for divergence, weight in row:
                made.weights[i, len(made.leaves)] = weight
                made._take(divergence.f, divergence.pair.p0, divergence.pair.p1)
        return made

    def restricted(self, weights: Floats) -> tuple[Goals, Floats]:
        """The same with the leaves of positive weight only, and these weights: fewer distributions, perhaps."""
        if weights.all():
            return self, weights
        made = Goals(self.k, self.epsilon)
        for leaf in (self.leaves[i] for i in np.flatnonzero(weights)):
            made._take(leaf.f, self.priors[leaf.first], self.priors[leaf.second])
        made.weights = np.ones((1, len(made.leaves)))
        return made, weights[weights > 0]

    def _take(self, f: ConvexFunction, first: Prior, second: Prior) -> None:
        self.leaves.append(Leaf(f, self._number(first), self._number(second)))

    def _number(self, prior: Prior) -> int:
        for i, known in enumerate(self.priors):
            if known.weights == prior.weights:
                return i
        self.priors.append(prior)
        return len(self.priors) - 1

    @property
    def m(self) -> int:
        """How many distributions there are."""
        return len(self.priors)

    @cached_property
    def symbols(self) -> Floats:
        """m × k: v of each unit vector."""
        first = self.priors[0]
        return np.array([first.values, *(Pair(p, first).difference for p in self.priors[1:])])

    def images(self, sets: Sets) -> Floats:
        """v of the column of each set (rows)."""
        return np.asarray(self.low * np.eye(1, self.m)[0] + self.step * (sets @ self.symbols.T))

    def _masses(self, at: Floats, leaf: Leaf) -> tuple[Floats, Floats, Floats]:
        a, b = (at[:, i] if i else np.zeros(len(at)) for i in (leaf.first, leaf.second))
        return at[:, 0] + a, at[:, 0] + b, a - b

    def each(self, at: Floats) -> Floats:
        """Leaves × points: what each divergence makes of v."""
        return np.array([leaf.f.perspective(*self._masses(at, leaf)) for leaf in self.leaves])

    def slopes(self, at: Floats, weights: Floats) -> Floats:
        """A linear function below the weighted sum of divergences that touches it at v, for each point."""
        found = np.zeros_like(at)
        for leaf, weight in zip(self.leaves, weights.tolist(), strict=True):
            m0, m1, _ = self._masses(at, leaf)
            slope, constant = leaf.f.line(m0 / m1)
            found[:, 0] += weight * (slope - constant)
            if leaf.first:
                found[:, leaf.first] += weight * slope
            if leaf.second:
                found[:, leaf.second] -= weight * constant
        return found

    def reduced(self, sets: Sets, weights: Floats, alpha: Floats) -> Floats:
        """What the column of each set is worth beyond its price."""
        return np.asarray(weights @ self.each(self.images(sets)) - self.low * alpha.sum() - self.step * (sets @ alpha))


def is_known(utility: Utility) -> bool:
    """Whether the utility is a mean of divergences, or the least of such."""
    if isinstance(utility, WorstCase):
        return all(map(_is_mean, utility.utilities))
    return isinstance(utility, Average) and _is_mean(utility)


def _is_mean(part: Utility) -> bool:
    return all(map(_is_mean, part.utilities)) if isinstance(part, Average) else isinstance(part, Divergence)


def divergences(part: Utility, weight: float) -> Iterator[tuple[Divergence, float]]:
    """A mean as its divergences with their weights."""
    if isinstance(part, Average):
        for inner in part.utilities:
            yield from divergences(inner, weight / len(part.utilities))
    elif isinstance(part, Divergence):
        yield part, weight
