"""What all reports disclose: bounds that no belief about the record exceeds, and that one attains."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.mechanism.disclosure import percent

YES_NO = ex.randomized_response(2, 1, inputs=["no", "yes"])
SKEWED = ex.Mechanism.from_matrix([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]], inputs=["a", "b", "c"])


def test_no_belief_about_records_exceeds_the_bounds_and_one_attains_them() -> None:
    """A search over 1,000 joint priors of two questions, and over all pairs of records."""
    asked = ex.Questionnaire({"drugs": YES_NO, "party": SKEWED})
    generator = np.random.default_rng(5)
    joint = np.kron(YES_NO.matrix, SKEWED.matrix)  # records (drugs, party), reports likewise
    for belief in asked.explain().beliefs:
        for answer in belief.answers:
            place = YES_NO.inputs.index(answer) if belief.question == "drugs" else SKEWED.inputs.index(answer)
            holds = np.array([(d if belief.question == "drugs" else p) == place for d in range(2) for p in range(3)])
            p = float(belief.before)
            priors = np.zeros((1000, 6))
            priors[:, holds] = p * generator.dirichlet(np.full(int(holds.sum()), 0.3), 1000)
            priors[:, ~holds] = (1 - p) * generator.dirichlet(np.full(int((~holds).sum()), 0.3), 1000)
            pairs = [
                p * np.eye(6)[x] + (1 - p) * np.eye(6)[z] for x in np.flatnonzero(holds) for z in np.flatnonzero(~holds)
            ]
            after = np.vstack([priors, pairs])[:, holds] @ joint[holds] / (np.vstack([priors, pairs]) @ joint)
            assert after.max() <= float(belief.all[1]) + 1e-12
            assert after.min() >= float(belief.all[0]) - 1e-12
            assert after[1000:].max() == pytest.approx(float(belief.all[1]), abs=1e-12)
            assert after[1000:].min() == pytest.approx(float(belief.all[0]), abs=1e-12)


def test_the_own_report_s_bounds_are_those_of_its_mechanism() -> None:
    asked = ex.Questionnaire({"drugs": YES_NO, "party": SKEWED})
    alone = {(b.answer, b.before): (b.least, b.most) for b in SKEWED.explain().beliefs}
    for belief in asked.explain().beliefs:
        if belief.question == "party":
            for answer in belief.answers:
                assert belief.own == alone[answer, belief.before]


def test_independent_answers_disclose_their_own_report_only() -> None:
    asked = ex.Questionnaire({"drugs": YES_NO, "party": SKEWED})
    drugs, party = np.array([0.9, 0.1]), np.array([0.2, 0.3, 0.5])
    joint, prior = np.kron(YES_NO.matrix, SKEWED.matrix), np.kron(drugs, party)
    after = (prior[3:] @ joint[3:]) / (prior @ joint)  # drugs = yes
    own = next(b for b in asked.explain({"drugs": [0.9, 0.1]}).beliefs if b.answers == ("yes",))
    assert after.max() == pytest.approx(float(own.own[1]))
    assert after.min() == pytest.approx(float(own.own[0]))


def test_every_number_of_the_sentences() -> None:
    asked = ex.Questionnaire({f"q{i}": YES_NO for i in range(6)})
    explained = asked.explain()
    top = Fraction(YES_NO.weights[0, 0].item(), YES_NO.weights[1, 0].item())
    assert explained.ratio == top**6
    assert "No set of reports is more than 403.5 times as likely" in explained.guarantee()
    assert float(explained.ratio) == pytest.approx(np.exp(6), rel=1e-9)
    assert "ε = 6 per person" in explained.guarantee()
    first = explained.beliefs[0]
    for side, up in ((0, False), (1, True)):
        ratio = float(top) ** (6 if side else -6)
        assert float(first.all[side]) == pytest.approx(0.1 * ratio / (0.1 * ratio + 0.9))
        assert percent(first.all[side], up) in explained.sentences()[0]
        assert percent(first.own[side], up) in explained.sentences()[0]
    assert explained.sentences()[0].startswith(
        "Someone who thinks it 10% likely that your answer to “q0” is “no” (the same"
    )
    assert "all 6 questions" in explained.sentences()[0]


def test_text_frame_picture_and_page() -> None:
    asked = ex.Questionnaire({f"q<{i}>": YES_NO for i in range(14)})
    explained = asked.explain()
    assert "… and 4 more" in str(explained)
    frame = explained.to_frame()
    assert frame.shape == (28, 7)
    assert (frame["all_at_most"] > frame["own_at_most"]).all()
    assert explained.plot().axes[0].get_xlabel() == "how likely someone thinks the answer is (%)"
    page = explained.html("Title & more")
    assert "q<1>" not in page
    assert "q&lt;1&gt;" in page
    assert "Title &amp; more" in page
    assert asked.hash in page
    assert page.count("<li>") == 24 + 3


def test_one_question_and_certain_reports() -> None:
    one = ex.Questionnaire({"drugs": YES_NO}).explain()
    assert "One question comes to ε = 1 per person" in one.guarantee()
    assert one.beliefs[0].own == one.beliefs[0].all
    assert one.sentences()[0].endswith("at most 23.2% likely.")
    certain = ex.Questionnaire({"drugs": YES_NO, "sure": ex.Mechanism.from_matrix([[1, 0], [0.5, 0.5]])}).explain()
    assert certain.ratio is None
    assert "rule out an answer" in certain.guarantee()
    assert "no finite ε" in certain.guarantee()
    assert {(b.question, b.all) for b in certain.beliefs if b.question == "drugs"} == {("drugs", (0, 1))}
    different = ex.Questionnaire({"a": YES_NO, "b": ex.randomized_response(2, 2)}).explain()
    assert "2 questions come to ε = 3 per person" in different.guarantee()
    assert "δ = 0.1" in ex.Questionnaire({"a": ex.quaternary(1, 0.1)}).explain().guarantee()
