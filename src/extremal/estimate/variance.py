"""What a mechanism costs an analyst who wants all frequencies: n times the total mean squared error."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.exact import as_prior
from extremal.mechanism import Mechanism


def frequency_variance(mechanism: Mechanism, prior: Any = None) -> float:
    """n·Σ_x Var p̂_x of the unbiased estimate when inputs follow `prior`: uniform if not given.

    Exact for every n. The estimate is that of `ex.estimate_frequencies(…, method="unbiased")` with its weights for the
    same prior.

    >>> import extremal as ex
    >>> round(frequency_variance(ex.randomized_response(4, 1)), 6)
    8.306223
    """
    channel = channel_of(mechanism)
    if channel.combinations() is not None or channel.r < mechanism.k:
        raise InvalidParameter(
            "every input must be identified by the reports", parameter="mechanism", value=repr(mechanism)
        )
    p = np.full(mechanism.k, 1 / mechanism.k) if prior is None else as_prior(prior, k=mechanism.k).values
    if mechanism.row_of is not None:  # a row for each input, in another order
        p = np.asarray(np.bincount(mechanism.row_of, weights=p, minlength=channel.r), dtype=np.float64)
    return float(channel.inverse(p).variances(p, p).sum())


def statistics_variance(mechanism: Mechanism, rows: Any, prior: Any) -> float:
    """n·Σ Var of the linear statistics `rows`·p of the unbiased estimate when inputs follow `prior`.

    >>> import extremal as ex
    >>> round(statistics_variance(ex.unary_encoding(30, 1), np.eye(30), np.full(30, 1 / 30)), 6)
    112.447498
    """
    channel = channel_of(mechanism)
    p, a = as_prior(prior, k=mechanism.k).values, np.asarray(rows, dtype=np.float64)
    if mechanism.row_of is not None or channel.combinations() is not None:
        raise InvalidParameter(
            "every input must be identified by the reports", parameter="mechanism", value=repr(mechanism)
        )
    return float(np.trace(channel.inverse(p).covariance(a, p, p)))
