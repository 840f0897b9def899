"""δ of (ε,δ)-LDP against its definition, and to the last unit where floats cannot tell."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import TooLarge
from extremal.privacy import ldp
from extremal.testing import epsilons, mechanisms


def _delta_by_definition(m: ex.Mechanism, epsilon: float) -> float:
    q, e = m.matrix, math.exp(epsilon)
    return max(float(np.maximum(q[x] - e * q[z], 0).sum()) for x in range(m.k) for z in range(m.k))


def test_reference_delta_and_level(reference: dict[str, Any]) -> None:
    """KOV eq (23) on a 2×3 mechanism, to 1e-12."""
    case = reference["approx_ldp_delta_of_mechanism"]
    m = ex.Mechanism.from_matrix(case["arguments"]["mechanism_rows_x_cols_y"])
    assert ex.LDP(1).delta_at(m, case["arguments"]["epsilon"]) == pytest.approx(
        float(case["expected"]["smallest_delta"]), rel=1e-12
    )
    assert ex.LDP(1).level(m) == pytest.approx(float(case["expected"]["pure_ldp_level"]), rel=1e-12)


def test_reference_quaternary(reference: dict[str, Any]) -> None:
    case = reference["ldp_quaternary_eps1_delta0.1"]
    notion = ex.LDP(case["arguments"]["epsilon"], case["arguments"]["delta"])
    m = ex.Mechanism.from_matrix(case["expected"]["mechanism_rows_x_cols_y"], notion)
    assert notion.delta_at(m) == pytest.approx(float(case["expected"]["smallest_delta_at_eps"]), rel=1e-12)
    assert notion.level(m) == pytest.approx(1, rel=1e-12)
    assert ex.LDP(1).level(m) > 30
    assert notion.refused_outputs(m) == []
    assert ex.LDP(0.5, 0.1).refused_outputs(m) is None


@given(mechanisms(), epsilons(0.01, 5))
def test_delta_is_the_definition_and_holds(m: ex.Mechanism, epsilon: float) -> None:
    delta = ex.LDP(1).delta_at(m, epsilon)
    assert delta == pytest.approx(_delta_by_definition(m, epsilon), rel=1e-12, abs=1e-15)
    if delta < 1:
        assert ex.LDP(epsilon, delta).holds(m)
    if delta > 1e-6:
        assert not ex.LDP(epsilon, delta * (1 - 1e-9)).holds(m)


@given(mechanisms(k=3), st.floats(0.001, 0.9))
def test_level_for_delta_against_the_definition(m: ex.Mechanism, delta: float) -> None:
    level = ex.LDP(1, delta).level(m)
    if math.isinf(level):
        assert _delta_by_definition(m, 100) > delta
    else:
        assert _delta_by_definition(m, level) <= delta * (1 + 1e-9)
        assert level < 1e-8 or _delta_by_definition(m, level * (1 - 1e-6)) >= delta * (1 - 1e-9)


def test_delta_with_an_exact_ratio_and_ties() -> None:
    """e^ε = 3 exactly: terms are exactly zero, and pairs tie."""
    m = ex.Mechanism.from_weights([[6, 1, 1], [2, 5, 1], [2, 1, 5]], 8)
    assert ex.LDP.from_ratio(3).delta_at(m) == 0.25
    assert ex.LDP.from_ratio(3, 0.25).holds(m)
    assert not ex.LDP.from_ratio(3, "0.2499999999999999999").holds(m)


def test_pairs_that_nearly_tie_are_compared_exactly() -> None:
    """Two pairs whose sums differ by one unit of 2^-62: floats cannot tell, integers must."""
    n, h = 2**62, 2**60
    rows = [[2 * h, h, h], [h, 2 * h, h], [h - 7, h + 5, 2 * h + 2]]
    m = ex.Mechanism.from_weights(rows, n)
    found = ex.LDP(1).delta_at(m, 0.5)
    e = Fraction(ex.LDP(0.5).exponential.bounds(300)[0], 2**300)
    exact = max(sum(max(Fraction(0), a - e * b) for a, b in zip(x, z, strict=True)) for x in rows for z in rows) / n
    assert 0 <= Fraction(repr(found)) - exact < Fraction(1, 2**52)
    assert ex.LDP(0.5, found).holds(m)


def test_delta_at_its_own_epsilon_is_zero_when_pure() -> None:
    assert ex.LDP(1).delta_at(ex.randomized_response(5, 1)) == 0
    assert ex.LDP(1, 0.5).level(ex.randomized_response(5, 0)) == 0


def test_large_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ldp, "MOST_OPERATIONS", 10)
    with pytest.raises(TooLarge, match="the pairs of different rows times outputs must stay below"):
        ex.LDP(0.5).delta_at(ex.randomized_response(5, 1))
