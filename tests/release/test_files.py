"""Files are complete or absent: round trips keep everything else, and errors, full disks and kill -9 leave nothing
under the name."""

from __future__ import annotations

import csv
import datetime
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import extremal as ex
from extremal.columns.files import batches
from extremal.columns.files import csv as csv_files
from extremal.columns.files.note import name_beside
from extremal.release.files import mechanism_hashes, privatize_file

SURE = ex.randomized_response(3, 50, inputs=["no", "maybe", "yes"])
M = ex.randomized_response(3, 1, inputs=["no", "maybe", "yes"])
AGE = ex.randomized_response(3, 1, inputs=[20, 30, 40])
N = 5_000


def _table(rows: int = N) -> pa.Table:
    generator = np.random.default_rng(0)
    return pa.table(
        {
            "id": pa.array(range(rows)),
            "answer": pa.array(["no", "maybe", "yes"]).take(pa.array(generator.integers(0, 3, size=rows))),
            "age": pa.array(generator.choice([20, 30, 40], size=rows), pa.int8()),
            "when": pa.array(
                [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)] * rows, pa.timestamp("us", tz="Europe/Berlin")
            ),
            "note": pa.array([None if i % 3 else f'a "quoted", text {i}' for i in range(rows)]),
            "tags": pa.array([[i, i + 1] for i in range(rows)]),
            "colour": pa.array(["red", "blue"] * (rows // 2)).dictionary_encode(),
        }
    ).replace_schema_metadata({"project": "survey"})


def _write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=1_700, compression="zstd")
    else:
        feather.write_feather(table, path, chunksize=1_700)
    return path


def _read(path: Path) -> pa.Table:
    return pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)


@pytest.fixture(params=["parquet", "feather"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(batches, "UNIT", 500)
    monkeypatch.setattr(batches, "LARGEST_UNIT", 500)
    monkeypatch.setattr(batches, "MOST_ROWS", 1_000)  # several batches, not aligned with the row groups
    return _write(_table(), tmp_path / f"in.{request.param}")


def test_everything_but_the_column_stays(source: Path) -> None:
    target = source.with_stem("out")
    assert privatize_file(source, target, {"answer": SURE}) == N
    found = _read(target)
    assert found.equals(_table())
    assert found.schema.remove_metadata() == _table().schema.remove_metadata()
    assert b"project" not in found.schema.metadata  # what a table says about itself may come from the values
    assert json.loads(found.schema.metadata[b"extremal"])["columns"] == {"answer": SURE.hash}
    assert mechanism_hashes(target) == {"answer": SURE.hash}
    assert mechanism_hashes(source) == {}
    assert not list(source.parent.glob(".*.tmp"))


def test_two_columns_are_randomised(source: Path) -> None:
    target, seen = source.with_stem("out"), []
    privatize_file(source, target, {"answer": M, "age": AGE}, progress=lambda done, total: seen.append((done, total)))
    found = _read(target)
    assert found["age"].type == pa.int64()
    kept = np.mean([a == b for a, b in zip(found["answer"].to_pylist(), _table()["answer"].to_pylist(), strict=True)])
    assert abs(kept - M.matrix[0, 0]) < 0.05  # 5,000 draws: 7 standard deviations
    assert found["note"].equals(_table()["note"])
    assert seen[-1][0] == N
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(seen) >= 5


def test_a_second_run_on_another_column_keeps_the_note(source: Path) -> None:
    first, second = source.with_stem("first"), source.with_stem("second")
    privatize_file(source, first, {"answer": M})
    privatize_file(first, second, {"age": AGE})
    assert mechanism_hashes(second) == {"answer": M.hash, "age": AGE.hash}
    with pytest.raises(
        ex.errors.InvalidParameter,
        match="column 'answer' was randomised before; got mechanism hash=.*Start from the original",
    ):
        privatize_file(second, source.with_stem("third"), {"answer": M})


def test_reports_of_another_type_change_the_schema(source: Path) -> None:
    blocks = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(50), inputs=["no", "maybe", "yes"])
    target = source.with_stem("out")
    privatize_file(source, target, {"answer": blocks})
    assert _read(target)["answer"].type == pa.int64()
    assert [a == "yes" for a in _table()["answer"].to_pylist()] == [y == 1 for y in _read(target)["answer"].to_pylist()]


def test_an_unknown_value_names_its_row_and_leaves_nothing(source: Path) -> None:
    answers = _table()["answer"].to_pylist()
    answers[3_456] = "perhaps"
    _write(_table().set_column(1, "answer", pa.array(answers)), source)
    target = source.with_stem("out")
    with pytest.raises(
        ex.errors.UnknownLabel,
        match=r"^row 3456 \(from 0\) of column 'answer': a value of type str that is no label\. Labels",
    ):
        privatize_file(source, target, {"answer": M})
    answers[3_456] = None
    _write(_table().set_column(1, "answer", pa.array(answers)), source)
    with pytest.raises(
        ex.errors.UnknownLabel, match=r"row 3456 \(from 0\) of column 'answer': the value must not be missing"
    ):
        privatize_file(source, target, {"answer": M})
    assert sorted(p.name for p in source.parent.iterdir()) == [source.name]


def test_an_existing_output_is_kept(source: Path) -> None:
    target = source.with_stem("out")
    target.write_bytes(b"precious")
    with pytest.raises(
        ex.errors.FileConflict, match="the output file must not exist yet; got target=.*Choose another name"
    ):
        privatize_file(source, target, {"answer": M})
    assert target.read_bytes() == b"precious"
    assert privatize_file(source, target, {"answer": M}, overwrite=True) == N
    assert _read(target).num_rows == N


def test_an_output_that_appears_meanwhile_is_kept(source: Path) -> None:
    target = source.with_stem("out")

    def somebody_else(done: int, total: int | None) -> None:
        target.write_bytes(b"precious")

    with pytest.raises(ex.errors.FileConflict, match="must not exist yet"):
        privatize_file(source, target, {"answer": M}, progress=somebody_else)
    assert target.read_bytes() == b"precious"
    assert not list(source.parent.glob(".*.tmp"))


def test_a_broken_source_is_said_to_be_broken(source: Path) -> None:
    source.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(
        ex.errors.MalformedFile, match=f"in{source.suffix} must be a whole {source.suffix[1:].title()} file"
    ):
        privatize_file(source, source.with_stem("out"), {"answer": M})


def test_an_absent_column(source: Path) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=r"got column='answr'. Did you mean 'answer'\?"):
        privatize_file(source, source.with_stem("out"), {"answr": M})
    assert sorted(p.name for p in source.parent.iterdir()) == [source.name]


def test_empty_files_stay_empty(tmp_path: Path) -> None:
    for suffix in ("parquet", "feather"):
        path = _write(_table().slice(0, 0), tmp_path / f"in.{suffix}")
        assert privatize_file(path, path.with_stem("out"), {"answer": M}) == 0
        assert _read(path.with_stem("out")).schema.names == _table().schema.names
    (tmp_path / "in.csv").write_text("id,answer\n")
    assert privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", {"answer": M}) == 0


# -- CSV


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(csv_files, "BATCH", 700)
    path = tmp_path / "in.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "answer", "age", "note"])
        for i, answer, age in zip(range(N), _table()["answer"].to_pylist(), _table()["age"].to_pylist(), strict=True):
            writer.writerow([f"{i:05d}", answer, age, 'é, "quoted"\nline' if i % 7 == 0 else "1.50"])
    return path


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_csv_cells_stay_as_they_are(text: Path) -> None:
    target = text.with_stem("out")
    assert privatize_file(text, target, {"answer": SURE}) == N
    assert _rows(target) == _rows(text)
    assert mechanism_hashes(target) == {"answer": SURE.hash}
    assert mechanism_hashes(text) == {}


def test_csv_labels_are_recognised_by_how_they_print(text: Path) -> None:
    target = text.with_stem("out")
    privatize_file(text, target, {"age": AGE, "answer": M})
    ages = Counter(row[2] for row in _rows(target)[1:])
    assert set(ages) == {"20", "30", "40"}
    with pytest.raises(ex.errors.InvalidParameter, match="randomised before"):
        privatize_file(target, text.with_stem("again"), {"age": AGE})
    odd = ex.randomized_response(2, 1, inputs=["1", 1])
    with pytest.raises(ex.errors.InvalidParameter, match="labels must differ as text"):
        privatize_file(text, text.with_stem("odd"), {"age": odd})


def test_csv_errors_leave_nothing(text: Path) -> None:
    target = text.with_stem("out")
    content = text.read_text(encoding="utf-8")
    cases: list[tuple[bytes, str]] = [
        (content.replace("00900,", "00900,extra,").encode(), "as many cells as the header; got cells of row 900=5"),
        (
            content.replace("\n03000,no,", "\n03000,,")
            .replace("\n03000,yes,", "\n03000,,")
            .replace("\n03000,maybe,", "\n03000,,")
            .encode(),
            r"row 3000 \(from 0\) of column 'answer': the value must not be missing",
        ),
        (b"", "a CSV file must have a header"),
        (b"id,answer\n1,\xff\n", "must be a CSV file in UTF-8"),
        (b'id,answer\n1,"no\n', "must be a CSV file in UTF-8.*unexpected end of data"),
    ]
    for data, message in cases:
        text.write_bytes(data)
        with pytest.raises(ex.ExtremalError, match=message):
            privatize_file(text, target, {"answer": M})
        assert sorted(p.name for p in text.parent.iterdir()) == ["in.csv"]


def test_tsv_and_reports_that_are_sets(tmp_path: Path) -> None:
    source = tmp_path / "in.tsv"
    source.write_text("id\tanswer\n1\tno\n\n2\tyes\n")
    pairs = ex.Mechanism.from_matrix(
        [[1, 0], [1, 0], [0, 1]], inputs=["no", "maybe", "yes"], outputs=[("a", "b"), ("c", "d")]
    )
    privatize_file(source, tmp_path / "out.tsv", {"answer": pairs})
    assert (tmp_path / "out.tsv").read_text() == "id\tanswer\n1\ta b\n2\tc d\n"


def test_an_unreadable_note_is_refused(text: Path) -> None:
    name_beside(text).write_text("[]")
    with pytest.raises(ex.errors.MalformedFile, match=r"a note must hold a JSON object; got type='list'"):
        privatize_file(text, text.with_stem("out"), {"answer": M})


# -- names and interruptions


def test_formats_and_folders(tmp_path: Path, text: Path) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"source must be a Parquet, Feather, CSV, JSON lines or SPSS/Stata file; .*Known endings: .parquet",
    ):
        privatize_file(tmp_path / "in.xlsx", tmp_path / "out.xlsx", {"answer": M})
    with pytest.raises(ex.errors.InvalidParameter, match="source and target must have the same format"):
        privatize_file(text, tmp_path / "out.parquet", {"answer": M})
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        privatize_file(tmp_path / "none.csv", tmp_path / "out.csv", {"answer": M})
    with pytest.raises(FileNotFoundError, match="No such folder"):
        privatize_file(text, tmp_path / "nowhere" / "out.csv", {"answer": M})


def test_the_result_has_the_mode_of_a_new_file(text: Path) -> None:
    target, other = text.with_stem("out"), text.with_name("plain")
    privatize_file(text, target, {"answer": M})
    other.touch()
    assert target.stat().st_mode == other.stat().st_mode


SLOW = """
import sys, time
import extremal as ex
from extremal.columns.files import batches, csv
from extremal.release.files import privatize_file
batches.MOST_ROWS = csv.BATCH = 500
m = ex.randomized_response(3, 1, inputs=["no", "maybe", "yes"])
def progress(done, total):
    print(done, flush=True)
    time.sleep(0.05)
privatize_file(sys.argv[1], sys.argv[2], {"answer": m}, progress=progress)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("suffix", ["parquet", "feather", "csv"])
def test_a_killed_run_leaves_nothing_under_the_name(
    suffix: str, how: signal.Signals, tmp_path: Path, text: Path
) -> None:
    source = text if suffix == "csv" else _write(_table(), tmp_path / f"in.{suffix}")
    target = source.with_stem("out")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(source), str(target)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    for _ in range(3):  # three batches are written: the run is under way
        assert process.stdout.readline()
    process.send_signal(how)
    process.wait()
    process.stdout.close()
    assert process.returncode != 0
    assert not target.exists()
    left = list(tmp_path.glob(".*.tmp"))
    assert len(left) == (1 if how == signal.SIGKILL else 0)
    assert privatize_file(source, target, {"answer": M}) == N  # and the next run is not disturbed by what is left


FULL = """
import resource, sys
import extremal as ex
from extremal.release.files import privatize_file
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    privatize_file(sys.argv[1], sys.argv[2], {"answer": ex.randomized_response(3, 1, inputs=["no", "maybe", "yes"])})
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
@pytest.mark.parametrize("suffix", ["parquet", "feather", "csv"])
def test_a_full_disk_leaves_nothing(suffix: str, tmp_path: Path, text: Path) -> None:
    source = text if suffix == "csv" else _write(_table(), tmp_path / f"in.{suffix}")
    before = sorted(tmp_path.iterdir())
    command = [sys.executable, "-c", FULL, str(source), str(source.with_stem("out"))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "File too large" in ran.stdout, ran
    assert sorted(tmp_path.iterdir()) == before


BOUNDED = """
import re, sys
import extremal as ex
from extremal.columns.files import batches
from extremal.release.files import privatize_file
batches.MOST_ROWS = 20_000
privatize_file(sys.argv[1], sys.argv[2], {"answer": ex.randomized_response(3, 1, inputs=["no", "maybe", "yes"])})
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_stays_bounded(tmp_path: Path) -> None:
    """A file twenty times as long needs hardly more memory: batches are held, not the file."""
    peaks, sizes = [], []
    for rows in (200_000, 4_000_000):
        path, generator = tmp_path / f"in{rows}.parquet", np.random.default_rng(0)
        answers = pa.array(["no", "maybe", "yes"]).take(pa.array(generator.integers(0, 3, size=rows)))
        table = pa.table({"id": pa.array(generator.integers(0, 1 << 60, size=rows)), "answer": answers})
        pq.write_table(table, path, row_group_size=100_000)
        sizes.append(table.nbytes)
        command = [sys.executable, "-c", BOUNDED, str(path), str(path.with_stem(f"out{rows}"))]
        environment = {
            **os.environ,
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }  # the others give memory back when they please
        peaks.append(int(subprocess.run(command, capture_output=True, check=True, env=environment).stdout) << 10)
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 2
