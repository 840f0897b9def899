"""The patterns of ε-LDP: all of them, and nothing else is extreme."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from extremal.errors import TooLarge
from extremal.privacy.cones.staircase import patterns


@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_linear_function_is_largest_at_a_pattern(k: int) -> None:
    generator, columns, e = np.random.default_rng(k), patterns(k, 1.2), math.exp(1.2)
    assert columns.shape == (k, 2**k - 2)
    assert len(np.unique(columns, axis=1).T) == 2**k - 2
    inequalities = [np.eye(k)[x] - e * np.eye(k)[y] for x in range(k) for y in range(k) if x != y]
    assert (np.array(inequalities) @ columns <= 1e-12).all()
    for _ in range(20):
        g = generator.standard_normal(k)
        best = -linprog(-g, inequalities, np.zeros(len(inequalities)), np.ones((1, k)), [1.0]).fun
        reached = max(float((g @ columns / columns.sum(axis=0)).max()), float(g.mean()))
        assert reached == pytest.approx(best, abs=1e-9)


def test_large_epsilon_and_many_inputs() -> None:
    assert np.isfinite(patterns(3, 5000)).all()
    with pytest.raises(TooLarge, match="at most 16 inputs; got k=17"):
        patterns(17, 1)
