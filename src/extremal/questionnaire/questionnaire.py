"""Several questions to one person.

A person holds a record x = (x_1, …, x_J), one answer for each question, and reports on it. Either each answer goes
through its own mechanism: given the record the reports are independent, together they are one mechanism on the product
of the alphabets,

    Q(y|x) = Π_j Q_j(y_j|x_j),

and its level is what counts for the person. Two records may differ in every answer, and the largest ratio of a product
whose factors vary freely is the product of the largest ratios: for pure LDP the levels add up *exactly*, whatever the
answers have to do with each other. With a δ it is less than the sum (KOV's composition of (ε,δ) mechanisms,
`ex.theory.composed_level`). A notion that rests on a prior (PML, LIP) speaks of one answer under that prior and not of
the record; such a question counts with its LDP level, infinite if it has none.

Or some questions go through one *joint* mechanism (`extremal.mechanism.structures.joint`), whose level counts once,
decided exactly. `Questionnaire.within` chooses between these ways (`extremal.questionnaire.strategies`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from extremal.certificate import Certificate, enclosure
from extremal.columns.files.format import Progress
from extremal.errors import InvalidParameter, TooLarge
from extremal.estimate import CrosstabEstimate, estimate_crosstab
from extremal.estimate.crosstab import estimate_pairs
from extremal.exact.exponential import LARGEST_EPSILON
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import MOST_LABELS
from extremal.optimize.problem import certify
from extremal.optimize.question_bounds import question_proofs, table_proofs
from extremal.privacy import LDP
from extremal.problem import QuestionsGoal, TablesGoal
from extremal.questionnaire import files
from extremal.questionnaire.budget import Budget, notion_of, spend
from extremal.questionnaire.disclosure import QuestionnaireDisclosure, disclosure
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.plan import QuestionnairePlan, plan_questions
from extremal.questionnaire.release import (
    privatize_answers,
    privatize_answers_file,
    privatize_keyed_answers,
    privatize_remembered,
)
from extremal.questionnaire.reports import HASH_KEY, CollectedReports, checked_record
from extremal.questionnaire.texts import LONGEST_TEXT, QuestionText, texts_of
from extremal.tables import aligned, number
from extremal.utility import Workload

if TYPE_CHECKING:
    from extremal.release.engines.key import ReleaseKey
    from extremal.release.memory import Memory

MOST_PROVED = 64  # questions that a bound is about
MOST_QUESTIONS = 1 << 12  # more than anybody answers; a file of as many is read in seconds
NO_GOALS: Mapping[str, Workload] = MappingProxyType({})
NO_TEXTS: Mapping[str, QuestionText] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """Questions by name, each with its mechanism.

    Guarantee: what one person reports to all questions together satisfies `privacy`, decided on integers; the sum over
    independent mechanisms is exact for pure LDP, and a joint mechanism counts with its own exact level.

    Args:
        questions: a mechanism for each question. The names are the columns of a data frame. Of a question that is asked
            jointly with others, this is its own mechanism, from the reports to it alone.
        joint: the mechanism of all questions that are asked jointly; `Questionnaire.within` makes it.
        goals: what is wanted of a question, where that is not the shares of its answers.
        budget: how it was made.
        texts: the wording of questions, where it is known: a text, or a pair of the text and the answers' texts.
        title: of the questionnaire.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> asked = ex.Questionnaire({f"question {i}": m for i in range(1, 7)})
    >>> asked.epsilon, asked.privacy
    (6.0, LDP(epsilon=6.0))
    >>> print(asked.summary().splitlines()[0])
    Questionnaire: 6 questions; ε = 6 per person

    References: Kairouz, Oh, Viswanath, The Composition Theorem for Differential Privacy (2015); Kalantari, Sankar,
    Sarwate, Robust Privacy-Utility Tradeoffs under Differential Privacy and Hamming Distortion (2018), for records of
    several attributes.
    """

    questions: Mapping[str, Mechanism]
    joint: JointQuestions | None = None
    goals: Mapping[str, Workload] = field(default_factory=lambda: NO_GOALS)
    budget: Budget | None = None
    texts: Mapping[str, QuestionText] = field(default_factory=lambda: NO_TEXTS)
    title: str = ""

    def __post_init__(self) -> None:
        _refuse_no_mechanisms(self.questions)
        object.__setattr__(self, "questions", MappingProxyType(dict(self.questions)))
        object.__setattr__(self, "goals", MappingProxyType(dict(self.goals)))
        for name, mechanism in self.together.items():
            if self.questions.get(name) != mechanism:
                raise InvalidParameter(
                    "a question that is asked jointly has the mechanism that follows", parameter="question", value=name
                )
        for name in self.goals:
            self._refuse_unknown(name)
        object.__setattr__(self, "texts", MappingProxyType(texts_of(self.texts, self.questions)))
        for name, text in self.texts.items():
            text.refuse(name, self.questions[name].input_labels)
        if not isinstance(self.title, str) or len(self.title) > LONGEST_TEXT:
            raise InvalidParameter("a title is a text", parameter="title", value=type(self.title).__name__)
        if self.budget is not None and self.spent_at_least > self.budget.epsilon:
            raise InvalidParameter(
                "the questions must not spend more than the budget",
                parameter="budget",
                value=float(self.budget.epsilon),
                hint=f"They spend {float(self.spent_at_least):g}.",
            )

    def __reduce__(self) -> Any:
        goals, texts = dict(self.goals), dict(self.texts)
        return type(self), (dict(self.questions), self.joint, goals, self.budget, texts, self.title)

    @property
    def together(self) -> Mapping[str, Mechanism]:
        """The questions that are asked jointly, each with its own mechanism."""
        return {} if self.joint is None else self.joint.mechanisms

    @classmethod
    def within(
        cls,
        epsilon: Any,
        questions: Mapping[str, Any],
        strategy: str = "best",
        per_person: int | None = None,
        importance: Mapping[str, Any] | None = None,
        *,
        optional: Sequence[str] | None = None,
        texts: Mapping[str, Any] | None = None,
        title: str = "",
    ) -> Questionnaire:
        """A questionnaire that spends `epsilon` on each person, with margins as equal and as small as a strategy
        allows.

        Args:
            epsilon: what one person spends on all questions together, nats.
            questions: for each question its answers, how many there are, a range, a goal (`ex.Mean(values)`,
                `ex.CDF(k)`, `ex.Frequencies(prior)`; with labels as a pair `(labels, goal)`), an
                `extremal.questionnaire.TickAll(items)`, an `extremal.questionnaire.OnlyIf(question, answers, ask)`
                for what follows from an earlier answer, or a mechanism, whose ε comes off the budget.
            strategy: "joint" (a random block of questions under one coin), "sample" (a random `per_person` of the
                questions), "split" (every question with a part of the budget), or "best": the one whose largest margin
                is smallest.
            per_person: how many questions each person is asked; chosen if not given.
            importance: a margin is compared after multiplication with this; 1 where not given.
            optional: questions that need not be answered: "(no answer)" is one of their answers.
            texts: the wording of questions: a text, or a pair of the text and the answers' texts.
            title: of the questionnaire.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(4, {f"q{i}": ["no", "yes"] for i in range(6)})
        >>> asked.privacy, asked.budget.strategy, len(asked.joint.structure.assignments)
        (LDP(epsilon=4.0), 'joint', 15)
        >>> {name: round(4 * c.worst, 4) for name, c in asked.budget.costs.items()}  # n × variance of a ±1 answer
        {'joint': 2.5292, 'sample': 5.1722, 'split': 9.6739}
        """
        made = spend(epsilon, questions, strategy, per_person, importance, optional)
        return cls(made.mechanisms, made.joint, made.goals, made.budget, texts or NO_TEXTS, title)

    # -- what a person spends

    @cached_property
    def notions(self) -> Mapping[str, LDP | None]:
        """The LDP notion that each question satisfies by itself: its claim, or else its level; None where there is
        none."""
        return MappingProxyType({name: notion_of(m) for name, m in self.questions.items()})

    @property
    def _counted(self) -> list[LDP | None]:
        """What adds up: the notion of each independent mechanism."""
        found = [notion for name, notion in self.notions.items() if name not in self.together]
        return found if self.joint is None else [*found, self.joint.privacy]

    def level_of(self, question: str) -> float:
        """The ε of the reports to one question alone; infinite if it has none."""
        self._refuse_unknown(question)
        notion = self.notions[question]
        return math.inf if notion is None else notion.epsilon

    @cached_property
    def spent_at_least(self) -> Fraction:
        """The exact sum of the ε that are claimed as numbers."""
        claims = [notion.exponential.exponent for notion in self._counted if notion is not None]
        return sum((claim for claim in claims if claim is not None), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """The sum of the questions' δ."""
        return sum((n.exact_delta for n in self._counted if n is not None), Fraction(0))

    @cached_property
    def epsilon(self) -> float:
        """The level per person: the sum of the questions' ε (at `delta`, where there is one)."""
        if any(notion is None for notion in self._counted):
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

        known = [notion for notion in self._counted if notion is not None]
        return composed_level(known, delta) if len(known) == len(self._counted) else math.inf

    @property
    def privacy(self) -> LDP | None:
        """The notion of a person's reports together; None where some question has no level, or the sum is above 100."""
        if not self.epsilon <= LARGEST_EPSILON or self.delta >= 1:
            return None
        ratios = [n.exponential.ratio for n in self._counted if n is not None]
        if all(ratio is not None for ratio in ratios) and not self.delta:
            return LDP.from_ratio(math.prod(ratio for ratio in ratios if ratio is not None))
        return LDP(self.epsilon, self.delta)

    # -- using it

    def privatize(
        self,
        frame: Any,
        *,
        memory: Memory | None = None,
        person: str | None = None,
        row_id: str | None = None,
        release_key: ReleaseKey | None = None,
        check_ids: bool | None = None,
        connection: Any = None,
    ) -> Any:
        """Randomise the questions' columns of a data frame; everything else stays untouched.

        Where questions are sampled, a question that a person was not asked is missing in that person's row.

        Args:
            frame: as for `ex.privatize`.
            memory: an `ex.Memory`: who was asked before gives the stored reports again, at no cost.
            person: the column that says who answered, for the memory.
            row_id, release_key, check_ids, connection: as for `ex.privatize`: reports by a key, also inside plans.
        """
        if row_id is not None:
            if memory is not None:
                raise InvalidParameter("a memory makes its own reports", parameter="row_id", value=row_id)
            key = (row_id, release_key, check_ids, connection)
            return privatize_keyed_answers(frame, self.questions, self.joint, *key)
        if release_key is not None:
            raise InvalidParameter("a release key needs row ids", parameter="row_id", value=None, hint="row_id='id'.")
        if memory is not None:
            return privatize_remembered(frame, self.questions, self.joint, memory, person)
        if person is not None:
            raise InvalidParameter(
                "a column of persons is for a memory", parameter="person", value=person, hint="memory=ex.Memory(…)."
            )
        return privatize_answers(frame, self.questions, self.joint)

    def privatize_file(
        self, source: str | Path, target: str | Path, *, overwrite: bool = False, progress: Progress | None = None
    ) -> int:
        """Randomise the questions' columns of a file into a new file of the same format; the number of rows. Answers to
        questions that are asked jointly are held in memory.

        Raises:
            FileConflict: `target` exists; and what `privatize` raises.
        """
        return privatize_answers_file(source, target, self.questions, self.joint, overwrite, progress)

    def check_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """One person's reports, {question: report}, if the questionnaire can report them: every question in its order,
        None where it was not asked, sets as tuples.

        Raises:
            UnknownLabel: a report that its question never has. The message does not quote it.
            InvalidParameter: a question that is not asked, questions that nobody is asked together, records that are
                not admissible.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(4, {"a": ["no", "yes"], "b": ["no", "yes"]})
        >>> asked.check_record({"b": "yes", "a": "no"})
        {'a': 'no', 'b': 'yes'}
        """
        return checked_record(self, record)

    def estimate(self, frame: Any, *, check_hash: bool = True, **options: Any) -> dict[str, Any]:
        """Every question: its frequencies by `ex.estimate_frequencies`, or its goal by `ex.estimate_workload`.

        Args:
            frame: a data frame of reports, a list of records {question: report}, or the path of a file that `extremal
                privatize`, `extremal questionnaire` or a collecting server wrote.
            check_hash: refuse a file that does not say that this questionnaire made it.
            options: such as `method`, `by`, `weights`, `missing`; a question with a goal takes `by` or `weights` alone.
        """
        reports = CollectedReports(self, frame, check_hash)
        return {name: self._estimated(reports, name, options) for name in self.questions}

    def estimate_one(self, frame: Any, question: str, *, check_hash: bool = True, **options: Any) -> Any:
        """One question, as `estimate` does; who was not asked is left out."""
        self._refuse_unknown(question)
        return self._estimated(CollectedReports(self, frame, check_hash), question, options)

    def _estimated(self, reports: CollectedReports, name: str, options: Mapping[str, Any]) -> Any:
        goal = self.goals.get(name)
        return reports.estimate(name, self.questions[name], goal, name in self.together, options)

    def chance(self, question: str) -> Fraction:
        """The probability that a person is asked a question."""
        self._refuse_unknown(question)
        if self.joint is None or question not in self.together:
            return Fraction(1)
        return self.joint.asked(question)

    def crosstab(
        self, frame: Any, first: str, second: str, *, check_hash: bool = True, **options: Any
    ) -> CrosstabEstimate:
        """The joint frequencies of two questions, or of a question and an open column, from everybody who was asked:
        who was asked one of two questions tells about its margin.

        Args:
            frame: as for `estimate`.
            first, second: questions; one of them may be an open column.
            check_hash: as for `estimate`.
            options: of `ex.estimate_crosstab`, for questions that are not asked jointly.

        Raises:
            NotIdentified: nobody is asked both.
        """
        if first not in self.questions:
            self._refuse_unknown(second)
        together = {first, second} & set(self.together)
        reports = CollectedReports(self, frame, check_hash)
        mechanisms = {name: self.questions.get(name) for name in (first, second)}
        if not together and reports.path is None:
            return estimate_crosstab(reports.given, mechanisms, **options)
        if options and together:
            raise InvalidParameter(
                "questions that are asked jointly are tabulated without weights",
                parameter="options",
                value=sorted(options),
            )
        rows = reports.answered([first, second], together)
        if len(together) < 2 or self.joint is None:
            return estimate_crosstab(rows, mechanisms, **options)
        pairs, matrix = self.joint.pair(first, second)
        return estimate_pairs(rows, {n: self.questions[n].inputs for n in (first, second)}, pairs, matrix)

    def plan(self, *, n: int | None = None, half_width: Any = None, level: float = 0.95) -> QuestionnairePlan:
        """Plan a survey with this questionnaire: the half-width of every question from n people, or the people that a
        half-width needs.

        Args:
            n: people.
            half_width: of the widest interval of every question, 0.05 for ± 5 percentage points and of a mean 5% of
                its range; or by question.
            level: of confidence.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(4, {f"q{i}": ["no", "yes"] for i in range(6)})
        >>> asked.plan(half_width=0.05).n
        996
        """
        return plan_questions(self, n, half_width, level)

    @cached_property
    def _goal(self) -> QuestionsGoal | None:
        """The largest margin as what a proof is about; None where something else than shares is asked for."""
        if self.budget is None or self.goals or len(self.questions) > MOST_PROVED:
            return None
        if self.joint is not None and (len(self.joint.names) < len(self.questions) or self.joint.branches):
            return None
        weights = [Fraction(repr(self.budget.importance.get(name, 1.0))) ** 2 for name in self.questions]
        return QuestionsGoal(tuple(m.k for m in self.questions.values()), tuple(weights), True)

    @cached_property
    def bound(self) -> float | None:
        """No ε-LDP mechanism has a smaller largest n × variance, times importance squared, than this, proved.

        None where no bound is known: goals other than shares, or more than 64 questions.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(4, {f"q{i}": 2 for i in range(6)})
        >>> round(asked.budget.costs["joint"].worst / asked.bound, 9)
        1.0
        """
        if self._goal is None or self.budget is None:
            return None
        privacy = LDP(self.budget.epsilon)
        proofs = question_proofs(privacy.exponential, self._goal)
        return max(float(proof.bound(privacy, self._goal)) for proof in proofs)

    def certificate(self, *, tables: bool = False) -> Certificate:
        """The joint mechanism on records with its level, its largest margin and the bound, for `ex.verify`.

        Args:
            tables: about n × the total squared error of the cells of two questions, the mean over all pairs of
                questions and records equally likely, instead of the largest margin.

        Raises:
            InvalidParameter: the questionnaire is not a joint one about shares, or never asks two questions together.
            TooLarge: there are more than 2^24 records, or more reports than Python can number.

        >>> import extremal as ex
        >>> twelve = ex.Questionnaire.within(4, {f"q{i}": 2 for i in range(12)}, "joint", 4)
        >>> proved = twelve.certificate(tables=True)
        >>> round(proved.value, 6), round(proved.bound, 6)
        (7.166131, 5.78108)
        """
        if self.joint is None or self._goal is None or self.budget is None:
            raise InvalidParameter(
                "a certificate is about shares that are asked jointly or by a sample",
                parameter="strategy",
                value=None if self.budget is None else self.budget.strategy,
            )
        if self.joint.structure.r > MOST_LABELS:
            raise TooLarge(
                f"a certificate is about at most {MOST_LABELS:,} records",
                parameter="records",
                value=self.joint.structure.r,
                hint="`bound` needs no list of them.",
            )
        if self.joint.structure.m > sys.maxsize:
            raise TooLarge(
                "a certificate numbers the reports",
                parameter="reports",
                value=f"more than 2^{self.joint.structure.m.bit_length() - 1}",
                hint="Ask about fewer answers; `bound` needs no numbers.",
            )
        mechanism = Mechanism.from_structure(self.joint.structure, self.joint.privacy)
        if not tables:
            return certify(mechanism, self._goal, question_proofs(self.joint.privacy.exponential, self._goal))
        goal = TablesGoal(self._goal.sizes)
        if len(goal.sizes) < 2 or enclosure(goal, mechanism)[0] == math.inf:
            raise InvalidParameter(
                "a table of every two questions needs people who are asked both",
                parameter="tables",
                value=tables,
                hint="Make the questionnaire with per_person=2, or more.",
            )
        return certify(mechanism, goal, table_proofs(self.joint.privacy.exponential, goal))

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
        """A table: question, answers, ε; and what it comes to for a person. With a budget, all strategies side by
        side."""
        count = len(self.questions)
        head = f"Questionnaire: {count} question{'s' if count > 1 else ''}; {self.said_level()} per person"
        rows = [
            [name, str(m.k), str(m.m) if m.m < 10**7 else "many", _said(self.notions[name])]
            for name, m in self.questions.items()
        ]
        header = ["question", "answers", "reports", "ε"]
        if self.joint is not None:
            header, head = [*header, "asked of"], f"{head}, verified for all reports together"
            rows = [
                [*row, f"{100 * float(self.chance(name)):.3g}%"] for row, name in zip(rows, self.questions, strict=True)
            ]
        table = f"{head}\n\n{aligned(header, rows, left=1)}"
        return table if self.budget is None else f"{table}\n\n{self.budget.side_by_side(self.bound)}"

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


def _refuse_no_mechanisms(given: object) -> None:
    """Raise unless names are mapped to mechanisms."""
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
        if name == HASH_KEY:
            raise InvalidParameter(
                "a question must have another name: JSON lines of reports have this key for the questionnaire's hash",
                parameter="name",
                value=name,
                hint="Rename the question.",
            )
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(
                "a question needs a Mechanism",
                parameter=f"questions[{name!r}]",
                value=type(mechanism).__name__,
                hint="Questionnaire.within(epsilon, {name: answers}) makes the mechanisms.",
            )


def _said(notion: LDP | None) -> str:
    if notion is None:
        return "none"
    return number(notion.epsilon, 6) + (f" (δ = {notion.delta:g})" if notion.exact_delta else "")
