"""The best partition by longest paths, against the program over all 2^k patterns."""

from __future__ import annotations

import numpy as np
import pytest

from extremal.optimize.divergence.lorenz import BlockValue, Lorenz
from extremal.optimize.divergence.paths import best_partition
from support.divergences import full_program, random_divergence

INSTANCES = 2000
AGREEMENT = 1e-11


@pytest.mark.parametrize("instances", [200, pytest.param(INSTANCES, marks=pytest.mark.slow)])
def test_agreement_with_the_full_program(instances: int) -> None:
    generator = np.random.default_rng(20260)
    worst = 0.0
    for index in range(instances):
        utility, epsilon = random_divergence(generator, index)
        value = BlockValue.of(utility, epsilon)
        worth, _, gap = best_partition(value, Lorenz.of(utility).nodes)
        expected = full_program(utility, epsilon)
        assert gap <= 1e-12 * worth + 1e-15
        # Hockey sticks may be worth nothing but rounding; everything else is compared relatively.
        assert worth == pytest.approx(expected, rel=AGREEMENT, abs=1e-15), (index, utility.name, epsilon)
        worst = max(worst, abs(worth / expected - 1) if expected > 1e-12 else 0.0)
    assert worst <= AGREEMENT
