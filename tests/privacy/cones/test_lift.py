"""Lift vectors as a box cut by a plane: vertices against two enumerations, the knapsack from both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from extremal.errors import InvalidParameter, TooLarge
from extremal.privacy import LDP, LIP, PML
from extremal.privacy.cones.lift import (
    LiftBox,
    columns_of,
    lift_box,
    one_prior,
    simplex_vertices,
    simplex_weights,
    unit_columns,
    vertices,
)
from extremal.sources import SourceClass
from support.oracles import algorithm_1, plain_vertices

P = [0.5, 0.3, 0.2]


def same(found: Any, expected: Any) -> bool:
    """Whether two lists of vectors are the same up to order."""
    a, b = (np.unique(np.round(v, 9) + 0.0, axis=0) for v in (found, expected))
    return a.shape == b.shape and bool(np.allclose(a, b, atol=1e-8))


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 0.8, 1.3])
def test_the_vertices_are_those_of_two_other_enumerations(epsilon: float) -> None:
    p = np.random.default_rng(2).dirichlet(np.ones(5))
    box = lift_box(PML(epsilon, p))
    lifts = box.lifts(vertices(box))
    assert same(lifts, algorithm_1(p, epsilon))
    assert same(lifts, plain_vertices(p, epsilon))
    lip = lift_box(LIP(epsilon, p, lower=0.7))
    assert same(lip.lifts(vertices(lip)), plain_vertices(p, epsilon, math.exp(-0.7)))


@pytest.mark.parametrize("notion", [PML(0.5, P), PML(0.05, P), LIP(0.5, P), LIP(1, P, lower=3), PML(100, P)], ids=repr)
def test_the_knapsack_from_both_sides(notion: Any) -> None:
    """`ceiling` bounds the best column by its dual, `greedy` attains it, and no vertex is better."""
    box, generator = lift_box(notion), np.random.default_rng(0)
    gains = generator.standard_normal((40, box.n))
    attained = (box.greedy(gains) * gains).sum(axis=1)
    assert box.greedy(gains) @ box.prior == pytest.approx(np.full(40, box.budget))
    ceiling = box.ceiling(gains, np.abs(gains))
    assert (ceiling >= attained).all()
    assert ceiling == pytest.approx(attained, abs=1e-11)
    assert (vertices(box) @ gains.T).max(axis=0) == pytest.approx(attained, abs=1e-11)
    assert 0 < box.error < 1e-12


def test_simplices() -> None:
    """At most one input off the base, or two inputs: the vertices are as many as inputs and mix to a mechanism."""
    for notion in (PML(0.1, P), PML(0.3, [0.6, 0.4]), PML(2, [0.6, 0.4]), LIP(0.5, [0.9, 0.1]), PML(5, P)):
        box = lift_box(notion)
        assert box.is_simplex
        y = simplex_vertices(box)
        theta = simplex_weights(box, y)
        assert y @ box.prior == pytest.approx(np.full(box.n, box.budget))
        assert theta @ y == pytest.approx(np.full(box.n, box.budget))
        assert theta.sum() == pytest.approx(1)
        assert vertices(box) is not None
    assert not lift_box(PML(0.5, P)).is_simplex


def test_inputs_that_never_occur_are_left_out_and_can_be_added() -> None:
    box = lift_box(PML(0.5, [0.5, 0, 0.3, 0.2]))
    assert box.support.tolist() == [0, 2, 3]
    columns = columns_of(box, vertices(box), 4)
    assert not columns[1].any()
    assert np.array([0.5, 0, 0.3, 0.2]) @ columns == pytest.approx(np.ones(columns.shape[1]))
    assert unit_columns(box, 4).tolist() == [[0.0], [1.0], [0.0], [0.0]]


def test_what_has_no_box_is_refused() -> None:
    assert isinstance(lift_box(PML(1, P)), LiftBox)
    assert one_prior(LIP(1, P)) == one_prior(PML(1, P))
    with pytest.raises(InvalidParameter, match="must be PML or LIP with one prior"):
        one_prior(LDP(1))
    with pytest.raises(InvalidParameter, match="must be PML or LIP with one prior"):
        lift_box(PML(1, SourceClass([P, [0.2, 0.3, 0.5]])))
    with pytest.raises(InvalidParameter, match="at level 0 only constant columns"):
        lift_box(PML(0, P))
    with pytest.raises(TooLarge, match="at most 14 inputs"):
        vertices(lift_box(PML(1, ["1/16"] * 16)))
