"""What a report lets someone believe: bounds that hold for every prior, and are attained."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.cli import main
from extremal.mechanism.disclosure import BELIEFS, percent, ratio_in_words


def mechanisms() -> list[ex.Mechanism]:
    generator = np.random.default_rng(4)
    return [
        ex.randomized_response(2, 1, inputs=["no", "yes"]),
        ex.randomized_response(5, 2),
        ex.subset_selection(5, 1),
        ex.quaternary(1, 0.1),
        ex.Mechanism.from_matrix([[1, 0], [0.5, 0.5]]),
        *(ex.Mechanism.from_matrix(generator.dirichlet(np.ones(4), 3)) for _ in range(5)),
    ]


@pytest.mark.parametrize("index", range(10))
def test_bounds_without_a_prior_are_never_exceeded_and_are_attained(index: int) -> None:
    m, generator = mechanisms()[index], np.random.default_rng(index)
    explained = m.explain()
    matrix = m.matrix
    assert len(explained.beliefs) == m.k * len(BELIEFS)
    for place, belief in enumerate(explained.beliefs):
        x, p = place // len(BELIEFS), float(belief.before)
        assert belief.answer == m.inputs[x]
        others = np.array([i for i in range(m.k) if i != x])
        corners = np.eye(m.k)[others]
        inside = np.zeros((1000, m.k))
        inside[:, others] = generator.dirichlet(np.full(others.size, 0.4), 1000)
        priors = (1 - p) * np.vstack([corners, inside])
        priors[:, x] = p
        seen = priors @ matrix
        with np.errstate(invalid="ignore", divide="ignore"):
            after = np.where(seen > 0, p * matrix[x] / seen, np.nan)
        assert np.nanmax(after) <= float(belief.most) + 1e-12
        assert np.nanmin(after) >= float(belief.least) - 1e-12
        assert np.nanmax(after[: others.size]) == pytest.approx(float(belief.most), abs=1e-12)
        assert np.nanmin(after[: others.size]) == pytest.approx(float(belief.least), abs=1e-12)


@pytest.mark.parametrize("index", range(10))
def test_with_a_prior_the_bounds_are_the_posterior(index: int) -> None:
    m = mechanisms()[index]
    prior = [Fraction(i + 1, m.k * (m.k + 1) // 2) for i in range(m.k)]
    explained = m.explain(prior)
    posterior = m.posterior(prior)
    assert [float(b.most) for b in explained.beliefs] == pytest.approx(posterior.max(axis=1).tolist(), abs=1e-12)
    assert [float(b.least) for b in explained.beliefs] == pytest.approx(posterior.min(axis=1).tolist(), abs=1e-12)
    assert explained.guess_before == max(prior)
    assert float(explained.guess_after or 0) == pytest.approx(float(posterior.max()), abs=1e-12)


def test_the_leakage_bounds_the_gain_in_guessing() -> None:
    """GSO: pointwise maximal leakage is the largest factor by which a guess improves."""
    prior = [0.5, 0.3, 0.2]
    m = ex.pml_randomized_response(prior, 0.6)
    explained = m.explain(prior)
    assert explained.guess_after is not None
    assert explained.guess_before is not None
    assert float(explained.guess_after / explained.guess_before) <= np.exp(ex.PML(1, prior).level(m)) * (1 + 1e-12)


def test_the_sentence_of_one_in_ten() -> None:
    said = ex.randomized_response(2, 1, inputs=["no", "yes"]).explain().beliefs[5].sentence()
    assert said == (
        "Someone who thinks it 10% likely that your answer is “yes” will, whatever you report, think it at least "
        "3.9% and at most 23.2% likely."
    )


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(1, 7000), Fraction(999, 1000), Fraction(0), Fraction(1)])
def test_percentages_are_rounded_outwards(value: Fraction) -> None:
    low, high = (Fraction(percent(value, up).rstrip("%")) / 100 for up in (False, True))
    assert low <= value <= high
    assert high - low <= max(Fraction(1, 1000), value / 10)


def test_large_mechanisms_are_explained_by_their_ratio() -> None:
    m = ex.randomized_response(5000, 1)
    belief = m.explain().beliefs[1]
    assert float(belief.most) == pytest.approx(0.1 * np.e / (0.1 * np.e + 0.9), rel=1e-9)
    with pytest.raises(ex.errors.InvalidParameter, match="at most 2\\^20"):
        m.explain(["1/5000"] * 5000)


def test_table_frame_picture_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = ex.randomized_response(20, 1)
    explained = m.explain(["1/20"] * 20)
    assert "… and 8 more" in str(explained)
    assert list(explained.to_frame().columns) == ["answer", "before", "at_least", "at_most"]
    assert explained.plot().axes[0].get_xlabel() == "how likely someone thinks the answer is (%)"
    page = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, inputs=["<b>", "no"]).explain().html("Title & more")
    assert "<b>" not in page
    assert "Title &amp; more" in page
    assert "No privacy is claimed" in page
    file = m.save(tmp_path / "m.json")
    assert main(["explain", str(file), "--prior", "uniform:20", "--html", str(tmp_path / "p.html")]) == 0
    assert "not promised" in capsys.readouterr().out.lower()
    assert main(["explain", str(file), "--html", str(tmp_path / "p.html")]) == 2
    assert main(["explain", str(file), "--json"]) == 0
    assert '"at_most"' in capsys.readouterr().out


def test_short_texts_and_reports_that_nobody_sees() -> None:
    short = str(ex.randomized_response(2, 1).explain())
    assert "… and" not in short
    assert "guesses" not in short
    certain = ex.Mechanism.from_weights([[2, 0], [1, 1]], 2).explain([1, 0])
    assert [float(b.most) for b in certain.beliefs] == [1.0, 0.0]


def test_answers_with_the_same_bounds_are_said_once() -> None:
    alike = ex.randomized_response(5, 1).explain()
    assert len(alike.grouped()) == len(BELIEFS)
    assert alike.html().count("the same holds for any other") == len(BELIEFS)
    assert "each answer" in alike.html()
    two = ex.Mechanism.from_weights([[6, 1, 1], [6, 1, 1], [2, 2, 4]], 8, inputs=["a", "b", "c"]).explain()
    assert "“a” (the same holds for “b”)" in two.html()
    assert "each of a, b" in two.html()
    listed = ex.Mechanism.from_weights([[6, 1, 1]] * 4 + [[2, 2, 4]], 8).explain()
    assert "“0” (the same holds for “1” and 2 more)" in listed.html()
    assert "each of 0, 1 and 2 more" in listed.html()
    subsets = ex.subset_selection(6, 1).explain([0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    assert [labels for labels, _ in subsets.grouped()] == [[0], [1, 2], [3, 4, 5]]
    single = ex.Mechanism.from_weights([[6, 1, 1], [2, 3, 3]], 8).explain([0.7, 0.3])
    assert "your answer is “0” will" in single.html()
    assert "right with probability 70%" in single.html()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([[3, 1], [1, 3]], "more than 3 times"),
        ([[1023, 1], [1, 1023]], "more than 1,023 times"),
    ],
)
def test_the_guarantee_says_the_largest_ratio(weights: list[list[int]], said: str) -> None:
    assert said in ex.Mechanism.from_weights(weights, sum(weights[0])).explain().guarantee()


def test_the_guarantee_of_a_certain_report_and_of_a_claim() -> None:
    assert "rules out an answer" in ex.Mechanism.from_weights([[2, 0], [1, 1]], 2).explain().guarantee()
    said = ex.randomized_response(2, 1).explain().guarantee()
    assert said.startswith("No report is more than 2.72 times as likely from one answer as from another. The mechanism")
    assert "LDP(epsilon=1.0)" in said


@pytest.mark.parametrize("ratio", ["2.001", "1", "99.991", "100.001", "9999.9", "123456789", "12345/12344"])
def test_ratios_are_rounded_up(ratio: str) -> None:
    value = Fraction(ratio)
    said = Fraction(ratio_in_words(value).replace(",", ""))
    assert value <= said <= value * Fraction(1011, 1000)
