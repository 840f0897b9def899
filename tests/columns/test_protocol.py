"""Every container answers the same: codes and labels say what stood there, and a column filled from them says it
again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.columns import CONTAINERS, distinct, filled
from extremal.columns.column import container_of, refuse_missing
from extremal.columns.lists import MISSING
from extremal.mechanism.labels import Labels

WORDS, NUMBERS = ["b", "a", "b", "c"], [3, -2, 3, 300]
MAKERS: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {
    "list": ("list", list),
    "numpy": ("numpy", np.array),
    "numpy objects": ("numpy", lambda v: np.array(v, dtype=object)),
    "pandas": ("pandas", pd.Series),
    "pandas objects": ("pandas", lambda v: pd.Series(v, dtype=object)),
    "pandas nullable": ("pandas", lambda v: pd.Series(v).convert_dtypes()),
    "pandas arrow": ("pandas", lambda v: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(v)))),
    "pandas categories": ("pandas", lambda v: pd.Series(v, dtype="category")),
    "pandas index": ("pandas", pd.Index),
    "polars": ("polars", pl.Series),
    "pyarrow": ("pyarrow", pa.array),
    "pyarrow chunks": ("pyarrow", lambda v: pa.chunked_array([pa.array(v[:1]), pa.array(v[1:])])),
    "pyarrow dictionary": ("pyarrow", lambda v: pa.array(v).dictionary_encode()),
}


def plain(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("values", [WORDS, NUMBERS, [True, False, True, True], [10**12, 5, 10**12, -(10**15)]])
def test_codes_and_labels_say_what_stood_there(name: str, values: list[Any]) -> None:
    package, make = MAKERS[name]
    column = make(values)
    assert container_of(column) is CONTAINERS[package]
    codes, labels = distinct(column, "x")
    assert [labels[code] for code in codes.tolist()] == values
    assert {type(labels[code]) for code in codes.tolist()} == {type(values[0])}


@pytest.mark.parametrize("name", MAKERS)
def test_integers_are_given_as_they_are(name: str) -> None:
    package, make = MAKERS[name]
    found = CONTAINERS[package].integers(make(NUMBERS))
    if found is not None:
        assert found.tolist() == NUMBERS
        assert found.dtype.kind in "iu"
    assert CONTAINERS[package].integers(make(WORDS)) is None
    assert CONTAINERS[package].integers(make([True, False])) is None


GAPS = {
    "list": [1, None, 2],
    "list of floats": [1.0, float("nan"), 2.0],
    "masked": np.ma.masked_array([1, 9, 2], mask=[False, True, False]),
    "pandas": pd.Series([1, None, 2], dtype="Int64"),
    "pandas booleans": pd.Series([True, None, False], dtype="boolean"),
    "pandas objects": pd.Series(["a", pd.NA, "b"], dtype=object),
    "pandas dates": pd.Series([pd.Timestamp(0), pd.NaT, pd.Timestamp(1)]),
    "pandas categories": pd.Series(["a", None, "b"], dtype="category"),
    "polars": pl.Series([1, None, 2]),
    "polars text": pl.Series(["a", None, "b"]),
    "polars categories": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "polars floats": pl.Series([1.0, float("nan"), 2.0]),
    "polars sets": pl.Series([["a"], None, ["b"]]),
    "pyarrow": pa.array([1, None, 2]),
    "pyarrow booleans": pa.array([True, None, False]),
    "pyarrow text": pa.array(["a", None, "b"]),
    "pyarrow sets": pa.array([["a"], None, ["b"]]),
    "pyarrow dictionary": pa.array(["a", None, "b"]).dictionary_encode(),
    "null in a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"])),
    "unsigned dictionary": pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.uint32()), pa.array(["a", "b"])),
}


@pytest.mark.parametrize("name", GAPS)
def test_what_is_missing_has_no_label(name: str) -> None:
    codes, labels = distinct(GAPS[name], "x")
    assert codes[1] == MISSING
    assert (codes[[0, 2]] >= 0).all()
    assert labels[int(codes[0])] != labels[int(codes[2])]
    container = container_of(GAPS[name])
    assert container is not None
    assert container.integers(GAPS[name]) is None
    with pytest.raises(ex.errors.InvalidParameter, match=r"x\[1\] must not be missing; got x\[1\]=None. Why not\?"):
        refuse_missing(codes, "x", "Why not?")


def test_labels_of_several_types_stay_apart() -> None:
    codes, labels = distinct([1, True, "1", 1, [1, 2], (1, 2)], "x")
    assert codes.tolist() == [0, 1, 2, 0, 3, 3]
    assert [type(label) for label in labels] == [int, bool, str, tuple]
    with pytest.raises(ex.errors.InvalidLabel, match=r"labels must be str, int, bool or tuples of them; got x='dict'"):
        distinct(["a", {"secret": 1}], "x")


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("labels", [["b", "a", "c"], [3, -2, 300], [True, False]], ids=str)
def test_a_column_filled_from_codes_says_it_again(name: str, labels: list[Any]) -> None:
    codes = np.array([1, 1, 0, len(labels) - 1])
    like = MAKERS[name][1]([labels[0], labels[1], labels[-1], labels[0]])
    made = filled(codes, Labels(labels), like)
    assert type(made) is type(like)
    assert plain(made) == [labels[code] for code in codes]
    assert getattr(made, "dtype", None) == getattr(like, "dtype", None)


SETS = [("a", "b"), ("c",), ("b", "a", "c")]


@pytest.mark.parametrize("name", MAKERS)
def test_sets_of_labels(name: str) -> None:
    """Listed (tuples as labels), or as rows of members."""
    like = MAKERS[name][1](["a", "b", "a"])
    listed = filled(np.array([2, 0, 1]), Labels(SETS, tuples=True), like)
    assert [tuple(one) for one in plain(listed)] == [SETS[2], SETS[0], SETS[1]]
    rows = filled(np.array([[0, 2], [1, 2], [0, 1]]), Labels(["a", "b", "c"]), like)
    pairs = [("a", "c"), ("b", "c"), ("a", "b")]
    assert [tuple(one) for one in plain(rows)] == pairs
    for made, expected in ((listed, [SETS[2], SETS[0], SETS[1]]), (rows, pairs)):
        codes, labels = distinct(made, "x")
        assert [labels[code] for code in codes.tolist()] == expected
    empty = filled(np.zeros((0, 2), dtype=np.int64), Labels(["a", "b", "c"]), like[:0])
    assert len(empty) == 0
    if "type" in dir(like):
        assert empty.type == rows.type == listed.type


@given(st.lists(st.integers(-(2**70), 2**70) | st.integers(-3, 3)))
def test_integers_of_any_size_in_a_list(values: list[int]) -> None:
    codes, labels = distinct(values, "x")
    assert [labels[code] for code in codes.tolist()] == values


@given(st.data(), st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.uint64]))
def test_integers_of_any_type_in_an_array(data: st.DataObject, kind: type) -> None:
    """The edges of a type too: differences must not overflow."""
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    near = st.integers(least, min(most, least + 9)) | st.integers(max(least, most - 9), most) | st.integers(0, 9)
    values = data.draw(st.lists(near, min_size=1))
    codes, labels = distinct(np.array(values, dtype=kind), "x")
    assert [labels[code] for code in codes.tolist()] == values
    top = [most - v % 5 for v in range(len(values))]
    codes, labels = distinct(np.array(top, dtype=kind), "x")
    assert [labels[code] for code in codes.tolist()] == top


def test_what_is_no_column() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="like must be a column; got like='int'"):
        filled(np.array([0]), Labels(["a"]), 3)
    with pytest.raises(ex.errors.InvalidParameter, match="x must be a sequence"):
        distinct("abc", "x")
    with pytest.raises(ex.errors.InvalidParameter, match="x must be one column"):
        distinct(pl.DataFrame({"a": [1]}), "x")
    assert container_of((1, 2)) is None
    assert distinct((1, 2), "x")[0].tolist() == [0, 1]
