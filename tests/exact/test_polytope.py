"""Corners of polytopes of priors, and square systems, in rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Prior, corners, solve_exactly

F = Fraction


def test_square_systems() -> None:
    assert solve_exactly([[F(0), F(2)], [F(1), F(1)]], [F(1), F(1)]) == [F(1, 2), F(1, 2)]
    assert solve_exactly([[F(1), F(2)], [F(2), F(4)]], [F(1), F(2)]) is None


def test_ordered_priors_have_the_flat_ones_as_corners() -> None:
    found = corners([[F(-1), F(1), F(0)], [F(0), F(-1), F(1)]], [F(0), F(0)], 3)
    assert set(found) == {(F(1), F(0), F(0)), (F(1, 2), F(1, 2), F(0)), (F(1, 3), F(1, 3), F(1, 3))}


def test_equal_rows_and_nearly_singular_choices() -> None:
    tiny = F(1, 10**9)
    found = corners([[F(1), F(1) + tiny, F(0)], [F(1), F(1), F(0)]], [F(1, 2), F(1, 2)], 3)
    assert all(p[0] + p[1] <= F(1, 2) for p in found)
    assert (F(1, 2), F(0), F(1, 2)) in found
    assert corners([[F(1), F(0)], [F(-1), F(0)]], [F(1, 3), F(-1, 3)], 2) == [(F(1, 3), F(2, 3))]


def test_classes_by_inequalities() -> None:
    source = ex.SourceClass.from_inequalities([[1, -2, 0], [0, 1, -1]], [0, "0.1"])  # p₀ ≤ 2p₁, p₁ ≤ p₂ + 0.1
    for vertex in source.vertices():
        p = [vertex.fraction(x) for x in range(3)]
        assert p[0] <= 2 * p[1]
        assert p[1] <= p[2] + F(1, 10)
    worst, attained = source.worst_case([1, 0, 0])
    assert attained in source
    assert worst == pytest.approx(0.55)
    assert [0.9, 0.05, 0.05] not in source


@pytest.mark.parametrize(
    ("matrix", "bounds", "error", "message"),
    [
        ([[1, 1]], ["0.5"], InvalidParameter, "some probability vector must satisfy the inequalities"),
        ([], [], InvalidParameter, "matrix must have rows of equal length"),
        ([[1, 2], [1]], [1, 1], InvalidParameter, "matrix must have rows of equal length"),
        ([[1, 2]], [1, 1], InvalidParameter, "one bound for each row"),
        ([["x", 2]], [1], InvalidParameter, r"matrix\[0\]\[0\] must be a finite number"),
        (
            np.ones((40, 12), dtype=int).tolist(),
            [1] * 40,
            TooLarge,
            "the corners of a polytope are listed for at most 300,000 choices",
        ),
    ],
)
def test_bad_inequalities(matrix: list, bounds: list, error: type, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(error, match=message):
        ex.SourceClass.from_inequalities(matrix, bounds)


def test_extreme_priors_and_exact_membership() -> None:
    prior = ["0.5", "0.3", "0.2"]
    classes = [
        ex.SourceClass([prior, ["0.1", "0.2", "0.7"]]),
        ex.SourceClass.permutation_invariant(prior),
        ex.SourceClass.ball(prior, "0.15"),
        ex.SourceClass.simplex(3),
    ]
    for source in classes:
        for values in ([3, 1, 2], [0, 5, 5], [-1, -2, -3]):
            extreme = source.extreme_prior(values)
            assert source.admits(extreme)
            assert float(extreme.values @ values) == pytest.approx(source.worst_case(values)[0], abs=1e-12)
    assert not classes[0].admits(Prior(["0.3", "0.25", "0.45"]))  # a mixture, not a member
    assert classes[1].admits(Prior(["1/3", "1/3", "1/3"]))
    assert not classes[1].admits(Prior(["0.6", "0.2", "0.2"]))
    assert classes[2].admits(Prior(["0.65", "0.15", "0.2"]))
    assert not classes[2].admits(Prior(["0.66", "0.14", "0.2"]))
