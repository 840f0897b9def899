"""What is asked: the answers to a question, what is wanted of them, and what that costs at a level.

Costs are put on one scale, so that questions can be compared. Of a question with F = n × the total mean squared error
of t statistics it is F/t, n × the mean variance of one statistic; of a mean in units of its range. With n people half
the length of an interval is about z·√(F/(t·n)).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from extremal.closed_forms import randomized_response, subset_selection
from extremal.closed_forms.set_systems import best_size_for_frequencies
from extremal.errors import InvalidParameter
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures.joint import LISTED_REPORTS, MOST_FAMILY_ENTRIES, AllSets, Decomposed, Family
from extremal.optimize import design
from extremal.optimize.questions import FamilyOption, shares_option
from extremal.privacy import LDP
from extremal.utility import Frequencies, Mean, Workload

PARTS_OF_BUDGET = (1, 2, 4)  # a goal's families are designed at ε over these: alone, and among some other questions
SECONDS = 10  # for one design
GRID = 9  # levels at which the cost of a goal is computed; between them it is interpolated


@dataclass(frozen=True, eq=False)
class Question:
    """One question.

    Attributes:
        name: its column.
        labels: its answers.
        goal: what is wanted; None for the shares of all answers.
        importance: margins are compared after multiplication with it.
    """

    name: str
    labels: Labels
    goal: Workload | None = None
    importance: float = 1.0

    @property
    def k(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> Sequence[Question]:
        """Itself: the columns of a record that it is about."""
        return (self,)

    @property
    def margins(self) -> dict[str, float]:
        """Its cost to each of its columns."""
        return {self.name: 1.0}

    @cached_property
    def alike(self) -> str:
        """The same for questions that may be exchanged."""
        return json.dumps([self.k, None if self.goal is None else self.goal.to_json(), self.importance])

    @property
    def unit(self) -> float:
        """What a margin is measured in: the range of a mean, or 1."""
        return float(np.ptp(self.goal.values)) if isinstance(self.goal, Mean) else 1.0

    def cost(self, matrix: Floats) -> float:
        """n × the mean variance of a statistic, in units of the question, of the goal's best estimates from these
        reports."""
        goal = Frequencies(self.k) if self.goal is None else self.goal
        return float(goal(matrix) / goal.rows.shape[0] / self.unit**2)

    def best(self, epsilon: Fraction) -> Mechanism:
        """The mechanism for this question alone: subset selection for shares, else the design."""
        if self.goal is not None:
            return design(LDP(epsilon), self.goal, inputs=list(self.labels), time_limit=SECONDS).mechanism
        if best_size_for_frequencies(self.k, float(epsilon)) == 1:
            return randomized_response(self.k, epsilon, inputs=list(self.labels))
        return subset_selection(self.k, epsilon, inputs=list(self.labels))

    def family(self, epsilon: Fraction) -> Family:
        """The family of the best mechanism at a level."""
        if self.goal is None:
            return AllSets(self.k, best_size_for_frequencies(self.k, float(epsilon)))
        mechanism = self.best(epsilon)
        if mechanism.k * mechanism.m > MOST_FAMILY_ENTRIES:
            raise InvalidParameter(
                "the mechanism of a goal in a questionnaire must be listed",
                parameter="inputs × outputs",
                value=f"{mechanism.k} × {mechanism.m}",
                hint=f"Ask for the shares of {self.name!r}, or give it fewer answers.",
            )
        return Decomposed(np.array(mechanism.weights))

    def variance(self, epsilon: float) -> float:
        """The cost with the best mechanism at a level."""
        if self.goal is None:
            return total_variance(self.k, epsilon) / self.k
        logs = np.log(self._grid[0])
        return float(math.exp(np.interp(math.log(epsilon), logs, np.log(self._grid[1]))))

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        levels = np.geomspace(0.02, 40.0, GRID)
        return levels, np.array([self.cost(self.best(Fraction(repr(float(e)))).matrix) for e in levels])

    def families(self, epsilon: Fraction) -> list[tuple[Family, FamilyOption]]:
        """Families worth a place in a block, each with what it tells."""
        if self.goal is None:
            return self._sets(float(epsilon))
        made: dict[str, Decomposed] = {}
        mechanisms = [self.best(epsilon / part) for part in PARTS_OF_BUDGET]
        for mechanism in mechanisms:
            if mechanism.k * mechanism.m <= MOST_FAMILY_ENTRIES:
                weights = np.array(mechanism.weights)
                made.setdefault(repr((weights > weights.min(axis=0)).tolist()), Decomposed(weights))
        if not made:
            raise InvalidParameter("the goal of a question in a block needs a listed mechanism", parameter=self.name)
        return [(family, self._told(family)) for family in made.values()]

    def _told(self, family: Decomposed) -> FamilyOption:
        base, truth = family.base(), family.truth()

        def information(gamma: float) -> float:
            return 1 / self.cost((1 - gamma) * base + gamma * truth)

        return FamilyOption(float(family.odds), information)

    def _sets(self, epsilon: float) -> list[tuple[Family, FamilyOption]]:
        """Sets of up to the best size for this question alone: a block asks it at a smaller level, which only
        enlarges sets up to half of the answers."""
        k, scale = self.k, self.k / (1 - 1 / self.k)
        listed = [d for d in range(1, max(1, k // 2) + 1) if math.comb(k, d) <= LISTED_REPORTS]
        alone = best_size_for_frequencies(k, epsilon)
        sizes = [(d, False) for d in listed] + ([] if alone in listed else [(alone, True)])
        if alone not in listed:  # reports that are not listed come in one kind only
            sizes = [(alone, True)]
        return [(AllSets(k, d), _scaled(shares_option(k, d, only), scale)) for d, only in sizes]


@dataclass(frozen=True, eq=False)
class BranchQuestion(Question):
    """A filter and the questions behind it: one question, whose answers are the admissible records.

    Of its columns j the largest margin counts: with K records, n_b of which have answer b, n × the mean variance of
    the shares is v_j/γ² at equally likely records, v_j = mean_b (n_b/K)(1 − n_b/K), γ = c/(c + K).

    Attributes:
        members: its columns.
        records: the codes of their answers.
    """

    members: tuple[Question, ...] = ()
    records: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, members: Sequence[Question], records: Sequence[tuple[int, ...]]) -> BranchQuestion:
        labels = Labels(range(len(records)))
        return cls(members[0].name, labels, None, 1.0, tuple(members), tuple(records))

    @cached_property
    def alike(self) -> str:
        return json.dumps([self.records, [m.importance for m in self.members]])

    @property
    def columns(self) -> Sequence[Question]:
        return self.members

    @cached_property
    def _spread(self) -> dict[str, float]:
        found = {}
        for place, member in enumerate(self.members):
            shares = np.bincount([r[place] for r in self.records], minlength=member.k) / len(self.records)
            found[member.name] = float((shares * (1 - shares)).mean())
        return found

    @property
    def _largest(self) -> float:
        return max(v * m.importance**2 for v, m in zip(self._spread.values(), self.members, strict=True))

    @property
    def margins(self) -> dict[str, float]:
        return {name: v / self._largest for name, v in self._spread.items()}

    def variance(self, epsilon: float) -> float:
        return self._largest * (1 + self.k / math.expm1(epsilon)) ** 2

    def family(self, epsilon: Fraction) -> Family:
        return AllSets(self.k, 1)

    def families(self, epsilon: Fraction) -> list[tuple[Family, FamilyOption]]:
        worth = 1 / self._largest
        return [(AllSets(self.k, 1), FamilyOption(float(self.k), lambda gamma: gamma * gamma * worth))]


def _scaled(option: FamilyOption, scale: float) -> FamilyOption:
    return FamilyOption(option.odds, lambda gamma: scale * option.information(gamma), option.alone)


def total_variance(k: int, epsilon: float) -> float:
    """n × the total variance of k estimated shares by subset selection at ε with the best size d, the worst case over
    all shares (Ye and Barg 2018): (k − 1)²(ku + d)²/(k·d(k − d)), u = 1/(e^ε − 1).

    >>> round(total_variance(10, 1.0), 4)
    30.0041
    """
    d = best_size_for_frequencies(k, epsilon)
    return (k - 1) ** 2 * (k / math.expm1(epsilon) + d) ** 2 / (k * d * (k - d))
