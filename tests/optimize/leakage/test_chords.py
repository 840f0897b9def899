"""Pricing of lift vectors for f-divergences: between chords of f, against every vertex."""

from __future__ import annotations

import math

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.leakage.chords import RatioChords, excess, ratio_range
from extremal.optimize.leakage.divergence import Restricted
from extremal.privacy.cones.lift import columns_of, lift_box, vertices

DIVERGENCES = (ex.KL, ex.ReverseKL, ex.SymmetricKL, ex.ChiSquared, ex.SquaredHellinger, ex.TotalVariation)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("seed", range(5))
def test_chords_against_all_vertices(divergence: type[ex.KL], seed: int) -> None:
    generator = np.random.default_rng(seed)
    p, p0, p1 = generator.dirichlet(np.full(7, 3.0), 3)
    box = lift_box(ex.PML(0.5, p))
    assert not box.is_simplex
    y, utility = vertices(box), divergence(p0, p1)
    columns, pair = columns_of(box, y, 7), Restricted.on(utility, box)
    values = utility.column_values(columns)
    assert pair.values(y) == pytest.approx(values, abs=1e-13)
    alpha = generator.normal(size=7) * p
    truth = float((values - y @ alpha).max())
    found = excess(box, pair.f, pair.masses, alpha)
    assert -1e-15 <= found.upper - truth <= 1e-9 * (1 + abs(truth))
    assert found.attained == pytest.approx(truth, abs=1e-9)
    assert (found.values - found.columns @ alpha).max() == pytest.approx(found.attained, abs=1e-14)
    lowest, highest = ratio_range(box, pair.masses)
    ratios = (p0 @ columns) / (p1 @ columns)
    assert lowest <= ratios.min()
    assert highest >= ratios.max()


def test_ratios_without_a_bound_are_said_to_have_none() -> None:
    box = lift_box(ex.PML(2, [0.5, 0.3, 0.1, 0.1]))
    pair = Restricted.on(ex.TotalVariation([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]), box)
    assert ratio_range(box, pair.masses) == (0.0, math.inf)


def test_chords_of_ratios_next_to_nothing_are_no_vertical_lines() -> None:
    x = np.array([7.37906582e-11, 1e-30])
    y = x * (1 + 1e-6)  # x − 1 and y − 1 are the same double
    slope, at_one = RatioChords(x, x - 1, y, y - 1).lines(ex.ReverseKL([0.5, 0.5], [0.4, 0.6]).f)
    assert slope == pytest.approx(-1 / x, rel=1e-5)  # f'(x) of x − 1 − ln x, but for 1
    assert np.isfinite(at_one).all()
    assert not RatioChords(x, x - 1, y, y - 1).narrow.any()
