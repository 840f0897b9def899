"""Files of values and of reports: Parquet, Feather, CSV, JSON lines, SPSS and Stata.

`release` rewrites them with some columns randomised, `estimate` reads them back; both through `FORMATS`, so that what
one writes the other reads. To support another format, write a module with what `Format` asks for and add it here.
"""

from __future__ import annotations

from pathlib import Path

from extremal.columns.files import csv, feather, json_lines, parquet, statistical
from extremal.columns.files.format import Format
from extremal.errors import InvalidParameter

FORMATS: dict[str, Format] = {
    "parquet": parquet,
    "feather": feather,
    "csv": csv,
    "json lines": json_lines,
    "statistical": statistical,
}


def format_of(path: Path, parameter: str) -> Format:
    """The format that the ending of a name says.

    >>> format_of(Path("answers.pq"), "path").TITLE
    'Parquet'
    """
    for form in FORMATS.values():
        if path.suffix.lower() in form.ENDINGS:
            return form
    *titles, last = (form.TITLE for form in FORMATS.values())
    raise InvalidParameter(
        f"{parameter} must be a {', '.join(titles)} or {last} file",
        parameter=parameter,
        value=str(path),
        hint=f"Known endings: {', '.join(ending for form in FORMATS.values() for ending in form.ENDINGS)}.",
    )
