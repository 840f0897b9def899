"""Plain pieces of CSV files are rewritten as Python's csv module would rewrite them, and refused alike."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.columns.files import csv
from extremal.columns.files.plain_csv import PlainRows
from extremal.mechanism.labels import Labels
from extremal.release.files import privatize_file

WORDS = ["no", "maybe, later", 'some "quoted" answer', "é"]
ODD = ["", " x", "1.50", "ü€", "a'b", "-", "0x1f", "\u2028", "\x0b"]


def sure(inputs: list[Any], outputs: list[Any] | None = None) -> ex.Mechanism:
    """Reports that are the values, under other names."""
    return ex.Mechanism.from_matrix(np.eye(len(inputs)), inputs=inputs, outputs=outputs or inputs)


def _both_ways(source: Path, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is written, or the error, with plain rows and without."""
    found = []
    for plain in (True, False):
        target = source.with_stem(f"out-{plain}")
        with monkeypatch.context() as patch:
            if not plain:
                patch.setattr(PlainRows, "of", lambda *_: None)
            try:
                rows = privatize_file(source, target, changes)
                found.append((rows, target.read_bytes()))
            except ex.ExtremalError as error:
                found.append((type(error), str(error).replace(target.name, "")))
    return found


def _lines(rng: np.random.Generator, rows: int, columns: list[list[str]], end: str, delimiter: str = ",") -> str:
    return "".join(
        delimiter.join(str(rng.choice(cells)) for cells in columns) + (end if end else rng.choice(["\n", "\r\n"]))
        for _ in range(rows)
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("piece", [64, 1 << 20])
def test_plain_rows_are_written_as_the_csv_module_writes_them(
    seed: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(csv, "PIECE", piece)
    delimiter = "\t" if seed % 4 == 3 else ","
    plain = [word for word in WORDS if not {'"', ","} & set(word)] if delimiter == "," else [WORDS[0], WORDS[3]]
    answers = sure(plain)
    numbers = sure([1, 2, 30], WORDS[:3])
    truths = sure([True, False])
    columns = {"a": plain, "n": ["1", "2", "30"], "t": ["True", "False"], "o": ODD, "p": ODD}
    names = [str(name) for name in rng.permutation(list(columns))]
    text = delimiter.join(names) + "\n" + _lines(rng, 60, [columns[name] for name in names], "", delimiter)
    if seed % 2:  # somewhere quoted cells, over several lines
        cells = {"a": plain[0], "n": "2", "t": "True", "o": '"x\n""y"""', "p": '"\r\n\r"'}
        text += (
            delimiter.join(cells[name] for name in names)
            + "\r\n"
            + _lines(rng, 9, [columns[n] for n in names], "\n", delimiter)
        )
    if seed % 3 == 0:
        text = text.rstrip("\r\n")
    source = tmp_path / ("in.tsv" if delimiter == "\t" else "in.csv")
    source.write_bytes((b"\xef\xbb\xbf" if seed % 5 == 0 else b"") + text.encode())
    quick, slow = _both_ways(source, {"a": answers, "n": numbers, "t": truths}, monkeypatch)
    assert quick == slow
    assert quick[0] == (70 if seed % 2 else 60)


@pytest.mark.parametrize(
    "text", ["x\nno\n\nno\n", "x\nno\nperhaps\n", "x\nno\né", "x\nno\nno,no\n", "x\nno\r\rno\n", "x\nno\n\xff\n"]
)
def test_one_column_and_what_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes(text.encode("latin-1" if "\xff" in text else "utf-8"))
    m = sure(WORDS)
    quick, slow = _both_ways(source, {"x": m}, monkeypatch)
    assert quick == slow


ANSWERS = ["no", "maybe, later", 'some "quoted" answer', "two\nlines", "é", '"']
QUOTED = ["", *ODD, *ANSWERS, '""', ",", "\n", 'x"', "a\r\nb"]


def _styled(text: str, rng: np.random.Generator, often: float) -> str:
    """A cell with quotation marks, at random where it needs none."""
    needed = bool(set(text) & set(',"\r\n'))
    return '"' + text.replace('"', '""') + '"' if needed or rng.random() < often else text


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("piece", [64, 1 << 20])
def test_quoted_cells_are_written_as_the_csv_module_writes_them(
    seed: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(csv, "PIECE", piece)
    often, end = [0, 0.3, 1][seed % 3], ["\n", "\r\n"][seed % 2]
    others = QUOTED if seed % 4 else [text for text in QUOTED if "\n" not in text]
    rows = [["i", "x", "y"], *([str(rng.choice(c)) for c in (others, ANSWERS, others)] for _ in range(50))]
    text = "".join(",".join(_styled(cell, rng, often) for cell in row) + end for row in rows)
    source = tmp_path / "in.csv"
    source.write_bytes((text.rstrip("\r\n") if seed % 5 == 0 else text).encode())
    quick, slow = _both_ways(source, {"x": sure(ANSWERS)}, monkeypatch)
    assert quick == slow
    assert quick[0] == 50


LABELS = ["a", '"a"', '"a""a"', '"a,a"', '"a\na"', '""""']
RAW = [*LABELS, "", '""', "é", '" "', 'a"', '"a', '"a"a', '""a', '"', "a,a", "a\r", '"\r\n"']


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(RAW) | st.text('a",\r\n', max_size=3)), min_size=1))
def test_any_quotation_marks_are_read_alike(rows: list[tuple[str, str]]) -> None:
    """However they stand, also where the csv module refuses them."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        source = Path(folder) / "in.csv"
        source.write_text("".join(f"{x},{y}\n" for x, y in [("x", "y"), *rows]), newline="")
        quick, slow = _both_ways(source, {"x": sure(["a", 'a"a', ",", '"', "a,a", "a\na"])}, patch)
        assert quick == slow


@pytest.mark.parametrize("piece", [64, 1 << 20])
@pytest.mark.parametrize("seed", range(8))
def test_columns_are_read_as_the_csv_module_reads_them(
    seed: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels that are texts, numbers, truth values, sets and missing, and columns that are only text."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(csv, "PIECE", piece)
    sets = ex.subset_selection(4, 1, size=2, inputs=["a", "b", "c", "d"]).output_labels
    alphabets = {"x": Labels(ANSWERS), "n": Labels([1, 2, 30]), "t": Labels([True, False]), "s": sets}
    cells = {
        "x": [*ANSWERS, ""],
        "n": ["1", "2", "30", ""],
        "t": ["True", "False"],
        "s": ["a b", "c d", ""],
        "o": QUOTED,
        "w": ["1.5", "2"],
    }
    names = [str(name) for name in rng.permutation(list(cells))]
    rows = [names, *([str(rng.choice(cells[name])) for name in names] for _ in range(70))]
    source = tmp_path / "in.csv"
    source.write_text("".join(",".join(_styled(cell, rng, 0.4) for cell in row) + "\n" for row in rows), newline="")
    wanted = [str(name) for name in rng.permutation(names)[: 1 + seed % 6]]
    found = []
    for plain in (True, False):
        with monkeypatch.context() as patch:
            if not plain:
                patch.setattr(csv, "plain_columns", lambda *_: None)
            whole: dict[str, list[Any]] = {name: [] for name in wanted}
            for batch in csv.read(source, wanted, {n: a for n, a in alphabets.items() if n in wanted}):
                for name in wanted:
                    column = batch[name]
                    whole[name] += column if isinstance(column, list) else column.to_pylist()
            found.append(whole)
    assert found[0] == found[1]
    assert {type(v) for name in wanted for v in found[0][name]} == {type(v) for n in wanted for v in found[1][n]}
    assert all(len(column) == 70 for column in found[0].values())


def test_columns_of_a_plain_table_do_not_go_through_the_csv_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = sure(["no", "yes"])
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('"i","x"\n' + '"1","no"\n' * 30 + '"2","yes"\n' * 10)
    privatize_file(source, target, {"x": m})
    monkeypatch.setattr(csv._Pieces, "rows", None)
    assert ex.estimate_frequencies(target, m, column="x").estimate.tolist() == [0.75, 0.25]


def test_a_table_in_quotation_marks_is_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As R and Arrow write them: nothing goes through the csv module but the header."""
    source = tmp_path / "in.csv"
    source.write_text('"i","x","who"\n' + '"1","no","Smith, John"\n' * 50)
    monkeypatch.setattr(csv._Pieces, "rows", None)
    assert privatize_file(source, tmp_path / "out.csv", {"x": sure(["no", "yes"])}) == 50
    assert (tmp_path / "out.csv").read_text() == "i,x,who\n" + '1,no,"Smith, John"\n' * 50


@pytest.mark.parametrize("cell", ["", "4", "x"])
def test_what_is_no_label_is_refused_alike(cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.csv"
    source.write_text("i,x\n" + "".join(f"{i},{i % 3}\n" for i in range(40)) + f"9,{cell}\n")
    m = sure([0, 1, 2])
    quick, slow = _both_ways(source, {"x": m}, monkeypatch)
    assert quick == slow
    assert quick[0] is ex.errors.UnknownLabel


def test_plain_rows_are_what_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here goes through the csv module but the header."""
    source = tmp_path / "in.csv"
    source.write_text("i,x\n" + "1,0\n" * 50)
    monkeypatch.setattr(csv._Pieces, "rows", None)
    assert privatize_file(source, tmp_path / "out.csv", {"x": ex.randomized_response(3, 1)}) == 50
    sets = ex.subset_selection(3, 1, size=2)
    with pytest.raises(TypeError):  # sets of labels do
        privatize_file(source, tmp_path / "sets.csv", {"x": sets})


def test_lines_that_end_like_on_old_computers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "LONGEST_LINE", 8)
    monkeypatch.setattr(csv, "PIECE", 16)
    source = tmp_path / "in.csv"
    source.write_bytes(b"i,x\r" + b"1,0\r" * 50)
    assert privatize_file(source, tmp_path / "out.csv", {"x": sure([0, 1, 2])}) == 50
    assert (tmp_path / "out.csv").read_bytes() == b"i,x\n" + b"1,0\n" * 50
