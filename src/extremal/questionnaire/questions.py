"""What is asked: the answers to a question, what is wanted of them, and what that costs at a level.

Costs are put on one scale, so that questions can be compared. Of a question with F = n × the total mean squared error
of t statistics it is F/t, n × the mean variance of one statistic; of a mean in units of its range. With n people half
the length of an interval is about z·√(F/(t·n)).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from extremal.closed_forms import randomized_response, subset_selection
from extremal.closed_forms.set_systems import best_size_for_frequencies
from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures.joint import LISTED_REPORTS, MOST_FAMILY_ENTRIES, AllSets, Decomposed, Family
from extremal.optimize import design
from extremal.optimize.questions import FamilyOption, shares_option
from extremal.privacy import LDP
from extremal.questionnaire.records import MOST_RECORDS, NO_ANSWER, SKIPPED
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


def total_variance(k: int, epsilon: float, size: int | None = None) -> float:
    """n × the total variance of k estimated shares by subset selection at ε, the worst case over all shares; with the
    best size if none is given (Ye and Barg 2018): (k − 1)²(ku + d)²/(k·d(k − d)), u = 1/(e^ε − 1).

    >>> round(total_variance(10, 1.0), 4)
    30.0041
    """
    d = best_size_for_frequencies(k, epsilon) if size is None else size
    return (k - 1) ** 2 * (k / math.expm1(epsilon) + d) ** 2 / (k * d * (k - d))


# -- as given


@dataclass(frozen=True)
class TickAll:
    """A question "tick all that apply": one yes/no question for each item, as columns `question: item`.

    >>> TickAll(["fever", "cough"]).questions("symptoms")
    {'symptoms: fever': [False, True], 'symptoms: cough': [False, True]}
    """

    items: Sequence[str]

    def questions(self, name: str) -> dict[str, list[bool]]:
        return {f"{name}: {item}": [False, True] for item in self.items}


@dataclass(frozen=True)
class OnlyIf:
    """A question that is asked only where the answer to an earlier question is one of some.

    Attributes:
        question: the earlier question.
        answers: those that lead to this one; one of them, or a list.
        ask: the answers to this question, their number, or a range.

    >>> OnlyIf("smokes", "yes", ["1-5", "6-20", "more"]).leads
    ('yes',)
    """

    question: str
    answers: Any
    ask: Any

    @property
    def leads(self) -> tuple[Any, ...]:
        return tuple(self.answers) if isinstance(self.answers, (list, tuple, range)) else (self.answers,)


def questions_of(
    given: Any, importance: Mapping[str, Any] | None, optional: Iterable[str] = ()
) -> tuple[list[Question], dict[str, Mechanism]]:
    """The questions to be asked within a budget, and those that have their mechanism already."""
    if not isinstance(given, Mapping) or not given:
        raise InvalidParameter(
            "questions must map names to answers",
            parameter="questions",
            value=type(given).__name__,
            hint='Give {"drugs": ["no", "yes"], "party": 8}.',
        )
    single: dict[str, Any] = {}
    for name, what in given.items():
        single.update(what.questions(name) if isinstance(what, TickAll) else {name: what})
    weights = _importance(single, given, importance or {})
    fixed = {name: what for name, what in single.items() if isinstance(what, Mechanism)}
    conditions = {name: what for name, what in single.items() if isinstance(what, OnlyIf)}
    asked = {
        name: _question(name, what.ask if isinstance(what, OnlyIf) else what, weights[name])
        for name, what in single.items()
        if name not in fixed
    }
    for name in dict.fromkeys(optional):
        if name not in asked or asked[name].goal is not None:
            raise InvalidParameter(
                "optional must name questions about shares", parameter="optional", value=name, hint="optional=['age']."
            )
        asked[name] = _with_label(asked[name], NO_ANSWER)
    return _branched(asked, conditions), fixed


def _with_label(question: Question, label: str) -> Question:
    labels = Labels([*question.labels, label], f"questions[{question.name!r}]")
    return Question(question.name, labels, None, question.importance)


def _branched(asked: dict[str, Question], conditions: Mapping[str, OnlyIf]) -> list[Question]:
    """The questions, those that lead to others together with them."""
    if not conditions:
        return list(asked.values())
    followers: dict[str, list[str]] = {}
    names = list(asked)
    for name, condition in conditions.items():
        before = condition.question
        if before not in asked or names.index(before) >= names.index(name) or asked[name].goal is not None:
            raise InvalidParameter(
                "a condition is on an earlier question about shares", parameter=f"questions[{name!r}]", value=before
            )
        for answer in condition.leads:
            if asked[before].labels.find(answer) is None:
                raise InvalidParameter(
                    f"a condition names answers to {before!r}", parameter=f"questions[{name!r}]", value=answer
                )
        followers.setdefault(before, []).append(name)
    for name in conditions:
        asked[name] = _with_label(asked[name], SKIPPED)
    return [
        _branch(name, asked, conditions, followers) if name in followers else asked[name]
        for name in names
        if name not in conditions
    ]


def _branch(
    root: str, asked: Mapping[str, Question], conditions: Mapping[str, OnlyIf], followers: Mapping[str, list[str]]
) -> BranchQuestion:
    """A filter with all that follows from it, in the order of the questions."""
    inside, waiting = {root}, [root]
    while waiting:
        new = followers.get(waiting.pop(), [])
        inside |= set(new)
        waiting += new
    members = [name for name in asked if name in inside]
    records: list[tuple[int, ...]] = [()]
    for name in members:
        records = [(*r, code) for r in records for code in _admissible(name, members, r, asked, conditions)]
        if len(records) > MOST_RECORDS:
            raise InvalidParameter(
                f"a filter and what follows it have at most {MOST_RECORDS:,} admissible records",
                parameter=f"questions[{root!r}]",
                value=f"more than {MOST_RECORDS:,}",
                hint="Ask fewer answers behind the filter.",
            )
    return BranchQuestion.of([asked[name] for name in members], records)


def _admissible(
    name: str,
    members: list[str],
    record: tuple[int, ...],
    asked: Mapping[str, Question],
    conditions: Mapping[str, OnlyIf],
) -> Iterable[int]:
    """The answers to a question behind these earlier ones."""
    own = asked[name]
    if name not in conditions:
        return range(own.k)
    before = conditions[name].question
    answer = asked[before].labels[record[members.index(before)]]
    applies = any(type(answer) is type(lead) and answer == lead for lead in conditions[name].leads)
    return range(own.k - 1) if applies else (own.k - 1,)


def _importance(single: Mapping[str, Any], given: Mapping[str, Any], importance: Mapping[str, Any]) -> dict[str, float]:
    """One number for each question; that of "tick all that apply" is for all its items."""
    found = dict.fromkeys(single, 1.0)
    for name, number in importance.items():
        items = given[name].questions(name) if isinstance(given.get(name), TickAll) else [name]
        if name not in given and name not in single:
            raise InvalidParameter("importance must be of questions", parameter="importance", value=name)
        value = float(as_fraction(number, f"importance[{name!r}]"))
        if not 0 < value < math.inf:
            raise InvalidParameter("importance must be positive", parameter=f"importance[{name!r}]", value=number)
        found.update(dict.fromkeys(items, value))
    return found


def _question(name: Any, given: Any, importance: float) -> Question:
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameter("a question needs a name", parameter="name", value=name)
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Workload):
        return _with_goal(name, given[1], list(given[0]), importance)
    if isinstance(given, Workload):
        whole = isinstance(given, Mean) and all(float(v).is_integer() for v in given.values)
        answers = [int(v) for v in given.values] if whole and isinstance(given, Mean) else list(range(given.k))
        return _with_goal(name, given, answers, importance)
    if isinstance(given, int) and not isinstance(given, bool):
        given = range(given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(
            "a question needs its answers, their number, a range, a goal such as ex.Mean(values), or a mechanism",
            parameter=f"questions[{name!r}]",
            value=given if isinstance(given, (str, bool)) else type(given).__name__,
        )
    labels = Labels(given if isinstance(given, range) else list(given), f"questions[{name!r}]")
    if len(labels) < 2:
        raise InvalidParameter(
            f"question {name!r} must have at least 2 answers", parameter=f"questions[{name!r}]", value=list(labels)
        )
    return Question(name, labels, None, importance)


def _with_goal(name: str, goal: Workload, answers: list[Any], importance: float) -> Question:
    labels = Labels(answers, f"questions[{name!r}]")
    if len(labels) != goal.k:
        raise InvalidParameter(
            f"the goal of {name!r} is about {goal.k} answers", parameter=f"questions[{name!r}]", value=len(labels)
        )
    return Question(name, labels, goal, importance)
