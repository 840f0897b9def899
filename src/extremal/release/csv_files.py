"""CSV files: text in, text out, a few thousand rows at a time, with Python's own reader.

Every cell is text, so a label is recognised by how it prints: the label 1 by "1", True by "True". Other cells are
written back as they were read; only their quoting may change.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism import Mechanism
from extremal.mechanism.files import write_atomically
from extremal.mechanism.labels import Labels
from extremal.release.files import Progress, complete_or_absent, note_beside, numbered_from, stored_note
from extremal.release.privatize import refuse_absent
from extremal.release.sampler import sample_codes
from extremal.release.values import codes_of_list, labels_of_codes

BATCH = 1 << 15  # rows held at a time


def _as_text(labels: Labels, name: str) -> Labels:
    texts = [str(label) for label in labels]
    if len(set(texts)) != len(texts):
        raise InvalidParameter(
            "labels must differ as text to be told apart in a CSV file", parameter=f"labels of {name}", value=texts[:6]
        )
    return Labels(texts, name)


def privatize_csv(
    source: Path, target: Path, chosen: Mapping[str, Mechanism], overwrite: bool, progress: Progress
) -> int:
    delimiter = "\t" if source.suffix.lower() == ".tsv" else ","
    before = note_beside(source)
    note = stored_note(before.read_bytes() if before.exists() else None, chosen)
    with source.open(encoding="utf-8-sig", newline="") as file, complete_or_absent(target, overwrite) as temporary:
        try:
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            header = next(rows, None)
            if header is None:
                raise MalformedFile("a CSV file must have a header", parameter="source", value=str(source))
            for name in chosen:
                refuse_absent(name, header)
            with temporary.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
                writer.writerow(header)
                done = 0
                for batch in _batches(rows, len(header)):
                    _randomise(batch, header, chosen, done)
                    writer.writerows(batch)
                    done += len(batch)
                    progress(done, None)
        except (UnicodeDecodeError, csv.Error) as error:
            raise MalformedFile(
                "the source must be a CSV file in UTF-8", parameter="source", value=str(source), hint=str(error)
            ) from None
        # The note first: if only one of the two files appears it is the one without data.
        write_atomically(note_beside(target), f"{note}\n".encode())
    return done


def _batches(rows: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    done = 0
    while batch := list(itertools.islice(rows, BATCH)):
        kept = [row for row in batch if row]  # the csv module gives [] for an empty line
        for number, row in enumerate(kept):
            if len(row) != width:
                raise MalformedFile(
                    "every row must have as many cells as the header",
                    parameter=f"cells of row {done + number}",
                    value=len(row),
                )
        done += len(kept)
        yield kept


def _randomise(batch: list[list[str]], header: list[str], chosen: Mapping[str, Mechanism], done: int) -> None:
    for name, mechanism in chosen.items():
        place = header.index(name)
        with numbered_from(done, name):
            codes = codes_of_list(_as_text(mechanism.input_labels, name), [row[place] for row in batch], name)
        drawn = sample_codes(mechanism, np.asarray(codes))
        for row, report in zip(batch, labels_of_codes(mechanism, drawn), strict=True):
            row[place] = " ".join(map(str, report)) if isinstance(report, tuple) else str(report)
