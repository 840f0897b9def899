"""Reports from a file written by `extremal privatize`, one batch at a time, with the mechanism's hash checked first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from extremal.columns.files import format_of
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism import Mechanism


def named_files(source: Any, parameter: str) -> list[Path] | None:
    """The files that a path or a list of paths names, a folder being its Parquet files (what Spark writes); None when
    the source is no file.

    Raises:
        InvalidParameter: a file is named twice; a folder without Parquet files.
    """
    several = isinstance(source, (list, tuple)) and source and all(isinstance(one, Path) for one in source)
    if not several and not isinstance(source, (str, Path)):
        return None
    named = list(source) if several else [Path(source)]
    paths = [path for one in named for path in (_in_folder(one, parameter) if one.is_dir() else [one])]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InvalidParameter(
            "a file of reports counts once", parameter=parameter, value=[str(path) for path in paths]
        )
    return paths


def _in_folder(folder: Path, parameter: str) -> list[Path]:
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise InvalidParameter(
            "a folder of reports must hold Parquet files", parameter=parameter, value=str(folder), hint="Name a file."
        )
    return found


def read_batches(
    path: Path, mechanism: Mechanism, column: str | None, weights: Any, by: Any, check_hash: bool
) -> Iterator[tuple[Any, Any, list[Any] | None]]:
    """(reports, weights, columns of strata), batch by batch.

    Raises:
        FileNotFoundError: there is no such file.
        MalformedFile: not readable as what its name says, or without the hash of a mechanism.
        InvalidParameter: reports of another mechanism; a column that is not there.
    """
    strata = [by] if isinstance(by, str) else list(by) if isinstance(by, (list, tuple)) else by
    for parameter, names in (("weights", [weights]), ("by", strata or [None])):
        for name in names:
            if name is not None and not isinstance(name, str):
                raise InvalidParameter(
                    f"{parameter} must name a column of the file",
                    parameter=parameter,
                    value=name,
                    hint="A file is read in pieces.",
                )
    form = format_of(path, "reports")
    path.stat()  # a missing file is said first
    hashes = form.hashes(path) if check_hash or column is None else {}  # nothing is asked of a note that nobody checks
    chosen = _column(path, hashes, column, check_hash)
    if check_hash and hashes[chosen] != mechanism.hash:
        raise InvalidParameter(
            f"the reports in {path.name} must come from this mechanism",
            parameter="mechanism.hash",
            value=mechanism.hash,
            hint=f"They were made by {hashes[chosen]}.",
        )
    needed = list(dict.fromkeys(name for name in [chosen, weights, *(strata or [])] if name is not None))
    for batch in form.read(path, needed, {chosen: mechanism.output_labels}):
        yield (
            batch[chosen],
            None if weights is None else batch[weights],
            None if strata is None else [batch[name] for name in strata],
        )


def _column(path: Path, hashes: dict[str, str], column: str | None, check_hash: bool) -> str:
    if column is None:
        if len(hashes) == 1:
            return next(iter(hashes))
        raise InvalidParameter(
            "say which column holds the reports",
            parameter="column",
            value=None,
            hint=f"Randomised: {sorted(hashes) or 'none is recorded'}.",
        )
    if check_hash and column not in hashes:
        raise MalformedFile(
            f"{path.name} must record which mechanism made the reports in column {column!r}",
            parameter="recorded columns",
            value=sorted(hashes),
            hint="If you know that it was this mechanism, pass check_hash=False (--no-hash-check).",
        )
    return column
