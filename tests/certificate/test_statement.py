"""How good a proved bound is, in words, and the grammar of what is stated: the branches that files of users reach."""

from __future__ import annotations

import math

import pytest

import extremal as ex
from extremal.certificate.statement import how_good, relative_gap
from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import as_fraction
from extremal.mechanism.files import refuse_unknown_fields
from extremal.problem.reading import can_be_written, goal_from_json


def test_the_gap_of_an_interval() -> None:
    assert relative_gap(0.25, 0.25) == relative_gap(math.inf, math.inf) == 0
    assert relative_gap(0.5, 1.0) == 0.5
    assert relative_gap(0.5, math.inf) == relative_gap(-1.0, 0.0) == math.inf


def test_how_good_a_bound_is() -> None:
    assert how_good(1e-9, (0.1, 0.2)) == "optimal to within 1.0e-09, between 0.1 and 0.2"
    assert how_good(5e-5, (0.1, 0.2)).startswith("within 5.0e-05 of the optimum")
    assert how_good(0.5, (0.1, 0.2)).startswith("within 50% of the optimum")
    assert how_good(1.0, (0.0, 0.2)).endswith("does not tell how good the mechanism is")


def test_numbers_that_are_too_long_or_too_large() -> None:
    with pytest.raises(InvalidParameter, match="at most"):
        as_fraction("1" * 100_000, "epsilon")
    for refused in (
        lambda: ex.MutualInformation([10**400, 1]),
        lambda: ex.LDP("1e400"),
        lambda: ex.AlphaDivergence([0.5, 0.5], [0.1, 0.9], 10**400),
        lambda: ex.Questionnaire.within("1e400", {"a": 2}),
        lambda: ex.epsilon_for_shuffle(1000, "1e400", 1e-8, ex.Frequencies(3)),
    ):
        with pytest.raises(InvalidParameter, match="must be a number of at most 1.8e308"):
            refused()
    with pytest.raises(InvalidParameter, match="finite, non-negative numbers"):
        ex.MutualInformation([1.7e308, 1.7e308])


def test_fields_of_a_newer_minor_version_are_left_alone() -> None:
    refuse_unknown_fields({"version": "1.1", "more": 1}, ["version"], (1, 0))
    with pytest.raises(MalformedFile, match="not known"):
        refuse_unknown_fields({"version": "1.0", "more": 1}, ["version"], (1, 0))


def test_goals_that_a_file_cannot_state() -> None:
    assert not can_be_written({"utility": "Mine"})
    assert not can_be_written({"utility": "Average", "utilities": [{"utility": "Mine"}]})
    goal = ex.KL([0.5, 0.5], [0.4, 0.6]).to_json()
    assert can_be_written(goal)
    with pytest.raises(MalformedFile, match="the same inputs"):
        goal_from_json({**goal, "p1": ["0.5", "0.25", "0.25"]})
    shares = ex.Frequencies(3).to_json()
    with pytest.raises(MalformedFile, match="a positive weight for each item"):
        goal_from_json({**shares, "weights": shares["weights"][:2]})
