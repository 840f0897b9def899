"""The interior-point method: optimality conditions of an optimal design, whatever the points."""

from __future__ import annotations

import numpy as np
import pytest

from extremal.optimize.workload.interior import excess_levels, optimal_design


@pytest.mark.parametrize("seed", range(12))
def test_the_equivalence_theorem_holds_at_the_optimum(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n, count = int(generator.integers(1, 8)), int(generator.integers(30, 400))
    points = generator.normal(size=(n, count)) * 10.0 ** generator.integers(-4, 4)
    statistics = generator.normal(size=(max(1, n - seed % 3), n))
    found = optimal_design(points, statistics)
    assert found.theta.min() >= 0
    assert found.theta.sum() == pytest.approx(1, abs=1e-9)
    assert np.abs(points @ found.theta).max() < 1e-8 * np.abs(points).max()
    assert found.value == pytest.approx(
        np.trace(statistics @ np.linalg.inv((points * found.theta) @ points.T) @ statistics.T), rel=1e-7
    )
    # Kiefer and Wolfowitz: dᵀGd − λ·d ≤ F everywhere, with equality where there is weight
    levels = excess_levels(points, found.slope, found.tilt)
    assert levels.max() <= found.value * (1 + 1e-7)
    assert np.allclose(levels[found.theta > 1e-4], found.value, rtol=1e-4)
    assert found.bound <= found.value * (1 + 1e-9)  # the weights have mean zero to 1e-10 only
    assert found.bound > found.value * (1 - 1e-6)


def test_no_other_weights_are_better() -> None:
    generator = np.random.default_rng(0)
    points = generator.normal(size=(3, 40))
    points = np.concatenate([points, -points], axis=1)  # any symmetric weights have mean zero
    statistics = np.eye(3)
    best = optimal_design(points, statistics).value
    for _ in range(200):
        half = generator.dirichlet(np.full(40, 0.3)) / 2
        theta = np.concatenate([half, half])
        assert np.trace(np.linalg.pinv((points * theta) @ points.T)) >= best * (1 - 1e-9)
