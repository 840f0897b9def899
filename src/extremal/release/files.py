"""Files: Parquet, Feather and CSV, randomised in bounded memory.

A file is read and written a batch at a time. What is written stands under a temporary name in the target's folder and
gets its final name when it is complete and on the disk: whatever interrupts a run (an unknown value, a full disk, `kill
-9`), no partial file appears under the final name. Each column's mechanism hash is stored in the metadata under the key
`extremal`; a CSV file has no metadata, so it gets a small JSON file beside it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from extremal.errors import FileConflict, InvalidParameter, MalformedFile, MissingDependency, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.release.privatize import columns_and_mechanisms

METADATA_KEY = "extremal"
VERSION = "1.0"
Progress = Callable[[int, int | None], None]
"""Called with rows done and rows in all (None when unknown)."""


def privatize_file(
    source: str | Path,
    target: str | Path,
    columns: Mapping[str, Mechanism],
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> int:
    """Randomise columns of a Parquet, Feather or CSV file into a new file of the same format, in bounded memory.

    Guarantee: `target` is complete or absent. Other columns, the order of rows and the schema stay as they are.

    Args:
        source: the file to read; its suffix says the format.
        target: the file to write, of the same format. It must not exist unless `overwrite`.
        columns: mechanisms by column name.
        overwrite: replace `target`.
        progress: called after each batch with (rows done, rows in all or None).

    Returns:
        The number of rows.

    Raises:
        FileConflict: `target` exists.
        InvalidParameter: unknown format, absent column, a column that was randomised before.
        UnknownLabel: a value is missing or no label; names the column and the row.
    """
    origin, destination = Path(source), Path(target)
    chosen = columns_and_mechanisms(columns, None, None)
    kind = _format(origin, "source")
    if _format(destination, "target") != kind:
        raise InvalidParameter(
            "source and target must have the same format", parameter="target", value=str(destination)
        )
    origin.stat()  # a missing file is said first
    refuse_existing(destination, overwrite)
    report = progress or _silent
    if kind == "csv":
        from extremal.release.csv_files import privatize_csv

        return privatize_csv(origin, destination, chosen, overwrite, report)
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingDependency(
            "Parquet and Feather files need pyarrow", hint="pip install 'extremal[frames]'."
        ) from None
    from extremal.release import arrow_files

    run = arrow_files.privatize_parquet if kind == "parquet" else arrow_files.privatize_feather
    try:
        return run(origin, destination, chosen, overwrite, report)
    except pa.ArrowException as error:
        raise MalformedFile(
            f"the source must be a whole {kind} file", parameter="source", value=str(origin), hint=str(error)
        ) from error


def _silent(done: int, total: int | None) -> None:
    """No progress is shown."""


FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".csv": "csv", ".tsv": "csv",
}  # fmt: skip


def _format(path: Path, parameter: str) -> str:
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        known = ", ".join(FORMATS)
        raise InvalidParameter(
            f"{parameter} must be a Parquet, Feather or CSV file",
            parameter=parameter,
            value=str(path),
            hint=f"Known endings: {known}.",
        ) from None


def refuse_existing(path: Path, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise FileConflict(
            "the output file must not exist yet",
            parameter="target",
            value=str(path),
            hint="Choose another name, or allow overwriting.",
        )


@contextlib.contextmanager
def complete_or_absent(path: Path, overwrite: bool) -> Iterator[Path]:
    """A temporary name beside `path`; renamed to it when the block ends well, removed when it does not."""
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        refuse_existing(path, overwrite)  # somebody may have written it meanwhile
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # a temporary file is private; the result gets what a new file would have
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def numbered_from(first: int, name: str) -> Iterator[None]:
    """Errors about row i of a batch become errors about row first + i of the file."""
    try:
        yield
    except UnknownLabel as error:
        where = (error.parameter or "").removeprefix(f"{name}[").removesuffix("]")
        if not where.isdecimal():
            raise
        row = first + int(where)
        raise UnknownLabel(
            f"row {row} (from 0) of column {name!r}: {error.requirement.replace(f'{name}[{where}]', 'the value')}",
            parameter=f"{name}[{row}]",
            value=error.value,
            hint=error.hint,
        ) from None


def stored_note(existing: str | bytes | None, chosen: Mapping[str, Mechanism]) -> str:
    """The metadata entry: which mechanism made each randomised column, those of earlier runs included.

    Raises:
        InvalidParameter: a column was randomised before; doing it again would only add noise that no estimate knows of.
    """
    try:
        noted = json.loads(existing)["columns"] if existing else {}
        before = {str(name): str(digest) for name, digest in noted.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidParameter(
            "the source's metadata must be readable", parameter=METADATA_KEY, value=existing
        ) from None
    for name in chosen:
        if name in before:
            raise InvalidParameter(
                f"column {name!r} was randomised before",
                parameter="mechanism hash",
                value=before[name],
                hint="Estimates would not know of the second noise. Start from the original file.",
            )
    return json.dumps(
        {"version": VERSION, "columns": {**before, **{name: m.hash for name, m in chosen.items()}}}, ensure_ascii=False
    )


def mechanism_hashes(path: str | Path) -> dict[str, str]:
    """Which mechanism (by hash) made each randomised column of a file; empty when none is noted."""
    origin = Path(path)
    kind = _format(origin, "path")
    if kind == "csv":
        beside = note_beside(origin)
        text = beside.read_bytes() if beside.exists() else None
    else:
        from extremal.release.arrow_files import stored_metadata

        text = stored_metadata(origin, kind)
    return dict(json.loads(text)["columns"]) if text else {}


def note_beside(path: Path) -> Path:
    """Where the note about a CSV file stands."""
    return path.with_name(f"{path.name}.extremal.json")
