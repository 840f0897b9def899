"""Any mechanism as a matrix: least squares, likelihood, rank.

With D = diag(Qᵀπ) for a prior π, the generalised least squares inverse is L = (Q D⁻¹ Qᵀ)⁻¹ Q D⁻¹, which is (Qᵀ)⁻¹ when
Q is square. LQᵀ = I whatever π is, so the estimate is unbiased; at the true p it is efficient, Cov = ((Q D⁻¹ Qᵀ)⁻¹ −
ppᵀ)/n.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from extremal.estimate.channel import WORST_CONDITION, Floats, Inverse, dense_moment
from extremal.estimate.identified import reduced_basis
from extremal.estimate.likelihood import maximise
from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels


class DenseChannel:
    """The r×m matrix of the different rows."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.q: Floats = np.ldexp(mechanism.kernel.rows().astype(np.float64), -WEIGHT_BITS)
        self.labels: Labels = mechanism.output_labels
        self.sizes = np.ones(self.r) if mechanism.row_of is None else np.bincount(mechanism.row_of, minlength=self.r)

    @property
    def r(self) -> int:
        return int(self.q.shape[0])

    def encode(self, label: Any) -> Hashable:
        return self.labels.code(label, "reports")

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        return np.asarray(
            np.bincount(np.asarray(keys, dtype=np.intp), weights=shares, minlength=self.q.shape[1]), dtype=np.float64
        )

    def uniform(self) -> Floats:
        return np.full(self.q.shape[1], 1 / self.q.shape[1])

    def expected(self, p: Floats) -> Floats:
        return np.asarray(p @ self.q)

    def smallest_share(self, p: Floats) -> float:
        return float(self.expected(p).min())

    def combinations(self) -> Floats | None:
        return None if self._plain[1] else reduced_basis(self.q.T)

    @cached_property
    def _plain(self) -> tuple[Floats, bool]:
        """L weighted for equally frequent inputs, and whether it is a true inverse."""
        return _left_inverse(self.q, self.sizes / self.sizes.sum() @ self.q)

    def inverse(self, prior: Floats) -> Inverse:
        if self._plain[1] and self.q.shape[0] == self.q.shape[1]:
            return DenseInverse(self._plain[0], self.q)  # the weights do not matter
        if np.array_equal(prior, self.sizes / self.sizes.sum()):
            return DenseInverse(self._plain[0], self.q)
        w = prior @ self.q
        if (w <= 0).any():  # reports that the prior rules out get a weight as if one input in a million were uniform
            w = 0.999999 * w + 1e-6 * (self.sizes / self.sizes.sum() @ self.q)
        return DenseInverse(_left_inverse(self.q, w)[0], self.q)

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        return maximise(self.q, statistic, self._plain[0] @ statistic, tolerance)

    def misfit(self, statistic: Floats, p: Floats) -> tuple[float, int]:
        rows, columns = self.q.shape
        basis = self.combinations()
        degrees = columns - (rows if basis is None else basis.shape[0])
        if degrees == 0:
            return 0.0, 0
        w = self.expected(p)
        seen = w > 0
        fitted = self.expected(self.inverse(p).apply(statistic))
        return float(np.sum((statistic - fitted)[seen] ** 2 / w[seen])), degrees


class DenseInverse:
    """L as an r×m matrix."""

    def __init__(self, matrix: Floats, q: Floats) -> None:
        self.matrix, self.q = matrix, q

    def apply(self, statistic: Floats) -> Floats:
        return np.asarray(self.matrix @ statistic)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        w = spread @ self.q
        return np.asarray(self.matrix**2 @ w - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        influence = self.matrix if rows is None else rows @ self.matrix
        return dense_moment(influence, rows, spread @ self.q, centre, spread)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        influence = self.matrix if rows is None else rows @ self.matrix
        return influence.min(axis=1), influence.max(axis=1)


def _left_inverse(q: Floats, w: Floats) -> tuple[Floats, bool]:
    """L with LQᵀ = I and least variance at report probabilities w; the least-norm solution if Q has not full row
    rank."""
    rows, columns = q.shape
    root = np.sqrt(w)
    a = (q / root).T
    if rows <= columns:
        try:
            if rows == columns:
                inverse = np.linalg.inv(q.T)
                if np.linalg.norm(q.T, 1) * np.linalg.norm(inverse, 1) <= WORST_CONDITION:
                    return np.asarray(inverse), True
            else:
                orthogonal, triangle = np.linalg.qr(a)
                small = np.linalg.inv(triangle)
                if np.linalg.norm(triangle, 1) * np.linalg.norm(small, 1) <= WORST_CONDITION:
                    return np.asarray((small @ orthogonal.T) / root), True
        except np.linalg.LinAlgError:
            pass
    return np.asarray(np.linalg.pinv(a, rcond=1 / WORST_CONDITION) / root), False
