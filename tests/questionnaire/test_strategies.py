"""Strategies: their costs are those of the tables, their margins equal, their level the budget."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex
from extremal.mechanism.structures.joint import COIN, AllSets
from extremal.questionnaire import Questionnaire, TickAll
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.strategies import whole_weights

SIX = {f"q{i}": ["no", "yes"] for i in range(6)}


@pytest.mark.parametrize(
    ("count", "epsilon", "split", "sample", "joint"),
    [
        (2, 2, 4.6827, 3.4481, 2.6441055019),
        (3, 4, 2.9443, 2.5861, 1.3207959799),
        (6, 1, 144.6671, 28.0962, 28.0961662610),
        (6, 2, 36.6685, 10.3444, 7.9323165056),
        (6, 4, 9.6739, 5.1722, 2.5292225822),
        (6, 6, 4.6827, 3.4481, 1.3433606153),
        (12, 6, 16.6708, 6.8962, 2.6867212306),
    ],
)
def test_costs_of_yes_no_questions(count: int, epsilon: float, split: float, sample: float, joint: float) -> None:
    """n × the variance of the mean of a ±1 answer."""
    costs = Questionnaire.within(epsilon, {str(i): 2 for i in range(count)}).budget.costs
    assert 4 * costs["joint"].worst == pytest.approx(joint, rel=1e-9)
    assert 4 * costs["sample"].worst == pytest.approx(sample, abs=6e-5)
    assert 4 * costs["split"].worst == pytest.approx(split, abs=6e-5)


@pytest.mark.parametrize(("epsilon", "worst"), [(1, 13.6675023241), (2, 2.9555316420), (4, 0.7402547558)])
def test_margins_of_mixed_questions_are_equal(epsilon: float, worst: float) -> None:
    sizes = {"a": 2, "b": 2, "c": 5, "d": 5, "e": 11, "f": 24}
    made = Questionnaire.within(epsilon, sizes)
    joint = made.budget.costs["joint"]
    assert joint.worst == pytest.approx(worst, rel=1e-9)
    assert list(joint.variances.values()) == pytest.approx([worst] * 6, rel=1e-8)
    assert made.budget.costs["split"].variances == pytest.approx(
        dict.fromkeys(sizes, made.budget.costs["split"].worst), rel=1e-3
    )


@pytest.mark.parametrize("strategy", ["joint", "sample", "split"])
def test_the_cost_is_that_of_the_mechanisms(strategy: str) -> None:
    """n × variance by the estimators' own account, from each question's own mechanism and how often it is asked."""
    asked = Questionnaire.within(3, {"a": 2, "b": 3, "c": 5, "mean": ex.Mean(range(5))}, strategy)
    costs = asked.budget.costs[strategy]
    for name, mechanism in asked.questions.items():
        goal = asked.goals.get(name, ex.Frequencies(mechanism.k))
        unit = 4.0 if name == "mean" else 1.0
        alone = goal(mechanism) / goal.rows.shape[0] / unit**2
        assert costs.variances[name] == pytest.approx(alone / float(asked.chance(name)), rel=1e-9)
    assert asked.privacy == ex.LDP(3)


@pytest.mark.parametrize("strategy", ["joint", "sample"])
@pytest.mark.parametrize("epsilon", ["0.000001", 0.5, 2, 50])
def test_the_level_is_the_budget(strategy: str, epsilon: object) -> None:
    asked = Questionnaire.within(epsilon, {"a": 2, "b": 3, "c": 2, "d": 12}, strategy)
    assert asked.joint is not None
    assert ex.LDP(epsilon).holds(asked.joint.structure)
    if float(Fraction(str(epsilon))) < 30:  # beyond, a coin of 2^-53 is not fine enough
        assert ex.LDP(0).level(asked.joint.structure) == pytest.approx(float(Fraction(str(epsilon))), rel=1e-8)


def test_importance_narrows_a_margin() -> None:
    plain = Questionnaire.within(2, {"a": 2, "b": 4}).budget.costs
    asked = Questionnaire.within(2, {"a": 2, "b": 4}, importance={"a": 2}).budget.costs
    for strategy in ("joint", "sample", "split"):
        one, two = (asked[strategy].variances[name] for name in "ab")
        assert two == pytest.approx(4 * one, rel=1e-3)
        assert one < plain[strategy].variances["a"]


def test_per_person_is_kept() -> None:
    asked = Questionnaire.within(1, SIX, per_person=2)
    assert asked.joint is not None
    assert {len(a.asked) for a in asked.joint.structure.assignments} == {2}
    assert set(asked.budget.costs) == {"joint", "sample"}
    assert asked.budget.costs["joint"].worst * 4 == pytest.approx(6 / 2 * (1 + 4 / math.expm1(1)) ** 2, rel=1e-9)
    mixed = Questionnaire.within(2, {"a": 2, "b": 3, "c": 30}, "sample", per_person=2)
    assert mixed.joint is not None
    assert {len(a.asked) for a in mixed.joint.structure.assignments} == {2}


def test_a_question_with_its_mechanism_takes_its_part() -> None:
    asked = Questionnaire.within(3, {"own": ex.randomized_response(2, 1), "a": 2, "b": 3})
    assert asked.joint is not None
    assert asked.joint.privacy == ex.LDP(2)
    assert asked.epsilon == 3
    assert list(asked.questions) == ["own", "a", "b"]
    frame = pd.DataFrame({"own": [0, 1] * 20, "a": [0, 1] * 20, "b": [0, 2] * 20})
    assert asked.privatize(frame)["own"].notna().all()


def test_many_answers_are_asked_alone_and_never_listed() -> None:
    asked = Questionnaire.within(1, {"a": 2, "wide": 100})
    assert asked.joint is not None
    (family,) = asked.joint.structure.families[1]
    assert isinstance(family, AllSets)
    assert family.size == 27
    assert asked.questions["wide"].m > 10**20
    frame = pd.DataFrame({"a": [0, 1] * 300, "wide": [3, 90] * 300})
    reports = asked.privatize(frame)
    assert {len(one) for one in reports["wide"].dropna()} == {27}
    assert asked.estimate(reports)["wide"].n == reports["wide"].notna().sum()


def test_tick_all_that_apply() -> None:
    asked = Questionnaire.within(4, {"symptoms": TickAll(["fever", "cough"]), "age": 3}, importance={"symptoms": 2})
    assert list(asked.questions) == ["symptoms: fever", "symptoms: cough", "age"]
    assert asked.questions["symptoms: fever"].inputs == (False, True)
    assert asked.budget.importance == {"symptoms: fever": 2.0, "symptoms: cough": 2.0}


def records(n: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    first = rng.random(n) < 0.3
    return pd.DataFrame(
        {
            "a": np.where(first, "yes", "no"),
            "b": np.where(first ^ (rng.random(n) < 0.2), "y", "n"),
            "c": rng.choice([0, 1, 2], n, p=[0.5, 0.3, 0.2]),
            "region": rng.choice(["north", "south"], n),
        }
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("strategy", ["joint", "sample"])
def test_from_answers_to_estimates(library: str, strategy: str) -> None:
    frame = records()
    asked = Questionnaire.within(5, {"a": ["no", "yes"], "b": ["n", "y"], "c": 3}, strategy, per_person=2)
    given = {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame), "pyarrow": lambda: pa.table(frame)}
    reports = asked.privatize(given[library]())
    assert type(reports) is type(given[library]())
    found = asked.estimate(reports)
    for name, labels in (("a", ["no", "yes"]), ("b", ["n", "y"]), ("c", [0, 1, 2])):
        truth = [float((frame[name] == label).mean()) for label in labels]
        assert np.abs(found[name].estimate - truth).max() < 6 * found[name].standard_error.max()
    if library != "pyarrow":
        table = asked.crosstab(reports, "a", "b")
        truth = pd.crosstab(frame["a"], frame["b"], normalize=True).to_numpy()
        assert (np.abs(table.estimate - truth) < 6 * table.standard_error).all()
        assert (table.interval(0.9999999)[..., 0] <= truth).all()
        assert table.odds_ratio().estimate > 3
        assert table.conditional("a").groupby("a")["share"].sum().tolist() == pytest.approx([1, 1])
        assert asked.crosstab(reports, "a", "region").n == found["a"].n
        assert set(asked.estimate_one(reports, "a", by="region")) == {"north", "south"}


def test_who_was_never_asked_both_gives_no_table() -> None:
    asked = Questionnaire.within(1, {"a": 2, "b": 2})
    reports = asked.privatize(pd.DataFrame({"a": [0, 1] * 50, "b": [0, 1] * 50}))
    with pytest.raises(ex.errors.NotIdentified, match="same people"):
        asked.crosstab(reports, "a", "b")
    with pytest.raises(ex.errors.InvalidParameter, match="one of the questionnaire's"):
        asked.crosstab(reports, "x", "y")


def test_a_pair_of_reports_that_is_never_made_is_refused() -> None:
    asked = Questionnaire.within(4, {"a": 2, "b": 2})
    with pytest.raises(ex.errors.UnknownLabel, match="never makes"):
        asked.crosstab(pd.DataFrame({"a": [0, 1, 7], "b": [0, 1, 1]}), "a", "b")
    with pytest.raises(ex.errors.InvalidParameter, match="two reports"):
        asked.crosstab(pd.DataFrame({"a": [0], "b": [0]}), "a", "b")


def test_answers_that_are_none_are_refused_without_being_quoted() -> None:
    asked = Questionnaire.within(4, {"a": ["no", "yes"], "b": 3})
    for frame in (
        pd.DataFrame({"a": ["no", "secret"], "b": [0, 1]}),
        pd.DataFrame({"a": ["no", None], "b": [0, 1]}),
        pd.DataFrame({"a": ["no", "yes"], "b": [0, 17]}),
    ):
        with pytest.raises(ex.errors.UnknownLabel) as error:
            asked.privatize(frame)
        assert "secret" not in str(error.value)
        assert "17" not in str(error.value)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_memory_repeats_the_joint_report(library: object, tmp_path: Path) -> None:
    asked = Questionnaire.within(2, {"own": ex.randomized_response(2, 1), "a": ["no", "yes"], "b": 9, "c": 2})
    n = 30
    first = library({"p": list(range(n)), "own": [0, 1] * 15, "a": ["no", "yes"] * 15, "b": [3] * n, "c": [0] * n})
    later = library({"p": list(range(n)), "own": [1, 1] * 15, "a": ["yes"] * n, "b": [8] * n, "c": [1] * n})
    with ex.Memory(tmp_path / "m.db", limit=2) as memory:
        one = asked.privatize(first, memory=memory, person="p")
        two = asked.privatize(later, memory=memory, person="p")
        assert one.equals(two)
        assert memory.spent(3) == 2
    assert asked.estimate(one)["a"].n > 1


def test_files_hold_everything(tmp_path: Path) -> None:
    goals = {"mean": ex.Mean(range(4)), "cdf": ex.CDF(4), "some": ex.Frequencies([0.5, 0.3, 0.2], [0, 1])}
    more = {"ranges": ex.Ranges(3), "work": ex.Workload([[1, 0, 0], [0, 1, -1]], 3), "a": ["no", "yes"], "b": 5}
    for strategy in ("joint", "sample", "split"):
        asked = Questionnaire.within(4, {**goals, **more}, strategy, importance={"a": 2})
        again = ex.load(asked.save(tmp_path / f"{strategy}.json"))
        assert again.hash == asked.hash
        assert str(again) == str(asked)
        assert {n: g.to_json() for n, g in again.goals.items()} == {n: g.to_json() for n, g in asked.goals.items()}
        assert pickle.loads(pickle.dumps(asked)).hash == asked.hash
        assert again.questions == asked.questions


def test_plans() -> None:
    asked = Questionnaire.within(4, {**SIX, "partners": ex.Mean(range(11))})
    found = asked.plan(n=1200)
    assert found.solved == "half_width"
    assert found.half_widths["q0"] == pytest.approx(0.0488, abs=0.002)
    assert list(found.to_frame().columns) == ["question", "asked", "n", "half_width"]
    needed = asked.plan(half_width=0.05)
    assert max(w for name, w in needed.half_widths.items() if name != "partners") <= 0.05
    assert needed.half_widths["partners"] <= 0.5
    assert asked.plan(half_width={"q0": 0.05}).n <= needed.n
    assert "1,200 people" in str(found)
    with pytest.raises(ex.errors.InvalidParameter, match="n or half_width"):
        asked.plan(n=3, half_width=0.1)


def test_what_is_told_about_a_joint_questionnaire() -> None:
    asked = Questionnaire.within(4, {"own": ex.randomized_response(2, 1), **SIX})
    explained = asked.explain({"q0": [0.9, 0.1]})
    assert "come to ε = 4 per person" in explained.guarantee()
    assert explained.ratio == pytest.approx(math.exp(4), rel=1e-9)
    one = next(b for b in explained.beliefs if b.question == "q0")
    assert one.own[1] < one.all[1]
    assert "asked of" in asked.summary()


def test_a_false_claim_or_another_mechanism_is_refused() -> None:
    asked = Questionnaire.within(2, {"a": 2, "b": 2})
    joint = asked.joint
    assert joint is not None
    with pytest.raises(ex.errors.PrivacyViolation, match="all questions together"):
        JointQuestions(joint.names, joint.labels, joint.structure, ex.LDP("1.99"))
    with pytest.raises(ex.errors.InvalidParameter, match="a name and as many labels"):
        JointQuestions(joint.names[:1], joint.labels, joint.structure, joint.privacy)
    with pytest.raises(ex.errors.InvalidParameter, match="mechanism that follows"):
        Questionnaire({"a": ex.randomized_response(2, 1), "b": asked.questions["b"]}, joint)
    with pytest.raises(ex.errors.InvalidParameter, match="mechanism that follows"):
        Questionnaire({"a": asked.questions["a"]}, joint)


@pytest.mark.parametrize(("sizes", "gap"), [((2,) * 6, 1e-12), ((2, 3, 3), 0.1)])
def test_a_questionnaire_has_its_bound_and_its_certificate(sizes: tuple[int, ...], gap: float) -> None:
    asked = Questionnaire.within(2, {str(j): k for j, k in enumerate(sizes)}, importance={"0": 1})
    assert asked.bound is not None
    assert asked.bound <= asked.budget.costs["joint"].worst * (1 + 1e-9) <= asked.bound * (1 + gap) * (1 + 1e-9)
    assert "any mechanism (bound)" in asked.summary()
    certificate = asked.certificate()
    assert ex.verify(certificate)
    assert certificate.value == pytest.approx(asked.budget.costs["joint"].worst, rel=1e-9)
    assert certificate.bound == pytest.approx(asked.bound, rel=1e-9)


def test_where_there_is_no_bound_or_no_certificate() -> None:
    for asked in (
        Questionnaire.within(2, {"a": 2, "m": ex.Mean(range(3))}),
        Questionnaire.within(2, {"own": ex.randomized_response(2, 1), "a": 2}),
        Questionnaire({"a": ex.randomized_response(2, 1)}),
    ):
        assert asked.bound is None
        with pytest.raises(ex.errors.InvalidParameter, match="asked jointly"):
            asked.certificate()
    split = Questionnaire.within(2, {"a": 2, "b": 2}, "split")
    assert split.bound is not None
    with pytest.raises(ex.errors.InvalidParameter, match="asked jointly"):
        split.certificate()
    with pytest.raises(ex.errors.TooLarge, match="records"):
        Questionnaire.within(1, dict.fromkeys("abc", 1000), "sample").certificate()
    with pytest.raises(ex.errors.TooLarge, match="numbers the reports; got reports='more than 2.[0-9]+'"):
        Questionnaire.within(1, {"a": 300, "b": 300}, "sample").certificate()


def test_shares_of_assignments_are_whole_and_add_up() -> None:
    assert sum(whole_weights([1 / 3] * 3)) == COIN
    assert min(whole_weights([1.0, 1e-30])) == 1
