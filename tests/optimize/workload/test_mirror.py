"""Even and odd blocks: they hold what the whole holds, and a bound found in them is the bound."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.workload import inequality
from extremal.optimize.workload.lifts import Coordinates
from extremal.optimize.workload.mirror import halves, is_mirrored, joined


@pytest.mark.parametrize("k", [6, 7])
def test_what_the_mirror_keeps_falls_into_two_blocks(k: int) -> None:
    matrix = np.random.default_rng(k).normal(size=(k, k))
    matrix = matrix @ matrix.T
    matrix += matrix[::-1, ::-1]
    even, odd = halves(matrix)
    assert np.allclose(joined(np.linalg.inv(even), np.linalg.inv(odd)), np.linalg.inv(matrix))


@pytest.mark.parametrize("k", [33, 40])
@pytest.mark.parametrize("goal", [ex.CDF, ex.Ranges])
def test_a_bound_in_two_blocks_is_the_bound(k: int, goal: type[ex.Workload], monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(k)
    d, pairs = generator.uniform(1, 1.2, k) / k, generator.random((k, k)) * 0.01 / k
    d, pairs = d + d[::-1], pairs + pairs.T
    pairs += pairs[::-1, ::-1]
    np.fill_diagonal(pairs, 0.0)
    coordinates = Coordinates(np.full(k, 1 / k), goal(k).rows)
    found = []
    for least in (0, k + 1):
        monkeypatch.setattr(inequality, "HALVED_FROM", least)
        objective = inequality._Objective(coordinates, 1.0, np.arange(k))
        assert objective.parts.mirrored is (least == 0)
        at = objective(d, pairs)
        assert at is not None
        assert at[2] is not None
        found.append((np.array([at[0]]), at[1], at[2], inequality._z(coordinates, objective, d, pairs)))
    for one, other in zip(*found, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-11 * np.abs(other).max())


def test_what_the_mirror_changes_stays_whole() -> None:
    k = 40
    skew = np.exp(-np.arange(k) / k)
    even = np.full(k, 1 / k)
    blocks = np.arange(k) * 3 // k  # 14, 13 and 13 inputs
    few = np.array([[1.0] * 10 + [0.0] * 20 + [1.0] * 10])
    for prior, rows, names in (
        (skew / skew.sum(), ex.CDF(k).rows, None),
        (even, ex.CDF(k).rows, blocks),
        (even, few, None),  # mirrored, but not all shares matter
    ):
        assert not inequality._Statistics.of(Coordinates(prior, rows), names).mirrored
    assert is_mirrored(even, few.T @ few)
    assert not is_mirrored(skew / skew.sum(), np.eye(k))
