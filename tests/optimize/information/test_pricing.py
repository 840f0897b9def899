"""Pricing: the best set for given prices, and a bound on all sets."""

from __future__ import annotations

import numpy as np
import pytest

from extremal.optimize.information.pricing import BestSets
from extremal.utility.curve import InformationCurve


def test_pricing_finds_the_best_set_and_bounds_it() -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        k, epsilon = int(generator.integers(3, 10)), float(generator.uniform(0.05, 6))
        mass, curve = generator.dirichlet(np.ones(k)), InformationCurve(epsilon)
        prices = generator.normal(size=k) * mass * curve.top
        inside = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
        values = curve.value(inside @ mass) - inside @ prices
        found = BestSets(curve, mass, np.ones(k, dtype=np.int64)).best(prices, -np.inf, 10**6, keep=3)
        assert found.values[0] == pytest.approx(values.max(), abs=1e-12 * curve.top)
        assert found.upper == pytest.approx(values.max(), abs=1e-12 * curve.top)
        few = BestSets(curve, mass, np.ones(k, dtype=np.int64)).best(prices, -np.inf, 2)
        assert few.upper >= values.max() - 1e-12 * curve.top  # whatever was not followed is in the bound
