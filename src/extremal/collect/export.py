"""The reports of a study as files: CSV, JSON lines or Parquet, all rows in the order of their random ids.

A file has the day and a column for each question; nothing where it was not asked. Ids stay in the store. CSV is safe to
open in a spreadsheet: a text that a spreadsheet would run as a formula (it begins with =, +, -, @, a tab or a line
break) gets an apostrophe in front. JSON lines and Parquet hold every report as it is, and `Questionnaire.estimate`
reads them; Parquet also says in its metadata which mechanism made which column, one file for each day on demand. The
store is read once, and what is held at a time is bounded.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections import defaultdict
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
from extremal.questionnaire.reports import HASH_KEY

EXPORTS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
"""What can be streamed, with its type."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
DAY = "day"
HELD = 500_000  # rows in memory, about 100 MB; a row group of Parquet has at most so many and those of one batch

People = Iterable[tuple[int, list[Any]]]
"""Day and reports of everybody."""


def streamed(study: Study, store: Store, name: str) -> Iterator[bytes]:
    """A file of the format in pieces."""
    pieces = {"csv": _csv, "jsonl": _json_lines}[name]
    yield from pieces(study, ((on, read_content(content)) for on, content in store.rows()))


def export(study: Study, store: Store, path: Path, *, by_day: bool = False, overwrite: bool = False) -> list[Path]:
    """Write all reports; with `by_day` a Parquet file for each day in a folder, as `day=2027-01-31/reports.parquet`.

    Raises:
        InvalidParameter: a name with another ending than .csv, .jsonl and .parquet.
        FileConflict: the file exists.
    """
    kind = path.suffix.lower().lstrip(".")
    if by_day or kind == "parquet":
        return _parquet(study, store, path, by_day, overwrite)
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
            {HASH_KEY: made, names[0]: day_of(day).isoformat(), **dict(zip(names[1:], reports, strict=True))}
            for day, reports in some
        ]
        yield "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _parquet(study: Study, store: Store, path: Path, by_day: bool, overwrite: bool) -> list[Path]:
    """One file, or one for each day; all of them complete, or none."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency(
            "Parquet needs pyarrow", hint="pip install 'extremal[frames]', or write .jsonl."
        ) from None
    from extremal.columns.files.note import KEY, VERSION

    asked, day_name = study.questionnaire, column_names(study)[0]
    note = {KEY: json.dumps({"version": VERSION, "columns": {name: m.hash for name, m in asked.questions.items()}})}
    fields = [] if by_day else [(day_name, pyarrow.date32())]  # the folder's name says it
    fields += [(name, _type(m.output_labels, name)) for name, m in asked.questions.items()]
    schema = pyarrow.schema(fields, metadata=note)
    files: dict[Path, Any] = {}
    with contextlib.ExitStack() as stack:

        def file(place: Path) -> Any:
            if place not in files:
                refuse_existing(place, overwrite)
                temporary = stack.enter_context(complete_or_absent(place, overwrite))
                files[place] = stack.enter_context(parquet.ParquetWriter(temporary, schema))
            return files[place]

        if not by_day:
            file(path)  # of no rows, too
        for days, contents in _held(store.rows(), by_day):
            place = path / f"{day_name}={day_of(days[0]).isoformat()}" / "reports.parquet" if by_day else path
            if by_day:
                place.parent.mkdir(parents=True, exist_ok=True)
            file(place).write_batch(_batch(days, contents, schema))
    return sorted(files)


def _held(rows: Iterable[tuple[int, str]], by_day: bool) -> Iterator[tuple[list[int], list[str]]]:
    """Days and contents in large pieces, each of one day on demand: the largest is given whenever HELD rows are in
    memory. Two lists, since Python's garbage collector would go through as many pairs again and again."""
    waiting: defaultdict[int, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    everyone = iter(rows)
    number = 0
    while some := list(islice(everyone, BATCH)):
        for day, content in some:
            days, contents = waiting[day if by_day else 0]
            days.append(day)
            contents.append(content)
        number += len(some)
        while number > HELD:
            largest = waiting.pop(max(waiting, key=lambda day: len(waiting[day][0])))
            number -= len(largest[0])
            yield largest
    yield from (waiting[day] for day in sorted(waiting))


def _batch(days: list[int], contents: list[str], schema: Any) -> Any:
    """Rows as columns of Arrow; every different content is parsed once."""
    import pyarrow

    encoded = pyarrow.array(contents, pyarrow.string()).dictionary_encode()
    different = [read_content(content) for content in encoded.dictionary.to_pylist()]
    of_questions = schema.types[-len(different[0]) :]
    columns = [
        pyarrow.array([one[place] for one in different], kind).take(encoded.indices)
        for place, kind in enumerate(of_questions)
    ]
    if len(columns) < len(schema):
        columns.insert(0, pyarrow.array(days, pyarrow.int32()).cast(pyarrow.date32()))
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


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
