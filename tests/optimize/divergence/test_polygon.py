"""The polygon around the Lorenz curve bounds what all partitions give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extremal.optimize.divergence.lorenz import BlockValue, Lorenz
from extremal.optimize.divergence.paths import best_partition
from extremal.optimize.divergence.polygon import solve as solve_polygon
from extremal.testing import epsilons, priors
from support.divergences import DIVERGENCES


@settings(max_examples=25)
@given(priors(largest=9), st.data(), epsilons(0.05, 6))
def test_the_polygon_and_all_partitions_agree(prior: list[Any], data: st.DataObject, epsilon: float) -> None:
    other = data.draw(priors(k=len(prior)))
    for divergence in DIVERGENCES:
        utility = divergence(prior, other)
        lorenz, value = Lorenz.of(utility), BlockValue.of(utility, epsilon)
        worth, _, _ = best_partition(value, lorenz.nodes)
        outcome = solve_polygon(lorenz, value, 1e-13)
        assert outcome.worth == pytest.approx(worth, rel=1e-12, abs=1e-15)
        assert outcome.bound >= worth * (1 - 1e-14)
