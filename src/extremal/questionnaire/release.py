"""Answers to all questions → reports, in a frame, through a memory, by a key, or from file to file.

Every answer is read before anything is drawn or stored. Whoever was not asked a question has nothing in its column; a
missing answer is read as `extremal.questionnaire.records` says, where it has its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from extremal.columns.column import filled, with_gaps
from extremal.columns.files import format_of
from extremal.columns.files.format import Progress
from extremal.columns.frames import columns_of, pick, with_columns
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures import SubsetSelection
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.records import NO_ANSWER, column_codes, plain_column, record_codes
from extremal.release import privatize
from extremal.release.engines.keyed import KeyedColumn, OwnWords, RowWords, column_secret, keys_in
from extremal.release.engines.lazy import checked_key, with_keyed_columns
from extremal.release.files import Made, privatize_file
from extremal.release.sampling.loops import Codes

if TYPE_CHECKING:
    from extremal.release.memory import Memory

Mechanisms = Mapping[str, Mechanism]
NAME = b"questions that are asked jointly"  # in place of a column's, for the words that all of them read


def privatize_answers(frame: Any, questions: Mechanisms, joint: JointQuestions | None) -> Any:
    """See `Questionnaire.privatize`."""
    apart = questions_apart(questions, joint)
    records = None if joint is None else record_codes(joint, columns_of(frame, joint.names))
    done = privatize(with_silence(frame, apart), apart) if apart else frame
    if joint is None or records is None:
        return done
    return _placed(done, joint.draw(records), questions, frame)


def questions_apart(questions: Mechanisms, joint: JointQuestions | None) -> dict[str, Mechanism]:
    """Those with a mechanism of their own."""
    return {name: m for name, m in questions.items() if joint is None or name not in joint.names}


def with_silence(frame: Any, apart: Mechanisms) -> Any:
    """The frame with what is missing as an answer, in the questions where it is one."""
    silent = may_be_silent(apart)
    columns = columns_of(frame, list(silent)) if silent else {}
    return with_columns(frame, {name: answered(silent[name], own, name) for name, own in columns.items()})


def may_be_silent(apart: Mechanisms) -> dict[str, Labels]:
    """The labels of questions that need not be answered."""
    return {name: m.input_labels for name, m in apart.items() if m.input_labels.find(NO_ANSWER) is not None}


def answered(labels: Labels, column: Any, name: str) -> Any:
    """The column with what is missing as an answer."""
    return with_gaps([labels[code] for code in column_codes(labels, column, name).tolist()], labels, column)


def _placed(done: Any, drawn: Mapping[str, list[Any]], questions: Mechanisms, frame: Any) -> Any:
    """A frame with the reports of the joint mechanism in the place of its answers."""
    columns = columns_of(frame, list(drawn))
    outputs = {name: questions[name].output_labels for name in drawn}
    return with_columns(done, {name: with_gaps(drawn[name], outputs[name], columns[name]) for name in drawn})


def privatize_remembered(
    frame: Any, questions: Mechanisms, joint: JointQuestions | None, memory: Memory, person: str | None
) -> Any:
    """The stored reports of who was asked before, new ones of everybody else."""
    if person is None or person in questions:
        raise InvalidParameter("a memory needs the column that says who answered", parameter="person", value=person)
    apart = questions_apart(questions, joint)
    people = plain_column(pick(frame, person, "person"), person)
    given = with_silence(frame, apart)
    columns = columns_of(given, list(questions))
    values = {name: plain_column(columns[name], name) for name in apart}
    for name, mechanism in apart.items():  # all values are read before anything is stored
        _refuse_unknown(mechanism.input_labels, values[name], name)
    records = None if joint is None else record_codes(joint, columns)
    made = {name: _remembered(memory, people, name, values[name], columns[name], m) for name, m in apart.items()}
    done = with_columns(given, made)
    if joint is None or records is None:
        return done
    return _placed(done, _remembered_jointly(memory, people, joint, records), questions, frame)


def _remembered_jointly(
    memory: Memory, people: list[Any], joint: JointQuestions, records: Codes
) -> dict[str, list[Any]]:
    """The reports of the joint mechanism by question, stored or new."""
    answers = [tuple(labels[code] for labels, code in zip(joint.labels, row, strict=True)) for row in records.tolist()]
    stored = memory.reports(people, " + ".join(joint.names), answers, joint)
    rows = [[tuple(x) if isinstance(x, list) else x for x in cast("tuple[Any, ...]", row)] for row in stored]
    return {name: [row[i] for row in rows] for i, name in enumerate(joint.names)}


def _refuse_unknown(labels: Labels, values: list[Any], name: str) -> None:
    for place, value in enumerate(values):
        if labels.find(value) is None:
            raise UnknownLabel.hidden(f"{name}[{place}]", value, labels.shown())


def _remembered(
    memory: Memory, people: list[Any], name: str, values: list[Any], like: Any, mechanism: Mechanism
) -> Any:
    """The column of reports, stored or new."""
    reports = memory.reports(people, name, values, mechanism)
    if isinstance(mechanism.structure, SubsetSelection):
        inputs = mechanism.input_labels
        codes = np.array([[inputs.code(member, name) for member in cast("tuple[Any, ...]", r)] for r in reports])
        return filled(codes, inputs, like)
    outputs = mechanism.output_labels
    return filled(np.array([outputs.code(r, name) for r in reports]), outputs, like)


# -- by a key
#
# All columns of the questions that are asked jointly read the same words of their row: each column's function draws the
# whole report and gives its own part, so that the parts fit each other whoever evaluates them, in whatever order.


class KeyedPart:
    """One column of the joint report. Never pickled by accident, as `KeyedColumn`."""

    __slots__ = ("__secret", "joint", "name")

    def __init__(self, joint: JointQuestions, name: str, secret: bytes) -> None:
        self.joint, self.name, self.__secret = joint, name, secret

    @property
    def reads(self) -> tuple[str, ...]:
        return self.joint.names

    def shipped(self) -> tuple[JointQuestions, str, bytes]:
        """The parts, for a worker of the same release. They hold the secret of the release."""
        return self.joint, self.name, self.__secret

    @classmethod
    def arrived(cls, parts: tuple[JointQuestions, str, bytes]) -> KeyedPart:
        """What `shipped` took apart."""
        return cls(*parts)

    def reports(self, ids: Any, *columns: Any) -> Any:
        """This column's reports on records, in the container of its answers."""
        codes = record_codes(self.joint, dict(zip(self.joint.names, columns, strict=True)))
        words = RowWords(ids, lambda kind: keys_in(self.__secret, kind))
        if len(words) != len(codes):
            raise InvalidParameter(
                f"there must be {len(codes)} ids, one for each record", parameter="len(ids)", value=len(words)
            )
        own = OwnWords(words, np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64))
        outputs = self.joint.mechanisms[self.name].output_labels
        return with_gaps(self.joint.draw(codes, own)[self.name], outputs, columns[self.joint.names.index(self.name)])

    def __repr__(self) -> str:
        return f"KeyedPart({self.name!r}, secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a keyed column holds a secret and is never pickled: serialise the plan before privatize")


class KeyedOptional(KeyedColumn):
    """A column of a question that has its own mechanism and need not be answered: what is missing is an answer."""

    __slots__ = ()

    def reports(self, ids: Any, values: Any) -> Any:
        return super().reports(ids, answered(self.mechanism.input_labels, values, self.name))


def privatize_keyed_answers(
    frame: Any,
    questions: Mechanisms,
    joint: JointQuestions | None,
    row_id: str,
    release_key: Any,
    check_ids: bool | None,
    connection: Any,
) -> Any:
    """See `Questionnaire.privatize`."""
    if row_id in questions:
        raise InvalidParameter("the row id cannot be randomised", parameter="row_id", value=row_id)
    key = checked_key(release_key)
    apart = questions_apart(questions, joint)
    optional = may_be_silent(apart)
    columns: dict[str, Any] = {
        n: (KeyedOptional if n in optional else KeyedColumn)(m, n, key) for n, m in apart.items()
    }
    if joint is not None:
        secret = column_secret(key, NAME, joint.hash)
        columns |= {name: KeyedPart(joint, name, secret) for name in joint.names}
    return with_keyed_columns(frame, row_id, columns, check_ids, connection)


# -- files


def privatize_answers_file(
    source: str | Path,
    target: str | Path,
    questions: Mechanisms,
    joint: JointQuestions | None,
    overwrite: bool,
    progress: Progress | None,
) -> int:
    """See `Questionnaire.privatize_file`."""
    apart = questions_apart(questions, joint)
    silent = may_be_silent(apart)
    if joint is None and not silent:
        return privatize_file(source, target, apart, overwrite=overwrite, progress=progress)
    labels = {name: questions[name].input_labels for name in [*silent, *(() if joint is None else joint.names)]}
    columns = _read(Path(source), labels)
    drawn: dict[str, list[Any]] = {}
    if joint is not None:
        drawn |= joint.draw(record_codes(joint, columns))
    for name in silent:
        codes = column_codes(labels[name], columns[name], name)
        drawn[name] = apart.pop(name).privatize([labels[name][code] for code in codes.tolist()])
    made = {name: Made(questions[name], partial(_slice, drawn[name], questions[name].output_labels)) for name in drawn}
    return privatize_file(source, target, apart, overwrite=overwrite, progress=progress, made=made)


def _read(path: Path, labels: Mapping[str, Labels]) -> dict[str, list[Any]]:
    """Columns of a file as lists."""
    found: dict[str, list[Any]] = {name: [] for name in labels}
    for part in format_of(path, "source").read(path, list(labels), labels):
        for name in labels:
            found[name] += [plain_value(x) for x in part[name]]
    return found


def plain_value(value: Any) -> Any:
    """A value of any container as Python has it."""
    return value.as_py() if hasattr(value, "as_py") else value


def _slice(drawn: list[Any], labels: Labels, column: Any, first: int) -> Any:
    """The reports on the rows of a batch."""
    return with_gaps(drawn[first : first + len(column)], labels, column)
