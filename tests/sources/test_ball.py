"""A ball in total variation."""

from typing import Any

import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge


def test_membership_has_an_outside() -> None:
    assert [0.71, 0.29] not in ex.SourceClass.ball([0.5, 0.5], 0.2)
    assert [0.69, 0.31] in ex.SourceClass.ball([0.5, 0.5], 0.2)


def test_large_balls_do_not_list_their_vertices() -> None:
    uniform = [0.05] * 20
    with pytest.raises(TooLarge, match="the vertices of a ball class are listed up to 12 symbols"):
        ex.SourceClass.ball(uniform, 0.1).vertices()
    assert ex.SourceClass.ball(uniform, 0.1).worst_case(range(20))[0] == pytest.approx(9.5 + 1.95 - 0.05, abs=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.SourceClass.ball([0.5, 0.5], 2), "radius must lie between 0 and 1"),
        (lambda: ex.SourceClass.ball([0.5, 0.5], 0.1, metric="kl"), "metric must be 'tv'"),
    ],
)
def test_bad_balls(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_values_and_names() -> None:
    ball = ex.SourceClass.ball([0.5, 0.5], 0.1)
    assert ball == ex.SourceClass.ball(["1/2", "1/2"], "0.1")
    assert ball != ex.SourceClass.ball([0.5, 0.5], 0.2)
    assert hash(ball) == hash(ex.SourceClass.ball([0.5, 0.5], 0.1))
    assert repr(ball) == "SourceClass.ball(Prior([0.5, 0.5]), 0.1)"


def test_a_ball_of_radius_zero_reaches_no_further_symbol() -> None:
    assert ex.SourceClass.ball([0.5, 0.5, 0], 0).support() == [1, 1, 0]
    assert ex.SourceClass.ball([0.5, 0.5, 0], 0.01).support() == [1, 1, 1]
