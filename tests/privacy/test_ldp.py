import math
from fractions import Fraction
from typing import Any

import pytest

import extremal as ex
from extremal.errors import InvalidParameter


@pytest.mark.parametrize("case_id", ["ldp_rr_k4_eps1", "ldp_binary_mechanism_k4_eps1", "ldp_geometric_k4_eps1"])
def test_reference_mechanisms_are_private_at_their_epsilon_and_not_below(
    reference: dict[str, Any], case_id: str
) -> None:
    m = ex.Mechanism.from_matrix(reference[case_id]["expected"]["mechanism_rows_x_cols_y"], ex.LDP(1))
    assert ex.LDP(1).holds(m)
    assert not ex.LDP(1 - 1e-9).holds(m)


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, "x", float("nan")])
def test_bad_delta(delta: object) -> None:
    with pytest.raises(InvalidParameter, match="delta must be"):
        ex.LDP(1, delta)


def test_names() -> None:
    assert repr(ex.LDP(0.1)) == "LDP(epsilon=0.1)"
    assert repr(ex.LDP(1, 1e-6)) == "LDP(epsilon=1.0, delta=1e-06)"
    assert repr(ex.LDP.from_ratio(Fraction(7, 2))) == "LDP.from_ratio(7/2)"
    assert repr(ex.LDP(0)) == "LDP(epsilon=0.0)"
    assert ex.LDP(1, 0.25).delta == 0.25


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 0.001, 1, 20, 42, 50, 100])
def test_extreme_epsilon(epsilon: float) -> None:
    m = ex.randomized_response(3, epsilon)
    level = ex.LDP(epsilon).level(m)
    assert level <= epsilon
    if epsilon <= 20:
        assert level == pytest.approx(epsilon, rel=1e-6)
    else:  # 2^62 cannot hold so small a probability: the level is lower, and reported
        assert 41 < level <= math.log(2**62 - 2) * (1 + 1e-15)
