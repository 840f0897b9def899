"""The cones as rows of a linear program: a column satisfies them exactly when the notion admits it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from extremal.mechanism import Mechanism
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.privacy.cones.linear import LinearCone, MetricCone, linear_cone
from extremal.sources import SourceClass

P = [0.5, 0.3, 0.2]
FAR = [[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]]
NOTIONS = (
    LDP(0.8),
    PML(0.4, P),
    PML(0.4, SourceClass([P, [0.2, 0.3, 0.5]])),
    LIP(0.4, P),
    LIP(0.4, P, lower=1),
    MetricPrivacy(0.8, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]),
    MetricPrivacy(0.8, FAR),
    LDP(0),
    PML(0, P),
    MetricPrivacy(0, 1 - np.eye(3)),
)


def admitted(cone: LinearCone, column: Any) -> bool:
    """Whether some t makes the rows hold, within 1e-9."""
    rows = cone.rows()
    fixed = [(sum(c * column[x] for x, c in row.entries), row) for row in rows]
    above = [[row.size] for _, row in fixed] + [[-row.size] for _, row in fixed]
    limits = [row.upper - v for v, row in fixed] + [v - row.lower for v, row in fixed]
    kept = [(a, b + 1e-9) for a, b in zip(above, limits, strict=True) if math.isfinite(b)]
    return bool(linprog([0.0], [a for a, _ in kept], [b for _, b in kept], bounds=[(0, None)]).status == 0)


@pytest.mark.parametrize("notion", NOTIONS, ids=repr)
def test_rows_say_what_the_notion_says(notion: Any) -> None:
    cone, generator = linear_cone(notion, 3), np.random.default_rng(5)
    assert cone is not None
    said = set()
    for _ in range(60):
        scale = generator.choice([0.0, 0.05, 0.3, 1.0])
        column = 0.3 * np.exp(scale * generator.standard_normal(3))
        column = column / max(1.0, 2 * column.max())
        mechanism = Mechanism.from_matrix(np.c_[column, 1 - column])
        level = notion.level(mechanism)
        holds = notion.holds(mechanism)
        inside = all(admitted(cone, q) for q in (column, 1 - column))
        if not holds and not inside:
            said.add(False)
        elif holds and inside:
            said.add(True)
        else:  # on the boundary, where 2^-62 decides
            assert math.isfinite(level)
            assert abs(level - notion.epsilon) < 1e-6
    assert said == {True, False} or not notion.epsilon


def test_delta_couples_the_columns() -> None:
    assert linear_cone(LDP(1, 0.1), 3) is None


def test_a_metric_starts_with_near_inputs_and_names_what_is_broken() -> None:
    line = np.abs(np.subtract.outer(range(9), range(9))).astype(float)
    cone = MetricCone(0.5, line)
    first = {row.name for row in cone.rows()}
    assert (0, 8) not in first
    assert all((b, a) in first for a, b in first)
    matrix = np.full((9, 2), 0.5)
    assert cone.broken(matrix, 1e-14) == []
    matrix[0] = [1.0, 0.0]
    broken = cone.broken(matrix, 1e-14)
    assert {(y, row.name) for y, row in broken} >= {(0, (0, 1)), (1, (8, 0))}
    for y, row in broken:
        assert sum(c * matrix[x, y] for x, c in row.entries) < row.lower


def test_rounding_of_a_solver_is_removed() -> None:
    ldp, metric = linear_cone(LDP(1), 2), linear_cone(MetricPrivacy(1, [[0, 0], [0, 0]]), 2)
    assert ldp is not None
    assert metric is not None
    rough = np.array([[1 - 1e-15, 1e-15], [0.5, 0.5]])
    assert ldp.cleaned(rough, 1e-14, 1e-12).tolist() == [[1 - 1e-15, 0.0], [0.5, 0.5]]
    assert ldp.broken(rough, 0) == []
    assert metric.cleaned(rough, 1e-14, 1e-12).tolist() == [[1 - 1e-15, 0.0]] * 2
    leakage = linear_cone(PML(1, [0.5, 0.5]), 2)
    assert leakage is not None
    assert leakage.broken(rough, 0) == []
    rare = np.array([[1 - 1e-13, 1e-13], [1 - 1e-13, 1e-13]])
    assert leakage.cleaned(rare, 1e-14, 1e-12).tolist() == [[1.0, 0.0]] * 2
    all_rare = np.full((2, 2), 1e-13)
    assert leakage.cleaned(all_rare, 1e-14, 1e-12) is all_rare
    still = linear_cone(PML(0, [0, 0.5, 0.5]), 3)
    assert still is not None
    assert still.cleaned(np.arange(6.0).reshape(3, 2), 0, 0).tolist() == [[0.0, 1.0], [2.0, 3.0], [2.0, 3.0]]
