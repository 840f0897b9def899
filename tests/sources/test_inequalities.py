"""Classes given by linear inequalities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge


def test_classes_by_inequalities() -> None:
    source = ex.SourceClass.from_inequalities([[1, -2, 0], [0, 1, -1]], [0, "0.1"])  # p₀ ≤ 2p₁, p₁ ≤ p₂ + 0.1
    for vertex in source.vertices():
        p = [vertex.fraction(x) for x in range(3)]
        assert p[0] <= 2 * p[1]
        assert p[1] <= p[2] + Fraction(1, 10)
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
            np.eye(20, dtype=int).tolist(),
            ["0.1"] * 20,
            TooLarge,
            "too many extreme rays to list",
        ),
    ],
)
def test_bad_inequalities(matrix: list, bounds: list, error: type, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(error, match=message):
        ex.SourceClass.from_inequalities(matrix, bounds)
