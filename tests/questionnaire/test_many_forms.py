"""Twenty forms in four formats: every single choice has its labels in order, whatever else stands in the form.

Each row of a table is written as its tool writes it; what differs from form to form is what the tools' documentation
lets differ: languages, old and new names of columns, groups, other types, conditions, missing labels, byte order marks.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.questionnaire import OnlyIf, Questionnaire
from extremal.questionnaire.forms import read_form

Choices = dict[str, list[tuple[Any, str]]]

YES_NO = [("yes", "Yes"), ("no", "No")]
FRUIT = [("b", "Banana"), ("a", "Apple"), ("c", "Cherry, sour")]
AGREE = [("1", "Disagree"), ("2", "Neither … nor"), ("3", "Agree | fully")]
SEX = [("f", "Female"), ("m", "Male"), ("o", "Other"), ("x", "I'd rather not say")]
NUMBERS = [(n, str(n)) for n in range(11)]


def xlsform(path: Path, survey: Sequence[Sequence[Any]], choices: Sequence[Sequence[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "survey"
    for row in survey:
        book.active.append(row)
    sheet = book.create_sheet("choices")
    for row in choices:
        sheet.append(row)
    book.save(path)
    return path


def listed(header: tuple[str, ...], **lists: list[tuple[Any, str]]) -> list[tuple[Any, ...]]:
    return [header, *((name, code, label) for name, pairs in lists.items() for code, label in pairs)]


PLAIN = ("list_name", "name", "label")


def xls_1(path: Path) -> tuple[Path, Choices]:
    survey = [("type", "name", "label"), ("select_one yn", "ate", "Ate?"), ("select_one fruit", "what", "What?")]
    return xlsform(path / "1.xlsx", survey, listed(PLAIN, yn=YES_NO, fruit=FRUIT)), {"ate": YES_NO, "what": FRUIT}


def xls_2(path: Path) -> tuple[Path, Choices]:
    """Languages, the old name of the list's column, groups, metadata, notes and calculations."""
    survey = [
        ("type", "name", "label::English (en)", "label::Deutsch (de)", "calculation"),
        ("start", "start", None, None, None),
        ("today", "today", None, None, None),
        ("begin group", "g", "Group", "Gruppe", None),
        ("note", "n", "Hello", "Hallo", None),
        ("select_one sex", "sex", "Sex", "Geschlecht", None),
        ("calculate", "c", None, None, "1 + 1"),
        ("end group", None, None, None, None),
    ]
    choices = [("list name", "name", "label::English (en)", "label::Deutsch (de)")]
    choices += [("sex", code, label, "?") for code, label in SEX]
    return xlsform(path / "2.xlsx", survey, choices), {"sex": SEX}


def xls_3(path: Path) -> tuple[Path, Choices]:
    """Codes that are numbers, an appearance, two spaces, a filter, "or_other", a range, several that are not asked."""
    survey = [
        ("type", "name", "label", "appearance", "relevant", "parameters"),
        ("select_one  yn", "has", "Has?", "minimal", None, None),
        ("select_one fruit or_other", "which", "Which?", None, "${has} = '1'", None),
        ("range", "pain", "Pain", None, None, "start=0 end=10 step=1"),
        ("integer", "n", "How many?", None, None, None),
        ("geopoint", "where", "Where?", None, None, None),
    ]
    numbers = [(1, "Yes"), (0, "No")]
    path = xlsform(path / "3.xlsx", survey, listed(PLAIN, yn=numbers, fruit=FRUIT))
    return path, {"has": [("1", "Yes"), ("0", "No")], "which": [*FRUIT, ("other", "Other")], "pain": NUMBERS}


def xls_4(path: Path) -> tuple[Path, Choices]:
    """One list for two questions, one of which has a hint and no label, choices without a label, and a repeat: what is
    asked repeatedly is not randomised."""
    survey = [
        ("type", "name", "label", "hint"),
        ("begin_group", "g", "G", None),
        ("select_one agree", "a1", "First", None),
        ("select_one agree", "a2", None, "Second"),
        ("end_group", None, None, None),
        ("begin_repeat", "r", "R", None),
        ("select_one agree", "again", "Again", None),
        ("end_repeat", None, None, None),
        ("select_one bare", "b", "Bare", None),
    ]
    choices = [*listed(PLAIN, agree=AGREE), ("bare", "x", None), ("bare", "y", None)]
    return xlsform(path / "4.xlsx", survey, choices), {"a1": AGREE, "a2": AGREE, "b": [("x", "x"), ("y", "y")]}


def xls_5(path: Path) -> tuple[Path, Choices]:
    """Capital letters in headers, empty rows and columns, ranks and files beside a choice."""
    survey = [
        ("Type", "Name", "Label", None),
        (None, None, None, None),
        ("select_one yn", "ok", "Ok?", "x"),
        ("rank fruit", "order", "Order", None),
        ("select_one_from_file f.csv", "far", "Far", None),
        ("image", "photo", "Photo", None),
    ]
    return xlsform(path / "5.xlsx", survey, listed(PLAIN, yn=YES_NO, fruit=FRUIT)), {"ok": YES_NO}


def lime(path: Path, rows: list[dict[str, str]], mark: str = "", more: tuple[str, ...] = ()) -> Path:
    names = ["id", "related_id", "class", "type/scale", "name", "relevance", "text", "help", "language", *more]
    made = io.StringIO()
    writer = csv.DictWriter(made, names, delimiter="\t", restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(mark + made.getvalue(), encoding="utf-8")
    return path


def question(kind: str, name: str, text: str, pairs: Any = (), relevance: str = "1", inner: str = "A") -> Any:
    first = {"class": "Q", "type/scale": kind, "name": name, "text": text, "relevance": relevance, "language": "en"}
    return [first, *({"class": inner, "name": code, "text": label, "language": "en"} for code, label in pairs)]


GROUP = [{"class": "G", "name": "First", "text": "", "language": "en"}]


def lime_1(path: Path) -> tuple[Path, Choices]:
    rows = GROUP + question("L", "fruit", "Which?", FRUIT) + question("!", "sex", "Sex", SEX)
    return lime(path / "1.tsv", rows), {"fruit": FRUIT, "sex": SEX}


def lime_2(path: Path) -> tuple[Path, Choices]:
    """A byte order mark, settings, the types with answers of their own."""
    rows: list[dict[str, str]] = [
        {"class": "S", "name": "sid", "text": "1"},
        {"class": "SL", "name": "title", "text": "T"},
    ]
    rows += GROUP + question("Y", "smokes", "Smokes?") + question("G", "sex", "Sex") + question("5", "mood", "Mood")
    fixed = {"smokes": [("Y", "Yes"), ("N", "No")], "sex": [("F", "Female"), ("M", "Male")]}
    return lime(path / "2.txt", rows, "\ufeff"), {**fixed, "mood": NUMBERS[1:6]}


def lime_3(path: Path) -> tuple[Path, Choices]:
    """Two languages: the second repeats everything."""
    rows = GROUP + question("L", "agree", "Agree?", AGREE)
    again = [{**row, "language": "de", "text": "?"} for row in rows]
    return lime(path / "3.tsv", rows + again), {"agree": AGREE}


def lime_4(path: Path) -> tuple[Path, Choices]:
    """A condition, a list with comment, arrays and texts that are not randomised."""
    rows = GROUP + question("L", "has", "Has?", YES_NO)
    rows += question("O", "which", "Which?", FRUIT, relevance='((has.NAOK == "yes"))')
    rows += question("F", "array", "Array", [("SQ1", "a")], inner="SQ") + question("S", "why", "Why?")
    return lime(path / "4.tsv", rows), {"has": YES_NO, "which": FRUIT}


def lime_5(path: Path) -> tuple[Path, Choices]:
    """More columns, a multiple choice between two single ones, and an answer "other"."""
    rows = GROUP + question("L", "a", "A", AGREE) + question("M", "m", "M", FRUIT, inner="SQ")
    first, *answers = question("L", "b", "B", SEX)
    made = lime(path / "5.tsv", [*rows, first | {"other": "Y"}, *answers], more=("mandatory", "other"))
    return made, {"a": AGREE, "b": [*SEX, ("-oth-", "Other")]}


def surveyjs(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def of(pairs: list[tuple[Any, str]]) -> list[dict[str, Any]]:
    return [{"value": code, "text": label} for code, label in pairs]


def js_1(path: Path) -> tuple[Path, Choices]:
    elements = [{"type": "radiogroup", "name": "f", "title": "F?", "choices": of(FRUIT)}]
    return surveyjs(path / "1.json", {"title": "T", "pages": [{"elements": elements}]}), {"f": FRUIT}


def js_2(path: Path) -> tuple[Path, Choices]:
    """Without pages, texts in languages, values without texts."""
    elements = [
        {"type": "dropdown", "name": "s", "title": {"default": "S?", "de": "?"}, "choices": of(SEX)},
        {"type": "radiogroup", "name": "n", "choices": [3, 1, 2]},
    ]
    return surveyjs(path / "2.json", {"elements": elements}), {"s": SEX, "n": [(3, "3"), (1, "1"), (2, "2")]}


def js_3(path: Path) -> tuple[Path, Choices]:
    """Panels inside panels, yes/no with values of its own, ratings."""
    inner = {"type": "boolean", "name": "ok", "valueTrue": "yes", "valueFalse": "no", "labelTrue": "Aye"}
    panel = {"type": "panel", "name": "p", "elements": [{"type": "panel", "name": "q", "elements": [inner]}]}
    rating = {"type": "rating", "name": "r", "rateMin": 0, "rateMax": 10}
    path = surveyjs(
        path / "3.json", {"pages": [{"name": "a", "elements": [panel]}, {"name": "b", "elements": [rating]}]}
    )
    return path, {"ok": [("no", "No"), ("yes", "Aye")], "r": NUMBERS}


def js_4(path: Path) -> tuple[Path, Choices]:
    """A condition, a button group, a picture to choose, matrices and files that are not randomised."""
    elements = [
        {"type": "buttongroup", "name": "has", "choices": of(YES_NO)},
        {"type": "imagepicker", "name": "pic", "choices": of(FRUIT), "visibleIf": "{has} = 'yes'"},
        {"type": "matrix", "name": "m", "columns": ["a"], "rows": ["b"]},
        {"type": "file", "name": "u"},
        {"type": "paneldynamic", "name": "d", "templateElements": [{"type": "text", "name": "t"}]},
    ]
    return surveyjs(path / "4.json", {"pages": [{"elements": elements}]}), {"has": YES_NO, "pic": FRUIT}


def js_5(path: Path) -> tuple[Path, Choices]:
    """The old name of elements, a range of choices, rate values with texts, several choices."""
    questions = [
        {"type": "dropdown", "name": "n", "choicesMin": 0, "choicesMax": 10},
        {"type": "rating", "name": "r", "rateValues": of(AGREE)},
        {"type": "checkbox", "name": "many", "choices": of(FRUIT)},
        {"type": "radiogroup", "name": "o", "choices": ["1|One", "two"], "showNoneItem": True, "showOtherItem": True},
    ]
    made = surveyjs(path / "5.json", {"pages": [{"name": "p", "questions": questions}]})
    special = [("none", "None"), ("other", "Other (describe)")]
    return made, {"n": NUMBERS, "r": AGREE, "o": [("1", "One"), ("two", "two"), *special]}


REDCAP = (
    *("Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"),
    *("Choices, Calculations, OR Slider Labels", "Field Note", "Text Validation Type OR Show Slider Number"),
    *("Text Validation Min", "Text Validation Max", "Identifier?", "Branching Logic (Show field only if...)"),
)


def redcap(path: Path, *rows: dict[int, str], mark: str = "") -> Path:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(REDCAP)
    writer.writerows([row.get(i, "") for i in range(len(REDCAP))] for row in rows)
    path.write_text(mark + made.getvalue(), encoding="utf-8")
    return path


def field(name: str, kind: str, text: str, choices: str = "", **more: str) -> dict[int, str]:
    places = {"note": 6, "validation": 7, "least": 8, "most": 9, "condition": 11}
    return {0: name, 1: "form", 3: kind, 4: text, 5: choices} | {places[key]: value for key, value in more.items()}


def piped(pairs: list[tuple[Any, str]]) -> str:
    return " | ".join(f"{code}, {label}" for code, label in pairs)


def redcap_1(path: Path) -> tuple[Path, Choices]:
    rows = field("f", "radio", "Which?", piped(FRUIT)), field("s", "dropdown", "Sex", piped(SEX))
    return redcap(path / "1.csv", *rows), {"f": FRUIT, "s": SEX}


def redcap_2(path: Path) -> tuple[Path, Choices]:
    rows = field("y", "yesno", "Yes?"), field("t", "truefalse", "True?"), field("h", "descriptive", "Hello")
    made = redcap(path / "2.csv", *rows, mark="\ufeff")
    return made, {"y": [("1", "Yes"), ("0", "No")], "t": [("1", "True"), ("0", "False")]}


def redcap_3(path: Path) -> tuple[Path, Choices]:
    """Whole numbers within limits; without limits, dates and calculations are not randomised."""
    rows = (
        field("n", "text", "How many?", validation="integer", least="0", most="10"),
        field("m", "text", "More?", validation="integer"),
        field("d", "text", "When?", validation="date_ymd"),
        field("c", "calc", "Sum", "[n]+1"),
        field("s", "slider", "Slide", "low | high"),
    )
    return redcap(path / "3.csv", *rows), {"n": NUMBERS}


def redcap_4(path: Path) -> tuple[Path, Choices]:
    rows = (
        field("has", "radio", "Has?", piped(YES_NO)),
        field("w", "radio", "Which?", piped(FRUIT), condition="[has] = 'yes'"),
    )
    return redcap(path / "4.csv", *rows), {"has": YES_NO, "w": FRUIT}


def redcap_5(path: Path) -> tuple[Path, Choices]:
    """No blanks around bars and commas, line breaks in texts, boxes between."""
    rows = (
        field("a", "radio", "First\nline", "1,Low|2,High"),
        field("b", "checkbox", "Boxes", piped(FRUIT)),
        field("c", "dropdown", "Last", "1, A, B and C | 2, None"),
    )
    made = redcap(path / "5.csv", *rows)
    return made, {"a": [("1", "Low"), ("2", "High")], "c": [("1", "A, B and C"), ("2", "None")]}


FORMS = [
    *(xls_1, xls_2, xls_3, xls_4, xls_5, lime_1, lime_2, lime_3, lime_4, lime_5),
    *(js_1, js_2, js_3, js_4, js_5, redcap_1, redcap_2, redcap_3, redcap_4, redcap_5),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_single_choice_has_its_labels_in_order(form: Any, tmp_path: Path) -> None:
    path, expected = form(tmp_path)
    found = read_form(path)
    single = {q.name: list(zip(q.answers, q.labels, strict=True)) for q in found.questions if not q.several}
    assert single == expected
    asked = Questionnaire.within(3, found.answers(), "joint", texts=found.texts(), optional=found.optional())
    assert not found.optional()  # every condition in these forms is one that an answer decides
    for name, pairs in expected.items():
        own = [x for x in asked.questions[name].inputs if x not in ("(skipped)", "(no answer)")]
        assert own == [code for code, _ in pairs]
        assert asked.texts[name].answers == tuple(label for _, label in pairs)
    again = ex.load(asked.save(tmp_path / "q.json"))
    assert again.hash == asked.hash
    assert all("again" not in q.name for q in found.questions)
    skipped = [name for name, m in asked.questions.items() if "(skipped)" in m.inputs]
    assert skipped == (list(expected)[1:2] if form in (xls_3, lime_4, js_4, redcap_4) else [])


ASK_SURVEYJS = """
const { createRequire } = await import("node:module");
const { readFileSync } = await import("node:fs");
const { Model } = createRequire(process.argv[1] + "/")("survey-core");
const said = process.argv.slice(2).map((path) => {
  const survey = new Model(JSON.parse(readFileSync(path, "utf8")));
  return survey.getAllQuestions().map((q) => {
    const type = q.getType();
    if (type === "boolean") return [q.name, [[q.getValueFalse(), q.labelFalse], [q.getValueTrue(), q.labelTrue]]];
    const items = type === "rating" ? q.visibleRateValues : q.visibleChoices;
    return [q.name, (items ?? []).map((item) => [item.value, item.locText.renderedHtml])];
  });
});
console.log(JSON.stringify(said));
"""


def as_surveyjs_reads(paths: list[Path], node: list[str], modules: Path) -> list[dict[str, list[tuple[Any, str]]]]:
    """The answers of every question as SurveyJS itself has them."""
    asked = [*node, "--input-type=module", "-e", ASK_SURVEYJS, str(modules), *map(str, paths)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return [{name: [(code, text) for code, text in pairs] for name, pairs in form} for form in json.loads(done.stdout)]


def examples_of_surveyjs(modules: Path) -> list[dict[str, Any]]:
    """The examples in the guide that comes with survey-core: whole surveys, and elements, each on a page of its own."""
    guide = (modules / "survey-core" / "llms" / "survey-json-authoring.md").read_text(encoding="utf-8")
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    return [one if "pages" in one or "elements" in one else {"elements": [one]} for one in found]


def test_surveyjs_has_the_same_answers(node: list[str], npm: Path, tmp_path: Path) -> None:
    """Of our forms and of all examples inside its package: the same codes and texts in the same order."""
    paths = [form(tmp_path)[0] for form in FORMS if form.__name__.startswith("js_")]
    examples = examples_of_surveyjs(npm)
    assert len(examples) >= 40
    for i, content in enumerate(examples):
        paths.append(surveyjs(tmp_path / f"example{i}.json", content))
    compared = 0
    for path, theirs in zip(paths, as_surveyjs_reads(paths, node, npm), strict=True):
        try:
            form = read_form(path)
        except ex.errors.MalformedFile:  # nothing is asked: a text, a picture, an empty panel
            assert not any(theirs.values())
            continue
        for q in form.questions:
            assert list(zip(q.answers, q.labels, strict=True)) == theirs[q.name]
            compared += 1
        listed = {q.name for q in form.questions} | {name for name, _ in form.others}
        assert {name for name, answers in theirs.items() if answers} <= listed
    assert compared >= 15


def test_what_is_asked_under_the_condition_of_a_group(tmp_path: Path) -> None:
    survey = [
        ("type", "name", "label", "relevant"),
        ("select_one yn", "has", "Has?", None),
        ("begin_group", "g", "G", "${has} = 'yes'"),
        ("select_one fruit", "one", "One?", None),
        ("select_one fruit", "two", "Two?", "${one} = 'a'"),
        ("select_multiple fruit", "many", "Many?", None),
        ("end_group", None, None, None),
        ("select_one fruit", "always", "Always?", None),
    ]
    inner = [{"type": "dropdown", "name": "one", "choices": of(FRUIT)}]
    inner += [{**inner[0], "name": "two", "visibleIf": "{one} = 'a'"}, {**inner[0], "name": "many", "type": "tagbox"}]
    panel = {"type": "panel", "name": "p", "visibleIf": "{has} = 'yes'", "elements": inner}
    elements = [{"type": "buttongroup", "name": "has", "choices": of(YES_NO)}, panel, {**inner[0], "name": "always"}]
    group = [{**GROUP[0], "relevance": "has.NAOK == 'yes'"}]
    rows = GROUP + question("L", "has", "Has?", YES_NO) + group + question("L", "one", "One?", FRUIT)
    rows += question("L", "two", "Two?", FRUIT, relevance="one.NAOK == 'a'")
    rows += question("M", "many", "Many?", FRUIT, inner="SQ") + GROUP + question("L", "always", "Always?", FRUIT)
    for path in (
        xlsform(tmp_path / "g.xlsx", survey, listed(PLAIN, yn=YES_NO, fruit=FRUIT)),
        surveyjs(tmp_path / "g.json", {"title": "T", "elements": elements}),
        lime(tmp_path / "g.tsv", rows),
    ):
        form = read_form(path)
        assert form.answers()["one"] == OnlyIf("has", ["yes"], [code for code, _ in FRUIT])
        assert form.optional() == ["two", "many: b", "many: a", "many: c"]
        assert form.answers()["always"] == [code for code, _ in FRUIT]
        asked = Questionnaire.within(9, form.answers(), optional=form.optional())
        assert asked.questions["many: a"].inputs == (False, True, "(no answer)")
