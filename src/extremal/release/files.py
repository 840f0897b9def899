"""Files: columns of Parquet, Feather and CSV files randomised in bounded memory.

A file is read and written a batch at a time, and is complete or absent: whatever interrupts a run (an unknown value, a
full disk, `kill -9`), no partial file appears under the final name. The file says which mechanism made which column;
see `extremal.columns.files` for formats and notes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extremal.atomic import refuse_existing, refuse_same
from extremal.columns.files import format_of
from extremal.columns.files.format import Change, Progress
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.paths import refuse_unusable
from extremal.release.privatize import columns_and_mechanisms, privatize_column


@dataclass(frozen=True, eq=False)
class Made:
    """Reports of a mechanism, perhaps made with those in other columns: `apply(column, first)` gives those on a batch
    that starts at row `first`."""

    mechanism: Mechanism
    apply: Callable[[Any, int], Any]

    @property
    def change(self) -> Change:
        return Change(self.mechanism.input_labels, self.mechanism.output_labels, self.apply)


def privatize_file(
    source: str | Path,
    target: str | Path,
    columns: Mapping[str, Mechanism],
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    made: Mapping[str, Made] | None = None,
) -> int:
    """Randomise columns of a Parquet, Feather or CSV file into a new file of the same format, in bounded memory.

    Guarantee: `target` is complete or absent. Other columns, the order of rows and the schema stay as they are.

    Args:
        source: the file to read; its suffix says the format.
        target: the file to write, of the same format. It must not exist unless `overwrite`.
        columns: mechanisms by column name.
        overwrite: replace `target`.
        progress: called after each batch with (rows done, rows in all or None).
        made: further columns, whose reports were made already, by name.

    Returns:
        The number of rows.

    Raises:
        FileConflict: `target` exists, or is the source, by whatever name.
        InvalidParameter: unknown format, absent column, a column that was randomised before, labels that the format
            cannot tell apart.
        UnknownLabel: a value is missing or no label; names the column and the row.
        MalformedFile: the source, or the note about it, is not what it should be.
    """
    origin, destination = Path(source), Path(target)
    chosen = columns_and_mechanisms(columns, None, None) if columns or not made else {}
    form = format_of(origin, "source")
    if format_of(destination, "target") is not form:
        raise InvalidParameter(
            "source and target must have the same format", parameter="target", value=str(destination)
        )
    refuse_unusable(origin)
    origin.stat()  # a missing file is said first
    refuse_same(origin, destination)
    refuse_existing(destination, overwrite)
    reported = {name: _randomised(name, mechanism) for name, mechanism in chosen.items()} | dict(made or {})
    changes = {name: one.change for name, one in reported.items()}
    hashes = {name: one.mechanism.hash for name, one in reported.items()}
    return form.rewrite(origin, destination, changes, hashes, overwrite, progress or _silent)


def mechanism_hashes(path: str | Path) -> dict[str, str]:
    """Which mechanism (by hash) made each randomised column of a file; empty when none is noted."""
    return format_of(Path(path), "path").hashes(Path(path))


def _silent(done: int, total: int | None) -> None:
    """No progress is shown."""


def _randomised(name: str, mechanism: Mechanism) -> Made:
    def apply(column: Any, first: int) -> Any:
        with _numbered_from(first, name):
            return privatize_column(mechanism, column, name=name)

    return Made(mechanism, apply)


@contextlib.contextmanager
def _numbered_from(first: int, name: str) -> Iterator[None]:
    """Errors about row i of a batch become errors about row first + i of the file."""
    try:
        yield
    except UnknownLabel as error:
        where = error.parameter or ""
        place = where.removeprefix(f"{name}[").removesuffix("]")
        if not place.isdecimal():
            raise
        row = first + int(place)
        what = error.requirement.removeprefix(f"{where}: ").replace(where, "the value")
        shown = {} if error.value is None else {"value": error.value}
        raise UnknownLabel(
            f"row {row} (from 0) of column {name!r}: {what}", parameter=f"{name}[{row}]", hint=error.hint, **shown
        ) from None
