"""CSV: text in, text out, a megabyte at a time: by `plain_csv`, or with Python's own reader where cells are quoted.

Every cell is text, so a label is recognised by how it prints: the label 1 by "1", True by "True", a set of labels by
its members with a space between them, or as a JSON list when members have spaces themselves. Labels that this does not
tell apart are refused before anything is written. An empty cell is a missing value, and in a file of one column an
empty line is an empty cell. Other cells are written back as they were read; only their quoting may change.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from extremal.atomic import complete_or_absent
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, beside, extended, with_note_beside
from extremal.columns.files.plain_csv import CsvColumn, PlainRows, plain_columns
from extremal.columns.frames import refuse_absent
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import BitLabels, SubsetLabels

TITLE: str = "CSV"
ENDINGS: tuple[str, ...] = (".csv", ".tsv")

BATCH = 1 << 15  # rows randomised at a time
PIECE = 1 << 20  # bytes read at a time
LONGEST_LINE = 16 << 20  # characters
MOST_BYTES = 4  # of a character
IN_QUOTES = "unexpected end of data"  # what the csv module says where a quoted cell does not end
LISTED = 1 << 16  # numbers 0..n−1 above this are read as numbers, without a list of them
LONGEST_NUMBER = 20  # digits of a report; all are below 2^63

hashes = beside


class Cells:
    """The labels of one alphabet as text, and back.

    A text that is no label stays text, and is refused where labels are looked up.

    >>> cells = Cells(Labels([1, 2]), "x")
    >>> cells.texts([2, 1]), cells.labels(["2", "3"])
    (['2', '1'], [2, '3'])
    """

    def __init__(self, labels: Labels, name: str) -> None:
        self._text: Callable[[Any], str] = str
        self._label: Callable[[str], Any] = _text_or_missing
        if labels.numbered and labels.count > LISTED:
            self._label = _number
        elif labels.kind is tuple:
            self._read_sets(_members(labels), name)
        elif not all(isinstance(label, str) for label in labels):
            self._text = _spaced
            meaning = dict(zip(self.texts(labels), labels, strict=True))
            if len(meaning) < labels.count:
                raise InvalidParameter(
                    "labels must differ as text to be told apart in a CSV file",
                    parameter=f"labels of {name}",
                    value=[label for label, _ in zip(labels, range(6), strict=False)],
                    hint="Use Parquet.",
                )
            self._label = lambda text: meaning.get(text, text or None)

    def _read_sets(self, parts: list[Any], name: str) -> None:
        """Members with spaces between them; as JSON where their texts have spaces or do not tell them apart."""
        texts = set(map(str, parts))
        if len(texts) < len(parts) or any(set(text) & set(' \r\n["') for text in texts):
            self._text, self._label = partial(json.dumps, ensure_ascii=False), _from_json
        else:
            members = Cells(Labels(parts), name)
            self._text = _spaced
            self._label = lambda text: tuple(members.labels(text.split(" "))) if text else None

    def texts(self, labels: Iterable[Any]) -> list[str]:
        return ["" if label is None else self._text(label) for label in labels]

    def labels(self, texts: Iterable[str]) -> list[Any]:
        return list(map(self._label, texts))


def _spaced(label: Any) -> str:
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _text_or_missing(text: str) -> str | None:
    return text or None


def _members(labels: Labels) -> list[Any]:
    """What sets of labels are made of."""
    if isinstance(labels, (SubsetLabels, BitLabels)):
        return list(labels.alphabet)
    sets: Iterable[Any] = labels
    found = dict.fromkeys((type(part), part) for one in sets for part in one)
    return [part for _, part in found]


def _from_json(text: str) -> Any:
    """The set that a cell holds; what is no JSON list stays text, and an empty cell is missing."""
    try:
        content = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return text
    return tuple(content) if isinstance(content, list) else content if content is None else text


def _number(text: str) -> Any:
    """A report that is a number; what is none stays text, and an empty cell is missing."""
    whole = text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER and str(int(text)) == text
    return int(text) if whole else text or None


def read(path: Path, columns: Sequence[str], alphabets: Mapping[str, Labels]) -> Iterator[dict[str, Any]]:
    read = {name: Cells(labels, name).labels for name, labels in alphabets.items()}
    with _opened(path) as (header, pieces):
        for name in columns:
            refuse_absent(name, header, listed=False)
        done = 0
        for piece in pieces:
            found = plain_columns(piece, header, _delimiter(path), columns, read)
            if found is not None:
                done += found[0]
                yield found[1]
                continue
            for batch in _batches(pieces.rows(piece), len(header), done):
                done += len(batch)
                texts = {name: [row[header.index(name)] for row in batch] for name in columns}
                yield {name: read.get(name, list)(cells) for name, cells in texts.items()}


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    place = partial(with_note_beside, extended(hashes(source), made))
    cells = {name: (Cells(c.before, name).labels, Cells(c.after, name).texts, c) for name, c in changes.items()}
    with complete_or_absent(target, overwrite, place) as temporary, _opened(source) as (header, pieces):
        for name in changes:
            refuse_absent(name, header, listed=False)
        columns = [CsvColumn(header.index(name), *how) for name, how in cells.items()]
        plain = PlainRows.of(len(header), (_delimiter(source), _delimiter(target)), columns)
        with temporary.open("wb") as out:
            # A cell with a carriage return is quoted only where lines end in one.
            writer = csv.writer(CsvLines(out), delimiter=_delimiter(target), lineterminator="\r\n")
            writer.writerow(header)
            done = 0
            for piece in pieces:
                found = None if plain is None else plain.rewritten(piece, done)
                if found is not None:
                    done += found[0]
                    out.writelines(found[1])
                    report(done, None)
                    continue
                for batch in _batches(pieces.rows(piece), len(header), done):
                    for column in columns:
                        column.change_rows(batch, done)
                    writer.writerows(batch)
                    done += len(batch)
                    report(done, None)
    return done


class CsvLines:
    """Where the csv writer writes: each line as it makes it, but ended as on Unix."""

    def __init__(self, out: Any) -> None:
        self._write = out.write

    def write(self, line: str) -> None:
        self._write((line[:-2] + "\n").encode())


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], _Pieces]]:
    """The header, and the lines after it."""
    with path.open("rb") as file:
        try:
            pieces = _Pieces(file, _delimiter(path))
            header = pieces.header()
            if not header:
                raise MalformedFile("a CSV file must have a header", parameter="path", value=str(path))
            yield header, pieces
        except (UnicodeDecodeError, csv.Error) as error:
            hint = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
            raise MalformedFile(
                f"{path.name} must be a CSV file in UTF-8", parameter="path", value=str(path), hint=hint
            ) from None


class _Pieces:
    """The bytes of a file in pieces of whole lines, and a piece as rows."""

    def __init__(self, file: BinaryIO, delimiter: str) -> None:
        self._file, self._delimiter = file, delimiter
        self._left = file.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._next():
            yield piece

    def _next(self) -> bytes:
        """Lines that have an end, or the last one; empty when there are no more."""
        data, self._left = self._left, b""
        while more := self._file.read(PIECE):
            data += more
            cut = data.rfind(b"\n") + 1
            if not cut and len(data) > MOST_BYTES * LONGEST_LINE:
                cut = data.rfind(b"\r", 0, -1) + 1 or len(data)
            if cut:
                self._left = data[cut:]
                return data[:cut]
        return data

    def header(self) -> list[str]:
        """The first row, which is then no part of a piece."""
        lines, rows = self._parsed(self._next(), lambda reader: list(islice(reader, 1)))
        self._left = lines.read().encode() + self._left
        return rows[0] if rows else []

    def rows(self, piece: bytes) -> list[list[str]]:
        """The rows that begin in a piece; the last one may go on in the next."""
        return self._parsed(piece, list)[1]

    def _parsed(self, piece: bytes, take: Callable[[Any], list[list[str]]]) -> tuple[io.StringIO, list[list[str]]]:
        while True:
            lines = io.StringIO(piece.decode(), newline="")
            try:
                return lines, take(csv.reader(_not_too_long(lines), delimiter=self._delimiter, strict=True))
            except csv.Error as error:
                more = self._next() if str(error) == IN_QUOTES else b""
                if not more:
                    raise
                piece += more


def _not_too_long(lines: io.StringIO) -> Iterator[str]:
    while line := lines.readline():
        if len(line) >= LONGEST_LINE:
            raise csv.Error(f"a line has more than {LONGEST_LINE:,} characters")
        yield line


def _batches(rows: list[list[str]], width: int, done: int) -> Iterator[list[list[str]]]:
    """So many at a time, the first of them being row `done` of the file; every row has as many cells as the header."""
    # The csv module gives [] for an empty line: no row, unless an empty cell is all that a row can hold.
    kept = [row or [""] for row in rows] if width == 1 else [row for row in rows if row]
    for number, row in enumerate(kept):
        if len(row) != width:
            raise MalformedFile(
                "every row must have as many cells as the header",
                parameter=f"cells of row {done + number}",
                value=len(row),
            )
    for start in range(0, len(kept), BATCH):
        yield kept[start : start + BATCH]
