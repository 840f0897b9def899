"""Questions as they are given: answers, ranges, goals, "tick all that apply", and what follows from an earlier answer.

A filter and the questions behind it become one question whose answers are the admissible records; everything else is
one `Question` for each column. A question that comes with its mechanism is passed on as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.questionnaire.questions import BranchQuestion, Question
from extremal.questionnaire.records import MOST_RECORDS, NO_ANSWER, SKIPPED
from extremal.utility import Mean, Workload

T = TypeVar("T")


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
    given: Any, importance: Mapping[str, Any] | None, optional: Iterable[str] | None = None
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
    fixed, conditions = _of_kind(single, Mechanism), _of_kind(single, OnlyIf)
    asked = {
        name: _question(name, conditions[name].ask if name in conditions else what, weights[name])
        for name, what in single.items()
        if name not in fixed
    }
    return _branched(_with_silence(asked, optional or ()), conditions), fixed


def _of_kind(single: Mapping[str, Any], kind: type[T]) -> dict[str, T]:
    return {name: what for name, what in single.items() if isinstance(what, kind)}


def _with_silence(asked: dict[str, Question], optional: Iterable[str]) -> dict[str, Question]:
    """The questions, with "(no answer)" among the answers to the optional ones."""
    for name in dict.fromkeys(optional):
        if name not in asked or asked[name].goal is not None:
            raise InvalidParameter(
                "optional must name questions about shares", parameter="optional", value=name, hint="optional=['age']."
            )
        asked[name] = _with_label(asked[name], NO_ANSWER)
    return asked


def _with_label(question: Question, label: str) -> Question:
    labels = Labels([*question.labels, label], f"questions[{question.name!r}]")
    return Question(question.name, labels, None, question.importance)


def _branched(asked: dict[str, Question], conditions: Mapping[str, OnlyIf]) -> list[Question]:
    """The questions, those that lead to others together with them."""
    followers: dict[str, list[str]] = {}
    for name, condition in conditions.items():
        _refuse_condition(name, condition, asked)
        followers.setdefault(condition.question, []).append(name)
    for name in conditions:
        asked[name] = _with_label(asked[name], SKIPPED)
    return [
        _branch(name, asked, conditions, followers) if name in followers else question
        for name, question in asked.items()
        if name not in conditions
    ]


def _refuse_condition(name: str, condition: OnlyIf, asked: Mapping[str, Question]) -> None:
    """Raise unless it names answers to an earlier question."""
    before, names = condition.question, list(asked)
    if before not in asked or names.index(before) >= names.index(name) or asked[name].goal is not None:
        raise InvalidParameter(
            "a condition is on an earlier question about shares", parameter=f"questions[{name!r}]", value=before
        )
    for answer in condition.leads:
        if asked[before].labels.find(answer) is None:
            raise InvalidParameter(
                f"a condition names answers to {before!r}", parameter=f"questions[{name!r}]", value=answer
            )


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
        return _with_goal(name, given, _answers_to(given), importance)
    return Question(name, _listed(name, given), None, importance)


def _answers_to(goal: Workload) -> list[int]:
    """The answers of a goal that comes without labels: the values of a mean that are whole, else numbers."""
    if isinstance(goal, Mean) and all(float(v).is_integer() for v in goal.values):
        return [int(v) for v in goal.values]
    return list(range(goal.k))


def _listed(name: str, given: Any) -> Labels:
    """Answers that are given as a list, a range, or their number."""
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
    return labels


def _with_goal(name: str, goal: Workload, answers: list[Any], importance: float) -> Question:
    labels = Labels(answers, f"questions[{name!r}]")
    if len(labels) != goal.k:
        raise InvalidParameter(
            f"the goal of {name!r} is about {goal.k} answers", parameter=f"questions[{name!r}]", value=len(labels)
        )
    return Question(name, labels, goal, importance)
