"""CSV: text in, text out, a few thousand rows at a time, with Python's own reader.

Every cell is text, so a label is recognised by how it prints: the label 1 by "1", True by "True", a set of labels by
its members with a space between them. Labels that this does not tell apart are refused before anything is written.
Other cells are written back as they were read; only their quoting may change.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, beside, extended, write_beside
from extremal.columns.frames import refuse_absent
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.bit_labels import BitLabels
from extremal.mechanism.labels import Labels, SubsetLabels

TITLE: str = "CSV"
ENDINGS: tuple[str, ...] = (".csv", ".tsv")

BATCH = 1 << 15  # rows held at a time
LISTED = 1 << 20  # sets that are looked up by their whole text

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
        self._whole: Labels | None = None
        if labels.numbered and labels.count > LISTED:
            self._whole = labels
            return
        if isinstance(labels, BitLabels):
            self._parts = Cells(labels.alphabet, name)
            return
        if isinstance(labels, SubsetLabels):
            if not any(" " in str(label) for label in labels.alphabet):
                self._parts = Cells(labels.alphabet, name)
                return
            if labels.count > LISTED:
                raise InvalidParameter(
                    "sets of labels with spaces cannot be told apart in a CSV file",
                    parameter=f"labels of {name}",
                    value=[label for label in labels.alphabet if " " in str(label)][:6],
                    hint="Use Parquet.",
                )
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
        return [" ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels]

    def labels(self, texts: list[str]) -> list[Any]:
        """The labels that read so; what is no label stays text, and is refused where labels are looked up."""
        if self._whole is not None:
            return [self._number(text) for text in texts]
        if self._parts is not None:
            return [tuple(self._parts.labels(text.split(" "))) for text in texts]
        return texts if self._meaning is None else [self._meaning.get(text, text) for text in texts]

    @staticmethod
    def _number(text: str) -> Any:
        whole = text.isascii() and text.isdecimal() and len(text) < 20 and str(int(text)) == text
        return int(text) if whole else text


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
    with complete_or_absent(target, overwrite) as temporary, _opened(source) as (header, batches):
        for name in changes:
            refuse_absent(name, header)
        with temporary.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, delimiter=_delimiter(target), lineterminator="\n")
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
        # The note first: if only one of the two files appears it is the one without data.
        write_beside(target, note)
    return done


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[list[str], Iterator[list[list[str]]]]]:
    """The header, and the rows in batches."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = csv.reader(file, delimiter=_delimiter(path), strict=True)
            header = next(rows, None)
            if header is None:
                raise MalformedFile("a CSV file must have a header", parameter="path", value=str(path))
            yield header, _batches(rows, len(header))
        except (UnicodeDecodeError, csv.Error) as error:
            raise MalformedFile(
                f"{path.name} must be a CSV file in UTF-8", parameter="path", value=str(path), hint=str(error)
            ) from None


def _batches(rows: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    done = 0
    while batch := list(itertools.islice(rows, BATCH)):
        kept = [row for row in batch if row]  # the csv module gives [] for an empty line
        for number, row in enumerate(kept):
            if len(row) != width:
                raise MalformedFile(
                    "every row must have as many cells as the header",
                    parameter=f"cells of row {done + number}",
                    value=len(row),
                )
        done += len(kept)
        yield kept
