"""Which of several known distributions did the answers come from? The likelihood-ratio tests of Neyman and Pearson.

Reports about inputs from P_i follow M_i = QᵀP_i, independently, so S = Σ log M₁(y)/M₀(y) is the most powerful statistic
between two hypotheses, and the posterior probabilities are the best answer between several. The error probabilities
that are printed are upper bounds that hold for the n at hand, not limits: see `tails`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.hypothesis_tests.reports import (
    Counts,
    Surveyed,
    counted,
    notes_of,
    significance,
    surveyed,
)
from extremal.estimate.hypothesis_tests.tails import UNIT, Tail, on_grid
from extremal.estimate.reports.degrees import reach
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import Reports
from extremal.estimate.results.tabled import head
from extremal.exact import as_prior
from extremal.exact.bisection import bisected
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.tables import aligned, number

SAME = 1e-12
"""Log-likelihood ratios up to this are rounding: the hypotheses give the same reports."""


@dataclass(frozen=True)
class LikelihoodRatioTest:
    """The outcome of `test_hypotheses` for two hypotheses; true when H₀ is rejected.

    Attributes:
        statistic: S = Σ log M₁(y)/M₀(y) over the reports, on the grid of `tails`; −∞ or +∞ when some report is
            impossible under one.
        p_value: at least P₀(S ≥ s), so that rejecting when it is at most α has level α.
        alpha: the significance asked for.
        critical: H₀ is rejected when S is at least this.
        level: P₀(reject) is at most this, and at most α.
        missed: P₁(do not reject) is at most this.
        n: number of reports.
        exact: whether the probabilities are exact up to rounding, or Chernoff's bounds.
        sample: how the respondents were drawn, in a few words; probabilities are then limits for many clusters.
        notes: sentences on how the reports were read.
    """

    statistic: float
    p_value: float
    alpha: float
    critical: float
    level: float
    missed: float
    n: int
    exact: bool
    sample: str = ""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    def summary(self) -> str:
        """A few lines for a person."""
        verdict = "rejected: the reports speak for H₁" if self else "not rejected"
        kind = "exact for this n" if self.exact else "Chernoff's bounds for this n"
        kind = "by the spread between units" if self.sample else kind
        return "\n".join(
            [
                head("Test: likelihood ratio, H₀ against H₁", self.n, self.sample),
                f"  H₀ is {verdict} (p = {number(self.p_value, 4)}, α = {self.alpha:g})",
                f"  log-likelihood ratio  {number(self.statistic, 6)}, critical value {number(self.critical, 6)}",
                f"  false alarm           at most {number(self.level, 4)}   ({kind})",
                f"  miss                  at most {number(self.missed, 4)}",
                *(f"Note: {note}" for note in self.notes),
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
        sample: how the respondents were drawn, in a few words; empty for a simple sample.
        notes: sentences on how the reports were read.
    """

    posterior: Floats
    log_likelihoods: Floats
    decision: int
    n: int
    sample: str = ""
    notes: tuple[str, ...] = ()

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    @property
    def error(self) -> float:
        """The probability that the decision is wrong, given the reports and the prior; no rule has a smaller one."""
        return math.fsum(np.delete(self.posterior, self.decision).tolist())

    def summary(self) -> str:
        """A table: hypothesis, log-likelihood, posterior probability."""
        rows = [
            [f"{i}{' *' if i == self.decision else ''}", number(float(like), 6), number(float(p), 4)]
            for i, (like, p) in enumerate(zip(self.log_likelihoods, self.posterior, strict=True))
        ]
        table = aligned(["hypothesis", "log-likelihood", "posterior"], rows, left=1)
        first = f"{head('Test: Bayes', self.n, self.sample)}; * most probable"
        return "\n".join([first, table, *(f"Note: {note}" for note in self.notes)])

    __str__ = summary


class HypothesisOptions(TypedDict, total=False):
    """The keywords of `test_hypotheses`, which do not change what it returns."""

    column: str | None
    counts: bool
    prior: Any
    check_hash: bool
    sample: Sample | None


@overload
def test_hypotheses(
    reports: Any,
    mechanism: Mechanism,
    p0: Any,
    p1: None = ...,
    alpha: float = ...,
    **options: Unpack[HypothesisOptions],
) -> BayesTest: ...
@overload
def test_hypotheses(
    reports: Any, mechanism: Mechanism, p0: Any, p1: Any, alpha: float = ..., **options: Unpack[HypothesisOptions]
) -> LikelihoodRatioTest: ...
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
    check_hash: bool = True,
    sample: Sample | None = None,
) -> LikelihoodRatioTest | BayesTest:
    """Test whether the inputs follow `p0` against `p1`, or which of a list of distributions they follow.

    With M_i = QᵀP_i the statistic is S = Σ_y n_y log(M₁(y)/M₀(y)), each logarithm rounded to the grid of `tails`; H₀ is
    rejected when the p-value P₀(S ≥ s) is at most `alpha`.

    Guarantee: P(reject) ≤ alpha under H₀ for every n, and the printed errors are upper bounds for this n. No test of
    level `level` misses less often (Neyman and Pearson), up to the rounding of the logarithms: none that matters when
    they take two values, else the range over 256 or, for large n, over 6000/√n cells.

    Args:
        reports: as for `estimate_frequencies`: any container, counts, a file.
        mechanism: what made them.
        p0: the null hypothesis, or a list of at least two distributions for the Bayes test.
        p1: the alternative; left out with a list.
        alpha: significance.
        column: the column of a data frame or file.
        counts: whether `reports` are counts.
        prior: probabilities of the hypotheses of a list; equal if not given.
        check_hash: refuse a file that does not record this mechanism's hash.
        sample: an `ex.Sample`. The mean log-likelihood ratio is then compared with its expectation under H₀ by its
            standard error between units, which is a limit for many clusters; for a list, log-likelihoods count as many
            reports as the design is worth.

    Raises:
        NotIdentified: the reports have the same distribution under p0 and p1.

    Reference: J. Neyman and E. Pearson (1933); Kairouz, Oh, Viswanath (JMLR 2016), Section 2.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> found = ex.test_hypotheses({0: 10, 1: 90}, m, [0.9, 0.1], [0.2, 0.8])
    >>> bool(found), found.level <= 0.05
    (True, True)
    >>> ex.test_hypotheses({0: 40, 1: 60}, m, [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]).decision
    2
    """
    size = significance(alpha)
    given, drawn = Reports(reports, mechanism, column, counts=counts, check_hash=check_hash), Sample.of(sample)
    survey = None if drawn.independent else surveyed(given, drawn)
    if p1 is None:
        bayes = _most_probable(given, survey, p0, prior)
        return replace(bayes, notes=notes_of(given, bayes.n, survey))
    if prior is not None:
        raise InvalidParameter(
            "prior belongs to a list of hypotheses", parameter="prior", value=prior, hint="Give [p0, p1] as a list."
        )
    first, second = marginals(mechanism, p0, p1)
    refuse_same(log_ratios(first, second))
    if survey is not None:
        null = as_prior(p0, "p0", inputs=mechanism.input_labels).values
        found = _surveyed_ratio(survey, mechanism, (first, second), null, size)
    else:
        found = _counted_ratio(counted(given), first, second, size, mechanism.k)
    return replace(found, notes=notes_of(given, found.n, survey))


test_hypotheses.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


def _most_probable(given: Reports, survey: Surveyed | None, hypotheses: Any, prior: Any) -> BayesTest:
    mechanism = given.mechanism
    if survey is not None:
        return _bayes(_worth(survey, mechanism.m), mechanism, hypotheses, prior, survey.n, survey.drawn.units_in_words)
    amounts = counted(given).astype(np.float64)
    return _bayes(amounts, mechanism, hypotheses, prior, int(amounts.sum()))


def _counted_ratio(seen: Counts, first: Floats, second: Floats, alpha: float, k: int) -> LikelihoodRatioTest:
    """Of independent reports: exact, or with its errors bounded."""
    n = int(seen.sum())
    rule = Rule.of(first, second, n, alpha, k)
    statistic, errors = _total(seen, first, second, rule.ratios), (rule.level, rule.missed)
    p_value = rule.under_null.at_least(statistic)
    return LikelihoodRatioTest(statistic, p_value, alpha, rule.critical, *errors, n, rule.exact)


def _surveyed_ratio(
    survey: Surveyed, mechanism: Mechanism, both: tuple[Floats, Floats], p0: Floats, alpha: float
) -> LikelihoodRatioTest:
    """Of a sample that is not simple: the mean of ℓ = log M₁/M₀ against its expectation under H₀, by its standard error
    between units, which is at least that of randomisation alone under H₀."""
    from scipy.special import stdtr, stdtrit

    ratios, n = log_ratios(*both), survey.n
    outputs, degrees, words = survey.values[:, 0], survey.drawn.degrees, survey.drawn.units_in_words
    seen = np.bincount(outputs, minlength=mechanism.m)
    if not np.isfinite(ratios[outputs]).all():  # a report decides at once
        total = _total(seen, *both, ratios)
        return LikelihoodRatioTest(total, float(total < 0), alpha, math.inf, 0.0, 1.0, n, False, words)
    known = np.where(np.isfinite(ratios), ratios, 0.0)
    means = mechanism.matrix @ known
    told = np.array([np.ptp(means) / np.ptp(known)])
    far = float(reach(1 - 2 * alpha, degrees))
    spread = survey.plausible_deviations(known[:, None], outputs, told, float(both[0] @ known), far)
    randomised = float(p0 @ (mechanism.matrix @ known**2 - means**2)) * survey.noise
    error = math.sqrt(max(float((spread**2).sum()), randomised))
    mean, under_null, under_other = float(survey.shares @ ratios[outputs]), *(float(side @ known) for side in both)
    error /= math.sqrt(degrees.seen)
    t, bent = float(stdtrit(degrees.number, 1 - alpha)), _skewness(both[0], known, error)
    critical = under_null + (t + bent * (2 * t**2 + 1)) * error
    return LikelihoodRatioTest(
        n * mean,
        float(stdtr(degrees.number, -_unbent((mean - under_null) / error, bent))),
        alpha,
        n * critical,
        alpha,
        float(stdtr(degrees.number, (critical - under_other) / error)),
        n,
        False,
        words,
    )


def _skewness(marginal: Floats, ratios: Floats, error: float) -> float:
    """A sixth of the skewness against the mean of ℓ: with a tail towards low values the mean and its standard error are
    large together, and too far above is likelier than Student's distribution has it, by g(2t² + 1) (Johnson, JASA 73,
    1978)."""
    apart = ratios - float(marginal @ ratios)
    variance = float(marginal @ apart**2)
    return max(-float(marginal @ apart**3) / variance**2 * error / 6, 0.0) if variance > 0 else 0.0


def _unbent(distance: float, bent: float) -> float:
    """t with t + g(2t² + 1) = distance; where there is none, the smallest."""
    if bent == 0:
        return distance
    return (math.sqrt(max(1 - 8 * bent * (bent - distance), 0.0)) - 1) / (4 * bent)


def _worth(survey: Surveyed, m: int) -> Floats:
    """Shares times as many independent reports as have the same total variance: at most n."""
    shares = survey.shares
    spread = float((survey.deviations(np.eye(len(survey.values))) ** 2).sum())
    worth = (1 - float(shares @ shares)) / spread if spread > 0 else survey.n
    found = np.bincount(survey.values[:, 0], weights=shares, minlength=m)
    return np.asarray(found * min(worth, survey.n))


def refuse_same(ratios: Floats) -> None:
    """Raise where no report tells the hypotheses apart."""
    if not np.abs(ratios).max() > SAME:
        raise NotIdentified(
            "the reports must differ between the hypotheses: they have the same distribution under both, so no "
            "number of them decides",
            parameter="p1",
        )


def _refuse_alike(under: Sequence[Floats]) -> None:
    """Raise where two of a list of hypotheses give the same reports: they would share what speaks for one."""
    for j, later in enumerate(under):
        for i, earlier in enumerate(under[:j]):
            if not np.abs(log_ratios(earlier, later)).max() > SAME:
                raise NotIdentified(
                    "the reports must differ between the hypotheses: they have the same distribution under two of the "
                    "list, so no number of them decides",
                    parameter="p0",
                    value=f"p0[{i}] and p0[{j}]",
                    hint="Leave one of them out.",
                )


@dataclass(frozen=True, eq=False)
class Rule:
    """When H₀ is rejected, and how often that is wrong: all that can be said before a report is seen.

    Attributes:
        ratios: log M₁/M₀ of each output, on the grid.
        under_null: the distribution of S under H₀.
        critical: H₀ is rejected when S is at least this.
        level, missed: upper bounds on P₀(reject) and P₁(do not reject).
        exact: whether these are exact up to rounding, or Chernoff's bounds.
    """

    ratios: Floats
    under_null: Tail
    critical: float
    level: float
    missed: float
    exact: bool

    @classmethod
    def of(cls, first: Floats, second: Floats, n: int, alpha: float, k: int) -> Rule:
        """The test of M₀ = `first` against M₁ = `second` with n reports, each a mixture of k rows."""
        ratios, step = on_grid(log_ratios(first, second), n)
        error = (k + 8) * UNIT  # of a probability of a report: a sum of k rounded products
        under_null, under_other = Tail(ratios, first, n, step, error), Tail(-ratios, second, n, step, error)
        critical = critical_value(under_null, alpha)
        missed = under_other.at_least(step - critical)  # S < critical, on the grid
        if critical == math.inf:  # rejected only when a report is seen that H₀ excludes
            missed = under_other.at_least(under_other.lowest) if under_other.occurs else 0.0
        return cls(
            ratios, under_null, critical, under_null.at_least(critical), missed, under_null.exact and under_other.exact
        )


def marginals(mechanism: Mechanism, p0: Any, p1: Any) -> tuple[Floats, Floats]:
    """M₀ and M₁."""
    first = mechanism.marginal(as_prior(p0, "p0", inputs=mechanism.input_labels))
    return first, mechanism.marginal(as_prior(p1, "p1", inputs=mechanism.input_labels))


def log_ratios(first: Floats, second: Floats) -> Floats:
    """log(M₁/M₀), ±∞ where one is 0; 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first == second, 0.0, np.log(second) - np.log(first))


def _total(seen: Counts, first: Floats, second: Floats, ratios: Floats) -> float:
    used = seen > 0
    if (first[used] == 0).any() and (second[used] == 0).any():
        raise InvalidParameter(
            "the reports must be possible under one of the hypotheses; some were seen that each excludes",
            parameter="p0, p1",
            hint="Give every input that may occur a positive probability.",
        )
    return float(seen[used].astype(np.float64) @ ratios[used])


def critical_value(tail: Tail, alpha: float) -> float:
    """The smallest s on the grid at which the bound on P(S ≥ s) is at most α; +∞ when there is none.

    >>> critical_value(Tail(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1.0), 0.2)
    2.0
    """
    if not tail.occurs or tail.at_least(tail.highest) > alpha:
        return math.inf
    steps = round((tail.highest - tail.lowest) / tail.step)
    found = bisected(lambda step: tail.at_least(tail.lowest + step * tail.step) <= alpha, -1, steps)
    return tail.lowest + found * tail.step


def _bayes(seen: Floats, mechanism: Mechanism, hypotheses: Any, prior: Any, n: int, sample: str = "") -> BayesTest:
    given: Sequence[Any] = list(hypotheses) if isinstance(hypotheses, Iterable) else []
    if len(given) < 2 or any(isinstance(h, str) or not isinstance(h, Iterable) for h in given):
        raise InvalidParameter(
            "without p1, p0 must be a list of at least two distributions", parameter="p0", value=hypotheses
        )
    weights = np.full(len(given), 1 / len(given)) if prior is None else as_prior(prior, "prior", k=len(given)).values
    used = seen > 0
    under = [
        mechanism.marginal(as_prior(one, f"p0[{i}]", inputs=mechanism.input_labels)) for i, one in enumerate(given)
    ]
    _refuse_alike(under)
    with np.errstate(divide="ignore"):
        likelihoods = [float(seen[used] @ np.log(marginal[used])) for marginal in under]
    with np.errstate(divide="ignore"):
        joint = np.array(likelihoods) + np.log(weights)
    if not np.isfinite(joint).any():
        raise InvalidParameter(
            "the reports must be possible under one of the hypotheses; some were seen that each excludes",
            parameter="p0",
            hint="Give every input that may occur a positive probability.",
        )
    posterior = np.exp(joint - joint.max())
    posterior /= posterior.sum()
    return BayesTest(posterior, np.array(likelihoods), int(np.argmax(joint)), n, sample)
