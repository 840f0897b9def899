"""Plans of a survey with several questions: every question's half-width from n people, or the people for a half-width.

A question that a person is asked with probability p gets about n·p reports of its own mechanism; `ex.plan` says what
these reach, with the intervals that the estimators report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.studies.planning import Plan, plan
from extremal.tables import aligned, as_frame, number
from extremal.utility import Mean

if TYPE_CHECKING:
    from extremal.questionnaire.questionnaire import Questionnaire

SLACK = 1e-6  # of a person: chances are over 2^53, and 2/3 of 996 is 664


@dataclass(frozen=True, eq=False)
class QuestionnairePlan:
    """A survey with several questions that was planned, from `Questionnaire.plan`.

    Attributes:
        n: people.
        solved: what was left out: "n" or "half_width".
        level: of confidence.
        plans: of each question, for those who are asked it.
        chances: how likely a person is asked each question.
    """

    n: int
    solved: str
    level: float
    plans: Mapping[str, Plan]
    chances: Mapping[str, float]

    @property
    def half_widths(self) -> dict[str, float]:
        """Of the widest interval of each question."""
        return {name: found.half_width for name, found in self.plans.items()}

    def to_frame(self) -> Any:
        """A data frame with a row for each question."""
        rows = list(self.plans.items())
        return as_frame(
            {
                "question": [name for name, _ in rows],
                "asked": [self.chances[name] for name, _ in rows],
                "n": [found.n for _, found in rows],
                "half_width": [found.half_width for _, found in rows],
            }
        )

    def summary(self) -> str:
        """The plan as a table."""
        rows = [
            [name, f"{100 * self.chances[name]:.3g}%", f"{found.n:,}", number(found.half_width, 4)]
            for name, found in self.plans.items()
        ]
        head = f"Plan: {self.n:,} people; half-width of the widest {100 * self.level:g}% interval of each question"
        note = "Half-widths of shares hold for any shares; those of a goal are at its prior, in its own units."
        return f"{head}\n\n{aligned(['question', 'asked of', 'people', 'half-width'], rows, left=1)}\n{note}"

    __str__ = summary


def plan_questions(asked: Questionnaire, n: Any, half_width: Any, level: float) -> QuestionnairePlan:
    """See `Questionnaire.plan`."""
    if (n is None) == (half_width is None):
        raise InvalidParameter(
            "give n or half_width, and the other is solved for", parameter="n, half_width", value=(n, half_width)
        )
    chances = {name: float(asked.chance(name)) for name in asked.questions}
    if n is not None:
        people = as_count(n, "n", 2)
        found = {name: _planned(asked, name, level, n=_reports(people, chances[name])) for name in asked.questions}
        return QuestionnairePlan(people, "half_width", level, found, chances)
    widths = _widths(asked, half_width)
    found = {name: _planned(asked, name, level, half_width=width) for name, width in widths.items()}
    needed = max(math.ceil(found[name].n / chances[name] - SLACK) for name in found)
    reached = {name: _planned(asked, name, level, n=_reports(needed, chances[name])) for name in asked.questions}
    return QuestionnairePlan(needed, "n", level, reached, chances)


def _reports(people: int, chance: float) -> int:
    """How many are expected to be asked a question."""
    return max(2, math.floor(people * chance + SLACK))


def _planned(asked: Questionnaire, name: str, level: float, **given: Any) -> Plan:
    return plan(asked.questions[name], workload=asked.goals.get(name), level=level, **given)


def _widths(asked: Questionnaire, half_width: Any) -> dict[str, float]:
    """The half-width that is wanted of each question, in its own units."""
    if isinstance(half_width, Mapping):
        strange = [name for name in half_width if name not in asked.questions]
        if strange or not half_width:
            raise InvalidParameter("half_width must be of questions", parameter="half_width", value=strange[:1])
        return {name: float(width) for name, width in half_width.items()}
    found = {}
    for name in asked.questions:
        goal = asked.goals.get(name)
        found[name] = half_width * float(np.ptp(goal.values)) if isinstance(goal, Mean) else half_width
    return found
