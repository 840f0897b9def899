"""Expected distortion: labels, the worst prior, and the erratum about its sign."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex


def test_distortion_follows_labels() -> None:
    steps = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    m = ex.Mechanism.from_weights([[3, 1, 0], [1, 2, 1], [0, 1, 3]], 4, inputs=["a", "b", "c"], outputs=["c", "b", "a"])
    u = ex.Distortion([0.5, 0.25, 0.25], steps)
    assert u(m) == pytest.approx(0.5 * (0.75 * 2 + 0.25) + 0.25 * 0.5 + 0.25 * (0.75 * 2 + 0.25))
    assert u(m.matrix) == pytest.approx(0.5 * 0.25 + 0.25 * 0.5 + 0.25 * 0.25)
    wide = ex.Distortion([0.5, 0.5], [[0, 1, 5], [1, 0, 5]], outputs=["x", "y", "z"])
    assert wide(ex.Mechanism.from_weights([[1, 3], [3, 1]], 4, outputs=["y", "x"])) == pytest.approx(0.25)
    positional = ex.Distortion([0.5, 0.5], [[0, 1, 5], [1, 0, 5]])
    assert positional(ex.Mechanism.from_weights([[3, 1], [1, 3]], 4)) == pytest.approx(0.25)
    assert positional([[0.75, 0.25, 0], [0.25, 0.75, 0]]) == pytest.approx(0.25)
    assert repr(wide).startswith("Distortion(")


def test_hamming_is_the_worst_prior() -> None:
    m = ex.Mechanism.from_weights([[3, 1], [2, 2]], 4)
    assert ex.Hamming([0.5, 0.5])(m) == pytest.approx(0.375)
    assert ex.Hamming(ex.SourceClass.simplex(2))(m) == pytest.approx(0.5)
    assert ex.Hamming(ex.SourceClass.simplex(2))(m.matrix) == pytest.approx(0.5)
    assert ex.Hamming([0.5, 0.5]).is_cost
    blocks = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    assert ex.Hamming([0.2, 0.3, 0.5])(blocks) == pytest.approx(
        1 - 0.2 * blocks.matrix[0, 0] - 0.3 * blocks.matrix[1, 1]
    )
    big = ex.randomized_response(10_000, 3)
    assert ex.Hamming(np.full(10_000, 1e-4))(big) == pytest.approx(1 - np.exp(3) / (9_999 + np.exp(3)), rel=1e-9)


def test_erratum_h6_the_printed_utility_is_not_super_additive() -> None:
    """KSS Section II-A: U(Q) = min_P Σ P_i D_i cannot be maximised; U = min_P Σ P_i(1−D_i) is 1 − Hamming."""
    source = ex.SourceClass([[1, 0], [0, 1]])
    truthful = ex.Mechanism.from_weights([[4, 0], [0, 4]], 4)
    assert 1 - ex.Hamming(source)(truthful) == 1
    assert 1 - ex.Hamming(source)(ex.randomized_response(2, 1)) < 1
