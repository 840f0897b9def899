"""Convex utilities of the user: all vertices, compared with programs that need no vertices."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex

P0, P1 = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])


def divergence(matrix: np.ndarray) -> float:
    m0, m1 = P0 @ matrix, P1 @ matrix
    return float(((m0 - m1) ** 2 / np.maximum(m1, 1e-300)).sum())


@pytest.mark.parametrize("epsilon", ["1e-2", 1, 4])
def test_a_divergence_written_as_a_function_of_the_matrix(epsilon: object) -> None:
    found = ex.design(ex.LDP(epsilon), ex.ConvexUtility(3, divergence))
    assert found.value == pytest.approx(ex.design(ex.LDP(epsilon), ex.ChiSquared(P0, P1)).value, rel=1e-9)
    assert "unverified (user function)" in found.summary()
    assert ex.verify(found).exit_code == 3


def test_what_is_no_sum_over_reports() -> None:
    """The square of total variation is convex and obeys data processing; no vertex but the best one for it is best."""

    def squared(matrix: np.ndarray) -> float:
        return float(np.abs((P0 - P1) @ matrix).sum() ** 2 / 4)

    found = ex.design(ex.LDP(1), ex.ConvexUtility(3, squared), inputs=["a", "b", "c"])
    assert found.value == pytest.approx(ex.design(ex.LDP(1), ex.TotalVariation(P0, P1)).value ** 2, rel=1e-9)
    assert list(found.mechanism.inputs) == ["a", "b", "c"]


def test_four_inputs_and_level_zero() -> None:
    guess = ex.ConvexUtility(4, lambda matrix: matrix.max(axis=0).sum())
    best = ex.design(ex.LDP(1), guess)
    assert best.value == pytest.approx(ex.design(ex.LDP(1), ex.Sublinear(4, lambda q: q.max(axis=0))).value, rel=1e-9)
    assert ex.design(ex.LDP(0), guess).value == 1


def test_a_certificate_keeps_all_but_the_function(tmp_path: object) -> None:
    found = ex.design(ex.LDP(1), ex.ConvexUtility(3, divergence))
    found.save(f"{tmp_path}/m.json")
    assert ex.verify(f"{tmp_path}/m.certificate.json").exit_code == 3


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda matrix: -divergence(matrix), "must be convex"),
        (lambda matrix: float(matrix.shape[1]), "must not rise when reports are processed"),
        (lambda matrix: float("nan") * matrix.size, "finite number"),
        ("KL", "take a matrix"),
    ],
)
def test_bad_functions(function: object, said: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=said):
        ex.ConvexUtility(3, function)  # type: ignore[arg-type]


def test_bad_sizes() -> None:
    guess = ex.ConvexUtility(6, lambda matrix: matrix.max(axis=0).sum())
    with pytest.raises(ex.errors.TooLarge, match="at most 5 inputs"):
        ex.design(ex.LDP(1), guess)
    with pytest.raises(ex.errors.InvalidParameter, match="must have 6 inputs"):
        guess(np.eye(3))
    with pytest.raises(ex.errors.InvalidParameter, match="no method is known"):
        ex.design(ex.PML(1, [0.5, 0.5]), ex.ConvexUtility(2, lambda matrix: matrix.max(axis=0).sum()))
    assert repr(guess).startswith("ConvexUtility(6")
