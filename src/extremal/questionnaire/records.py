"""Records: the answers of one person, with a place for what was skipped and for what was not answered.

A filter and the questions behind it are one question of a joint mechanism (a `Branch`), whose answers are the
admissible records: a filter with two answers, one of which leads to k more, has 1 + k records and not 2(k + 1). The
labels of a column have their place for who was not asked (`SKIPPED`) and for who did not answer (`NO_ANSWER`): a
missing value is read as the one of them that the record admits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.columns.column import container_of, refuse_missing
from extremal.columns.lists import MISSING
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures.structure import stored_list
from extremal.release.privatize import input_codes, unknown
from extremal.release.sampling.loops import Codes

if TYPE_CHECKING:
    from extremal.questionnaire.joint import JointQuestions

NO_ANSWER = "(no answer)"  # the label of who was asked and did not answer
SKIPPED = "(skipped)"  # the label of who was not asked, because of an earlier answer
MOST_RECORDS = 4096  # admissible ones of a branch: each is an answer of one question


@dataclass(frozen=True)
class Branch:
    """Columns that are one question: their numbers, and the admissible records, as codes of their answers."""

    columns: tuple[int, ...]
    records: tuple[tuple[int, ...], ...]

    @classmethod
    def from_json(cls, names: Sequence[str], columns: Any, records: Any) -> Branch:
        """A branch as a file has it: the names of its columns, and the records."""
        own = tuple(names.index(name) for name in stored_list(columns, "records"))
        return cls(own, tuple(tuple(stored_list(one, "records")) for one in stored_list(records, "records")))

    def counts(self, column: int, k: int) -> Floats:
        """How many records have each of the k answers in a column."""
        place = self.columns.index(column)
        return np.bincount([record[place] for record in self.records], minlength=k).astype(np.float64)

    def pairs(self, one: int, other: int, shape: tuple[int, int]) -> Floats:
        """How many records have each pair of answers in two columns, as one row."""
        i, j = self.columns.index(one), self.columns.index(other)
        found = np.zeros(shape)
        for record in self.records:
            found[record[i], record[j]] += 1
        return found.reshape(-1)

    def refuse(self, sizes: Sequence[int]) -> None:
        """Raise unless there are different records of answers that there are."""
        inside = all(
            len(record) == len(self.columns)
            and all(0 <= x < sizes[i] for i, x in zip(self.columns, record, strict=True))
            for record in self.records
        )
        several = len(self.columns) > 1 and 1 < len(self.records) <= MOST_RECORDS
        if not inside or not several or len(set(self.records)) < len(self.records):
            raise InvalidParameter(
                f"a branch has several columns and 2 to {MOST_RECORDS:,} different records of their answers",
                parameter="branches",
                value=len(self.records),
            )


@dataclass(frozen=True, eq=False)
class Records:
    """The records that there are: one answer for each question, admissible where questions are skipped."""

    joint: JointQuestions

    def find(self, record: Any) -> int | None:
        """0 for a record, None for anything else."""
        labels = self.joint.labels
        if not isinstance(record, (tuple, list)) or len(record) != len(labels):
            return None
        codes = [own.find(x) for own, x in zip(labels, record, strict=True)]
        if any(code is None for code in codes):
            return None
        return None if (self.joint.unit_codes(np.array([codes], dtype=np.int64)) < 0).any() else 0

    def shown(self) -> str:
        return f"{len(self.joint.labels)} answers"

    def nearest(self, record: Any) -> None:
        return None


def record_codes(joint: JointQuestions, columns: Mapping[str, Any]) -> Codes:
    """The codes of the answers to the questions that are asked jointly, a row for each person.

    Raises:
        UnknownLabel: an answer that is none, or missing where that has no place; named by its position alone.
        InvalidParameter: a record that is not admissible.
    """
    codes = np.column_stack(
        [column_codes(labels, columns[name], name) for name, labels in zip(joint.names, joint.labels, strict=True)]
    ).astype(np.int64)
    for branch in joint.branches:
        _settle(joint, branch, codes)
    return codes


def _settle(joint: JointQuestions, branch: Branch, codes: Codes) -> None:
    """Read what is missing in the columns of a branch as the one of skipped and not answered that is admissible."""
    known = set(branch.records)
    ahead = {record[:end] for record in known for end in range(1, len(record) + 1)}
    labels = [joint.labels[i] for i in branch.columns]
    for row, given in enumerate(codes[:, branch.columns].tolist()):
        record: tuple[Any, ...] = ()
        for own, code in zip(labels, given, strict=True):
            skipped, silent = own.find(SKIPPED), code in (MISSING, own.find(NO_ANSWER))
            away = silent and (*record, skipped) in ahead
            record = (*record, skipped if away else code)
        if record not in known:
            where = f"{', '.join(joint.names[i] for i in branch.columns)}[{row}]"
            raise InvalidParameter(
                f"{where}: a question is answered exactly where the earlier answers lead to it",
                parameter=where,
                hint="Leave the answers to skipped questions empty.",
            )
        codes[row, branch.columns] = record


def column_codes(labels: Labels, column: Any, name: str) -> Any:
    """The code of each answer. What is missing is `NO_ANSWER` where that is a label; in a column that may be skipped it
    is `MISSING` otherwise. Anything else that is no answer is refused by its position."""
    container = container_of(column)
    if container is None:
        raise InvalidParameter("a column must hold one value for each row", parameter="column", value=name)
    silent, may_be_missing = labels.find(NO_ANSWER), labels.find(SKIPPED) is not None
    if silent is None and not may_be_missing:
        codes = input_codes(container, labels, column, name)
    else:
        codes = _with_missing(labels, container.distinct(column, name), silent)
    low = MISSING if may_be_missing else 0
    bad = np.flatnonzero((codes < low) | (codes >= len(labels)))
    if bad.size:
        raise unknown(labels, codes[bad[0]].item(), f"{name}[{int(bad[0])}]")
    return codes


def _with_missing(labels: Labels, found: tuple[Any, Sequence[Any]], silent: int | None) -> Any:
    """Codes of a column with gaps; what is no label is the number of labels."""
    codes, values = found
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in plain]  # a gap makes numbers floats
    own = [labels.find(value) for value in plain]
    table = np.array([len(labels) if code is None else code for code in own] + [MISSING if silent is None else silent])
    return table[codes]


def plain_column(column: Any, name: str) -> list[Any]:
    """A column as a list of Python's own values; missing ones are refused."""
    container = container_of(column)
    if container is None:
        raise InvalidParameter("a column must hold one value for each row", parameter="column", value=name)
    codes, labels = container.distinct(column, name)
    refuse_missing(codes, name, "Leave out who did not answer, or make the question optional.", UnknownLabel)
    plain = [label.item() if hasattr(label, "item") else label for label in labels]
    return [plain[code] for code in codes.tolist()]
