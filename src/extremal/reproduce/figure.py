"""A figure or table of a paper: what it shows, how it is made, and what of the paper's text holds.

A `Figure` is an entry of the list; made, it becomes a `Reproduced`: tables of numbers, a picture and a caption that
says what agrees with the paper and what does not. Numbers come from the package's own designs, and random instances
from a seed that is stated, so made twice it is the same, byte for byte.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extremal.atomic import refuse_existing, write_atomically
from extremal.plotting import save

Columns = Mapping[str, Sequence[Any]]
Progress = Callable[[float], None]
"""Called with the share of the work that is done."""


@dataclass(frozen=True, eq=False)
class Reproduced:
    """One figure, made.

    Attributes:
        caption: what it shows, and what agrees with the paper's text.
        tables: name → columns; the numbers behind the picture first.
        draw: makes the picture; None for a table without one.
        seed: of the random instances or samples; None if nothing is random.
    """

    caption: str
    tables: dict[str, Columns]
    draw: Callable[[], Any] | None = None
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class Figure:
    """An entry of the list.

    Attributes:
        name: as on the command line.
        title: in a line.
        make: computes it.
        seconds: about how long that takes on one core.
    """

    name: str
    title: str
    make: Callable[[Progress], Reproduced] = field(repr=False)
    seconds: int = 1

    def write(
        self,
        folder: str | Path,
        formats: Sequence[str] = ("png", "svg"),
        overwrite: bool = False,
        progress: Progress = lambda _: None,
    ) -> list[Path]:
        """Make it and write the pictures, a CSV file for each table, and the caption.

        Raises:
            FileConflict: a file exists and may not be replaced; nothing was computed yet.
        """
        target = Path(folder)
        for ending in (*formats, "txt"):
            refuse_existing(target / f"{self.name}.{ending}", overwrite)
        made = self.make(progress)
        target.mkdir(parents=True, exist_ok=True)
        written = []
        if made.draw is not None:
            drawn = made.draw()
            written += [save(drawn, target / f"{self.name}.{ending}", overwrite) for ending in formats]
        for name, columns in made.tables.items():
            path = target / (f"{self.name}-{name}.csv" if name else f"{self.name}.csv")
            write_atomically(path, as_csv(columns).encode(), overwrite)
            written.append(path)
        path = target / f"{self.name}.txt"
        write_atomically(path, caption_text(self, made).encode(), overwrite)
        return [*written, path]


def add_row(columns: dict[str, list[Any]], values: Mapping[str, Any]) -> None:
    """Append one value to each column."""
    for name, value in values.items():
        columns.setdefault(name, []).append(value)


def paragraph(text: str) -> str:
    """A text that is written over several lines, as one."""
    return " ".join(text.split())


def caption_text(figure: Figure, made: Reproduced) -> str:
    """Title, caption and seed, as the text file holds them."""
    seed = "Nothing in it is random." if made.seed is None else f"Random instances: NumPy's default_rng({made.seed})."
    return f"{figure.title}\n\n{made.caption}\n\n{seed}\n"


def as_csv(columns: Columns) -> str:
    """Columns as CSV; numbers with 12 significant digits, so that another machine's last bits do not show."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(v) for v in column] for column in columns.values()), strict=True))
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"{float(value):.12g}" if isinstance(value, float) else value
