"""Coordinates of workloads: the same BᵀB, with independent rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from extremal.optimize.workload.lifts import Coordinates


@pytest.mark.parametrize("questions", [2, 3, 4])
def test_dependent_statistics_become_independent_with_the_same_gram(questions: int) -> None:
    records = list(itertools.product(range(2), repeat=questions))
    rows = np.array([[float(r[j] == x) for r in records] for j in range(questions) for x in range(2)])
    found = Coordinates(np.full(len(records), 1 / len(records)), rows)
    assert found.statistics.shape[0] == questions  # the share of "no" says that of "yes"
    centred = (rows - rows.mean(axis=1, keepdims=True)) @ found.basis
    assert found.statistics.T @ found.statistics == pytest.approx(centred.T @ centred, abs=1e-12)
    assert np.linalg.matrix_rank(found.statistics) == questions


def test_independent_statistics_stay_as_they_are() -> None:
    rows = np.tri(5)[:4]
    found = Coordinates(np.full(5, 0.2), rows)
    assert found.statistics == pytest.approx((rows - rows.mean(axis=1, keepdims=True)) @ found.basis, abs=1e-15)
    many = Coordinates(np.full(300, 1 / 300), np.eye(300)[:290])
    assert many.statistics.shape[0] == 290
