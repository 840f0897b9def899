"""What each part of a mean or a worst case gets: numbered, named, drawn with the worst marked."""

from __future__ import annotations

import extremal as ex
from extremal.optimize.design import MOST_DRAWN, WorstPart, draw_parts, least, parts_under

HYPOTHESES = [[0.5, 0.1, 0.4], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]


def test_every_ordered_pair_is_named_after_the_list() -> None:
    m = ex.randomized_response(3, 1)
    parts = parts_under(ex.PairwiseDivergence(HYPOTHESES), m)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    assert [part.name for part in parts] == [f"KL(P{i + 1}‖P{j + 1})" for i, j in pairs]
    for part, (i, j) in zip(parts, pairs, strict=True):
        assert part.value == ex.KL(HYPOTHESES[i], HYPOTHESES[j])(m)
    assert parts_under(ex.KL(*HYPOTHESES[:2]), m) == []


def test_the_worst_is_on_top_marked_and_said() -> None:
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence(HYPOTHESES))
    (axis,) = found.plot().axes
    parts = sorted(parts_under(found.utility, found.mechanism), key=lambda part: part.value)
    assert [label.get_text() for label in axis.get_yticklabels()] == [part.name for part in parts]
    colours = [bar.get_facecolor() for bar in axis.patches]
    assert [bar.get_width() for bar in axis.patches] == [part.value for part in parts]
    assert colours.count(colours[0]) == len(least(parts)) == 1
    assert any("worst" in text.get_text() for text in axis.texts)
    assert any("mean" in text.get_text() for text in axis.texts)
    assert axis.get_xlabel() == "value under the design (nats)"
    assert axis.get_ylabel() == "pair of hypotheses"
    assert f"least of 6 parts: {parts[0].name}" in found.summary()


def test_all_that_get_as_little_are_marked() -> None:
    """At the optimum of a worst case several parts are equal."""
    found = ex.design(ex.LDP(1), ex.PairwiseDivergence(HYPOTHESES, worst_case=True))
    (axis,) = found.plot().axes
    assert sum(bar.get_facecolor() == axis.patches[0].get_facecolor() for bar in axis.patches) == 2
    assert " and 1 more" in WorstPart(found.utility, found.mechanism).sentence()


def test_parts_of_other_kinds_have_their_place_and_their_own_unit() -> None:
    pair = HYPOTHESES[:2]
    utility = ex.WorstCase([ex.KL(*pair), ex.MutualInformation(pair[0]), ex.TotalVariation(*pair)])
    (axis,) = draw_parts(utility, ex.randomized_response(3, 1)).axes
    assert {label.get_text() for label in axis.get_yticklabels()} == {
        "KL(P1‖P2)",
        "2: MutualInformation",
        "TotalVariation(P1‖P2)",
    }
    assert axis.get_xlabel() == "value under the design (each in its own unit)"


def test_of_many_the_smallest_are_drawn() -> None:
    priors = [[0.1 + 0.01 * i, 0.9 - 0.01 * i] for i in range(8)]
    drawn = draw_parts(ex.PairwiseDivergence(priors, worst_case=True), ex.randomized_response(2, 1))
    assert len(drawn.axes[0].patches) == MOST_DRAWN
    assert "the 40 smallest of 56" in drawn.get_suptitle()


def test_infinite_parts_have_a_number_and_no_bar() -> None:
    utility = ex.WorstCase([ex.KL([1, 0], [0, 1]), ex.TotalVariation([1, 0], [0, 1])])
    revealing = ex.Mechanism.from_matrix([[1, 0], [0, 1]])
    (axis,) = draw_parts(utility, revealing).axes
    assert len(axis.patches) == 1
    assert any("inf" in text.get_text() or "∞" in text.get_text() for text in axis.texts)


def test_one_part_is_no_comparison_and_other_utilities_are_drawn_as_mechanisms() -> None:
    one = ex.Average([ex.KL(*HYPOTHESES[:2])])
    assert WorstPart(one, ex.randomized_response(3, 1)).sentence() == ""
    drawn = ex.design(ex.LDP(1), ex.KL(*HYPOTHESES[:2]), inputs=["a", "b", "c"]).plot()
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["a", "b", "c"]


def test_two_lists_of_hypotheses() -> None:
    utility = ex.RobustDivergence([HYPOTHESES[0], HYPOTHESES[1]], [HYPOTHESES[2]])
    names = [part.name for part in parts_under(utility, ex.randomized_response(3, 1))]
    assert names == ["KL(P1‖P2)", "KL(P3‖P2)"]
