"""Reports from a file written by `extremal privatize`, one batch at a time, with the mechanism's hash checked first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from extremal.columns.files import format_of
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism import Mechanism
from extremal.paths import refuse_unusable


def named_files(source: Any, parameter: str) -> list[Path] | None:
    """The files that a path or a list of paths names, a folder being its Parquet files (what Spark writes); None when
    the source is no file.

    Raises:
        InvalidParameter: a file is named twice; a folder without Parquet files.
    """
    if isinstance(source, (str, Path)):
        source = [Path(source)]
    if not isinstance(source, (list, tuple)) or not source or not all(isinstance(one, Path) for one in source):
        return None
    paths = [path for one in source for path in _files_of(one, parameter)]
    if len(set(map(Path.resolve, paths))) < len(paths):
        raise InvalidParameter("a file of reports counts once", parameter=parameter, value=list(map(str, paths)))
    return paths


def _files_of(path: Path, parameter: str) -> list[Path]:
    refuse_unusable(path)
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.parquet"))
    if not found:
        raise InvalidParameter(
            "a folder of reports must hold Parquet files", parameter=parameter, value=str(path), hint="Name a file."
        )
    return found


def read_columns(
    path: Path, mechanisms: Mapping[str, Mechanism], others: Iterable[str], check_hash: bool, parameter: str
) -> Iterator[Mapping[str, Any]]:
    """Columns of reports, each made by its mechanism, and other columns, batch by batch.

    Raises:
        FileNotFoundError: there is no such file.
        MalformedFile: not readable as what its name says, or without the hash of a mechanism.
        InvalidParameter: reports of another mechanism; a column that is not there.
    """
    form = format_of(path, parameter)
    path.stat()  # a missing file is said first
    hashes = form.hashes(path) if check_hash and mechanisms else {}  # nothing is asked of a note that nobody checks
    for name, mechanism in mechanisms.items() if check_hash else ():
        if name not in hashes:
            raise MalformedFile(
                f"{path.name} must record which mechanism made the reports in column {name!r}",
                parameter="recorded columns",
                value=sorted(hashes),
                hint="If you know that it was this mechanism, pass check_hash=False (--no-hash-check).",
            )
        if hashes[name] != mechanism.hash:
            raise InvalidParameter(
                f"the reports in {path.name} must come from this mechanism",
                parameter="mechanism.hash",
                value=mechanism.hash,
                hint=f"Those in column {name!r} were made by {hashes[name]}.",
            )
    needed = list(dict.fromkeys([*mechanisms, *others]))
    return form.read(path, needed, {name: m.output_labels for name, m in mechanisms.items()})


def only_column(path: Path) -> str:
    """The column of reports, where a file records only one."""
    form = format_of(path, "reports")
    path.stat()
    recorded = sorted(form.hashes(path))
    if len(recorded) == 1:
        return recorded[0]
    raise InvalidParameter(
        "say which column holds the reports",
        parameter="column",
        value=None,
        hint=f"Randomised: {recorded or 'none is recorded'}.",
    )


def column_names(given: Any, parameter: str) -> list[str]:
    """The columns of a file that a caller names: one, several or none."""
    names = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    for name in names:
        if not isinstance(name, str):
            raise InvalidParameter(
                f"{parameter} must name a column of the file",
                parameter=parameter,
                value=name,
                hint="A file is read in pieces.",
            )
    return names
