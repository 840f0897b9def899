"""Bounds without search: above the optimum, tight where they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.information.bounds import affine, convex, fluid
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns
from extremal.utility.curve import InformationCurve


def full_program(prior: Any, epsilon: float) -> float:
    """Every one of the 2^k − 2 patterns in one linear program."""
    columns = patterns(len(prior), epsilon)
    values = ex.MutualInformation(prior).column_values(columns)
    return float(values @ best_mixture(columns, values[None, :]).weights)


def test_bounds_are_above_the_optimum_and_the_right_one_is_tight() -> None:
    generator = np.random.default_rng(4)
    for noise in (0.0, 1e-3, 0.5):
        for epsilon in (0.3, 2.0, 5.0):
            prior = (1 + noise * generator.uniform(-1, 1, 8)) / 8
            prior /= prior.sum()
            curve, optimum = InformationCurve(epsilon), full_program(prior, epsilon)
            for bound in (fluid, affine, convex):
                assert bound(prior, curve)[0] >= optimum * (1 - 1e-12)
            if not noise:
                assert affine(prior, curve)[0] == pytest.approx(optimum, rel=1e-11)
