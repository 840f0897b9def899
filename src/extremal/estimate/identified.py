"""Which combinations of the frequencies do the reports determine?

Reports follow Qᵀp, so Σ a_x p_x is determined exactly when a is a combination of the columns of Q. The reduced row
echelon form of Qᵀ is the clearest basis of those: an input that is determined by itself is a row on its own, and inputs
that only ever occur in a sum appear as that sum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PIVOT = 1e-9
"""Relative size below which a remainder counts as zero: eliminating r rows of entries rounded to 1e-16 leaves about
r²·1e-16."""
_WHOLE = 1e-7  # coefficients this near to a whole number are one; the pivots above bound their error


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
