"""Pricing of lift vectors for information: the search meets the best vertex, and bounds it when it is cut short."""

from __future__ import annotations

import math

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.leakage.knapsack import LiftWorth, bound_of, least_cost
from extremal.privacy.cones.lift import columns_of, lift_box, vertices
from support.random_mechanisms import drawn_leakage


@pytest.mark.parametrize("seed", range(24))
def test_the_search_against_all_vertices(seed: int) -> None:
    notion, box, generator = drawn_leakage(seed)
    y, curve = vertices(box), LiftWorth.on(box)
    values = ex.MutualInformation(notion.prior).column_values(columns_of(box, y, box.n))
    assert curve.values(y) == pytest.approx(values, abs=1e-12)
    alpha = generator.normal(size=box.n) * box.prior * 3
    truth = float((values - y @ alpha).max())
    search = least_cost(curve, alpha)
    assert -1e-13 <= curve.ceiling - search.lower - truth <= 1e-10 * (1 + abs(truth))
    assert curve.ceiling - search.best == pytest.approx(truth, abs=1e-11)
    assert bound_of(curve, alpha, search.lower) >= box.budget * alpha.sum() + truth - 1e-13
    met = curve.values(search.columns) - search.columns @ alpha
    assert met.max() == pytest.approx(truth, abs=1e-11)
    assert least_cost(curve, alpha, width=2).lower <= search.best
    assert least_cost(curve, alpha, target=search.best - 0.01).lower <= search.best - 0.01


def test_beyond_five_hundred_inputs_only_the_relaxation_is_used() -> None:
    p = np.random.default_rng(1).dirichlet(np.ones(520))
    curve = LiftWorth.on(lift_box(ex.PML(0.5, p)))
    found = least_cost(curve, p * 0.3)
    assert math.isinf(found.best)
    assert found.columns.shape == (0, 520)
    assert math.isfinite(found.lower)


def test_a_search_that_is_too_narrow_still_bounds_something() -> None:
    """Nearly equal inputs and next to no costs: every subset is a tie; dropped states keep their bounds."""
    p = (1 + 0.001 * np.random.default_rng(4).standard_normal(24)) / 24
    p /= p.sum()
    curve = LiftWorth.on(lift_box(ex.PML(0.6, p)))
    alpha = p * (1 + 1e-9 * np.arange(24))
    narrow, wide = (least_cost(curve, alpha, width=w) for w in (50, 20_000))
    assert narrow.lower <= wide.lower <= wide.best <= narrow.best
