"""Questionnaires: levels add up exactly, columns are randomised and estimated, asking again repeats."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import extremal as ex

YES_NO = ex.randomized_response(2, 1, inputs=["no", "yes"])
THREE = ex.randomized_response(3, "0.5", inputs=["left", "centre", "right"])


def test_six_questions_at_one_are_six_per_person() -> None:
    asked = ex.Questionnaire({f"q{i}": YES_NO for i in range(6)})
    assert asked.epsilon == 6
    assert asked.privacy == ex.LDP(6)
    assert "ε = 6 per person" in str(asked)
    assert "ε = 6 per person" in repr(asked)
    assert "6 questions, ε = 1 each, come to ε = 6 per person" in str(asked.explain())
    assert len(asked) == 6


@pytest.mark.parametrize(
    "mechanisms",
    [
        [YES_NO, THREE],
        [ex.subset_selection(4, 1), ex.geometric(3, 2)],
        [ex.binary([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 1), YES_NO, THREE],
    ],
)
def test_the_level_of_the_product_is_the_sum(mechanisms: list[ex.Mechanism]) -> None:
    """On the product alphabet, written out: exact, since two records may differ in every answer."""
    asked = ex.Questionnaire({str(i): m for i, m in enumerate(mechanisms)})
    joint = ex.Mechanism.from_matrix(reduce(np.kron, [m.matrix for m in mechanisms]))
    assert ex.LDP(0).level(joint) == pytest.approx(asked.epsilon, rel=1e-9)
    assert asked.epsilon == pytest.approx(sum(ex.LDP(0).level(m) for m in mechanisms), rel=1e-9)
    assert ex.LDP(asked.epsilon * (1 + 1e-9)).holds(joint)
    assert not ex.LDP(asked.epsilon * 0.999).holds(joint)


def test_levels_of_other_claims() -> None:
    prior = [0.5, 0.3, 0.2]
    leaking = ex.pml_randomized_response(prior, 0.3)
    asked = ex.Questionnaire({"a": leaking, "b": YES_NO})
    assert asked.level_of("a") == ex.LDP(0).level(leaking)
    assert asked.epsilon == pytest.approx(1 + asked.level_of("a"))
    ratio = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, privacy=ex.LDP.from_ratio(3))
    assert ex.Questionnaire({"a": ratio, "b": ratio}).privacy == ex.LDP.from_ratio(9)
    mixed = ex.Questionnaire({"a": ratio, "b": YES_NO})
    assert mixed.privacy is not None
    assert mixed.epsilon == pytest.approx(1 + math.log(3))
    certain = ex.Questionnaire({"a": ex.Mechanism.from_matrix(np.eye(2)), "b": YES_NO})
    assert certain.privacy is None
    assert certain.epsilon == certain.level(0.1) == certain.level_of("a") == math.inf
    assert "no finite ε per person" in str(certain)
    assert "none" in str(certain)
    assert ex.Questionnaire({str(i): ex.randomized_response(2, 60) for i in range(2)}).privacy is None


def test_delta_adds_up_and_composition_is_used() -> None:
    loose = ex.quaternary(1, 0.001)
    asked = ex.Questionnaire({"a": loose, "b": loose})
    assert asked.delta == Fraction(2, 1000)
    assert asked.privacy == ex.LDP(asked.epsilon, asked.delta)
    assert asked.epsilon <= 2
    assert "δ = 0.002, per person" in str(asked)
    assert "δ = 0.001" in str(asked)
    many = ex.Questionnaire({str(i): ex.randomized_response(2, "0.1") for i in range(100)})
    assert many.level() == 10
    assert many.level(1e-6) == ex.theory.composed_level([ex.LDP("0.1")] * 100, 1e-6) < 6


def test_a_budget_becomes_mechanisms() -> None:
    asked = ex.Questionnaire.within(2, {"drugs": ["no", "yes"], "party": 8}, "split", importance={"drugs": 3})
    assert asked.privacy == ex.LDP(2)
    assert asked.questions["drugs"].inputs == ("no", "yes")
    assert asked.questions["party"].k == 8
    assert all(m.privacy is not None for m in asked.questions.values())
    assert asked.level_of("drugs") + asked.level_of("party") == pytest.approx(2, abs=1e-12)
    for strategy in ("joint", "sample", "split"):
        assert ex.Questionnaire.within("0.3", {"a": 2, "b": 2, "c": 2}, strategy).privacy == ex.LDP("0.3")
    assert ex.Questionnaire.within(6, {"a": 3}).questions["a"].outputs == (0, 1, 2)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, None])
def test_columns_are_randomised_and_estimated(library: object) -> None:
    certain = ex.Questionnaire.within(80, {"drugs": ["no", "yes"], "party": ["a", "b", "c"]}, "split")
    columns = {"id": list(range(60)), "drugs": ["no", "yes", "no"] * 20, "party": ["a", "b", "c"] * 20}
    if library is None:
        import pyarrow

        frame = pyarrow.table(columns)
    else:
        frame = library(columns)
    reports = certain.privatize(frame)
    assert type(reports) is type(frame)
    assert list(reports["id"]) == list(frame["id"])
    found = certain.estimate(reports)
    assert found["drugs"].estimate == pytest.approx([2 / 3, 1 / 3], abs=1e-9)
    assert found["party"].estimate == pytest.approx([1 / 3] * 3, abs=1e-9)
    if library is not None:
        joint = certain.crosstab(reports, "drugs", "party")
        assert joint.estimate == pytest.approx(np.array([[1 / 3, 0, 1 / 3], [0, 1 / 3, 0]]), abs=1e-6)


def test_questions_apart_are_tabulated_from_a_file_as_from_a_frame(tmp_path: Path) -> None:
    asked = ex.Questionnaire({"drugs": YES_NO, "guns": YES_NO})
    frame = pd.DataFrame(
        {"drugs": ["no", "yes"] * 30, "guns": ["no", "no", "yes"] * 20, "area": ["x"] * 20 + ["y"] * 40}
    )
    frame.to_csv(tmp_path / "reports.csv", index=False)
    for second in ("guns", "area"):
        found = asked.crosstab(tmp_path / "reports.csv", "drugs", second, check_hash=False)
        assert found.estimate == pytest.approx(asked.crosstab(frame, "drugs", second).estimate, abs=1e-12)


def test_estimates_take_the_options_of_the_estimator() -> None:
    asked = ex.Questionnaire({"drugs": YES_NO})
    frame = pd.DataFrame({"drugs": ["no", "yes"] * 50, "group": ["x", "y"] * 50})
    assert asked.estimate(frame, method="projected")["drugs"].method == "projected"
    assert set(asked.estimate(frame, by="group")["drugs"]) == {"x", "y"}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_asking_again_repeats_the_reports(library: object, tmp_path: Path) -> None:
    asked = ex.Questionnaire(
        {"drugs": YES_NO, "party": ex.subset_selection(5, 1), "age": ex.subset_selection(16, "0.1")}
    )
    n = 40
    first = library(
        {
            "person": [f"p{i}" for i in range(n)],
            "drugs": ["no", "yes"] * 20,
            "party": [0, 1, 2, 3] * 10,
            "age": [1, 15] * 20,
        }
    )
    later = library({"person": [f"p{i}" for i in range(n)], "drugs": ["yes"] * n, "party": [4] * n, "age": [0] * n})
    with ex.Memory(tmp_path / "m.db", limit=asked.epsilon) as memory:
        one = asked.privatize(first, memory=memory, person="person")
        two = asked.privatize(later, memory=memory, person="person")
        assert one.equals(two)
        assert float(memory.spent("p3")) == pytest.approx(asked.epsilon)
    assert type(one) is library
    for name, mechanism in asked.questions.items():
        ex.estimate_frequencies(one, mechanism, column=name)  # every report is one of the mechanism's


def test_what_a_memory_needs(tmp_path: Path) -> None:
    asked = ex.Questionnaire({"drugs": YES_NO})
    frame = pd.DataFrame({"person": [1, 2], "drugs": ["no", "never"]})
    with ex.Memory(tmp_path / "m.db") as memory:
        for person in (None, "drugs"):
            with pytest.raises(ex.errors.InvalidParameter, match="who answered"):
                asked.privatize(frame, memory=memory, person=person)
        with pytest.raises(ex.errors.InvalidParameter, match="for a memory"):
            asked.privatize(frame, person="person")
        with pytest.raises(ex.errors.UnknownLabel) as error:
            asked.privatize(frame, memory=memory, person="person")
        assert "never" not in str(error.value)
        assert memory.spent(1) == 0
        with pytest.raises(ex.errors.UnknownLabel):
            asked.privatize(frame.assign(drugs=["no", None]), memory=memory, person="person")
        with pytest.raises(ex.errors.InvalidParameter):
            asked.privatize(frame, memory=memory, person="nobody")


def test_copies_are_the_same_questionnaire() -> None:
    asked = ex.Questionnaire({"drugs": YES_NO})
    for again in (pickle.loads(pickle.dumps(asked)), copy.deepcopy(asked)):
        assert again.hash == asked.hash
    with pytest.raises(TypeError):
        asked.questions["more"] = YES_NO  # type: ignore[index]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.Questionnaire({}), "1 to 4096 names"),
        (lambda: ex.Questionnaire([YES_NO]), "maps"),
        (lambda: ex.Questionnaire({"": YES_NO}), "needs a name"),
        (lambda: ex.Questionnaire({1: YES_NO}), "needs a name"),
        (lambda: ex.Questionnaire({"a": 3}), "needs a Mechanism.*within"),
        (lambda: ex.Questionnaire({"a": YES_NO}).level_of("b"), "one of the questionnaire's.*They are a"),
        (lambda: ex.Questionnaire({"a": YES_NO}).crosstab({}, "a", "b"), "must be in the frame"),
        (lambda: ex.Questionnaire({"a": YES_NO}).explain({"b": [0.5, 0.5]}), "one of the questionnaire's"),
        (lambda: ex.Questionnaire.within(1, ["a"]), "map names to answers"),
        (lambda: ex.Questionnaire.within(2, {"a": YES_NO}), "without a mechanism"),
        (lambda: ex.Questionnaire.within(1, {}), "map names to answers"),
        (lambda: ex.Questionnaire.within(1, {"a": "yes"}), "its answers"),
        (lambda: ex.Questionnaire.within(1, {"a": True}), "its answers"),
        (lambda: ex.Questionnaire.within(1, {"a": ["yes"]}), "question 'a' must have at least 2 answers"),
        (lambda: ex.Questionnaire.within(1, {"a": 2}, "equal"), "strategy must be best, joint, sample, split"),
        (lambda: ex.Questionnaire.within(1, {"a": 2, "b": 2}, per_person=3), "at most 2"),
        (lambda: ex.Questionnaire.within(1, {"a": 2, "b": 2}, "split", per_person=1), "not for split"),
        (lambda: ex.Questionnaire.within(1, {"a": 2}, importance={"b": 1}), "must name questions.*questions are 'a'"),
        (lambda: ex.Questionnaire.within(1, {"a": 2}, importance={"a": 0}), "must be positive"),
        (lambda: ex.Questionnaire.within(1, {" ": 2}), "needs a name"),
        (lambda: ex.Questionnaire.within(1, {"a": (["x"], ex.Mean([0, 1]))}), "about 2 answers"),
        (lambda: ex.Questionnaire.within(101, {"a": 2}), "epsilon must lie between"),
        (lambda: ex.Questionnaire.within(1, {"a": YES_NO, "b": 2}), "epsilon must lie between"),
        (lambda: ex.Questionnaire.within(3, {"a": ex.quaternary(1, 0.001), "b": 2}), "no δ"),
        (lambda: ex.Questionnaire({"a": YES_NO}, goals={"b": ex.Mean([0, 1])}), "one of the questionnaire's"),
        (lambda: ex.Questionnaire({"a": YES_NO}).plan(), "n or half_width"),
        (lambda: ex.Questionnaire({"a": YES_NO}).plan(half_width={"b": 0.1}), "must be of questions"),
    ],
)
def test_bad_questionnaires_are_refused_with_the_fix(make: object, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        make()


def test_a_question_does_not_take_the_key_of_the_hash() -> None:
    """JSON lines would have the key twice: the hash of the questionnaire, and a report."""
    message = "a question must have another name: .*; got name='questionnaire'"
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.Questionnaire({"questionnaire": ex.randomized_response(2, 1)})
