"""Every kind of structure is drawn from exactly: a chi-square test accepts it and refuses a slightly tilted one; numba
says the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import chisquare

import extremal as ex
from extremal.exact import IndexSet
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures import TwoValuedColumns
from extremal.release import sample_codes
from extremal.release.sampling import sampler
from extremal.release.sampling.loops import Loops, _functions
from extremal.release.sampling.sampler import WORTH_COMPILING, BlockTree, prepared
from extremal.release.sampling.subsets import subset_reports
from extremal.release.sampling.words import CipherWords

DRAWS = 200_000
REFUSE_BELOW = 1e-6  # per test: a correct sampler fails once in a million runs
SMALLEST_EXPECTED = (
    50  # outputs expected less often are counted together: the chi-square law holds for large counts only
)
KEY = bytes(range(32))
RANDOM = np.random.default_rng(5)

MECHANISMS = {
    "response": ex.randomized_response(5, 1),
    "binary": ex.randomized_response(2, 0.3),
    "constant": ex.randomized_response(6, 0),
    "certain": ex.Mechanism.from_weights([[1], [1]], 1),
    "partition": ex.Mechanism.from_partition([0, 1, 1, 2], ex.LDP(2)),
    "small windows": ex.Mechanism.from_windows(7, 3, ex.LDP(1)),
    "windows": ex.Mechanism.from_windows(90, 37, ex.LDP(1)),
    "rows": ex.Mechanism.from_matrix(RANDOM.dirichlet(np.full(9, 0.4), size=6)),
    "shuffled": ex.Mechanism.from_weights(ex.Mechanism.from_windows(70, 20, ex.LDP(1)).weights[RANDOM.permutation(70)]),
}


def _p_value(m: ex.Mechanism, x: int, probabilities: np.ndarray, compiled: bool = False) -> float:  # type: ignore[type-arg]
    counts = np.bincount(sample_codes(m, np.full(DRAWS, x), compiled=compiled), minlength=m.m)
    if counts[probabilities == 0].any():
        return 0.0
    rare = probabilities * DRAWS < SMALLEST_EXPECTED
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(probabilities[~rare], probabilities[rare].sum()) * DRAWS
    if expected[-1] < SMALLEST_EXPECTED:  # still rare together: join them to the rarest of the others
        place = int(expected[:-1].argmin())
        observed[place] += observed[-1]
        expected[place] += expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    return 1.0 if expected.size == 1 else float(chisquare(observed, expected).pvalue)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_frequencies_follow_the_weights(name: str, compiled: bool) -> None:
    m = MECHANISMS[name]
    for x in {0, 1, m.k // 2, m.k - 1}:
        assert _p_value(m, x, m.matrix[x], compiled) > REFUSE_BELOW


@pytest.mark.parametrize("name", ["response", "windows", "rows"])
def test_a_tilted_row_is_noticed(name: str) -> None:
    m = MECHANISMS[name]
    tilted = m.matrix[0] * np.where(np.arange(m.m) == m.matrix[0].argmax(), 1.5 if m.m > 20 else 1.1, 1)
    assert _p_value(m, 0, tilted / tilted.sum()) < REFUSE_BELOW


@pytest.mark.parametrize("name", MECHANISMS)
def test_numba_draws_the_same_from_the_same_words(name: str) -> None:
    m = MECHANISMS[name]
    codes = RANDOM.integers(0, m.k, size=300_000)
    draw = [sample_codes(m, codes, source=CipherWords(KEY), compiled=c) for c in (False, True)]
    assert np.array_equal(*draw)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_integer_types_do_not_matter(dtype: Any) -> None:
    m = MECHANISMS["rows"]
    codes = RANDOM.integers(0, m.k, size=40_000)
    reference = sample_codes(m, codes, source=CipherWords(KEY))
    narrow = sample_codes(m, codes.astype(dtype), source=CipherWords(KEY), dtype=dtype)
    assert narrow.dtype == dtype
    assert np.array_equal(narrow, reference)


def test_a_large_call_uses_several_keys_and_is_whole() -> None:
    m = ex.randomized_response(4, 1)
    codes = np.arange(WORTH_COMPILING + 3) % 4
    reports = sample_codes(m, codes)
    counts = np.zeros((4, 4))
    np.add.at(counts, (codes, reports), 1)
    for x in range(4):
        assert chisquare(counts[x], m.matrix[x] * counts[x].sum()).pvalue > REFUSE_BELOW
    assert not np.array_equal(reports[:1000], reports[codes.size // 2 : codes.size // 2 + 1000])


def _partial_sums(m: ex.Mechanism, rows: Any, words: Any) -> list[int]:
    kept = (words >> np.uint64(2)).astype(np.int64)
    return [
        int(np.searchsorted(np.cumsum(m.structure.row(int(x)))[:-1], w, side="right"))
        for x, w in zip(rows, kept, strict=True)
    ]


class FixedSource:
    """Given words, once."""

    def __init__(self, words: Any) -> None:
        self.words = words

    def fill(self, out: Any) -> None:
        out[:] = self.words


@pytest.mark.parametrize("name", ["windows", "shuffled"])
def test_the_tree_is_inversion_of_the_partial_sums(name: str) -> None:
    m = MECHANISMS[name]
    assert isinstance(m.structure, TwoValuedColumns)
    rows = RANDOM.integers(0, m.k, size=3_000)
    words = np.empty(3_000, dtype=np.uint64)
    CipherWords(KEY).fill(words)
    edges = np.cumsum(m.structure.row(0))[:-1]
    words[:80] = np.concatenate([edges[:40], edges[:40] - 1]).astype(np.uint64) << np.uint64(
        2
    )  # on both sides of an edge
    rows[:80] = 0
    drawn = BlockTree.of(m.structure).draw(rows, FixedSource(words), Loops(words.size), np.empty_like(words))
    assert drawn.tolist() == _partial_sums(m, rows, words)


def test_large_columns_that_are_no_windows_need_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "LARGEST_TABLE", 1 << 10)
    windows = ex.Mechanism.from_windows(100, 20, ex.LDP(1)).structure
    assert isinstance(windows, TwoValuedColumns)
    order = RANDOM.permutation(100)
    structure = TwoValuedColumns(100, tuple(windows.sets[y] for y in order), windows.low[order], windows.high[order])
    assert isinstance(prepared(structure), BlockTree)
    m = ex.Mechanism(
        structure, None, ex.randomized_response(100, 1).input_labels, ex.randomized_response(100, 1).input_labels
    )
    for x in (0, 57, 99):
        assert _p_value(m, x, m.matrix[x]) > REFUSE_BELOW


@pytest.mark.parametrize("m", [ex.randomized_response(50_000, 3), ex.Mechanism.from_windows(20_000, 5_000, ex.LDP(1))])
def test_large_alphabets_are_drawn_from_structure(m: ex.Mechanism) -> None:
    table = prepared(m.structure).table  # type: ignore[attr-defined]
    assert table.entries.size <= 4 * m.m
    x = m.k - 7
    reports = sample_codes(m, np.full(DRAWS, x))
    favoured = int((m.structure.row(x) == m.structure.row(x).max()).sum())
    inside = np.isin(reports, np.flatnonzero(m.structure.row(x) == m.structure.row(x).max())).sum()
    share = favoured * int(m.structure.row(x).max()) / DENOMINATOR
    assert chisquare([inside, DRAWS - inside], [share * DRAWS, (1 - share) * DRAWS]).pvalue > REFUSE_BELOW
    assert reports.min() >= 0
    assert reports.max() < m.m


def test_two_calls_differ() -> None:
    codes = np.zeros(1000, dtype=np.int64)
    assert not np.array_equal(sample_codes(MECHANISMS["response"], codes), sample_codes(MECHANISMS["response"], codes))


@pytest.mark.parametrize("bad", [-1, 5, 1 << 40])
@pytest.mark.parametrize("compiled", [False, True])
def test_codes_outside_the_alphabet_are_named(bad: int, compiled: bool) -> None:
    codes = np.zeros(200_000, dtype=np.int64)
    codes[150_001] = bad
    with pytest.raises(ex.errors.InvalidParameter, match=r"codes\[150001\] must lie in 0\.\.4\."):
        sample_codes(MECHANISMS["response"], codes, compiled=compiled)


def test_no_codes_no_reports() -> None:
    assert sample_codes(MECHANISMS["response"], np.zeros(0, dtype=np.int64)).tolist() == []


def test_tables_live_as_long_as_the_kernel() -> None:
    m = ex.randomized_response(17, 1)
    assert prepared(m.structure) is prepared(m.structure)
    assert len(_functions()) == 5


@dataclass(frozen=True, eq=False)
class _Subsets:
    """A structure of another kind: reports are sets of d of the k inputs."""

    r: int
    d: int
    weight: int
    kind: ClassVar[str] = "subsets for a test"

    @property
    def m(self) -> int:
        return 10


@dataclass(frozen=True, eq=False)
class _FromSubsets:
    structure: _Subsets

    @property
    def size(self) -> int:
        return self.structure.d

    def draw(self, rows: Any, source: Any, loops: Any, buffer: Any) -> Any:
        return subset_reports(self.structure.r, self.structure.d, self.structure.weight, rows, source)


def test_a_structure_whose_reports_are_sets_needs_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sampler.SAMPLERS, _Subsets.kind, _FromSubsets)
    labels = ex.randomized_response(5, 1, inputs=list("abcde")).input_labels
    m = ex.Mechanism(_Subsets(5, 2, DENOMINATOR), None, labels, SubsetLabels(labels, 2))  # type: ignore[arg-type]
    drawn = sample_codes(m, np.full(20_000, 3))
    assert drawn.shape == (20_000, 2)
    assert (drawn == 3).any(axis=1).all()
    reports = m.privatize(["d", "a"])
    assert all(isinstance(r, tuple) and len(r) == 2 and list(r) == sorted(r) for r in reports)
    assert "d" in reports[0]
    assert m.privatize(np.array(["d", "a"])).dtype == object


def test_cyclic_sets_that_start_elsewhere_are_no_windows() -> None:
    windows = ex.Mechanism.from_windows(6, 2, ex.LDP(1))
    sets = tuple(IndexSet.window(y + 1, 2, 6) if y < 5 else IndexSet.window(0, 2, 6) for y in range(6))
    low, high = windows.weights.min(axis=0), windows.weights.max(axis=0)
    structure = TwoValuedColumns(6, sets, low, high)
    assert isinstance(prepared(structure), sampler._FromRows)


def test_subset_selection_is_sampled_without_a_list() -> None:
    """C(60, 12) reports: the truth is in the report as often as the weight says, and every other label equally
    often."""
    m = ex.subset_selection(60, 1.5, size=12)
    assert m.structure.kind == "subset_selection"
    reports = m.privatize([7] * 60_000)
    assert all(len(r) == 12 and list(r) == sorted(set(r)) for r in reports)
    counts = np.bincount([x for r in reports for x in r], minlength=60)
    inside = m.structure.inside / 2**62  # type: ignore[union-attr]
    expected = np.full(60, (12 - inside) / 59)
    expected[7] = inside
    spread = np.sqrt(60_000 * expected * (1 - expected))
    assert (np.abs(counts - 60_000 * expected) < 6 * spread).all()
    assert abs(counts[7] - 60_000 * inside * 0.9) > 6 * spread[7]  # a sampler 10% off would be noticed


def test_a_circulant_mechanism_is_sampled_from_one_row() -> None:
    """The uniform-prior leakage mechanism: what a report rules out never comes, and the rest comes as often as the
    weights say."""
    m = ex.pml_uniform(300, 2)
    assert m.structure.kind == "circulant"
    for x in (0, 7, 299):
        drawn = sample_codes(m, np.full(DRAWS, x))
        counts, row = np.bincount(drawn, minlength=m.m), m.structure.row(x) / m.denominator
        assert not counts[row == 0].any()
        kept = row * DRAWS >= SMALLEST_EXPECTED
        rest = [counts[~kept].sum(), row[~kept].sum() * DRAWS]
        observed, expected = np.append(counts[kept], rest[0]), np.append(row[kept] * DRAWS, rest[1])
        used = expected > 0
        assert chisquare(observed[used], expected[used] * observed.sum() / expected.sum()).pvalue > REFUSE_BELOW
