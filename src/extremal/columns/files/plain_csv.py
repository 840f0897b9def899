"""CSV many rows at a time: cells are found by their delimiters, and bytes are joined anew.

A piece of a file is plain when it holds no NUL, lines end in \\n or \\r\\n, every line has as many cells as the header,
and quotation marks stand around whole cells, doubled inside. What is written is what Python's csv module would write,
byte for byte: cells that need no quotation marks lose them. So nobody can tell which way a piece went. Anything else is
left to that module: a piece that is not plain, values that are no labels (whose errors are made there), reports that
are sets.
"""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns.files.format import Change
from extremal.exact.weights import Indices

NEWLINE = ord("\n")
QUOTE = b'"'

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CsvRows:
    """Whole lines, and where the cells of some columns begin and end in them, by place."""

    lines: bytes
    count: int
    edges: list[tuple[Indices, Indices]]

    def strings(self) -> tuple[list[Any], list[Any], bytes]:
        """Arrow strings: what stands before the cells of each column in a row (from the column before it, or from the
        row before on), the cells, and what is left at the end."""
        import pyarrow as pa

        width, rows = 2 * len(self.edges), self.count
        offsets = np.empty(width * rows + 2, dtype=np.int32)
        offsets[0], offsets[-1] = 0, len(self.lines)
        for number, (begin, end) in enumerate(self.edges):
            offsets[2 * number + 1 : -1 : width] = begin
            offsets[2 * number + 2 : -1 : width] = end
        parts = pa.StringArray.from_buffers(width * rows + 1, pa.py_buffer(offsets), pa.py_buffer(self.lines))
        every = np.arange(rows) * width
        taken = [parts.take(pa.array(every + number)) for number in range(width)]
        return taken[::2], taken[1::2], self.lines[int(offsets[-2]) :]


@dataclass(frozen=True, eq=False)
class CsvColumn:
    """One column that changes: its place, how texts are read as labels, how labels are written, and the change."""

    place: int
    labels: Callable[[list[str]], list[Any]]
    texts: Callable[[list[Any]], list[str]]
    change: Change

    def change_rows(self, rows: list[list[str]], first: int) -> None:
        """Write the new cells into rows, which start at row `first` of the file."""
        made = self.change.apply(self.labels([row[self.place] for row in rows]), first)
        for row, text in zip(rows, self.texts(made), strict=True):
            row[self.place] = text


@dataclass(frozen=True, eq=False)
class PlainRows:
    """How plain pieces of a file are rewritten.

    Attributes:
        width: cells of a row.
        delimiters: of the source and of the target.
        columns: those that change, by place.
    """

    width: int
    delimiters: tuple[str, str]
    columns: tuple[CsvColumn, ...]

    @classmethod
    def of(cls, width: int, delimiters: tuple[str, str], columns: Sequence[CsvColumn]) -> PlainRows | None:
        """None where cells have to be looked at one by one: other delimiters in the target, sets or mixed labels, no
        pyarrow."""
        alphabets = [labels for c in columns for labels in (c.change.before, c.change.after)]
        if delimiters[0] != delimiters[1] or any(labels.kind in (tuple, None) for labels in alphabets):
            return None
        if not _arrow():
            return None
        return cls(width, delimiters, tuple(sorted(columns, key=lambda column: column.place)))

    def rewritten(self, piece: bytes, first: int) -> tuple[int, list[Any]] | None:
        """(rows, buffers to write one after the other) for whole lines from row `first` on; None: not plain."""
        found = scanned(piece, self.width, self.delimiters[0], [column.place for column in self.columns])
        return None if found is None else self._joined(found, first)

    def _joined(self, found: CsvRows, first: int) -> tuple[int, list[Any]] | None:
        import pyarrow.compute as pc

        rows, between = found.count, []
        before, cells, rest = found.strings()
        for column, texts, cell in zip(self.columns, before, cells, strict=True):
            made = self._reports(column, cell, first)
            if made is None:
                return None
            between += [texts, made]
        whole = pc.binary_join_element_wise(*between, "")
        _, starts, data = whole.buffers()
        last = np.frombuffer(starts, dtype=np.int32)[whole.offset + rows] if rows else 0
        return rows, [memoryview(data)[: int(last)] if rows else b"", rest]

    def _reports(self, column: CsvColumn, cells: Any, first: int) -> Any:
        """The new cells, as they are written; None when a cell is no label."""
        import pyarrow as pa

        labels = labelled(cells, column.labels)
        if labels is None:
            return None
        made = column.change.apply(labels, first)
        if not pa.types.is_dictionary(made.type):
            made = made.dictionary_encode()
        texts = [self._quoted(text) for text in column.texts(made.dictionary.to_pylist())]
        return pa.array(texts, type=pa.string()).take(made.indices).fill_null("")  # nothing was reported

    def _quoted(self, text: str) -> str:
        """A cell as Python's csv module writes it."""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiters[1], lineterminator="\r\n").writerow([text, ""][: self.width])
        return line.getvalue()[: -2 if self.width == 1 else -3]


def scanned(piece: bytes, width: int, delimiter: str, places: Sequence[int]) -> CsvRows | None:
    """Whole lines of `width` cells, quoted where they must be, and the edges of the columns at increasing places; None:
    not plain."""
    if b"\0" in piece:
        return None
    ends = piece.count(b"\r")
    if ends:
        if ends != piece.count(b"\r\n"):
            return None
        piece = piece.replace(b"\r\n", b"\n")
    if not piece.endswith(b"\n"):
        piece += b"\n"
    if not piece.isascii():
        piece.decode()  # raises where it is no UTF-8
    held, marks = _marked(piece, delimiter)
    if QUOTE in piece:
        found = _unquoted(held, marks)
        if found is None or (found[1] and ends):
            return None  # a line within a cell: how it ended matters
        piece, within = found
        held, marks = _marked(piece, delimiter)
        if within:
            marks &= ~_inside(held)
    edges = _edges(held, np.flatnonzero(marks), width, places)
    return None if edges is None else CsvRows(piece, *edges)


def _marked(piece: bytes, delimiter: str) -> tuple[Bytes, Mask]:
    """The bytes of a piece, and where delimiters and ends of lines are."""
    held = np.frombuffer(piece, dtype=np.uint8)
    return held, (held == NEWLINE) | (held == ord(delimiter))


def _inside(held: Bytes) -> Mask:
    """Which bytes stand after an odd number of quotation marks."""
    return np.asarray(np.cumsum(held == ord(QUOTE), dtype=np.uint8).view(np.int8) & 1, dtype=bool)


def _edges(
    held: Bytes, marks: Indices, width: int, places: Sequence[int]
) -> tuple[int, list[tuple[Indices, Indices]]] | None:
    """The number of rows, and where the cells of each column begin and end."""
    rows, ends = marks.size // width, held[marks] == NEWLINE
    line_ends = marks[width - 1 :: width]
    if marks.size % width or int(np.count_nonzero(ends)) != rows or not ends[width - 1 :: width].all():
        return None
    if width == 1 and (np.diff(line_ends, prepend=-1) == 1).any():
        return None  # an empty line is an empty cell, which is written as ""
    begins = np.concatenate([[0], line_ends[:-1] + 1])
    return rows, [(begins if x == 0 else marks[x - 1 :: width] + 1, marks[x::width]) for x in places]


def plain_columns(
    piece: bytes,
    header: Sequence[str],
    delimiter: str,
    names: Sequence[str],
    labels: Mapping[str, Callable[[list[str]], list[Any]]],
) -> tuple[int, dict[str, Any]] | None:
    """The number of rows, and some columns: as labels where it is said how they are read, else as text; None: not
    plain."""
    places = {name: header.index(name) for name in names}
    ordered = sorted(names, key=places.__getitem__)
    found = scanned(piece, len(header), delimiter, [places[name] for name in ordered]) if names and _arrow() else None
    if found is None:
        return None
    columns = {}
    for name, cells in zip(ordered, found.strings()[1], strict=True):
        columns[name] = labelled(cells, labels[name]) if name in labels else list(map(_content, cells.to_pylist()))
    return None if any(column is None for column in columns.values()) else (found.count, columns)


def _arrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def labelled(cells: Any, labels: Callable[[list[str]], list[Any]]) -> Any:
    """Cells as labels: a dictionary array, or a list where they are sets; None where labels and other texts stand side
    by side."""
    import pyarrow as pa

    encoded = cells.dictionary_encode()
    try:
        meant = labels([_content(cell) for cell in encoded.dictionary.to_pylist()])
        known = pa.array(meant)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None
    if pa.types.is_nested(known.type):
        return [meant[i] for i in encoded.indices.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, known)


def _content(cell: str) -> str:
    """What a cell says."""
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell


def _unquoted(held: Bytes, marks: Mask) -> tuple[bytes, bool] | None:
    """Lines without the quotation marks that they do not need, and whether any are left; None where one stands neither
    at an end of a cell nor doubled inside."""
    quotes = np.flatnonzero(held == ord(QUOTE))
    if quotes.size % 2:
        return None
    first, last = quotes[::2], quotes[1::2]  # those after which a cell is quoted, and those after which it is not
    within = marks & _inside(held)
    between = marks ^ within
    doubled = last[:-1] + 1 == first[1:]
    opens, closes = first[np.append(True, ~doubled)], last[np.append(~doubled, True)]
    if not (between[closes + 1].all() and (between[opens - 1] | (opens == 0)).all()):
        return None
    if not within.any() and not doubled.any():
        return held.tobytes().translate(None, QUOTE), False
    special = np.cumsum(within, dtype=np.int32)
    pairs = np.searchsorted(first, closes) - np.searchsorted(first, opens)  # 1, and 1 more for every doubled one
    bare = (special[closes] == special[opens]) & (pairs == 1)
    kept = np.ones(held.size, dtype=bool)
    kept[opens[bare]] = kept[closes[bare]] = False
    return held[kept].tobytes(), True
