"""Columns and files as other libraries make them: sparse, wide, unsigned, views, odd names: each works or says why."""

from __future__ import annotations

import enum
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import extremal as ex
from extremal.columns.files import csv
from extremal.release.files import privatize_file
from extremal.simulate import Simulation

SURE = ex.randomized_response(3, 50, inputs=["a", "b", "c"])
VALUES = ["c", "a", "b", "b"]
LARGE = (1 << 63) + 5


def plain(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


@pytest.mark.parametrize("index", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int8(), pa.int64()], ids=str)
def test_dictionaries_of_any_index(index: Any, tmp_path: Path) -> None:
    encoded = pa.array(VALUES).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(encoded.indices.cast(index), encoded.dictionary)
    assert plain(SURE.privatize(column)) == VALUES
    feather.write_feather(pa.table({"x": column}), tmp_path / "in.feather")
    privatize_file(tmp_path / "in.feather", tmp_path / "out.feather", {"x": SURE})
    assert feather.read_table(tmp_path / "out.feather")["x"].to_pylist() == VALUES


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["c", "a", "b"]), pl.String], ids=str)
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_files_of_polars(dtype: Any, ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": pl.Series(VALUES, dtype=dtype), "y": [1, 2, 3, 4]})
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    (frame.write_parquet if ending == ".parquet" else frame.write_ipc)(source)
    privatize_file(source, target, {"x": SURE})
    found = (pl.read_parquet if ending == ".parquet" else pl.read_ipc)(target)
    assert (found["x"].to_list(), found["y"].to_list()) == (VALUES, [1, 2, 3, 4])
    assert plain(ex.privatize(frame.to_arrow(), column="x", mechanism=SURE)["x"]) == VALUES
    assert ex.estimate_frequencies(target, SURE).n == 4


def test_text_views_in_files(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(VALUES, pa.string_view())})
    pq.write_table(table, tmp_path / "in.parquet")
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as writer:
        writer.write_table(table)
    for ending in (".parquet", ".arrow"):
        privatize_file(tmp_path / f"in{ending}", tmp_path / f"out{ending}", {"x": SURE})
        assert ex.estimate_frequencies(tmp_path / f"out{ending}", SURE).n == 4


def test_sparse_columns_become_dense() -> None:
    numbers = ex.randomized_response(3, 50)
    for column in (pd.Series([0, 2, 0], dtype="Sparse[int]"), pd.Series(pd.arrays.SparseArray([0, 2, 0]))):
        found = numbers.privatize(column)
        assert found.tolist() == [0, 2, 0]
        assert not isinstance(found.dtype, pd.SparseDtype)
    sparse = pd.DataFrame({"x": pd.arrays.SparseArray([0, 1, 2])})
    assert ex.privatize(sparse, column="x", mechanism=numbers)["x"].tolist() == [0, 1, 2]


def test_odd_names_of_columns() -> None:
    assert ex.privatize(pl.DataFrame({"^x$": VALUES}), column="^x$", mechanism=SURE).to_series(0).to_list() == VALUES
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    frame = pd.DataFrame([["a", 1], ["c", 2]], columns=columns)
    pd.testing.assert_frame_equal(ex.privatize(frame, column=("a", "x"), mechanism=SURE), frame)
    with pytest.raises(ex.errors.InvalidParameter, match=r"a column must be a name; got column=\['x'\]"):
        ex.privatize(frame, column=["x"], mechanism=SURE)
    with pytest.raises(ex.errors.InvalidParameter, match=r"column must be the name of a column.*Did you mean 'X'\?"):
        ex.privatize(pd.DataFrame({"X": VALUES}), column="x", mechanism=SURE)


def test_integers_of_128_bits_and_more() -> None:
    numbers = ex.randomized_response(3, 50, inputs=[5, -7, 9])
    assert numbers.privatize(pl.Series([5, -7], dtype=pl.Int128)).to_list() == [5, -7]
    wide = ex.randomized_response(2, 50, inputs=[LARGE, 1])
    assert wide.privatize([LARGE, 1]) == [LARGE, 1]
    assert wide.privatize(np.array([LARGE, 1], dtype=object)).tolist() == [LARGE, 1]
    assert wide.privatize(np.array([LARGE, 1], dtype=np.uint64)).tolist() == [LARGE, 1]
    for column in (pa.array([1]), pl.Series([1])):
        with pytest.raises(ex.errors.InvalidParameter, match="a typed column holds integers of 64 bits"):
            wide.privatize(column)


def test_labels_of_enumerations_and_sets() -> None:
    class Answer(str, enum.Enum):  # noqa: UP042 - as people have written them for years
        NO = "no"
        YES = "yes"

    m = ex.randomized_response(2, 50, inputs=list(Answer))
    assert m.inputs == ("no", "yes")
    assert [type(label) for label in m.inputs] == [str, str]
    assert m.privatize(["no", Answer.YES]) == ["no", "yes"]
    with pytest.raises(
        ex.errors.InvalidLabel, match="inputs must have an order, and a set has none that lasts.*Give a list"
    ):
        ex.randomized_response(2, 1, inputs={"a", "b"})
    with pytest.raises(
        ex.errors.InvalidLabel, match="inputs must be a sequence: an iterator is read only once.*Give a list"
    ):
        ex.randomized_response(2, 50, inputs=(c for c in "ab"))


def test_simulated_reports_are_not_taken_for_a_release() -> None:
    found = Simulation(1).privatize(SURE, VALUES)
    with pytest.raises(ex.errors.InvalidParameter, match="simulated reports are no release.*Give its `reports`"):
        ex.estimate_frequencies(found, SURE)
    assert ex.estimate_frequencies(found.reports, SURE).n == 4


# -- CSV


def test_carriage_returns_and_other_cells_stay(tmp_path: Path) -> None:
    odd = ["l1\rl2", "1\r", "a\r\nb", 'q"q', " x ", "", "a,b", "a\tb", "\ufeff"]
    text = "id,note,x\n" + "".join(f'{i},"{cell.replace(chr(34), chr(34) * 2)}",a\n' for i, cell in enumerate(odd))
    (tmp_path / "in.csv").write_bytes(text.encode())
    for target in ("out.csv", "out.tsv"):
        privatize_file(tmp_path / "in.csv", tmp_path / target, {"x": SURE})
        found = next(iter(csv.read(tmp_path / target, ["id", "note"], {})))
        assert found["note"] == odd
        assert ex.estimate_frequencies(tmp_path / target, SURE).n == len(odd)
    frame = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert frame["note"].tolist()[:3] == odd[:3]


def test_an_empty_line_is_a_missing_value_where_it_can_be_one(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x\na\n\nb\n")
    with pytest.raises(ex.errors.UnknownLabel, match=r"row 1 \(from 0\) of column 'x': the value must not be missing"):
        privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", {"x": SURE})
    (tmp_path / "two.csv").write_text("x,y\na,1\n\nb,2\n\n")
    assert privatize_file(tmp_path / "two.csv", tmp_path / "out.csv", {"x": SURE}) == 2


def test_lines_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "LONGEST_LINE", 1000)
    (tmp_path / "in.csv").write_text("x\n" + "a," * 2000)
    with pytest.raises(ex.errors.MalformedFile, match="a line has more than 1,000 characters"):
        privatize_file(tmp_path / "in.csv", tmp_path / "out.csv", {"x": SURE})


def test_damaged_feather_files_are_refused(tmp_path: Path) -> None:
    """Offsets that point outside: following them would end the process."""
    offsets = np.array([0, 1, 1 << 30, 4], dtype=np.int32)
    column = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"abcd"))
    table = pa.record_batch([column], names=["x"])
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as writer, np.errstate(all="ignore"):
        writer.write_batch(pa.record_batch([pa.array(["a", "b", "c"])], names=["x"]))
    data = bytearray((tmp_path / "in.arrow").read_bytes())
    place = data.index(np.array([0, 1, 2, 3], dtype=np.int32).tobytes())
    data[place + 8 : place + 12] = np.array([1 << 30], dtype=np.int32).tobytes()
    (tmp_path / "in.arrow").write_bytes(bytes(data))
    with pytest.raises(ex.errors.MalformedFile, match="in.arrow must be a whole Feather file"):
        privatize_file(tmp_path / "in.arrow", tmp_path / "out.arrow", {"x": SURE})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.arrow"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_is_bounded_by_bytes(ending: str, tmp_path: Path) -> None:
    """4,000 rows of 100 kB: 400 MB, of which only some may be held."""
    cell = "z" * 100_000
    if ending == "csv":
        with (tmp_path / "in.csv").open("w") as file:
            file.write("x,y\n")
            file.writelines(f"a,{cell}\n" for _ in range(4_000))
    else:
        table = pa.table({"x": ["a"] * 100, "y": [cell] * 100})
        with pq.ParquetWriter(tmp_path / "in.parquet", table.schema) as writer:
            for _ in range(40):
                writer.write_table(table)
    SURE.save(tmp_path / "m.json")
    script = (
        "from extremal.cli import main; import pyarrow.parquet\n"
        f"code = main(['privatize', 'in.{ending}', '--column', 'x', '--mechanism', 'm.json', '-o', 'out.{ending}'])\n"
        "print(code, next(int(line.split()[1]) // 1024 for line in open('/proc/self/status') if 'VmHWM' in line))"
    )
    found = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    code, megabytes = map(int, found.stdout.split()[-2:])
    assert code == 0
    assert megabytes < 500


def test_an_index_of_several_levels_is_no_column() -> None:
    import pandas as pd

    index = pd.MultiIndex.from_tuples([("no", "yes"), ("yes", "yes")])
    m = ex.randomized_response(["no", "yes"], 1)
    with pytest.raises(ex.errors.InvalidParameter, match="one value a row; got .*MultiIndex.*get_level_values"):
        m.privatize(index)
    assert len(m.privatize(index.get_level_values(1))) == 2
