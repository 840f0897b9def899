"""One column, shifted: the same as the dense rows it stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import files
from extremal.mechanism.structures import Circulant, Rows, structure_from_json


def _circulant(parts: list[tuple[int, int]]) -> Circulant:
    """Runs in proportion to the parts; the first entry takes what is left of 2^62."""
    total = sum(weight * length for weight, length in parts)
    unit = DENOMINATOR // (2 * total + 1)
    used = unit * total
    return Circulant.of([(DENOMINATOR - used, 1), *((unit * weight, length) for weight, length in parts)])


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=5).filter(
        lambda parts: any(w for w, _ in parts)
    )
)
def test_the_same_as_dense_rows(parts: list[tuple[int, int]]) -> None:
    circulant = _circulant(parts)
    dense = Rows(circulant.rows().copy())
    assert [c.groups for c in circulant.columns()] == [c.groups for c in dense.columns()]
    assert all(np.array_equal(circulant.row(i), dense.row(i)) for i in range(circulant.r))
    prior = np.linspace(1, 2, circulant.r) / np.linspace(1, 2, circulant.r).sum()
    assert circulant.marginal(prior) == pytest.approx(dense.marginal(prior), rel=1e-13)
    assert structure_from_json(circulant.to_json()).rows().tolist() == circulant.rows().tolist()
    assert circulant.denominator == DENOMINATOR


def test_runs_that_cannot_be() -> None:
    half = DENOMINATOR // 2
    with pytest.raises(InvalidParameter, match="must sum to the denominator"):
        Circulant.of([(half, 1), (half - 1, 1)])
    with pytest.raises(InvalidParameter, match="a weight of at least 0 and some rows"):
        Circulant(((half, 0), (half, 2)))
    with pytest.raises(InvalidParameter, match="2 different weights"):
        Circulant.of([(half, 1), (half, 1)])
    assert Circulant.of([(half, 1), (0, 0), (half, 1), (0, 1)]).runs == ((half, 2), (0, 1))


def test_small_ones_are_stored_as_rows_and_large_ones_stay_small(tmp_path: Path) -> None:
    assert ex.pml_uniform(8, 1).structure.kind == "rows"
    large = ex.pml_uniform(10_000, 1)
    assert large.structure.kind == "circulant"
    path = large.save(tmp_path / "m.json")
    assert path.stat().st_size < 300_000
    assert ex.load(path) == large
    assert ex.verify(path)
    with pytest.raises(TooLarge, match="dense array"):
        _ = large.matrix
    reports = large.privatize([0, 1, 9_999])
    assert len(reports) == 3
    assert "9990 more" in str(large)


@pytest.mark.parametrize("n", [100, 257])
def test_utilities_read_the_structure(n: int) -> None:
    m = ex.pml_uniform(n, 1.3)
    assert m.structure.kind == "circulant"
    dense = m.matrix
    prior, other = np.linspace(1, 3, n) / np.linspace(1, 3, n).sum(), np.full(n, 1 / n)
    largest = ex.Sublinear(n, lambda columns: columns.max(axis=0))
    for utility in (ex.MutualInformation(prior), ex.KL(prior, other), ex.TotalVariation(prior, other), largest):
        assert utility(m) == pytest.approx(utility(dense), rel=1e-10)
    assert ex.LDP(1).level(m) == float("inf")
    assert ex.PML(1, other).level(m) == pytest.approx(1.3, rel=1e-9)


@pytest.mark.parametrize("runs", [[["x", 1]], [["1", 0]], [["1", 1.5]], [[str(DENOMINATOR), 1]]], ids=str)
def test_damaged_files(tmp_path: Path, runs: list[list[object]]) -> None:
    import json

    path = ex.pml_uniform(100, 1).save(tmp_path / "m.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["weights"]["runs"] = runs
    content["hash"] = files.content_digest({k: v for k, v in content.items() if k != "hash"})
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(MalformedFile):
        ex.load(path)
