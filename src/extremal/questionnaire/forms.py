"""Forms of survey tools: which questions can be randomised, with their answers and texts in their order.

Read are XLSForm workbooks (ODK, KoBo, SurveyCTO), LimeSurvey's tab-separated structure, SurveyJS's JSON and REDCap's
data dictionary. Single choices, yes/no questions, ratings and ranges become questions; a multiple choice becomes one
yes/no question for each of its items ("tick all that apply"); everything else is listed as not randomised, also what
is asked repeatedly: a budget is for one answer. Answers are the codes that the tool stores, kept as the file writes
them; labels are the texts that a person sees. "Other", where a form offers it, is one of the answers.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extremal.errors import InvalidParameter, MalformedFile, MissingDependency
from extremal.questionnaire.given import OnlyIf, TickAll

MOST_ANSWERS = 10_000  # of one question: beyond, a range is no list of answers
MOST_BYTES = 64 << 20  # of a form
RATINGS = (1, 5)  # of SurveyJS, where a rating says nothing else
STRUCTURE = (
    "begin",
    "end",
    "note",
    "calculate",
    "start",
    "today",
    "deviceid",
    "audit",
    "",
)  # XLSForm rows that ask nothing
OR_OTHER = ("or_other", "or other", "or specify other")  # behind the list of an XLSForm choice
SPECIAL = (
    ("showNoneItem", "hasNone", "none", "noneText", "None"),
    ("showRefuseItem", "", "refused", "refuseText", "Refuse to answer"),
    ("showDontKnowItem", "", "dontknow", "dontKnowText", "Don't know"),
    ("showOtherItem", "hasOther", "other", "otherText", "Other (describe)"),
)  # answers that a SurveyJS choice has besides its own: two names of the switch, the code, the text and its default

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
        parts = [_EQUALITY.fullmatch(part.strip()) for part in re.split(r"\bor\b|\|\|", question.condition)]
        named = {(part[1] or part[3], part[2] or part[4]) for part in parts if part is not None}
        if len(named) < len(parts) or len({name for name, _ in named}) != 1:
            return None
        before = next((q for q in self.questions if q.name == next(iter(named))[0]), None)
        if before is None or before.several or self.questions.index(before) >= self.questions.index(question):
            return None
        wanted = {str(value).strip("'\"").casefold() for _, value in named}
        found = [answer for answer in before.answers if str(answer).casefold() in wanted]
        return (before.name, found) if len(found) == len(wanted) else None

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
    if file.stat().st_size > MOST_BYTES:
        raise MalformedFile("a form has at most 64 MiB", parameter="path", value=str(path))
    try:
        return reader(file)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, MalformedFile):
            raise
        raise MalformedFile(f"{file.name} must be a form", parameter="path", value=str(error)[:80]) from error


class _FormReader:
    """Questions as they are read."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.questions: list[FormQuestion] = []
        self.others: list[tuple[str, str]] = []
        self.conditions: list[str] = []  # of the question that is added next, and of the groups that it is in
        self.title = ""

    def add(self, name: str, text: str, pairs: Sequence[tuple[Any, str]], kind: str, several: bool = False) -> None:
        """A question with its answers; one with fewer than two, or too many, is not randomised."""
        codes = [code for code, _ in pairs]
        enough = len(pairs) >= (1 if several else 2) and len(pairs) <= MOST_ANSWERS
        if not enough or len(set(map(str, codes))) < len(codes):
            self.others.append((name, kind))
            return
        labels = tuple(label or str(code) for code, label in pairs)
        condition = " and ".join(dict.fromkeys(filter(None, self.conditions)))
        self.questions.append(FormQuestion(name, text or name, tuple(codes), labels, several, condition))

    def form(self) -> SurveyForm:
        if not self.questions and not self.others:
            raise MalformedFile(f"the file must be a form of {self.kind}", parameter="questions", value=0)
        return SurveyForm(self.kind, tuple(self.questions), tuple(self.others), self.title)


# -- XLSForm


def _xlsform(path: Path) -> SurveyForm:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingDependency("an XLSForm needs openpyxl", hint="pip install 'extremal[forms]'.") from None
    book = load_workbook(path, read_only=True, data_only=True)
    sheets = {str(name).strip().lower(): name for name in book.sheetnames}
    survey = list(_rows(book[sheets["survey"]].iter_rows(values_only=True)))
    choices: dict[str, list[tuple[Any, str]]] = {}
    for row in _rows(book[sheets["choices"]].iter_rows(values_only=True)) if "choices" in sheets else []:
        code = _text(row.get("name")) or _text(row.get("value"))
        if code:
            listed_in = _text(row.get("list_name")) or _text(row.get("list name"))
            choices.setdefault(listed_in, []).append((code, _label(row)))
    found = _FormReader("XLSForm")
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


def _xlsform_row(
    found: _FormReader, row: dict[str, Any], kind: str, choices: dict[str, list[tuple[Any, str]]], repeated: bool
) -> None:
    """One row that is no group."""
    name, (word, _, rest) = _text(row.get("name")), kind.partition(" ")
    which, _, other = rest.partition(" ")
    listed = choices.get(which, [])
    if other in OR_OTHER and listed and "other" not in (code for code, _ in listed):
        listed = [*listed, ("other", "Other")]
    if word.split("_")[0] in STRUCTURE or not name:
        return
    if repeated:
        found.others.append((name, f"{kind}, repeated"))
    elif word == "select_one":
        found.add(name, _label(row), listed, kind)
    elif word == "select_multiple":
        found.add(name, _label(row), listed, kind, several=True)
    elif word == "range":
        found.add(name, _label(row), _range_of(_text(row.get("parameters"))), kind)
    else:
        found.others.append((name, kind))


def _rows(rows: Iterator[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Rows by the names in the first one, in lower case."""
    header: list[str] | None = None
    for row in rows:
        if header is None:
            header = [_text(cell).lower() for cell in row]
        elif any(cell is not None for cell in row):
            yield dict(zip(header, row, strict=False))


def _text(cell: Any) -> str:
    """A cell as text; whole numbers without a decimal point."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _label(row: dict[str, Any]) -> str:
    """The label of a row, in the first language that there is."""
    return next((_text(row[key]) for key in row if key.split("::")[0].strip() == "label" and _text(row[key])), "")


def _range_of(parameters: str) -> list[tuple[Any, str]]:
    """start, end and step of a range of whole numbers."""
    given = {key: float(value) for key, value in re.findall(r"(start|end|step)\s*=\s*([-0-9.]+)", parameters)}
    start, end, step = given.get("start", 1), given.get("end", 10), given.get("step", 1)
    if not all(float(v).is_integer() for v in (start, end, step)) or step < 1:
        return []
    return [(n, str(n)) for n in range(int(start), int(end) + 1, int(step))][: MOST_ANSWERS + 1]


# -- LimeSurvey

LIME_FIXED: dict[str, list[tuple[Any, str]]] = {
    "Y": [("Y", "Yes"), ("N", "No")],
    "G": [("F", "Female"), ("M", "Male")],
    "5": [(n, str(n)) for n in range(1, 6)],
}
"""Answers that a type of question has by itself."""


def _limesurvey(path: Path) -> SurveyForm:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found, seen, group = _FormReader("LimeSurvey"), set(), ""
    for place, row in enumerate(rows):
        if row["class"] == "G":
            group = _lime_condition(row)
        if row["class"] != "Q" or row["name"] in seen:  # other languages repeat a question
            continue
        seen.add(row["name"])
        kind, inner = row["type/scale"], []
        for later in rows[place + 1 :]:
            if later["class"] in ("Q", "G"):
                break
            inner.append(later)
        found.conditions = [group, _lime_condition(row)]
        other = [("-oth-", "Other")] if row.get("other") == "Y" else []
        answers = _once([(r["name"], r["text"]) for r in inner if r["class"] == "A"]) + other
        items = _once([(r["name"], r["text"]) for r in inner if r["class"] == "SQ"])
        if kind in ("L", "!", "O"):
            found.add(row["name"], row["text"], answers, kind)
        elif kind in LIME_FIXED:
            found.add(row["name"], row["text"], LIME_FIXED[kind], kind)
        elif kind == "M":
            found.add(row["name"], row["text"], items, kind, several=True)
        else:
            found.others.append((row["name"], kind))
    return found.form()


def _lime_condition(row: dict[str, str]) -> str:
    """Where a question or a group is asked; empty: always."""
    return "" if (row.get("relevance") or "1") == "1" else row["relevance"]


def _once(pairs: list[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """The first text of each code."""
    kept: dict[Any, str] = {}
    for code, text in pairs:
        kept.setdefault(code, text)
    return list(kept.items())


# -- SurveyJS


def _surveyjs(path: Path) -> SurveyForm:
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    found = _FormReader("SurveyJS")
    found.title = _said(content.get("title"))
    for element, found.conditions in _elements(content, []):
        kind, name = str(element.get("type")), str(element.get("name"))
        text = _said(element.get("title"))
        if kind in ("radiogroup", "dropdown", "buttongroup") or (
            kind == "imagepicker" and not element.get("multiSelect")
        ):
            found.add(name, text, _choices(element), kind)
        elif kind == "boolean":
            yes, no = element.get("valueTrue", True), element.get("valueFalse", False)
            found.add(
                name,
                text,
                [(no, _said(element.get("labelFalse")) or "No"), (yes, _said(element.get("labelTrue")) or "Yes")],
                kind,
            )
        elif kind == "rating":
            found.add(name, text, _ratings(element), kind)
        elif kind in ("checkbox", "tagbox"):
            found.add(name, text, _choices(element), kind, several=True)
        elif kind not in ("html", "image", "panel"):
            found.others.append((name, kind))
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


def _choices(element: dict[str, Any]) -> list[tuple[Any, str]]:
    if "choicesMin" in element or "choicesMax" in element:
        low, high, step = (
            int(element.get(key, d)) for key, d in (("choicesMin", 1), ("choicesMax", 1), ("choicesStep", 1))
        )
        return [(n, str(n)) for n in range(low, high + 1, max(1, step))][: MOST_ANSWERS + 1]
    pairs = []
    for one in element.get("choices") or []:
        code, text = (one["value"], _said(one.get("text"))) if isinstance(one, dict) else (one, "")
        if isinstance(code, str) and not text:  # "1|One" is short for both
            code, _, text = code.partition("|")
        pairs.append((code, text or str(code)))
    for switch, old, code, caption, default in SPECIAL:
        if pairs and (element.get(switch) or element.get(old)):
            pairs.append((code, _said(element.get(caption)) or default))
    return pairs


def _ratings(element: dict[str, Any]) -> list[tuple[Any, str]]:
    if element.get("rateValues"):
        return _choices({"choices": element["rateValues"]})
    low = int(element.get("rateMin", RATINGS[0]))
    high = int(
        element.get("rateMax", element.get("rateCount", RATINGS[1]) + low - 1 if "rateCount" in element else RATINGS[1])
    )
    return [(n, str(n)) for n in range(low, high + 1, max(1, int(element.get("rateStep", 1))))][: MOST_ANSWERS + 1]


# -- REDCap

REDCAP_CONDITION = "Branching Logic (Show field only if...)"  # the column of conditions


def _redcap(path: Path) -> SurveyForm:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    found = _FormReader("REDCap")
    for row in rows:
        name, kind = row["Variable / Field Name"], row["Field Type"]
        found.conditions = [row.get(REDCAP_CONDITION) or ""]
        text, listed = row["Field Label"], _redcap_choices(row["Choices, Calculations, OR Slider Labels"] or "")
        if kind in ("radio", "dropdown"):
            found.add(name, text, listed, kind)
        elif kind == "yesno":
            found.add(name, text, [("1", "Yes"), ("0", "No")], kind)
        elif kind == "truefalse":
            found.add(name, text, [("1", "True"), ("0", "False")], kind)
        elif kind == "checkbox":
            found.add(name, text, listed, kind, several=True)
        elif kind == "text" and row.get("Text Validation Type OR Show Slider Number") == "integer":
            ends = [row.get("Text Validation Min") or "", row.get("Text Validation Max") or ""]
            whole = all(re.fullmatch(r"-?[0-9]{1,9}", end) for end in ends)
            span = range(int(ends[0]), int(ends[1]) + 1) if whole else range(0)
            found.add(name, text, [(n, str(n)) for n in span[: MOST_ANSWERS + 1]], "text (integer)")
        elif kind != "descriptive":
            found.others.append((name, kind))
    return found.form()


def _redcap_choices(text: str) -> list[tuple[Any, str]]:
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
