"""Files as `extremal privatize` writes them: streamed, their mechanism's hash checked."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import extremal as ex
from extremal.columns.files import csv, parquet

M = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
COLUMNS = {"answer": ["a", "b", "a", "c"] * 25, "w": [1.0, 2.0] * 50, "region": ["n", "s", "s", "n"] * 25}


def write(path: Path, columns: dict[str, Any] = COLUMNS, hashes: dict[str, str] | None = None) -> Path:
    found = {"answer": M.hash} if hashes is None else hashes
    table = pa.table(columns).replace_schema_metadata({"extremal": json.dumps({"columns": found})})
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=30)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path, chunksize=30)
    else:
        rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        note(path, found)
    return path


def note(path: Path, hashes: dict[str, str]) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".extremal.json").write_text(json.dumps({"columns": hashes, "sha256": digest}))


@pytest.fixture(params=[".parquet", ".feather", ".csv"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"reports{request.param}"


def test_a_folder_counts_as_its_parquet_files(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    with pytest.raises(ex.errors.InvalidParameter, match="a folder of reports must hold Parquet files; got reports="):
        ex.estimate_frequencies(folder, M)
    for name in ("part-0.parquet", "part-1.parquet"):
        write(folder / name)
    (folder / "_SUCCESS").touch()
    found = ex.estimate_frequencies(str(folder), M)
    assert found.n == 200
    assert found.estimate == pytest.approx(ex.estimate_frequencies(COLUMNS["answer"], M).estimate)
    with pytest.raises(ex.errors.InvalidParameter, match="a file of reports counts once"):
        ex.estimate_frequencies([folder, folder / "part-0.parquet"], M)
    write(folder / "part-2.parquet", hashes={"answer": "another"})
    with pytest.raises(
        ex.errors.InvalidParameter, match=r"the reports in part-2.parquet must come from this mechanism"
    ):
        ex.estimate_frequencies(folder, M)


def test_a_file_counts_as_its_column(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "BATCH", 7)  # several batches
    monkeypatch.setattr(parquet, "COUNTED_ROWS", 7)
    write(path)
    result = ex.estimate_frequencies(path, M)
    assert result.estimate.tolist() == ex.estimate_frequencies(COLUMNS["answer"], M).estimate.tolist()
    assert ex.estimate_frequencies(str(path), M, column="answer").n == 100
    assert ex.estimate_frequencies([path, write(path.with_stem("second"))], M).n == 200
    with pytest.raises(ex.errors.InvalidParameter, match="a file of reports counts once; got reports="):
        ex.estimate_frequencies([path, path.parent / "." / path.name], M)
    strata = ex.estimate_frequencies(path, M, weights="w", by="region", method="mle")
    memory = ex.estimate_frequencies(COLUMNS["answer"], M, weights=COLUMNS["w"], by=COLUMNS["region"], method="mle")
    assert strata["s"].estimate == pytest.approx(memory["s"].estimate)
    assert strata["s"].effective_n == pytest.approx(memory["s"].effective_n)


def test_reports_of_another_mechanism_are_refused(path: Path) -> None:
    other = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
    write(path)
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=f"must come from this mechanism; got mechanism.hash='{other.hash}'. .* {M.hash}",
    ):
        ex.estimate_frequencies(path, other)
    assert ex.estimate_frequencies(path, other, column="answer", check_hash=False).n == 100
    second = write(path.with_stem("second"), hashes={"answer": other.hash})
    with pytest.raises(ex.errors.InvalidParameter, match="the reports in second.* must come from this mechanism"):
        ex.estimate_frequencies([path, second], M)


def test_a_file_that_records_nothing_is_refused(path: Path) -> None:
    write(path, hashes={})
    with pytest.raises(
        ex.errors.MalformedFile,
        match="must record which mechanism made the reports in column 'answer'.*check_hash=False",
    ):
        ex.estimate_frequencies(path, M, column="answer")
    with pytest.raises(ex.errors.InvalidParameter, match="say which column holds the reports.*none is recorded"):
        ex.estimate_frequencies(path, M)


def test_columns_that_are_not_there(path: Path) -> None:
    write(path, hashes={"answer": M.hash, "other": M.hash})
    with pytest.raises(
        ex.errors.InvalidParameter,
        match="say which column holds the reports; got column=None. Randomised: \\['answer', 'other'\\]",
    ):
        ex.estimate_frequencies(path, M)
    with pytest.raises(ex.errors.InvalidParameter, match="must be the name of a column; got column='other'"):
        ex.estimate_frequencies(path, M, column="other")
    hint = "Has the file a header" if path.suffix == ".csv" else "Did you mean 'region'"
    with pytest.raises(ex.errors.InvalidParameter, match=f"must be the name of a column.*{hint}?"):
        ex.estimate_frequencies(path, M, column="answer", by="regin")
    with pytest.raises(ex.errors.InvalidParameter, match="weights must name a column of the file"):
        ex.estimate_frequencies(path, M, column="answer", weights=[1.0])
    with pytest.raises(FileNotFoundError):
        ex.estimate_frequencies(path.with_stem("absent"), M)


def test_a_broken_file_is_said_to_be_broken(path: Path) -> None:
    write(path)
    path.write_bytes(path.read_bytes()[:-60] + b"\xff\xfe\xfd")
    with pytest.raises(ex.errors.MalformedFile):
        ex.estimate_frequencies(path, M)


def test_an_unknown_kind_of_file(tmp_path: Path) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=r"must be a Parquet, Feather, CSV, JSON lines or SPSS/Stata file; got reports=.*\.xlsx'. Known endings: ",
    ):
        ex.estimate_frequencies(tmp_path / "reports.xlsx", M)


def test_csv_text_becomes_labels(tmp_path: Path) -> None:
    numbers = ex.randomized_response(3, 1)
    path = write(tmp_path / "n.csv", {"x": [0, 1, 2, 1]}, {"x": numbers.hash})
    assert ex.estimate_frequencies(path, numbers).fit.observed.statistic.tolist() == [0.25, 0.5, 0.25]
    booleans = ex.randomized_response(2, 1, inputs=[False, True])
    assert (
        ex.estimate_frequencies(write(tmp_path / "b.csv", {"x": [True, False]}, {"x": booleans.hash}), booleans).n == 2
    )
    twins = ex.randomized_response(2, 1, inputs=[1, "1"])
    with pytest.raises(ex.errors.InvalidParameter, match="labels must differ as text"):
        ex.estimate_frequencies(write(tmp_path / "t.csv", {"x": ["1", "1"]}, {"x": twins.hash}), twins)
    with pytest.raises(ex.errors.UnknownLabel, match="report: a value of type str that is no label"):
        ex.estimate_frequencies(write(tmp_path / "u.csv", {"x": [0, 7]}, {"x": numbers.hash}), numbers)
    sets = ex.Mechanism.from_matrix([[0.7, 0.3], [0.3, 0.7]], outputs=[(0,), (0, 1)])
    (tmp_path / "s.csv").write_text("x\n0\n0 1\n")
    note(tmp_path / "s.csv", {"x": sets.hash})
    assert ex.estimate_frequencies(tmp_path / "s.csv", sets).n == 2


def test_malformed_csv(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv")
    path.write_text("answer,w\na,1\nb\n")
    note(path, {"answer": M.hash})
    with pytest.raises(
        ex.errors.MalformedFile, match="every row must have as many cells as the header; got cells of row 1=1"
    ):
        ex.estimate_frequencies(path, M)
    path.write_text("answer,answer\na,a\n")
    note(path, {"answer": M.hash})
    with pytest.raises(ex.errors.InvalidParameter, match="the name of one column, not of several"):
        ex.estimate_frequencies(path, M)
    path.with_name("r.csv.extremal.json").write_text("{")
    with pytest.raises(ex.errors.MalformedFile, match="the file must be valid JSON"):
        ex.estimate_frequencies(path, M)
    path.write_text("")
    note(path, {"answer": M.hash})
    with pytest.raises(ex.errors.MalformedFile, match="a CSV file must have a header"):
        ex.estimate_frequencies(path, M)


def test_hashes_noted_together(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    note = json.dumps({"version": "1.0", "columns": {"answer": M.hash}})
    pyarrow.parquet.write_table(pa.table(COLUMNS).replace_schema_metadata({"extremal": note}), path)
    assert ex.estimate_frequencies(path, M).n == 100
    pyarrow.parquet.write_table(pa.table(COLUMNS).replace_schema_metadata({"extremal": "{}"}), path)
    with pytest.raises(ex.errors.MalformedFile, match="the metadata of r.parquet must be JSON"):
        ex.estimate_frequencies(path, M)


def test_tabs_separate_tsv(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text("answer\tw\na\t1\nb\t2\n")
    assert ex.estimate_frequencies(
        path, M, column="answer", weights="w", check_hash=False
    ).effective_n == pytest.approx(9 / 5)
