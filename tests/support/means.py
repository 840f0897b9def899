"""A mean by the pseudo-inverse: a second opinion on what `ex.estimate_workload` does with `ex.Mean`.

A decoder t gives each report a number with Σ_y Q(y|x)·t_y = v_x for every input, so that the mean of t over the reports
is unbiased for the mean of v. Of all decoders the one of least variance for a prior solves a weighted least squares
problem; single frequencies need not be identified (one bit is enough for a mean).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import extremal as ex

Floats = npt.NDArray[np.float64]

EXACT = 1e-8  # of the range of the values, within which a decoder must meet them
WORST_CONDITION = 1e12  # of a matrix that counts as invertible


def mean_decoder(mechanism: ex.Mechanism, values: Any) -> Floats:
    """A number for each report, unbiased for the value of the input, of least variance when inputs are equally
    likely."""
    q, v = mechanism.matrix, np.asarray(values, dtype=np.float64)
    root = np.sqrt(q.mean(axis=0))
    t = np.asarray(np.linalg.pinv(q / root, rcond=1 / WORST_CONDITION) @ v / root)
    assert np.abs(q @ t - v).max() <= EXACT * max(1.0, float(np.ptp(v))), "the mean is not identified"
    return t


def mean_variance(mechanism: ex.Mechanism, values: Any, decoder: Any = None) -> float:
    """n times the mean squared error of the mean when inputs are equally likely, by the best decoder if none is
    given."""
    t = mean_decoder(mechanism, values) if decoder is None else np.asarray(decoder, dtype=np.float64)
    return float(mechanism.matrix.mean(axis=0) @ t**2 - np.mean(values) ** 2)
