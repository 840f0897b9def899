from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction, decimal_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (3, Fraction(3)),
        (np.int64(3), Fraction(3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (1e-300, Fraction(1, 10**300)),
    ],
)
def test_a_number_means_the_decimal_it_prints_as(value: object, expected: Fraction) -> None:
    assert as_fraction(value, "x") == expected


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "nan",
        "inf",
        "one",
        "1/0",
        "1/2/3",
        "1e999999999",
        Decimal("NaN"),
        True,
        np.True_,
        None,
        [1],
    ],
)
def test_anything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidParameter, match="epsilon must be"):
        as_fraction(value, "epsilon")


def test_counts() -> None:
    assert as_count(np.int32(4), "k", 2) == 4
    with pytest.raises(InvalidParameter, match=r"k must be at least 2; got k=1\."):
        as_count(1, "k", 2)
    for bad in (2.0, True, "3"):
        with pytest.raises(InvalidParameter, match="k must be a whole number"):
            as_count(bad, "k", 2)


@given(st.fractions())
def test_decimal_text_is_read_back_exactly(number: Fraction) -> None:
    assert as_fraction(decimal_text(number), "x") == number


def test_decimal_text_of_long_expansions_is_a_ratio() -> None:
    assert decimal_text(Fraction(1, 2**500)) == str(Fraction(1, 2**500))
    assert decimal_text(Fraction(-5, 4)) == "-1.25"
