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
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from extremal.columns.column import container_of, filled, refuse_missing, with_gaps
from extremal.columns.files import format_of
from extremal.columns.files.format import Progress
from extremal.columns.frames import columns_of, pick, with_columns
from extremal.columns.lists import is_missing
from extremal.errors import InvalidParameter, TooLarge, UnknownLabel
from extremal.estimate import CrosstabEstimate, estimate_crosstab, estimate_frequencies, estimate_workload
from extremal.estimate.crosstab import estimate_pairs
from extremal.estimate.reports.files import read_columns
from extremal.exact import as_count, as_fraction
from extremal.exact.exponential import LARGEST_EPSILON
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import MOST_LABELS, Labels
from extremal.mechanism.structures import SubsetSelection
from extremal.optimize.problem import certify
from extremal.optimize.question_bounds import question_proofs
from extremal.privacy import LDP
from extremal.problem import QuestionsGoal
from extremal.questionnaire import files
from extremal.questionnaire.disclosure import QuestionnaireDisclosure, disclosure
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.plan import QuestionnairePlan, plan_questions
from extremal.questionnaire.questions import Question, questions_of
from extremal.questionnaire.strategies import STRATEGIES, Costs, joint, refuse_budget, sample, split
from extremal.release import privatize
from extremal.release.files import Made, privatize_file
from extremal.release.privatize import input_codes, unknown
from extremal.tables import aligned, number
from extremal.utility import Workload

if TYPE_CHECKING:
    from extremal.certificate import Certificate
    from extremal.release.memory import Memory

MOST_PROVED = 64  # questions that a bound is about
MOST_QUESTIONS = 1 << 12  # more than anybody answers; a file of as many is read in seconds
NORMAL_95 = 1.959963984540054  # the 97.5% quantile of a normal distribution
SHOWN_PEOPLE = 1000  # for whom a summary states half-widths
NO_GOALS: Mapping[str, Workload] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Budget:
    """How a questionnaire came to be: one ε, the strategy, and what the others would have cost.

    Attributes:
        epsilon: what a person spends.
        strategy: "joint", "sample" or "split".
        per_person: how many questions a person is asked, where that was given.
        importance: of each question that has one other than 1.
        costs: by strategy.
    """

    epsilon: Fraction
    strategy: str
    per_person: int | None
    importance: Mapping[str, float]
    costs: Mapping[str, Costs]


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
    joint: JointQuestions | None = None
    goals: Mapping[str, Workload] = field(default_factory=lambda: NO_GOALS)
    budget: Budget | None = None

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
        object.__setattr__(self, "goals", MappingProxyType(dict(self.goals)))
        for name in self._together:
            if name not in self.questions or self.joint is None or self.questions[name] != self.joint.mechanisms[name]:
                raise InvalidParameter(
                    "a question that is asked jointly has the mechanism that follows", parameter="question", value=name
                )
        for name in self.goals:
            self._refuse_unknown(name)

    def __reduce__(self) -> Any:
        return type(self), (dict(self.questions), self.joint, dict(self.goals), self.budget)

    @property
    def _together(self) -> tuple[str, ...]:
        """The questions that are asked jointly."""
        return () if self.joint is None else self.joint.names

    @classmethod
    def within(
        cls,
        epsilon: Any,
        questions: Mapping[str, Any],
        strategy: str = "best",
        per_person: int | None = None,
        importance: Mapping[str, Any] | None = None,
    ) -> Questionnaire:
        """A questionnaire that spends `epsilon` on each person, with margins as equal and as small as a strategy
        allows.

        Args:
            epsilon: what one person spends on all questions together, nats.
            questions: for each question its answers, how many there are, a range, a goal (`ex.Mean(values)`,
                `ex.CDF(k)`, `ex.Frequencies(prior)`; with labels as a pair `(labels, goal)`), an
                `extremal.questionnaire.TickAll(items)`, or a mechanism, whose ε comes off the budget.
            strategy: "joint" (a random block of questions under one coin), "sample" (a random `per_person` of the
                questions), "split" (every question with a part of the budget), or "best": the one whose largest margin
                is smallest.
            per_person: how many questions each person is asked; chosen if not given.
            importance: a margin is compared after multiplication with this; 1 where not given.

        >>> import extremal as ex
        >>> asked = ex.Questionnaire.within(4, {f"q{i}": ["no", "yes"] for i in range(6)})
        >>> asked.privacy, asked.budget.strategy, len(asked.joint.structure.assignments)
        (LDP(epsilon=4.0), 'joint', 15)
        >>> {name: round(4 * c.worst, 4) for name, c in asked.budget.costs.items()}  # n × variance of a ±1 answer
        {'joint': 2.5292, 'sample': 5.1722, 'split': 9.6739}
        """
        if strategy not in ("best", *STRATEGIES):
            raise InvalidParameter(
                f"strategy must be best, {', '.join(STRATEGIES)}", parameter="strategy", value=strategy
            )
        asked, fixed = questions_of(questions, importance)
        total = as_fraction(epsilon, "epsilon")
        left = total - sum((_spent(m, name) for name, m in fixed.items()), Fraction(0))
        if not asked:
            raise InvalidParameter(
                "some question must be without a mechanism", parameter="questions", hint="Questionnaire(questions)."
            )
        refuse_budget(left, len(asked))
        if per_person is not None:
            per_person = as_count(per_person, "per_person", 1)
            if per_person > len(asked) or strategy == "split":
                raise InvalidParameter(
                    f"per_person must be at most {len(asked)}, and is not for split",
                    parameter="per_person",
                    value=per_person,
                )
        made = _strategies(left, asked, per_person)
        best = min(made, key=lambda name: made[name][1].worst) if strategy == "best" else strategy
        budget = Budget(
            total,
            best,
            per_person,
            {q.name: q.importance for q in asked if q.importance != 1},
            {name: costs for name, (_, costs) in made.items()},
        )
        goals = {q.name: q.goal for q in asked if q.goal is not None}
        order = list(fixed) + [q.name for q in asked]
        if best == "split":
            levels = cast("dict[str, Fraction]", made["split"][0])
            alone = {q.name: q.best(levels[q.name]) for q in asked}
            together = None
        else:
            names, labels = tuple(q.name for q in asked), tuple(q.labels for q in asked)
            together = JointQuestions(names, labels, cast("Any", made[best][0]), LDP(left))
            alone = together.mechanisms
        return cls({name: {**fixed, **alone}[name] for name in order}, together, goals, budget)

    # -- what a person spends

    @cached_property
    def notions(self) -> Mapping[str, LDP | None]:
        """The LDP notion that each question satisfies by itself: its claim, or else its level; None where there is
        none."""
        return MappingProxyType({name: _notion(m) for name, m in self.questions.items()})

    @property
    def _counted(self) -> list[LDP | None]:
        """What adds up: the notion of each independent mechanism."""
        found = [notion for name, notion in self.notions.items() if name not in self._together]
        return found if self.joint is None else [*found, self.joint.privacy]

    def level_of(self, question: str) -> float:
        """The ε of the reports to one question alone; infinite if it has none."""
        self._refuse_unknown(question)
        notion = self.notions[question]
        return math.inf if notion is None else notion.epsilon

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

    def privatize(self, frame: Any, *, memory: Memory | None = None, person: str | None = None) -> Any:
        """Randomise the questions' columns of a data frame; everything else stays untouched.

        Where questions are sampled, a question that a person was not asked is missing in that person's row.

        Args:
            frame: as for `ex.privatize`.
            memory: an `ex.Memory`: who was asked before gives the stored reports again, at no cost.
            person: the column that says who answered, for the memory.
        """
        apart = {name: m for name, m in self.questions.items() if name not in self._together}
        if memory is None:
            if person is not None:
                raise InvalidParameter(
                    "a column of persons is for a memory", parameter="person", value=person, hint="memory=ex.Memory(…)."
                )
            records = None if self.joint is None else self._records(frame)
            done = privatize(frame, apart) if apart else frame
            return (
                done if self.joint is None or records is None else self._placed(done, self.joint.draw(records), frame)
            )
        if person is None or person in self.questions:
            raise InvalidParameter("a memory needs the column that says who answered", parameter="person", value=person)
        people = _plain(pick(frame, person, "person"), person)
        columns = columns_of(frame, list(self.questions))
        for name, column in columns.items():  # all values are read before anything is stored
            _known(self.questions[name], _plain(column, name), name)
        made = {name: _remembered(memory, people, name, columns[name], m) for name, m in apart.items()}
        done = with_columns(frame, made)
        if self.joint is None:
            return done
        values = list(zip(*(_plain(columns[name], name) for name in self.joint.names), strict=True))
        stored = memory.reports(people, " + ".join(self.joint.names), values, self.joint)
        rows = [[tuple(x) if isinstance(x, list) else x for x in cast("tuple[Any, ...]", row)] for row in stored]
        return self._placed(done, {name: [row[j] for row in rows] for j, name in enumerate(self.joint.names)}, frame)

    def _placed(self, done: Any, drawn: Mapping[str, list[Any]], frame: Any) -> Any:
        """A frame with the reports of the joint mechanism in the place of its answers."""
        columns = columns_of(frame, list(drawn))
        outputs = {name: self.questions[name].output_labels for name in drawn}
        return with_columns(done, {name: with_gaps(drawn[name], outputs[name], columns[name]) for name in drawn})

    def privatize_file(
        self, source: str | Path, target: str | Path, *, overwrite: bool = False, progress: Progress | None = None
    ) -> int:
        """Randomise the questions' columns of a Parquet, Feather or CSV file into a new file of the same format; the
        number of rows. Answers to questions that are asked jointly are held in memory.

        Raises:
            FileConflict: `target` exists; and what `privatize` raises.
        """
        apart = {name: m for name, m in self.questions.items() if name not in self._together}
        if self.joint is None:
            return privatize_file(source, target, apart, overwrite=overwrite, progress=progress)
        joint, origin = self.joint, Path(source)
        parts = list(
            format_of(origin, "source").read(origin, joint.names, dict(zip(joint.names, joint.labels, strict=True)))
        )
        read = [
            [_codes(own, part[name], name) for part in parts]
            for name, own in zip(joint.names, joint.labels, strict=True)
        ]
        records = np.column_stack([np.concatenate(one) if one else np.zeros(0, dtype=np.int64) for one in read])
        drawn = joint.draw(records.astype(np.int64))
        made = {
            name: Made(self.questions[name], partial(_slice, drawn[name], self.questions[name].output_labels))
            for name in joint.names
        }
        return privatize_file(source, target, apart, overwrite=overwrite, progress=progress, made=made)

    def _records(self, frame: Any) -> Any:
        """The codes of the answers to the questions that are asked jointly, a row for each person."""
        assert self.joint is not None
        columns = columns_of(frame, list(self.joint.names))
        codes = [
            _codes(labels, columns[name], name)
            for name, labels in zip(self.joint.names, self.joint.labels, strict=True)
        ]
        return np.column_stack(codes).astype(np.int64)

    def estimate(self, frame: Any, **options: Any) -> dict[str, Any]:
        """Every question: its frequencies by `ex.estimate_frequencies`, or its goal by `ex.estimate_workload`.

        Args:
            frame: a data frame of reports, or the path of a file that `extremal privatize` or `extremal questionnaire`
                wrote.
            options: such as `method`, `by`, `weights`, `missing`; a question with a goal takes `weights` alone.
        """
        return {name: self.estimate_one(frame, name, **options) for name in self.questions}

    def estimate_one(self, frame: Any, question: str, **options: Any) -> Any:
        """One question, as `estimate` does; who was not asked is left out."""
        self._refuse_unknown(question)
        mechanism, goal = self.questions[question], self.goals.get(question)
        if question in self._together:
            if goal is None:
                return estimate_frequencies(frame, mechanism, column=question, **{"missing": "drop", **options})
            frame = (
                _reports_of(frame, mechanism, question)
                if isinstance(frame, (str, Path))
                else _answered(frame, [question])
            )
        if goal is None:
            return estimate_frequencies(frame, mechanism, column=question, **options)
        column = None if isinstance(frame, list) else question
        return estimate_workload(frame, mechanism, goal, column=column, **options)

    def chance(self, question: str) -> Fraction:
        """The probability that a person is asked a question."""
        self._refuse_unknown(question)
        if self.joint is None or question not in self._together:
            return Fraction(1)
        return self.joint.structure.asked(self.joint.number(question))

    def crosstab(self, frame: Any, first: str, second: str, **options: Any) -> CrosstabEstimate:
        """The joint frequencies of two questions, or of a question and an open column, from everybody who was asked.

        Raises:
            NotIdentified: nobody is asked both.
        """
        if first not in self.questions:
            self._refuse_unknown(second)
        together = self._together
        if first in together and second in together and self.joint is not None:
            pairs, matrix = self.joint.pair(first, second)
            sides = {name: self.questions[name].inputs for name in (first, second)}
            return estimate_pairs(_answered(frame, [first, second]), sides, pairs, matrix)
        sides_by_name = {name: self.questions.get(name) for name in (first, second)}
        given = _answered(frame, [name for name in (first, second) if name in together])
        return estimate_crosstab(given, sides_by_name, **options)

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
        if self.joint is not None and len(self.joint.names) < len(self.questions):
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

    def certificate(self) -> Certificate:
        """The joint mechanism on records with its level, its largest margin and the bound, for `ex.verify`.

        Raises:
            InvalidParameter: the questionnaire is not a joint one about shares.
            TooLarge: there are more than 2^24 records.
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
        mechanism = Mechanism.from_structure(self.joint.structure, self.joint.privacy)
        return certify(mechanism, self._goal, question_proofs(self.joint.privacy.exponential, self._goal))

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
        head = f"{count} question{'s' if count > 1 else ''}: {self.said_level()} per person"
        rows = [
            [name, str(m.k), str(m.m) if m.m < 10**7 else "many", _said(self.notions[name])]
            for name, m in self.questions.items()
        ]
        header = ["question", "answers", "reports", "ε"]
        if self.joint is not None:
            header, head = [*header, "asked of"], f"{head}, decided for all reports together"
            rows = [
                [*row, f"{100 * float(self.chance(name)):.3g}%"] for row, name in zip(rows, self.questions, strict=True)
            ]
        table = f"{head}\n\n{aligned(header, rows, left=1)}"
        return table if self.budget is None else f"{table}\n\n{_side_by_side(self.budget, self.bound)}"

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


def _strategies(epsilon: Fraction, asked: list[Question], per_person: int | None) -> dict[str, tuple[Any, Costs]]:
    made: dict[str, tuple[Any, Costs]] = {
        "joint": joint(epsilon, asked, per_person),
        "sample": sample(epsilon, asked, per_person),
    }
    return made if per_person is not None else {**made, "split": split(epsilon, asked)}


def _spent(mechanism: Mechanism, name: str) -> Fraction:
    """What a question that has its mechanism takes from the budget."""
    notion = _notion(mechanism)
    if notion is None or notion.exact_delta:
        raise InvalidParameter(
            "a mechanism within a budget needs a finite ε and no δ", parameter=f"questions[{name!r}]", value=notion
        )
    exponent = notion.exponential.exponent
    return exponent if exponent is not None else as_fraction(LDP(0).level(mechanism), "epsilon")


def _side_by_side(budget: Budget, bound: float | None) -> str:
    """All strategies: how many questions a person answers, the largest half-width, and the people for ± 5 points."""
    rows = []
    for name, costs in budget.costs.items():
        half = NORMAL_95 * math.sqrt(costs.worst / SHOWN_PEOPLE)
        people = math.ceil(costs.worst * (NORMAL_95 / 0.05) ** 2)
        chosen = " (chosen)" if name == budget.strategy else ""
        rows.append([f"{name}{chosen}", f"{costs.asked:.3g}", f"{half:.4f}", f"{people:,}"])
    if bound is not None:
        least = NORMAL_95 * math.sqrt(bound / SHOWN_PEOPLE)
        rows.append(["any mechanism (bound)", "", f"{least:.4f}", f"{math.ceil(bound * (NORMAL_95 / 0.05) ** 2):,}"])
    header = ["strategy", "questions asked", f"half-width, n = {SHOWN_PEOPLE:,}", "people for ± 0.05"]
    note = (
        "Largest 95% half-width over the questions at equal shares, times importance; of a mean, relative to its range."
    )
    return f"{aligned(header, rows, left=1)}\n{note}"


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


def _codes(labels: Labels, column: Any, name: str) -> Any:
    """The code of each answer; one that is missing or none is refused by its position."""
    container = container_of(column)
    if container is None:
        raise InvalidParameter("a column must hold one value for each row", parameter="column", value=name)
    codes = input_codes(container, labels, column, name)
    bad = np.flatnonzero((codes < 0) | (codes >= len(labels)))
    if bad.size:
        raise unknown(labels, codes[bad[0]].item(), f"{name}[{int(bad[0])}]")
    return codes


def _slice(drawn: list[Any], labels: Labels, column: Any, first: int) -> Any:
    """The reports on the rows of a batch."""
    return with_gaps(drawn[first : first + len(column)], labels, column)


def _answered(frame: Any, names: list[str]) -> Any:
    """The rows in which nothing is missing in these columns."""
    if not names:
        return frame
    columns = {name: pick(frame, name, "column") for name in names} if not isinstance(frame, Mapping) else frame
    listed = [list(columns[name]) for name in names]
    kept = [not any(is_missing(plain_value(x)) for x in row) for row in zip(*listed, strict=True)]
    if all(kept):
        return frame
    return rows_of(frame, kept)


def _reports_of(path: str | Path, mechanism: Mechanism, question: str) -> list[Any]:
    """The reports to a question in a file, without those who were not asked."""
    parts = read_columns(Path(path), {question: mechanism}, [], True, "frame")
    found = [plain_value(x) for part in parts for x in part[question]]
    return [tuple(x) if isinstance(x, list) else x for x in found if not is_missing(x)]


def plain_value(value: Any) -> Any:
    """A value of any container as Python has it; lists are sets of labels."""
    return value.as_py() if hasattr(value, "as_py") else value


def rows_of(frame: Any, kept: list[bool]) -> Any:
    """Some rows of a frame, or of a mapping from name to column."""
    flags = np.array(kept, dtype=np.bool_)
    if isinstance(frame, Mapping):
        return {name: [x for x, keep in zip(column, kept, strict=True) if keep] for name, column in frame.items()}
    if hasattr(frame, "loc"):
        return frame.loc[flags]
    if type(frame).__module__.startswith("pyarrow"):
        import pyarrow

        return frame.filter(pyarrow.array(flags))
    return frame.filter(flags.tolist())


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
