"""A cone of columns as linear inequalities: what a linear program in the mechanism itself writes down.

The inequalities are the same for every output. Where that makes them sparse, a column q has one variable more, t: the
middle of its entries for LDP, e^ε/2 times its least probability over the priors for PML and LIP. The inequalities of a
metric are k² for each column; a program starts with those between near inputs and adds others as they are broken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from extremal.exact import Prior
from extremal.privacy.ldp import LDP
from extremal.privacy.lip import LIP
from extremal.privacy.metric import MetricPrivacy
from extremal.privacy.notion import Notion
from extremal.privacy.pml import PML

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]

RELATIVE = 100  # times the noise: where an entry counts relatively to the probability of its report
NEVER = 1e-3  # how far beyond the level that nothing reaches a program stays
NEAREST = 5  # inputs, itself included, whose inequalities a metric starts with


class ColumnRow(NamedTuple):
    """lower ≤ Σ coefficient·q_x + size·t ≤ upper.

    Attributes:
        entries: (x, coefficient).
        size: the coefficient of t, 0 where the cone has no such variable.
        name: which inequality it is, for cones that ask for its multiplier: a prior's number, or a pair of inputs.
    """

    entries: tuple[tuple[int, float], ...]
    size: float
    lower: float
    upper: float
    name: tuple[int, ...] = ()


class LinearCone(Protocol):
    """What a cone answers."""

    @property
    def has_size(self) -> bool:
        """Whether a column has the variable t."""

    def rows(self) -> list[ColumnRow]:
        """The inequalities of one column to start with."""

    def broken(self, matrix: Floats, by: float) -> list[tuple[int, ColumnRow]]:
        """(output, inequality) of those left out by `rows` that a matrix breaks by more than `by`."""

    def cleaned(self, matrix: Floats, noise: float, rare: float) -> Floats:
        """A solver's matrix with entries below `noise` 0, reports rarer than `rare` removed, rows equal where they
        must be."""


def linear_cone(privacy: Notion, k: int) -> LinearCone | None:
    """The cone of a notion about k inputs; None when it is none (δ > 0 couples the columns)."""
    match privacy:
        case LDP(delta=0):
            return StaircaseCone(privacy.epsilon, k)
        case PML():
            corners = privacy.source.vertices()
            return LeakageCone(_binding(privacy.epsilon, corners), corners, _flags(privacy.source.support()), None)
        case LIP():
            occurs = _flags([int(w > 0) for w in privacy.prior.weights])
            level = _binding(privacy.epsilon, [privacy.prior])
            return LeakageCone(level, [privacy.prior], occurs, math.exp(-privacy.lower))
        case MetricPrivacy():
            return MetricCone(privacy.epsilon, privacy.distances)
        case _:
            return None


def _binding(epsilon: float, priors: list[Prior]) -> float:
    """The level, lowered to where it stops to matter: q_x ≤ p·q/p_x always. With e^40 in it a program has no digits."""
    if len(priors) > 1:
        return epsilon
    return min(epsilon, NEVER - math.log(float(priors[0].values[priors[0].values > 0].min())))


def _flags(numbers: list[int]) -> npt.NDArray[np.bool_]:
    return np.array(numbers, dtype=bool)


@dataclass(frozen=True, eq=False)
class StaircaseCone:
    """ε-LDP: e^−ε/2·t ≤ q ≤ e^ε/2·t."""

    epsilon: float
    k: int
    has_size: bool = True

    def rows(self) -> list[ColumnRow]:
        half = math.exp(self.epsilon / 2)
        above = [ColumnRow(((x, 1.0),), -half, -math.inf, 0.0) for x in range(self.k)]
        return above + [ColumnRow(((x, 1.0),), -1 / half, 0.0, math.inf) for x in range(self.k)]

    def broken(self, matrix: Floats, by: float) -> list[tuple[int, ColumnRow]]:
        return []

    def cleaned(self, matrix: Floats, noise: float, rare: float) -> Floats:
        return np.where(matrix < noise, 0.0, matrix)


@dataclass(frozen=True, eq=False)
class LeakageCone:
    """PML for the priors with these corners, or LIP: q ≤ e^ε/2·t and e^−ε/2·t ≤ p·q on the inputs that occur.

    Attributes:
        corners: the extreme priors.
        occurs: which inputs the leakage is about.
        least: for LIP also q ≥ least·p·q, with equality e^−ε/2·t = p·q; None for PML.
    """

    epsilon: float
    corners: list[Prior]
    occurs: npt.NDArray[np.bool_]
    least: float | None
    has_size: bool = True

    def rows(self) -> list[ColumnRow]:
        inputs = np.flatnonzero(self.occurs).tolist()
        if not self.epsilon:  # one row for all who occur
            return [ColumnRow(((x, 1.0),), -1.0, 0.0, 0.0) for x in inputs]
        low = math.exp(-self.epsilon / 2)
        most = math.inf if self.least is None else 0.0
        found = [
            ColumnRow(tuple((x, float(p)) for x, p in enumerate(prior.values) if p > 0), -low, 0.0, most, (v,))
            for v, prior in enumerate(self.corners)
        ]
        found += [ColumnRow(((x, 1.0),), -1 / low, -math.inf, 0.0) for x in inputs]
        if self.least is not None:
            found += [ColumnRow(((x, 1.0),), -low * self.least, 0.0, math.inf) for x in inputs]
        return found

    def broken(self, matrix: Floats, by: float) -> list[tuple[int, ColumnRow]]:
        return []

    def cleaned(self, matrix: Floats, noise: float, rare: float) -> Floats:
        k = self.occurs.size
        if not self.epsilon:
            return np.asarray(matrix[np.where(self.occurs, int(np.argmax(self.occurs)), np.arange(k))])
        seldom = np.min([p.values @ matrix for p in self.corners], axis=0) < rare  # it would betray who makes it
        kept = np.where((matrix < RELATIVE * noise) | (seldom & self.occurs[:, None]), 0.0, matrix)
        left = kept.sum(axis=1, keepdims=True)
        return np.asarray(kept / left) if (left > 0).all() else matrix


@dataclass(frozen=True, eq=False)
class MetricCone:
    """Metric privacy: e^{−εd(x,x')}·q_x ≤ q_x' for inputs at a finite distance."""

    epsilon: float
    distances: Floats
    has_size: bool = False

    def rows(self) -> list[ColumnRow]:
        """Each input with its nearest, both ways."""
        order = np.argsort(self.distances, axis=1, kind="stable")
        near = {
            (x, int(other))
            for x in range(len(self.distances))
            for other in order[x, :NEAREST]
            if other != x and math.isfinite(self.distances[x, other])
        }
        return [self._row(pair) for pair in sorted(near | {(other, x) for x, other in near})]

    def _row(self, pair: Pair) -> ColumnRow:
        x, other = pair
        return ColumnRow(((x, -self.shrunk(x, other)), (other, 1.0)), 0.0, 0.0, math.inf, pair)

    def shrunk(self, x: int, other: int) -> float:
        """e^{−εd(x,x')}."""
        return math.exp(-self.epsilon * float(self.distances[x, other]))

    def broken(self, matrix: Floats, by: float) -> list[tuple[int, ColumnRow]]:
        with np.errstate(invalid="ignore"):
            shrink = np.exp(-self.epsilon * self.distances)
        off = shrink[:, :, None] * matrix[:, None, :] - matrix[None, :, :]
        return [(y, self._row((x, other))) for x, other, y in np.argwhere(off > by).tolist()]

    def cleaned(self, matrix: Floats, noise: float, rare: float) -> Floats:
        same = self.distances == 0 if self.epsilon else np.isfinite(self.distances)
        return np.asarray(np.where(matrix < noise, 0.0, matrix)[np.argmax(same, axis=1)])
