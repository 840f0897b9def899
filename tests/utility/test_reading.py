"""A mechanism read by its structure and as a matrix."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex


def test_structure_and_matrix_give_the_same() -> None:
    p0 = np.linspace(1, 2, 100) / np.linspace(1, 2, 100).sum()
    p1 = p0[::-1].copy()
    for m in (
        ex.randomized_response(100, 1),
        ex.Mechanism.from_windows(100, 30, ex.LDP(1)),
        ex.Mechanism.from_partition(np.arange(100) % 7, ex.LDP(1)),
    ):
        for u in (ex.KL(p0, p1), ex.MutualInformation(p0), ex.Sublinear(100, lambda c: c.max(axis=0))):
            assert u(m) == pytest.approx(u(m.matrix), rel=1e-10)
