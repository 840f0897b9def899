"""The course of information over ε."""

from __future__ import annotations

import pytest

import extremal as ex


def test_the_course_over_epsilon_as_table_and_picture() -> None:
    table = ex.studies.information_over_epsilon([0.5, 0.3, 0.2], [0.5, 1, 2])
    frame = table.to_frame()
    assert list(frame.columns)[:2] == ["epsilon", "optimum"]
    assert all(b >= v for v, b in zip(table.columns["optimum"], table.columns["upper_bound"], strict=True))
    assert table.columns["binary"][0] == pytest.approx(
        table.columns["optimum"][0], rel=1e-11
    )  # below the threshold 0.8656
    assert table.columns["randomized_response"][2] == pytest.approx(table.columns["optimum"][2], rel=1e-11)
    axes = table.plot().axes
    assert [axis.get_xlabel() for axis in axes] == ["ε (nats)", "ε (nats)"]
    assert "optimum" in str(table)


@pytest.mark.parametrize(("epsilons", "message"), [([0], "epsilons must be positive"), ([], "at least one value")])
def test_bad_epsilons_are_refused(epsilons: list[float], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.studies.information_over_epsilon([0.5, 0.5], epsilons)
