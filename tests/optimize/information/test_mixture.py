"""Mixtures of sets given by counts."""

from __future__ import annotations

import numpy as np

from extremal.optimize.information.mixture import from_counts


def test_sliding_windows_treat_equal_symbols_alike() -> None:
    group_of, count = np.array([0, 0, 0, 1, 1]), np.array([3, 2])
    made = from_counts(np.array([[2, 1], [1, 0]]), np.array([0.3, 0.2]), group_of, count)
    cover = (made.sets * made.weights).sum(axis=1)
    np.testing.assert_allclose(cover, [0.3 * 2 / 3 + 0.2 / 3] * 3 + [0.15] * 2)
