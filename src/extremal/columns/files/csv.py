"""CSV: text in, text out, a few thousand rows at a time, with Python's own reader.

Every cell is text, so a label is recognised by how it prints: the label 1 by "1", True by "True", a set of labels by
its members with a space between them, or as a JSON list when members have spaces themselves. Labels that this does not
tell apart are refused before anything is written. An empty cell is a missing value, and in a file of one column an
empty line is an empty cell. Other cells are written back as they were read; only their quoting may change.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, beside, extended, with_note_beside
from extremal.columns.frames import refuse_absent
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.bit_labels import BitLabels
from extremal.mechanism.labels import Labels, SubsetLabels

TITLE: str = "CSV"
ENDINGS: tuple[str, ...] = (".csv", ".tsv")

BATCH = 1 << 15  # rows held at a time
BATCH_CHARACTERS = 4 << 20  # and characters, if that is less
LONGEST_LINE = 16 << 20  # characters
LISTED = 1 << 16  # numbers 0..n−1 above this are read as numbers, without a list of them
LONGEST_NUMBER = 20  # digits of a report; all are below 2^63
ROWS_BETWEEN = 1 << 6  # rows after which the characters are looked at

hashes = beside


class Cells:
    """The labels of one alphabet as text, and back.

    >>> cells = Cells(Labels([1, 2]), "x")
    >>> cells.texts([2, 1]), cells.labels(["2", "3"])
    (['2', '1'], [2, '3'])
    """

    def __init__(self, labels: Labels, name: str) -> None:
        self._meaning: dict[str, Any] | None = None
        self._parts: Cells | None = None
        self._as_json = self._whole = False
        if labels.numbered and labels.count > LISTED:
            self._whole = True
            return
        if labels.kind is tuple:
            parts = _members(labels)
            texts = set(map(str, parts))
            self._as_json = len(texts) < len(parts) or any(set(text) & set(' \r\n["') for text in texts)
            self._parts = None if self._as_json else Cells(Labels(parts), name)
            return
        if not all(isinstance(label, str) for label in labels):
            self._meaning = dict(zip(self.texts(labels), labels, strict=True))
            if len(self._meaning) < labels.count:
                raise InvalidParameter(
                    "labels must differ as text to be told apart in a CSV file",
                    parameter=f"labels of {name}",
                    value=[label for label, _ in zip(labels, range(6), strict=False)],
                    hint="Use Parquet.",
                )

    def texts(self, labels: Iterable[Any]) -> list[str]:
        if self._as_json:
            return [json.dumps(label, ensure_ascii=False) for label in labels]
        return [" ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels]

    def labels(self, texts: list[str]) -> list[Any]:
        """The labels that read so; what is no label stays text, and is refused where labels are looked up."""
        if self._whole:
            return [_number(text) for text in texts]
        if self._as_json:
            return [_from_json(text) for text in texts]
        if self._parts is not None:
            return [tuple(self._parts.labels(text.split(" "))) if text else None for text in texts]
        if self._meaning is None:
            return [text or None for text in texts]
        return [self._meaning.get(text, text or None) for text in texts]


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
    cells = {name: Cells(labels, name) for name, labels in alphabets.items()}
    with _opened(path) as (header, batches):
        for name in columns:
            refuse_absent(name, header)
        for batch in batches:
            texts = {name: [row[header.index(name)] for row in batch] for name in columns}
            yield {name: cells[name].labels(t) if name in cells else t for name, t in texts.items()}


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    note = extended(hashes(source), made)
    before = {name: Cells(change.before, name) for name, change in changes.items()}
    after = {name: Cells(change.after, name) for name, change in changes.items()}

    def with_note(temporary: Path, path: Path, replace: bool) -> None:
        with_note_beside(note, temporary, path, replace)

    with complete_or_absent(target, overwrite, with_note) as temporary, _opened(source) as (header, batches):
        for name in changes:
            refuse_absent(name, header)
        with temporary.open("w", encoding="utf-8", newline="") as out:
            # A cell with a carriage return is quoted only where lines end in one.
            writer = csv.writer(_Lines(out), delimiter=_delimiter(target), lineterminator="\r\n")
            writer.writerow(header)
            done = 0
            for batch in batches:
                for name, change in changes.items():
                    place = header.index(name)
                    values = before[name].labels([row[place] for row in batch])
                    for row, text in zip(batch, after[name].texts(change.apply(values, done)), strict=True):
                        row[place] = text
                writer.writerows(batch)
                done += len(batch)
                report(done, None)
    return done


class _Lines:
    """Where the csv writer writes: each line as it makes it, but ended as on Unix."""

    def __init__(self, out: Any) -> None:
        self._write = out.write

    def write(self, line: str) -> None:
        self._write(line[:-2] + "\n")


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], Iterator[list[list[str]]]]]:
    """The header, and the rows in batches."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = _Counted(file)
            rows = csv.reader(lines, delimiter=_delimiter(path), strict=True)
            header = next(rows, None)
            if not header:
                raise MalformedFile("a CSV file must have a header", parameter="path", value=str(path))
            yield header, _batches(rows, len(header), lines)
        except UnicodeDecodeError as error:
            raise MalformedFile(
                f"{path.name} must be a CSV file in UTF-8", parameter="path", value=str(path), hint=error.reason
            ) from None
        except csv.Error as error:
            raise MalformedFile(
                f"{path.name} must be a CSV file in UTF-8", parameter="path", value=str(path), hint=str(error)
            ) from None


class _Counted:
    """The lines of a file, and how many characters they had."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.characters = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise csv.Error(f"a line has more than {LONGEST_LINE:,} characters")
            self.characters += len(line)
            yield line


def _read_rows(rows: Iterator[list[str]], lines: _Counted) -> list[list[str]]:
    """The next rows, as many as may be held."""
    batch: list[list[str]] = []
    lines.characters = 0
    while len(batch) < BATCH and lines.characters < BATCH_CHARACTERS:
        more = list(itertools.islice(rows, ROWS_BETWEEN))
        if not more:
            break
        batch += more
    return batch


def _batches(rows: Iterator[list[str]], width: int, lines: _Counted) -> Iterator[list[list[str]]]:
    done = 0
    while batch := _read_rows(rows, lines):
        # The csv module gives [] for an empty line: no row, unless an empty cell is all that a row can hold.
        kept = [row or [""] for row in batch] if width == 1 else [row for row in batch if row]
        for number, row in enumerate(kept):
            if len(row) != width:
                raise MalformedFile(
                    "every row must have as many cells as the header",
                    parameter=f"cells of row {done + number}",
                    value=len(row),
                )
        done += len(kept)
        yield kept
