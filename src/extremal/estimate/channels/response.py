"""Randomised response: two numbers say everything, whatever the number of inputs."""

from __future__ import annotations

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import EndsByMoments, Flags, Inverse, ListedReports, dense_moment, two_valued
from extremal.exact.weights import WEIGHT_BITS, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import RandomizedResponse
from extremal.mechanism.structures.structure import refuse_large


class ResponseChannel(ListedReports):
    """Randomised response: Q = low + c·I with c = high − low, so Qᵀp = f means p = (f − low)/c. Two numbers whatever
    r."""

    def __init__(self, mechanism: Mechanism) -> None:
        structure = mechanism.structure
        if not isinstance(structure, RandomizedResponse):
            raise InvalidParameter(
                "the mechanism must be a randomised response", parameter="kind", value=structure.kind
            )
        self.r = structure.r
        super().__init__(mechanism)
        self.low, self.step = (
            float(np.ldexp(structure.low, -WEIGHT_BITS)),
            float(np.ldexp(structure.high - structure.low, -WEIGHT_BITS)),
        )

    def expected(self, p: Floats) -> Floats:
        return np.asarray(self.low * p.sum(axis=0) + self.step * p)

    def back(self, v: Floats) -> Floats:
        return self.expected(v)  # the matrix is symmetric

    def combinations(self) -> Floats | None:
        return None

    def inverse(self, prior: Floats) -> Inverse:
        return ResponseInverse(self.low, self.step, self.r)

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        """p_y = (f_y/λ − low/c)⁺, the water level λ found by sorting: exact, no iteration."""
        f, offset = statistic, self.low / self.step
        ordered = np.sort(f)[::-1]
        scale = (1 + offset * np.arange(1, self.r + 1)) / np.cumsum(ordered)
        kept = int(np.flatnonzero(ordered * scale > offset)[-1])
        p = np.maximum(f * scale[kept] - offset, 0.0)
        p /= p.sum()
        m = self.expected(p)
        ratio = np.divide(f, m, out=np.zeros_like(f), where=m > 0)
        return p, max(0.0, float(self.low * ratio.sum() + self.step * ratio.max()) - 1)

    def misfit(self, statistic: Floats, p: Floats, n: float) -> tuple[float, int]:
        return 0.0, 0


class ResponseInverse(EndsByMoments):
    """L = (I − low·11ᵀ)/c."""

    def __init__(self, low: float, step: float, r: int) -> None:
        self.low, self.step, self.r = low, step, r

    def apply(self, statistic: Floats) -> Floats:
        return np.asarray((statistic - self.low * statistic.sum(axis=0)) / self.step)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        w = self.low * spread.sum() + self.step * spread
        # (1{Y=x} − low)/c has second moment (w(1 − low)² + (1 − w)low²)/c² and mean `spread`.
        second = (w * (1 - 2 * self.low) + self.low**2) / self.step**2
        return np.asarray(second - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        if rows is None:
            refuse_large(centre.size, centre.size, "the covariance")
            w = self.low * spread.sum() + self.step * spread
            second = (np.diag(w) + self.low * (self.low - w[:, None] - w)) / self.step**2
            return np.asarray(second + np.outer(centre, centre) - np.outer(spread, centre) - np.outer(centre, spread))
        return dense_moment(self._rows(rows), rows, self.low * spread.sum() + self.step * spread, centre, spread)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        if rows is None:
            return np.array([-self.low / self.step]), np.array([(1 - self.low) / self.step])
        influence = self._rows(rows)
        return influence.min(axis=1), influence.max(axis=1)

    def binary(self, rows: Floats | None) -> Flags:
        return np.ones(self.r, dtype=np.bool_) if rows is None else two_valued(rows)

    def moments(self, rows: Floats | None) -> Floats:
        if rows is None:
            refuse_large(self.r, self.r, "the moments")
            rows = np.eye(self.r)
        squares = self._rows(rows) ** 2
        return np.asarray(self.low * squares.sum(axis=1, keepdims=True) + self.step * squares)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is None:
            mean = self.apply(statistic)
            second = (statistic * (1 - 2 * self.low) + self.low**2) / self.step**2
            return np.asarray(second - 2 * mean * centre + centre**2)
        influence = self._rows(rows)
        return np.asarray((influence - (rows @ centre)[:, None]) ** 2 @ statistic)

    def influence(self, rows: Floats | None) -> Floats | None:
        return None if rows is None else self._rows(rows)

    def _rows(self, rows: Floats) -> Floats:
        return np.asarray((rows - self.low * rows.sum(axis=1, keepdims=True)) / self.step)
