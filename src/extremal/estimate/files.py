"""Reports from a file written by `extremal privatize`, one batch at a time, with the mechanism's hash checked first.

The hashes stand in the schema metadata of a Parquet or Feather file, under the key `extremal.mechanism.<column>` or all
together under `extremal` as JSON {"columns": {"<column>": "<hash>"}}, and for `answers.csv` as the same JSON in
`answers.csv.extremal.json`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from extremal.errors import InvalidParameter, MalformedFile, MissingDependency
from extremal.estimate.columns import pick, refuse_unknown
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels

METADATA_KEY, TOGETHER = "extremal.mechanism.", "extremal"
SIDECAR = ".extremal.json"
BATCH = 1 << 18  # rows in memory at a time
LISTED_SETS = 1 << 20  # reports that are looked up by their whole text
PARQUET, FEATHER, CSV = (".parquet", ".pq"), (".feather", ".arrow", ".ipc"), (".csv", ".tsv")


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
    hashes = recorded_hashes(path)
    chosen = _column(path, hashes, column, check_hash)
    if check_hash and hashes[chosen] != mechanism.hash:
        raise InvalidParameter(
            f"the reports in {path.name} must come from this mechanism",
            parameter="mechanism.hash",
            value=mechanism.hash,
            hint=f"They were made by {hashes[chosen]}.",
        )
    needed = list(dict.fromkeys(name for name in [chosen, weights, *(strata or [])] if name is not None))
    for table in _tables(path, needed):
        values = pick(table, chosen, "column")
        yield (
            _labelled(values, mechanism) if path.suffix.lower() in CSV else values,
            None if weights is None else pick(table, weights, "weights"),
            None if strata is None else [pick(table, name, "by") for name in strata],
        )


def recorded_hashes(path: Path) -> dict[str, str]:
    """Which columns of a file were randomised, and by which mechanism."""
    kind = path.suffix.lower()
    if kind in CSV:
        return _sidecar(path)
    if kind in PARQUET:
        with _Opened(path) as file:
            metadata = _arrow("parquet").ParquetFile(file).schema_arrow.metadata
    elif kind in FEATHER:
        with _Opened(path) as file:
            metadata = _ipc(file).schema.metadata
    else:
        known = ", ".join((*PARQUET, *FEATHER, *CSV))
        raise InvalidParameter(
            "a file of reports must be Parquet, Feather or CSV", parameter="suffix", value=path.suffix, hint=known
        )
    together = _noted((metadata or {}).get(TOGETHER.encode(), b'{"columns": {}}'), f"the metadata of {path.name}")
    decoded = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in (metadata or {}).items()
    }
    return together | {
        key.removeprefix(METADATA_KEY): value for key, value in decoded.items() if key.startswith(METADATA_KEY)
    }


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


def _sidecar(path: Path) -> dict[str, str]:
    beside = path.with_name(path.name + SIDECAR)
    if not beside.exists():
        path.stat()  # a missing CSV is said to be missing, not unrecorded
        return {}
    return _noted(beside.read_bytes(), beside.name)


def _noted(text: bytes, where: str) -> dict[str, str]:
    try:
        return {str(name): str(value) for name, value in json.loads(text)["columns"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedFile(
            f'{where} must be JSON with {{"columns": {{name: hash}}}}', parameter="error", value=str(error)
        ) from None


def _tables(path: Path, needed: list[str]) -> Iterator[Any]:
    kind = path.suffix.lower()
    if kind in CSV:
        yield from _csv_tables(path, needed)
        return
    with _Opened(path) as file:
        if kind in PARQUET:
            source = _arrow("parquet").ParquetFile(file)
            for name in needed:
                refuse_unknown(name, source.schema_arrow.names, "column")
            yield from source.iter_batches(batch_size=BATCH, columns=needed)
        else:
            source = _ipc(file)
            for i in range(source.num_record_batches):
                yield source.get_batch(i)


class _Table(dict[str, list[str]]):
    """Columns of text by name."""

    @property
    def column_names(self) -> list[str]:
        return list(self)


def _csv_tables(path: Path, needed: list[str]) -> Iterator[_Table]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
            header = next(rows, [])
            for name in needed:
                refuse_unknown(name, header, "column")
            where = {name: header.index(name) for name in needed}
            while batch := list(
                islice((row for row in rows if row), BATCH)
            ):  # the csv module gives [] for an empty line
                short = next((row for row in batch if len(row) != len(header)), None)
                if short is not None:
                    raise MalformedFile(
                        f"every line of {path.name} must have {len(header)} fields", parameter="line", value=short
                    )
                yield _Table({name: [row[i] for row in batch] for name, i in where.items()})
    except (UnicodeDecodeError, csv.Error) as error:
        raise MalformedFile(f"{path.name} must be CSV in UTF-8", parameter="error", value=str(error)) from None


def _labelled(texts: list[str], mechanism: Mechanism) -> list[Any]:
    """The labels that these texts stand for; text that is no label stays text and is refused where reports are counted.

    A label is written as it prints, a set of labels as its members with a space between them.
    """
    outputs = mechanism.output_labels
    if not isinstance(outputs[0], tuple):
        meaning = _by_text(outputs)
        return texts if meaning is None else [meaning.get(text, text) for text in texts]
    if any(" " in str(label) for label in mechanism.inputs):
        if mechanism.m > LISTED_SETS:
            raise InvalidParameter(
                "sets of labels with spaces cannot be read from CSV",
                parameter="format",
                value="csv",
                hint="Use Parquet.",
            )
        listed = _by_text(outputs) or {}
        return [listed.get(text, text) for text in texts]
    parts = _by_text(mechanism.input_labels) or {}
    return [tuple(parts.get(part, part) for part in text.split(" ")) for text in texts]


def _by_text(labels: Labels) -> dict[str, Any] | None:
    """Labels by how they read; None when every label is its own text."""
    if all(isinstance(label, str) for label in labels):
        return None
    meaning = {" ".join(map(str, label)) if isinstance(label, tuple) else str(label): label for label in labels}
    if len(meaning) < len(labels):
        hint = "Use Parquet."
        raise InvalidParameter(
            "labels that read the same cannot be told apart in a CSV file", parameter="format", value="csv", hint=hint
        )
    return meaning


def _arrow(module: str) -> Any:
    try:
        from importlib import import_module

        return import_module(f"pyarrow.{module}")
    except ModuleNotFoundError:
        raise MissingDependency(
            "Parquet and Feather files need pyarrow", hint="pip install 'extremal[frames]'"
        ) from None


def _ipc(file: Any) -> Any:
    try:
        return _arrow("ipc").open_file(file)
    except ValueError as error:  # ArrowInvalid is one
        raise MalformedFile(
            "a Feather file must be in Arrow's file format", parameter="error", value=str(error)
        ) from None


class _Opened:
    """An open binary file; what pyarrow says about a broken one becomes MalformedFile."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Any:
        self.file = self.path.open("rb")
        return self.file

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.file.close()
        if error is not None and type(error).__module__.startswith("pyarrow"):
            raise MalformedFile(
                f"{self.path.name} must be whole and of the format its name says", parameter="error", value=str(error)
            ) from None
