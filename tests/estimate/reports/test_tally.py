"""Every container counts the same, and bad reports are refused with the reason."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex
from extremal.columns import distinct

WORDS = ["b", "a", "c", "a", "a", "b", "c", "a"] * 5
NUMBERS = [{"a": 0, "b": 1, "c": 2}[word] for word in WORDS]
M_WORDS = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
M_NUMBERS = ex.randomized_response(3, 1)

CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "numpy": np.array,
    "numpy object": lambda v: np.array(v, dtype=object),
    "pandas": pd.Series,
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas nullable": lambda v: pd.Series(v).convert_dtypes(),
    "pandas categorical": lambda v: pd.Series(v, dtype="category"),
    "pandas Categorical": pd.Categorical,
    "pandas index": pd.Index,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda v: pa.chunked_array([pa.array(v[:7]), pa.array(v[7:])]),
    "pyarrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "pyarrow dictionaries": lambda v: pa.chunked_array(
        [pa.array(v[:7]).dictionary_encode(), pa.array(v[7:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize(("values", "m"), [(WORDS, M_WORDS), (NUMBERS, M_NUMBERS)], ids=["str", "int"])
def test_every_container_counts_the_same(name: str, values: list[Any], m: ex.Mechanism) -> None:
    counts = {label: values.count(label) for label in m.outputs}
    expected = ex.estimate_frequencies(counts, m)
    result = ex.estimate_frequencies(CONTAINERS[name](values), m)
    assert result.n == expected.n == 40
    assert result.estimate.tolist() == expected.estimate.tolist()
    assert result.fit.observed.statistic.tolist() == expected.fit.observed.statistic.tolist()


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["z", "c", "b", "a"])])
def test_polars_categories(dtype: Any) -> None:
    series = pl.Series(WORDS, dtype=dtype)
    assert ex.estimate_frequencies(series, M_WORDS).fit.observed.statistic.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_data_frames_with_weights_and_strata(make: Callable[[Any], Any]) -> None:
    frame = make({"answer": WORDS, "w": [1.0, 2.0] * 20, "region": ["n", "s"] * 20, "year": [1, 1, 2, 2] * 10})
    result = ex.estimate_frequencies(frame, M_WORDS, column="answer", weights="w", by=["region", "year"])
    assert set(result) == {("n", 1), ("n", 2), ("s", 1), ("s", 2)}
    alone = ex.estimate_frequencies(WORDS[1::2], M_WORDS, weights=np.full(20, 2.0), by=np.array([1, 2] * 10))
    assert result["s", 2].estimate.tolist() == alone[2].estimate.tolist()
    assert list(result.to_frame().columns[:3]) == ["stratum_1", "stratum_2", "input"]
    one = ex.estimate_frequencies(frame, M_WORDS, column="answer", by="region")
    assert one["n"].n == one["s"].n == 20
    with pytest.raises(ex.errors.InvalidParameter, match="a data frame needs the name of the column"):
        ex.estimate_frequencies(frame, M_WORDS)
    with pytest.raises(
        ex.errors.InvalidParameter,
        match="column must be the name of a column; got column='answr'. Did you mean 'answer'?",
    ):
        ex.estimate_frequencies(frame, M_WORDS, column="answr")
    with pytest.raises(
        ex.errors.InvalidParameter, match="by must be the name of a column; got by='zzz'. Columns: 'answer'"
    ):
        ex.estimate_frequencies(frame, M_WORDS, column="answer", by="zzz")


def test_labels_are_strict() -> None:
    booleans = ex.randomized_response(2, 1, inputs=[False, True])
    assert ex.estimate_frequencies(np.array([True, False, True]), booleans).n == 3
    assert ex.estimate_frequencies(pd.Series([True, False]), booleans).n == 2
    assert ex.estimate_frequencies(pl.Series([True, False]), booleans).n == 2
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type int that is no label"):
        ex.estimate_frequencies([True, 1], booleans)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type bool that is no label"):
        ex.estimate_frequencies([1, True], M_NUMBERS)
    with pytest.raises(
        ex.errors.UnknownLabel, match="a value of type str .*Were these reports made by another mechanism?"
    ):
        ex.estimate_frequencies(["1"], M_NUMBERS)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type str that is no label. Labels: 'a'"):
        ex.estimate_frequencies(["a", "a "], M_WORDS)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type float"):
        ex.estimate_frequencies(np.array([1.0, 2.0]), M_NUMBERS)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type int"):
        ex.estimate_frequencies(np.array([0, -1]), M_NUMBERS)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type int"):
        ex.estimate_frequencies(np.array([0, 3]), M_NUMBERS)
    with pytest.raises(ex.errors.UnknownLabel, match="a value of type int that is no label"):
        ex.estimate_frequencies(np.array([0, 9_000_000_000]), M_NUMBERS)


def test_labels_far_from_zero() -> None:
    m = ex.randomized_response(2, 1, inputs=[-5, 10**12])
    assert ex.estimate_frequencies(np.array([-5, 10**12, -5]), m).fit.observed.statistic[0] == pytest.approx(2 / 3)
    years = ex.randomized_response(2, 1, inputs=[2001, 2002])
    assert ex.estimate_frequencies(np.array([2001, 2002, 2001]), years).n == 3
    low = ex.randomized_response(2, 1, inputs=[-2, -1])
    assert ex.estimate_frequencies(np.array([-2, -1, -1], dtype=np.int8), low).fit.observed.statistic[
        1
    ] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "reports",
    [
        ["a", None],
        ["a", float("nan")],
        np.array(["a", None], dtype=object),
        pd.Series(["a", None]),
        pd.Series(["a", pd.NA], dtype=object),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pa.array(["a", None]),
    ],
    ids=["None", "nan", "numpy", "pandas", "NA", "category", "polars", "pyarrow"],
)
def test_missing_reports_are_refused(reports: Any) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"reports\[1\] must not be missing; .* Leave out those who did not",
    ):
        ex.estimate_frequencies(reports, M_WORDS)


def test_what_is_no_sequence_of_reports() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="reports must be a sequence"):
        ex.estimate_frequencies(3, M_NUMBERS)
    with pytest.raises(ex.errors.InvalidParameter, match="reports must be a sequence"):
        ex.estimate_frequencies(b"ab", M_NUMBERS)
    with pytest.raises(
        ex.errors.InvalidParameter, match="reports must be one-dimensional; got reports.shape=\\(2, 2\\)"
    ):
        ex.estimate_frequencies(np.zeros((2, 2), dtype=int), M_NUMBERS)
    with pytest.raises(ex.errors.InvalidParameter, match="labels must be str, int, bool or tuples"):
        ex.estimate_frequencies([{"a": 1}, {"a": 1}], M_NUMBERS)
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"reports must be in memory; got .*polars LazyFrame'. Collect it once first: frame.collect\(\)",
    ):
        ex.estimate_frequencies(pl.LazyFrame({"a": [1]}), M_NUMBERS, column="a", by="a")
    with pytest.raises(
        ex.errors.InvalidParameter, match="by may be a name only for data frames and files; got by='region'"
    ):
        ex.estimate_frequencies([0, 1], M_NUMBERS, by="region")
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])
    with pytest.raises(ex.errors.InvalidParameter, match="the name of one column, not of several"):
        ex.estimate_frequencies(frame, M_NUMBERS, column="a")
    with pytest.raises(ex.errors.InvalidParameter, match="reports must be one column"):
        distinct(frame, "reports")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 0.0], "finite and positive; got weights\\[1\\]=0.0. A respondent that does not count"),
        ([-1.0, 1.0], "finite and positive; got weights\\[0\\]=-1.0"),
        ([1.0, float("nan")], "finite and positive; got weights\\[1\\]=nan"),
        ([1.0], "weights must have 2 entries, one for each report; got weights.shape=\\(1,\\)"),
        (["x", "y"], "weights must be numbers"),
        ([1e-308, 1e-308], "weights must lie between 1e-100 and 1e\\+100; got weights\\[0\\]=1e-308"),
        ([1.0, 1e308], "weights must lie between .* Divide them all by their mean"),
    ],
)
def test_bad_weights(weights: list[Any], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.estimate_frequencies([0, 1], M_NUMBERS, weights=weights)


AMOUNTS = {
    "list": list,
    "numpy": np.array,
    "pandas": pd.Series,
    "objects": lambda values: pd.Series(values, dtype=object),
    "polars": pl.Series,
    "pyarrow": pa.array,
}
SHARED = {"weights": [1.0, 2.0] * 30}


@pytest.mark.parametrize("container", AMOUNTS.values(), ids=AMOUNTS)
@pytest.mark.parametrize(
    ("wrong", "advice"), [("1", "'str'. Text must be converted first"), (True, "'bool.*'. Leave out the rows that do")]
)
def test_text_and_truth_values_are_no_amounts(container: Any, wrong: Any, advice: str) -> None:
    reports, given = [0, 1, 1] * 20, container([wrong] * 60)
    frame = {"r": reports, "w": given}
    for name, call in {
        "weights": lambda: ex.estimate_frequencies(reports, M_NUMBERS, weights=given),
        "weights ": lambda: ex.estimate_crosstab(frame, {"r": M_NUMBERS, "w": None}, weights="w"),
        "counts": lambda: ex.estimate_frequencies(
            pd.DataFrame({"r": reports, "n": np.asarray(given)}), M_NUMBERS, column="r", counts="n"
        ),
        "replicate_weights": lambda: ex.estimate_frequencies(
            pd.DataFrame(frame | {"one": 1.0}),
            M_NUMBERS,
            column="r",
            sample=ex.Sample(**SHARED, replicate_weights={"brr": ["one", "w"]}),
        ),
    }.items():
        with pytest.raises(
            ex.errors.InvalidParameter, match=f"{name.strip()} must be .*numbers; got type of .*{advice}"
        ):
            call()


def test_amounts_of_one_type_only() -> None:
    """NumPy makes numbers of [True, 2.5]."""
    with pytest.raises(ex.errors.InvalidParameter, match="weights must be numbers; got type of weights='bool'"):
        ex.estimate_frequencies([0, 1], M_NUMBERS, weights=[True, 2.5])
    with pytest.raises(ex.errors.InvalidParameter, match="counts must be whole numbers; got type of counts='bool'"):
        ex.estimate_frequencies([True, 5, 7], M_NUMBERS, counts=True)
    for one in (pd.Series([1, None], dtype="Float64"), [1, None], pl.Series([1, None]), pa.array([1, None])):
        with pytest.raises(ex.errors.InvalidParameter, match=r"finite and positive; got weights\[1\]=nan"):
            ex.estimate_frequencies([0, 1], M_NUMBERS, weights=one)


def test_bad_strata() -> None:
    with pytest.raises(
        ex.errors.InvalidParameter, match="by must have 3 entries, one for each report; got len\\(by\\)=2"
    ):
        ex.estimate_frequencies([0, 1, 2], M_NUMBERS, by=[1, 2])
    with pytest.raises(ex.errors.InvalidParameter, match=r"by\[1\] must not be missing"):
        ex.estimate_frequencies([0, 1], M_NUMBERS, by=["a", None])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"a": 1.5}, "counts must be whole and not negative; got counts\\[0\\]=1.5"),
        ({"a": -1}, "counts must be whole and not negative"),
        ({"z": 1}, "a value of type str that is no label"),
        ({"a": True}, "counts must be whole"),
    ],
)
def test_bad_counts(counts: dict[str, Any], message: str) -> None:
    with pytest.raises(ex.ExtremalError, match=message):
        ex.estimate_frequencies(counts, M_WORDS)


def test_counts_in_order() -> None:
    assert ex.estimate_frequencies([5, 3, 2], M_WORDS, counts=True).fit.observed.statistic.tolist() == [0.5, 0.3, 0.2]
    with pytest.raises(
        ex.errors.InvalidParameter, match="counts must have 3 entries, one for each output; got len\\(reports\\)=2"
    ):
        ex.estimate_frequencies([5, 3], M_WORDS, counts=True)
    with pytest.raises(ex.errors.InvalidParameter, match="counts can have neither weights nor strata"):
        ex.estimate_frequencies([5, 3, 2], M_WORDS, counts=True, by=[1, 2, 3])


def test_tuples_are_labels_too() -> None:
    """Outputs that are sets, in every container that can hold them."""
    outputs = [("a", "b"), ("a", "c"), ("b", "c")]
    m = ex.Mechanism.from_matrix(
        [[0.4, 0.4, 0.2], [0.4, 0.2, 0.4], [0.2, 0.4, 0.4]], inputs=["a", "b", "c"], outputs=outputs
    )
    reports = [outputs[0]] * 3 + [outputs[2]] * 5
    lists = [list(r) for r in reports]
    expected = ex.estimate_frequencies(reports, m).fit.observed.statistic.tolist()
    assert expected == [3 / 8, 0, 5 / 8]
    for container in (lists, pd.Series(reports), pl.Series(lists), pa.array(lists)):
        assert ex.estimate_frequencies(container, m).fit.observed.statistic.tolist() == expected


def test_an_empty_arrow_column_has_no_reports() -> None:
    for empty in (
        pa.chunked_array([], pa.string()),
        pa.array([], pa.string()),
        pl.Series([], dtype=pl.String),
        pd.Series([], dtype="str"),
    ):
        with pytest.raises(ex.errors.InvalidParameter, match="there must be at least one report"):
            ex.estimate_frequencies(empty, M_WORDS)


def test_groups_that_name_nothing_are_refused() -> None:
    frame = pd.DataFrame({"answer": WORDS})
    with pytest.raises(ex.errors.InvalidParameter, match="by must name a column"):
        ex.estimate_frequencies(frame, M_WORDS, column="answer", by=[])


def test_categories_that_do_not_occur_are_no_groups() -> None:
    groups = pd.Categorical(["n", "s"] * 20, categories=["w", "s", "e", "n"])
    found = ex.estimate_frequencies(WORDS, M_WORDS, by=groups)
    assert list(found) == ["s", "n"]
    assert found["n"].estimate.tolist() == ex.estimate_frequencies(WORDS[::2], M_WORDS).estimate.tolist()
