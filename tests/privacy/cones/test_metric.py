"""The cone of metric privacy: which metrics are trees, and all its extreme rays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import extremal as ex
from extremal.errors import TooLarge
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import group_columns, metric_rays, tree_edges


def plane(k: int, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random((k, 2))
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def test_trees_are_recognised_exactly() -> None:
    decimals = [[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]]  # 0.1 + 0.2 is 0.3 as decimals
    assert tree_edges(MetricPrivacy(1, decimals)) == [(0, 1), (1, 2)]
    star = [[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]]
    assert tree_edges(MetricPrivacy(1, star)) == [(0, 1), (0, 2), (0, 3)]
    assert tree_edges(MetricPrivacy(1, plane(4, 0))) is None
    assert tree_edges(MetricPrivacy(1, [[0, math.inf], [math.inf, 0]])) is None


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_every_linear_function_is_largest_at_a_listed_ray(k: int) -> None:
    generator = np.random.default_rng(k)
    apart = plane(k, k)
    notion = MetricPrivacy(1.3, apart)
    rays = metric_rays(notion)
    bounds = np.exp(1.3 * apart)
    inequalities = [np.eye(k)[x] - bounds[x, y] * np.eye(k)[y] for x in range(k) for y in range(k) if x != y]
    for row in inequalities:
        assert (row @ rays <= 1e-9).all()
    for _ in range(20):
        g = generator.standard_normal(k)
        best = -linprog(-g, inequalities, np.zeros(len(inequalities)), np.ones((1, k)), [1.0]).fun
        assert (g @ rays / rays.sum(axis=0)).max() == pytest.approx(best, abs=1e-9)


def test_counts() -> None:
    assert [metric_rays(MetricPrivacy(1, plane(k, 3))).shape[1] for k in (3, 4, 5, 6)] == [6, 20, 70, 252]
    assert metric_rays(MetricPrivacy(1, np.abs(np.subtract.outer(range(6), range(6))))).shape == (6, 32)
    apart = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
    rays = metric_rays(MetricPrivacy(1, apart))
    assert rays.shape == (3, 3)
    assert [0.0, 0.0, 1.0] in rays.T.tolist()
    with pytest.raises(TooLarge, match="got k=8"):
        metric_rays(MetricPrivacy(1, plane(8, 1)))


def test_a_column_names_each_group_of_related_inputs() -> None:
    far = np.inf
    privacy = ex.MetricPrivacy(1, [[0, 1, far], [1, 0, far], [far, far, 0]])
    assert group_columns(privacy).T.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert privacy.relates(0, 1)
    assert not privacy.relates(0, 2)
