"""A user's f: checked, normalised, and equal to the named one that it is."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.utility import SumOfColumns

P, Q = [0.7, 0.3], [0.4, 0.6]


def test_user_functions_agree_with_the_named_ones() -> None:
    m = ex.randomized_response(2, 1)
    for f, named in [
        (lambda x: x * np.log(x), ex.KL(P, Q)),
        (lambda x: -np.log(x), ex.ReverseKL(P, Q)),
        (lambda x: np.abs(x - 1) / 2, ex.TotalVariation(P, Q)),
        (lambda x: (np.sqrt(x) - 1) ** 2, ex.SquaredHellinger(P, Q)),
    ]:
        user = ex.FDivergence(P, Q, f)
        assert user(m) == pytest.approx(named(m), rel=1e-9)
        assert user.at_zero == pytest.approx(named.at_zero, rel=1e-6, abs=1e-6)
        if named.name != "KL":  # x log x grows too slowly for a float to see that its slope is infinite
            assert user.slope_at_infinity == pytest.approx(named.slope_at_infinity, rel=1e-4, abs=1e-4)
    derivative = ex.FDivergence(
        P, Q, lambda x: (x - 1) ** 2, derivative=lambda x: 2 * (x - 1), at_zero=1, slope_at_infinity=np.inf
    )
    assert derivative.derivative(np.array([3.0]))[0] == 4
    assert isinstance(derivative, SumOfColumns)
