from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from extremal.errors import InvalidPrior
from extremal.exact import Prior, as_prior
from extremal.testing import priors


def test_decimals_are_read_as_printed_and_divided_by_their_sum() -> None:
    prior = Prior([0.1, 0.2, 0.7])
    assert (prior.weights, prior.total) == ((1, 2, 7), 10)
    assert Prior([0.1] * 10).fraction(3) == Fraction(1, 10)
    assert Prior(["1/3", Fraction(1, 3), Decimal("0.3333333333")]).values.sum() == pytest.approx(1, abs=1e-15)
    assert Prior(np.array([0.25, 0.75], dtype=np.float32)).weights == (1, 3)
    assert Prior([1, 0]).weights == (1, 0)


def test_a_sum_off_by_less_than_the_tolerance_is_normalised_exactly() -> None:
    prior = Prior(["0.5", "0.5000000001"])
    assert prior.fraction(0) + prior.fraction(1) == 1
    assert prior.fraction(0) == Fraction(5 * 10**9, 10**10 + 1)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.6], "prior must sum to 1 within 1e-09, and sums to 1.1"),
        ([0.5, -0.5, 1.0], r"prior must hold finite, non-negative numbers; got prior\[1\]=-0.5"),
        ([float("nan"), 1.0], r"prior must hold finite, non-negative numbers; got prior\[0\]=nan"),
        ([1.0], "prior must have at least 2 entries"),
        ([], "prior must have at least 2 entries"),
        (0.5, "prior must be a sequence of probabilities"),
        ("0.5", "prior must be a sequence of probabilities"),
        ({"a": 1.0}, "prior must be a sequence of probabilities"),
        ([0.5, None], r"prior\[1\] must be a number"),
        (["0.5", "half"], r"prior\[1\] must be a finite number"),
        (np.ones((2, 2)), "prior must be one-dimensional"),
        ([1.0] * 20, "20 entries"),
    ],
)
def test_bad_priors(probabilities: object, message: str) -> None:
    with pytest.raises(InvalidPrior, match=message):
        Prior(probabilities)


def test_length_is_checked_where_it_matters() -> None:
    with pytest.raises(InvalidPrior, match=r"p1 must have 3 entries, one for each input; got len\(p1\)=2"):
        as_prior([0.5, 0.5], "p1", 3)


@given(priors())
def test_integers_are_the_prior(prior: list[Fraction]) -> None:
    exact = Prior(prior)
    assert [exact.fraction(x) for x in range(len(exact))] == prior
    assert Prior.from_json(exact.to_json()) == exact
    assert Prior.from_json([str(p) for p in prior]) == exact
    assert Prior(exact) == exact
    assert hash(Prior(exact)) == hash(exact)
    assert exact.values == pytest.approx([float(p) for p in prior], rel=1e-15)


def test_repr_is_short() -> None:
    assert repr(Prior([0.5, 0.5])) == "Prior([0.5, 0.5])"
    assert repr(Prior(np.full(100, 0.01))).endswith("…])")


def test_tiny_probabilities_keep_their_digits() -> None:
    prior = Prior([1e-12, 1 - 1e-12])
    assert prior.fraction(0) == Fraction(1, 10**12)


def test_files_hold_decimals_that_sum_to_1_or_weights() -> None:
    assert Prior([0.5, 0.25, 0.25]).to_json() == ["0.5", "0.25", "0.25"]
    assert Prior(["1/3", "1/6", "1/2"]).to_json() == ["2", "1", "3"]
    assert Prior.from_json(["4", "2", "6"]).weights == (2, 1, 3)
    assert Prior.from_json(["4", "2", "6"]).values.tolist() == [1 / 3, 1 / 6, 0.5]
    assert Prior(Prior.from_json(["4", "2", "6"])).total == 6


@pytest.mark.parametrize("content", [["1"], [], ["0", "0"], ["1", "-1"], ["1.5", "2"], {"a": "1"}, "12"])
def test_what_is_no_prior_is_not_read(content: object) -> None:
    with pytest.raises(InvalidPrior):
        Prior.from_json(content)


def test_denominators_that_no_computer_can_join_are_refused() -> None:
    huge = [Fraction(1, 3**n) for n in (10_000, 20_000, 90_000)]
    with pytest.raises(InvalidPrior, match="common denominator of a prior"):
        Prior([1 - sum(huge), *huge]).weights  # noqa: B018
