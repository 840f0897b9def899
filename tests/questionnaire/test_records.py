"""Skip patterns, missing answers, records of reports and JSON lines."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import extremal as ex
from extremal.exact import Exponential
from extremal.mechanism.structures.joint import COIN
from extremal.questionnaire import OnlyIf, Questionnaire, TickAll
from extremal.questionnaire.device import example_questionnaires, record_report
from extremal.questionnaire.joint import Branch, JointQuestions
from extremal.questionnaire.records import NO_ANSWER, SKIPPED, record_codes
from extremal.release.sampling.words import CipherWords

ASKED: dict[str, Any] = {
    "smokes": ["no", "yes"],
    "cigarettes": OnlyIf("smokes", "yes", ["few", "many", "more"]),
    "age": 3,
}


def answers(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    smokes = rng.random(n) < 0.4
    cigarettes = [rng.choice(["few", "many", "more"], p=[0.5, 0.3, 0.2]) if x else None for x in smokes]
    return pd.DataFrame(
        {
            "smokes": np.where(smokes, "yes", "no"),
            "cigarettes": cigarettes,
            "age": rng.choice(3, n),
            "region": rng.choice(["north", "south"], n),
        }
    )


def enumerated(asked: Questionnaire) -> dict[tuple[Any, ...], dict[Any, Fraction]]:
    """The whole law of the reports given every admissible record, from the coins in rationals."""
    joint = asked.joint
    assert joint is not None
    found: dict[tuple[Any, ...], dict[Any, Fraction]] = {}
    sizes = joint.structure.sizes
    for record in itertools.product(*(range(k) for k in sizes)):
        law: dict[Any, Fraction] = {}
        for number, assignment in enumerate(joint.structure.assignments):
            parts = []
            for block in assignment.blocks:
                ks = [sizes[j] for j in block.questions]
                coin = Fraction(block.coin, COIN)
                every = {y: (1 - coin) / math.prod(ks) for y in itertools.product(*map(range, ks))}
                every[tuple(record[j] for j in block.questions)] += coin
                parts.append(every)
            for ys in itertools.product(*(part.items() for part in parts)):
                key = (number, tuple(y for y, _ in ys))
                share = math.prod((p for _, p in ys), start=Fraction(1))
                law[key] = law.get(key, Fraction(0)) + share * Fraction(assignment.weight, COIN)
        assert sum(law.values()) == 1
        found[record] = law
    return found


@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize("strategy", ["joint", "sample", "split"])
def test_every_strategy_spends_the_budget_exactly_on_all_records(strategy: str, epsilon: int) -> None:
    """The largest ratio over all records and reports, listed: never above e^ε, and as near as a coin of 2^-53 is."""
    asked = Questionnaire.within(epsilon, {"a": 2, "b": 3, "c": 2}, strategy)
    if asked.joint is None:
        laws = {name: m.weights for name, m in asked.questions.items()}
        worst = Fraction(1)
        for weights in laws.values():  # reports are independent, so that their largest ratios multiply
            worst *= max(Fraction(int(max(column)), int(min(column))) for column in weights.T)
    else:
        law = enumerated(asked)
        assert len(law) == 12
        worst = max(law[a][y] / law[b][y] for a in law for b in law for y in law[a])
    assert Exponential(epsilon).at_least(worst.numerator, worst.denominator)
    assert math.log(worst) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("strategy", ["joint", "sample", "split"])
def test_a_filter_and_what_follows_have_only_admissible_records_at_exactly_the_budget(strategy: str) -> None:
    asked = Questionnaire.within(3, {"smokes": ASKED["smokes"], "cigarettes": ASKED["cigarettes"]}, strategy)
    joint = asked.joint
    assert joint is not None
    assert joint.branches[0].records == ((0, 3), (1, 0), (1, 1), (1, 2))  # 1 + k, not 2(k + 1)
    law = enumerated(asked)
    worst = max(law[a][y] / law[b][y] for a in law for b in law for y in law[a])
    assert float(worst) == pytest.approx(math.exp(3), rel=1e-9)
    assert worst <= Fraction(math.exp(3)) * (1 + Fraction(1, 10**15))
    # What a column of it says alone: (1 − γ)·n_b/K + γ·1[b is the answer].
    gamma = joint.structure.assignments[0].blocks[0].coin / COIN
    base = np.array([1, 1, 1, 1]) / 4
    expected = (1 - gamma) * base + gamma * np.eye(4)
    assert np.abs(asked.questions["cigarettes"].matrix - expected).max() < 1e-15
    assert (
        np.abs(asked.questions["smokes"].matrix - ((1 - gamma) * np.array([1, 3]) / 4 + gamma * np.eye(2))).max()
        < 1e-15
    )


@pytest.mark.parametrize("strategy", ["joint", "sample", "split"])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_skipped_questions_from_answers_to_estimates(strategy: str, library: Any) -> None:
    frame = answers(4000)
    asked = Questionnaire.within(5, ASKED, strategy)
    reports = asked.privatize(library(frame))
    found = asked.estimate(reports)
    truth = frame["cigarettes"].fillna(SKIPPED).value_counts(normalize=True)
    assert found["cigarettes"].inputs == ("few", "many", "more", SKIPPED)
    for label, share, error in zip(
        found["cigarettes"].inputs, found["cigarettes"].estimate, found["cigarettes"].standard_error, strict=True
    ):
        assert abs(share - truth[label]) < 5 * error
    table = asked.crosstab(reports, "smokes", "cigarettes")
    assert table.estimate[0, :3] == pytest.approx([0, 0, 0], abs=1e-12)  # never reported together, never answered
    assert table.estimate[1, 3] == pytest.approx(0, abs=1e-12)
    assert table.estimate[1, :3].sum() == pytest.approx((frame["smokes"] == "yes").mean(), abs=0.06)
    both = asked.crosstab(reports, "cigarettes", "age")
    assert both.estimate.sum() == pytest.approx(1)


def test_a_record_that_is_not_admissible_is_refused_without_being_quoted() -> None:
    asked = Questionnaire.within(3, ASKED)
    for smokes, cigarettes in (("no", "few"), ("yes", None), ("yes", SKIPPED)):
        frame = pd.DataFrame({"smokes": ["no", smokes], "cigarettes": [None, cigarettes], "age": [0, 1]})
        with pytest.raises(ex.errors.InvalidParameter, match=r"smokes, cigarettes\[1\].*Leave the answers") as error:
            asked.privatize(frame)
        assert "few" not in str(error.value)
    with pytest.raises(ex.errors.UnknownLabel):
        asked.privatize(pd.DataFrame({"smokes": [None], "cigarettes": [None], "age": [0]}))


def test_missing_answers_have_their_place_where_a_question_is_optional(tmp_path: Path) -> None:
    for strategy in ("joint", "split"):
        asked = Questionnaire.within(6, {"a": ["x", "y"], "b": 3}, strategy, optional=["b"])
        assert asked.questions["b"].inputs == (0, 1, 2, NO_ANSWER)
        frame = pd.DataFrame({"a": ["x", "y"] * 500, "b": [0.0, None] * 500})
        found = asked.estimate(asked.privatize(frame))["b"]
        assert found.estimate == pytest.approx([0.5, 0, 0, 0.5], abs=0.15)
        frame.astype({"b": "Int64"}).to_csv(tmp_path / "a.csv", index=False)
        assert asked.privatize_file(tmp_path / "a.csv", tmp_path / f"{strategy}.csv") == 1000
        assert asked.estimate(tmp_path / f"{strategy}.csv")["b"].estimate == pytest.approx([0.5, 0, 0, 0.5], abs=0.15)
        with pytest.raises(ex.errors.UnknownLabel):
            asked.privatize(pd.DataFrame({"a": ["x", None], "b": [0, 1]}))
    with pytest.raises(ex.errors.InvalidParameter, match="optional must name"):
        Questionnaire.within(2, {"a": 2, "m": ex.Mean(range(3))}, optional=["m"])


def test_a_skipped_question_may_be_left_out_too() -> None:
    asked = Questionnaire.within(6, ASKED, optional=["cigarettes"])
    assert asked.joint is not None
    frame = {"smokes": ["no", "yes", "yes"], "cigarettes": [None, None, "many"], "age": [0, 1, 2]}
    codes = record_codes(asked.joint, frame)
    labels = asked.joint.labels[1]
    assert [labels[c] for c in codes[:, 1].tolist()] == [SKIPPED, NO_ANSWER, "many"]


def test_filters_behind_filters() -> None:
    asked = Questionnaire.within(
        4, {"a": 2, "b": OnlyIf("a", 1, 2), "c": OnlyIf("b", [0, 1], 2), "d": OnlyIf("a", [0], 3)}
    )
    assert asked.joint is not None
    (branch,) = asked.joint.branches
    assert len(branch.records) == 3 + 4
    for wrong in (OnlyIf("later", 1, 2), OnlyIf("a", "x", 2), OnlyIf("a", 1, ex.Mean(range(3)))):
        with pytest.raises(ex.errors.InvalidParameter, match="condition"):
            Questionnaire.within(2, {"a": 2, "b": wrong, "later": 2})
    with pytest.raises(ex.errors.InvalidParameter, match="admissible records"):
        Questionnaire.within(2, {"a": 2, "b": OnlyIf("a", 1, 70), "c": OnlyIf("a", 1, 70)})


def test_a_branch_that_does_not_fit_is_refused() -> None:
    joint = Questionnaire.within(3, ASKED).joint
    assert joint is not None
    for branches, why in (
        ((Branch((0, 1), ((0, 3), (0, 3))),), "different records"),
        ((Branch((0, 1), ((0, 4), (0, 3))),), "different records"),
        ((Branch((0, 0), ((0, 3), (1, 1))),), "one branch"),
        ((Branch((0, 1), ((0, 3), (1, 1), (1, 2))),), "as many labels"),
    ):
        with pytest.raises(ex.errors.InvalidParameter, match=why):
            JointQuestions(joint.names, joint.labels, joint.structure, joint.privacy, branches)


def test_texts_stand_in_the_file(tmp_path: Path) -> None:
    asked = Questionnaire.within(
        4,
        {**ASKED, "symptoms": TickAll(["fever", "cough"])},
        optional=["age"],
        texts={"smokes": ("Do you smoke?", ["No", "Yes"]), "symptoms": "Which?", "age": ("How old?", ["a", "b", "c"])},
        title="Health",
    )
    assert asked.texts["symptoms: fever"].group == "Which?"
    path = asked.save(tmp_path / "q.json")
    again = ex.load(path)
    assert (again.hash, again.title, dict(again.texts)) == (asked.hash, "Health", dict(asked.texts))
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["version"] == "1.2"
    assert content["questions"][0] == {"name": "smokes", "text": "Do you smoke?", "answers": ["No", "Yes"]}
    assert content["joint"]["records"] == [[["smokes", "cigarettes"], [[0, 3], [1, 0], [1, 1], [1, 2]]]]
    with pytest.raises(ex.errors.InvalidParameter, match="a text for each"):
        Questionnaire.within(4, {"a": 2}, texts={"a": ("A?", ["one"])})
    with pytest.raises(ex.errors.InvalidParameter, match="texts must be of questions"):
        Questionnaire.within(4, {"a": 2}, texts={"b": "B?"})


def test_a_budget_below_what_is_spent_is_refused(tmp_path: Path) -> None:
    from extremal.mechanism.files import content_digest

    for strategy in ("joint", "split"):
        path = Questionnaire.within(3, {"a": 2, "b": 2}, strategy).save(tmp_path / f"{strategy}.json")
        content = json.loads(path.read_text(encoding="utf-8"))
        content["budget"]["epsilon"] = "2.999"
        content["hash"] = content_digest({key: value for key, value in content.items() if key != "hash"})
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ex.errors.InvalidParameter, match="more than the budget"):
            ex.load(path)


# -- records of reports


def drawn_records(asked: Questionnaire, n: int) -> list[dict[str, Any]]:
    """What n devices would send, through JSON."""
    source, made = CipherWords(bytes(32)), []

    def words() -> Any:
        while True:
            word = np.empty(1, dtype=np.uint64)
            source.fill(word)
            yield int(word[0])

    for i in range(n):
        codes = {name: i % m.k for name, m in asked.questions.items()}
        if asked.joint is not None:
            for branch in asked.joint.branches:
                record = branch.records[i % len(branch.records)]
                codes |= {asked.joint.names[c]: x for c, x in zip(branch.columns, record, strict=True)}
        made.append(json.loads(json.dumps(record_report(asked, codes, words()))))
    return made


def test_what_a_device_makes_is_a_record_and_what_it_never_makes_is_none() -> None:
    for asked in example_questionnaires():
        for record in drawn_records(asked, 60):
            checked = asked.check_record(record)
            assert list(checked) == list(asked.questions)
            for name, report in record.items():
                wrong = {**record, name: "secret"}
                with pytest.raises(ex.ExtremalError) as error:
                    asked.check_record(wrong)
                assert "secret" not in str(error.value)
                if report is not None:  # a person is asked all of an assignment
                    with pytest.raises(ex.ExtremalError):
                        asked.check_record({**record, name: None})
    with pytest.raises(ex.errors.InvalidParameter, match="a question that is not asked"):
        asked.check_record({**record, "more": 1})
    with pytest.raises(ex.errors.InvalidParameter, match="got record='list'"):
        asked.check_record([])  # type: ignore[arg-type]


def test_a_report_of_another_kind_is_no_record() -> None:
    asked = Questionnaire.within(4, {**ASKED, "income": 6})
    assert asked.joint is not None
    record = next(r for r in drawn_records(asked, 100) if r["smokes"] is not None and r["smokes"].startswith("1: "))
    with pytest.raises(ex.errors.InvalidParameter, match="no person is asked"):
        asked.check_record({**record, "smokes": "2" + record["smokes"][1:]})
    other = '1: "no"' if "yes" in record["smokes"] else '1: "yes"'
    with pytest.raises(ex.errors.InvalidParameter, match="skipped questions"):
        asked.check_record({**record, "smokes": other})


def test_records_and_json_lines_are_estimated_as_a_frame_is(tmp_path: Path) -> None:
    asked = Questionnaire.within(5, {"a": ["no", "yes"], "b": 9, "m": ex.Mean(range(4))}, per_person=2)
    records = [{**r, "region": "north" if i % 3 else "south"} for i, r in enumerate(drawn_records(asked, 900))]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps({"questionnaire": asked.hash, **r}) + "\n" for r in records), encoding="utf-8")
    frame = pd.DataFrame(records, dtype=object)
    for given in (records, path, str(path)):
        for options in ({}, {"by": "region"}):
            one, two = asked.estimate(given, **options), asked.estimate(frame, **options)
            for name in asked.questions:
                if options:
                    assert set(one[name]) == {"north", "south"}
                    one[name], two[name] = one[name]["north"], two[name]["north"]
                assert one[name].n == two[name].n
                assert one[name].estimate == pytest.approx(two[name].estimate, abs=1e-12)
        for second in ("b", "region"):
            table = asked.crosstab(given, "a", second)
            assert table.estimate == pytest.approx(asked.crosstab(frame, "a", second).estimate, abs=1e-12)
    with pytest.raises(ex.errors.InvalidParameter, match="without weights"):
        asked.crosstab(records, "a", "b", weights="w")


def test_json_lines_say_which_questionnaire_made_them(tmp_path: Path) -> None:
    asked = Questionnaire.within(5, {"a": 2, "b": 2})
    records = drawn_records(asked, 40)
    path = tmp_path / "r.jsonl"
    for said, error, why in (
        ({}, ex.errors.MalformedFile, "in every line"),
        ({"questionnaire": "0" * 64}, ex.errors.InvalidParameter, "from this questionnaire"),
    ):
        path.write_text("".join(json.dumps({**said, **r}) + "\n" for r in records), encoding="utf-8")
        with pytest.raises(error, match=why):
            asked.estimate(path)
        assert asked.estimate(path, check_hash=False)["a"].n == 40
    with pytest.raises(FileNotFoundError):
        asked.estimate(tmp_path / "none.jsonl")


def test_json_lines_from_answers_to_reports(tmp_path: Path) -> None:
    asked = Questionnaire.within(4, ASKED)
    frame = answers(300)
    source = tmp_path / "a.jsonl"
    frame.to_json(source, orient="records", lines=True)
    assert asked.privatize_file(source, tmp_path / "r.jsonl") == 300
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["region"] for line in lines] == frame["region"].tolist()
    for line in lines:
        asked.check_record({name: line[name] for name in asked.questions})
    assert asked.estimate(tmp_path / "r.jsonl")["age"].n > 50  # the note beside it says who made it
    (tmp_path / "bad.jsonl").write_text('{"smokes": "no"}\n["no"]\n', encoding="utf-8")
    with pytest.raises(ex.errors.MalformedFile, match=r"an? JSON object in every line.*line=2"):
        asked.privatize_file(tmp_path / "bad.jsonl", tmp_path / "x.jsonl")
    (tmp_path / "twice.jsonl").write_text('{"age": 1, "age": 2}\n', encoding="utf-8")
    with pytest.raises(ex.errors.MalformedFile, match="keys different"):
        asked.estimate(tmp_path / "twice.jsonl", check_hash=False)
    assert not (tmp_path / "x.jsonl").exists()


def test_a_memory_repeats_a_record_with_skipped_questions(tmp_path: Path) -> None:
    asked = Questionnaire.within(2, ASKED, optional=["age"])
    frame = answers(20).assign(p=range(20))
    with ex.Memory(tmp_path / "m.db", limit=2) as memory:
        one = asked.privatize(frame, memory=memory, person="p")
        two = asked.privatize(frame.assign(smokes="no", cigarettes=None, age=None), memory=memory, person="p")
    assert one.equals(two)
