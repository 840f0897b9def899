"""Data frames: named columns change, everything else stays; lazy frames and unclear requests are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex

M = ex.randomized_response(2, 1, inputs=["no", "yes"])
SURE = ex.randomized_response(2, 50, inputs=["no", "yes"])
AGE = ex.randomized_response(3, 1, inputs=[20, 30, 40])
N = 2000
DATA = {
    "id": list(range(N)),
    "answer": ["no", "yes"] * (N // 2),
    "age": [20, 30, 30, 40] * (N // 4),
    "text": [f"row {i}" for i in range(N)],
}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def _column(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


@pytest.mark.parametrize("kind", MAKERS)
def test_one_column(kind: str) -> None:
    frame = MAKERS[kind](DATA)
    released = ex.privatize(frame, column="answer", mechanism=M)
    assert type(released) is type(frame)
    names = released.column_names if kind == "pyarrow" else list(released.columns)
    assert names == list(DATA)
    for other in ("id", "age", "text"):
        assert _column(released, other) == DATA[other]
    changed = np.mean([a != b for a, b in zip(_column(released, "answer"), DATA["answer"], strict=True)])
    assert abs(changed - M.matrix[0, 1]) < 0.06  # 2,000 draws: 5.9 standard deviations
    assert _column(frame, "answer") == DATA["answer"]


@pytest.mark.parametrize("kind", MAKERS)
def test_several_columns(kind: str) -> None:
    frame = MAKERS[kind](DATA)
    released = ex.privatize(frame, {"answer": M, "age": AGE})
    assert _column(released, "text") == DATA["text"]
    assert _column(released, "age") != DATA["age"]
    assert _column(released, "answer") != DATA["answer"]
    assert set(_column(released, "age")) == {20, 30, 40}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_mechanism_that_tells_the_truth_changes_nothing(kind: str) -> None:
    frame = MAKERS[kind](DATA)
    assert ex.privatize(frame, column="answer", mechanism=SURE).equals(frame)


def test_index_order_and_dtypes_stay() -> None:
    frame = pd.DataFrame(
        {
            "answer": pd.Categorical(["yes", "no", "yes"], categories=["no", "yes"]),
            "x": [1.5, np.nan, 2.0],
        },
        index=[7, 7, 2],
    )
    released = ex.privatize(frame, column="answer", mechanism=SURE)
    pd.testing.assert_frame_equal(released, frame)
    coloured = pl.DataFrame(
        {"answer": ["yes", "no"], "x": [None, 1]}, schema_overrides={"answer": pl.Enum(["no", "yes"])}
    )
    assert ex.privatize(coloured, column="answer", mechanism=SURE).equals(coloured)
    assert ex.privatize(coloured, column="answer", mechanism=SURE).schema == coloured.schema


def test_columns_that_are_not_strings() -> None:
    frame = pd.DataFrame({0: ["no"], 1: ["yes"]})
    assert ex.privatize(frame, column=1, mechanism=SURE).equals(frame)


@pytest.mark.parametrize("kind", MAKERS)
def test_empty_frames_stay_empty(kind: str) -> None:
    frame = {
        "pandas": pd.DataFrame({"answer": pd.Series([], dtype=str)}),
        "polars": pl.DataFrame(schema={"answer": pl.String}),
        "pyarrow": pa.table({"answer": pa.array([], pa.string())}),
    }[kind]
    assert len(ex.privatize(frame, column="answer", mechanism=M)) == 0


@pytest.mark.parametrize("kind", MAKERS)
def test_an_absent_column_is_named(kind: str) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"column must be the name of a column; got column='anser'. Did you mean 'answer'\? Columns: 'id'",
    ):
        ex.privatize(MAKERS[kind](DATA), column="anser", mechanism=M)


def test_repeated_columns_are_refused() -> None:
    frame = pd.DataFrame([["no", "no", 1]], columns=["answer", "answer", "x"])
    with pytest.raises(
        ex.errors.InvalidParameter, match="the name of one column, not of several: 'answer' appears 2 times"
    ):
        ex.privatize(frame, column="answer", mechanism=M)
    with pytest.raises(ex.errors.InvalidParameter, match=r"column names must be unique; got frame=\['answer'\]"):
        ex.privatize(frame, column="x", mechanism=M)


@pytest.mark.parametrize("kind", MAKERS)
def test_errors_name_column_and_row(kind: str) -> None:
    frame = MAKERS[kind]({"answer": ["no", "maybe"]})
    with pytest.raises(
        ex.errors.UnknownLabel,
        match=r"answer\[1\]: a value of type str that is no label\. Labels: 'no', 'yes'\. ex\.show",
    ):
        ex.privatize(frame, column="answer", mechanism=M)


def test_a_bad_second_column_releases_nothing() -> None:
    frame = pd.DataFrame({"answer": ["no"], "age": [99]})
    with pytest.raises(ex.errors.UnknownLabel, match=r"age\[0\]"):
        ex.privatize(frame, {"answer": M, "age": AGE})
    assert frame["answer"].tolist() == ["no"]


def _foreign(module: str, name: str) -> Any:
    return type(name, (), {"__module__": module})()


@pytest.mark.parametrize(
    ("lazy", "shown", "way_out"),
    [
        (pl.LazyFrame({"answer": ["no"]}), "polars LazyFrame", r"frame\.collect\(\)"),
        (_foreign("_duckdb", "DuckDBPyRelation"), "duckdb DuckDBPyRelation", r"relation\.arrow\(\)"),
        (_foreign("pyspark.sql.dataframe", "DataFrame"), "pyspark DataFrame", r"toPandas\(\)"),
        (_foreign("ibis.expr.types", "Table"), "ibis Table", r"to_pyarrow\(\)"),
    ],
)
def test_lazy_frames_are_refused_with_the_reason_and_the_way_out(lazy: Any, shown: str, way_out: str) -> None:
    message = (
        rf"evaluated twice it would make two reports about the same person; got frame='{shown}'\. Collect it "
        rf"once.*{way_out}"
    )
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.privatize(lazy, column="answer", mechanism=M)


def test_lazy_expressions_are_refused_as_values() -> None:
    for lazy in (pl.col("answer"), pl.LazyFrame({"answer": ["no"]})):
        with pytest.raises(ex.errors.InvalidParameter, match="without row_id= a lazy frame cannot be randomised"):
            M.privatize(lazy)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"column": "answer"}, {"mechanism": M}, {"columns": {"answer": M}, "column": "answer", "mechanism": M}],
)
def test_unclear_requests_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="say which column gets which mechanism, once"):
        ex.privatize(pd.DataFrame(DATA), **arguments)


def test_other_mistakes() -> None:
    frame = pd.DataFrame(DATA)
    with pytest.raises(ex.errors.InvalidParameter, match="at least one column must be named"):
        ex.privatize(frame, {})
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"a column needs a Mechanism; got columns\['answer'\]='m.json'. Load files with ex.load",
    ):
        ex.privatize(frame, {"answer": "m.json"})  # type: ignore[dict-item]
    with pytest.raises(ex.errors.InvalidParameter, match="a release takes no seed"):
        ex.privatize(frame, column="answer", mechanism=M, seed=1)
    with pytest.raises(ex.errors.InvalidParameter, match="frame must be an eager data frame .*got frame='list'"):
        ex.privatize(["no"], column="answer", mechanism=M)
    with pytest.raises(ex.errors.InvalidParameter, match=r"hint|mechanism.privatize\(values\)"):
        ex.privatize(pd.Series(["no"]), column="answer", mechanism=M)


@pytest.mark.parametrize("kind", [list, np.array, *MAKERS])
@pytest.mark.parametrize("k", [256, 257, 65_537])
def test_members_of_sets_fit_their_integers(kind: Any, k: int) -> None:
    """Sets are drawn into integers of 8, 16 and 32 bits; at ε = 50 each holds the truth."""
    m = ex.subset_selection(k, 50, size=2)
    truth = [0, 1, k // 2, k - 2, k - 1]
    if kind in (list, np.array):
        reports = list(m.privatize(kind(truth)))
    else:
        reports = _column(ex.privatize(MAKERS[kind]({"x": truth}), column="x", mechanism=m), "x")
    for x, report in zip(truth, reports, strict=True):
        first, second = report
        assert x in (first, second)
        assert 0 <= first < second < k


def test_more_members_than_an_arrow_column_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extremal.columns.arrow.MOST_MEMBERS", 6)
    m = ex.subset_selection(5, 1, size=2)
    assert len(m.privatize(pa.array([1, 2, 3]))) == 3
    with pytest.raises(ex.errors.TooLarge, match=r"at most 6 labels.*Release fewer rows"):
        m.privatize(pa.array([1, 2, 3, 4]))
