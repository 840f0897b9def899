"""Which mechanism made which column of a file: the one reader and the one writer of that note.

The note is JSON, {"version": "1.0", "columns": {"<column>": "<hash of the mechanism>"}}. It stands in the schema
metadata of a Parquet or Feather file under the key `extremal`. A CSV file has no metadata, so `answers.csv` has it in
`answers.csv.extremal.json`, with the SHA-256 of the data that it speaks of: a note beside other data is refused. While
a file is being replaced the note speaks of both ("replaced" is about the data that stood there before), so that the
note and the data in a file always match, whenever a run is killed. What Spark notes about a column (`OF_A_FIELD`) is
read, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from extremal.atomic import into_place, refuse_existing, write_atomically
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.files import parse, parsed

KEY = "extremal"
OF_A_FIELD = "extremal.mechanism"  # in the metadata of a field, where Spark writes
KEY_OF_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
BESIDE = ".extremal.json"
VERSION = "1.0"
LARGEST_NOTE = 1 << 20  # bytes

Hashes = dict[str, str]
"""The hash of the mechanism that made a column, by its name."""


def extended(before: Mapping[str, str], made: Mapping[str, str]) -> Hashes:
    """The note of a file after some more columns were randomised.

    Raises:
        InvalidParameter: a column was randomised before; doing it again would only add noise that no estimate knows of.
    """
    for name in made:
        if name in before:
            raise InvalidParameter(
                f"column {name!r} was randomised before",
                parameter="mechanism hash",
                value=before[name],
                hint="Estimates would not know of the second noise. Start from the original file.",
            )
    return {**before, **made}


def in_metadata(metadata: Mapping[bytes, bytes] | None, path: Path) -> Hashes:
    """The note in the schema metadata of a Parquet or Feather file; empty when there is none."""
    stored = metadata or {}
    where = f"the metadata of {path.name}"
    together = {}
    if KEY.encode() in stored:
        together = _columns(parsed(stored[KEY.encode()][: LARGEST_NOTE + 1], where, LARGEST_NOTE), where)
    return together | _of_spark(stored.get(KEY_OF_SPARK, b"{}"))


def _of_spark(schema: bytes) -> Hashes:
    """The note in the fields of Spark's own schema, JSON; empty when that says nothing of us."""
    try:
        found = {field["name"]: field["metadata"].get(OF_A_FIELD) for field in json.loads(schema)["fields"]}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def metadata_with(metadata: Mapping[bytes, bytes] | None, hashes: Mapping[str, str]) -> dict[bytes, bytes]:
    """The schema metadata with this note in it."""
    return {**(metadata or {}), KEY.encode(): json.dumps(_about(hashes), ensure_ascii=False).encode()}


def name_beside(path: Path) -> Path:
    """Where the note about a CSV file stands."""
    return path.with_name(path.name + BESIDE)


def beside(path: Path) -> Hashes:
    """The note about a CSV file; empty when there is none.

    Raises:
        MalformedFile: the note cannot be read, or is about other data than the file holds.
    """
    path.stat()  # a missing file is said to be missing, not without a note
    note = name_beside(path)
    if not note.exists():
        return {}
    found = _matching(_entries(note), digest(path))
    if found is None:
        raise MalformedFile(
            f"{note.name} must be about the data in {path.name}: the file was changed or replaced after it was written",
            parameter="SHA-256 of the data",
            value=digest(path),
            hint="If you know which mechanism made the reports, pass check_hash=False (--no-hash-check).",
        )
    return _columns(found, note.name)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_note_beside(hashes: Mapping[str, str], temporary: Path, path: Path, overwrite: bool) -> None:
    """Give a complete CSV file its name and put the note beside it, so that the two never disagree.

    One run at a time does this in a folder (where the system has locks), and the claim comes first: a run that may not
    replace the file does not touch its note.
    """
    new = {**_about(hashes), "sha256": digest(temporary)}
    note = name_beside(path)
    with _alone_in(path.parent):
        refuse_existing(path, overwrite)
        if path.is_dir() or note.is_dir():
            wrong = path if path.is_dir() else note
            raise IsADirectoryError(21, "Is a directory", str(wrong))
        old = _about_old(path, note)
        mode = temporary.stat().st_mode & 0o777
        _write(note, {**new, "replaced": old} if old else new, mode)
        try:
            into_place(temporary, path, overwrite)
        except BaseException:
            # Nobody else writes the note now: what it said before is still about the data that is there.
            if old and old["columns"]:
                _write(note, old, mode)
            else:
                note.unlink(missing_ok=True)
            raise
        if old:
            _write(note, new, mode)


def _about_old(path: Path, note: Path) -> dict[str, Any] | None:
    """What the note says about the data that is about to be replaced, if only that no column is known to be randomised;
    None when there is no data."""
    if not path.exists():
        return None
    found, known = digest(path), None
    with contextlib.suppress(MalformedFile, FileNotFoundError):
        known = _matching(_entries(note), found)
    return known or {**_about({}), "sha256": found}


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """The only run that puts files in place here; the system takes the lock back when a run is killed."""
    handle = None
    with contextlib.suppress(ImportError, OSError):  # no locks here: runs that do not meet are as safe without
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _write(note: Path, content: Mapping[str, Any], mode: int) -> None:
    write_atomically(note, (json.dumps(content, ensure_ascii=False) + "\n").encode())
    note.chmod(mode)


def _about(hashes: Mapping[str, str]) -> dict[str, Any]:
    return {"version": VERSION, "columns": dict(hashes)}


def _entries(note: Path) -> list[dict[str, Any]]:
    content = parse(note, "a note", LARGEST_NOTE)
    before = content.pop("replaced", None)
    return [content, before] if isinstance(before, dict) else [content]


def _matching(entries: list[dict[str, Any]], found: str) -> dict[str, Any] | None:
    return next((entry for entry in entries if entry.get("sha256") == found), None)


def _columns(content: Mapping[str, Any], where: str) -> Hashes:
    columns = content.get("columns")
    if not isinstance(columns, dict) or not all(isinstance(value, str) for value in columns.values()):
        raise MalformedFile(
            f'{where} must be JSON with {{"columns": {{name: hash}}}}', parameter="columns", value=columns
        )
    return dict(columns)
