"""Do the inputs follow a given distribution? The efficient score test, valid at every n."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.estimate.hypothesis_tests.features import Scores
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import counted, significance
from extremal.estimate.hypothesis_tests.resampling import DRAWS, as_draws, p_value
from extremal.estimate.reports.tally import Reports
from extremal.exact import as_prior
from extremal.mechanism import Mechanism

HYPOTHESIS = "the inputs follow the given distribution"


def test_distribution(
    reports: Any,
    mechanism: Mechanism,
    p: Any,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    counts: bool = False,
    draws: int = DRAWS,
    check_hash: bool = True,
) -> TestResult:
    """Test whether the inputs follow `p`.

    The statistic is n·|φ̄|², φ̄ the mean of the efficient scores of the reports at p; for a square invertible mechanism
    it is Pearson's Σ(n_y − n·m_y)²/(n·m_y), m = Qᵀp. Its p-value is found by drawing under the hypothesis.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1).

    Args:
        reports: as for `estimate_frequencies`: any container, counts, a file.
        mechanism: what made them.
        p: the distribution of the inputs under the hypothesis.
        alpha: significance.
        column: the column of a data frame or file.
        counts: whether `reports` are counts.
        draws: how many draws the p-value is based on.
        check_hash: refuse a file that does not record this mechanism's hash.

    Raises:
        NotIdentified: the reports do not depend on the inputs.

    Reference: C. R. Rao (1948), on score tests; G. Barnard (1963), on p-values by simulation.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> bool(ex.test_distribution({0: 500, 1: 500}, m, [0.9, 0.1]))
    True
    """
    size = significance(alpha)
    number = as_draws(draws, size)
    seen = counted(Reports(reports, mechanism, column, counts=counts, check_hash=check_hash))
    expected = mechanism.marginal(as_prior(p, "p", k=mechanism.k))
    expected = expected / expected.sum()
    n = int(seen.sum())
    scores = Scores.of_mechanism(mechanism, expected)
    if (seen[expected == 0] > 0).any():
        return TestResult(
            HYPOTHESIS, np.inf, scores.dimension, 0.0, size, "a report was seen that the hypothesis excludes", n
        )

    def statistic(numbers: Any) -> Any:
        return np.sum(scores.of(numbers - n * expected, -1) ** 2, axis=-1) / n

    observed = float(statistic(seen))
    found, method = p_value(
        observed,
        lambda generator, count: statistic(generator.multinomial(n, expected, size=count)),
        scores.dimension,
        float(n * expected[expected > 0].min()),
        "draws under the hypothesis",
        number,
        mechanism.m,
    )
    return TestResult(HYPOTHESIS, observed, scores.dimension, found, size, method, n)


test_distribution.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it
