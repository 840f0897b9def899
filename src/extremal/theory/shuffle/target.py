"""`ex.epsilon_for_shuffle`: the local mechanism for a central guarantee.

Given n people and a central (ε,δ), each family of mechanisms is used at the largest local level ε₀ whose shuffled
reports are proved to meet the target: the best mechanism under ε₀-LDP for the goal, and, for shares, randomised
response. What is optimal under LDP is not optimal once shuffled: with μ² = C/n, C = max Σ_y (Q(y|x₀) −
Q(y|x₁))²/Q(y|x*), the guarantee bounds C and not ε₀. Every mechanism has n·MSE ≥ 2(k−1)/C for k equally likely answers,
because with m the mean row Σ(Q(y|x₀) − Q(y|x₁))²/m(y) ≤ C, so that the information about the shares has trace at most
k + (k−1)C/2; randomised response reaches it up to a factor 1 + √(C/2k).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.closed_forms import randomized_response, subset_selection
from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction
from extremal.exact.bisection import bisected
from extremal.mechanism import Mechanism
from extremal.optimize import design
from extremal.privacy import LDP
from extremal.tables import aligned, number, wrapped
from extremal.theory.shuffle.claims import ShuffleClaim
from extremal.theory.shuffle.pairs import pairs_of
from extremal.utility import Frequencies

LOWEST, HIGHEST = 1e-4, 12.0  # local levels that are tried: beyond 12 an answer is hardly randomised
DIGITS = 5  # of the local level


@dataclass(frozen=True, eq=False)
class ShuffleCandidate:
    """A family of mechanisms at the largest local level that was proved to meet the target.

    Attributes:
        name: of the family.
        epsilon: the local level.
        mechanism: at that level.
        value: of the goal; for goals of estimation n times the mean squared error.
        claim: the central guarantee, proved.
    """

    name: str
    epsilon: float
    mechanism: Mechanism
    value: float
    claim: ShuffleClaim


@dataclass(frozen=True, eq=False)
class ShuffleTarget:
    """Mechanisms that meet a central guarantee after shuffling, the best for the goal first.

    Attributes:
        candidates: all of them; what follows is the first.
        least: for shares, a lower bound of the value for every mechanism with the index of the first; None otherwise.
    """

    candidates: tuple[ShuffleCandidate, ...]
    least: float | None
    goal: str
    is_cost: bool

    @property
    def epsilon(self) -> float:
        """The local level of the best candidate."""
        return self.candidates[0].epsilon

    @property
    def mechanism(self) -> Mechanism:
        return self.candidates[0].mechanism

    @property
    def claim(self) -> ShuffleClaim:
        """The central guarantee, proved; `save` writes it."""
        return self.candidates[0].claim

    def summary(self) -> str:
        """A table of the candidates, and what is proved about them."""
        claim, best = self.claim, self.candidates[0]
        head = (
            f"Central ε = {float(claim.epsilon):.8g}, δ = {float(claim.delta):g} with {claim.n:,} shuffled reports, "
            f"proved for every candidate; goal: {self.goal}."
        )
        rows = []
        for candidate in self.candidates:
            more = candidate.value / best.value - 1 if self.is_cost and best.value else math.nan
            said = "" if candidate is best or math.isnan(more) else f"{more:.1%} more people"
            rows.append([candidate.name, f"{candidate.epsilon:g}", number(candidate.value, 6), said])
        columns = ["mechanism", "local ε", "n·MSE" if self.is_cost else "value", ""]
        text = "\n".join([wrapped(head, "", ""), "", aligned(columns, rows, left=1)])
        if self.least is not None:
            text += "\n\n" + wrapped(
                f"No mechanism whose shuffled reports are as hard to tell apart (the same index C) has n·MSE below "
                f"{number(self.least, 6)}. That the local level is the largest possible is not proved, and a person's "
                "local guarantee is weaker where the local ε is larger.",
                "",
                "",
            )
        return text

    __str__ = summary


def epsilon_for_shuffle(n: int, epsilon: Any, delta: Any, goal: Any, inputs: Any = None) -> ShuffleTarget:
    """Choose the local mechanism for a goal under a central (ε,δ) guarantee of n shuffled reports.

    Guarantee: the central guarantee of every candidate is proved from its exact weights. The local levels are the
    largest to five digits at which that succeeded.

    Args:
        n: people who report.
        epsilon, delta: the central target.
        goal: what is to be learnt, such as `ex.Frequencies(10)`, `ex.CDF(10)` or `ex.Mean(values)`.
        inputs: labels of the answers.

    Raises:
        InvalidParameter: no local level from 1e-4 on meets the target.

    Reference: docs/theory/shuffle.md.

    >>> import extremal as ex
    >>> found = ex.epsilon_for_shuffle(100_000, 0.01, 1e-6, ex.Frequencies(20))
    >>> [candidate.name for candidate in found.candidates]
    ['randomised response', 'optimal under LDP']
    >>> found.epsilon > 1, bool(found.claim.verify())
    (True, True)
    """
    count, target = as_count(n, "n", 2), (as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta"))
    if not target[0] > 0 or not 0 < target[1] < 1:
        raise InvalidParameter(
            "epsilon > 0 and 0 < delta < 1 are required", parameter="epsilon, delta", value=(epsilon, delta)
        )
    shares = isinstance(goal, Frequencies)
    families: dict[str, Callable[[Fraction], Mechanism]] = {
        "optimal under LDP": lambda level: design(LDP(level), goal, inputs=inputs).mechanism
    }
    if shares:
        families["randomised response"] = lambda level: randomized_response(goal.k, level, inputs=inputs)
    if shares and _counts_alike(goal):  # as good as any design, and all pairs of answers are alike
        families["optimal under LDP"] = lambda level: subset_selection(goal.k, level, inputs=inputs)
    found = [_largest(name, make, count, *target, goal) for name, make in families.items()]
    candidates = sorted((c for c in found if c is not None), key=lambda c: c.value if goal.is_cost else -c.value)
    if not candidates:
        raise InvalidParameter(
            f"no local level from {LOWEST:g} on is proved to meet the target",
            parameter="epsilon, delta",
            value=(epsilon, delta),
            hint="Ask more people, or allow a larger ε.",
        )
    least = None
    if shares and _counts_alike(goal):
        index = max(max(pair.other_indices) for pair in pairs_of(candidates[0].mechanism.structure))
        least = 2 * (goal.k - 1) / index * (1 - 1e-9)
    return ShuffleTarget(tuple(candidates), least, goal.name, goal.is_cost)


def _counts_alike(goal: Frequencies) -> bool:
    """Whether all answers are wanted, equally likely and with weight 1."""
    same = goal.prior is not None and len(set(goal.prior.weights)) == 1
    return same and goal.symmetric and goal.weights[0] == 1


def _largest(
    name: str, make: Callable[[Fraction], Mechanism], n: int, epsilon: Fraction, delta: Fraction, goal: Any
) -> ShuffleCandidate | None:
    """The family at the largest level that is proved to meet the target; a level up to the central ε always does."""

    def claim(level: float) -> ShuffleClaim:
        return ShuffleClaim(make(Fraction(repr(level))), n, epsilon, delta)

    def meets(level: float) -> bool:
        return bool(claim(level).verify())

    def between(a: float, b: float) -> float:
        return float(f"{math.sqrt(a * b):.{DIGITS}g}")

    lowest = float(f"{min(max(LOWEST, float(epsilon)), HIGHEST):.{DIGITS}g}")
    if not meets(lowest):
        return None
    above = lowest
    while above < HIGHEST and meets(above):  # upwards, for levels far too large take long to decide
        lowest, above = above, float(f"{min(HIGHEST, above * 1.5):.{DIGITS}g}")
    level = bisected(meets, above, lowest, between=between)
    proved = claim(level)
    return ShuffleCandidate(name, level, proved.mechanism, float(goal(proved.mechanism)), proved)
