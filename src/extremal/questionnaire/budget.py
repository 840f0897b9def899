"""One budget for all questions: the mechanisms that a strategy makes of it, and what all strategies cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, as_count, as_fraction
from extremal.exact.exponential import LARGEST_EPSILON
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.joint import COIN, Assignment, Block, JointBlocks, coin_at_most
from extremal.privacy import LDP
from extremal.questionnaire.given import questions_of
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.questions import BranchQuestion, Question
from extremal.questionnaire.records import Branch
from extremal.questionnaire.strategies import STRATEGIES, Costs, joint, refuse_budget, sample, split
from extremal.tables import aligned
from extremal.utility import Workload

NORMAL_95 = 1.959963984540054  # the 97.5% quantile of a normal distribution
SHOWN_PEOPLE = 1000  # for whom a summary states half-widths
SHOWN_MARGIN = 0.05  # for which a summary states the people


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

    def side_by_side(self, bound: float | None) -> str:
        """All strategies: questions that a person answers, the largest half-width, and the people for ± 5 points."""
        rows = []
        for name, costs in self.costs.items():
            chosen = " (chosen)" if name == self.strategy else ""
            rows.append([f"{name}{chosen}", f"{costs.asked:.3g}", *_reached(costs.worst)])
        if bound is not None:
            rows.append(["any mechanism (bound)", "", *_reached(bound)])
        header = ["strategy", "questions asked", f"half-width, n = {SHOWN_PEOPLE:,}", f"people for ± {SHOWN_MARGIN}"]
        note = (
            "Half-widths are the largest over the questions, at 95% and equal shares, times importance; those of means "
            "are relative to their range. A plan allows for any shares and is wider for questions with many answers."
        )
        return f"{aligned(header, rows, left=1)}\n{note}"


def _reached(cost: float) -> tuple[str, str]:
    half = NORMAL_95 * math.sqrt(cost / SHOWN_PEOPLE)
    return f"{half:.4f}", f"{math.ceil(cost * (NORMAL_95 / SHOWN_MARGIN) ** 2):,}"


@dataclass(frozen=True, eq=False)
class Spent:
    """What a budget was spent on: mechanisms in the order of the questions, what is asked jointly, goals."""

    mechanisms: dict[str, Mechanism]
    joint: JointQuestions | None
    goals: dict[str, Workload]
    budget: Budget


def spend(epsilon: Any, questions: Any, strategy: str, per_person: int | None, importance: Any, optional: Any) -> Spent:
    """See `Questionnaire.within`."""
    if strategy not in ("best", *STRATEGIES):
        raise InvalidParameter(f"strategy must be best, {', '.join(STRATEGIES)}", parameter="strategy", value=strategy)
    asked, fixed = questions_of(questions, importance, optional)
    total = as_fraction(epsilon, "epsilon")
    left = total - sum((_spent(m, name) for name, m in fixed.items()), Fraction(0))
    if not asked:
        raise InvalidParameter(
            "some question must be without a mechanism", parameter="questions", hint="Questionnaire(questions)."
        )
    refuse_budget(left, len(asked))
    number = _checked_number(per_person, len(asked), strategy)
    made = _strategies(left, asked, number)
    best = min(made, key=lambda name: made[name][1].worst) if strategy == "best" else strategy
    importances = {q.name: q.importance for q in _columns(asked) if q.importance != 1}
    budget = Budget(total, best, number, importances, {name: costs for name, (_, costs) in made.items()})
    goals = {q.name: q.goal for q in asked if q.goal is not None}
    own, together = _mechanisms(best, made[best][0], asked, left)
    return Spent(fixed | own, together, goals, budget)


def _checked_number(per_person: int | None, most: int, strategy: str) -> int | None:
    """How many questions a person is asked, where that is given."""
    if per_person is None:
        return None
    number = as_count(per_person, "per_person", 1)
    if number > most or strategy == "split":
        raise InvalidParameter(
            f"per_person must be at most {most}, and is not for split", parameter="per_person", value=number
        )
    return number


def _mechanisms(
    strategy: str, made: Any, asked: list[Question], epsilon: Fraction
) -> tuple[dict[str, Mechanism], JointQuestions | None]:
    """The mechanism of each column in its order, and what is asked jointly: everything, but for "split", which has a
    level for each question, only what follows from filters."""
    if strategy != "split":
        together = _named(asked, made, epsilon)
        return together.mechanisms, together
    branches = [q for q in asked if isinstance(q, BranchQuestion)]
    found = {q.name: q.best(made[q.name]) for q in asked if q not in branches}
    apart = _branches_apart(branches, made)
    found |= {} if apart is None else apart.mechanisms
    return {q.name: found[q.name] for q in _columns(asked)}, apart


def _columns(asked: list[Question]) -> list[Question]:
    return [column for q in asked for column in q.columns]


def _strategies(epsilon: Fraction, asked: list[Question], per_person: int | None) -> dict[str, tuple[Any, Costs]]:
    made: dict[str, tuple[Any, Costs]] = {
        "joint": joint(epsilon, asked, per_person),
        "sample": sample(epsilon, asked, per_person),
    }
    return made if per_person is not None else {**made, "split": split(epsilon, asked)}


def _named(asked: list[Question], structure: JointBlocks, epsilon: Fraction) -> JointQuestions:
    """A structure with the columns of its questions."""
    columns = _columns(asked)
    names = tuple(column.name for column in columns)
    branches = tuple(
        Branch(tuple(names.index(m.name) for m in q.members), q.records) for q in asked if isinstance(q, BranchQuestion)
    )
    return JointQuestions(names, tuple(column.labels for column in columns), structure, LDP(epsilon), branches)


def _branches_apart(asked: list[BranchQuestion], levels: Mapping[str, Fraction]) -> JointQuestions | None:
    """Filters with what follows them, each asked of everybody with a coin and a level of its own."""
    if not asked:
        return None
    families = tuple((q.family(levels[q.name]),) for q in asked)
    blocks = tuple(
        Block((j,), (0,), coin_at_most(Exponential(levels[q.name]), families[j][0].odds)) for j, q in enumerate(asked)
    )
    total = sum((levels[q.name] for q in asked), Fraction(0))
    return _named(list(asked), JointBlocks(families, (Assignment(blocks, COIN),)), total)


def _spent(mechanism: Mechanism, name: str) -> Fraction:
    """What a question that has its mechanism takes from the budget."""
    notion = notion_of(mechanism)
    if notion is None or notion.exact_delta:
        raise InvalidParameter(
            "a mechanism within a budget needs a finite ε and no δ", parameter=f"questions[{name!r}]", value=notion
        )
    exponent = notion.exponential.exponent
    return exponent if exponent is not None else as_fraction(LDP(0).level(mechanism), "epsilon")


def notion_of(mechanism: Mechanism) -> LDP | None:
    """The LDP notion that a mechanism satisfies: its claim, or else its level; None where there is none."""
    claim = mechanism.privacy
    if isinstance(claim, LDP):
        return claim
    level = LDP(0).level(mechanism)
    return LDP(level) if level <= LARGEST_EPSILON else None
