"""Corners of polytopes of priors, in rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import corners, solve_exactly

F = Fraction


def test_ordered_priors_have_the_flat_ones_as_corners() -> None:
    found = corners([[F(-1), F(1), F(0)], [F(0), F(-1), F(1)]], [F(0), F(0)], 3)
    assert set(found) == {(F(1), F(0), F(0)), (F(1, 2), F(1, 2), F(0)), (F(1, 3), F(1, 3), F(1, 3))}


def test_equal_rows_and_nearly_singular_choices() -> None:
    tiny = F(1, 10**9)
    found = corners([[F(1), F(1) + tiny, F(0)], [F(1), F(1), F(0)]], [F(1, 2), F(1, 2)], 3)
    assert all(p[0] + p[1] <= F(1, 2) for p in found)
    assert (F(1, 2), F(0), F(1, 2)) in found
    assert corners([[F(1), F(0)], [F(-1), F(0)]], [F(1, 3), F(-1, 3)], 2) == [(F(1, 3), F(2, 3))]


def test_no_corner_and_too_many_choices_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="some probability vector must satisfy the inequalities"):
        corners([[F(1), F(1)]], [F(1, 2)], 2)
    with pytest.raises(TooLarge, match="the corners of a polytope are listed for at most 300,000 choices"):
        corners([[F(1)] * 12] * 40, [F(1)] * 40, 12)


def test_square_systems() -> None:
    assert solve_exactly([[F(0), F(2)], [F(1), F(1)]], [F(1), F(1)]) == [F(1, 2), F(1, 2)]
    assert solve_exactly([[F(1), F(2)], [F(2), F(4)]], [F(1), F(2)]) is None
