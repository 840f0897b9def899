"""Subset selection: reports that cannot be listed, checked against those that can."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact import Exponential
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures import SubsetSelection
from extremal.mechanism.structures.staircase import subset_structure
from extremal.testing import priors

LINE = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) + 0.0
SHAPES = st.tuples(st.just(6), st.integers(1, 5))


def _both(shape: tuple[int, int], epsilon: float = 1.0) -> tuple[ex.Mechanism, ex.Mechanism]:
    listed = ex.Mechanism.from_subsets(*shape, ex.LDP(epsilon))
    kept = ex.Mechanism(
        subset_structure(*shape, Exponential(epsilon)),
        None,
        listed.input_labels,
        SubsetLabels(listed.input_labels, shape[1]),
    )
    return listed, kept


@given(SHAPES, priors(k=6), priors(k=6), st.sampled_from([0.0, 0.1, 0.6]))
def test_an_orbit_has_the_levels_of_its_columns(
    shape: tuple[int, int], prior: list[object], other: list[object], radius: float
) -> None:
    listed, kept = _both(shape)
    notions = [
        ex.LDP(1),
        ex.PML(1, prior),
        ex.LIP(1, prior),
        ex.PML(1, ex.SourceClass.ball(prior, radius)),
        ex.PML(1, ex.SourceClass.permutation_invariant(prior)),
        ex.PML(1, ex.SourceClass.simplex(6)),
        ex.MetricPrivacy(1, LINE),
    ]
    for notion in notions:
        assert notion.level(kept) == pytest.approx(notion.level(listed), rel=1e-12), notion
    both = ex.PML(1, ex.SourceClass([prior, other])).level(kept)
    assert both >= max(ex.PML(1, p).level(kept) for p in (prior, other)) * (1 - 1e-12)


def test_what_cannot_be_listed_says_so(tmp_path: Path) -> None:
    m = ex.Mechanism.from_subsets(100, 27, ex.LDP(1))
    assert m.m == math.comb(100, 27)
    for ask in (
        lambda: m.weights,
        lambda: m.marginal([0.01] * 100),
        lambda: m.structure.rows(),
        lambda: m.structure.row(0),
        lambda: m.outputs,
    ):
        with pytest.raises(TooLarge):
            ask()
    assert "a subset of 27 that holds the truth" in str(m)
    assert "<table>" in m._repr_html_()
    path = m.save(tmp_path / "m.json")
    assert path.stat().st_size < 500
    assert ex.load(path) == m
    text = path.read_text().replace('"inside":"', '"inside":"1')
    path.write_text(text)
    with pytest.raises(MalformedFile, match="must match its hash"):
        ex.load(path)
    huge = SubsetSelection(5000, 2500, DENOMINATOR // 2 + 1)
    with pytest.raises(TooLarge, match="above 1e300"):
        huge.rows()


def test_bad_subsets() -> None:
    with pytest.raises(InvalidParameter, match="size must be at least 1 and less than the number of rows"):
        SubsetSelection(3, 3, 5)
    with pytest.raises(InvalidParameter, match="more often than by chance"):
        SubsetSelection(4, 2, DENOMINATOR // 2)
