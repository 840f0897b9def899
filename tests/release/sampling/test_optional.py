"""Without an optional dependency: the rest works, and what does not says what to install."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.release import sample_codes
from extremal.release.files import privatize_file
from extremal.release.sampling import loops
from extremal.release.sampling.sampler import WORTH_COMPILING

M = ex.randomized_response(2, 1)


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(loops, "_functions", loops._functions.__wrapped__)


@pytest.mark.usefixtures("no_numba")
def test_without_numba_numpy_does_it() -> None:
    assert sample_codes(M, np.zeros(WORTH_COMPILING, dtype=np.int8)).size == WORTH_COMPILING
    with pytest.raises(
        ex.errors.MissingDependency, match=r"the compiled kernels need numba .*pip install 'extremal\[fast\]'"
    ):
        sample_codes(M, np.zeros(3, dtype=np.int64), compiled=True)


@pytest.mark.usefixtures("no_numba")
def test_a_numba_that_does_not_load_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops.importlib.util, "find_spec", lambda _: object())
    assert loops.can_compile() is False


def test_without_narwhals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    frame = pd.DataFrame({"q": [0, 1]})
    assert len(ex.privatize(frame, column="q", mechanism=M)) == 2
    foreign = type("DataFrame", (), {"__module__": "modin", "columns": ["q"]})()
    with pytest.raises(
        ex.errors.MissingDependency, match=r"frames of other libraries need narwhals. pip install 'extremal"
    ):
        ex.privatize(foreign, column="q", mechanism=M)
    assert len(M.privatize(frame["q"])) == 2


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "in.parquet").touch()
    with pytest.raises(ex.errors.MissingDependency, match="Parquet and Feather files need pyarrow"):
        privatize_file(tmp_path / "in.parquet", tmp_path / "out.parquet", {"q": M})
    (tmp_path / "in.csv").write_text("q\n0\n1\n")
    assert privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", {"q": M}) == 2


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "extremal.release.transformer", raising=False)
    with pytest.raises(ex.errors.MissingDependency, match="the transformer needs scikit-learn"):
        importlib.import_module("extremal.release.transformer")
