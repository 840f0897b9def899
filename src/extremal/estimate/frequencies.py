"""Frequencies of the true values from randomised reports, by inverting the mechanism.

With f the observed frequencies of the reports, E f = Qᵀp, so p̂ = (Qᵀ)⁻¹f is unbiased when Q is square and invertible; its
covariance is (Qᵀ)⁻¹ (diag f − ffᵀ)/n Q⁻¹.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, NotIdentified
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FrequencyEstimate:
    """Estimated frequencies with their uncertainty.

    Attributes:
        inputs: the labels, in order.
        estimate: unbiased estimates; they may fall outside [0, 1].
        covariance: of the estimates.
        n: number of reports.
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    covariance: Floats
    n: int

    @property
    def standard_error(self) -> Floats:
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    def interval(self, level: float = 0.95) -> Floats:
        """k×2: normal confidence limits at `level`, clipped to [0, 1]."""
        z = NormalDist().inv_cdf((1 + level) / 2)
        centre = np.array([self.estimate - z * self.standard_error, self.estimate + z * self.standard_error])
        return np.asarray(np.clip(centre, 0, 1).T)


def estimate_frequencies(reports: Iterable[Any], mechanism: Mechanism) -> FrequencyEstimate:
    """Unbiased frequencies of the inputs from reports of a square, invertible mechanism.

    >>> import extremal as ex
    >>> ex.estimate_frequencies(["a"] * 70 + ["b"] * 30, ex.randomized_response(2, 5, inputs=["a", "b"])).estimate.round(3).tolist()
    [0.703, 0.297]
    """
    counts = np.bincount([mechanism.output_labels.code(r, "report") for r in reports], minlength=mechanism.m)
    n = int(counts.sum())
    if n == 0:
        raise InvalidParameter("there must be at least one report", parameter="reports", value=[])
    if mechanism.m != mechanism.k or np.linalg.matrix_rank(mechanism.matrix) < mechanism.k:
        raise NotIdentified("the mechanism must be square and invertible for the reports to determine the frequencies")
    observed = counts / n
    inverse = np.linalg.inv(mechanism.matrix.T)
    spread = (np.diag(observed) - np.outer(observed, observed)) / n
    return FrequencyEstimate(mechanism.inputs, inverse @ observed, inverse @ spread @ inverse.T, n)
