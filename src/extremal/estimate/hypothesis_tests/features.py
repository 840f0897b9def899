"""What reports tell about the distribution of the inputs, as uncorrelated scores of a report.

With m = Qᵀp the distribution of reports, moving p in a direction h with Σh = 0 changes the log-likelihood of a report y
by h·Q(y|·)/m_y. Those functions of y span the *score space*; its dimension is rank(Q) − 1, the number of things about p
that the reports determine at all. `scores` is an orthonormal basis: E φ_i(Y) = 0 and E φ_i(Y)φ_j(Y) = δ_ij under m. Sums
of φ(Y) are the efficient statistics at p (Rao 1948), and for as many outputs as inputs they are all functions of y, so
that the tests built on them are Pearson's.
"""

from __future__ import annotations

import numpy as np

from extremal.exact.weights import Floats

RANK_TOLERANCE = 1e-10
"""Relative to the largest singular value: below, a direction counts as not identified."""


def scores(matrix: Floats, marginal: Floats) -> Floats:
    """φ as an array (dimension × outputs); rows of an output of probability 0 are 0.

    Args:
        matrix: Q, one row for each input.
        marginal: the distribution of the reports, QᵀP for some P.

    >>> q = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> scores(q, np.array([0.5, 0.5])).shape
    (1, 2)
    """
    seen = marginal > 0
    root = np.sqrt(marginal[seen])
    rows = matrix[:, seen] / root  # Q D^{-1/2}: functions of y in the metric of m
    rows = rows - (rows @ root)[:, None] * root[None, :]  # mean zero
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    kept = basis[sizes > RANK_TOLERANCE * max(float(sizes[0]), RANK_TOLERANCE)]
    found = np.zeros((kept.shape[0], marginal.size))
    found[:, seen] = kept / root
    return found
