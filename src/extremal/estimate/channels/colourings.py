"""Mixtures of colourings whose matrix is too large: the same inverse, in blocks of reports.

A report of colouring a is low_a + step_a·1_T, T its class, so that Q is sparse but for a constant in each column. With
D = diag(Qᵀπ) the generalised least squares inverse is L = J⁻¹QD⁻¹, J = QD⁻¹Qᵀ; AL for statistics A is formed for some
thousand reports at a time, and never as a whole. See `extremal.estimate.channels.dense` for why L is what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import (
    WORST_CONDITION,
    Channel,
    EndsByMoments,
    Flags,
    Inverse,
    ListedReports,
    WithoutLikelihood,
    dense_moment,
    two_valued,
)
from extremal.estimate.channels.dense import DenseChannel, reduced_basis
from extremal.exact.weights import Floats, as_probabilities
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import Colourings
from extremal.mechanism.structures.structure import LARGEST_DENSE

AT_A_TIME = 4096  # reports in a block


def colourings_channel(mechanism: Mechanism) -> Channel:
    """A dense matrix while it fits."""
    dense = mechanism.row_classes * mechanism.m <= LARGEST_DENSE
    return DenseChannel(mechanism) if dense else ColouringsChannel(mechanism)


class ColouringsChannel(WithoutLikelihood, ListedReports):
    """Q as a constant for each report and a sparse matrix."""

    def __init__(self, mechanism: Mechanism) -> None:
        from scipy.sparse import csc_matrix

        structure = mechanism.structure
        if not isinstance(structure, Colourings):
            raise InvalidParameter("the mechanism must mix colourings", parameter="kind", value=structure.kind)
        super().__init__(mechanism)
        self.sizes = np.ones(structure.r) if mechanism.row_of is None else np.bincount(mechanism.row_of)
        low, high = structure.report_weights
        self.low: Floats = as_probabilities(low)
        step, where = as_probabilities(high - low), structure.favoured(np.arange(structure.r)).ravel()
        rows = np.tile(np.arange(structure.r), len(structure.colours))
        self.above: Any = csc_matrix((step[where], (rows, where)), shape=(structure.r, structure.m))

    @property
    def r(self) -> int:
        return int(self.sizes.size)

    def expected(self, p: Floats) -> Floats:
        return np.asarray(np.multiply.outer(self.low, p.sum(axis=0)) + self.above.T @ p)

    def back(self, v: Floats) -> Floats:
        return np.asarray(self.low @ v + self.above @ v)

    @property
    def _even(self) -> Floats:
        return np.asarray(self.sizes / self.sizes.sum())

    def information(self, prior: Floats) -> tuple[Floats, Floats]:
        """J, and the probabilities of the reports at the prior: all positive, since each has a positive low weight."""
        w = self.expected(prior)
        scaled = self.above.multiply(1 / w).tocsc()
        line = np.asarray(scaled @ self.low)
        pairs = np.asarray((scaled @ self.above.T).todense())
        return pairs + line[:, None] + line + float(self.low @ (self.low / w)), w

    @cached_property
    def _condition(self) -> float:
        """Of J at equally frequent inputs, scaled to a unit diagonal."""
        j, _ = self.information(self._even)
        size = np.sqrt(np.diagonal(j))
        values = np.linalg.eigvalsh(j / np.outer(size, size))
        return float(values[-1] / values[0]) if values[0] > 0 else np.inf

    def combinations(self) -> Floats | None:
        if self._condition <= WORST_CONDITION:
            return None
        return reduced_basis(self.information(self._even)[0])  # the range of J is that of Q

    def inverse(self, prior: Floats) -> Inverse:
        j, w = self.information(prior)
        solved = (
            np.linalg.inv(j) if self._condition <= WORST_CONDITION else np.linalg.pinv(j, rcond=1 / WORST_CONDITION)
        )
        return ColouringsInverse(self, np.asarray(solved), w)


class ColouringsInverse(EndsByMoments):
    """J⁻¹QD⁻¹, by blocks of reports."""

    def __init__(self, channel: ColouringsChannel, inverse: Floats, w: Floats) -> None:
        self.channel, self.inverse, self.w = channel, inverse, w

    def apply(self, statistic: Floats) -> Floats:
        scaled = (statistic.T / self.w).T
        return np.asarray(self.inverse @ (self.channel.above @ scaled + self.channel.low @ scaled))

    def _blocks(self, rows: Floats | None) -> Iterator[tuple[slice, Floats]]:
        """AL of some reports."""
        left = self.inverse if rows is None else rows @ self.inverse
        ones = left.sum(axis=1)
        for start in range(0, self.w.size, AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            above = np.asarray((self.channel.above[:, part].T @ left.T).T)
            yield part, (above + np.outer(ones, self.channel.low[part])) / self.w[part]

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        w = self.channel.expected(spread)
        squares = sum((block**2 @ w[part] for part, block in self._blocks(None)), np.zeros(self.channel.r))
        return np.asarray(squares - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        w, count = self.channel.expected(spread), self.channel.r if rows is None else rows.shape[0]
        none = np.zeros(self.channel.r)
        found = np.zeros((count, count))
        for part, block in self._blocks(rows):
            found += dense_moment(block, rows, w[part], none, none)
        a, b = (centre, spread) if rows is None else (rows @ centre, rows @ spread)
        return np.asarray(found - np.outer(a, b) - np.outer(b, a) + np.outer(a, a))

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        ends = [(block.min(axis=1), block.max(axis=1)) for _, block in self._blocks(rows)]
        lows, highs = (np.stack(part) for part in zip(*ends, strict=True))
        return lows.min(axis=0), highs.max(axis=0)

    def binary(self, rows: Floats | None) -> Flags:
        low, high = self.extremes(rows)
        ends = np.column_stack([low, high])
        found = np.ones(low.size, dtype=np.bool_)
        for _, block in self._blocks(rows):
            found &= two_valued(np.concatenate([ends, block], axis=1))
        return found

    def moments(self, rows: Floats | None) -> Floats:
        count = self.channel.r if rows is None else rows.shape[0]
        found = np.zeros((count, self.channel.r))
        for part, block in self._blocks(rows):
            squares = block**2
            found += (self.channel.above[:, part] @ squares.T).T + (squares @ self.channel.low[part])[:, None]
        return found

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        middle = centre if rows is None else rows @ centre
        found = np.zeros(middle.size)
        for part, block in self._blocks(rows):
            found += (block - middle[:, None]) ** 2 @ statistic[part]
        return found
