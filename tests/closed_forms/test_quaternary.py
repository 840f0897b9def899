"""The quaternary mechanism uses ε and δ to the last unit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.testing import epsilons


@given(epsilons(0.01, 5), st.sampled_from([0, 0.01, 0.3, 0.9]))
def test_quaternary_uses_both_parameters_exactly(epsilon: float, delta: float) -> None:
    m = ex.quaternary(epsilon, delta)
    assert ex.LDP(epsilon, delta).holds(m)
    assert not ex.LDP(epsilon * (1 - 1e-6), delta).holds(m)
    if delta:
        assert not ex.LDP(epsilon, delta * (1 - 1e-9)).holds(m)
        assert m.m == 4
