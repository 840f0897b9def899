"""The estimate before the survey: what n reports say when each comes as often as it is expected to.

With frequencies p the statistic of the reports is E s, the unbiased estimate is p itself, and standard errors and
limits are those that a survey of n reports will have, up to the luck of the draw. Nothing is sampled, and nothing needs
the outputs listed: 10,000 symbols of subset selection are as easy as two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.estimate.channels import channel_of
from extremal.estimate.combinations import Combinations
from extremal.estimate.frequencies import FEWEST, refuse_unidentified, row_prior
from extremal.estimate.likelihood import project_onto_simplex
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Fit
from extremal.exact import as_count
from extremal.mechanism import Mechanism


def expected_estimate(mechanism: Mechanism, prior: Any, n: int) -> FrequencyEstimate:
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
    combinations = Combinations.of(mechanism, channel)
    if not combinations.plain:
        refuse_unidentified(mechanism, combinations)
    statistic = channel.expected(row_prior(mechanism, prior))
    inverse = channel.inverse(row_prior(mechanism, None))
    unbiased = inverse.apply(statistic)
    plausible = project_onto_simplex(unbiased)
    fit = Fit(
        mechanism=mechanism,
        channel=channel,
        combinations=combinations,
        statistic=statistic,
        unbiased_inverse=inverse,
        unbiased=unbiased,
        inverse=inverse,
        centre=unbiased,
        plausible=plausible,
        spread=plausible,
        effective_n=float(count),
        weighted=False,
        distinct=int(np.count_nonzero(statistic)),
        n=count,
        squares=statistic,
    )
    return FrequencyEstimate(
        inputs=combinations.names,
        estimate=unbiased,
        centre=unbiased,
        n=count,
        method="unbiased",
        deficit=None,
        fit=fit,
    )
