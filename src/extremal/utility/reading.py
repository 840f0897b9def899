"""Columns in the form that utilities compute with: a constant plus what exceeds it.

At small ε every column is nearly constant and all that matters is how it deviates. So a column q is kept as base =
min_x q(x) and excess = q − base, the excess formed from integers before any float rounds it. Two forms: dense (one
excess for each row and output) and by levels (a few excesses, each on a set of rows for each output), so that
randomised response on 10,000 symbols stays two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import ANY_LABELS, matrix_in_order
from extremal.exact.weights import Floats, Indices
from extremal.mechanism import Mechanism

ROW_TOLERANCE = 1e-6  # like Mechanism.from_matrix: what a solver returns is accepted


SUMMED_UP_TO = 4096  # floats that are added up without any rounding


def total_of(weights: Floats) -> float:
    """The sum: of few correctly rounded, of millions in extended precision."""
    return math.fsum(weights) if weights.size <= SUMMED_UP_TO else float(weights.sum(dtype=np.longdouble))


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a mechanism.

    Attributes:
        k: number of inputs.
        row_of: row class of each input, or None.
        base: smallest entry of each column.
        excess: rows×m array of q − base (dense), or one row for each level above the base.
        masses: by levels: row weights ↦ total weight on the set of each level and column; None when dense.
    """

    k: int
    row_of: Indices | None
    base: Floats
    excess: Floats
    masses: Callable[[Floats], Floats] | None = None

    @classmethod
    def dense(cls, columns: Floats, k: int | None = None, row_of: Indices | None = None) -> Reading:
        base = columns.min(axis=0)
        return cls(columns.shape[0] if k is None else k, row_of, base, columns - base)

    def by_row(self, weights: Floats) -> Floats:
        """Input weights added up within each row class."""
        if self.row_of is None:
            return weights
        return np.asarray(
            np.bincount(self.row_of, weights=weights, minlength=int(self.row_of.max()) + 1), dtype=np.float64
        )

    def project(self, weights: Floats) -> Floats:
        """Σ_x w(x)·(q(x) − base) for each column."""
        rows = self.by_row(weights)
        return np.asarray(rows @ self.excess if self.masses is None else (self.masses(rows) * self.excess).sum(axis=0))

    def total(self, weights: Floats) -> Floats:
        """Σ_x w(x)·q(x) for each column."""
        return np.asarray(self.base * total_of(weights) + self.project(weights))

    def spread(self, weights: Floats) -> tuple[Floats, Floats]:
        """(weight, excess) of the groups within each column, both groups×m."""
        rows = self.by_row(weights)
        if self.masses is None:
            return np.broadcast_to(rows[:, None], self.excess.shape), self.excess
        inside = self.masses(rows)
        return np.vstack([total_of(rows) - inside.sum(axis=0), inside]), np.vstack(
            [np.zeros_like(self.base), self.excess]
        )


def read_mechanism(mechanism: Mechanism) -> Reading:
    """From integer weights: the excess is exact before it is rounded once."""
    levels = mechanism.structure.levels()
    return Reading(mechanism.k, mechanism.row_of, levels.base, levels.excess, levels.masses)


def read_array(matrix: Any) -> Reading:
    """From a plain row-stochastic array."""
    given = matrix_in_order(matrix, "mechanism", None, ANY_LABELS)
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(
            "a utility takes a mechanism or a row-stochastic array", parameter="mechanism", value=matrix
        ) from None
    if array.ndim != 2 or array.shape[0] < 2 or not np.isfinite(array).all() or (array < -ROW_TOLERANCE).any():
        raise InvalidParameter(
            "the array must be finite, non-negative, one row for each input", parameter="shape", value=array.shape
        )
    off = np.abs(array.sum(axis=1) - 1)
    if off.max() > ROW_TOLERANCE:
        x = int(off.argmax())
        raise InvalidParameter(
            f"each row must sum to 1 within {ROW_TOLERANCE:g}", parameter=f"sum(row {x})", value=float(array[x].sum())
        )
    return Reading.dense(np.maximum(array, 0))
