"""Goals as files state them: JSON read straight into problem values, without the classes that wrote it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Any

from extremal.errors import MalformedFile
from extremal.exact import Prior, as_count, as_fraction
from extremal.exact.written import refuse_other_fields, written_double, written_fraction
from extremal.problem import (
    Goal,
    InformationGoal,
    LeastGoal,
    LevelGoal,
    LossGoal,
    MeanGoal,
    PairGoal,
    QuestionsGoal,
    WorkloadGoal,
    states,
)
from extremal.sources import SourceClass

MOST_QUESTIONS = 64  # of a record whose shares are wanted: more than any mechanism of so many answers has
MOST_WORKLOAD_INPUTS = 4096  # k×k matrices beyond this are refused: 2^24 entries
PARAMETERS = {"AlphaDivergence": "alpha", "HockeyStick": "gamma"}  # of divergences that have one
DIVERGENCES = (
    *("KL", "ReverseKL", "SymmetricKL", "TotalVariation", "ChiSquared", "SquaredHellinger", "JensenShannon"),
    *PARAMETERS,
)
OF_USERS = ("ConvexUtility", "FDivergence", "Sublinear")  # what holds a function, which no file does

Content = Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """A goal as a file states it; what `problem_of` makes of it is what was written."""

    content: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.content


def can_be_written(content: Mapping[str, Any]) -> bool:
    """Whether a file can state the goal: all of it is of this package, or holds a user's function."""
    if content.get("utility") not in _READERS and content.get("utility") not in OF_USERS:
        return False
    return all(can_be_written(part) for part in content.get("utilities", ()))


def goal_from_json(content: Any) -> Goal | None:
    """The goal that a file states; None for a user's function, of which a file holds the name only.

    Raises:
        MalformedFile: not a goal that files hold.
        ExtremalError: a number, a prior or a class that is none.
        KeyError, TypeError, ValueError: a field is missing, or is not of its type.
    """
    name = content.get("utility") if isinstance(content, dict) else None
    if name in OF_USERS:
        return None
    if not isinstance(name, str) or name not in _READERS:
        raise MalformedFile("utility must be one that a file can hold", parameter="utility", value=str(name)[:60])
    return _READERS[name](content)


def _divergence(content: Content) -> Goal:
    name = content["utility"]
    _exactly(content, "p0", "p1", *([PARAMETERS[name]] if name in PARAMETERS else []))
    p0, p1 = Prior.from_json(content["p0"]), Prior.from_json(content["p1"])
    if len(p0) != len(p1):
        raise _refused("p0 and p1 must be about the same inputs", "len(p1)", len(p1))
    parameter = written_fraction(content[PARAMETERS[name]], PARAMETERS[name]) if name in PARAMETERS else None
    if name == "HockeyStick" and parameter is not None and parameter < 0:
        raise _refused("gamma must not be negative", "gamma", parameter)
    return PairGoal(name, p0, p1, parameter)


def _combination(kind: Callable[[Any], Goal]) -> Callable[[Content], Goal | None]:
    def read(content: Content) -> Goal | None:
        _exactly(content, "utilities")
        parts = [goal_from_json(part) for part in content["utilities"]]
        if not parts or not all(isinstance(part, (*_SUMS, NoneType)) for part in parts):
            raise _refused("its parts must be sums over columns", "utilities", len(parts))
        known = tuple(part for part in parts if part is not None)
        if len({part.k for part in known}) > 1:
            raise _refused("its parts must be about the same inputs", "utilities", len(parts))
        return kind(known) if len(known) == len(parts) else None

    return read


_SUMS = (PairGoal, InformationGoal, MeanGoal)


def _distortion(content: Content) -> Goal:
    _exactly(content, "source", "distances", "outputs")
    source = SourceClass.from_json(content["source"])
    losses = [[_decimal(loss) for loss in row] for row in content["distances"]]
    whole = len(losses) == source.k and len({len(row) for row in losses}) == 1 and bool(losses[0])
    if not whole or min(map(min, losses)) < 0:
        raise _refused(f"distances must be {source.k} rows of losses ≥ 0", "distances", len(losses))
    outputs = content["outputs"]
    return LossGoal(source, losses, outputs)


def _level(content: Content) -> Goal:
    _exactly(content, "source", "distortion")
    distortion = written_fraction(content["distortion"], "distortion")
    if not 0 <= distortion <= 1:
        raise _refused("distortion must lie between 0 and 1", "distortion", distortion)
    return LevelGoal(SourceClass.from_json(content["source"]), distortion)


def _source(content: Content) -> SourceClass:
    source = SourceClass.from_json(content["source"])
    if source.k > MOST_WORKLOAD_INPUTS:
        raise _refused(f"a workload may have at most {MOST_WORKLOAD_INPUTS} inputs", "k", source.k)
    return source


def _rows(content: Content) -> Goal:
    name = content["utility"]
    _exactly(content, "source", "matrix" if name == "Workload" else "values")
    source = _source(content)
    given = content["matrix"] if name == "Workload" else [content["values"]]
    matrix = [[_double(number) for number in row] for row in given]
    if not matrix or any(len(row) != source.k for row in matrix):
        raise _refused(f"a statistic must have {source.k} numbers", "matrix", len(matrix))
    return WorkloadGoal.of_rows(name, source, matrix)


def _shares(content: Content) -> Goal:
    _exactly(content, "source", "items", "weights")
    source = _source(content)
    items, weights = _positions(content["items"], source.k), [_double(weight) for weight in content["weights"]]
    if len(weights) != len(items) or min(weights) <= 0:
        raise _refused("there must be a positive weight for each item", "weights", len(weights))
    return WorkloadGoal.of_shares(source, items, weights)


def _thresholds(content: Content) -> Goal:
    _exactly(content, "source", "thresholds")
    source = _source(content)
    given = content["thresholds"]
    chosen = list(range(source.k - 1)) if given is None else _positions(given, source.k - 1)
    return WorkloadGoal.of_thresholds(source, chosen)


def _questions(content: Content) -> Goal:
    _exactly(content, "sizes", "weights", "largest")
    sizes = tuple(as_count(k, "sizes", 2) for k in content["sizes"])
    weights = tuple(written_fraction(weight, "weights") for weight in content["weights"])
    if not 1 <= len(sizes) <= MOST_QUESTIONS or len(weights) != len(sizes) or min(weights) <= 0:
        raise _refused(
            f"there must be 1 to {MOST_QUESTIONS} questions, each with a positive weight", "sizes", len(sizes)
        )
    if not isinstance(content["largest"], bool):
        raise _refused("largest must be true or false", "largest", str(content["largest"])[:60])
    return QuestionsGoal(sizes, weights, content["largest"])


def _positions(given: Any, below: int) -> list[int]:
    chosen = [as_count(x, "position", 0) for x in given]
    if not chosen or len(set(chosen)) < len(chosen) or max(chosen) >= below:
        raise _refused(f"positions must be different, below {below}", "positions", chosen[:8])
    return chosen


def _information(content: Content) -> Goal:
    _exactly(content, "prior")
    return InformationGoal(Prior.from_json(content["prior"]))


def _hamming(content: Content) -> Goal:
    _exactly(content, "source")
    return LossGoal(SourceClass.from_json(content["source"]), None)


def _ranges(content: Content) -> Goal:
    _exactly(content, "source")
    return WorkloadGoal.of_ranges(_source(content))


def _exactly(content: Content, *fields: str) -> None:
    refuse_other_fields(content, ("utility", *fields), f"the utility {content['utility']}")


def _double(text: Any) -> float:
    number = written_double(text, "number")
    if not math.isfinite(number):
        raise _refused("a number of a workload or a loss is a finite double", "number", text)
    return number


def _decimal(text: Any) -> Fraction:
    """The decimal that a double is written as."""
    _double(text)
    return as_fraction(text, "number")


def _refused(requirement: str, parameter: str, value: Any) -> MalformedFile:
    return MalformedFile(requirement, parameter=parameter, value=str(value) if isinstance(value, Fraction) else value)


_READERS: dict[str, Callable[[Content], Goal | None]] = {
    **dict.fromkeys(DIVERGENCES, _divergence),
    "MutualInformation": _information,
    "Average": _combination(MeanGoal),
    "WorstCase": _combination(LeastGoal),
    "Distortion": _distortion,
    "Hamming": _hamming,
    "LevelAtDistortion": _level,
    "Workload": _rows,
    "Mean": _rows,
    "Frequencies": _shares,
    "CDF": _thresholds,
    "Ranges": _ranges,
    "QuestionShares": _questions,
}

states(Written, lambda written: goal_from_json(written.content))
