"""Any mechanism as a matrix: least squares, likelihood, rank.

With D = diag(Qᵀπ) for a prior π, the generalised least squares inverse is L = (Q D⁻¹ Qᵀ)⁻¹ Q D⁻¹, which is (Qᵀ)⁻¹ when
Q is square. LQᵀ = I whatever π is, so the estimate is unbiased; at the true p it is efficient, Cov = ((Q D⁻¹ Qᵀ)⁻¹ −
ppᵀ)/n.

Which combinations of the frequencies do the reports determine? Reports follow Qᵀp, so Σ a_x p_x is determined exactly
when a is a combination of the columns of Q. The reduced row echelon form of Qᵀ is the clearest basis of those: an input
that is determined by itself is a row on its own, and inputs that only ever occur in a sum appear as that sum.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from extremal.estimate.channels.channel import (
    WORST_CONDITION,
    EndsByMoments,
    Flags,
    Inverse,
    ListedReports,
    dense_moment,
    two_valued,
)
from extremal.estimate.methods.likelihood import maximise
from extremal.exact.weights import WEIGHT_BITS, Floats
from extremal.mechanism import Mechanism

PIVOT = 1e-9
"""Relative size below which a remainder counts as zero: eliminating r rows of entries rounded to 1e-16 leaves about
r²·1e-16."""
FEWEST_EXPECTED = 10.0
"""Reports below which an output is put together with others before X² is taken."""
_WHOLE = 1e-7  # coefficients this near to a whole number are one; the pivots above bound their error


class DenseChannel(ListedReports):
    """The r×m matrix of the different rows."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.q: Floats = np.ldexp(mechanism.structure.rows().astype(np.float64), -WEIGHT_BITS)
        super().__init__(mechanism)
        self.sizes = np.ones(self.r) if mechanism.row_of is None else np.bincount(mechanism.row_of, minlength=self.r)

    @property
    def r(self) -> int:
        return int(self.q.shape[0])

    def expected(self, p: Floats) -> Floats:
        return np.asarray(self.q.T @ p)

    def back(self, v: Floats) -> Floats:
        return np.asarray(self.q @ v)

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

    def misfit(self, statistic: Floats, p: Floats, n: float) -> tuple[float, int]:
        groups = pooled(self.q, self.expected(p) * n)
        q = self.q @ groups.T
        f = groups @ statistic
        w = p @ q
        keep = w > 0
        q, f, w = q[:, keep], f[keep], w[keep]
        if q.shape[1] <= 1:
            return 0.0, 0
        root = np.sqrt(w)
        left, sizes, _ = np.linalg.svd((q / root).T, full_matrices=False)
        rank = int(np.count_nonzero(sizes > sizes[0] / WORST_CONDITION))
        degrees = q.shape[1] - rank
        if degrees <= 0:
            return 0.0, 0
        scaled = f / root
        rest = scaled - left[:, :rank] @ (left[:, :rank].T @ scaled)
        return float(rest @ rest), degrees


def pooled(q: Floats, expected: Floats) -> Floats:
    """A 0/1 matrix that adds up outputs until each sum expects at least `FEWEST_EXPECTED` reports.

    Outputs that expect enough stay alone. The others are put together with those that the same input makes likeliest,
    so that as little as possible of what they tell is lost.
    """
    rare = np.flatnonzero(expected < FEWEST_EXPECTED)
    common = np.flatnonzero(expected >= FEWEST_EXPECTED)
    group = np.zeros(expected.size, dtype=np.intp)
    group[common] = np.arange(common.size)
    number, held = common.size, 0.0
    for y in rare[np.argsort(np.argmax(q[:, rare], axis=0), kind="stable")].tolist():
        group[y] = number
        held += float(expected[y])
        if held >= FEWEST_EXPECTED:
            number, held = number + 1, 0.0
    left = group == number
    if number == 0:
        number = 1
    elif held > 0:  # too few are left: with the smallest group
        group[left] = np.argmin(np.bincount(group, weights=expected, minlength=number + 1)[:number])
    else:  # none, or outputs that are never expected
        group[left] = number - 1
    return np.asarray(np.arange(number)[:, None] == group, dtype=np.float64)


class DenseInverse(EndsByMoments):
    """L as an r×m matrix."""

    def __init__(self, matrix: Floats, q: Floats) -> None:
        self.matrix, self.q = matrix, q

    def apply(self, statistic: Floats) -> Floats:
        return np.asarray(self.matrix @ statistic)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        w = spread @ self.q
        return np.asarray(self.matrix**2 @ w - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        return dense_moment(self._rows(rows), rows, spread @ self.q, centre, spread)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        influence = self._rows(rows)
        return influence.min(axis=1), influence.max(axis=1)

    def binary(self, rows: Floats | None) -> Flags:
        return two_valued(self._rows(rows))

    def moments(self, rows: Floats | None) -> Floats:
        return np.asarray(self._rows(rows) ** 2 @ self.q.T)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        middle = centre if rows is None else rows @ centre
        return np.asarray((self._rows(rows) - middle[:, None]) ** 2 @ statistic)

    def influence(self, rows: Floats | None) -> Floats | None:
        return self._rows(rows)

    def _rows(self, rows: Floats | None) -> Floats:
        return self.matrix if rows is None else np.asarray(rows @ self.matrix)


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


def reduced_basis(matrix: Floats) -> Floats:
    """The non-zero rows of the reduced row echelon form (Gauss–Jordan with row pivoting).

    >>> reduced_basis(np.array([[1.0, 2, 2], [1, 3, 3]])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    work = matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), np.finfo(float).tiny)
    row = 0
    for column in range(work.shape[1]):
        if row == work.shape[0]:
            break
        best = row + int(np.argmax(np.abs(work[row:, column])))
        if abs(work[best, column]) <= PIVOT:
            work[row:, column] = 0.0
            continue
        work[[row, best]] = work[[best, row]]
        work[row] /= work[row, column]
        others = np.flatnonzero(work[:, column])
        others = others[others != row]
        work[others] -= np.outer(work[others, column], work[row])
        row += 1
    basis = work[:row]
    whole = np.rint(basis)
    return np.asarray(np.where(np.abs(basis - whole) <= _WHOLE, whole, basis)) + 0.0  # + 0.0 turns −0 into 0
