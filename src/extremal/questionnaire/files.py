"""Questionnaire files: every question with its whole mechanism, or the joint mechanism of several, under one hash.

The same strict JSON as mechanism files (`extremal.mechanism.files`): duplicate keys, floats and integers beyond 2^53
are refused, a newer minor version is read, a newer major one refused, and each mechanism's claim is decided again.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.errors import MalformedFile
from extremal.exact import as_fraction
from extremal.exact.numbers import decimal_text
from extremal.mechanism.files import (
    check_version,
    content_digest,
    mechanism_from_json,
    refuse_changed,
    refuse_unknown_fields,
)
from extremal.mechanism.files import to_json as mechanism_to_json
from extremal.mechanism.writing import write_once
from extremal.questionnaire.budget import Budget
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.strategies import STRATEGIES, Costs
from extremal.questionnaire.texts import QuestionText
from extremal.sources import SourceClass
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload

if TYPE_CHECKING:
    from extremal.mechanism import Mechanism
    from extremal.questionnaire.questionnaire import Questionnaire

FORMAT = "extremal-questionnaire"
VERSION = (1, 2)
WORDING = ("text", "answers", "group")  # of a question
NOT_NAMED = "every question must have a name of its own and a mechanism"


def _content(questionnaire: Questionnaire) -> dict[str, Any]:
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(questionnaire),
        "questions": [
            {
                "name": name,
                **(questionnaire.texts[name].to_json() if name in questionnaire.texts else {}),
                **({} if name in questionnaire.together else {"mechanism": mechanism_to_json(m)}),
            }
            for name, m in questionnaire.questions.items()
        ],
    }
    return content | _besides(questionnaire)


def _besides(questionnaire: Questionnaire) -> dict[str, Any]:
    """What is stored beside the questions, where there is any."""
    joint, budget, goals = questionnaire.joint, questionnaire.budget, questionnaire.goals
    content: dict[str, Any] = {
        "title": questionnaire.title,
        "joint": None if joint is None else joint.to_json(),
        "goals": {name: goal.to_json() for name, goal in goals.items()},
        "budget": None if budget is None else _budget_to_json(budget),
    }
    return {name: found for name, found in content.items() if found}


def _version(questionnaire: Questionnaire) -> str:
    """The first version that could say all of this."""
    joint = questionnaire.joint
    if questionnaire.texts or questionnaire.title or (joint is not None and joint.branches):
        return "1.2"
    return "1.0" if joint is None and questionnaire.budget is None and not questionnaire.goals else "1.1"


def _budget_to_json(budget: Budget) -> dict[str, Any]:
    return {
        "epsilon": decimal_text(budget.epsilon),
        "strategy": budget.strategy,
        "per_person": budget.per_person,
        "importance": {name: repr(number) for name, number in budget.importance.items()},
        "costs": [
            {
                "strategy": costs.strategy,
                "asked": repr(costs.asked),
                "worst": repr(costs.worst),
                "variances": {name: repr(v) for name, v in costs.variances.items()},
            }
            for costs in budget.costs.values()
        ],
    }


def _budget_from_json(content: Any) -> Budget | None:
    if content is None:
        return None
    try:
        costs = {
            c["strategy"]: Costs(c["strategy"], float(c["asked"]), _floats(c["variances"]), float(c["worst"]))
            for c in content["costs"]
        }
        importance = _floats(content["importance"])
        if content["strategy"] not in costs or not set(costs) <= set(STRATEGIES):
            raise ValueError(content["strategy"])
        if content["per_person"] is not None and type(content["per_person"]) is not int:
            raise TypeError(content["per_person"])
        budget = Budget(
            as_fraction(content["epsilon"], "epsilon"), content["strategy"], content["per_person"], importance, costs
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedFile("a budget has ε, strategy and costs", parameter="budget", value=str(error)[:60]) from error
    return budget


def _floats(content: Any) -> dict[str, float]:
    return {str(name): float(number) for name, number in content.items()}


def _goals_from_json(content: Any) -> dict[str, Workload]:
    """Goals as `to_json` of a workload writes them."""
    try:
        return {str(name): _goal(goal) for name, goal in content.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedFile("goals must be workloads by question", parameter="goals", value=str(error)[:60]) from error


def _goal(content: dict[str, Any]) -> Workload:
    source = SourceClass.from_json(content["source"])
    name = content["utility"]
    if name == "Mean":
        return Mean([float(v) for v in content["values"]], source)
    if name == "CDF":
        return CDF(source, content["thresholds"])
    if name == "Frequencies":
        return Frequencies(source, content["items"], [float(w) for w in content["weights"]])
    if name == "Ranges":
        return Ranges(source)
    if name == "Workload":
        return Workload([[float(v) for v in row] for row in content["matrix"]], source)
    raise ValueError(name)


def content_hash(questionnaire: Questionnaire) -> str:
    return content_digest(_content(questionnaire))


def save(questionnaire: Questionnaire, path: Path, overwrite: bool) -> Path:
    """Write it, whole or not at all."""
    return write_once(path, to_json(questionnaire), overwrite)


def to_json(questionnaire: Questionnaire) -> dict[str, Any]:
    """The content of its file."""
    content = _content(questionnaire)
    return {**content, "hash": content_digest(content)}


def questionnaire_from_json(content: dict[str, Any], source: str) -> Questionnaire:
    """The questionnaire that a parsed file describes; nothing in it is trusted.

    Raises:
        MalformedFile: not a questionnaire file, corrupted, or of a newer major version.
        PrivacyViolation: a mechanism's claim is false.
    """
    from extremal.questionnaire.questionnaire import Questionnaire

    check_version(content, source, FORMAT, VERSION, "a questionnaire file")
    refuse_changed(content)
    refuse_unknown_fields(content, ("format", "version", "title", "questions", "joint", "goals", "budget"), VERSION)
    listed = content.get("questions")
    if not isinstance(listed, list) or not listed:
        raise MalformedFile("a questionnaire must list its questions", parameter="questions", value=listed)
    joint = JointQuestions.from_json(content["joint"]) if "joint" in content else None
    together = {} if joint is None else joint.mechanisms
    questions: dict[str, Mechanism] = {}
    texts: dict[str, QuestionText] = {}
    for entry in listed:
        name, inside = _named(entry, together)
        if name in questions:
            raise MalformedFile(NOT_NAMED, parameter="question", value=name)
        if set(entry) & set(WORDING):
            texts[name] = _wording(entry)
        own = f"{source}, question {name!r}"
        questions[name] = together[name] if inside is None else mechanism_from_json(inside, own)
    goals, budget = _goals_from_json(content.get("goals", {})), _budget_from_json(content.get("budget"))
    made = Questionnaire(questions, joint, goals, budget, texts, content.get("title", ""))
    _refuse_other_writing(content, made)
    return made


def _refuse_other_writing(content: dict[str, Any], made: Questionnaire) -> None:
    """Raise unless what is beside the mechanisms stands there as `save` writes it: "1_0", blanks, other digits and
    fields that nobody reads are malformed. A newer minor version may have more."""
    if int(content["version"].partition(".")[2]) > VERSION[1]:
        return
    written = _besides(made)
    for name in ("title", "joint", "goals", "budget"):
        if content_digest({name: content.get(name)}) != content_digest({name: written.get(name)}):
            raise MalformedFile("a questionnaire must be written as it is saved", parameter=name)


def _named(entry: Any, together: Collection[str]) -> tuple[str, dict[str, Any] | None]:
    """A question's name and what its file says of its mechanism; None where it is asked jointly."""
    known = {"name", "mechanism", *WORDING}
    content = entry if isinstance(entry, dict) and set(entry) <= known else {}
    name, inside = content.get("name"), content.get("mechanism")
    if not isinstance(name, str) or not name.strip() or isinstance(inside, dict) == (name in together):
        raise MalformedFile(NOT_NAMED, parameter="question", value=name)
    return name, inside if isinstance(inside, dict) else None


def _wording(entry: dict[str, Any]) -> QuestionText:
    text, answers, group = entry.get("text", ""), entry.get("answers", []), entry.get("group", "")
    if not isinstance(answers, list) or not all(isinstance(one, str) for one in (text, group, *answers)):
        raise MalformedFile("the wording of a question is texts", parameter="question", value=entry["name"])
    return QuestionText(text, tuple(answers), group)
