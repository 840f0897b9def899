"""CSV many rows at a time: cells are found by their delimiters, and bytes are joined anew.

A piece of a file is plain when it holds no NUL, lines end in \\n or \\r\\n, every line has as many cells as the header,
and quotation marks stand around whole cells, doubled inside. What is written is what Python's csv module would write,
byte for byte: cells that need no quotation marks lose them. So nobody can tell which way a piece went. Anything else is
left to that module: a piece that is not plain, values that are no labels (whose errors are made there), reports that
are sets.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
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
class Column:
    """One column that changes: its place, how texts are read as labels, how labels are written, and the change."""

    place: int
    labels: Callable[[list[str]], list[Any]]
    texts: Callable[[list[Any]], list[str]]
    change: Change


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
    columns: tuple[Column, ...]

    @classmethod
    def of(cls, width: int, delimiters: tuple[str, str], columns: Mapping[int, Column]) -> PlainRows | None:
        """None where cells have to be looked at one by one: other delimiters in the target, sets of labels, no
        pyarrow."""
        alphabets = [labels for c in columns.values() for labels in (c.change.before, c.change.after)]
        if delimiters[0] != delimiters[1] or any(labels.kind is tuple for labels in alphabets):
            return None
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return None
        return cls(width, delimiters, tuple(columns[place] for place in sorted(columns)))

    def rewritten(self, piece: bytes, first: int) -> tuple[int, list[Any]] | None:
        """(rows, buffers to write one after the other) for whole lines from row `first` on; None: not plain."""
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
        held = np.frombuffer(piece, dtype=np.uint8)
        marks = (held == NEWLINE) | (held == ord(self.delimiters[0]))
        if QUOTE in piece:
            found = _unquoted(held, marks)
            if found is None or (ends and (found[0][~found[1]] == NEWLINE).any()):
                return None  # a line within a cell: how it ended matters
            held, marks = found
            piece = held.tobytes()
        edges = self._edges(held, np.flatnonzero(marks))
        return None if edges is None else self._joined(piece, *edges, first)

    def _edges(self, held: Bytes, marks: Indices) -> tuple[int, list[tuple[Indices, Indices]]] | None:
        """The number of rows, and where the cells of each column that changes begin and end."""
        rows, width, ends = marks.size // self.width, self.width, held[marks] == NEWLINE
        line_ends = marks[width - 1 :: width]
        if marks.size % width or int(np.count_nonzero(ends)) != rows or not ends[width - 1 :: width].all():
            return None
        if width == 1 and (np.diff(line_ends, prepend=-1) == 1).any():
            return None  # an empty line is an empty cell, which is written as ""
        begins = np.concatenate([[0], line_ends[:-1] + 1])
        return rows, [
            (begins if c.place == 0 else marks[c.place - 1 :: width] + 1, marks[c.place :: width]) for c in self.columns
        ]

    def _joined(
        self, piece: bytes, rows: int, edges: list[tuple[Indices, Indices]], first: int
    ) -> tuple[int, list[Any]] | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        # The piece as strings: what stands before a cell, the cell, what stands before the next, …, and the end.
        count = 2 * len(edges)
        offsets = np.empty(count * rows + 2, dtype=np.int32)
        offsets[0], offsets[-1] = 0, len(piece)
        for number, (begin, end) in enumerate(edges):
            offsets[2 * number + 1 : -1 : count] = begin
            offsets[2 * number + 2 : -1 : count] = end
        parts = pa.StringArray.from_buffers(count * rows + 1, pa.py_buffer(offsets), pa.py_buffer(piece))
        every = np.arange(rows) * count
        between: list[Any] = []
        for number, column in enumerate(self.columns):
            made = self._reports(column, parts.take(pa.array(every + 2 * number + 1)), first)
            if made is None:
                return None
            between += [parts.take(pa.array(every + 2 * number)), made]
        whole = pc.binary_join_element_wise(*between, "")
        _, starts, data = whole.buffers()
        last = np.frombuffer(starts, dtype=np.int32)[whole.offset + rows] if rows else 0
        return rows, [memoryview(data)[: int(last)] if rows else b"", piece[int(offsets[-2]) :]]

    def _reports(self, column: Column, cells: Any, first: int) -> Any:
        """The new cells, as they are written; None when a cell is no label."""
        import pyarrow as pa

        encoded = cells.dictionary_encode()
        try:
            labels = pa.array(column.labels([_content(cell) for cell in encoded.dictionary.to_pylist()]))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None  # labels and other texts side by side
        made = column.change.apply(pa.DictionaryArray.from_arrays(encoded.indices, labels), first)
        if not pa.types.is_dictionary(made.type):
            made = made.dictionary_encode()
        texts = [self._quoted(text) for text in column.texts(made.dictionary.to_pylist())]
        return pa.array(texts, type=pa.string()).take(made.indices)

    def _quoted(self, text: str) -> str:
        """A cell as Python's csv module writes it."""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiters[1], lineterminator="\r\n").writerow([text, ""][: self.width])
        return line.getvalue()[: -2 if self.width == 1 else -3]


def _content(cell: str) -> str:
    """What a cell says."""
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell


def _unquoted(held: Bytes, marks: Mask) -> tuple[Bytes, Mask] | None:
    """Lines without the quotation marks that they do not need, and the marks between cells; None where one stands
    neither at an end of a cell nor doubled inside."""
    quotes = np.flatnonzero(held == ord(QUOTE))
    if quotes.size % 2:
        return None
    inside = np.logical_xor.accumulate(held == ord(QUOTE))
    between = marks & ~inside
    first, last = quotes[::2], quotes[1::2]  # those after which a cell is quoted, and those after which it is not
    doubled = last[:-1] + 1 == first[1:]
    opens, closes = first[np.append(True, ~doubled)], last[np.append(~doubled, True)]
    if not (between[closes + 1].all() and (between[opens - 1] | (opens == 0)).all()):
        return None
    special = np.cumsum(marks & inside, dtype=np.int32)
    pairs = np.searchsorted(first, closes) - np.searchsorted(first, opens)  # 1, and 1 more for every doubled one
    bare = (special[closes] == special[opens]) & (pairs == 1)
    kept = np.ones(held.size, dtype=bool)
    kept[opens[bare]] = kept[closes[bare]] = False
    return held[kept], between[kept]
