"""A randomised Bloom filter: which bits an input sets, and both levels exactly."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms.bits import permanent_filter
from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import files
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, bloom

QUARTER = DENOMINATOR // 4


def filter_of(r: int, bits: int, hashes: int, cohorts: int, **levels: int) -> BloomBits:
    return BloomBits(r, bits, hashes, cohorts, 3 * QUARTER, QUARTER, **levels)


@pytest.mark.parametrize(("bits", "hashes"), [(2, 1), (5, 2), (16, 8), (128, 2)])
def test_an_input_sets_as_many_different_bits_as_there_are_hashes(bits: int, hashes: int) -> None:
    structure = filter_of(300, bits, hashes, 4)
    made = [structure.filters(c) for c in range(4)]
    assert all(one.shape == (300, bits) and (one.sum(axis=1) == hashes).all() for one in made)
    assert all((a != b).any() for a, b in itertools.combinations(made, 2))
    used = np.mean([one.mean(axis=0) for one in made], axis=0)
    assert np.abs(used - hashes / bits).max() < 6 * (hashes / bits / 1200) ** 0.5  # evenly


def test_a_report_is_split_into_its_cohort_and_its_filter() -> None:
    words = np.array([[1, 0, 0, 1, 1], [0, 1, 1, 0, 1]], dtype=np.bool_)
    cohort, filters = filter_of(5, 3, 1, 4).split(words)
    assert cohort.tolist() == [2, 1]
    assert filters.tolist() == [[False, True, True], [True, False, True]]


def largest_ratio(structure: BloomBits) -> Fraction:
    """Over all pairs of inputs, cohorts and words, one by one."""
    a, b = (Fraction(weight, structure.denominator) for weight in structure.shown)
    best = Fraction(1)
    for c in range(structure.cohorts):
        sets = structure.filters(c)
        for word in itertools.product((False, True), repeat=structure.bits):
            given = []
            for x in range(structure.r):
                p = Fraction(1)
                for i, one in enumerate(word):
                    q = a if sets[x, i] else b
                    p *= q if one else 1 - q
                given.append(p)
            best = max(best, max(given) / min(given))
    return best


@pytest.mark.parametrize(("r", "bits", "hashes", "cohorts"), [(2, 4, 2, 1), (3, 4, 2, 2), (4, 3, 1, 2), (3, 6, 3, 1)])
def test_the_level_is_that_of_the_likeliest_word(r: int, bits: int, hashes: int, cohorts: int) -> None:
    for levels in ({}, {"one": 3 * QUARTER + 7, "zero": QUARTER // 2}):
        structure = filter_of(r, bits, hashes, cohorts, **levels)
        column = next(structure.columns())
        assert Fraction(column.largest, column.smallest) == largest_ratio(structure)


@pytest.mark.parametrize("k", [2, 50, 5000])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.5", "3", "20"])
def test_both_levels_are_tight(k: int, epsilon: str) -> None:
    exact = Fraction(epsilon)
    one = ex.bloom_filter(k, epsilon)
    assert one.privacy == ex.LDP(epsilon)
    assert not ex.LDP(exact * (1 - Fraction(1, 10**9))).holds(one)
    two = ex.bloom_filter(k, 2 * exact, once=epsilon, cohorts=2)
    assert two.privacy == ex.LDP(epsilon)
    assert not ex.LDP(exact * (1 - Fraction(1, 10**9))).holds(two)
    kept = permanent_filter(two)
    assert ex.LDP(2 * exact).holds(kept)
    assert not ex.LDP(2 * exact * (1 - Fraction(1, 10**9))).holds(kept)


def test_inputs_that_set_the_same_bits_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BloomBits, "places", lambda _self, rows, _cohort: np.zeros((len(rows), 1), dtype=np.int64))
    structure = filter_of(3, 4, 1, 2)
    assert structure.difference == 0
    assert [column.groups[0][0] for column in structure.columns()] == [structure.denominator]
    with pytest.raises(InvalidParameter, match="some inputs must set different bits"):
        ex.bloom_filter(3, 1, hashes=1)


def test_of_many_inputs_a_few_are_compared_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    structure = filter_of(40, 4, 2, 1)
    assert structure.difference == 2
    monkeypatch.setattr(bloom, "FEW", 10)
    monkeypatch.setattr(bloom, "COMPARED", 1)
    monkeypatch.setattr(BloomBits, "places", lambda _self, rows, _cohort: np.tile([0, 1], (len(rows), 1)))
    assert filter_of(40, 4, 2, 1).difference == 2  # not found: the bound


def test_files_keep_it_and_refuse_what_it_cannot_be(tmp_path: Path) -> None:
    m = ex.bloom_filter(20, 4, once=1, inputs=[f"answer {i}" for i in range(20)])
    path = m.save(tmp_path / "m.json")
    assert ex.load(path) == m
    content = json.loads(path.read_text(encoding="utf-8"))
    for field, value in (
        ("own", content["weights"]["other"]),
        ("one", "0"),
        ("rows", 1 << 40),
        ("bits", 1 << 40),
        ("bits", "128"),
        ("hashes", 65),
        ("cohorts", 3),
        ("cohorts", 1 << 30),
    ):
        changed = {**content, "weights": {**content["weights"], field: value}}
        changed["hash"] = files.content_digest({k: v for k, v in changed.items() if k != "hash"})
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(MalformedFile):
            ex.load(path)


def test_what_would_list_every_word_is_refused() -> None:
    m = ex.bloom_filter(20, 1)
    nothing = np.array([0])
    for ask in (
        m.structure.rows,
        lambda: m.structure.row(0),
        lambda: m.structure.entries(nothing, nothing),
        lambda: m.structure.marginal(np.ones(20)),
        m.structure.levels,
        lambda: m.outputs,
    ):
        with pytest.raises(TooLarge):
            ask()
    assert "bits that the truth sets" in str(m)
    assert m.structure.plain_rows() is None
    assert [c.bound for c in m.kinds_of_columns()] == [True, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.bloom_filter(5, 1, once=2), "once must be above 0 and below epsilon"),
        (lambda: ex.bloom_filter(5, 1, once=0), "epsilon must be positive"),
        (lambda: ex.bloom_filter(5, 0), "epsilon must be positive"),
        (lambda: ex.bloom_filter(5, 1, bits=3), "a filter has up to"),
        (lambda: permanent_filter(ex.unary_encoding(5, 1)), "must be a Bloom filter"),
        (lambda: filter_of(5, 4, 1, 2, one=QUARTER, zero=QUARTER), "likelier 1 where it is set"),
    ],
)
def test_filters_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_names_are_words_of_the_cohort_and_the_filter() -> None:
    m = ex.bloom_filter(5, 1, bits=4, cohorts=4, hashes=1)
    assert isinstance(m.output_labels, BitLabels)
    assert (m.output_labels.bits, m.m) == (6, 64)
