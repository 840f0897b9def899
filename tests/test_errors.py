"""Errors carry the requirement, the parameter, the value and the fix, in the sentence and as attributes."""

import extremal as ex
from extremal.errors import ExtremalError, MissingDependency


def test_message_and_attributes() -> None:
    error = ex.errors.InvalidParameter("epsilon must not be negative", parameter="epsilon", value=-1, hint="Give nats.")
    assert str(error) == "epsilon must not be negative; got epsilon=-1. Give nats."
    assert (error.parameter, error.value, error.hint) == ("epsilon", -1, "Give nats.")
    assert isinstance(error, ValueError)


def test_long_values_are_cut_and_absent_ones_left_out() -> None:
    assert len(str(ExtremalError("must be short", parameter="x", value="a" * 500))) < 160
    assert str(ExtremalError("all wrong")) == "all wrong."
    assert str(ExtremalError("all wrong", value=3)) == "all wrong; got 3."
    assert isinstance(MissingDependency("needs polars"), ImportError)


def test_a_number_of_many_digits_is_shown_by_its_size() -> None:
    error = ExtremalError("too many", parameter="m", value=1 << 20_000)
    assert str(error) == "too many; got m=a number of 20001 bits."
