import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidPrior
from extremal.testing import mechanisms, priors


@given(mechanisms(k=3), priors(k=3))
def test_level_is_the_definition(m: ex.Mechanism, prior: list[Any]) -> None:
    p = np.array([float(x) for x in prior])
    q, marginal = m.matrix[p > 0], p @ m.matrix
    possible = marginal > 0
    with np.errstate(divide="ignore"):
        lift = np.log(q[:, possible]) - np.log(marginal[possible])
    assert ex.LIP(1, prior).level(m) == pytest.approx(float(np.abs(lift).max()), rel=1e-9, abs=2e-9)


def test_the_sides_may_differ() -> None:
    m = ex.randomized_response(2, 1)
    p = [0.9, 0.1]
    below = -math.log(m.matrix[1, 0] / m.marginal(p)[0])
    assert ex.LIP(1, p, lower=below * 1.0001).level(m) == pytest.approx(math.log(m.matrix[1, 1] / m.marginal(p)[1]))
    assert math.isinf(ex.LIP(1, p, lower=below * 0.9999).level(m))
    assert ex.LIP(1, p, lower=0.5).lower == 0.5
    assert ex.LIP(1, p).lower == 1
    assert ex.LIP(0.2, p).refused_outputs(m) == [0, 1]


def test_names_and_bad_input() -> None:
    assert repr(ex.LIP(1, [0.5, 0.5])) == "LIP(epsilon=1.0, Prior([0.5, 0.5]))"
    assert repr(ex.LIP(1, [0.5, 0.5], lower=2)) == "LIP(epsilon=1.0, Prior([0.5, 0.5]), lower=2.0)"
    assert ex.LIP(1, [0.5, 0.5]).k == 2
    with pytest.raises(InvalidPrior, match="prior must sum to 1"):
        ex.LIP(1, [0.5, 0.6])
    assert ex.LIP(1, [0.5, 0.5]).level(ex.randomized_response(2, 1), prior=[0.9, 0.1]) > 0.5


def test_both_sides_are_known_exactly() -> None:
    asymmetric = ex.LIP(1, [0.5, 0.5], lower="1/3")
    assert (asymmetric.lower_exponential.exponent, asymmetric.lower) == (Fraction(1, 3), 1 / 3)
    assert asymmetric.under([0.9, 0.1]).lower_exponential == asymmetric.lower_exponential
    assert ex.LIP(2, [0.5, 0.5]).lower_exponential == ex.LIP(2, [0.5, 0.5]).exponential
