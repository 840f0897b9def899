"""Plans of tests, between two hypotheses or of a change in the same people: of people, privacy and power, two are given
and the third is solved for.

The test is that of `ex.test_hypotheses`: most powerful of its level, with errors bounded for the n at hand. Its power
is one minus the bound on a miss, so a plan never promises more than the test will print.

A change is tested as `ex.estimate_change(…).test()` does: n·dᵀV⁻¹d with d the changes and V the covariance of what a
pair of reports contributes, which is χ² with k − 1 degrees of freedom without change, and non-central with it; the
power is that of the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np

from extremal.closed_forms import randomized_response
from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.estimate.hypothesis_tests.likelihood_ratio import Rule, log_ratios, marginals
from extremal.estimate.hypothesis_tests.reports import refuse_uncountable, significance
from extremal.estimate.hypothesis_tests.tails import WIDTH, on_grid
from extremal.exact import Prior, as_count, as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.privacy import LDP
from extremal.studies.planning.planned import Aim, Curve, Planned, left_out, people_around, unreached
from extremal.studies.planning.search import MOST_PEOPLE, smallest_count, smallest_level
from extremal.tables import number, outward
from extremal.utility.divergences import KL

CIRCLE = 1 << 18
"""Cells of a fast transform: twice what a sum spreads over, so that it does not meet itself."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TestPlan(Planned):
    """A test that was planned, from `ex.plan_test`. `str()` says it in sentences.

    Attributes:
        solved: what was left out: "n", "epsilon" or "power".
        n: people.
        epsilon: the level of the mechanism under LDP, nats.
        power: the probability to reject H₀ when H₁ is true, with these n and this mechanism, is at least this.
        wanted: the power that was asked for, or None.
        alpha: significance.
        level: the probability to reject H₀ when it is true is at most this, and at most alpha.
        critical: H₀ is rejected when the log-likelihood ratio is at least this.
        exact: whether power and level are exact up to rounding, or Chernoff's bounds.
        mechanism: to ask with.
        without_privacy: how many unrandomised answers reach `power`.
        p0, p1: the hypotheses.

    >>> import extremal as ex
    >>> ex.plan_test(ex.randomized_response(2, 1), p0=[0.9, 0.1], p1=[0.5, 0.5], power=0.8).solved
    'n'
    """

    __test__ = False  # a test runner must not collect it
    reaches: ClassVar[str] = "power"
    fewest: ClassVar[int] = 1
    instead: ClassVar[str] = "epsilon"

    power: float
    alpha: float
    level: float
    critical: float
    exact: bool
    p0: Prior = field(repr=False)
    p1: Prior = field(repr=False)
    joint: Floats | None = field(default=None, repr=False)

    def _sentences(self) -> list[str]:
        if self.joint is not None:
            power = f"power {outward(self.power, up=False)}{self._asked}"
            return [
                f"{self._heading}, asked twice; {power} to see that shares changed, in the limit of many people.",
                f"No change is rejected by ex.estimate_change(…).test() when p ≤ {self.alpha:g}.",
            ]
        kind = "exact for this n" if self.exact else "a lower bound for this n, by Chernoff"
        false = f"with probability at most {outward(self.level, up=True)} when it is true (α = {self.alpha:g})"
        return [
            f"{self._heading}; power {outward(self.power, up=False)}{self._asked}, {kind}.",
            f"H₀ is rejected when the log-likelihood ratio is at least {number(self.critical, 4)}: {false}.",
        ]

    def plot(self) -> Any:
        """Power against the number of people, and against ε where the mechanism was designed; a matplotlib figure."""
        drawn = self._drawn(self._plain.power, f"power at α = {self.alpha:g}")
        for axis in drawn.axes:
            axis.set_ylim(0, 1.02)
        return drawn

    @property
    def _plain(self) -> _Test | _ChangeTest:
        if self.joint is not None:
            return _ChangeTest.plain(self.joint, self.alpha)
        return _Test.plain(self.p0, self.p1, self.alpha)

    def _curve(self, mechanism: Mechanism) -> Curve:
        if self.joint is not None:
            return _ChangeTest.of(mechanism, self.joint, self.alpha).power
        return _Test.of(mechanism, self.p0, self.p1, self.alpha).power

    def _best(self, epsilon: Any) -> Mechanism:
        return _best(self.p0, self.p1, epsilon) if self.joint is None else _asked_twice(len(self.joint), epsilon)

    def _around(self) -> list[int]:
        return people_around(max(1, self.n // 10), max(20, self.n * 4))


def plan_test(
    mechanism: Mechanism | None = None,
    *,
    p0: Any,
    p1: Any = None,
    transition: Any = None,
    epsilon: Any = None,
    n: int | None = None,
    alpha: float = 0.05,
    power: float | None = None,
) -> TestPlan:
    """Plan a test: solve for the one of n, ε and power that is left out.

    Power is P₁(reject) of the test that `ex.test_hypotheses(reports, plan.mechanism, p0, p1, alpha)` makes.

    Guarantee: with the n that is returned the power is at least what was asked for, and with n − 1 the test does not
    promise it; ε has four digits, and one unit of the last less does not do.

    Args:
        mechanism: what will be asked with; left out, the one of largest KL(p0, p1) at ε, whose misses fall fastest with
            n at any fixed α (Stein's lemma).
        p0, p1: the hypotheses about the inputs.
        transition: instead of p1, how people with each answer in a first wave answer in a second: a matrix whose rows
            sum to one. The plan is then for the test of `ex.estimate_change` that shares did not change, with the same
            mechanism in both waves; ε is that of each.
        epsilon: of LDP, in nats; left out with a mechanism.
        n: number of people.
        alpha: significance.
        power: between alpha and 1.

    >>> import extremal as ex
    >>> found = ex.plan_test(p0=[0.5, 0.5], p1=[0.4, 0.6], epsilon=1, power=0.8)
    >>> found.n, round(found.power, 3), found.without_privacy
    (736, 0.803, 158)
    >>> moved = [[0.9, 0.1], [0.05, 0.95]]
    >>> ex.plan_test(p0=[0.7, 0.3], transition=moved, epsilon=2, power=0.8).n
    1153

    References: Neyman and Pearson (1933); Cover and Thomas, Elements of Information Theory, Theorem 11.8.3 (Stein);
    Kairouz, Oh, Viswanath (JMLR 2016), Section 3.
    """
    size = significance(alpha)
    first = as_prior(p0, "p0")
    if (p1 is None) == (transition is None):
        raise InvalidParameter("give p1 or transition, one of them", parameter="p1", value=p1)
    joint = None if transition is None else _joint(first.values, transition)
    second = as_prior(joint.sum(axis=0) if joint is not None else p1, "p1", k=len(first.values))
    if mechanism is not None:
        refuse_uncountable(mechanism)
    solved = left_out(mechanism, epsilon, n, "power", power)
    wanted = None if power is None else _checked_power(power, size)

    def test(m: Mechanism) -> _Test | _ChangeTest:
        return _Test.of(m, first, second, size) if joint is None else _ChangeTest.of(m, joint, size)

    def best(e: Any) -> Mechanism:
        return _best(first, second, e) if joint is None else _asked_twice(len(joint), e)

    plain = _Test.plain(first, second, size) if joint is None else _ChangeTest.plain(joint, size)
    aim = Aim(
        "power",
        best=best,
        people=lambda m, power: test(m).people(power),
        level=lambda people, power: _level(lambda e: test(best(e)), plain, people, power),
        hint="The reports hardly differ between p0 and p1: ask at a larger ε.",
    )
    asked, nats, people = aim.solve(mechanism, epsilon, None if n is None else as_count(n, "n", 1), wanted)
    rule = test(asked).rule(people)
    reached = 1 - rule.missed
    without = plain.people(reached) if size < reached < 1 else people
    return TestPlan(
        solved=solved,
        n=people,
        epsilon=nats,
        power=reached,
        wanted=wanted,
        alpha=size,
        level=rule.level,
        critical=rule.critical,
        exact=rule.exact,
        mechanism=asked,
        without_privacy=people if without is None else min(without, people),
        p0=first,
        p1=second,
        joint=joint,
        designed=mechanism is None,
    )


plan_test.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


@dataclass(frozen=True, eq=False)
class _Test:
    """The test between two distributions of the reports."""

    first: Floats
    second: Floats
    alpha: float
    k: int

    @classmethod
    def of(cls, mechanism: Mechanism, p0: Prior, p1: Prior, alpha: float) -> _Test:
        return cls(*marginals(mechanism, p0, p1), alpha, mechanism.k)

    @classmethod
    def plain(cls, p0: Prior, p1: Prior, alpha: float) -> _Test:
        """Of answers that are not randomised."""
        return cls(p0.values, p1.values, alpha, len(p0.values))

    def rule(self, n: int) -> Rule:
        return Rule.of(self.first, self.second, n, self.alpha, self.k)

    def power(self, n: int) -> float:
        return 1 - self.rule(n).missed

    def people(self, wanted: float) -> int | None:
        """The smallest number that reaches the power; None to 10^10."""
        if (self.first == self.second).all():
            return None
        return smallest_count(
            lambda n: self.power(n) >= wanted, self._guess(wanted), 1, lambda n: self.sketch(n) >= wanted
        )

    def sketch(self, n: int) -> float:
        """The power, by fast transforms and without bounds on their rounding; to find where to look."""
        ratios, step = on_grid(log_ratios(self.first, self.second), n)
        values = np.unique(ratios)
        span = (values[-1] - values[0]) / step if np.isfinite(values).all() else math.inf
        if values.size <= 2 or span * min(n, WIDTH * math.sqrt(n)) > CIRCLE / 2:  # bounds are cheap, or all there is
            return self.power(n)
        codes = np.rint((ratios - values[0]) / step).astype(np.int64)
        sums = []
        for p in (self.first, self.second):
            single = np.bincount(codes, weights=p, minlength=CIRCLE)
            sums.append(np.fft.irfft(np.fft.rfft(single) ** n, CIRCLE))
        middle = round(n * float(self.first @ codes + self.second @ codes) / 2)
        under_null, under_other = (np.roll(masses, CIRCLE // 2 - middle % CIRCLE) for masses in sums)
        rejected = np.cumsum(under_null[::-1])[::-1] <= self.alpha
        return float(under_other[rejected].sum())

    def _guess(self, wanted: float) -> int:
        """By the normal approximation of both sums."""
        ratios = log_ratios(self.first, self.second)
        common = np.isfinite(ratios)
        if not common.all():  # some report decides at once
            return 2
        means, spreads = [], []
        for p in (self.first, self.second):
            mean = float(p @ ratios)
            means.append(mean)
            spreads.append(math.sqrt(max(float(p @ (ratios - mean) ** 2), 0.0)))
        reach = -NormalDist().inv_cdf(self.alpha) * spreads[0] + NormalDist().inv_cdf(wanted) * spreads[1]
        apart = means[1] - means[0]
        return max(1, math.ceil(min((reach / apart) ** 2, float(MOST_PEOPLE)))) if apart > 0 else MOST_PEOPLE


def _best(p0: Prior, p1: Prior, epsilon: Any) -> Mechanism:
    return design(LDP(epsilon), KL(p0, p1)).mechanism


class _Outcome(NamedTuple):
    """What a `Rule` says before a report is seen."""

    critical: float
    level: float
    missed: float
    exact: bool


@dataclass(frozen=True, eq=False)
class _ChangeTest:
    """The test that no share changed, in the limit of many people.

    Attributes:
        noncentrality: dᵀV⁻¹d of one person.
        freedom: how many changes there are.
        alpha: significance.
    """

    noncentrality: float
    freedom: int
    alpha: float

    @classmethod
    def of(cls, mechanism: Mechanism, joint: Floats, alpha: float) -> _ChangeTest:
        q, k = mechanism.matrix, len(joint)
        if k != mechanism.k:
            raise InvalidParameter(f"the mechanism must have {k} inputs", parameter="mechanism.k", value=mechanism.k)
        channel = channel_of(mechanism)
        if channel.combinations() is not None or mechanism.row_of is not None:
            raise InvalidParameter("the mechanism must tell its inputs apart", parameter="mechanism", value=mechanism.k)
        keys = [channel.encode(label) for label in mechanism.outputs]
        statistics = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys])
        worth = channel.inverse(np.full(k, 1 / k)).apply(statistics)
        moved = (worth[:, None, :] - worth[:, :, None]).reshape(k, -1)[:-1]  # of each pair of reports
        shares = (q.T @ joint @ q).ravel()
        d = joint.sum(axis=0)[:-1] - joint.sum(axis=1)[:-1]
        variance = (moved * shares) @ moved.T - np.outer(d, d)
        return cls(float(d @ np.linalg.pinv(variance, rcond=1e-12, hermitian=True) @ d), k - 1, alpha)

    @classmethod
    def plain(cls, joint: Floats, alpha: float) -> _ChangeTest:
        """Of answers that are not randomised."""
        return cls.of(Mechanism.from_matrix(np.eye(len(joint))), joint, alpha)

    def power(self, n: int) -> float:
        from scipy.special import chndtr

        return 1 - float(chndtr(self._critical, self.freedom, n * self.noncentrality))

    @property
    def _critical(self) -> float:
        from scipy.special import chdtri

        return float(chdtri(self.freedom, self.alpha))

    def rule(self, n: int) -> _Outcome:
        return _Outcome(self._critical, self.alpha, 1 - self.power(n), exact=False)

    def sketch(self, n: int) -> float:
        return self.power(n)

    def people(self, wanted: float) -> int | None:
        """The smallest number that reaches the power; None to 10^10."""
        if not self.noncentrality > 0:
            return None
        return smallest_count(lambda n: self.power(n) >= wanted, min(math.ceil(8 / self.noncentrality), MOST_PEOPLE), 1)


def _asked_twice(k: int, epsilon: Any) -> Mechanism:
    return randomized_response(k, epsilon)


def _joint(before: Floats, transition: Any) -> Floats:
    """Shares of pairs of answers."""
    table = np.asarray(transition, dtype=np.float64)
    if table.shape != (before.size, before.size):
        raise InvalidParameter(
            f"transition must be a {before.size} × {before.size} matrix",
            parameter="transition.shape",
            value=table.shape,
        )
    rows = np.stack([as_prior(row, f"transition[{i}]").values for i, row in enumerate(table.tolist())])
    return np.asarray(before[:, None] * rows)


def _level(
    test: Callable[[Fraction], _Test | _ChangeTest], plain: _Test | _ChangeTest, people: int, wanted: float
) -> Fraction:
    """The smallest ε at which n people reach the power with the best mechanism."""
    found = smallest_level(lambda e: test(e).power(people) >= wanted, lambda e: test(e).sketch(people) >= wanted)
    if found is not None:
        return found
    raise unreached("power", people, wanted, plain.people(wanted), "No number of people will do.")


def _checked_power(power: Any, alpha: float) -> float:
    value = significance(power, "power")
    if value <= alpha:
        raise InvalidParameter(
            "power must be above alpha: that much has a coin",
            parameter="power",
            value=power,
            hint=f"alpha is {alpha:g}; power is usually 0.8 or 0.9.",
        )
    return value
