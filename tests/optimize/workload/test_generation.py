"""Column generation for workloads: its random start."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from extremal.optimize.workload.generation import random_sets
from extremal.optimize.workload.lifts import Coordinates


@pytest.mark.parametrize("statistics", [3, 23])
def test_sets_start_from_any_rank(statistics: int) -> None:
    """Few statistics leave a bound whose matrix has no inverse; sets are proposed all the same."""
    generator = np.random.default_rng(6)
    rows = generator.normal(size=(statistics, 24))
    coordinates = Coordinates(np.full(24, 1 / 24), rows)
    bound = SimpleNamespace(
        z=coordinates.basis @ (coordinates.basis.T @ rows.T @ rows @ coordinates.basis) @ coordinates.basis.T
    )
    sets = random_sets(coordinates, bound, 1.0, 400, generator)
    assert sets.shape[0] == 24
    assert sets.shape[1] > 50
    assert (sets.any(axis=0) & ~sets.all(axis=0)).all()
    assert sets.mean() == pytest.approx(1 / (np.e + 1), abs=0.1)
