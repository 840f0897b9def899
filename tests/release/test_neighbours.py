"""Nothing raw leaves: at ε = 0 and with the same words, two neighbouring data sets are released byte for byte alike,
whatever the container, the type, and the format of the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import extremal as ex
from extremal.columns.files import batches
from extremal.exact import Exponential
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import (
    BloomBits,
    HadamardSets,
    HashedSets,
    IndependentBits,
    ProjectiveSets,
    Structure,
)
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.release.files import privatize_file
from extremal.release.sampling import sampler
from support.files import neighbours
from support.files.neighbours import (
    NUMBERS,
    TEXT,
    TRUTHS,
    FixedWords,
    constant,
    released_column,
    released_files,
    released_frame,
)
from support.files.views import fingerprint

KINDS: dict[str, tuple[Any, ...]] = {"text": TEXT, "numbers": NUMBERS, "truths": TRUTHS}
COLUMNS = {
    (kind, name): make
    for kind, more in (
        ("text", neighbours.text_makers()),
        ("numbers", neighbours.number_makers()),
        ("truths", {}),
    )
    for name, make in {**neighbours.makers(), **more}.items()
}
N = 24


def pairs(labels: tuple[Any, ...]) -> list[tuple[list[Any], list[Any]]]:
    """Neighbours: the first person's value, a value that nobody else has, the last one of a kind."""
    generator = np.random.default_rng(5)
    common = [labels[i] for i in generator.integers(0, 2, size=N).tolist()]
    rare = [labels[0]] * N
    return [
        (common, [labels[-1], *common[1:]]),
        (rare, [*rare[:-1], labels[-1]]),
        (rare, [labels[1], *rare[1:]]),
        ([*labels, *rare], [*labels[:-1], labels[0], *rare]),
    ]


@pytest.mark.parametrize(("kind", "name"), COLUMNS, ids=lambda part: str(part))
@pytest.mark.parametrize(
    "outputs", [None, ("none", "some", "all"), (7, 8)], ids=["same", "other text", "other numbers"]
)
def test_columns_of_neighbours_are_released_alike(kind: str, name: str, outputs: tuple[Any, ...] | None) -> None:
    labels, make = KINDS[kind], COLUMNS[kind, name]
    m = constant(labels, outputs)
    for one, other in pairs(labels):
        assert released_column(m, make(one)) == released_column(m, make(other))


@pytest.mark.parametrize("name", neighbours.frames())
@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_neighbours_are_released_alike(kind: str, name: str) -> None:
    labels, make = KINDS[kind], neighbours.frames()[name]
    for one, other in pairs(labels):
        assert released_frame(constant(labels), make(one)) == released_frame(constant(labels), make(other))


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_files_of_neighbours_are_released_alike(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "UNIT", 4)
    monkeypatch.setattr(batches, "LARGEST_UNIT", 4)
    monkeypatch.setattr(batches, "MOST_ROWS", 8)
    labels = KINDS[kind]
    m = constant(labels)
    for number, (one, other) in enumerate(pairs(labels)):
        folders = [tmp_path / f"{number}-{side}" for side in "ab"]
        for folder in folders:
            folder.mkdir()
        first, second = (released_files(m, v, f) for v, f in zip((one, other), folders, strict=True))
        assert first.keys() == second.keys()
        assert [name for name in first if first[name] != second[name]] == []


HALF = 1 << 61
MORE = HALF + (1 << 60)
GROUPED = grouped_structure(np.zeros(4, dtype=int), [(2,)], [1.0], Exponential(1))
RULES: dict[str, tuple[Structure, Labels | None]] = {
    "bits": (IndependentBits(4, HALF, HALF // 2), BitLabels(4)),
    "many bits": (IndependentBits(4, HALF + 1, HALF), BitLabels(4)),
    "hashing": (HashedSets(4, HALF, 3), None),
    "hashing to many": (HashedSets(4, HALF, 1 << 20), None),
    "Hadamard": (HadamardSets(4, MORE, 2, 4), None),
    "Hadamard of millions": (HadamardSets(4, MORE, 1, 1 << 21), None),
    "projective": (ProjectiveSets(4, MORE, 3, 3), None),
    "filter": (BloomBits(4, 8, 2, 2, HALF + 1, HALF, MORE, HALF), BitLabels(9)),
    "grouped": (GROUPED, GROUPED.reports),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_reports_by_rules_are_released_alike(kind: str, rule: str) -> None:
    """With draws that do not depend on the values: whatever is released depends on the draws alone."""
    labels = KINDS[kind]
    m = neighbours.blind(RULES[rule][0], labels, RULES[rule][1])
    makers = [make for (of, _), make in COLUMNS.items() if of == kind]
    for one, other in pairs(labels)[::3]:
        for make in makers:
            assert released_column(m, make(one)) == released_column(m, make(other))
    for make in neighbours.frames().values():
        assert released_frame(m, make(one)) == released_frame(m, make(other))


@pytest.mark.parametrize("rule", ["bits", "hashing", "Hadamard of millions", "projective"])
def test_files_of_reports_by_rules_are_released_alike(rule: str, tmp_path: Path) -> None:
    m = neighbours.blind(RULES[rule][0], TEXT, RULES[rule][1])
    folders = [tmp_path / side for side in "ab"]
    for folder in folders:
        folder.mkdir()
    first, second = (released_files(m, v, f) for v, f in zip(pairs(TEXT)[0], folders, strict=True))
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_reports_by_rules_do_depend_on_the_values_otherwise() -> None:
    structure, names = RULES["many bits"]
    m = ex.Mechanism.from_structure(structure, None, TEXT, names)
    certain = ex.unary_encoding(4, 50, optimised=False, inputs=TEXT)
    assert released_column(certain, ["no"] * 9) != released_column(certain, ["other"] * 9)
    assert released_column(m, ["no"] * 9) == released_column(m, ["no"] * 9)


def test_row_groups_do_not_follow_the_bytes_of_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the other columns decide where a group ends, and they do: bytes are bounded, not only rows."""
    monkeypatch.setattr(sampler, "SecureWords", FixedWords)
    monkeypatch.setattr(batches, "GROUP_BYTES", 1 << 16)
    monkeypatch.setattr(batches, "LARGEST_UNIT", 256)
    groups = []
    for rare in (0, 1, 500):
        values = [TEXT[2]] * rare + [TEXT[0]] * (4_000 - rare)
        others = ["x" * (i % 100) for i in range(4_000)]
        source, target = tmp_path / f"in{rare}.parquet", tmp_path / f"out{rare}.parquet"
        pq.write_table(pa.table({"x": values, "other": others}), source, use_dictionary=False)
        privatize_file(source, target, {"x": constant(TEXT)})
        about = pq.ParquetFile(target).metadata
        groups.append([about.row_group(g).num_rows for g in range(about.num_row_groups)])
    assert groups[0] == groups[1] == groups[2]
    assert len(groups[0]) > 2
    assert sum(groups[0]) == 4_000


def test_a_leak_would_be_seen(tmp_path: Path) -> None:
    """The comparison tells apart what differs in a category, a type or a field's metadata only."""
    import pandas as pd

    plain = pd.Series(["a", "b"], dtype="category")
    for leaking in (plain.cat.reorder_categories(["b", "a"]), plain.cat.as_ordered(), plain.cat.add_categories(["c"])):
        assert fingerprint(leaking) != fingerprint(plain)
    table = pa.table({"x": ["a"]})
    for other in (
        table.replace_schema_metadata({"a": "b"}),
        table.cast(pa.schema([pa.field("x", pa.string(), metadata={"a": "b"})])),
        table.cast(pa.schema([pa.field("x", pa.large_string())])),
    ):
        assert fingerprint(other) != fingerprint(table)
    truthful = ex.randomized_response(4, 50, inputs=list(TEXT))
    for folder in "ab":
        (tmp_path / folder).mkdir()
    first = released_files(truthful, ["no", "maybe"], tmp_path / "a")
    second = released_files(truthful, ["no", "no"], tmp_path / "b")
    assert all(first[name] != second[name] for name in first)


ALONE = """
import hashlib, json, sys, warnings
from support.files.neighbours import TEXT, constant, ways
warnings.simplefilter("ignore")
found = {}
for name in ("polars frame of categories, lazy", "polars categorical", "pandas arrow dictionary"):
    made = ways(TEXT)[name](constant(TEXT), [TEXT[i] for i in json.loads(sys.argv[1])])
    found |= {f"{name}: {view}": hashlib.sha256(data).hexdigest() for view, data in made.items()}
print(json.dumps(found))
"""


def test_neighbours_in_processes_of_their_own_are_released_alike() -> None:
    """Every view of them: libraries keep numbers of values for as long as a process runs."""
    sides = [
        subprocess.Popen(
            [sys.executable, "-c", ALONE, json.dumps(codes)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for codes in ([0, 0, 1, 0], [2, 0, 1, 0])
    ]
    first, second = (json.loads(side.communicate()[0]) for side in sides)
    assert len(first) > 10
    assert neighbours.different(first, second) == []


def test_every_way_of_releasing_is_alike_in_every_view() -> None:
    for labels in (TEXT, NUMBERS, TRUTHS):
        one, other = pairs(labels)[1]
        for name, way in neighbours.ways(labels).items():
            m = constant(labels)
            assert neighbours.different(way(m, one), way(m, other)) == [], name
