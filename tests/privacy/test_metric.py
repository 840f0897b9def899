import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.testing import mechanisms

LINE = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))


@given(mechanisms(k=4))
def test_level_is_the_definition(m: ex.Mechanism) -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(m.matrix[:, None, :]) - np.log(m.matrix[None, :, :])
        slopes = (
            np.nan_to_num(gain, nan=0.0, neginf=0.0, posinf=np.inf) / np.where(LINE == 0, np.inf, LINE)[:, :, None]
        ).max()
    assert ex.MetricPrivacy(1, LINE).level(m) == pytest.approx(max(0.0, float(slopes)), rel=1e-9, abs=2e-9)


def test_the_geometric_mechanism_is_tight_everywhere() -> None:
    """Truncated geometric on a line: every neighbouring pair meets e^ε exactly; rounding must mend them all."""
    a = math.exp(-0.5)
    q = np.array(
        [
            [a**x / (1 + a), *((1 - a) / (1 + a) * a ** abs(y - x) for y in (1, 2)), a ** (3 - x) / (1 + a)]
            for x in range(4)
        ]
    )
    notion = ex.MetricPrivacy(0.5, LINE)
    m = ex.Mechanism.from_matrix(q, notion)
    assert notion.holds(m)
    assert not ex.MetricPrivacy(0.5 * (1 - 1e-9), LINE).holds(m)
    assert notion.refused_outputs(m) == []
    assert len(ex.MetricPrivacy(0.4, LINE).refused_outputs(m) or []) == 4


def test_row_classes_take_the_smallest_distance() -> None:
    m = ex.Mechanism.from_weights([[3, 1], [3, 1], [1, 3], [1, 3]], 4)
    assert ex.MetricPrivacy(1, LINE).level(m) == pytest.approx(math.log(3))
    assert ex.MetricPrivacy(1, LINE * 2).level(m) == pytest.approx(math.log(3) / 2)


def test_unrelated_and_identical_inputs() -> None:
    apart = [[0, math.inf], [math.inf, 0]]
    identity = ex.Mechanism.from_weights([[4, 0], [0, 4]], 4)
    assert ex.MetricPrivacy(1, apart).holds(identity)
    assert ex.MetricPrivacy(1, apart).level(identity) == 0
    same = ex.MetricPrivacy(1, [[0, 0], [0, 0]])
    assert math.isinf(same.level(ex.randomized_response(2, 1)))
    assert not same.holds(ex.randomized_response(2, 1))
    assert same.level(ex.randomized_response(2, 0)) == 0


def test_an_infinite_ratio_at_an_infinite_distance_hides_no_other_pair() -> None:
    """∞/∞ is no number, and a maximum that met it would be none."""
    far = [[0, math.inf, 1], [math.inf, 0, 2], [1, 2, 0]]
    m = ex.Mechanism.from_weights([[2, 2], [0, 4], [1, 3]], 4)
    assert math.isinf(ex.MetricPrivacy(1, far).level(m))
    loose = [[0, math.inf, 1], [math.inf, 0, math.inf], [1, math.inf, 0]]
    assert ex.MetricPrivacy(1, loose).level(m) == ex.LDP(1).level(ex.Mechanism.from_weights([[2, 2], [1, 3]], 4))


def test_exact_distances() -> None:
    third = ex.MetricPrivacy(1, [[0, Fraction(1, 3)], [Fraction(1, 3), 0]])
    m = ex.randomized_response(2, "1/3")
    assert third.holds(m)
    assert not ex.MetricPrivacy("0.999999999", [[0, Fraction(1, 3)], [Fraction(1, 3), 0]]).holds(m)
    assert ex.MetricPrivacy.from_json(third.to_json()) == third
    assert ex.MetricPrivacy(0, [[0, 1], [1, 0]]).holds(ex.randomized_response(2, 0))


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0, 1]], r"distances must be a square matrix for at least 2 inputs; got distances.shape=\(1, 2\)"),
        ([[0, -1], [-1, 0]], "distances must not be negative or NaN"),
        ([[0, math.nan], [math.nan, 0]], "distances must not be negative or NaN"),
        ([[0, 1], [2, 0]], "distances must be symmetric with a zero diagonal"),
        ([[1, 1], [1, 1]], "distances must be symmetric with a zero diagonal"),
        ([["a", "b"], ["c", "d"]], "distances must be numbers"),
    ],
)
def test_bad_distances(distances: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ex.MetricPrivacy(1, distances)


def test_names() -> None:
    assert repr(ex.MetricPrivacy(1, LINE)) == "MetricPrivacy(epsilon=1.0, distances=4×4)"


def test_exponents_are_the_rationals_given() -> None:
    notion = ex.MetricPrivacy("1/3", np.array([[0, Fraction(1, 2)], [Fraction(1, 2), 0]]))
    assert notion.exact_exponent(0, 1) == Fraction(1, 6)
    assert ex.MetricPrivacy(0, [[0, 1], [1, 0]]).exact_exponent(0, 1) == 0


def test_distances_that_no_float_holds_are_refused() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="distances must be numbers"):
        ex.MetricPrivacy(1, [[0, 10**400], [10**400, 0]])
