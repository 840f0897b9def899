import math
from pathlib import Path
from typing import Any

import pytest

import extremal as ex


def test_levels_and_values_are_those_of_the_mechanisms() -> None:
    prior = [0.5, 0.3, 0.2]
    table = ex.compare([ex.MutualInformation(prior), ex.KL(prior, [0.2, 0.3, 0.5])], epsilon=1)
    rows = {row.name: row for row in table.rows}
    m = ex.randomized_response(3, 1)
    assert rows["randomised response"].levels == {
        "LDP": 1.0,
        "PML": ex.PML(1, prior).level(m),
        "LIP": ex.LIP(1, prior).level(m),
    }
    assert rows["randomised response"].values["MutualInformation"] == ex.MutualInformation(prior)(m)
    assert rows["PML randomised response"].levels["PML"] == pytest.approx(1)
    assert "binary" in rows
    assert "PML high privacy" not in rows
    frame = table.to_frame()
    assert list(frame["mechanism"]) == list(rows)
    assert max(len(line) for line in str(table).splitlines()) < 120


def test_two_inputs_bring_the_survey_designs() -> None:
    table = ex.compare(ex.MutualInformation([0.5, 0.5]), epsilon=1)
    rows = {row.name: row for row in table.rows}
    assert rows["Warner"].levels["LDP"] == 1
    assert math.isinf(rows["Mangat (p=0.7)"].levels["LDP"] or 0)
    assert "PML uniform" in rows


def test_large_alphabets_and_own_mechanisms() -> None:
    k = 2000
    table = ex.compare(ex.MutualInformation([f"1/{k}"] * k), epsilon=2)
    rows = {row.name: row for row in table.rows}
    assert "geometric" not in rows
    assert rows["randomised response"].values["MutualInformation"] is not None
    assert [row.values["MutualInformation"] for name, row in rows.items() if name.startswith("subset")] == [None, None]
    own = ex.compare(
        [ex.Hamming([0.5, 0.5]), ex.Hamming([0.9, 0.1])], epsilon=1, mechanisms={"mine": ex.surveys.warner(p=0.8)}
    )
    assert list(own.rows[0].values) == ["Hamming 1", "Hamming 2"]
    assert list(own.rows[0].levels) == ["LDP"]


def test_bad_input() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="utilities must be one or more, on the same inputs"):
        ex.compare([], epsilon=1)
    with pytest.raises(ex.errors.InvalidParameter, match="epsilon must be positive"):
        ex.compare(ex.MutualInformation([0.5, 0.5]), epsilon=0)


def test_picture(tmp_path: Path) -> None:
    from extremal.plotting import save

    table = ex.compare([ex.MutualInformation([0.5, 0.5]), ex.KL([0.7, 0.3], [0.4, 0.6])], epsilon=1)
    drawn = table.plot()
    assert [axis.get_xlabel() for axis in drawn.axes] == [
        "MutualInformation (nats)\nlarger is better",
        "KL (nats)\nlarger is better",
    ]
    assert save(drawn, tmp_path / "forms.png").stat().st_size > 5_000


def test_panels_of_two_utilities_have_the_same_mechanisms_at_the_same_height() -> None:
    prior = [0.5, 0.3, 0.2]
    own = {
        "response": ex.randomized_response(3, 1),
        "subsets": ex.subset_selection(3, 1, size=2),
        "strong": ex.randomized_response(3, 2),
    }
    table = ex.compare([ex.MutualInformation(prior), ex.Hamming(prior)], epsilon=1, mechanisms=own)
    assert next(row for row in table.rows if row.name == "subsets").values["Hamming"] is None
    left, right = table.plot().axes
    names = [t.get_text() for t in left.get_yticklabels()]
    assert names == ["strong (LDP ε = 2)", "response", "subsets"]  # most information on top
    assert left.get_ylim() == right.get_ylim() == (2.5, -0.5)
    heights = {round(bar.get_y() + bar.get_height() / 2) for bar in right.patches}
    assert heights == {0, 1}  # nothing is drawn for what has no value
    assert "larger is better" in left.get_xlabel()
    assert "smaller is better" in right.get_xlabel()


@pytest.mark.parametrize("utilities", [ex.KL([0.7, 0.3], [0.4, 0.6]), [ex.CDF(3), ex.Frequencies(3)]])
def test_respondents_are_counted_for_one_goal_of_estimation(utilities: Any) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="one thing that is estimated"):
        ex.compare(utilities, epsilon=1).respondents()


def test_respondents_keep_the_exact_level() -> None:
    """At ε = 1/3, which no float is, the forms made for it satisfy it."""
    names = [row.name for row in ex.compare(ex.Frequencies(3), epsilon="1/3").respondents().rows]
    assert "randomised response" in names
