"""What respondents said is not in errors, until somebody asks for it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex
from extremal.release.files import privatize_file
from extremal.release.sampling.sampler import sample_codes
from extremal.release.transformer import Privatizer

M = ex.randomized_response(2, 1, inputs=["no", "yes"])
SECRET = "HIV positive"


@pytest.fixture
def shown() -> Iterator[None]:
    ex.show_values(True)
    yield
    ex.show_values(False)


def attempts(folder: Path) -> list[Any]:
    values = ["no", SECRET]
    (folder / "in.csv").write_text(f"x\nno\n{SECRET}\n")
    pl.DataFrame({"x": values}).write_parquet(folder / "in.parquet")
    return [
        lambda: M.privatize(SECRET),
        *(lambda make=make: M.privatize(make(values)) for make in (list, np.array, pd.Series, pl.Series, pa.array)),
        lambda: M.privatize(pd.Series(values, dtype="category")),
        lambda: ex.privatize(pd.DataFrame({"x": values}), column="x", mechanism=M),
        lambda: Privatizer(M).fit_transform(np.array([["no"], [SECRET]])),
        lambda: privatize_file(folder / "in.csv", folder / "out.csv", {"x": M}),
        lambda: privatize_file(folder / "in.parquet", folder / "out.parquet", {"x": M}),
        lambda: ex.estimate_frequencies(values, M),
        lambda: ex.subset_selection(30, 1, size=9, inputs=["no", *map(str, range(29))]).privatize(values),
    ]


def test_errors_say_where_and_of_what_kind(tmp_path: Path) -> None:
    for attempt in attempts(tmp_path):
        with pytest.raises(ex.errors.UnknownLabel, match="a value of type str that is no label") as found:
            attempt()
        assert SECRET not in repr(vars(found.value)) + str(found.value)
        assert "HIV" not in str(found.value.__cause__)


@pytest.mark.usefixtures("shown")
def test_they_are_shown_when_asked_for(tmp_path: Path) -> None:
    for attempt in attempts(tmp_path):
        with pytest.raises(ex.errors.UnknownLabel, match=f"='{SECRET}'") as found:
            attempt()
        assert found.value.value == SECRET


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize(
    ("labels", "given", "hint"),
    [
        (["no", "yes"], "No", "Did you mean 'no'?"),
        (["no", "yes"], "yes ", "Did you mean 'yes'?"),
        ([10, 20], "10", "Did you mean 10?"),
        (["café", "tea"], "cafe\u0301", "Did you mean 'café' (the same characters, written in another way)?"),
        (["never", "often"], "offen", "Did you mean 'often'?"),
    ],
)
def test_the_label_that_was_meant(labels: list[Any], given: Any, hint: str) -> None:
    with pytest.raises(ex.errors.UnknownLabel) as found:
        ex.randomized_response(2, 1, inputs=labels).privatize([given])
    assert hint in str(found.value)


def test_numbers_that_are_no_codes() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=r"codes\[0\] must lie in 0\.\.1\.$"):
        sample_codes(M, np.array([987654]))
    with pytest.raises(ex.errors.UnknownLabel, match=r"values\[0\]: a value of type int that is no label") as found:
        ex.randomized_response(3, 1).privatize(np.array([987654]))
    assert "987654" not in str(found.value)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s")], ids=repr)
def test_one_missing_value_gets_the_advice(missing: Any) -> None:
    with pytest.raises(ex.errors.UnknownLabel, match="values must not be missing.*Drop or fill missing values first"):
        M.privatize(missing)


def test_the_switch_is_true_or_false() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="shown must be True or False; got shown='yes'"):
        ex.show_values("yes")  # type: ignore[arg-type]


def test_errors_travel_between_processes() -> None:
    with pytest.raises(ex.errors.UnknownLabel) as found:
        M.privatize(["no", SECRET])
    again = pickle.loads(pickle.dumps(found.value))
    assert (str(again), again.parameter, again.hint) == (str(found.value), found.value.parameter, found.value.hint)
    assert type(again) is ex.errors.UnknownLabel


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codes": np.array([0.5])}, "codes must be a one-dimensional array of integers; got codes='float64, 1-d'"),
        ({"codes": np.array(["0"])}, "codes must be a one-dimensional array of integers"),
        ({"codes": [0]}, "codes must be a one-dimensional array of integers; got codes='list'"),
        ({"dtype": np.int8}, r"dtype must be an integer type that holds 0\.\.999"),
        ({"dtype": float}, r"dtype must be an integer type that holds 0\.\.999"),
        ({"source": np.random.default_rng(1)}, "source must fill arrays with words; got source='Generator'"),
    ],
)
def test_codes_are_neither_rounded_nor_wrapped(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        sample_codes(ex.randomized_response(1000, 1), **{"codes": np.array([0]), **options})


@pytest.mark.parametrize("key", [-1, np.int64(-1), 2, "1", 1.0, True])
def test_the_transformer_refuses_columns_that_are_not_there(key: Any) -> None:
    m = ex.randomized_response(3, 1)
    with pytest.raises(ex.errors.InvalidParameter, match=r"columns of an array are numbered 0\.\.1; got column="):
        Privatizer({key: m}).fit_transform(np.array([[0, 1], [2, 1]]))


@pytest.mark.parametrize("labels", [range(1, 6), range(0, 6, 2), range(5, 8), range(3, 0, -1)], ids=str)
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_a_range_is_a_list_of_labels(labels: range, make: Any, tmp_path: Path) -> None:
    m = ex.randomized_response(len(labels), 50, inputs=labels)
    values = list(labels)
    found = m.privatize(make(values))
    assert (found.to_pylist() if hasattr(found, "to_pylist") else list(found)) == values
    assert m.privatize(values[1]) == values[1]
    assert ex.load(m.save(tmp_path / "m.json")).outputs == tuple(values)
    with pytest.raises(ex.errors.UnknownLabel):
        m.privatize(make([99]))
    named = ex.Mechanism.from_partition(list(range(len(labels))), ex.LDP(50), outputs=labels)
    assert named.privatize([0, 1]) == values[:2]
