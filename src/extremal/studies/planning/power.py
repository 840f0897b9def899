"""Plans of tests, between two hypotheses or of a change in the same people: of people, privacy and power, two are given
and the third is solved for.

The test is that of `ex.test_hypotheses`: most powerful of its level, with errors bounded for the n at hand. Its power
is one minus the bound on a miss, so a plan never promises more than the test will print.

A change is tested as `ex.estimate_change(…).test()` does: n·dᵀV⁻¹d with d the changes and V the covariance of what a
pair of reports contributes, which is χ² with k − 1 degrees of freedom without change, and non-central with it; the
power is that of the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from extremal.errors import InvalidParameter, called_as
from extremal.estimate.hypothesis_tests.reports import refuse_uncountable, significance
from extremal.exact import Prior, as_count
from extremal.mechanism import Mechanism
from extremal.studies.planning.hypotheses import ChangeTest, NoChange, RatioTest, TwoHypotheses, hypotheses_of
from extremal.studies.planning.planned import Aim, Curve, Planned, left_out, people_around, unreached
from extremal.studies.planning.search import smallest_level
from extremal.tables import number, outward


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
    hypotheses: TwoHypotheses | NoChange = field(repr=False)

    def _sentences(self) -> list[str]:
        if isinstance(self.hypotheses, NoChange):
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
        drawn = self._drawn(self.hypotheses.plain.power, f"power at α = {self.alpha:g}")
        for axis in drawn.axes:
            axis.set_ylim(0, 1.02)
        return drawn

    def _curve(self, mechanism: Mechanism) -> Curve:
        return self.hypotheses.test(mechanism).power

    def _best(self, epsilon: Any) -> Mechanism:
        return self.hypotheses.best(epsilon)

    def _around(self) -> list[int]:
        return people_around(max(1, self.n // 10), max(20, self.n * 4))


@called_as("ex.plan_test(p0=[0.5, 0.5], p1=[0.4, 0.6], epsilon=1, power=0.8)")
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
    inputs = mechanism.input_labels if isinstance(mechanism, Mechanism) else None
    hypotheses = hypotheses_of(p0, p1, transition, significance(alpha), inputs)
    if mechanism is not None:
        refuse_uncountable(mechanism)
    solved = left_out(mechanism, epsilon, n, "power", power)
    wanted = None if power is None else _checked_power(power, hypotheses.alpha)
    people = None if n is None else as_count(n, "n", 1)
    reached = _solved(hypotheses, mechanism, epsilon, people, wanted)
    return TestPlan(
        solved=solved,
        wanted=wanted,
        alpha=hypotheses.alpha,
        designed=mechanism is None,
        hypotheses=hypotheses,
        **reached,
    )


plan_test.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


def _solved(
    hypotheses: TwoHypotheses | NoChange, mechanism: Mechanism | None, epsilon: Any, n: int | None, wanted: float | None
) -> dict[str, Any]:
    """Solve for what was left out; the fields of the plan."""
    aim = Aim(
        "power",
        best=hypotheses.best,
        people=lambda m, power: hypotheses.test(m).people(power),
        level=lambda people, power: _level(hypotheses, people, power),
        hint="The reports hardly differ between p0 and p1: ask at a larger ε.",
    )
    asked, nats, people = aim.solve(mechanism, epsilon, n, wanted)
    rule = hypotheses.test(asked).rule(people)
    reached = 1 - rule.missed
    without = hypotheses.plain.people(reached) if hypotheses.alpha < reached < 1 else people
    return {
        "n": people,
        "epsilon": nats,
        "power": reached,
        "level": rule.level,
        "critical": rule.critical,
        "exact": rule.exact,
        "mechanism": asked,
        "without_privacy": people if without is None else min(without, people),
        "p0": hypotheses.p0,
        "p1": hypotheses.p1,
    }


def _level(hypotheses: TwoHypotheses | NoChange, people: int, wanted: float) -> Fraction:
    """The smallest ε at which n people reach the power with the best mechanism."""

    def test(epsilon: Fraction) -> RatioTest | ChangeTest:
        return hypotheses.test(hypotheses.best(epsilon))

    found = smallest_level(lambda e: test(e).power(people) >= wanted, lambda e: test(e).sketch(people) >= wanted)
    if found is not None:
        return found
    raise unreached("power", people, wanted, hypotheses.plain.people(wanted), "No number of people will do.")


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
