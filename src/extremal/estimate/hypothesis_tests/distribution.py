"""Do the inputs follow a given distribution? The efficient score test, valid at every n."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.errors import NotIdentified
from extremal.estimate.hypothesis_tests.features import scores
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import counted, significance
from extremal.estimate.hypothesis_tests.resampling import DRAWS, p_value
from extremal.exact import as_prior
from extremal.mechanism import Mechanism


def test_distribution(
    reports: Any,
    mechanism: Mechanism,
    p: Any,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    counts: bool = False,
    draws: int = DRAWS,
) -> TestResult:
    """Test whether the inputs follow `p`.

    The statistic is n·|φ̄|², φ̄ the mean of the efficient scores of the reports at p; with as many outputs as inputs it is
    Pearson's Σ(n_y − n·m_y)²/(n·m_y), m = Qᵀp. Its p-value is found by drawing under the hypothesis.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1).

    Args:
        reports: reports in any container, or counts.
        mechanism: what made them.
        p: the distribution of the inputs under the hypothesis.
        alpha: significance.
        column: the column of a data frame.
        counts: whether `reports` are counts.
        draws: how many draws the p-value is based on.

    Raises:
        NotIdentified: the reports do not depend on the inputs.

    Reference: C. R. Rao (1948), on score tests; Barnard (1963), on p-values by simulation.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> bool(ex.test_distribution({0: 500, 1: 500}, m, [0.9, 0.1]))
    True
    """
    numbers, size = counted(reports, mechanism, column=column, counts=counts), significance(alpha)
    expected = mechanism.marginal(as_prior(p, k=mechanism.k))
    n = int(numbers.sum())
    if (numbers[expected == 0] > 0).any():
        return TestResult(_HYPOTHESIS, np.inf, 1, 0.0, size, "a report that the hypothesis excludes was seen", n)
    basis = scores(mechanism.matrix, expected)
    if not basis.shape[0]:
        raise NotIdentified("the reports do not depend on the inputs", parameter="mechanism", value=mechanism)
    statistic = float(np.sum((basis @ numbers) ** 2) / n)

    def draw(generator: np.random.Generator, count: int) -> Any:
        drawn = generator.multinomial(n, expected / expected.sum(), size=count)
        return np.sum((drawn @ basis.T) ** 2, axis=1) / n

    freedom, smallest = basis.shape[0], float(n * expected[expected > 0].min())
    found, method = p_value(statistic, draw, freedom, smallest, "draws under the hypothesis", draws)
    return TestResult(_HYPOTHESIS, statistic, freedom, found, size, method, n)


test_distribution.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it

_HYPOTHESIS = "the inputs follow the given distribution"
