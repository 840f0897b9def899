"""Corners of polytopes of priors, in rationals."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import corners, polytope, solve_exactly

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
    halves = [[F(int(x == y)) for x in range(20)] for y in range(20)]
    with pytest.raises(TooLarge, match="too many extreme rays to list"):
        corners(halves, [F(1, 10)] * 20, 20)


@pytest.mark.parametrize("few", [0, 10**6], ids=["as a product of matrices", "one by one"])
def test_corners_are_those_of_every_choice_of_inequalities(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytope, "_FEW", few)
    rng = random.Random(7)
    for k, count in ((2, 2), (3, 4), (4, 5)):
        for _ in range(20):
            matrix = [[F(rng.randint(-4, 4)) for _ in range(k)] for _ in range(count)]
            bounds = [F(rng.randint(0, 3), 2) for _ in range(count)]
            rows = [*([F(-int(x == y)) for y in range(k)] for x in range(k)), *matrix]
            right, found = [*[F(0)] * k, *bounds], set()
            for active in itertools.combinations(range(len(rows)), k - 1):
                p = solve_exactly([*(rows[i] for i in active), [F(1)] * k], [*(right[i] for i in active), F(1)])
                if p and all(sum(map(F.__mul__, row, p)) <= b for row, b in zip(rows, right, strict=True)):
                    found.add(tuple(p))
            if found:
                assert corners(matrix, bounds, k) == sorted(found)
            else:
                with pytest.raises(InvalidParameter):
                    corners(matrix, bounds, k)


def test_square_systems() -> None:
    assert solve_exactly([[F(0), F(2)], [F(1), F(1)]], [F(1), F(1)]) == [F(1, 2), F(1, 2)]
    assert solve_exactly([[F(1), F(2)], [F(2), F(4)]], [F(1), F(2)]) is None
