"""Draws for structures that are rules: exact where few enough to count, audited where not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, HadamardSets, IndependentBits, ProjectiveSets
from extremal.release.audit import audit
from extremal.release.bloom import keep, report
from extremal.release.files import privatize_file
from extremal.release.sampling.sampler import sample_codes
from extremal.simulate import Simulation
from support.files.neighbours import FixedWords

INSIDE = DENOMINATOR * 7 // 10
STRUCTURED = {
    "bits": ex.unary_encoding(40, 1),
    "symmetric bits": ex.unary_encoding(9, 2, optimised=False),
    "hashing": ex.local_hashing(1000, 1.5),
    "Hadamard": ex.hadamard_response(300, 1),
    "Hadamard in blocks": ex.hadamard_response(300, 3),
    "projective": ex.projective_geometry(300, 1),
    "filter": ex.bloom_filter(40, 6, once=3, bits=32, cohorts=2),
    "subsets": ex.subset_selection(60, 1),
}


def drawn_by(m: ex.Mechanism) -> Any:
    """The package's sampler on words that are the same in every run."""
    words = FixedWords()
    return lambda codes: sample_codes(m, codes, source=words)


@pytest.mark.parametrize(
    "structure",
    [HadamardSets(7, INSIDE, 1, 8), HadamardSets(13, INSIDE, 4, 8), ProjectiveSets(13, INSIDE, 3, 3)],
    ids=["Hadamard", "Hadamard in blocks", "projective"],
)
def test_every_report_has_its_probability(structure: Any) -> None:
    m = ex.Mechanism.from_structure(structure)
    n = 40_000
    for x in (0, structure.r // 2, structure.r - 1):
        reports = Simulation(11).privatize(m, [x] * n).reports
        counts = np.bincount(reports, minlength=structure.m)
        entries = structure.entries(np.full(structure.m, x), np.arange(structure.m))
        expected = np.array([n * w / structure.denominator for w in entries])
        assert chisquare(counts, expected).pvalue > 1e-4


def test_every_word_of_bits_has_its_probability() -> None:
    m = ex.unary_encoding(3, 1)
    assert isinstance(m.structure, IndependentBits)
    own, other, n = m.structure.own / DENOMINATOR, m.structure.other / DENOMINATOR, 40_000
    reports = Simulation(3).privatize(m, [1] * n).reports
    counts = np.bincount([m.output_labels.code(report) for report in reports], minlength=8)
    ones = np.array([other, own, other])
    bits = np.array([[w >> 2 & 1, w >> 1 & 1, w & 1] for w in range(8)])
    expected = n * np.prod(np.where(bits, ones, 1 - ones), axis=1)
    assert chisquare(counts, expected).pvalue > 1e-4


@pytest.mark.parametrize("name", STRUCTURED)
def test_the_audit_passes_and_refuses_a_tilted_sampler(name: str) -> None:
    m = STRUCTURED[name]
    draw = drawn_by(m)
    assert audit(m, draws=20_000, confidence=0.999, sample=draw)

    def tilted(codes: Any) -> Any:
        """Two in ten people are given a report of the first input, which favours it."""
        return draw(np.where(np.arange(codes.size) % 5 == 0, 0, codes))

    found = audit(m, draws=20_000, confidence=0.999, sample=tilted)
    assert not found
    assert "favours" in found.summary()
    revealing = audit(m, draws=20_000, confidence=0.999, claim=ex.LDP("0.3"), sample=draw)
    assert revealing.exceeds
    assert audit(m, draws=2_000, confidence=1 - 1e-9)  # and on words of the operating system


def test_every_filter_has_its_probability() -> None:
    quarter = DENOMINATOR // 4
    structure = BloomBits(5, 4, 2, 2, 3 * quarter, quarter, 3 * quarter + 9, quarter // 2)
    m = ex.Mechanism.from_structure(structure, None, None, BitLabels(5))
    a, b = (weight / structure.denominator for weight in structure.shown)
    bits, n = np.array([[w >> (3 - i) & 1 for i in range(4)] for w in range(16)]), 40_000
    for x in (0, 4):
        given = [np.where(structure.filters(c)[x], a, b) for c in range(2)]
        expected = np.concatenate([n * np.prod(np.where(bits, g, 1 - g), axis=1) / 2 for g in given])
        reports = Simulation(5).privatize(m, [x] * n).reports
        counts = np.bincount([m.output_labels.code(report) for report in reports], minlength=32)
        assert chisquare(counts, expected).pvalue > 1e-4


def test_what_is_kept_is_reported_again() -> None:
    """Reports about one kept filter differ, and their mean shows what is kept, not what it was made from."""
    m = ex.bloom_filter(40, 2, once=1, bits=32, cohorts=4)
    structure: Any = m.structure
    kept = keep(m, [7])
    shown = np.unpackbits(np.array(report(m, kept * 4000), dtype=np.uint8), axis=1, count=34).astype(float)
    truth = np.unpackbits(np.array(kept, dtype=np.uint8), axis=1, count=34)[0]
    assert (shown[:, :2] == truth[:2]).all()  # the cohort stays
    rate = np.where(truth[2:], structure.one / DENOMINATOR, structure.zero / DENOMINATOR)
    assert np.abs(shown[:, 2:].mean(axis=0) - rate).max() < 8 * (0.25 / 4000) ** 0.5
    assert report(m, []) == []
    plain = ex.bloom_filter(40, 2)
    once = keep(plain, [3, 4])
    assert report(plain, once) == once  # without a second level what is kept is what is shown
    for ask in (lambda: keep(ex.unary_encoding(5, 1), [1]), lambda: report(ex.randomized_response(3, 1), [1])):
        with pytest.raises(ex.errors.InvalidParameter, match="must be a Bloom filter"):
            ask()
    with pytest.raises(ex.errors.UnknownLabel, match=r"kept\[0\] must be a tuple of 5 bytes"):
        report(m, [(1, 2)])


def test_an_audit_with_few_draws_has_nothing_to_say() -> None:
    assert audit(STRUCTURED["hashing"], draws=1, confidence=0.999).delivered < 1.5


def test_rows_that_several_inputs_share_are_audited_once() -> None:
    m = STRUCTURED["hashing"].spread(np.repeat(np.arange(1000), 2), inputs=range(2000))
    assert audit(m, draws=5_000, confidence=1 - 1e-9)


@pytest.mark.parametrize("name", ["bits", "hashing", "Hadamard", "projective", "filter"])
@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, pl.Series, pa.array, lambda v: pd.Series([str(x) for x in v])],
    ids=["list", "numpy", "pandas", "polars", "arrow", "text"],
)
def test_reports_travel_in_every_container(name: str, make: Any) -> None:
    m = STRUCTURED[name]
    values = make([0, 1, 2, 3] * 50)
    if getattr(values, "dtype", None) is not None and isinstance(values, pd.Series) and values.iloc[0] == "0":
        m = ex.Mechanism.from_structure(m.structure, m.privacy, [str(x) for x in range(m.k)], m.output_labels)
    reports = m.privatize(values)
    assert len(reports) == 200
    assert type(reports).__module__ == type(values).__module__
    assert ex.estimate_frequencies(reports, m).n == 200


def test_words_of_bits_take_a_byte_for_eight_in_typed_columns() -> None:
    m = STRUCTURED["bits"]
    assert m.privatize(pa.array([0, 1])).type == pa.list_(pa.uint8())
    assert m.privatize(pl.Series([0, 1])).dtype == pl.List(pl.UInt8)
    assert ex.subset_selection(60, 1).privatize(pa.array([0, 1])).type == pa.list_(pa.int64())


@pytest.mark.parametrize("name", ["bits", "hashing", "projective", "filter"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_reports_travel_in_files(name: str, ending: str, tmp_path: Path) -> None:
    m = STRUCTURED[name]
    frame = pd.DataFrame({"x": [0, 1, 2, 3] * 50})
    source, target = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    getattr(frame, f"to_{ending}")(source, **({"index": False} if ending == "csv" else {}))
    assert privatize_file(source, target, {"x": m}) == 200
    assert ex.estimate_frequencies(target, m, column="x").n == 200
