"""What a release writes, an estimate reads: every ending of every format, with reports of every kind."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import extremal as ex
from extremal.columns.files import FORMATS, format_of
from extremal.columns.files.note import extended, in_metadata, metadata_with, name_beside
from extremal.release.files import mechanism_hashes, privatize_file

# SPSS and Stata keep codes, and have tests of their own.
ENDINGS = [ending for name, form in FORMATS.items() if name != "statistical" for ending in form.ENDINGS]
N = 4_000
LETTERS = [chr(ord("a") + i) for i in range(26)]


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    form = format_of(path, "path")
    if form is FORMATS["parquet"]:
        pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=1_500)
    elif form is FORMATS["feather"]:
        pyarrow.feather.write_feather(pa.table(columns), str(path), chunksize=1_500)
    elif form is FORMATS["json lines"]:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


def read(path: Path, name: str) -> list[Any]:
    form = format_of(path, "path")
    if form is FORMATS["parquet"]:
        return list(pyarrow.parquet.read_table(path)[name].to_pylist())
    if form is FORMATS["feather"]:
        return list(pyarrow.feather.read_table(str(path))[name].to_pylist())
    if form is FORMATS["json lines"]:
        return [json.loads(line)[name] for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(newline="", encoding="utf-8") as file:
        return [row[name] for row in csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")]


MECHANISMS = {
    "text": ex.randomized_response(3, 1, inputs=["no", "may be", "yes, always"]),
    "integers": ex.randomized_response(3, 1, inputs=[10, -20, 30]),
    "numbered": ex.randomized_response(4, 1),
    "truth values": ex.randomized_response(2, 1, inputs=[False, True]),
    "other outputs": ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1), inputs=["x", "y", "z"], outputs=["low", "high"]),
    "listed sets": ex.subset_selection(6, 1, size=3, inputs=list("abcdef")),
    "listed sets of integers": ex.subset_selection(5, 1, size=2),
    "listed sets of labels with spaces": ex.subset_selection(4, 1, size=2, inputs=["a b", "c d", "e", "f"]),
    "listed sets that read alike": ex.subset_selection(3, 1, size=2, inputs=["a b", "a", "b a"]),
    "sets of labels with spaces": ex.subset_selection(40, 1, 10, inputs=[f"answer {x}" for x in range(40)]),
    "sets": ex.subset_selection(26, 1, size=7, inputs=LETTERS),
    "sets of integers": ex.subset_selection(100, 1),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_from_release_to_estimate(kind: str, ending: str, tmp_path: Path) -> None:
    m = MECHANISMS[kind]
    generator = np.random.default_rng(1)
    values = [m.inputs[i] for i in generator.integers(0, m.k, size=N).tolist()]
    source = write(tmp_path / f"in{ending}", {"answer": values, "region": [i % 2 for i in range(N)]})
    target = source.with_stem("out")
    assert privatize_file(source, target, {"answer": m}) == N
    assert mechanism_hashes(target) == {"answer": m.hash}
    merge = m.row_of is not None
    result = ex.estimate_frequencies(target, m, merge=merge)
    assert result.n == N
    reports = read(target, "answer")
    if format_of(target, "path") is not FORMATS["csv"]:  # typed: the reports are what they were
        again = ex.estimate_frequencies(reports, m, merge=merge)
        assert result.fit.observed.statistic.tolist() == again.fit.observed.statistic.tolist()
    else:
        text = (
            {" ".join(map(str, y)) if isinstance(y, tuple) else str(y): y for y in m.output_labels} if m.m < N else {}
        )
        listed = [
            tuple(json.loads(report))
            if report.startswith("[")
            else text[report]
            if text
            else tuple(_label(m, part) for part in report.split(" "))
            for report in reports
        ]
        again = ex.estimate_frequencies(listed, m, merge=merge)
        assert result.fit.observed.statistic == pytest.approx(again.fit.observed.statistic, abs=1e-12)
    strata = ex.estimate_frequencies(target, m, by="region", merge=merge)
    assert [strata[name].n for name in strata] == [N // 2, N // 2]
    with pytest.raises(ex.errors.InvalidParameter, match=r"the reports in out\..* must come from this mechanism"):
        ex.estimate_frequencies(target, ex.randomized_response(2, 3))


def _label(m: ex.Mechanism, part: str) -> Any:
    return next(label for label in m.inputs if str(label) == part)


def test_the_same_reports_whatever_the_ending_says_of_tabs(tmp_path: Path) -> None:
    m = ex.randomized_response(2, 50, inputs=["no", "yes"])
    source = write(tmp_path / "in.csv", {"answer": ["no", "yes", "yes"], "note": ["a,b", "c\td", "e"]})
    privatize_file(source, tmp_path / "out.tsv", {"answer": m})
    assert read(tmp_path / "out.tsv", "note") == ["a,b", "c\td", "e"]
    assert ex.estimate_frequencies(tmp_path / "out.tsv", m).n == 3


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_labels_that_text_does_not_tell_apart_are_refused_before_writing(ending: str, tmp_path: Path) -> None:
    names = [f"answer {x}" for x in range(40)]
    cases = {
        "labels must differ as text to be told apart": ex.Mechanism.from_partition(
            [0, 1], ex.LDP(1), inputs=names[:2], outputs=[1, "1"]
        ),
    }
    for message, m in cases.items():
        source = write(tmp_path / f"in{ending}", {"answer": [m.inputs[0]]})
        with pytest.raises(ex.errors.InvalidParameter, match=message):
            privatize_file(source, source.with_stem("out"), {"answer": m})
        assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_labels_of_several_types_are_refused_before_writing(ending: str, tmp_path: Path) -> None:
    mixed = ex.Mechanism.from_partition([0, 1], ex.LDP(1), inputs=["a", "b"], outputs=["none", 1])
    source = write(tmp_path / f"in{ending}", {"answer": ["a", "b"]})
    with pytest.raises(ex.errors.InvalidParameter, match="a typed column needs output labels of one type"):
        privatize_file(source, source.with_stem("out"), {"answer": mixed})
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_a_note_in_every_form_counts_as_randomised_before(tmp_path: Path) -> None:
    m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    fields = [{"name": "answer", "metadata": {"extremal.mechanism": m.hash}}, {"name": "other", "metadata": {}}]
    path = tmp_path / "in.parquet"
    for key, value in (
        ("extremal", json.dumps({"version": "1.0", "columns": {"answer": m.hash}})),
        ("org.apache.spark.sql.parquet.row.metadata", json.dumps({"type": "struct", "fields": fields})),
    ):
        table = pa.table({"answer": ["no", "yes"], "other": ["no", "no"]}).replace_schema_metadata({key: value})
        pyarrow.parquet.write_table(table, path)
        assert mechanism_hashes(path) == {"answer": m.hash}
        assert ex.estimate_frequencies(path, m).n == 2
        with pytest.raises(ex.errors.InvalidParameter, match="column 'answer' was randomised before"):
            privatize_file(path, tmp_path / "out.parquet", {"answer": m}, overwrite=True)
        privatize_file(path, tmp_path / "out.parquet", {"other": m}, overwrite=True)
        assert mechanism_hashes(tmp_path / "out.parquet") == {"answer": m.hash, "other": m.hash}


def test_a_note_is_read_as_it_was_written() -> None:
    path = Path("answers.parquet")
    hashes = extended({"größe": "1f"}, {"answer, two": "2e"})
    assert in_metadata(metadata_with({b"project": b"survey"}, hashes), path) == hashes
    assert metadata_with({b"project": b"survey"}, hashes)[b"project"] == b"survey"
    assert in_metadata(None, path) == {}
    for broken in (b"", b"{", b"[]", b'{"columns": 3}', b'{"version": "1.0"}'):
        with pytest.raises(ex.errors.MalformedFile, match=r"the metadata of answers.parquet must|must be valid JSON"):
            in_metadata({b"extremal": broken}, path)
    for foreign in (
        b"",
        b"{",
        b"[]",
        b'{"fields": 3}',
        b'{"fields": [{"name": "x", "metadata": {}}, 3]}',
        b"[" * 10**5,
    ):
        assert in_metadata({b"org.apache.spark.sql.parquet.row.metadata": foreign}, path) == {}


def test_the_note_beside_a_csv_file_has_the_mode_of_a_new_file(tmp_path: Path) -> None:
    m = ex.randomized_response(2, 1)
    privatize_file(write(tmp_path / "in.csv", {"x": [0, 1]}), tmp_path / "out.csv", {"x": m})
    (tmp_path / "plain").touch()
    assert name_beside(tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert m.save(tmp_path / "m.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_column_that_unpacks_to_hundreds_of_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extremal.columns.files.parquet.LARGEST_UNPACKED", 1 << 20)
    table = pa.table({"x": ["a", "b"], "other": ["0" * (2 << 20), "1"]})
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    m = ex.randomized_response(26, 1, inputs=LETTERS)
    pyarrow.parquet.write_table(table, source, compression="gzip", use_dictionary=False)
    with pytest.raises(
        ex.errors.MalformedFile, match="unpacks to more than 200 times its size; got bytes of a column="
    ):
        privatize_file(source, target, {"x": m})
    with pytest.raises(ex.errors.MalformedFile, match="unpacks to more than 200 times its size"):
        ex.estimate_frequencies(source, m, column="x", check_hash=False)
    assert not target.exists()
    pyarrow.parquet.write_table(table, source, compression="none", use_dictionary=False)
    assert privatize_file(source, target, {"x": m}) == 2
