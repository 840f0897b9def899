"""Several questions to one person.

A person holds a record x = (x_1, …, x_J), one answer for each question, and reports y = (y_1, …, y_J), each answer
through its own mechanism. Given the record the reports are independent, so that together they are one mechanism on the
product of the alphabets,

    Q(y|x) = Π_j Q_j(y_j|x_j),

and its level is what counts for the person. Two records may differ in every answer, and the largest ratio of a product
whose factors vary freely is the product of the largest ratios: for pure LDP the levels add up *exactly*, whatever the
answers have to do with each other. With a δ it is less than the sum (KOV's composition of (ε,δ) mechanisms,
`ex.theory.composed_level`). A notion that rests on a prior (PML, LIP) speaks of one answer under that prior and not of
the record; such a question counts with its LDP level, infinite if it has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from extremal.closed_forms import randomized_response, subset_selection
from extremal.closed_forms.set_systems import best_size_for_frequencies
from extremal.columns.column import container_of, filled, refuse_missing
from extremal.columns.frames import columns_of, pick, with_columns
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate import CrosstabEstimate, estimate_crosstab, estimate_frequencies
from extremal.exact.exponential import LARGEST_EPSILON
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import SubsetSelection
from extremal.privacy import LDP
from extremal.questionnaire import files
from extremal.questionnaire.budget import split_budget
from extremal.questionnaire.disclosure import QuestionnaireDisclosure, disclosure
from extremal.release import privatize
from extremal.tables import aligned, number

if TYPE_CHECKING:
    from extremal.release.memory import Memory

MOST_QUESTIONS = 1 << 12  # more than anybody answers; a file of as many is read in seconds


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """Questions by name, each with its mechanism.

    Guarantee: what one person reports to all questions together satisfies `privacy`, decided on integers question by
    question; the sum is exact for pure LDP.

    Args:
        questions: a mechanism for each question. The names are the columns of a data frame.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> asked = ex.Questionnaire({f"question {i}": m for i in range(1, 7)})
    >>> asked.epsilon, asked.privacy
    (6.0, LDP(epsilon=6.0))
    >>> print(asked.summary().splitlines()[0])
    6 questions: ε = 6 per person

    References: Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy (2015); Kalantari, Sankar,
    Sarwate, Robust Privacy-Utility Tradeoffs under Differential Privacy and Hamming Distortion (2018), for records of
    several attributes.
    """

    questions: Mapping[str, Mechanism]

    def __post_init__(self) -> None:
        given: object = self.questions
        if not isinstance(given, Mapping) or not 0 < len(given) <= MOST_QUESTIONS:
            raise InvalidParameter(
                f"a questionnaire maps 1 to {MOST_QUESTIONS} names to mechanisms",
                parameter="questions",
                value=type(given).__name__ if not isinstance(given, Mapping) else len(given),
                hint='ex.Questionnaire({"drugs": m1, "party": m2}).',
            )
        for name, mechanism in given.items():
            if not isinstance(name, str) or not name.strip():
                raise InvalidParameter("a question needs a name", parameter="name", value=name)
            if not isinstance(mechanism, Mechanism):
                raise InvalidParameter(
                    "a question needs a Mechanism",
                    parameter=f"questions[{name!r}]",
                    value=type(mechanism).__name__,
                    hint="Questionnaire.within(epsilon, {name: answers}) makes the mechanisms.",
                )
        object.__setattr__(self, "questions", MappingProxyType(dict(given)))

    def __reduce__(self) -> Any:
        return type(self), (dict(self.questions),)

    @classmethod
    def within(
        cls,
        epsilon: Any,
        questions: Mapping[str, Any],
        split: str = "equal",
        weights: Mapping[str, Any] | None = None,
    ) -> Questionnaire:
        """A questionnaire that spends `epsilon` on each person.

        Each question gets subset selection, the best mechanism for the shares of its answers in the worst case.

        Args:
            epsilon: what one person spends on all questions together, nats.
            questions: for each question its answers, or how many there are.
            split: "equal", or "variance": the split with the least weighted sum of variances
                (`extremal.questionnaire.budget`).
            weights: how much the variance of each question counts; 1 where not given.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(2, {"drugs": ["no", "yes"], "party": 8}, split="variance")
        >>> asked.privacy, asked.level_of("party") > asked.level_of("drugs")
        (LDP(epsilon=2.0), True)
        """
        answers = {name: _answers(name, given) for name, given in _named(questions).items()}
        sizes = {name: len(labels) for name, labels in answers.items()}
        levels = split_budget(epsilon, sizes, split, weights)
        return cls({name: best_for_shares(labels, levels[name]) for name, labels in answers.items()})

    # -- what a person spends

    @cached_property
    def notions(self) -> Mapping[str, LDP | None]:
        """The LDP notion that each question satisfies: its claim, or else its level; None where there is none."""
        return MappingProxyType({name: _notion(m) for name, m in self.questions.items()})

    def level_of(self, question: str) -> float:
        """The ε of one question; infinite if it has none."""
        self._refuse_unknown(question)
        notion = self.notions[question]
        return math.inf if notion is None else notion.epsilon

    @property
    def delta(self) -> Fraction:
        """The sum of the questions' δ."""
        return sum((n.exact_delta for n in self.notions.values() if n is not None), Fraction(0))

    @cached_property
    def epsilon(self) -> float:
        """The level per person: the sum of the questions' ε (at `delta`, where there is one)."""
        if any(notion is None for notion in self.notions.values()):
            return math.inf
        return self.level(self.delta)

    def level(self, delta: Any = 0) -> float:
        """The smallest proven ε at which all reports of a person are (ε,δ)-LDP together; never above the sum.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire({str(i): ex.randomized_response(2, 0.1) for i in range(100)})
        >>> asked.level(), asked.level(1e-6) < 6
        (10.0, True)
        """
        from extremal.theory.composition import composed_level

        known = [notion for notion in self.notions.values() if notion is not None]
        return composed_level(known, delta) if len(known) == len(self.questions) else math.inf

    @property
    def privacy(self) -> LDP | None:
        """The notion of a person's reports together; None where some question has no level, or the sum is above 100."""
        if not self.epsilon <= LARGEST_EPSILON or self.delta >= 1:
            return None
        ratios = [n.exponential.ratio for n in self.notions.values() if n is not None]
        if all(ratio is not None for ratio in ratios) and not self.delta:
            return LDP.from_ratio(math.prod(ratio for ratio in ratios if ratio is not None))
        return LDP(self.epsilon, self.delta)

    # -- using it

    def privatize(self, frame: Any, *, memory: Memory | None = None, person: str | None = None) -> Any:
        """Randomise the questions' columns of a data frame; everything else stays untouched.

        Args:
            frame: as for `ex.privatize`.
            memory: an `ex.Memory`: who was asked before gives the stored reports again, at no cost.
            person: the column that says who answered, for the memory.
        """
        if memory is None:
            if person is not None:
                raise InvalidParameter(
                    "a column of persons is for a memory", parameter="person", value=person, hint="memory=ex.Memory(…)."
                )
            return privatize(frame, dict(self.questions))
        if person is None or person in self.questions:
            raise InvalidParameter("a memory needs the column that says who answered", parameter="person", value=person)
        people = _plain(pick(frame, person, "person"), person)
        columns = columns_of(frame, list(self.questions))
        for name, column in columns.items():  # all values are read before anything is stored
            _known(self.questions[name], _plain(column, name), name)
        return with_columns(
            frame,
            {name: _remembered(memory, people, name, column, self.questions[name]) for name, column in columns.items()},
        )

    def estimate(self, frame: Any, **options: Any) -> dict[str, Any]:
        """The frequencies of every question, by `ex.estimate_frequencies`; options are passed on.

        Args:
            frame: a data frame of reports, or the path of a file that `extremal privatize` or `extremal questionnaire`
                wrote.
            options: such as `method`, `by`, `weights`, `missing`.
        """
        return {name: estimate_frequencies(frame, m, column=name, **options) for name, m in self.questions.items()}

    def crosstab(self, frame: Any, first: str, second: str) -> CrosstabEstimate:
        """The joint frequencies of two questions, by `ex.estimate_crosstab`."""
        for name in (first, second):
            self._refuse_unknown(name)
        return estimate_crosstab(frame, {name: self.questions[name] for name in (first, second)})

    def explain(self, prior: Mapping[str, Any] | None = None) -> QuestionnaireDisclosure:
        """Explain what all reports of a person let someone believe; `prior` by question, where given."""
        for name in prior or {}:
            self._refuse_unknown(name)
        return disclosure(self, dict(prior or {}))

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write a JSON file that `ex.load` reads; it holds every mechanism."""
        return files.save(self, Path(path), overwrite)

    @property
    def hash(self) -> str:
        """SHA-256 of the content of its file."""
        return files.content_hash(self)

    # -- showing

    def summary(self) -> str:
        """A table: question, answers, ε; and what it comes to for a person."""
        count = len(self.questions)
        head = f"{count} question{'s' if count > 1 else ''}: {self.said_level()} per person"
        rows = [
            [name, str(m.k), str(m.m) if m.m < 10**7 else "many", _said(self.notions[name])]
            for name, m in self.questions.items()
        ]
        return f"{head}\n\n{aligned(['question', 'answers', 'reports', 'ε'], rows, left=1)}"

    __str__ = summary

    def said_level(self) -> str:
        """The level per person as a sentence has it: "ε = 6"."""
        if not math.isfinite(self.epsilon):
            return "no finite ε"
        return f"ε = {number(self.epsilon, 6)}{f', δ = {float(self.delta):g},' if self.delta else ''}"

    def __repr__(self) -> str:
        return f"Questionnaire({', '.join(self.questions)}; {self.said_level()} per person)"

    def __len__(self) -> int:
        return len(self.questions)

    def _refuse_unknown(self, question: object) -> None:
        if question not in self.questions:
            raise InvalidParameter(
                "the question must be one of the questionnaire's",
                parameter="question",
                value=question,
                hint=f"They are {', '.join(list(self.questions)[:8])}.",
            )


def best_for_shares(answers: list[Any], epsilon: Fraction) -> Mechanism:
    """Subset selection; with sets of one answer, randomised response, whose reports are the answers themselves."""
    k = len(answers)
    if best_size_for_frequencies(k, float(epsilon)) == 1:
        return randomized_response(k, epsilon, inputs=answers)
    return subset_selection(k, epsilon, inputs=answers)


def _named(questions: Any) -> Mapping[str, Any]:
    if not isinstance(questions, Mapping):
        raise InvalidParameter(
            "questions must map names to answers",
            parameter="questions",
            value=type(questions).__name__,
            hint='{"drugs": ["no", "yes"], "party": 8}.',
        )
    return questions


def _answers(name: str, given: Any) -> list[Any]:
    if isinstance(given, Mechanism):
        raise InvalidParameter(
            "within makes the mechanisms: give the answers",
            parameter=f"questions[{name!r}]",
            value="Mechanism",
            hint="Questionnaire({name: mechanism}) takes mechanisms.",
        )
    if isinstance(given, int) and not isinstance(given, bool):
        return list(range(given))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(
            "a question needs its answers, or their number", parameter=f"questions[{name!r}]", value=given
        )
    return list(given)


def _notion(mechanism: Mechanism) -> LDP | None:
    claim = mechanism.privacy
    if isinstance(claim, LDP):
        return claim
    level = LDP(0).level(mechanism)
    return LDP(level) if level <= LARGEST_EPSILON else None


def _said(notion: LDP | None) -> str:
    if notion is None:
        return "none"
    return number(notion.epsilon, 6) + (f" (δ = {notion.delta:g})" if notion.exact_delta else "")


def _plain(column: Any, name: str) -> list[Any]:
    """A column as a list of Python's own values; missing ones are refused."""
    container = container_of(column)
    if container is None:
        raise InvalidParameter("a column must hold one value for each row", parameter="column", value=name)
    codes, labels = container.distinct(column, name)
    refuse_missing(codes, name, "Leave out who did not answer.", UnknownLabel)
    plain = [label.item() if hasattr(label, "item") else label for label in labels]
    return [plain[code] for code in codes.tolist()]


def _known(mechanism: Mechanism, values: list[Any], name: str) -> None:
    labels = mechanism.input_labels
    for place, value in enumerate(values):
        if labels.find(value) is None:
            raise UnknownLabel.hidden(f"{name}[{place}]", value, labels.shown())


def _remembered(memory: Memory, people: list[Any], name: str, column: Any, mechanism: Mechanism) -> Any:
    """The column of reports, stored or new."""
    reports = memory.reports(people, name, _plain(column, name), mechanism)
    if isinstance(mechanism.structure, SubsetSelection):
        inputs = mechanism.input_labels
        codes = np.array([[inputs.code(member, name) for member in cast("tuple[Any, ...]", r)] for r in reports])
        return filled(codes, inputs, column)
    outputs = mechanism.output_labels
    return filled(np.array([outputs.code(r, name) for r in reports]), outputs, column)
