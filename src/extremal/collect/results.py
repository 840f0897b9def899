"""What the reports of a study say so far: estimates with intervals, the precision that is reached, and when the one
that is aimed at will be.

Estimates are made of counts: the store counts equal contents, and every question's reports are counted from these. They
are those of `Questionnaire.estimate` on the same reports.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.collect.store import Store
from extremal.collect.study import Study, day_of, today
from extremal.collect.uploads import read_content
from extremal.errors import ExtremalError
from extremal.estimate import estimate_frequencies, estimate_workload
from extremal.questionnaire import Questionnaire
from extremal.questionnaire.records import NO_ANSWER, SKIPPED

FEWEST = 2  # reports to a question from which something is estimated
RECENT_DAYS = 7  # whose mean the forecast takes to go on
LEVEL = 0.95  # of intervals on the pages
FURTHEST = 365_000  # days ahead that a forecast says


@dataclass(frozen=True)
class EstimatedNumber:
    """One number: an answer's share, or a statistic."""

    name: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class QuestionResult:
    """What is known of one question.

    Attributes:
        name, text: as in the questionnaire.
        n: how many were asked.
        lines: the estimates; empty while there are fewer than two reports.
        shares: whether the lines are shares of answers.
        half_width: of the widest interval; infinite while there is none.
    """

    name: str
    text: str
    n: int
    lines: tuple[EstimatedNumber, ...]
    shares: bool
    half_width: float


@dataclass(frozen=True, eq=False)
class Results:
    """A study as it stands.

    Attributes:
        n: people whose reports are stored.
        needed: people that the precision aimed at needs, of every question; None if that is not known.
        by_day: how many came on each day.
        rejects: uploads refused, by reason.
        invitations: spent and made.
        closed: the day of closing, or nothing.
        questions: the estimates.
    """

    study: Study
    n: int
    needed: int | None
    by_day: dict[datetime.date, int]
    rejects: dict[str, int]
    invitations: tuple[int, int]
    closed: str
    questions: tuple[QuestionResult, ...]

    @property
    def reached_on(self) -> datetime.date | None:
        """The day on which the precision is reached if people come as in the last days; None if never or reached."""
        if self.needed is None or self.n >= self.needed or self.closed:
            return None
        start = today() - datetime.timedelta(days=RECENT_DAYS - 1)
        recent = [number for day, number in self.by_day.items() if day >= start]
        days = min(RECENT_DAYS, (today() - min(self.by_day, default=today())).days + 1)
        rate = sum(recent) / days
        ahead = math.ceil((self.needed - self.n) / rate) if rate else FURTHEST
        return today() + datetime.timedelta(days=ahead) if ahead < FURTHEST else None

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.study.title,
            "questionnaire": self.study.questionnaire.hash,
            "epsilon": self.study.questionnaire.epsilon,
            "n": self.n,
            "closed": self.closed or None,
            "until": None if self.study.until is None else self.study.until.isoformat(),
            "precision": self.study.precision,
            "people_needed": self.needed,
            "reached_on": None if self.reached_on is None else self.reached_on.isoformat(),
            "by_day": {day.isoformat(): number for day, number in self.by_day.items()},
            "rejects": self.rejects,
            "invitations": None
            if not self.study.invited
            else dict(zip(("spent", "made"), self.invitations, strict=True)),
            "questions": {q.name: _question_json(q) for q in self.questions},
        }


def _question_json(question: QuestionResult) -> dict[str, Any]:
    return {
        "n": question.n,
        "half_width": question.half_width if math.isfinite(question.half_width) else None,
        "estimates": [
            {"name": line.name, "estimate": line.estimate, "low": line.low, "high": line.high}
            for line in question.lines
        ],
    }


def counted(asked: Questionnaire, contents: Iterable[tuple[str, int]]) -> dict[str, Counter[Any]]:
    """How often each report to each question was made."""
    found: dict[str, Counter[Any]] = {name: Counter() for name in asked.questions}
    counters = list(found.values())
    for content, number in contents:
        for counter, report in zip(counters, read_content(content), strict=True):
            if report is not None:
                counter[type(report), report] += number
    return {
        name: Counter({report: number for (_, report), number in counter.items()}) for name, counter in found.items()
    }


def estimated(asked: Questionnaire, counts: dict[str, Counter[Any]]) -> dict[str, Any]:
    """The estimate of every question that has two reports, or None."""
    return {name: _estimate(asked, name, counter) for name, counter in counts.items()}


def _estimate(asked: Questionnaire, name: str, counter: Counter[Any]) -> Any:
    if counter.total() < FEWEST:
        return None
    mechanism, goal = asked.questions[name], asked.goals.get(name)
    if goal is None:
        return estimate_frequencies(dict(counter), mechanism)
    return estimate_workload(dict(counter), mechanism, goal)


def results_of(study: Study, store: Store, needed: int | None) -> Results:
    """Everything about a study; it reads every report once."""
    asked = study.questionnaire
    counts = counted(asked, store.contents())
    found = estimated(asked, counts)
    by_day = {day_of(number): reports for number, reports in store.by_day().items()}
    questions = tuple(_result(asked, name, counts[name].total(), found[name]) for name in asked.questions)
    return Results(
        study,
        sum(by_day.values()),
        needed,
        by_day,
        store.rejects(),
        store.invitations(),
        store.closed(),
        questions,
    )


def people_needed(study: Study) -> int | None:
    """How many people the precision aimed at needs; None where no plan is made."""
    try:
        return study.questionnaire.plan(half_width=study.precision).n
    except (ExtremalError, ArithmeticError):
        return None


def _result(asked: Questionnaire, name: str, n: int, estimate: Any) -> QuestionResult:
    text = _text(asked, name)
    if estimate is None:
        return QuestionResult(name, text, n, (), True, math.inf)
    limits = np.asarray(estimate.interval(LEVEL), dtype=np.float64)
    shares = name not in asked.goals
    names = _answers(asked, name) if shares else [str(one) for one in estimate.names]
    values = np.asarray(estimate.estimate, dtype=np.float64)
    lines = tuple(
        EstimatedNumber(label, float(value), float(low), float(high))
        for label, value, (low, high) in zip(names, values, limits, strict=True)
    )
    return QuestionResult(name, text, n, lines, shares, float(np.max(limits[:, 1] - limits[:, 0]) / 2))


def _text(asked: Questionnaire, name: str) -> str:
    told = asked.texts.get(name)
    if told is None or not told.text:
        return name
    return f"{told.group}: {told.text}" if told.group else told.text


def _answers(asked: Questionnaire, name: str) -> list[str]:
    """The answers as respondents read them; those for "skipped" and "no answer" are their own texts."""
    labels = [str(label) for label in asked.questions[name].inputs]
    told = asked.texts[name].answers if name in asked.texts else ()
    shown = iter(told)
    return [label if label in (NO_ANSWER, SKIPPED) else next(shown, label) for label in labels]
