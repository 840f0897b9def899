"""Which of several known distributions did the answers come from? The likelihood-ratio tests of Neyman and Pearson.

Reports about inputs from P_i follow M_i = QᵀP_i, independently, so S = Σ log M₁(y)/M₀(y) is the most powerful statistic
between two hypotheses, and the posterior probabilities are the best answer between several. The error probabilities
that are printed are upper bounds that hold for the n at hand, not limits: see `tails`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.reports import counted, significance
from extremal.estimate.hypothesis_tests.tails import Tail
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.tables import aligned, number

_STEPS = 200  # bisections for the critical value: the interval shrinks to a few ulps long before


@dataclass(frozen=True)
class LikelihoodRatioTest:
    """The outcome of `test_hypotheses` for two hypotheses; true when H₀ is rejected.

    Attributes:
        statistic: S = Σ log M₁(y)/M₀(y) over the reports; −∞ or +∞ when some report is impossible under one.
        p_value: at least P₀(S ≥ s), so that rejecting when it is at most α has level α.
        alpha: the significance asked for.
        critical: H₀ is rejected when S is at least this.
        level: P₀(reject) is at most this, and at most α.
        missed: P₁(do not reject) is at most this.
        n: number of reports.
        exact: whether the probabilities are exact up to rounding, or bounds.
    """

    statistic: float
    p_value: float
    alpha: float
    critical: float
    level: float
    missed: float
    n: int
    exact: bool

    def __bool__(self) -> bool:
        return self.p_value <= self.alpha

    def summary(self) -> str:
        """A few lines for a person."""
        verdict = "rejected: the reports speak for H₁" if self else "not rejected"
        kind = "exact" if self.exact else "bounds"
        return "\n".join(
            [
                f"likelihood-ratio test of H₀ against H₁, {self.n} reports",
                f"  H₀ is {verdict} (p = {number(self.p_value, 4)}, α = {self.alpha:g})",
                f"  log-likelihood ratio  {number(self.statistic, 6)}, critical value {number(self.critical, 6)}",
                f"  false alarm           at most {number(self.level, 4)}   ({kind} for this n)",
                f"  miss                  at most {number(self.missed, 4)}",
            ]
        )

    __str__ = summary


@dataclass(frozen=True, eq=False)
class BayesTest:
    """The outcome of `test_hypotheses` for a list of hypotheses.

    Attributes:
        posterior: the probability of each hypothesis given the reports.
        log_likelihoods: Σ log M_i(y), for each.
        decision: position of the most probable hypothesis.
        n: number of reports.
    """

    posterior: Floats
    log_likelihoods: Floats
    decision: int
    n: int

    def summary(self) -> str:
        """A table: hypothesis, log-likelihood, posterior probability."""
        rows = [
            [f"{i}{' *' if i == self.decision else ''}", number(float(like), 6), number(float(p), 4)]
            for i, (like, p) in enumerate(zip(self.log_likelihoods, self.posterior, strict=True))
        ]
        return f"Bayes test, {self.n} reports; * most probable\n" + aligned(
            ["hypothesis", "log-likelihood", "posterior"], rows, left=1
        )

    __str__ = summary


def test_hypotheses(
    reports: Any,
    mechanism: Mechanism,
    p0: Any,
    p1: Any = None,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    counts: bool = False,
    prior: Any = None,
) -> LikelihoodRatioTest | BayesTest:
    """Test whether the inputs follow `p0` against `p1`, or which of a list of distributions they follow.

    With M_i = QᵀP_i the statistic is S = Σ_y n_y log(M₁(y)/M₀(y)); H₀ is rejected when its p-value is at most `alpha`.

    Guarantee: P(reject) ≤ alpha under H₀ for every n, and no test of that level that is based on S misses less often,
    up to the grid of `tails` (none when only two values of the ratio occur).

    Args:
        reports: reports in any container, or counts.
        mechanism: what made them.
        p0: the null hypothesis, or a list of at least two distributions for the Bayes test.
        p1: the alternative; left out with a list.
        alpha: significance.
        column: the column of a data frame.
        counts: whether `reports` are counts.
        prior: probabilities of the hypotheses of a list; equal if not given.

    Reference: J. Neyman and E. Pearson (1933); Kairouz, Oh, Viswanath (JMLR 2016), Section 2.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> found = ex.test_hypotheses({0: 10, 1: 90}, m, [0.9, 0.1], [0.2, 0.8])
    >>> bool(found), found.level <= 0.05
    (True, True)
    >>> ex.test_hypotheses({0: 40, 1: 60}, m, [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]).decision
    2
    """
    numbers = counted(reports, mechanism, column=column, counts=counts)
    if p1 is None:
        return _bayes(numbers, mechanism, p0, prior)
    if prior is not None:
        raise InvalidParameter(
            "prior belongs to a list of hypotheses", parameter="prior", value=prior, hint="Give [p0, p1] as a list."
        )
    size = significance(alpha)
    first, second = (mechanism.marginal(as_prior(p, k=mechanism.k)) for p in (p0, p1))
    ratios = log_ratios(first, second)
    n = int(numbers.sum())
    statistic = _total(numbers, ratios)
    under_null = Tail(ratios, first, n)
    under_other = Tail(-ratios, second, n)
    critical = critical_value(under_null, size)
    return LikelihoodRatioTest(
        statistic,
        under_null.at_least(statistic),
        size,
        critical,
        under_null.at_least(critical),
        under_other.at_least(-critical),  # S ≤ critical; the boundary itself is counted, so this errs upwards
        n,
        under_null.exact,
    )


test_hypotheses.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


def log_ratios(first: Floats, second: Floats) -> Floats:
    """log(M₁/M₀), ±∞ where one is 0; 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first == second, 0.0, np.log(second) - np.log(first))


def _total(numbers: Floats, ratios: Floats) -> float:
    seen = ratios[numbers > 0]
    if (seen == math.inf).any() and (seen == -math.inf).any():
        raise InvalidParameter(
            "some report is impossible under each hypothesis, so neither can be true", parameter="p0, p1"
        )
    return float(numbers[numbers > 0] @ seen)


def critical_value(tail: Tail, alpha: float) -> float:
    """The smallest s, up to rounding, at which the bound on P(S ≥ s) is at most α; +∞ when there is none."""
    finite = tail.values[np.isfinite(tail.values)]
    if not finite.size:
        return math.inf
    low, high = tail.n * float(finite.min()) - 1.0, tail.n * float(finite.max()) + 1.0
    if tail.at_least(high) > alpha:
        return math.inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if tail.at_least(middle) <= alpha:
            high = middle
        else:
            low = middle
    return high


def _bayes(numbers: Floats, mechanism: Mechanism, hypotheses: Any, prior: Any) -> BayesTest:
    given: Sequence[Any] = list(hypotheses)
    if len(given) < 2 or any(np.ndim(h) == 0 for h in given):
        raise InvalidParameter(
            "without p1, p0 must be a list of at least two distributions", parameter="p0", value=hypotheses
        )
    weights = np.full(len(given), 1 / len(given)) if prior is None else as_prior(prior, "prior", k=len(given)).values
    seen = numbers > 0
    likelihoods = []
    for hypothesis in given:
        with np.errstate(divide="ignore"):
            logs = np.log(mechanism.marginal(as_prior(hypothesis, k=mechanism.k)))
        likelihoods.append(float(numbers[seen] @ logs[seen]))
    with np.errstate(divide="ignore"):
        joint = np.array(likelihoods) + np.log(weights)
    if not np.isfinite(joint).any():
        raise InvalidParameter("some report is impossible under every hypothesis", parameter="p0", value=len(given))
    posterior = np.exp(joint - joint.max())
    posterior /= posterior.sum()
    return BayesTest(posterior, np.array(likelihoods), int(np.argmax(joint)), int(numbers.sum()))
