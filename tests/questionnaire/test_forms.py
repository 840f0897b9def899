"""Forms of survey tools: every single choice with its labels in order, the rest listed as not randomised."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main
from extremal.errors import InvalidParameter, MalformedFile
from extremal.questionnaire import OnlyIf, TickAll
from extremal.questionnaire.forms import FormQuestion, SurveyForm, read_form


def by_name(form: SurveyForm) -> dict[str, tuple[tuple[object, ...], tuple[str, ...], bool]]:
    return {q.name: (q.answers, q.labels, q.several) for q in form.questions}


def test_xlsform(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    survey, choices = book.active, book.create_sheet("choices")
    survey.title = "survey"
    for row in (
        ("type", "name", "label::English (en)", "parameters"),
        ("start", "start", None, None),
        ("select_one yes_no", "drugs", "Did you use drugs?", None),
        ("begin_group", "g", "A group", None),
        ("select_one  party", "party", "Which party?", None),
        ("select_multiple symptoms", "ill", "Which symptoms?", None),
        ("range", "pain", "Pain", "start=0 end=4 step=2"),
        ("text", "why", "Why?", None),
        ("end_group", None, None, None),
        ("select_one nothing", "empty", "None", None),
    ):
        survey.append(row)
    for row in (
        ("list_name", "name", "label::English (en)"),
        ("yes_no", 1, "Yes"),
        ("yes_no", 0, "No"),
        ("party", "l", "Left"),
        ("party", "c", "Centre"),
        ("party", "r", "Right"),
        ("symptoms", "fever", "Fever"),
        ("symptoms", "cough", None),
    ):
        choices.append(row)
    book.save(tmp_path / "form.xlsx")
    form = read_form(tmp_path / "form.xlsx")
    assert form.kind == "XLSForm"
    assert by_name(form) == {
        "drugs": (("1", "0"), ("Yes", "No"), False),
        "party": (("l", "c", "r"), ("Left", "Centre", "Right"), False),
        "ill": (("fever", "cough"), ("Fever", "cough"), True),
        "pain": ((0, 2, 4), ("0", "2", "4"), False),
    }
    assert form.others == (("why", "text"), ("empty", "select_one nothing"))


def test_surveyjs(tmp_path: Path) -> None:
    content = {
        "pages": [
            {
                "elements": [
                    {
                        "type": "radiogroup",
                        "name": "party",
                        "title": {"default": "Party?"},
                        "choices": ["left", {"value": 2, "text": "Right"}],
                    },
                    {"type": "panel", "elements": [{"type": "boolean", "name": "drugs", "title": "Drugs?"}]},
                    {"type": "rating", "name": "mood", "rateMax": 3},
                    {"type": "rating", "name": "stars", "rateValues": [1, {"value": 5, "text": "best"}]},
                    {"type": "dropdown", "name": "age", "choicesMin": 18, "choicesMax": 20},
                    {"type": "checkbox", "name": "ill", "choices": ["fever", "cough"]},
                    {"type": "comment", "name": "why"},
                    {"type": "html", "name": "intro"},
                ]
            }
        ]
    }
    (tmp_path / "form.json").write_text(json.dumps(content))
    form = read_form(tmp_path / "form.json")
    assert by_name(form) == {
        "party": (("left", 2), ("left", "Right"), False),
        "drugs": ((False, True), ("No", "Yes"), False),
        "mood": ((1, 2, 3), ("1", "2", "3"), False),
        "stars": ((1, 5), ("1", "best"), False),
        "age": ((18, 19, 20), ("18", "19", "20"), False),
        "ill": (("fever", "cough"), ("fever", "cough"), True),
    }
    assert form.others == (("why", "comment"),)
    assert "not randomised: why (comment)" in form.summary()


def test_limesurvey(tmp_path: Path) -> None:
    rows = [
        "id\trelated_id\tclass\ttype/scale\tname\trelevance\ttext",
        "\t\tS\t\tsid\t\t1",
        "1\t\tG\tG0\tFirst\t1\t",
        "2\t\tQ\tL\tparty\t1\tWhich party?",
        "3\t\tA\t0\tA1\t\tLeft",
        "4\t\tA\t0\tA2\t\tRight",
        "5\t\tQ\tY\tdrugs\t1\tDrugs?",
        "6\t\tQ\tM\till\t1\tSymptoms?",
        "7\t\tSQ\t\tSQ1\t\tFever",
        "8\t\tSQ\t\tSQ2\t\tCough",
        "9\t\tQ\tT\twhy\t1\tWhy?",
        "10\t\tQ\tL\tparty\t1\tWelche Partei?",
    ]
    (tmp_path / "form.tsv").write_text("\n".join(rows) + "\n")
    form = read_form(tmp_path / "form.tsv")
    assert by_name(form) == {
        "party": (("A1", "A2"), ("Left", "Right"), False),
        "drugs": (("Y", "N"), ("Yes", "No"), False),
        "ill": (("SQ1", "SQ2"), ("Fever", "Cough"), True),
    }
    assert form.others == (("why", "T"),)


def test_redcap_from_import_to_a_questionnaire(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = (
        "Variable / Field Name,SurveyForm Name,Field Type,Field Label,"
        '"Choices, Calculations, OR Slider Labels",Text Validation Type OR Show Slider Number,'
        "Text Validation Min,Text Validation Max"
    )
    rows = [
        header,
        'party,f,radio,Which party?,"1, Left | 2, Centre | 3, Right",,,',
        "drugs,f,yesno,Drugs?,,,,",
        "true,f,truefalse,True?,,,,",
        'ill,f,checkbox,Symptoms?,"a, Fever | b, Cough",,,',
        "days,f,text,Sick days?,,integer,0,10",
        "many,f,text,How many?,,integer,,",
        "why,f,notes,Why?,,,,",
        "head,f,descriptive,Hello,,,,",
    ]
    (tmp_path / "form.csv").write_text("\n".join(rows) + "\n")
    form = read_form(tmp_path / "form.csv")
    assert by_name(form)["party"] == (("1", "2", "3"), ("Left", "Centre", "Right"), False)
    assert by_name(form)["days"][0] == tuple(range(11))
    assert form.others == (("many", "text (integer)"), ("why", "notes"))
    made = str(tmp_path / "q.json")
    assert main(["questionnaire", "import", str(tmp_path / "form.csv"), "--epsilon", "4", "-o", made]) == 0
    said = capsys.readouterr().out
    assert "not randomised: why (notes)" in said
    assert "ε = 4 per person" in said
    asked = ex.load(made)
    assert list(asked.questions) == ["party", "drugs", "true", "ill: a", "ill: b", "days"]
    assert main(["plan", "--questionnaire", made, "--n", "1200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 1200
    imported = ["questionnaire", "import", str(tmp_path / "form.csv"), "--epsilon", "4", "-o", made, "--overwrite"]
    assert main([*imported, "--goal", "days=mean"]) == 0
    assert isinstance(ex.load(made).goals["days"], ex.Mean)
    for goal, why in (("ill=mean", "one answer"), ("party=mode", "mean or cdf"), ("none=mean", "of a question")):
        assert main([*imported, "--goal", goal]) == 2
        assert why in capsys.readouterr().err


def test_what_is_no_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="XLSForm"):
        read_form(tmp_path / "form.pdf")
    with pytest.raises(FileNotFoundError):
        read_form(tmp_path / "form.json")
    for name, text in (
        ("a.json", "[]"),
        ("b.json", "{}"),
        ("c.csv", "x,y\n1,2\n"),
        ("d.tsv", "class\n"),
        ("e.json", "{"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(MalformedFile):
            read_form(tmp_path / name)


def test_export_to_surveyjs(node: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The form has texts, conditions and boxes; what is attached sends reports and forgets the answers."""
    asked = ex.Questionnaire.within(
        9,
        {
            "smokes": ["no", "yes"],
            "cigarettes": OnlyIf("smokes", "yes", 3),
            "ill": TickAll(["fever", "cough"]),
            "age": 3,
        },
        optional=["age"],
        texts={"smokes": ("Do you smoke?", ["No", "Yes"]), "ill": "Which?"},
        title="Health",
    )
    asked.save(tmp_path / "q.json")
    folder = tmp_path / "form"
    assert main(["questionnaire", "export", str(tmp_path / "q.json"), "--to", "surveyjs", "-o", str(folder)]) == 0
    assert "attach.js" in capsys.readouterr().out
    survey = json.loads((folder / "survey.json").read_text(encoding="utf-8"))
    one, two, three, four = survey["pages"][0]["elements"]
    assert one["choices"] == [{"value": "no", "text": "No"}, {"value": "yes", "text": "Yes"}]
    assert (one["title"], one["isRequired"], four["isRequired"]) == ("Do you smoke?", True, False)
    assert two["visibleIf"] == "({smokes} = 'yes')"
    assert (three["type"], three["title"]) == ("checkbox", "Which?")
    assert [choice["value"] for choice in three["choices"]] == ["ill: fever", "ill: cough"]
    again = read_form(folder / "survey.json")  # what is written can be read
    assert [q.name for q in again.questions] == ["smokes", "cigarettes", "ill: fever", "age"]
    assert again.leads(again.questions[1]) == ("smokes", ["yes"])
    script = """
    import { readFileSync } from "node:fs";
    import { attach } from "./attach.js";
    const kept = new Map();
    const storage = {
      read: async (key) => kept.get(key),
      remember: async (key, text) => { if (!kept.has(key)) kept.set(key, text); return kept.get(key); },
    };
    const listeners = [];
    const survey = { onComplete: { add: (one) => listeners.push(one) }, cookieName: "x", sendResultOnPageNext: true };
    survey.data = { smokes: "no", "ill: fever": ["ill: cough"] };
    const sent = [];
    await attach(survey, (record) => sent.push(record), { text: readFileSync("questionnaire.json", "utf8"), storage });
    await listeners[0](survey);
    console.log(JSON.stringify({ sent, data: survey.data, off: [survey.cookieName, survey.sendResultOnPageNext] }));
    """
    (folder / "try.js").write_text(script, encoding="utf-8")
    done = subprocess.run([*node, "try.js"], capture_output=True, text=True, check=True, cwd=folder)
    found = json.loads(done.stdout)
    assert (found["data"], found["off"]) == ({}, ["", False])
    assert found["sent"][0]["questionnaire"] == asked.hash
    asked.check_record(found["sent"][0]["reports"])


@pytest.mark.parametrize(
    ("condition", "leads"),
    [
        ("${drugs} = 'y'", ["y"]),
        ("selected(${drugs}, 'y')", ["y"]),
        ('((drugs.NAOK == "Y"))', ["y"]),
        ("{drugs} = 'n' or {drugs} = 'y'", ["n", "y"]),
        ("[drugs] = 'y'", ["y"]),
        ("${drugs} = 'z'", None),
        ("${drugs} != 'y'", None),
        ("${drugs} = 'y' and ${age} = 3", None),
        ("${later} = 'y'", None),
        ("", None),
    ],
)
def test_conditions(condition: str, leads: list[str] | None) -> None:
    drugs = FormQuestion("drugs", "Drugs?", ("n", "y"), ("No", "Yes"))
    asked = FormQuestion("how", "How?", ("a", "b"), ("A", "B"), condition=condition)
    form = SurveyForm("XLSForm", (drugs, asked, FormQuestion("later", "", ("n", "y"), ("", ""))), ())
    assert form.leads(asked) == (None if leads is None else ("drugs", leads))
    assert form.optional() == (["how"] if condition and leads is None else [])
    assert isinstance(form.answers()["how"], OnlyIf) == (leads is not None)
