"""Whatever the container: the same type, dtype, index and order come back, labels are looked up strictly, missing
values are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex

# At ε = 50 a report is the truth but for 1 in 10^21: what comes back must equal what went in.
TRUTH = 50
LABELS, VALUES = ["a", "b", "c"], ["c", "a", "b", "b"]
TEXT = ex.randomized_response(3, TRUTH, inputs=LABELS)
NUMBERED = ex.randomized_response(31, TRUTH)
NUMBERS = ex.randomized_response(3, TRUTH, inputs=[10, 20, 30])
SPREAD = ex.randomized_response(3, TRUTH, inputs=[-5, 7, 1 << 40])
TRUTHS = ex.randomized_response(2, TRUTH, inputs=[False, True])


def _plain(container: Any) -> list[Any]:
    return list(container.to_pylist() if hasattr(container, "to_pylist") else container)


def _same_back(m: ex.Mechanism, given: Any) -> None:
    reports = m.privatize(given)
    assert type(reports) is type(given)
    assert _plain(reports) == _plain(given)
    if hasattr(given, "dtype"):
        assert reports.dtype == given.dtype
    if hasattr(given, "type"):
        assert reports.type == given.type
    if hasattr(given, "name"):
        assert reports.name == given.name


@pytest.mark.parametrize(
    "given",
    [
        VALUES,
        np.array(VALUES),
        np.array(VALUES, dtype=object),
        np.array(VALUES, dtype=np.dtypes.StringDType()),
        pd.Series(VALUES, name="q"),
        pd.Series(VALUES, dtype=object),
        pd.Series(VALUES, dtype="string[python]"),
        pd.Series(VALUES, dtype="category"),
        pd.Series(VALUES, dtype=pd.CategoricalDtype(["c", "b", "a"])),
        pd.Series(VALUES, dtype=pd.ArrowDtype(pa.string())),
        pd.Index(VALUES, name="q"),
        pd.Categorical(VALUES),
        pl.Series("q", VALUES),
        pl.Series("q", VALUES, dtype=pl.Enum(["a", "b", "c"])),
        pa.array(VALUES),
        pa.array(VALUES, pa.large_string()),
        pa.array(VALUES, pa.string_view()),
        pa.array(VALUES).dictionary_encode(),
        pa.chunked_array([VALUES[:2], VALUES[2:]]),
        pa.chunked_array([VALUES[:2], VALUES[2:]]).dictionary_encode(),
    ],
    ids=lambda g: f"{type(g).__module__.partition('.')[0]} {getattr(g, 'dtype', getattr(g, 'type', ''))}"[:40],
)
def test_text(given: Any) -> None:
    _same_back(TEXT, given)


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        lambda v: np.array(v, dtype=object),
        pd.Series,
        lambda v: pd.Series(v, dtype="Int64"),
        lambda v: pd.Series(v, dtype="int64[pyarrow]"),
        pl.Series,
        pa.array,
        lambda v: pa.array(v).dictionary_encode(),
    ],
)
@pytest.mark.parametrize(("m", "values"), [(NUMBERED, [30, 0, 7]), (NUMBERS, [30, 10, 10]), (SPREAD, [1 << 40, -5, 7])])
def test_numbers(make: Any, m: ex.Mechanism, values: list[int]) -> None:
    _same_back(m, make(values))


@pytest.mark.parametrize("m", [NUMBERED, NUMBERS])
@pytest.mark.parametrize(
    "given",
    [
        np.array([30, 20], np.uint8),
        np.array([30, 20], np.int16),
        pd.Series([30, 20], dtype="Int8"),
        pd.Series([30, 20], dtype="uint16"),
        pl.Series([30, 20], dtype=pl.UInt8),
        pa.array([30, 20], pa.int8()),
    ],
)
def test_integers_come_back_with_64_bits(m: ex.Mechanism, given: Any) -> None:
    """How narrow they were may have been chosen by the largest value."""
    reports = m.privatize(given)
    assert _plain(reports) == _plain(given)
    assert str(getattr(reports, "dtype", getattr(reports, "type", None))).lower() == "int64"


@pytest.mark.parametrize("values", [[5, 6, 7], [5, 6, 299]])
@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.to_numeric(pd.Series(v), downcast="integer"),
        lambda v: pd.to_numeric(pd.Series(v, dtype="Int64"), downcast="unsigned"),
        lambda v: pd.to_numeric(pd.Series(v, dtype="int64[pyarrow]"), downcast="integer"),
        lambda v: pl.Series(v).shrink_dtype(),
        lambda v: np.array(v, dtype=np.min_scalar_type(max(v))),
        lambda v: pa.array(v, pa.int8() if max(v) < 128 else pa.int16()),
        lambda v: pa.array(v, pa.int8() if max(v) < 128 else pa.int16()).dictionary_encode(),
    ],
)
def test_the_width_of_reports_does_not_tell_the_largest_value(make: Any, values: list[int]) -> None:
    reports = ex.randomized_response(300, 0).privatize(make(values))
    kind = getattr(reports, "dtype", None) or reports.type
    assert "int64" in str(kind).lower()


def test_types_that_libraries_do_not_compare_are_looked_up_all_the_same() -> None:
    assert TEXT.privatize(pl.Series(VALUES, dtype=pl.Object)).to_list() == VALUES
    for odd in (pl.Series([object()], dtype=pl.Object), pa.array([bytes(16)], pa.uuid())):
        with pytest.raises(ex.errors.UnknownLabel, match=r"values\[0\]: a value of type .* that is no label"):
            TEXT.privatize(odd)


class Answers(pd.Series):  # type: ignore[misc]
    """A user's own kind of column, with a note about its values."""

    _metadata = ("counts",)

    @property
    def _constructor(self) -> Any:
        return Answers


class Column(pl.Series):
    """The same for polars."""


def test_columns_of_a_users_own_class_are_columns() -> None:
    given = Answers(VALUES, name="q")
    given.attrs["true"], given.counts = 1, {"b": 2}
    reports = TEXT.privatize(given)
    assert (type(reports), reports.tolist(), reports.name) == (pd.Series, VALUES, "q")
    assert not reports.attrs
    assert not hasattr(reports, "counts")
    assert TEXT.privatize(Column("q", VALUES)).to_list() == VALUES
    with pytest.raises(ex.errors.UnknownLabel, match=r"values\[1\]"):
        TEXT.privatize(Answers(["a", "x"]))


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        pd.Series,
        lambda v: pd.Series(v, dtype="boolean"),
        lambda v: pd.Series(v, dtype=object),
        pl.Series,
        pa.array,
    ],
)
def test_truth_values(make: Any) -> None:
    _same_back(TRUTHS, make([True, False, True]))


def test_one_value_and_zero_dimensions() -> None:
    assert TEXT.privatize("b") == "b"
    assert TEXT.privatize(np.str_("b")) == "b"
    assert TEXT.privatize(np.array("b")) == "b"
    assert NUMBERED.privatize(np.int8(3)) == 3


def test_the_order_of_categories_plays_no_part() -> None:
    """The codes of a categorical are not the codes of the labels, and categories that nobody has need not be labels."""
    given = pd.Series(VALUES, dtype=pd.CategoricalDtype(["zebra", "c", "b", "a"]))
    assert TEXT.privatize(given).tolist() == VALUES
    assert TEXT.privatize(pl.Series(VALUES, dtype=pl.Enum(["zebra", "c", "b", "a"]))).to_list() == VALUES


BLOCKS = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(TRUTH), inputs=LABELS, outputs=["x", "y"])
BLOCK_NUMBERS = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(TRUTH), inputs=LABELS)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pd.Series(LABELS, dtype="category"), "category"),
        (pd.Series(LABELS), "str"),
        (pl.Series(LABELS, dtype=pl.Enum(LABELS)), pl.Enum(["x", "y"])),
        (pl.Series(LABELS, dtype=pl.Categorical), pl.Enum(["x", "y"])),
        (pl.Series(LABELS), pl.String),
    ],
)
def test_other_outputs_get_a_dtype_that_holds_them(given: Any, kind: Any) -> None:
    reports = BLOCKS.privatize(given)
    assert _plain(reports) == ["x", "x", "y"]
    assert reports.dtype == kind
    assert _plain(BLOCK_NUMBERS.privatize(given)) == [0, 0, 1]


def test_other_outputs_in_arrow_and_numpy() -> None:
    encoded = BLOCKS.privatize(pa.array(LABELS).dictionary_encode())
    assert encoded.dictionary.to_pylist() == ["x", "y"]
    assert BLOCK_NUMBERS.privatize(pa.array(LABELS)).type == pa.int64()
    assert BLOCK_NUMBERS.privatize(np.array(LABELS)).dtype == np.int64
    assert BLOCK_NUMBERS.privatize(pd.Series(LABELS, dtype=object)).dtype == object
    wide = ex.Mechanism.from_partition([0, 1], ex.LDP(TRUTH), outputs=[0, 300])
    for narrow in (
        np.array([0, 1], np.int8),
        pl.Series([0, 1], dtype=pl.Int8),
        pa.array([0, 1], pa.int8()),
        pd.Series([0, 1], dtype="int8"),
    ):
        assert _plain(wide.privatize(narrow)) == [0, 300]
    yes = ex.Mechanism.from_partition([0, 1], ex.LDP(TRUTH), outputs=[False, True])
    assert yes.privatize(pl.Series([0, 1])).to_list() == [False, True]


def test_outputs_of_several_types() -> None:
    mixed = ex.Mechanism.from_partition([0, 1], ex.LDP(TRUTH), outputs=["none", 1])
    assert mixed.privatize([0, 1]) == ["none", 1]
    assert mixed.privatize(np.array([0, 1])).tolist() == ["none", 1]
    assert mixed.privatize(pd.Series([0, 1])).tolist() == ["none", 1]
    with pytest.raises(ex.errors.InvalidParameter, match="a typed column needs output labels of one type"):
        mixed.privatize(pl.Series([0, 1]))


MISSING = [
    ["b", None],
    ["b", float("nan")],
    np.array(["b", None], dtype=object),
    pd.Series(["b", None]),
    pd.Series(["b", pd.NA], dtype=object),
    pd.Series(["b", None], dtype="category"),
    pd.Series(["b", None], dtype=pd.ArrowDtype(pa.string())),
    pl.Series(["b", None]),
    pl.Series(["b", None], dtype=pl.Enum(["b"])),
    pa.array(["b", None]),
    pa.array(["b", None]).dictionary_encode(),
    pa.chunked_array([["b"], [None]]),
    pd.Series([pd.Timestamp(0), pd.NaT]),
    np.ma.masked_array(["b", "c"], mask=[False, True]),
    ["b", np.datetime64("NaT", "s")],
    pd.Index(["b", None]),
    np.array(["b", np.nan], dtype=object),
]


@pytest.mark.parametrize("given", MISSING)
def test_missing_values_are_named(given: Any) -> None:
    with pytest.raises(
        ex.errors.UnknownLabel,
        match=r"values\[1\] must not be missing; got values\[1\]=.* Drop or fill missing values first",
    ):
        TEXT.privatize(given)


ONE = ex.randomized_response(3, 1, inputs=["1", "b", "c"])


@pytest.mark.parametrize(
    "given",
    [
        ["b", 1],
        ["b", True],
        ["b", "b "],
        ["b", "B"],
        ["b", [1]],
        np.array(["b", "d"]),
        np.array(["b", 1], dtype=object),
        pd.Series(["b", "d"]),
        pd.Series(["b", "d"], dtype="category"),
        pd.Series(["b", True], dtype=object),
        pl.Series(["b", "d"]),
        pl.Series(["b", "d"], dtype=pl.Categorical),
        pl.Series(["b", "d"], dtype=pl.Enum(["b", "d"])),
        pa.array(["b", "d"]),
        pa.array(["b", "d"]).dictionary_encode(),
        pa.array(["b", "d"], pa.string_view()),
    ],
)
def test_values_that_are_no_labels_are_named(given: Any) -> None:
    with pytest.raises(
        ex.errors.UnknownLabel, match=r"^values\[1\]: a value of type \w+ that is no label\. Labels: "
    ) as found:
        ONE.privatize(given)
    assert found.value.value is None


@pytest.mark.parametrize(
    "given",
    [
        np.array([1]),
        np.array([1.0]),
        np.array([True]),
        pd.Series([1]),
        pd.Series([1.5]),
        pl.Series([1]),
        pl.Series([1.5]),
        pa.array([1]),
        pa.array([1.5]),
        pd.Series([1], dtype="Int64"),
        pl.Series([True]),
    ],
)
def test_a_column_of_another_type_is_refused(given: Any) -> None:
    with pytest.raises(
        ex.errors.UnknownLabel, match=r"values\[0\]: a value of type (int|float|bool) that.*Labels: '1', 'b', 'c'"
    ):
        ONE.privatize(given)


@pytest.mark.parametrize("m", [NUMBERED, NUMBERS, TRUTHS])
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_text_is_no_number(m: ex.Mechanism, make: Any) -> None:
    with pytest.raises(ex.errors.UnknownLabel, match=r"values\[0\]: a value of type str that is no label"):
        m.privatize(make(["1"]))


def test_true_is_not_one() -> None:
    for m, wrong in (
        (NUMBERED, [True]),
        (TRUTHS, [1]),
        (NUMBERS, [True]),
        (NUMBERED, np.array([True])),
        (TRUTHS, np.array([1])),
    ):
        with pytest.raises(ex.errors.UnknownLabel, match="a value of type (int|bool) that is no label"):
            m.privatize(wrong)


@pytest.mark.parametrize("wrong", [31, -1])
@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, pa.array, list])
def test_numbers_outside_are_named(make: Any, wrong: int) -> None:
    with pytest.raises(
        ex.errors.UnknownLabel, match=r"^values\[2\]: a value of type int that is no label\. Labels: 0, 1, "
    ):
        NUMBERED.privatize(make([0, 1, wrong]))
    with pytest.raises(ex.errors.UnknownLabel, match=r"values\[1\]: a value of type int that is no label"):
        NUMBERS.privatize(make([10, 11]))


def test_empty_columns_give_empty_columns() -> None:
    for empty in (
        [],
        np.array([], dtype="U1"),
        pd.Series([], dtype=str),
        pl.Series([], dtype=pl.String),
        pa.array([], pa.string()),
    ):
        reports = TEXT.privatize(empty)
        assert type(reports) is type(empty)
        assert len(reports) == 0


def test_two_dimensions_are_refused() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=r"values must be one-dimensional; got values.shape=\(2, 2\)"):
        NUMBERED.privatize(np.zeros((2, 2), dtype=int))


@pytest.mark.parametrize("frame", [pd.DataFrame({"q": ["a"]}), pl.DataFrame({"q": ["a"]}), pa.table({"q": ["a"]})])
def test_a_frame_is_sent_elsewhere(frame: Any) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter, match=r"a mechanism randomises one column.*Use ex.privatize\(frame, column"
    ):
        TEXT.privatize(frame)
