"""Sets by a rule: sizes, overlaps and levels are what counting finds."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact import Exponential
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import files
from extremal.mechanism.structures import HadamardSets, HashedSets, ProjectiveSets, chosen_sets
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, ChosenSets, largest_inside
from support.levels import leakage_level, lift_level, listed_reports

HALF = DENOMINATOR * 3 // 4


@pytest.mark.parametrize(
    "structure",
    [
        HadamardSets(7, HALF, 1, 8),
        HadamardSets(13, HALF, 2, 8),
        HadamardSets(11, HALF, 4, 4),
        ProjectiveSets(13, HALF, 3, 3),
        ProjectiveSets(10, HALF, 3, 3),
        ProjectiveSets(6, DENOMINATOR * 9 // 10, 5, 2),
        ProjectiveSets(15, HALF, 2, 4),
    ],
    ids=repr,
)
def test_sizes_and_overlaps_are_counted(structure: ChosenSets) -> None:
    rows, outputs = np.arange(structure.r), np.arange(structure.m)
    held = structure.favours(rows[:, None], outputs[None, :])
    assert (held.sum(axis=1) == structure.size).all()
    both = held.astype(int) @ held.astype(int).T
    for x in range(structure.r):
        for z in range(structure.r):
            if x != z:
                assert both[x, z] == structure.overlap(x, z) * structure.size
    weights = structure.entries(np.zeros(structure.m, dtype=np.intp), outputs)
    assert sum(weights) == structure.denominator


def test_hashes_of_two_inputs_are_independent() -> None:
    structure = HashedSets(1000, HALF, 3)
    assert structure.shares.sum() == pytest.approx(1, abs=1e-15)
    b = np.arange(HASH_PRIME)
    counts = np.bincount(b % 3, minlength=3)
    assert (counts == np.rint(structure.shares * HASH_PRIME)).all()
    assert structure.overlap(0, 1) == sum(Fraction(int(c), HASH_PRIME) ** 2 for c in counts)
    report = (12345 * HASH_PRIME + 678) * 3 + 2
    hashed = np.array([(12345 * pow(x + 1_234_567, 3, HASH_PRIME) + 678) % HASH_PRIME % 3 for x in range(1000)])
    assert (structure.favours(np.arange(1000), np.array([report])) == (hashed == 2)).all()


def test_points_are_numbered_and_found_again() -> None:
    structure = ProjectiveSets(100, HALF, 5, 4)
    everything = np.arange(structure.m)
    assert (structure.numbers(structure.vectors(everything)) == everything).all()
    assert np.unique(structure.vectors(everything)).size == structure.m


@pytest.mark.parametrize("make", [ex.local_hashing, ex.hadamard_response, ex.projective_geometry])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.5", "1", "3", "7"])
@pytest.mark.parametrize("k", [2, 5, 400])
def test_the_claim_is_tight(make: Any, epsilon: str, k: int) -> None:
    m = make(k, epsilon)
    assert ex.LDP(epsilon).holds(m)
    assert not ex.LDP(Fraction(epsilon) * (1 - Fraction(1, 10**9))).holds(m)


def test_levels_under_a_prior_are_those_of_the_list_and_bounds_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prior = np.arange(1, 31) / (30 * 31 / 2)
    ruled = ex.Mechanism.from_structure(HadamardSets(30, largest_inside(64, 32, Exponential(1)), 1, 64), ex.LDP(1))
    notions = (ex.PML(1, prior), ex.LIP(1, prior))
    exact, reports = [notion.level(ruled) for notion in notions], listed_reports(ruled)
    assert exact == [leakage_level(reports, notions[0].source), lift_level(reports, notions[1])]
    monkeypatch.setattr(chosen_sets, "LISTED_FOR_CHECKS", 1)
    assert all(level < notion.level(ruled) <= 1.0000001 for level, notion in zip(exact, notions, strict=True))
    assert ex.LDP(1).level(ruled) == 1


@pytest.mark.parametrize("make", [ex.local_hashing, ex.hadamard_response, ex.projective_geometry])
def test_files_keep_the_rule_and_refuse_another(make: Any, tmp_path: Path) -> None:
    m = make(500, 1)
    path = m.save(tmp_path / "m.json")
    assert ex.load(path) == m
    assert path.stat().st_size < 1000
    content = json.loads(path.read_text(encoding="utf-8"))
    rule = next(name for name in content["weights"] if name not in ("kind", "rows", "inside"))
    for field, value in ((rule, 1), (rule, "3"), ("inside", "0"), ("inside", str(DENOMINATOR - 1))):
        changed = {**content, "weights": {**content["weights"], field: value}}
        changed["hash"] = files.content_digest({k: v for k, v in changed.items() if k != "hash"})
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises((MalformedFile, ex.errors.PrivacyViolation)):
            ex.load(path)


def test_what_would_list_every_report_is_refused() -> None:
    m = ex.local_hashing(500, 1)
    for ask in (
        m.structure.rows,
        lambda: m.structure.row(0),
        lambda: m.structure.marginal(np.ones(500)),
        m.structure.levels,
        lambda: m.matrix,
    ):
        with pytest.raises(TooLarge):
            ask()
    assert "bucket of the truth" in str(m)
    assert m.structure.plain_rows() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HadamardSets(8, HALF, 1, 8), "powers of two"),
        (lambda: HadamardSets(3, HALF, 3, 4), "powers of two"),
        (lambda: HadamardSets(3, HALF, 4, 1), "powers of two"),
        (lambda: HadamardSets(7, DENOMINATOR // 2, 1, 8), "more often than by chance"),
        (lambda: HadamardSets(7, DENOMINATOR, 1, 8), "more often than by chance"),
        (lambda: ProjectiveSets(7, HALF, 4, 3), "must be prime"),
        (lambda: ProjectiveSets(7, HALF, 1, 3), "must be prime"),
        (lambda: ProjectiveSets(2, HALF, 3, 1), "must be prime"),
        (lambda: ProjectiveSets(14, HALF, 3, 3), "a point for each input"),
        (lambda: HashedSets(5, HALF, 1), "2 to 2\\^20 buckets"),
        (lambda: HashedSets(HASH_PRIME + 1, HALF, 4), "at most"),
        (lambda: ex.local_hashing(10, 0), "epsilon must be positive"),
        (lambda: ex.unary_encoding(10, 0), "epsilon must be positive"),
        (lambda: ex.projective_geometry(10, 1, order=4), "must be prime"),
    ],
)
def test_rules_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()
