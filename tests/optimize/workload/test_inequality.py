"""The matrix inequality made as large as possible."""

from __future__ import annotations

import numpy as np

import extremal as ex
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates


def test_a_prior_with_zeros_has_an_inequality() -> None:
    """As at the worst prior of a ball; the bound is below what randomised response and subset selection cost."""
    generator = np.random.default_rng(0)
    prior = generator.dirichlet(np.ones(12))
    prior[:3] = 0.0
    prior /= prior.sum()
    goal = ex.CDF(prior)
    found = best_inequality(Coordinates(prior, goal.rows), 1.0, 1.0)
    assert 0 < found.bound <= min(goal(ex.randomized_response(12, 1)), goal(ex.subset_selection(12, 1)))
