"""Efficient scores: what each report says about the directions in which the inputs' distribution can move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import NotIdentified
from extremal.estimate.channels import channel_of
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

RANK_TOLERANCE = 1e-9
"""Relative to the largest singular value: below, a direction counts as not identified."""
NOISE = 1e-14
"""Relative to Q before its mean is taken out: what rounding leaves of a row that does not depend on the input."""


@dataclass(frozen=True, eq=False)
class Scores:
    """φ at one distribution of the reports.

    Attributes:
        dimension: of the score space.
        basis: dimension × outputs; None for all functions of mean zero.
        inverse_root: m_y^{-1/2}, and 0 for an output of probability 0.
    """

    dimension: int
    basis: Floats | None
    inverse_root: Floats

    def of(self, excess: Floats, axis: int) -> Floats:
        """Σφ along an axis of counts minus their expectation; only sums of squares over that axis have a meaning."""
        moved = np.moveaxis(excess, axis, -1)
        return np.asarray(moved * self.inverse_root if self.basis is None else moved @ self.basis.T)

    def at(self, outputs: Any) -> Floats:
        """φ of each of these outputs, up to a constant: a row for each."""
        if self.basis is not None:
            return np.asarray(self.basis[:, outputs].T)
        found = np.zeros((len(outputs), self.inverse_root.size))
        found[np.arange(len(outputs)), outputs] = self.inverse_root[outputs]
        return found

    @classmethod
    def of_public(cls, marginal: Floats) -> Scores:
        """Those of a value that is seen itself."""
        inverse = np.divide(1.0, np.sqrt(marginal), out=np.zeros_like(marginal), where=marginal > 0)
        return cls(int(np.count_nonzero(marginal)) - 1, None, inverse)

    @classmethod
    def of_mechanism(cls, mechanism: Mechanism, marginal: Floats) -> Scores:
        """Those of a report.

        Raises:
            NotIdentified: the reports do not depend on the inputs.
        """
        whole = cls.of_public(marginal)
        if mechanism.k == mechanism.m == mechanism.row_classes and channel_of(mechanism).combinations() is None:
            return whole
        basis = score_basis(mechanism.matrix, marginal)
        if not basis.shape[0]:
            raise NotIdentified(
                "the reports must depend on the inputs: every input of this mechanism makes the same reports",
                parameter="k",
                value=mechanism.k,
            )
        return whole if basis.shape[0] == whole.dimension else cls(basis.shape[0], basis, whole.inverse_root)


def score_basis(matrix: Floats, marginal: Floats) -> Floats:
    """φ as an array (dimension × outputs); 0 at an output of probability 0.

    Args:
        matrix: Q, one row for each input.
        marginal: the distribution of the reports.

    >>> q = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> score_basis(q, np.array([0.5, 0.5])).shape
    (1, 2)
    """
    seen = marginal > 0
    root = np.sqrt(marginal[seen])
    size = float(np.linalg.norm(matrix[:, seen] / root))  # Q D^{-1/2}: functions of y in the metric of m
    # Directions h with Σh = 0: differences of rows. Each sums to 0 over y, so its score has mean zero whatever m is.
    rows = (matrix - matrix.mean(axis=0))[:, seen] / root
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    kept = basis[sizes > max(RANK_TOLERANCE * float(sizes[0]), NOISE * size)]
    found = np.zeros((kept.shape[0], marginal.size))
    found[:, seen] = kept / root
    return found
