"""Reports to all questions as they come back: a frame, a file, or a record for each person.

What one person reports is a *record* {question: report}: an answer, a set of answers as a list, and nothing (None, or
no key) for a question that the person was not asked. A collected file is JSON lines, a record in each line beside open
columns and, under the key `questionnaire`, the hash of the questionnaire that made it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.columns.files import format_of, json_lines
from extremal.columns.frames import column_of
from extremal.columns.lists import is_missing, plain
from extremal.errors import ExtremalError, InvalidParameter, MalformedFile, UnknownLabel
from extremal.estimate import estimate_frequencies, estimate_workload
from extremal.estimate.channels import channel_of
from extremal.estimate.crosstab import column_in
from extremal.estimate.reports.counts import refuse_counted_rows
from extremal.estimate.reports.files import read_columns
from extremal.estimate.reports.sample import Sample
from extremal.mechanism import Mechanism
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.release import plain_value
from extremal.utility import Workload

if TYPE_CHECKING:
    from extremal.questionnaire.questionnaire import Questionnaire

HASH_KEY = "questionnaire"  # of a line, with the hash of what made its reports
NEVER = "a record must be one that the questionnaire reports"
DESCRIBED = ("weights", "strata", "cluster", "population")  # options that make a sample


class CollectedReports:
    """Reports to a questionnaire, wherever they are.

    Args:
        asked: the questionnaire.
        given: a data frame, the path of a file, a sequence of records, or a mapping from name to column.
        check_hash: refuse a file that does not say that this questionnaire made it.
    """

    def __init__(self, asked: Questionnaire, given: Any, check_hash: bool = True) -> None:
        self.asked, self.check_hash = asked, check_hash
        self.path = Path(given) if isinstance(given, (str, Path)) else None
        self.given = _columns_of_records(given) if is_records(given) else given
        if self.path is not None and check_hash and format_of(self.path, "frame") is json_lines:
            self.check_hash = not _lines_say(self.path, asked.hash)

    def lists(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Columns as lists of Python's own values, None where there is none, sets as tuples."""
        if self.path is None:
            return self._lists_in_memory(names)
        wanted = {name: m for name, m in self.asked.questions.items() if name in names}
        found: dict[str, list[Any]] = {name: [] for name in names}
        for part in read_columns(self.path, wanted, [n for n in names if n not in wanted], self.check_hash, "frame"):
            for name in names:
                found[name] += map(_own, part[name])
        return found

    def _lists_in_memory(self, names: Sequence[str]) -> dict[str, list[Any]]:
        needed = "reports are a data frame, a file, or a list of records {question: report}"
        found = {name: list(map(_own, column_in(self.given, name, needed))) for name in names}
        if len({len(column) for column in found.values()}) > 1:
            sizes = [len(column) for column in found.values()]
            raise InvalidParameter("columns must be of one length", parameter=", ".join(names), value=sizes)
        asked = self.asked.questions
        refuse_counted_rows(
            self.given, {name: (found[name], asked[name].m if name in asked else None) for name in names}
        )
        return found

    def answered(self, names: Sequence[str], some: Collection[str]) -> dict[str, list[Any]]:
        """The same columns without the rows that answer none of `some`, where there are any."""
        lists = self.lists(names)
        if not some:
            return lists
        kept = [any(one is not None for one in row) for row in zip(*(lists[name] for name in some), strict=True)]
        return {name: list(compress(column, kept)) for name, column in lists.items()}

    def estimate(self, question: str, mechanism: Mechanism, goal: Workload | None, jointly: bool, options: Any) -> Any:
        """One question; who was not asked is left out."""
        options = {**({"missing": "drop"} if jointly else {}), **options}
        if goal is not None and "by" in options:
            return self._by_group(question, mechanism, goal, options)
        source: Any = self.given
        column: str | None = question
        if isinstance(self.given, Mapping):
            source, column = self.lists([question, *filter(_is_text, [options.get("by")])])[question], None
            options = self._beside(options)
        if goal is None:
            return estimate_frequencies(source, mechanism, column=column, check_hash=self.check_hash, **options)
        return estimate_workload(source, mechanism, goal, column=column, check_hash=self.check_hash, **options)

    def _beside(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options with columns in the place of their names, in the order of the reports."""
        described = {key: value for key, value in options.items() if key in DESCRIBED}
        found = {key: value for key, value in options.items() if key not in DESCRIBED}
        if described or "sample" in found:
            found["sample"] = Sample.of(found.get("sample"), **described).beside(self.given)
        if found.get("by") is not None:
            found["by"] = column_of(self.given, found["by"], "by")
        return found

    def _by_group(self, question: str, mechanism: Mechanism, goal: Workload, options: dict[str, Any]) -> dict[Any, Any]:
        """A goal in each group of an open column."""
        by = options["by"]
        if not isinstance(by, str) or set(options) - {"by", "missing"}:
            raise InvalidParameter(
                "a goal is estimated in the groups of one column, without weights",
                parameter="by",
                value=sorted(set(options) - {"missing"}),
            )
        lists = self.lists([question, by])
        groups: dict[Any, list[Any]] = {}
        for report, group in zip(lists[question], lists[by], strict=True):
            if group is None:
                raise InvalidParameter("by must not be missing", parameter=by, value=None)
            if report is not None or options.get("missing") != "drop":
                groups.setdefault(group, []).append(report)
        return {group: estimate_workload(own, mechanism, goal) for group, own in sorted(groups.items(), key=str)}


def _is_text(given: Any) -> bool:
    return isinstance(given, str)


def is_records(given: Any) -> bool:
    """Whether these are records, one for each person."""
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(one, Mapping) for one in given)


def _columns_of_records(records: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _lines_say(path: Path, own: str) -> bool:
    """Whether every line says that this questionnaire made it; False where a note beside the file is to be asked.

    Raises:
        MalformedFile: lines that say nothing, without a note.
        InvalidParameter: reports of another questionnaire.
    """
    path.stat()
    said: set[Any] = set()
    try:
        for part in json_lines.read(path, [HASH_KEY], {}):
            said.update(one if isinstance(one, str) else None for one in part[HASH_KEY])
    except InvalidParameter:
        said = {None}
    if said == {own} or json_lines.hashes(path):
        return said == {own}
    if None in said or not said:
        raise MalformedFile(
            f"{path.name} must say in every line which questionnaire made it",
            parameter=HASH_KEY,
            hint="If you know that it was this one, pass check_hash=False (--no-hash-check).",
        )
    raise InvalidParameter(
        f"the reports in {path.name} must come from this questionnaire", parameter="questionnaire.hash", value=own
    )


def _own(value: Any) -> Any:
    """A value as Python has it; None where it is missing, a list of labels as a tuple."""
    own = plain(plain_value(value))
    if hasattr(own, "tolist"):
        own = own.tolist()
    if isinstance(own, (list, tuple)):
        return tuple(plain(x) for x in own)
    return None if is_missing(own) else own


# -- one record


def checked_record(asked: Questionnaire, record: Any) -> dict[str, Any]:
    """See `Questionnaire.check_record`."""
    if not isinstance(record, Mapping):
        raise InvalidParameter(NEVER, parameter="record", value=type(record).__name__)
    for name in record:
        if name not in asked.questions:
            raise InvalidParameter(f"{NEVER}: it has a question that is not asked", parameter="record")
    found = {name: _own(record.get(name)) for name in asked.questions}
    for name, mechanism in asked.questions.items():
        if name not in asked.together or found[name] is not None:
            _refuse_report(mechanism, found[name], name)
    if asked.joint is not None:
        _refuse_pattern(asked.joint, found)
    return found


def _refuse_report(mechanism: Mechanism, report: Any, name: str) -> None:
    try:
        if report is not None:
            channel_of(mechanism).encode(report)
            return
    except (ExtremalError, TypeError, ValueError, LookupError):
        pass
    # The look-up's own message is not used: it would quote the report.
    raise UnknownLabel(f"{NEVER}: that to {name!r} is none of its reports", parameter=name) from None


def _refuse_pattern(joint: JointQuestions, record: Mapping[str, Any]) -> None:
    """Raise unless some assignment asks just these questions in just these ways, with admissible records."""
    kinds = {}
    for i, name in enumerate(joint.names):
        if record[name] is not None:
            kinds[i] = 0 if len(joint.kinds(i)) == 1 else int(record[name].partition(":")[0]) - 1
    if frozenset(kinds.items()) not in _signatures(joint):
        raise InvalidParameter(f"{NEVER}: no person is asked these questions in these ways", parameter="record")
    for branch in joint.branches:
        if branch.columns[0] in kinds:
            codes = tuple(
                joint.reports(i, joint.kinds(i)[kinds[i]]).index(record[joint.names[i]]) for i in branch.columns
            )
            if codes not in branch.records:
                raise InvalidParameter(f"{NEVER}: skipped questions do not fit", parameter="record")


@lru_cache(maxsize=16)
def _signatures(joint: JointQuestions) -> frozenset[frozenset[tuple[int, int]]]:
    """For each assignment the columns that it asks, each with the number of its kind."""
    found = set()
    for assignment in joint.structure.assignments:
        asked = set()
        for block in assignment.blocks:
            for unit, family in zip(block.questions, block.families, strict=True):
                for i in joint.units[unit]:
                    asked.add((i, joint.number_of(i, family, block.coin)))
        found.add(frozenset(asked))
    return frozenset(found)
