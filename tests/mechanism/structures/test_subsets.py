"""Subset selection: reports that cannot be listed, checked against those that can."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge, UnknownLabel
from extremal.exact import Exponential
from extremal.mechanism.labels import Labels, SubsetLabels
from extremal.mechanism.structures.staircase import listed_subsets, subset_kernel
from extremal.mechanism.structures.structure import DENOMINATOR, SubsetSelection
from extremal.testing import priors

LINE = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) + 0.0
SHAPES = st.tuples(st.just(6), st.integers(1, 5))


def _both(shape: tuple[int, int], epsilon: float = 1.0) -> tuple[ex.Mechanism, ex.Mechanism]:
    listed = ex.Mechanism.from_subsets(*shape, ex.LDP(epsilon))
    kept = ex.Mechanism(
        subset_kernel(*shape, Exponential(epsilon)),
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


@given(st.integers(2, 7).flatmap(lambda k: st.tuples(st.just(k), st.integers(1, k - 1))))
def test_ranks_are_positions_in_the_list(shape: tuple[int, int]) -> None:
    k, size = shape
    labels = SubsetLabels(Labels([f"s{i}" for i in range(k)]), size)
    listed = list(itertools.combinations([f"s{i}" for i in range(k)], size))
    assert list(labels) == listed
    assert labels.count == len(listed)
    for position, subset in enumerate(listed):
        assert labels.code(subset) == position
        assert labels[position] == subset


def test_the_weights_use_the_budget_to_the_last_unit() -> None:
    for epsilon in (0.01, 1.0, 8.0, 50.0):
        kernel = subset_kernel(100, 30, Exponential(epsilon))
        assert Exponential(epsilon).at_least(kernel.high, kernel.low)
        more = (kernel.inside + 1) * 70, (DENOMINATOR - kernel.inside - 1) * 30
        assert not more[1] or not Exponential(epsilon).at_least(*more)
        total = math.comb(99, 29) * kernel.high + math.comb(99, 30) * kernel.low
        assert total == kernel.denominator


def test_what_cannot_be_listed_says_so(tmp_path: Path) -> None:
    m = ex.Mechanism.from_subsets(100, 27, ex.LDP(1))
    assert m.m == math.comb(100, 27)
    for ask in (
        lambda: m.weights,
        lambda: m.marginal([0.01] * 100),
        lambda: m.kernel.rows(),
        lambda: m.kernel.row(0),
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
    labels = SubsetLabels(Labels(["a", "b", "c"]), 2)
    for bad in (("b", "a"), ("a",), "ab", ("a", "a"), ("a", "z")):
        with pytest.raises(UnknownLabel):
            labels.code(bad)
    with pytest.raises(InvalidParameter, match="size must be at least 1 and less than the number of rows"):
        SubsetSelection(3, 3, 5)
    with pytest.raises(InvalidParameter, match="more often than by chance"):
        SubsetSelection(4, 2, DENOMINATOR // 2)
    assert listed_subsets(4, 2, Exponential(0)).r == 1
    assert ex.Mechanism.from_subsets(4, 2, ex.LDP(0)).row_classes == 1
