"""JSON lines: an object a line, a column a key; what a browser sends and a server appends.

A label is written as JSON has it: a text, a whole number, true or false, a list for a set of labels. A key that is not
there, and null, are a missing value. A file has no metadata, so that the note about it stands beside it, as for CSV.
Other keys are written back as they were read, and the reports after them, wherever the values stood: the place of a
key would tell whether it was there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent
from extremal.columns.files.format import Change, Progress
from extremal.columns.files.note import Hashes, beside, extended, with_note_beside
from extremal.columns.frames import refuse_absent
from extremal.errors import MalformedFile
from extremal.mechanism.labels import Labels

TITLE: str = "JSON lines"
ENDINGS: tuple[str, ...] = (".jsonl", ".ndjson")

BATCH = 1 << 15  # rows randomised at a time
LONGEST_LINE = 16 << 20  # characters

hashes = beside


def read(path: Path, columns: Sequence[str], _alphabets: Mapping[str, Labels]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    rows = 0
    for batch in _batches(path):
        rows += len(batch)
        seen.update(*batch)
        yield {name: [_label(row.get(name)) for row in batch] for name in columns}
    for name in columns if rows else ():
        refuse_absent(name, sorted(seen), listed=False)


def rewrite(
    source: Path, target: Path, changes: Mapping[str, Change], made: Hashes, overwrite: bool, report: Progress
) -> int:
    note = extended(hashes(source), made)
    done, seen = 0, set[str]()
    with complete_or_absent(target, overwrite, partial(with_note_beside, note)) as temporary:
        with temporary.open("w", encoding="utf-8", newline="\n") as out:
            for batch in _batches(source):
                seen.update(*batch)
                for name, change in changes.items():
                    new = change.apply([_label(row.get(name)) for row in batch], done)
                    for row, value in zip(batch, new, strict=True):
                        row.pop(name, None)
                        row[name] = value
                out.writelines(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in batch)
                done += len(batch)
                report(done, None)
        for name in changes if done else ():
            refuse_absent(name, sorted(seen), listed=False)
    return done


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    """The objects of a file, so many at a time; empty lines are none."""
    batch: list[dict[str, Any]] = []
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if not line.strip():
                    continue
                batch.append(_parsed(line, number, path))
                if len(batch) == BATCH:
                    yield batch
                    batch = []
    except UnicodeDecodeError as error:
        raise MalformedFile(
            f"{path.name} must be JSON lines in UTF-8", parameter="path", value=str(path), hint=error.reason
        ) from None
    if batch:
        yield batch


def _parsed(line: str, number: int, path: Path) -> dict[str, Any]:
    """The object in a line, whose keys are different."""
    try:
        found = json.loads(line, object_pairs_hook=_distinct) if len(line) <= LONGEST_LINE else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MalformedFile(
            f"{path.name} must have a JSON object in every line, its keys different",
            parameter="line",
            value=number,
        )
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _label(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
