"""The optimum and the closed forms over ε."""

from __future__ import annotations

from pathlib import Path

import pytest

import extremal as ex


def test_values_ratios_and_table() -> None:
    utility = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    curve = ex.tradeoff(ex.LDP, utility, [0.5, 5])
    assert curve.values["optimum"][0] == ex.design(ex.LDP(0.5), utility).value
    assert curve.ratios["binary"][0] == pytest.approx(1)
    assert curve.ratios["randomised response"][1] == pytest.approx(1)
    assert all(r is None or r <= 1 + 1e-12 for row in curve.ratios.values() for r in row)
    assert "selection" in str(curve)
    assert max(map(len, str(curve).splitlines())) <= 100
    assert list(curve.to_frame()["epsilon"]) == [0.5, 5.0]
    with pytest.raises(ex.InvalidParameter, match="epsilons must hold at least one level"):
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
        with pytest.raises(ex.InvalidParameter, match="lambda epsilon: ex.PML"):
            ex.tradeoff(notion, ex.KL(prior, [0.2, 0.3, 0.5]), [1])


def test_a_wide_grid_is_drawn_on_a_logarithmic_axis_with_plain_numbers() -> None:
    left = ex.tradeoff(ex.LDP, ex.KL([0.5, 0.5], [0.9, 0.1]), [0.1, 1, 4]).plot().axes[0]
    assert left.get_xscale() == "log"
    assert [t.get_text() for t in left.get_xticklabels()] == ["0.1", "0.2", "0.5", "1", "2"]
