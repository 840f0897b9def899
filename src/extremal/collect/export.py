"""The reports of a study as files: CSV, JSON lines or Parquet, all rows in the order of their random ids.

A file has the day and a column for each question; nothing where it was not asked. Ids stay in the store. CSV is safe to
open in a spreadsheet: a text that a spreadsheet would run as a formula (it begins with =, +, -, @, a tab or a line
break) gets an apostrophe in front. JSON lines and Parquet hold every report as it is, and `Questionnaire.estimate`
reads them; Parquet also says in its metadata which mechanism made which column, one file for each day on demand.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent, refuse_existing
from extremal.collect.store import BATCH, Store
from extremal.collect.study import Study, day_of
from extremal.collect.uploads import read_content
from extremal.columns.files.csv import Cells
from extremal.errors import InvalidParameter, MissingDependency
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import BitLabels, SubsetLabels

EXPORTS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
"""What can be streamed, with its type."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
DAY = "day"
OF_FILE = "questionnaire"

People = Iterable[tuple[int, list[Any]]]
"""Day and reports of everybody."""


def streamed(study: Study, store: Store, name: str, day: int | None = None) -> Iterator[bytes]:
    """A file of the format in pieces."""
    pieces = {"csv": _csv, "jsonl": _json_lines}[name]
    yield from pieces(study, ((on, read_content(content)) for on, content in store.rows(day)))


def export(study: Study, store: Store, path: Path, *, by_day: bool = False, overwrite: bool = False) -> list[Path]:
    """Write all reports; with `by_day` a Parquet file for each day in a folder, as `day=2027-01-31/reports.parquet`.

    Raises:
        InvalidParameter: a name with another ending than .csv, .jsonl and .parquet.
        FileConflict: the file exists.
    """
    if by_day:
        return [_of_day(study, store, path, day, overwrite) for day in store.by_day()]
    kind = path.suffix.lower().lstrip(".")
    if kind == "parquet":
        return [_parquet(study, store, path, None, overwrite)]
    if kind not in EXPORTS:
        raise InvalidParameter("the file must end in .csv, .jsonl or .parquet", parameter="output", value=str(path))
    refuse_existing(path, overwrite)
    with complete_or_absent(path, overwrite) as temporary, temporary.open("wb") as file:
        file.writelines(streamed(study, store, kind))
    return [path]


def column_names(study: Study) -> list[str]:
    """The names of the columns of a file: the day, then the questions; a question called day keeps its name."""
    names = list(study.questionnaire.questions)
    day = DAY
    while day in names:
        day = f"{day} of report"
    return [day, *names]


def safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula.

    >>> safe("=1+1"), safe("yes")
    ("'=1+1", 'yes')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def _csv(study: Study, people: People) -> Iterator[bytes]:
    asked = study.questionnaire
    cells = [Cells(m.output_labels, name) for name, m in asked.questions.items()]
    labels = [m.output_labels for m in asked.questions.values()]
    numbers = [
        all(isinstance(x, int) for x in islice(iter(own), 100)) if own.count <= BATCH else False for own in labels
    ]
    yield _lines([[safe(name) for name in column_names(study)]])
    for some in _pieces(people):
        columns = [
            [text if number else safe(text) for text in cell.texts(reports[place] for _, reports in some)]
            for place, (cell, number) in enumerate(zip(cells, numbers, strict=True))
        ]
        days = [day_of(day).isoformat() for day, _ in some]
        yield _lines(zip(days, *columns, strict=True))


def _lines(rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _json_lines(study: Study, people: People) -> Iterator[bytes]:
    names, made = column_names(study), study.questionnaire.hash
    for some in _pieces(people):
        rows = [
            {OF_FILE: made, names[0]: day_of(day).isoformat(), **dict(zip(names[1:], reports, strict=True))}
            for day, reports in some
        ]
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _of_day(study: Study, store: Store, folder: Path, day: int, overwrite: bool) -> Path:
    place = folder / f"{DAY}={day_of(day).isoformat()}"
    place.mkdir(parents=True, exist_ok=True)
    return _parquet(study, store, place / "reports.parquet", day, overwrite)


def _parquet(study: Study, store: Store, path: Path, day: int | None, overwrite: bool) -> Path:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency(
            "Parquet needs pyarrow", hint="pip install 'extremal[frames]', or write .jsonl."
        ) from None
    from extremal.columns.files.note import KEY, VERSION

    asked = study.questionnaire
    made = {name: m.hash for name, m in asked.questions.items()}
    note = {KEY: json.dumps({"version": VERSION, "columns": made})}
    names = column_names(study)
    fields = [(names[0], pyarrow.date32())] if day is None else []  # the folder's name says it
    fields += [(name, _type(m.output_labels, name)) for name, m in asked.questions.items()]
    schema = pyarrow.schema(fields, metadata=note)
    with complete_or_absent(path, overwrite) as temporary, parquet.ParquetWriter(temporary, schema) as file:
        for some in _pieces((on, read_content(content)) for on, content in store.rows(day)):
            columns = [[day_of(on) for on, _ in some]] if day is None else []
            columns += [[reports[place] for _, reports in some] for place in range(len(names) - 1)]
            arrays = [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            file.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
    return path


def _type(labels: Labels, name: str) -> Any:
    """The type of a column of reports."""
    import pyarrow

    types = {str: pyarrow.string(), bool: pyarrow.bool_(), int: pyarrow.int64()}
    kinds: set[Any]
    if labels.kind is not tuple:
        kinds = {labels.kind}
    elif isinstance(labels, (SubsetLabels, BitLabels)):
        kinds = {labels.alphabet.kind}
    else:
        kinds = {type(part) for one in labels if isinstance(one, tuple) for part in one}
    kind = types.get(kinds.pop()) if len(kinds) == 1 else None
    if kind is None:
        raise InvalidParameter(
            "the labels in a column of Parquet must be of one type",
            parameter="question",
            value=name,
            hint="Write .jsonl.",
        )
    return pyarrow.list_(kind) if labels.kind is tuple else kind


def _pieces(people: People) -> Iterator[list[tuple[int, list[Any]]]]:
    everyone = iter(people)
    while some := list(islice(everyone, BATCH)):
        yield some
