"""Files have one text for a number, and each object its fields."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extremal.errors import MalformedFile
from extremal.exact import Exponential, decimal_text
from extremal.exact.written import refuse_other_fields, written_double, written_fraction

OTHER_TEXTS = [
    "1_0",
    " 1",
    "1 ",
    "+1",
    "-0",
    "01",
    "1.0",
    "1.",
    ".5",
    "1e3",
    "٣",
    "",
    "nan",
    "inf",
    "--1",
    "1\n",
    "0x1",
]


@given(st.fractions())
def test_a_rational_has_one_text(number: Any) -> None:
    assert written_fraction(decimal_text(number), "epsilon") == number


@pytest.mark.parametrize(
    "text", [*OTHER_TEXTS, "2/4", "1/2", "3/1", "0/3", "1/0", "-1/-3", "1/3/5", "1" * 1001, "9" * 500]
)
def test_other_texts_of_a_rational_are_malformed(text: str) -> None:
    with pytest.raises(MalformedFile, match="in its shortest form"):
        written_fraction(text, "epsilon")


@pytest.mark.parametrize("value", [1, 0.5, None, True, ["1"]])
def test_a_rational_is_a_text(value: Any) -> None:
    with pytest.raises(MalformedFile, match="in its shortest form"):
        written_fraction(value, "epsilon")


@given(st.floats(allow_nan=False))
def test_a_double_has_one_text(number: float) -> None:
    assert repr(written_double(repr(number), "value")) == repr(number)


@pytest.mark.parametrize(
    "text",
    ["0.2499999999999999999999", "0.250", "1", "1_0.5", " 0.25", "٠.٢٥", "nan", "Infinity", "1e5", "0x1p3", "", "x", 1],
)
def test_other_texts_of_a_double_are_malformed(text: Any) -> None:
    with pytest.raises(MalformedFile, match="a double as it prints"):
        written_double(text, "value")


def test_an_object_has_its_fields() -> None:
    refuse_other_fields({"a": 1, "b": 2}, ("b", "a"), "it")
    for content, parameter in (({"a": 1}, "missing"), ({"a": 1, "b": 2, "c": 3}, "unexpected"), ([1], "type")):
        with pytest.raises(MalformedFile, match=parameter):
            refuse_other_fields(content, ("a", "b"), "it")


def test_a_level_is_one_of_the_two() -> None:
    for level in (Exponential("0.1"), Exponential.of_ratio("10/3"), Exponential(0)):
        assert Exponential.from_json(level.to_json()) == level
