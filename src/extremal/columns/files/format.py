"""What a file format answers, and what is done to a column of a file.

A format is a module with the attributes and functions of `Format`, listed in `FORMATS` of `extremal.columns.files`.
Files are read and written a batch at a time, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from extremal.columns.files.note import Hashes
from extremal.mechanism.labels import Labels

Progress = Callable[[int, int | None], None]
"""Called with rows done and rows in all (None when unknown)."""


@dataclass(frozen=True, eq=False)
class Change:
    """What happens to one column: `apply(column, first)` gives the new column for a batch that starts at row `first` of
    the file, in the same container; of an empty column it gives the new type. `before` and `after` are the labels that
    may stand in the column and in the new one: a format without types writes and recognises them by their text."""

    before: Labels
    after: Labels
    apply: Callable[[Any, int], Any]


class Format(Protocol):
    """A format of files with named columns."""

    TITLE: str
    ENDINGS: tuple[str, ...]

    def hashes(self, path: Path) -> Hashes:
        """Which mechanism made which column."""
        ...

    def read(self, path: Path, columns: Sequence[str], alphabets: Mapping[str, Labels], /) -> Iterator[dict[str, Any]]:
        """The named columns, a batch at a time; those with an alphabet as its labels."""
        ...

    def rewrite(
        self, source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
    ) -> int:
        """Write `source` with some columns changed as `target`, complete or absent, with a note that says what was
        `made`. Returns the number of rows."""
        ...
