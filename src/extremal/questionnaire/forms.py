"""Forms of survey tools: which questions can be randomised, with their answers and texts in their order.

Read are XLSForm workbooks (ODK, KoBo, SurveyCTO), LimeSurvey's tab-separated structure, SurveyJS's JSON and REDCap's
data dictionary. Single choices, yes/no questions, ratings and ranges become questions; a multiple choice becomes one
yes/no question for each of its items ("tick all that apply"); everything else is listed as not randomised, also what
is asked repeatedly: a budget is for one answer. Answers are the codes that the tool stores, kept as the file writes
them; labels are the texts that a person sees. "Other", where a form offers it, is one of the answers.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from extremal.errors import ExtremalError, InvalidParameter, MalformedFile, MissingDependency
from extremal.paths import refuse_unusable
from extremal.questionnaire.given import OnlyIf, TickAll

Pairs = list[tuple[Any, str]]
"""Answers as the tool stores them, each with its text."""

MOST_ANSWERS = 10_000  # of one question: beyond, a range is no list of answers
MOST_QUESTIONS = 10_000  # of a form: beyond, nobody answers it
MOST_BYTES = 16 << 20  # of a form, and of what a workbook unpacks to
MOST_ROWS, MOST_COLUMNS = 100_000, 1_000  # of a table: a workbook may say that it has 2^34 empty cells
RATINGS = (1, 5)  # of SurveyJS, where a rating says nothing else
STRUCTURE = ("begin", "end", "note", "calculate", "start", "today", "deviceid", "audit", "")
"""XLSForm rows that ask nothing."""
OR_OTHER = ("or_other", "or other", "or specify other")  # behind the list of an XLSForm choice
SPECIAL = (
    (("showNoneItem", "hasNone"), "none", "noneText", "None"),
    (("showRefuseItem",), "refused", "refuseText", "Refuse to answer"),
    (("showDontKnowItem",), "dontknow", "dontKnowText", "Don't know"),
    (("showOtherItem", "hasOther"), "other", "otherText", "Other (describe)"),
)  # answers that a SurveyJS choice has besides its own: names of the switch, the code, the text and its default

_EQUALITY = re.compile(
    r"\(*selected\(\s*\$\{(\w+)\}\s*,\s*('[^']*'|\"[^\"]*\")\s*\)\)*"
    r"|\(*[$]?[{\[]?(\w+?)(?:\.NAOK)?[}\]]?\s*==?\s*('[^']*'|\"[^\"]*\"|[\w.-]+)\)*"
)
"""A condition that one answer decides: ${q} = 'a', selected(${q}, 'a'), q.NAOK == "A", {q} = 1, [q] = '1'."""


@dataclass(frozen=True)
class FormQuestion:
    """A question that can be randomised.

    Attributes:
        name: as the tool stores it.
        text: what a person reads.
        answers: codes in their order.
        labels: the text of each answer.
        several: whether any number of the answers may be ticked.
        condition: where the question is asked, as the tool writes it; empty: always.
    """

    name: str
    text: str
    answers: tuple[Any, ...]
    labels: tuple[str, ...]
    several: bool = False
    condition: str = ""


@dataclass(frozen=True)
class SurveyForm:
    """What a file of a survey tool asks.

    Attributes:
        kind: "XLSForm", "LimeSurvey", "SurveyJS" or "REDCap".
        questions: those that can be randomised.
        others: names and types of those that cannot.
        title: of the form, where it has one.
    """

    kind: str
    questions: tuple[FormQuestion, ...]
    others: tuple[tuple[str, str], ...]
    title: str = ""

    def answers(self) -> dict[str, Any]:
        """As `Questionnaire.within` takes them: with a condition that an earlier answer decides, asked only then."""
        found: dict[str, Any] = {}
        for q in self.questions:
            own: Any = TickAll([str(a) for a in q.answers]) if q.several else list(q.answers)
            leads = None if q.several else self.leads(q)
            found[q.name] = own if leads is None else OnlyIf(leads[0], leads[1], own)
        return found

    def texts(self) -> dict[str, Any]:
        """The wording of each question and its answers."""
        return {q.name: (q.text, q.labels) for q in self.questions}

    def optional(self) -> list[str]:
        """Columns with a condition that could not be read, or of several items: who is not asked has no answer."""
        found: list[str] = []
        for q in self.questions:
            if q.condition and q.several:
                found += [f"{q.name}: {item}" for item in q.answers]
            elif q.condition and self.leads(q) is None:
                found.append(q.name)
        return found

    def leads(self, question: FormQuestion) -> tuple[str, list[Any]] | None:
        """The earlier question and its answers that a condition names; None if it says something else, or nothing."""
        name, wanted = _equalities(question.condition)
        place = self._place.get(name, len(self.questions))
        if place >= self._place[question.name] or self.questions[place].several:
            return None
        found = [answer for answer in self.questions[place].answers if str(answer).casefold() in wanted]
        return (name, found) if len(found) == len(wanted) else None

    @cached_property
    def _place(self) -> dict[str, int]:
        return {q.name: place for place, q in enumerate(self.questions)}

    def summary(self) -> str:
        """The questions with their answers, then what is not randomised."""
        lines = [f"{self.kind}: {len(self.questions)} to randomise, {len(self.others)} not"]
        for q in self.questions:
            several = "any of " if q.several else ""
            shown = ", ".join(q.labels[:8]) + (", …" if len(q.labels) > 8 else "")
            lines.append(f"  {q.name}: {q.text} ({several}{shown})")
        lines += [f"  not randomised: {name} ({kind})" for name, kind in self.others]
        return "\n".join(lines)


def read_form(path: str | Path) -> SurveyForm:
    """The form in a file, by its ending: .xlsx (XLSForm), .tsv or .txt (LimeSurvey), .json (SurveyJS), .csv (REDCap).

    Raises:
        FileNotFoundError: there is no such file.
        InvalidParameter: an ending that is none of these.
        MalformedFile: not a form of that kind.
        MissingDependency: XLSForm needs openpyxl.
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InvalidParameter(
            "a form is an .xlsx (XLSForm), .tsv or .txt (LimeSurvey), .json (SurveyJS) or .csv (REDCap) file",
            parameter="path",
            value=str(path),
        )
    refuse_unusable(file)
    if file.stat().st_size > MOST_BYTES:
        raise MalformedFile(f"a form has at most {MOST_BYTES >> 20} MiB", parameter="path", value=str(path))
    try:
        return reader(file)
    except (ExtremalError, OSError, MemoryError):
        raise
    except Exception as error:  # what is wrong with a workbook, an archive, a table or JSON has no class in common
        # Not what the libraries say: somebody's answers, taken for a form, may be in it.
        absent = f"It has no {error}." if isinstance(error, KeyError) else None
        raise MalformedFile(
            f"{file.name} must be a form that its tool can read", parameter="path", value=str(path), hint=absent
        ) from None


def _equalities(condition: str) -> tuple[str, set[str]]:
    """The one question whose answer decides a condition, and the answers that it names, folded; "" where there is no
    such question."""
    parts = [_EQUALITY.fullmatch(part.strip()) for part in re.split(r"\bor\b|\|\|", condition)]
    named = {(part[1] or part[3], part[2] or part[4]) for part in parts if part is not None}
    questions = {name for name, _ in named}
    if len(named) < len(parts) or len(questions) != 1:
        return "", set()
    return questions.pop(), {value.strip("'\"").casefold() for _, value in named}


class _FormReader:
    """Questions as they are read."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.questions: list[FormQuestion] = []
        self.names: set[str] = set()
        self.others: list[tuple[str, str]] = []
        self.conditions: list[str] = []  # of the question that is added next, and of the groups that it is in
        self.title = ""

    def add(self, name: str, text: str, pairs: Pairs | None, kind: str, several: bool = False) -> None:
        """A question with its answers; one without, with fewer than two, or too many, is not randomised."""
        if pairs is None:
            self.others.append((name, kind))
            return
        self._use(name)
        codes = tuple(code for code, _ in pairs)
        if len(codes) < (1 if several else 2) or not _are_labels(codes):
            self.others.append((name, kind))
            return
        labels = tuple(label or str(code) for code, label in pairs)
        condition = " and ".join(dict.fromkeys(filter(None, self.conditions)))
        self.questions.append(FormQuestion(name, text or name, codes, labels, several, condition))

    def _use(self, name: str) -> None:
        if not name or name in self.names or len(self.names) >= MOST_QUESTIONS:
            raise MalformedFile(
                f"a form has at most {MOST_QUESTIONS:,} questions, each with a name of its own",
                parameter="question",
                value=name,
            )
        self.names.add(name)

    def form(self) -> SurveyForm:
        if not self.questions and not self.others:
            raise MalformedFile(f"the file must be a form of {self.kind}", parameter="questions", value=0)
        return SurveyForm(self.kind, tuple(self.questions), tuple(self.others), self.title)


def _are_labels(codes: Sequence[Any]) -> bool:
    """Whether they are few and different enough, and no fraction, list or null is among them."""
    stored = all(isinstance(code, (str, int)) for code in codes)
    return stored and len(set(map(str, codes))) == len(codes) <= MOST_ANSWERS


# -- XLSForm


def _workbook(path: Path) -> Any:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingDependency("an XLSForm needs openpyxl", hint="pip install 'extremal[forms]'.") from None
    with zipfile.ZipFile(path) as packed:
        if sum(part.file_size for part in packed.infolist()) > MOST_BYTES:
            raise MalformedFile(f"a form unpacks to at most {MOST_BYTES >> 20} MiB", parameter="path", value=str(path))
    # openpyxl leaves the file of a broken workbook open
    return load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)


def _xlsform(path: Path) -> SurveyForm:
    book = _workbook(path)
    sheets = {str(name).strip().lower(): name for name in book.sheetnames}

    def rows(name: str) -> Iterator[dict[str, Any]]:
        return _rows(book[sheets[name]].iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS + 1, values_only=True))

    found, survey = _FormReader("XLSForm"), list(rows("survey"))
    choices = _xlsform_choices(rows("choices") if "choices" in sheets else ())
    settings = next(_rows(book[sheets["settings"]].iter_rows(values_only=True)), {}) if "settings" in sheets else {}
    found.title = _text(settings.get("form_title"))
    groups: list[tuple[bool, str]] = []  # whether a group is a repeat, and its condition
    for row in survey:
        kind, relevant = " ".join(_text(row.get("type")).split()), _text(row.get("relevant"))
        opened = re.fullmatch(r"(begin|end)[ _](group|repeat)", kind)
        if opened is None:
            found.conditions = [*(condition for _, condition in groups), relevant]
            _xlsform_row(found, row, kind, choices, any(repeated for repeated, _ in groups))
        elif opened[1] == "begin":
            groups.append((opened[2] == "repeat", relevant))
        else:
            groups = groups[:-1]
    return found.form()


def _xlsform_choices(rows: Iterable[dict[str, Any]]) -> dict[str, Pairs]:
    """The lists of choices by their names."""
    choices: dict[str, Pairs] = {}
    for row in rows:
        code = _text(row.get("name")) or _text(row.get("value"))
        if code:
            listed_in = _text(row.get("list_name")) or _text(row.get("list name"))
            choices.setdefault(listed_in, []).append((code, _label(row)))
    return choices


def _xlsform_row(found: _FormReader, row: dict[str, Any], kind: str, choices: dict[str, Pairs], repeated: bool) -> None:
    """One row that is no group."""
    name, (word, _, rest) = _text(row.get("name")), kind.partition(" ")
    if word.split("_")[0] in STRUCTURE or not name:
        return
    answers: Pairs | None = None
    if repeated:
        kind = f"{kind}, repeated"
    elif word == "range":
        answers = _range_of(_text(row.get("parameters")))
    elif word in ("select_one", "select_multiple"):
        answers = _selected(choices, rest)
    found.add(name, _label(row), answers, kind, several=word == "select_multiple")


def _selected(choices: dict[str, Pairs], rest: str) -> Pairs:
    """The list that a row names, with "other" where it is asked for."""
    which, _, other = rest.partition(" ")
    listed = choices.get(which, [])
    more = other in OR_OTHER and listed and "other" not in (code for code, _ in listed)
    return [*listed, ("other", "Other")] if more else listed


def _rows(rows: Iterator[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Rows by the names in the first one, in lower case."""
    header: list[str] | None = None
    for number, row in enumerate(rows):
        if number >= MOST_ROWS or (header is None and len(row) > MOST_COLUMNS and row[MOST_COLUMNS] is not None):
            raise _too_many_cells()
        if header is None:
            header = [_text(cell).lower() for cell in row]
        elif row.count(None) < len(row):
            yield dict(zip(header, row, strict=False))


def _table(path: Path, delimiter: str) -> list[dict[str, Any]]:
    """The rows of a table in text."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(islice(csv.DictReader(file, delimiter=delimiter), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise _too_many_cells()
    return rows


def _too_many_cells() -> MalformedFile:
    return MalformedFile(
        f"a table of a form has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns", parameter="rows"
    )


def _text(cell: Any) -> str:
    """A cell as text; whole numbers without a decimal point."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _label(row: dict[str, Any]) -> str:
    """The label of a row, in the first language that there is."""
    return next((_text(row[key]) for key in row if key.split("::")[0].strip() == "label" and _text(row[key])), "")


def _range_of(parameters: str) -> Pairs:
    """start, end and step of a range of whole numbers."""
    given = {key: float(value) for key, value in re.findall(r"(start|end|step)\s*=\s*([-0-9.]+)", parameters)}
    start, end, step = given.get("start", 1), given.get("end", 10), given.get("step", 1)
    if not all(float(v).is_integer() for v in (start, end, step)) or step < 1:
        return []
    return _numbers(int(start), int(end), int(step))


def _numbers(low: int, high: int, step: int) -> Pairs:
    """Whole numbers as answers, no more of them than tell that they are too many."""
    return [(n, str(n)) for n in range(low, high + 1, max(1, step))[: MOST_ANSWERS + 1]]


# -- LimeSurvey

LIME_FIXED: dict[str, Pairs] = {
    "Y": [("Y", "Yes"), ("N", "No")],
    "G": [("F", "Female"), ("M", "Male")],
    "5": [(n, str(n)) for n in range(1, 6)],
}
"""Answers that a type of question has by itself."""


def _limesurvey(path: Path) -> SurveyForm:
    found, seen, group = _FormReader("LimeSurvey"), set(), ""
    for row, inner in _blocks(_table(path, "\t")):
        if row["class"] == "G":
            group = _lime_condition(row)
        if row["class"] == "G" or row["name"] in seen:  # other languages repeat a question
            continue
        seen.add(row["name"])
        kind = row["type/scale"]
        found.conditions = [group, _lime_condition(row)]
        other = [("-oth-", "Other")] if row.get("other") == "Y" else []
        answers, items = _once(inner, "A") + other, _once(inner, "SQ")
        listed = {**LIME_FIXED, "L": answers, "!": answers, "O": answers, "M": items}
        found.add(row["name"], row["text"], listed.get(kind), kind, several=kind == "M")
    return found.form()


def _blocks(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each question and group with the rows below it, up to the next one."""
    head: dict[str, Any] | None = None
    inner: list[dict[str, Any]] = []
    for row in rows:
        if row["class"] not in ("Q", "G"):
            inner.append(row)
            continue
        if head is not None:
            yield head, inner
        head, inner = row, []
    if head is not None:
        yield head, inner


def _lime_condition(row: dict[str, str]) -> str:
    """Where a question or a group is asked; empty: always."""
    return "" if (row.get("relevance") or "1") == "1" else row["relevance"]


def _once(rows: list[dict[str, Any]], kind: str) -> Pairs:
    """The first text of each code in the rows of a class."""
    kept: dict[Any, str] = {}
    for row in rows:
        if row["class"] == kind:
            kept.setdefault(row["name"], row["text"])
    return list(kept.items())


# -- SurveyJS


def _surveyjs(path: Path) -> SurveyForm:
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    found = _FormReader("SurveyJS")
    found.title = _said(content.get("title"))
    for element, found.conditions in _elements(content, []):
        kind, several = str(element.get("type")), element.get("type") in ("checkbox", "tagbox")
        if kind not in ("html", "image", "panel"):
            answers = SURVEYJS_ANSWERS.get(kind, _none)(element)
            found.add(str(element.get("name")), _said(element.get("title")), answers, kind, several)
    return found.form()


def _elements(part: dict[str, Any], conditions: list[str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """All questions, also those in panels and pages, with the conditions of what they are in and their own."""
    for key in ("pages", "elements", "questions"):
        for inner in part.get(key) or []:
            own = [*conditions, str(inner.get("visibleIf") or "")]
            if inner.get("type") in (None, "panel"):
                yield from _elements(inner, own)
            else:
                yield inner, own


def _said(text: Any) -> str:
    """A text, or its first language."""
    if isinstance(text, dict):
        return _said(text.get("default") or next(iter(text.values()), ""))
    return "" if text is None else str(text)


def _none(_element: dict[str, Any]) -> None:
    """A kind of question without a list of answers."""


def _yes_or_no(element: dict[str, Any]) -> Pairs:
    no, yes = _said(element.get("labelFalse")) or "No", _said(element.get("labelTrue")) or "Yes"
    return [(element.get("valueFalse", False), no), (element.get("valueTrue", True), yes)]


def _pictures(element: dict[str, Any]) -> Pairs | None:
    return None if element.get("multiSelect") else _choices(element)


def _choices(element: dict[str, Any]) -> Pairs:
    if "choicesMin" in element or "choicesMax" in element:
        low, high, step = (int(element.get(key, 1)) for key in ("choicesMin", "choicesMax", "choicesStep"))
        return _numbers(low, high, step)
    pairs = [_choice(one) for one in element.get("choices") or []]
    for switches, code, caption, default in SPECIAL:
        if pairs and any(map(element.get, switches)):
            pairs.append((code, _said(element.get(caption)) or default))
    return pairs


def _choice(one: Any) -> tuple[Any, str]:
    code, text = (one["value"], _said(one.get("text"))) if isinstance(one, dict) else (one, "")
    if isinstance(code, str) and not text:  # "1|One" is short for both
        code, _, text = code.partition("|")
    return code, text or str(code)


def _ratings(element: dict[str, Any]) -> Pairs:
    if element.get("rateValues"):
        return _choices({"choices": element["rateValues"]})
    low = int(element.get("rateMin", RATINGS[0]))
    high = int(
        element.get("rateMax", element.get("rateCount", RATINGS[1]) + low - 1 if "rateCount" in element else RATINGS[1])
    )
    return _numbers(low, high, int(element.get("rateStep", 1)))


SURVEYJS_ANSWERS: dict[str, Callable[[dict[str, Any]], Pairs | None]] = {
    **dict.fromkeys(("radiogroup", "dropdown", "buttongroup", "checkbox", "tagbox"), _choices),
    "imagepicker": _pictures,
    "boolean": _yes_or_no,
    "rating": _ratings,
}


# -- REDCap

REDCAP_CONDITION = "Branching Logic (Show field only if...)"  # the column of conditions
REDCAP_FIXED: dict[str, Pairs] = {"yesno": [("1", "Yes"), ("0", "No")], "truefalse": [("1", "True"), ("0", "False")]}


def _redcap(path: Path) -> SurveyForm:
    found = _FormReader("REDCap")
    for row in _table(path, ","):
        name, kind = row["Variable / Field Name"], row["Field Type"]
        found.conditions = [row.get(REDCAP_CONDITION) or ""]
        text, listed = row["Field Label"], _redcap_choices(row["Choices, Calculations, OR Slider Labels"] or "")
        if kind == "text" and row.get("Text Validation Type OR Show Slider Number") == "integer":
            found.add(name, text, _redcap_span(row), "text (integer)")
        elif kind in ("radio", "dropdown", "checkbox"):
            found.add(name, text, listed, kind, several=kind == "checkbox")
        elif kind != "descriptive":
            found.add(name, text, REDCAP_FIXED.get(kind), kind)
    return found.form()


def _redcap_span(row: dict[str, Any]) -> Pairs:
    """The whole numbers between two ends, none where an end is missing."""
    ends = [row.get(f"Text Validation {end}") or "" for end in ("Min", "Max")]
    whole = all(re.fullmatch(r"-?[0-9]{1,9}", end) for end in ends)
    return _numbers(int(ends[0]), int(ends[1]), 1) if whole else []


def _redcap_choices(text: str) -> Pairs:
    """ "1, Yes | 2, No" as codes and labels."""
    parts = [part.partition(",") for part in text.split("|") if part.strip()]
    return [(code.strip(), label.strip()) for code, _, label in parts]


READERS: dict[str, Callable[[Path], SurveyForm]] = {
    ".xlsx": _xlsform,
    ".tsv": _limesurvey,
    ".txt": _limesurvey,
    ".json": _surveyjs,
    ".csv": _redcap,
}
