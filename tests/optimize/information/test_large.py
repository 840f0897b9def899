"""Mixtures for large alphabets: valid mechanisms, heavy symbols kept apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.information.large import blocks, circulant, coarsened, two_rings
from extremal.utility.curve import InformationCurve


@pytest.mark.parametrize("design", [two_rings, blocks])
def test_mixtures_are_row_stochastic(design: Any) -> None:
    prior = (1 + 1e-3 * np.random.default_rng(5).standard_normal(200)) / 200
    prior, curve = prior / prior.sum(), InformationCurve(3.0)
    for made in (design(prior, curve), circulant(prior, curve, curve.best_mass)):
        assert made is not None
        rows = made.weights.sum() + curve.c * (made.sets * made.weights).sum(axis=1)
        np.testing.assert_allclose(rows, 1, atol=1e-12)
        mechanism = made.mechanism(ex.LDP(3), None)
        assert ex.MutualInformation(prior)(mechanism) == pytest.approx(made.value(prior, curve), rel=1e-10)


def test_coarsening_keeps_heavy_symbols_apart() -> None:
    prior = np.append([0.3, 0.2], np.full(500, 0.001))
    row_of = coarsened(prior, 0.1, 20, np.random.default_rng(0))
    assert np.bincount(row_of)[row_of[:2]].tolist() == [1, 1]
    assert row_of.max() < 30
