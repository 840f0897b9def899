from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from extremal.errors import InvalidPrior, MalformedFile
from extremal.exact import Prior, as_prior
from extremal.exact import prior as exact_prior
from extremal.exact.prior import DECIMALS_UP_TO
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
    assert Prior.from_json(["2", "1", "3"]).weights == (2, 1, 3)
    assert Prior.from_json(["2", "1", "3"]).values.tolist() == [1 / 3, 1 / 6, 0.5]
    assert Prior(Prior.from_json(["2", "1", "3"])).total == 6
    assert Prior.from_json(["0", "1"]).weights == (0, 1)


@pytest.mark.parametrize(
    "content",
    [
        *(["1"], [], ["0", "0"], ["1", "-1"], ["1.5", "2"], {"a": "1"}, "12", None, ["0.5", 0.5], ["0.5", "0.6"]),
        *(
            ["4", "2", "6"],
            ["1", "3"],
            ["0.50", "0.5"],
            ["00.5", "0.5"],
            [".5", "0.5"],
            ["5e-1", "0.5"],
            ["1/2", "1/2"],
        ),
        *(["0_5", "1"], [" 0.5", "0.5"], ["\u0660.5", "0.5"], ["-0", "1"], ["1.5", "-0.5"], ["+1", "0"]),
        ["0." + "0" * 400 + "1", "0." + "9" * 401],
    ],
)
def test_what_no_file_holds_is_no_prior(content: object) -> None:
    """Decimals sum to 1, weights have no common divisor and are no decimals, and each has its one text."""
    with pytest.raises(MalformedFile, match="a prior must be"):
        Prior.from_json(content)


def test_a_prior_that_grows_when_it_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One long entry makes all of them long."""
    monkeypatch.setattr(exact_prior, "MOST_DIGITS", 10)
    assert Prior.from_json(["0.5", "0.5"]).total == 2
    with pytest.raises(MalformedFile, match="at most 2\\^28 digits"):
        Prior.from_json(["0.375", "0.5", "0.125"])


def test_denominators_that_no_computer_can_join_are_refused() -> None:
    huge = [Fraction(1, 3**n) for n in (10_000, 20_000, 90_000)]
    with pytest.raises(InvalidPrior, match="common denominator of a prior"):
        Prior([1 - sum(huge), *huge]).weights  # noqa: B018


def test_many_floats_are_the_binary_numbers_that_they_are() -> None:
    values = np.random.default_rng(6).dirichlet(np.ones(DECIMALS_UP_TO + 1))
    values[:2] = 0.0, 1e-300
    prior = Prior(values / values.sum())
    assert prior.binary is prior.values
    total = sum(map(Fraction, prior.values.tolist()))
    assert prior.sum_of_values == total
    assert Prior(prior).binary is prior.values
    assert [prior.fraction(x) for x in (0, 1, 7)] == [Fraction(float(prior.values[x])) / total for x in (0, 1, 7)]
    assert prior.fraction(7) == Fraction(prior.weights[7], prior.total)
    assert Prior.from_json(prior.to_json()) == prior
    few = Prior(np.full(DECIMALS_UP_TO, 1 / DECIMALS_UP_TO))
    assert few.binary is None


def test_masses_are_exact_sums_over_cells() -> None:
    values, cell = [0.1, 0.2, 0.3, 0.4], np.array([2, 0, 0, 2], dtype=np.int8)
    for prior in (Prior(values), Prior.of_binary(values)):
        sums, total = prior.masses(cell, 4)
        assert [Fraction(s, total) for s in sums] == [
            prior.fraction(1) + prior.fraction(2),
            0,
            prior.fraction(0) + prior.fraction(3),
            0,
        ]
    assert Prior.of_binary(values).sum_of_values == sum(map(Fraction, Prior.of_binary(values).values.tolist()))


def test_bad_entries_of_many_floats_are_named() -> None:
    good = np.full(DECIMALS_UP_TO + 4, 1 / (DECIMALS_UP_TO + 4))
    for entry in (np.nan, np.inf, -1e-300):
        bad = good.copy()
        bad[5] = entry
        with pytest.raises(InvalidPrior, match=r"prior\[5\]"):
            Prior(bad)
