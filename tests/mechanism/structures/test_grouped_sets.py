"""Grouped sets say the same as the listed mechanism, to every notion, and nothing else comes out of a file."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge, UnknownLabel
from extremal.exact import Exponential
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.files import content_digest
from extremal.mechanism.structures import structure_from_json
from extremal.mechanism.structures.grouped_sets import MOST_ROWS, grouped_structure, independent
from support.listed import GROUPED_SETS, grouped_sets, grouped_structure_of, listed_columns, listed_sets


@pytest.mark.parametrize("name", GROUPED_SETS)
def test_rows_sum_to_one_exactly_and_columns_are_those_of_every_set(name: str) -> None:
    structure = grouped_structure_of(name)
    columns, outputs = listed_columns(structure)
    assert [sum(row) for row in zip(*columns, strict=True)] == [1] * structure.r
    assert len(columns) == structure.m == structure.reports.count == sum(structure.numbers)
    for column, t, number in zip(structure.columns(), structure.types, structure.numbers, strict=True):
        assert [size for _, size in column.parts(structure.r)] == list(t)
        weights = {Fraction(w, structure.denominator) for w, _ in column.groups}
        own = [
            c
            for c, y in zip(columns, outputs, strict=True)
            if structure.types[structure.reports.type_of([bytes(y)])[0]] == t
        ]
        assert len(own) == number
        assert all(set(c) == weights for c in own)


@pytest.mark.parametrize("name", GROUPED_SETS)
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 4.0])
def test_the_level_is_the_one_asked_for(name: str, epsilon: float) -> None:
    structure = grouped_structure_of(name, epsilon)
    m = ex.Mechanism.from_structure(structure, None, outputs=structure.reports)
    assert ex.LDP(epsilon).holds(m)
    assert not ex.LDP(epsilon * (1 - 1e-8)).holds(m)
    assert ex.LDP(1).level(m) == pytest.approx(epsilon, rel=1e-8)
    exponential = Exponential(epsilon)
    for low, high in zip(structure.low, structure.high, strict=True):
        assert exponential.at_least(high, low)


@pytest.mark.parametrize("name", GROUPED_SETS)
def test_every_notion_decides_as_for_the_listed_mechanism(name: str) -> None:
    m = grouped_sets(name)
    listed = listed_sets(m.structure, ex.LDP(1))
    k = m.k
    far = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / 2
    uneven = np.arange(1, k + 1) / (k * (k + 1) / 2)
    lonely = np.where(np.arange(k) < 2, 0.5, 0.0)  # most inputs cannot occur
    for notion in (
        ex.LDP(1),
        ex.PML(1, uneven),
        ex.PML(1, lonely),
        ex.PML(1, ex.SourceClass.simplex(k)),
        ex.PML(1, ex.SourceClass.ball(uneven, 0.1)),
        ex.PML(1, ex.SourceClass.permutation_invariant(uneven)),
        ex.LIP(1, uneven),
        ex.MetricPrivacy(1, far),
    ):
        assert notion.level(m) == pytest.approx(notion.level(listed), rel=1e-12), notion
    absent = np.where(np.asarray(m.structure.of) == 0, 0.0, 1.0)  # a group that cannot occur
    assert ex.PML(1, absent / absent.sum()).level(m) == pytest.approx(
        ex.PML(1, absent / absent.sum()).level(listed), rel=1e-12
    )


@pytest.mark.parametrize("name", GROUPED_SETS)
def test_reports_are_numbered_and_named_once(name: str) -> None:
    labels = grouped_structure_of(name).reports
    names = [labels[code] for code in range(labels.count)]
    assert len(set(names)) == labels.count
    assert [labels.code(y) for y in names] == list(range(labels.count))
    assert [labels.find(y) for y in names] == list(range(labels.count))
    assert set(names) == set(listed_columns(grouped_structure_of(name))[1])
    assert "a set of one of" in labels.shown()


def test_what_is_no_set_of_a_type_is_no_report() -> None:
    labels = grouped_structure_of("two groups").reports
    assert labels.members((0b11010000,)) == (0, 1, 3)
    assert labels.type_of([bytes([0b11010000]), bytes([0])]).tolist() == [0, -1]
    for word in ((0,), (255,), (0b11000000,), (1, 2), "x"):
        assert labels.find(word) is None
        with pytest.raises(UnknownLabel, match="must be a tuple of 1 bytes that hold 8 bits"):
            labels.code(word)


def test_files_pickles_words_and_pictures(tmp_path: Path) -> None:
    m = grouped_sets("two groups")
    assert ex.load(m.save(tmp_path / "m.json")) == m
    assert pickle.loads(pickle.dumps(m)) == m
    assert repr(m) == "Mechanism(k=8, m=68, grouped_sets, privacy=LDP(epsilon=1.0))"
    assert "a set that holds the truth (one of 4, as input 3)" in str(m)
    assert "think it at least" in m.explain().sentences()[0]
    assert m.explain().ratio == pytest.approx(math.e)
    for ask in (
        m.plot,
        lambda: m.matrix,
        lambda: m.marginal(np.full(8, 1 / 8)),
        lambda: m.structure.entries(*[np.zeros(1, dtype=np.intp)] * 2),
    ):
        with pytest.raises(TooLarge):
            ask()
    with pytest.raises(ValueError, match="read-only"):
        m.structure.of[0] = 1  # type: ignore[attr-defined]


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "a smaller low weight": ({"low": ["1"] * 4}, "sum to the denominator exactly"),
    "a weight that is none": ({"low": ["-1", "2", "3", "4"]}, "string of digits, at most 2.78"),
    "fewer weights": ({"low": ["1"]}, "0 < low < high is required"),
    "weights that are no list": ({"high": 7}, "high must be a list"),
    "a type too many": ({"types": [[2, 1], [1, 1], [1, 2], [0, 3], [3, 3]]}, "0 < low < high is required"),
    "no types": ({"types": []}, "none empty"),
    "a type twice": ({"types": [[2, 1], [2, 1], [1, 2], [0, 3]]}, "types must be different"),
    "the whole": ({"types": [[4, 4], [1, 1], [1, 2], [0, 3]]}, "types must be different"),
    "nobody": ({"types": [[0, 0], [1, 1], [1, 2], [0, 3]]}, "types must be different"),
    "more than there are": ({"types": [[5, 1], [1, 1], [1, 2], [0, 3]]}, "types must be different"),
    "counts of text": ({"types": [["2", 1], [1, 1], [1, 2], [0, 3]]}, "types must be different"),
    "counts of three groups": ({"types": [[2, 1, 0], [1, 1], [1, 2], [0, 3]]}, "types must be different"),
    "types that tell nothing of groups": ({"types": [[1, 1], [2, 2], [3, 3], [0, 0]][:3]}, "linearly independent"),
    "a group that no type splits": ({"types": [[4, 1], [0, 1], [0, 3], [4, 2]]}, "types must split every group"),
    "a type that is no list": ({"types": [7]}, "a type must be a list"),
    "groups that are no runs": ({"groups": [7]}, "groups must be pairs"),
    "a group of text": ({"groups": [["0", 8]]}, "groups must be pairs"),
    "an empty group": ({"groups": [[0, 4], [2, 4]]}, "none empty"),
    "many groups": ({"groups": [[g, 2] for g in range(9)]}, "up to 8 groups"),
    "many rows": ({"groups": [[0, MOST_ROWS], [1, MOST_ROWS]]}, "65,536 in all"),
    "one row": ({"groups": [[0, 1]]}, "rows must be a whole number from 2"),
    "many rows and types": (
        {"groups": [[0, 1 << 15], [1, 1 << 15]], "types": [[1, i] for i in range(9)]},
        "types × rows",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_refused(name: str, tmp_path: Path) -> None:
    change, reason = CHANGES[name]
    path = grouped_sets("two groups").save(tmp_path / "m.json")
    content = json.loads(path.read_text())
    content["weights"].update(change)
    del content["hash"]
    path.write_text(json.dumps({**content, "hash": content_digest(content)}))
    with pytest.raises((MalformedFile, InvalidParameter), match=reason):
        ex.load(path)


@pytest.mark.parametrize("outputs", [{"bits": 9}, {"range": 68}, {"subsets_of_inputs": 3}, ["a", "b"]])
def test_other_names_of_reports_are_refused(outputs: Any, tmp_path: Path) -> None:
    path = grouped_sets("two groups").save(tmp_path / "m.json")
    content = json.loads(path.read_text())
    content["outputs"] = outputs
    del content["hash"]
    path.write_text(json.dumps({**content, "hash": content_digest(content)}))
    with pytest.raises(MalformedFile, match="words of a bit for each row"):
        ex.load(path)


def test_a_smaller_claim_is_refused(tmp_path: Path) -> None:
    path = grouped_sets("two groups").save(tmp_path / "m.json")
    content = json.loads(path.read_text())
    content["privacy"]["epsilon"] = "0.999999"
    del content["hash"]
    path.write_text(json.dumps({**content, "hash": content_digest(content)}))
    with pytest.raises(ex.errors.PrivacyViolation):
        ex.load(path)


def test_proportions_far_from_balance_are_moved_or_refused() -> None:
    of = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    moved = grouped_structure(of, [(2, 1), (1, 2)], [1.0, 1.001], Exponential(1))
    assert len({high - low for low, high in zip(moved.low, moved.high, strict=True)}) == 1
    with pytest.raises(InvalidParameter, match="positive weights"):
        grouped_structure(of, [(2, 1), (3, 2), (3, 1)], [1.0, 1.0, 1.0], Exponential(1))
    with pytest.raises(InvalidParameter, match="linearly independent"):
        grouped_structure(of, [(2, 2), (1, 1)], [1.0, 1.0], Exponential(1))


def test_a_thousand_rows_lose_no_more_than_rounding() -> None:
    of = np.repeat([0, 1], 500)
    structure = grouped_structure(of, [(190, 188), (139, 239), (4, 377)], [900.0, 150.0, 1.0], Exponential("0.5"))
    spare = [h / low / math.exp(0.5) - 1 for low, h in zip(structure.low, structure.high, strict=True)]
    assert max(map(abs, spare)) < 1e-10
    assert structure.denominator.bit_length() < 3 * 1000 + 63
    assert structure_from_json(json.loads(json.dumps(structure.to_json()))).to_json() == structure.to_json()
    total = sum(structure.inside(1)) + sum(structure.outside(1))
    assert total == 500 * DENOMINATOR


def test_independent_positions() -> None:
    assert independent(
        [
            (0, 0),
            (
                1,
                2,
            ),
            (2, 4),
            (0, 1),
            (5, 5),
        ]
    ) == [1, 3]
