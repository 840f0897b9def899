"""Which mechanism made which column of a file: the one reader and the one writer of that note.

The note is JSON, {"version": "1.0", "columns": {"<column>": "<hash of the mechanism>"}}. It stands in the schema
metadata of a Parquet or Feather file under the key `extremal`; a CSV file has no metadata, so `answers.csv` has it in
`answers.csv.extremal.json`. Read, but never written, is also a metadata key `extremal.mechanism.<column>` with the hash
as its value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from extremal.atomic import write_atomically
from extremal.errors import InvalidParameter, MalformedFile

KEY = "extremal"
KEY_OF_A_COLUMN = "extremal.mechanism."
BESIDE = ".extremal.json"
VERSION = "1.0"

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
    together = _read(stored[KEY.encode()], f"the metadata of {path.name}") if KEY.encode() in stored else {}
    decoded = {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in stored.items()}
    each = {key.removeprefix(KEY_OF_A_COLUMN): v for key, v in decoded.items() if key.startswith(KEY_OF_A_COLUMN)}
    return together | each


def metadata_with(metadata: Mapping[bytes, bytes] | None, hashes: Mapping[str, str]) -> dict[bytes, bytes]:
    """The schema metadata with this note in it."""
    return {**(metadata or {}), KEY.encode(): _written(hashes).encode()}


def name_beside(path: Path) -> Path:
    """Where the note about a CSV file stands."""
    return path.with_name(path.name + BESIDE)


def beside(path: Path) -> Hashes:
    """The note about a CSV file; empty when there is none."""
    note = name_beside(path)
    if not note.exists():
        path.stat()  # a missing file is said to be missing, not without a note
        return {}
    return _read(note.read_bytes(), note.name)


def write_beside(path: Path, hashes: Mapping[str, str]) -> None:
    write_atomically(name_beside(path), f"{_written(hashes)}\n".encode())


def _written(hashes: Mapping[str, str]) -> str:
    return json.dumps({"version": VERSION, "columns": dict(hashes)}, ensure_ascii=False)


def _read(text: bytes, where: str) -> Hashes:
    try:
        return {str(name): str(digest) for name, digest in json.loads(text)["columns"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedFile(
            f'{where} must be JSON with {{"columns": {{name: hash}}}}', parameter="error", value=str(error)
        ) from None
