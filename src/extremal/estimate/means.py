"""The mean of a numeric answer from any mechanism that identifies it, with its standard error.

A decoder t gives each report a number with Σ_y Q(y|x)·t_y = v_x for every input, so that the mean of t over the reports
is unbiased for the mean of v. Of all decoders the one of least variance for a prior solves a weighted least squares
problem; single frequencies need not be identified (one bit is enough for a mean).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.channels.channel import WORST_CONDITION
from extremal.estimate.reports.tally import OutputPositions, Reports
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

_EXACT = 1e-8  # of the range of the values, within which a decoder must meet them


@dataclass(frozen=True)
class MeanEstimate:
    """An unbiased estimate of a mean.

    Attributes:
        estimate, standard_error: of the mean of the values.
        n: how many reports.
    """

    estimate: float
    standard_error: float
    n: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """A normal interval."""
        from scipy.special import ndtri

        if not 0 < level < 1:
            raise InvalidParameter("level must lie strictly between 0 and 1", parameter="level", value=level)
        half = float(-ndtri((1 - level) / 2)) * self.standard_error
        return self.estimate - half, self.estimate + half


def mean_decoder(mechanism: Mechanism, values: Any, prior: Any = None) -> Floats:
    """A number for each report, unbiased for the value of the input, of least variance when inputs follow `prior`.

    Raises:
        NotIdentified: no such numbers exist.

    >>> import extremal as ex
    >>> mean_decoder(ex.stochastic_rounding(3, 1), [-1, 0, 1]).round(4).tolist()
    [-2.164, 2.164]
    """
    v = _values(mechanism, values)
    q = mechanism.matrix
    p = np.full(mechanism.k, 1 / mechanism.k) if prior is None else as_prior(prior, k=mechanism.k).values
    root = np.sqrt(p @ q + 1e-9 * q.mean(axis=0))
    t = np.asarray(np.linalg.pinv(q / root, rcond=1 / WORST_CONDITION) @ v / root)
    if np.abs(q @ t - v).max() > _EXACT * max(1.0, float(np.ptp(v))):
        raise NotIdentified("the reports must identify the mean of the values", parameter="mechanism")
    return t


def mean_variance(mechanism: Mechanism, values: Any, prior: Any = None, decoder: Any = None) -> float:
    """n times the mean squared error of the mean when inputs follow `prior` (uniform if not given).

    >>> import extremal as ex
    >>> round(mean_variance(ex.stochastic_rounding(2, 1), [-1, 1]), 4)  # ((e+1)/(e−1))²
    4.6827
    """
    v = _values(mechanism, values)
    p = np.full(mechanism.k, 1 / mechanism.k) if prior is None else as_prior(prior, k=mechanism.k).values
    t = mean_decoder(mechanism, v, prior) if decoder is None else np.asarray(decoder, dtype=np.float64)
    return float(mechanism.marginal(p) @ t**2 - (p @ v) ** 2)


def estimate_mean(reports: Any, mechanism: Mechanism, values: Any, column: str | None = None) -> MeanEstimate:
    """The mean of `values` (one for each input) over the respondents.

    >>> import extremal as ex
    >>> m = ex.stochastic_rounding(3, 50)
    >>> abs(round(estimate_mean(m.privatize([0, 0, 2, 2]), m, [-1, 0, 1]).estimate, 9))
    0.0
    """
    t = mean_decoder(mechanism, values)
    found = Reports(reports, mechanism, column).tally(OutputPositions(mechanism))
    if found.n < 2:
        raise InvalidParameter("there must be at least two reports", parameter="number of reports", value=found.n)
    keys, shares = found.shares()
    numbers = t[np.asarray(keys, dtype=np.intp)]
    mean = float(shares @ numbers)
    variance = float(shares @ (numbers - mean) ** 2) * found.n / (found.n - 1)
    return MeanEstimate(mean, float(np.sqrt(variance / found.n)), found.n)


def _values(mechanism: Mechanism, values: Any) -> Floats:
    v = np.asarray(values, dtype=np.float64)
    if v.shape != (mechanism.k,) or not np.isfinite(v).all():
        raise InvalidParameter(
            f"values must be {mechanism.k} finite numbers, one for each input", parameter="values", value=values
        )
    return v
