from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.errors import InvalidParameter
from extremal.exact import ANY_LABELS, as_count, as_fraction, decimal_text, in_order, matrix_in_order


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


LABELS = ["no", "yes"]


def test_names_decide_the_order_of_numbers() -> None:
    assert in_order(pd.Series({"yes": 1, "no": 2}), "p", LABELS) == [2, 1]
    assert in_order(pd.Series({1: 5, 0: 7}), "p", [np.int64(0), 1]) == [7, 5]
    for nameless in ([1, 2], np.arange(2), pl.Series([1, 2]), pd.Series([1, 2])):
        assert in_order(nameless, "p", LABELS) is nameless
        assert in_order(nameless, "p") is nameless
    numbered = pd.Series([5, 7])
    assert in_order(numbered, "p", [0, 1]) == [5, 7]
    frame = pd.DataFrame([[1, 2], [3, 4]], index=["yes", "no"], columns=["b", "a"])
    assert matrix_in_order(frame, "a", LABELS, ["a", "b"]).tolist() == [[4, 3], [2, 1]]
    assert matrix_in_order(frame, "a", ANY_LABELS, ["a", "b"]).tolist() == [[2, 1], [4, 3]]
    assert matrix_in_order(frame, "a", LABELS, ANY_LABELS).tolist() == [[3, 4], [1, 2]]
    assert matrix_in_order([pd.Series({"b": 1, "a": 2}), [3, 4]], "a", None, ["a", "b"]) == [[2, 1], [3, 4]]
    for columns in (pl.DataFrame({"b": [1], "a": [2]}), pa.table({"b": [1], "a": [2]})):
        assert matrix_in_order(columns, "a", ANY_LABELS, ["a", "b"]).tolist() == [[2, 1]]
    unnamed = pl.DataFrame([[1], [2]])
    assert matrix_in_order(unnamed, "a", ANY_LABELS, ["a", "b"]).tolist() == [[1, 2]]
    array = np.eye(2)
    assert matrix_in_order(array, "a", LABELS, LABELS) is array


def test_other_names_are_refused() -> None:
    for wrong, said in (
        ({"yes": 1}, "1 missing, 0 unknown, 0 repeated"),
        ({"yes": 1, "no": 2, "maybe": 3}, "0 missing, 1 unknown, 0 repeated"),
    ):
        with pytest.raises(InvalidParameter, match=f"labels of p must be 'no', 'yes', each once: {said}"):
            in_order(pd.Series(wrong), "p", LABELS)
    with pytest.raises(InvalidParameter, match="1 missing, 0 unknown, 1 repeated"):
        in_order(pd.Series([1, 2], index=["no", "no"]), "p", LABELS)
    with pytest.raises(InvalidParameter, match="p must be without labels here.*to_numpy"):
        in_order(pd.Series({"yes": 1, "no": 2}), "p")
    with pytest.raises(InvalidParameter, match="p must be one-dimensional, and not a frame"):
        in_order(pd.DataFrame({"no": [1], "yes": [2]}), "p", LABELS)
    with pytest.raises(InvalidParameter, match="'0', '1', '2', '3', '4', '5', …, each once"):
        in_order(pd.Series({"x": 1}), "p", list("0123456"))
