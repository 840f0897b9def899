"""The optimum and the closed forms over ε."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path

import pytest

import extremal as ex
from extremal import progress


def test_values_ratios_and_table() -> None:
    utility = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    curve = ex.tradeoff(ex.LDP, utility, [0.5, 5])
    assert curve.values["optimum"][0] == ex.design(ex.LDP(0.5), utility).value
    assert curve.ratios["binary"][0] == pytest.approx(1)
    assert curve.ratios["randomised response"][1] == pytest.approx(1)
    assert all(r is None or r <= 1 + 1e-12 for row in curve.ratios.values() for r in row)
    assert "subset selection" in str(curve)
    assert max(map(len, str(curve).splitlines())) <= 100
    assert list(curve.to_frame()["epsilon"]) == [0.5, 5.0]
    with pytest.raises(ex.errors.InvalidParameter, match="epsilons must hold at least one level"):
        ex.tradeoff(ex.LDP, utility, [])


def test_picture_and_progress(tmp_path: Path) -> None:
    from extremal.plotting import save

    said: list[str] = []
    curve = ex.tradeoff(
        ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.1, 10], progress=lambda what, _: said.append(what)
    )
    drawn = curve.plot()
    assert [axis.get_xlabel() for axis in drawn.axes] == ["ε (nats)", "ε (nats)"]
    assert save(drawn, tmp_path / "curve.png").stat().st_size > 10_000
    assert said == ["ε = 0.1", "ε = 10"]


def test_a_notion_about_a_prior_takes_that_of_the_information_or_says_how() -> None:
    prior = [0.5, 0.3, 0.2]
    curve = ex.tradeoff(ex.PML, ex.MutualInformation(prior), [0.5])
    assert curve.values["optimum"][0] == ex.design(ex.PML(0.5, prior), ex.MutualInformation(prior)).value
    for notion in (ex.PML, ex.MetricPrivacy, ex.LDP(1)):
        with pytest.raises(ex.errors.InvalidParameter, match="lambda epsilon: ex.PML"):
            ex.tradeoff(notion, ex.KL(prior, [0.2, 0.3, 0.5]), [1])


def test_a_wide_grid_is_drawn_on_a_logarithmic_axis_with_plain_numbers() -> None:
    left = ex.tradeoff(ex.LDP, ex.KL([0.5, 0.5], [0.9, 0.1]), [0.1, 1, 4]).plot().axes[0]
    assert left.get_xscale() == "log"
    assert [t.get_text() for t in left.get_xticklabels()] == ["0.1", "0.2", "0.5", "1", "2"]


GOALS = {"shares": ex.Frequencies(30), "distribution": ex.CDF(8), "mean": ex.Mean(range(8))}


@pytest.mark.parametrize("name", GOALS)
def test_what_others_use_has_the_error_that_the_comparison_shows(name: str) -> None:
    goal = GOALS[name]
    curve = ex.tradeoff(ex.LDP, goal, [0.5, 1])
    rows = {row.name.split(", d=")[0].rstrip(")"): row for row in ex.compare(goal, epsilon=1).respondents().rows}
    assert len(curve.ratios) > 12
    for form, ratios in curve.ratios.items():
        assert ratios[1] == pytest.approx(rows[form.rstrip(")")].people), form
        assert all(r is None or r > 1 - 1e-9 for r in ratios)
    assert curve.left_out == ({} if name == "mean" else {"stochastic rounding": "does not identify what is wanted"})
    assert {"local hashing", "square wave", "hierarchical", "Bloom filter (RAPPOR)"} <= set(curve.values)
    assert str(curve).startswith(f"{goal.name}: n·MSE of the optimum, and how many times its respondents")


def test_published_errors_of_shares() -> None:
    """Wang et al. 2017: 4e^ε/(e^ε − 1)² for each rare share; with the terms in p that come to 2 − 1/k, exact."""
    e, k = 2.718281828459045, 100
    curve = ex.tradeoff(ex.LDP, ex.Frequencies(k), [1])
    published = k * 4 * e / (e - 1) ** 2 + 2 - 1 / k
    assert curve.values["unary encoding (optimised)"][0] == pytest.approx(published, rel=1e-9)
    assert curve.values["local hashing"][0] == pytest.approx(published, rel=1e-2)


def test_bits_are_listed_while_they_are_few_and_huge_reports_are_said_to_be_left_out() -> None:
    p0, p1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
    curve = ex.tradeoff(ex.LDP, ex.KL(p0, p1), [1])
    m = ex.unary_encoding(3, 1)
    b = m.structure.other / 2**62  # type: ignore[attr-defined]
    words = [(i >> 2 & 1, i >> 1 & 1, i & 1) for i in range(8)]
    q = [[_weight(word, x, b) for word in words] for x in range(3)]
    assert curve.values["unary encoding (optimised)"][0] == pytest.approx(ex.KL(p0, p1)(q), rel=1e-12)
    assert set(curve.left_out) == {"local hashing", "Bloom filter (RAPPOR)"}
    assert str(curve).endswith("left out (too many reports to add up): local hashing, Bloom filter (RAPPOR)")
    assert "left out" in curve._repr_html_()
    large = ex.tradeoff(ex.LDP, ex.MutualInformation([1 / 13] * 13), [1])
    assert large.left_out["unary encoding (optimised)"] == "too many reports to add up"


def _weight(word: tuple[int, ...], x: int, b: float) -> float:
    weight = 1.0
    for i, bit in enumerate(word):
        one = 0.5 if i == x else b
        weight *= one if bit else 1 - one
    return weight


def test_a_picture_of_errors_has_logarithmic_axes_and_says_what_is_beyond_it() -> None:
    drawn = ex.tradeoff(ex.LDP, ex.Frequencies(16), [0.5, 1, 2]).plot()
    left, right = drawn.axes
    assert (left.get_yscale(), right.get_yscale()) == ("log", "log")
    assert (left.get_ylabel(), right.get_ylabel()) == (
        "Frequencies (n × mean squared error)",
        "n × mean squared error, optimum = 1",
    )
    names = [text.get_text() for text in right.texts]  # beside the curves, in place of a legend
    assert "geometric (above the picture)" in names
    assert "local hashing" in names
    styles = [(line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in left.get_lines()]
    assert len(set(styles)) == len(styles)


def test_the_course_of_information_has_its_limits() -> None:
    curve = ex.tradeoff(ex.LDP, ex.MutualInformation([0.5, 0.3, 0.2]), [0.5, 1, 2], tolerance=1e-10)
    frame = curve.to_frame()
    assert list(frame.columns)[:2] == ["epsilon", "optimum"]
    assert (frame["bound"] >= frame["optimum"]).all()
    assert (frame["optimum"] <= frame["limit of any prior"]).all()
    assert (frame["optimum"] <= frame["entropy of the prior"]).all()
    m = 1 / -math.expm1(-1)
    assert frame["limit of any prior"][1] == pytest.approx(m - 1 - math.log(m), rel=1e-12)
    assert frame["entropy of the prior"][0] == pytest.approx(-sum(p * math.log(p) for p in (0.5, 0.3, 0.2)), rel=1e-12)
    assert frame["binary"][0] == pytest.approx(frame["optimum"][0], rel=1e-11)  # below the threshold 0.8656
    assert frame["randomised response"][2] == pytest.approx(frame["optimum"][2], rel=1e-11)
    assert {"limit of any prior", "entropy of the prior"} <= set(curve.plot().axes[0].get_legend_handles_labels()[1])
    assert "limit of any prior" not in ex.tradeoff(ex.PML, ex.MutualInformation([0.5, 0.5]), [0.5]).limits


@pytest.mark.parametrize(("patience", "shown"), [(1e9, False), (-1.0, True)])
def test_a_terminal_sees_how_much_is_done(patience: float, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", seen)
    monkeypatch.setattr(sys.modules["extremal.studies.tradeoff"], "PATIENCE", patience)
    ex.tradeoff(ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.5, 5])
    assert ("ε = 0.5" in seen.getvalue()) is shown
    assert ("%" in seen.getvalue()) is shown
