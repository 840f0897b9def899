"""Before the survey: what n reports will say when each comes as often as it is expected to, and what they cost.

With frequencies p the statistic of the reports is E s, the unbiased estimate is p itself, and standard errors and
limits are those that a survey of n reports will have, up to the luck of the draw. Nothing is sampled, and nothing needs
the outputs listed: 10,000 symbols of subset selection are as easy as two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Channel
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.reports.tally import FEWEST
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Drawn, Fit, Observed
from extremal.estimate.workload import ReadStatistics, WorkloadEstimate
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.utility import Workload
from extremal.utility.fisher import by_row


def expected_estimate(mechanism: Mechanism, prior: Any, n: int, drawn: Drawn | None = None) -> FrequencyEstimate:
    """What `ex.estimate_frequencies` returns for n reports that are as frequent as expected when inputs follow `prior`.

    Guarantee: `.estimate` is the prior, `.interval` what the plain call reports at these counts; where limits are of a
    binomial count, the count is rounded to a whole one.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> expected = expected_estimate(m, [0.8, 0.2], 1000)
    >>> expected.estimate.round(9).tolist(), expected.interval().round(3).tolist()
    ([0.8, 0.2], [[0.735, 0.865], [0.135, 0.265]])
    """
    count = as_count(n, "n", FEWEST)
    channel = channel_of(mechanism)
    combinations = Combinations.inputs(mechanism, channel)
    observed = Observed.expected(channel, row_prior(mechanism, prior), count, drawn)
    fit = Fit.of(combinations, observed, row_prior(mechanism, None))
    return FrequencyEstimate.of(fit, "unbiased", fit.centre)


def expected_workload(
    mechanism: Mechanism, workload: Workload | Any, drawn: Drawn | None = None
) -> Callable[[int], WorkloadEstimate]:
    """n ↦ what `ex.estimate_workload` returns for n reports that are as frequent as expected.

    Inputs follow the workload's prior; with a class of priors, the one of largest total variance.

    >>> import extremal as ex
    >>> mean = ex.Mean([0, 10, 20])
    >>> expected = expected_workload(ex.randomized_response(3, 1), mean)(400)
    >>> expected.estimate.round(9).tolist(), expected.standard_error.round(3).tolist()
    ([10.0], [1.121])
    """
    statistics = ReadStatistics.of(mechanism, workload)
    truth = statistics.prior
    if isinstance(workload, Workload) and workload.prior is None:
        truth = by_row(mechanism, workload.worst_prior(mechanism).prior)

    def at(n: int) -> WorkloadEstimate:
        count = as_count(n, "n", FEWEST)
        return statistics.estimate(Observed.expected(statistics.combinations.channel, truth, count, drawn))

    return at


def frequency_variance(mechanism: Mechanism, prior: Any = None) -> float:
    """n·Σ_x Var p̂_x of the unbiased estimate when inputs follow `prior`: uniform if not given.

    Exact for every n. The estimate is that of `ex.estimate_frequencies(…, method="unbiased")` with its weights for the
    same prior.

    >>> import extremal as ex
    >>> round(frequency_variance(ex.randomized_response(4, 1)), 6)
    8.306223
    """
    channel, p = _identifying(mechanism), row_prior(mechanism, prior)
    return float(channel.inverse(p).variances(p, p).sum())


def statistics_variance(mechanism: Mechanism, rows: Any, prior: Any) -> float:
    """n·Σ Var of the linear statistics `rows`·p of the unbiased estimate when inputs follow `prior`.

    >>> import extremal as ex
    >>> round(statistics_variance(ex.unary_encoding(30, 1), np.eye(30), np.full(30, 1 / 30)), 6)
    112.447498
    """
    channel, p = _identifying(mechanism), row_prior(mechanism, prior)
    a = np.asarray(rows, dtype=np.float64)
    if a.shape == (channel.r, channel.r) and np.array_equal(a, np.eye(channel.r)):
        return float(channel.inverse(p).variances(p, p).sum())
    if mechanism.row_of is not None:  # a row for each input, in another order
        a = a[:, np.argsort(mechanism.row_of)]
    return float((channel.inverse(p).moments(a) @ p - (a @ p) ** 2).sum())


def _identifying(mechanism: Mechanism) -> Channel:
    """The channel of a mechanism whose reports identify every input."""
    channel = channel_of(mechanism)
    if channel.combinations() is not None or channel.r < mechanism.k:
        raise InvalidParameter(
            "every input must be identified by the reports", parameter="mechanism", value=repr(mechanism)
        )
    return channel
