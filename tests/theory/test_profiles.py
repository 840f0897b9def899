"""Profiles of a mechanism in the units of other accountants: δ, Rényi divergences, trade-offs, on their safe sides."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.theory import privacy_profile


def test_values_of_the_statements() -> None:
    ten = privacy_profile(ex.randomized_response(10, 1))
    assert ten.renyi(2) == pytest.approx(0.2961304483633015, rel=1e-14)  # log((e² + 1/e + 8)/(e + 9)), forty digits
    assert ten.renyi(1) == pytest.approx((math.e - 1) / (math.e + 9), rel=1e-14)
    assert ten.renyi(math.inf) == ten.level == 1.0
    assert ten.renyi("1e6") == pytest.approx(1, abs=1e-4)
    bit = privacy_profile(ex.randomized_response(2, 1))
    assert bit.tradeoff(0) == 1.0
    assert bit.tradeoff(1) == 0.0
    assert bit.tradeoff(0.1) == pytest.approx(1 - math.e / 10, rel=1e-14)
    nothing = privacy_profile(ex.randomized_response(3, 0))
    assert nothing.renyi(7) == 0
    assert nothing.tradeoff("1/4") == 0.75
    sharp = privacy_profile(ex.Mechanism.from_matrix([[0.5, 0.5, 0], [0, 0.5, 0.5]]))
    assert sharp.renyi(1) == sharp.renyi(2) == math.inf
    assert sharp.renyi("1/2") == pytest.approx(-2 * math.log(0.5), rel=1e-14)
    assert sharp.tradeoff(0) == 0.5


@given(st.integers(0, 2**12))
def test_profiles_against_their_definitions(seed: int) -> None:
    generator = np.random.default_rng(seed)
    q = generator.dirichlet(np.ones(4), size=3)
    m = ex.Mechanism.from_matrix(q)
    profile, q = privacy_profile(m), m.matrix
    pairs = [(q[x], q[z]) for x in range(3) for z in range(3) if x != z]
    for order in (0.5, 1.5, 4.0):
        renyi = max(math.log((u**order * v ** (1 - order)).sum()) / (order - 1) for u, v in pairs)
        assert profile.renyi(order) == pytest.approx(renyi, rel=1e-9)
    assert profile.renyi(1) == pytest.approx(max((u * np.log(u / v)).sum() for u, v in pairs), rel=1e-9)
    assert profile.renyi(1) <= profile.renyi(1.5) <= profile.renyi(4) <= profile.level * (1 + 1e-12)
    for epsilon in (0.0, 0.3, 1.0):  # a trade-off lies above the two lines of every (ε, δ) that holds, and touches them
        delta = profile.delta(epsilon)
        for alarm in (0.05, 0.3, 0.7):
            assert profile.tradeoff(alarm) >= 1 - delta - math.exp(epsilon) * alarm - 1e-12
    alarm = Fraction(1, 3)
    tests = [t for u, v in pairs for t in _tests(u, v, float(alarm))]
    assert profile.tradeoff(alarm) == pytest.approx(min(tests), abs=1e-12)


def _tests(u: np.ndarray, v: np.ndarray, alarm: float) -> list[float]:
    """Misses of tests that give up a set and a part of one more report, at just that false alarm."""
    found = []
    for mask in range(2**u.size):
        inside = [y for y in range(u.size) if mask >> y & 1]
        for part in range(u.size):
            left = alarm - u[inside].sum()
            if part not in inside and 0 <= left <= u[part]:
                found.append(1 - v[inside].sum() - v[part] * left / u[part])
    return found


def test_many_reports_add_up_in_renyi_divergence() -> None:
    m = ex.randomized_response(2, 1)
    twice = privacy_profile(ex.theory.compose(m, m))
    assert twice.renyi(3) == pytest.approx(2 * privacy_profile(m).renyi(3), rel=1e-12)


def test_what_is_exported_is_json() -> None:
    profile = privacy_profile(ex.subset_selection(6, 1))
    read = json.loads(json.dumps(profile.to_json(orders=[2, 8])))
    assert read["renyi"] == [[2.0, profile.renyi(2)], [8.0, profile.renyi(8)]]
    assert read["tradeoff"][0] == [0.0, 1.0]
    assert read["epsilon_delta"][0] == [0.0, profile.delta(0)]
    assert [e for e, _ in read["epsilon_delta"]] == profile.grid()


def test_bad_input() -> None:
    profile = privacy_profile(ex.randomized_response(2, 1))
    with pytest.raises(InvalidParameter, match="the order must be positive"):
        profile.renyi(0)
    with pytest.raises(InvalidParameter, match="a probability lies from 0 to 1"):
        profile.tradeoff(1.5)
