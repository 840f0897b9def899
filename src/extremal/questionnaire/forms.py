"""Forms of survey tools: which questions can be randomised, with their answers and texts in their order.

Read are XLSForm workbooks (ODK, KoBo, SurveyCTO), LimeSurvey's tab-separated structure, SurveyJS's JSON and REDCap's
data dictionary. Single choices, yes/no questions, ratings and ranges become questions; a multiple choice becomes one
yes/no question for each of its items ("tick all that apply"); everything else is listed as not randomised. Answers are
the codes that the tool stores, kept as the file writes them; labels are the texts that a person sees.
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
from extremal.questionnaire.questions import OnlyIf, TickAll

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
        """Single choices with a condition that could not be read: who is not asked has no answer."""
        return [q.name for q in self.questions if q.condition and not q.several and self.leads(q) is None]

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
        lines = [f"{self.kind}: {len(self.questions)} questions to randomise, {len(self.others)} others"]
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
        self.condition = ""  # of the question that is added next
        self.title = ""

    def add(self, name: str, text: str, pairs: Sequence[tuple[Any, str]], kind: str, several: bool = False) -> None:
        """A question with its answers; one with fewer than two, or too many, is not randomised."""
        codes = [code for code, _ in pairs]
        enough = len(pairs) >= (1 if several else 2) and len(pairs) <= MOST_ANSWERS
        if not enough or len(set(map(str, codes))) < len(codes):
            self.others.append((name, kind))
            return
        labels = tuple(label or str(code) for code, label in pairs)
        self.questions.append(FormQuestion(name, text or name, tuple(codes), labels, several, self.condition))

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
    for row in survey:
        kind, name = " ".join(_text(row.get("type")).split()), _text(row.get("name"))
        word, _, rest = kind.partition(" ")
        listed, found.condition = choices.get(rest.split(" ")[0], []), _text(row.get("relevant"))
        if word == "select_one" or kind.startswith("select one from"):
            found.add(name, _label(row), listed, kind)
        elif word == "select_multiple":
            found.add(name, _label(row), listed, kind, several=True)
        elif word == "range":
            found.add(name, _label(row), _range_of(_text(row.get("parameters"))), kind)
        elif word.split("_")[0] not in STRUCTURE and name:
            found.others.append((name, kind))
    return found.form()


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
    found, seen = _FormReader("LimeSurvey"), set()
    for place, row in enumerate(rows):
        if row["class"] != "Q" or row["name"] in seen:  # other languages repeat a question
            continue
        seen.add(row["name"])
        kind, inner = row["type/scale"], []
        for later in rows[place + 1 :]:
            if later["class"] in ("Q", "G"):
                break
            inner.append(later)
        found.condition = "" if (row.get("relevance") or "1") == "1" else row["relevance"]
        answers = _once([(r["name"], r["text"]) for r in inner if r["class"] == "A"])
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
    for element in _elements(content):
        kind, name = str(element.get("type")), str(element.get("name"))
        text, found.condition = _said(element.get("title")), str(element.get("visibleIf") or "")
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


def _elements(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All questions, also those in panels and pages."""
    for key in ("pages", "elements", "questions", "templateElements"):
        for inner in part.get(key) or []:
            if inner.get("type") not in (None, "panel") or (key == "questions"):
                yield inner
            if inner.get("type") in (None, "panel"):
                yield from _elements(inner)


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
        code = one["value"] if isinstance(one, dict) else one
        pairs.append((code, (_said(one.get("text")) if isinstance(one, dict) else "") or str(code)))
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
        found.condition = row.get(REDCAP_CONDITION) or ""
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
