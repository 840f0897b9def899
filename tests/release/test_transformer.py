"""The scikit-learn transformer: pipelines, clones, frames and arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import extremal as ex
from extremal.release.transformer import Privatizer

SURE = ex.randomized_response(3, 50, inputs=["a", "b", "c"])
FRAME = pd.DataFrame({"q": ["a", "b", "c", "a"], "x": [1.0, 2.0, 3.0, 4.0]}, index=[4, 3, 2, 1])


def test_in_a_pipeline() -> None:
    steps = make_pipeline(Privatizer(SURE), OneHotEncoder(categories=[["a", "b", "c"]], sparse_output=False))
    assert steps.fit_transform(FRAME[["q"]]).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_in_a_column_transformer() -> None:
    chosen = ColumnTransformer(
        [("private", Privatizer(SURE), ["q"])], remainder="passthrough", verbose_feature_names_out=False
    )
    chosen.set_output(transform="pandas")
    released = chosen.fit_transform(FRAME)
    assert released["q"].tolist() == FRAME["q"].tolist()
    assert list(released.columns) == ["q", "x"]
    assert released.index.equals(FRAME.index)


def test_frames_and_arrays_keep_their_type() -> None:
    by_name = Privatizer({"q": SURE})
    pd.testing.assert_frame_equal(by_name.fit(FRAME).transform(FRAME), FRAME)
    coloured = pl.DataFrame({"q": ["a", "b"], "x": [1, 2]})
    assert by_name.fit(coloured).transform(coloured).equals(coloured)
    numbers = np.array([[0, 9], [2, 8]])
    by_place = Privatizer({0: ex.randomized_response(3, 50)})
    assert by_place.fit_transform(numbers).tolist() == numbers.tolist()
    mixed = np.array([["a", 1.5], ["b", 2.5]], dtype=object)
    assert Privatizer({0: SURE}).fit_transform(mixed).tolist() == mixed.tolist()
    blocks = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(50), outputs=["low", "high"])
    assert Privatizer({0: blocks}).fit_transform(numbers).tolist() == [["low", 9], ["high", 8]]


def test_it_is_cloned_with_its_mechanism() -> None:
    copy = clone(Privatizer(SURE))
    assert copy.mechanism == SURE
    assert copy.get_params() == {"mechanism": SURE}
    assert copy.fit(FRAME[["q"]]).get_feature_names_out().tolist() == ["q"]
    assert copy.fit(np.array([["a"]])).n_features_in_ == 1
    assert Privatizer(SURE).fit(np.array([["a"]])).get_feature_names_out().tolist() == ["x0"]
    assert copy.get_feature_names_out(["z"]).tolist() == ["z"]


def test_each_transform_is_a_new_report() -> None:
    noisy = Privatizer(ex.randomized_response(1000, 0.1)).fit(np.zeros((50, 1), dtype=int))
    codes = np.zeros((50, 1), dtype=int)
    assert not np.array_equal(noisy.transform(codes), noisy.transform(codes))


def test_mistakes() -> None:
    fitted = Privatizer(SURE).fit(FRAME[["q"]])
    with pytest.raises(ex.errors.InvalidParameter, match=r"X must have 1 columns; got X.shape=\(4, 2\)"):
        fitted.transform(FRAME)
    with pytest.raises(ex.errors.UnknownLabel, match=r"X\[:, 0\]\[1\]: a value of type str that is no label"):
        Privatizer(SURE).fit_transform(np.array([["a"], ["z"]]))
