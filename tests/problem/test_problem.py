"""What proofs know of notions and goals: the same from a class and from what its file says, nothing of a user's."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import ExtremalError, MalformedFile
from extremal.privacy import notion_from_json
from extremal.problem import (
    Coupled,
    Lift,
    LossGoal,
    MeanGoal,
    Metric,
    OverClass,
    PairGoal,
    Pure,
    QuestionsGoal,
    TablesGoal,
    WorkloadGoal,
    problem_of,
)
from extremal.problem.reading import Written, goal_from_json
from extremal.utility import LevelAtDistortion

P, Q = ["0.5", "0.3", "0.2"], ["1/7", "2/7", "4/7"]
CLASS = ex.SourceClass.ball(P, "0.1")
GOALS = [
    ex.KL(P, Q),
    ex.ReverseKL(P, Q),
    ex.SymmetricKL(P, Q),
    ex.TotalVariation(P, Q),
    ex.ChiSquared(P, Q),
    ex.SquaredHellinger(P, Q),
    ex.JensenShannon(P, Q),
    ex.AlphaDivergence(P, Q, "1/3"),
    ex.HockeyStick(P, Q, 2),
    ex.MutualInformation(Q),
    ex.Average([ex.KL(P, Q), ex.Average([ex.KL(Q, P), ex.MutualInformation(P)])]),
    ex.WorstCase([ex.KL(P, Q), ex.Average([ex.KL(Q, P)])]),
    ex.Distortion(CLASS, [[0, 0.1, 1 / 3]] * 3, outputs=["a", "b", "c"]),
    ex.Distortion(P, [[0, 1], [1, 0], [2, 3]]),
    ex.Hamming(CLASS),
    LevelAtDistortion(P, "0.1"),
    ex.Workload([[0.1, 2, -3], [1, 0, 0]], CLASS),
    ex.Mean([0.1, 0.2, 5], P),
    ex.Ranges(Q),
    ex.Frequencies(P, items=[2, 0], weights=[0.1, 3]),
    ex.CDF(P),
    ex.CDF(P, [1]),
]


def plain(value: Any) -> Any:
    """All that a problem value holds."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "__dataclass_fields__"):
        return type(value), {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("utility", GOALS, ids=lambda utility: utility.name)
def test_a_goal_is_what_its_file_says(utility: Any) -> None:
    content = json.loads(json.dumps(utility.to_json()))
    stated, read = problem_of(utility), goal_from_json(content)
    assert plain(stated) == plain(read)
    assert (stated.k, stated.name, stated.is_cost) == (3, utility.name, utility.is_cost)
    assert (read.k, read.name) == (3, utility.name)
    written = Written(content)
    assert written.to_json() == content
    assert plain(problem_of(written)) == plain(read)
    assert problem_of(stated) is stated


@pytest.mark.parametrize(
    ("notion", "form"),
    [
        (ex.LDP(1), Pure),
        (ex.LDP(1, "0.1"), Coupled),
        (ex.PML(1, P), Lift),
        (ex.LIP(1, P, lower=2), Lift),
        (ex.PML(1, CLASS), OverClass),
        (ex.MetricPrivacy("0.7", [[0, 1, np.inf], [1, 0, 2], [np.inf, 2, 0]]), Metric),
    ],
    ids=repr,
)
def test_a_notion_states_its_numbers(notion: Any, form: type) -> None:
    stated = problem_of(notion)
    assert isinstance(stated, form)
    assert isinstance(problem_of(notion_from_json(notion.to_json())), form)
    if isinstance(stated, Metric):
        assert (stated.k, stated.exponent(0, 1), stated.exponent(0, 2)) == (3, Fraction(7, 10), None)
    if isinstance(stated, Lift):
        assert (stated.low is None) == isinstance(notion, ex.PML)


def test_a_users_class_states_nothing() -> None:
    class Mine(ex.KL):
        pass

    class Own(ex.LDP):
        pass

    function = ex.FDivergence(P, Q, lambda x: (x - 1) ** 2)
    for value in (Mine(P, Q), Own(1), function, ex.Average([ex.KL(P, Q), function]), 3, None):
        assert problem_of(value) is None
    for utility in (function, ex.Sublinear(3, lambda q: q.max(axis=0)), ex.Average([ex.KL(P, Q), function])):
        assert goal_from_json(utility.to_json()) is None


def without(content: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != name}


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"utility": "Hearsay"},
        {"utility": ["KL"]},
        without(GOALS[0].to_json(), "p1"),
        {**GOALS[0].to_json(), "p1": ["1", "1"]},
        {**GOALS[0].to_json(), "p1": ["0.5", "0.6", "0.5"]},
        {**GOALS[7].to_json(), "alpha": "nan"},
        {**GOALS[8].to_json(), "gamma": "-1"},
        {"utility": "Average", "utilities": []},
        {"utility": "Average", "utilities": [ex.Hamming(P).to_json()]},
        {"utility": "Average", "utilities": [GOALS[11].to_json()]},
        {"utility": "Average", "utilities": [GOALS[0].to_json(), ex.MutualInformation(["1/2", "1/2"]).to_json()]},
        {**GOALS[12].to_json(), "distances": [["0", "1", "1"]] * 2},
        {**GOALS[12].to_json(), "distances": [["0", "1", "1"], ["0"], ["0"]]},
        {**GOALS[12].to_json(), "distances": [["0", "-1", "1"]] * 3},
        {**GOALS[12].to_json(), "distances": [[]] * 3},
        {**GOALS[15].to_json(), "distortion": "2"},
        {**GOALS[16].to_json(), "matrix": []},
        {**GOALS[16].to_json(), "matrix": [["1", "2"]]},
        {**GOALS[16].to_json(), "matrix": [["1", "2", "inf"]]},
        {**GOALS[16].to_json(), "matrix": [[1, 2, 3]]},
        {**GOALS[17].to_json(), "values": ["1", "2"]},
        {"utility": "Ranges", "source": {"kind": "simplex", "k": 5000}},
        {**GOALS[19].to_json(), "items": [0, 0]},
        {**GOALS[19].to_json(), "items": [0, 3]},
        {**GOALS[19].to_json(), "items": []},
        {**GOALS[19].to_json(), "weights": ["1"]},
        {**GOALS[19].to_json(), "weights": ["1", "0"]},
        {**GOALS[20].to_json(), "thresholds": [2]},
        {**GOALS[20].to_json(), "thresholds": [True]},
        {**GOALS[20].to_json(), "source": {"kind": "hearsay"}},
    ],
    ids=lambda content: str(content)[:40],
)
def test_what_states_no_goal_is_malformed(content: Any) -> None:
    with pytest.raises((ExtremalError, KeyError, TypeError, ValueError)):
        goal_from_json(content)


def test_kinds_of_goals() -> None:
    assert isinstance(problem_of(GOALS[0]), PairGoal)
    assert isinstance(problem_of(GOALS[10]), MeanGoal)
    assert isinstance(problem_of(GOALS[12]), LossGoal)
    assert isinstance(problem_of(GOALS[16]), WorkloadGoal)


def test_shares_of_questions_are_read_as_they_are_written() -> None:
    goal = QuestionsGoal((2, 3), (Fraction(1), Fraction(1, 3)), True)
    again = goal_from_json(goal.to_json())
    assert isinstance(again, QuestionsGoal)
    assert (again.sizes, again.weights, again.largest, again.k) == ((2, 3), goal.weights, True, 6)
    for change in ({"sizes": []}, {"weights": ["1"]}, {"weights": ["1", "0"]}, {"largest": "yes"}, {"sizes": [1, 2]}):
        with pytest.raises(ex.errors.ExtremalError):
            goal_from_json({**goal.to_json(), **change})


def test_tables_of_questions_are_read_as_they_are_written() -> None:
    again = goal_from_json(TablesGoal((2, 3)).to_json())
    assert isinstance(again, TablesGoal)
    assert (again.sizes, again.k) == ((2, 3), 6)
    for change in ({"sizes": [2]}, {"sizes": [1, 2]}, {"sizes": [2] * 65}, {"weights": ["1", "1"]}):
        with pytest.raises(ex.errors.ExtremalError):
            goal_from_json({**again.to_json(), **change})


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_a_goal_has_its_fields_and_no_others(goal: Any) -> None:
    content = json.loads(json.dumps(goal.to_json()))
    assert goal_from_json(content) is not None
    with pytest.raises(MalformedFile, match="unexpected"):
        goal_from_json({**content, "note": "1"})
    for field in set(content) - {"utility"}:
        with pytest.raises(MalformedFile, match="missing"):
            goal_from_json({name: value for name, value in content.items() if name != field})


@pytest.mark.parametrize(
    ("goal", "field", "text"),
    [
        (ex.AlphaDivergence(P, Q, "1/3"), "alpha", "2/6"),
        (ex.HockeyStick(P, Q, 2), "gamma", "2.0"),
        (ex.HockeyStick(P, Q, 2), "gamma", "1_0"),
        (LevelAtDistortion(P, "0.1"), "distortion", ".1"),
        (ex.Mean([0.1, 0.2, 5], P), "values", ["0.10", "0.2", "5.0"]),
        (ex.Mean([0.1, 0.2, 5], P), "values", ["inf", "0.2", "5.0"]),
        (ex.Mean([0.1, 0.2, 5], P), "values", ["0.1", "0.2", "5"]),
        (ex.Frequencies(P, items=[2, 0], weights=[0.1, 3]), "weights", ["0.1", "3.000000000000000000001"]),
        (ex.Distortion(P, [[0, 1], [1, 0], [2, 3]]), "distances", [["0", "1.0"]] * 3),
        (ex.KL(P, Q), "p0", ["0.50", "0.3", "0.2"]),
        (ex.Hamming(CLASS), "source", {**CLASS.to_json(), "radius": "1/10"}),
        (ex.Hamming(CLASS), "source", {**CLASS.to_json(), "metric": "tv"}),
    ],
)
def test_a_number_of_a_goal_has_one_text(goal: Any, field: str, text: Any) -> None:
    with pytest.raises(MalformedFile):
        goal_from_json({**json.loads(json.dumps(goal.to_json())), field: text})
