"""From weighted sets of symbols to a mechanism in exact weights.

A mixture is Q = Σ_T θ_T S_T on a few rows, and which row each input has: symbols that were merged share one, symbols of
probability zero take any.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Indices
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.structure import LARGEST_DENSE
from extremal.optimize.information.pricing import Counts
from extremal.optimize.rational_matrix import Rationals, below, wanted, with_unit_rows
from extremal.privacy import LDP
from extremal.utility.curve import Floats, InformationCurve

_POLISHED = 1e-15  # row sums closer to 1 than this need no polishing


@dataclass(frozen=True, eq=False)
class SetMixture:
    """Sets with weights.

    Attributes:
        row_of: the row of each input.
        sets: rows × m, whether row x is in set y.
        weights: θ of each set.
        times: integers in proportion to the weights, when they are known and cover every row equally: then the
            mechanism is exact at once.
    """

    row_of: Indices
    sets: npt.NDArray[np.bool_]
    weights: Floats
    times: Counts | None = None

    @property
    def fits(self) -> bool:
        """Whether the matrix may be written out."""
        return self.sets.size <= LARGEST_DENSE

    def value(self, prior: Floats, curve: InformationCurve) -> float:
        """Σ θ φ(P(T))."""
        mass = np.bincount(self.row_of, weights=prior, minlength=self.sets.shape[0])
        return float(self.weights @ curve.value(np.minimum(mass @ self.sets, 1.0)))

    def mechanism(self, privacy: LDP, inputs: Any) -> Mechanism:
        """Exact weights; rows that are off by rounding are mended and the claim is decided."""
        if self.times is not None:
            sets = [np.flatnonzero(column) for column in self.sets.T]
            return Mechanism.from_cover(self.sets.shape[0], sets, privacy, self.times.tolist()).spread(
                self.row_of, inputs
            )
        if wanted(privacy, self.sets.size):
            return Mechanism.from_matrix(self._exact(privacy), privacy).spread(self.row_of, inputs)
        low = math.exp(-privacy.epsilon)
        patterns = np.where(self.sets, 1.0, low)  # S_T/E, finite at large ε
        theta = _polished(patterns, self.weights / low)
        used = theta > 0
        made = Mechanism.from_matrix(patterns[:, used] * theta[used], privacy)
        return made.spread(self.row_of, inputs)

    def _exact(self, privacy: LDP) -> Rationals:
        low = 1 / below(privacy.exponential)  # at or just above e^−ε
        patterns = np.array([[Fraction(1) if inside else low for inside in row] for row in self.sets.tolist()])
        shape = np.where(self.sets, 1.0, float(low))

        def change(missing: Rationals, _: Rationals, unit: Fraction) -> Floats:
            return np.asarray(np.linalg.lstsq(shape, np.array([float(r / unit) for r in missing]), rcond=None)[0])

        return with_unit_rows(patterns, np.array([Fraction(w) for w in self.weights / float(low)]), change)


def _polished(patterns: Floats, theta: Floats) -> Floats:
    """θ ≥ 0 with row sums as close to 1 as floats allow: least-squares corrections as long as they help."""
    for _ in range(3):
        residual = 1 - patterns @ theta
        if np.abs(residual).max() <= _POLISHED or theta.size > 2000:
            break
        better = np.maximum(theta + np.linalg.lstsq(patterns, residual, rcond=None)[0], 0.0)
        if np.abs(1 - patterns @ better).max() >= np.abs(residual).max():
            break
        theta = better
    return theta


def from_counts(columns: Counts, weights: Floats, group_of: Indices, count: Counts) -> SetMixture:
    """A mixture of sets given by how many symbols of each group they hold: each becomes windows that slide through its
    groups.

    At time u ∈ [0,1) a set holds the `j` symbols of a group of n that follow position ⌊un⌋, cyclically. It changes at
    multiples of 1/n, and over the unit of time every symbol of the group is in it for a time j/n: all are treated
    alike, with at most Σn sets.
    """
    if (count == 1).all():
        return SetMixture(group_of, columns.T.astype(bool), weights)
    rank = np.zeros(group_of.size, dtype=np.int64)
    for g in range(count.size):
        rank[group_of == g] = np.arange(count[g])
    sets, theta = [], []
    for column, weight in zip(columns, weights.tolist(), strict=True):
        moving = {int(n) for n, j in zip(count, column, strict=True) if 0 < j < n}
        times = sorted({Fraction(i, n) for n in moving for i in range(n)} | {Fraction(0)})
        for begin, end in zip(times, [*times[1:], Fraction(1)], strict=True):
            first = np.array([int(begin * int(n)) for n in count])
            sets.append((rank - first[group_of]) % count[group_of] < column[group_of])
            theta.append(weight * float(end - begin))
    return SetMixture(np.arange(group_of.size), np.array(sets).T, np.array(theta))
