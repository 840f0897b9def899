"""Questionnaires on devices: a folder with a form, and words with the reports that they make of answers.

A device draws the questions with a mechanism of their own first, in their order, and then the joint report; each as
`extremal.release.device` and `extremal.release.sampling.joint` do for one record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from extremal.questionnaire import files
from extremal.questionnaire.given import OnlyIf, TickAll
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.questionnaire import Questionnaire
from extremal.questionnaire.records import NO_ANSWER, SKIPPED
from extremal.questionnaire.release import questions_apart
from extremal.questionnaire.texts import QuestionText
from extremal.release.device import (
    NextWords,
    as_bytes,
    device_report,
    example_mechanisms,
    refuse_for_device,
    script,
    vectors,
    words_of_vector,
    write_files,
)
from extremal.release.sampling.words import CipherWords
from extremal.utility import Mean

FORM = {"index.html": "page/form.html", "form.css": "page/form.css", "form.js": "page/form.js"}
VECTORS = 1_000  # of questionnaires in a folder


def write_questionnaire_folder(
    folder: str | Path, questionnaire: Questionnaire, *, overwrite: bool = False
) -> list[Path]:
    """Everything that a page needs to ask a questionnaire: the script, a form, the questionnaire, vectors, their check.

    Raises:
        InvalidParameter: a mechanism claims something else than LDP without δ, which is all that the script decides.
        FileConflict: the folder is not empty.
    """
    for name, mechanism in questions_apart(questionnaire.questions, questionnaire.joint).items():
        refuse_for_device(mechanism, f"questions[{name!r}].privacy")
    content = {name: script(source) for name, source in FORM.items()}
    content["form-page.js"] = script("page/form-page.js")
    content["questionnaire.json"] = as_bytes(files.to_json(questionnaire))
    every = {**vectors(example_mechanisms()), "questionnaires": questionnaire_vectors(example_questionnaires())}
    content["vectors.json"] = as_bytes(every)
    return write_files(folder, content, overwrite)


# -- SurveyJS


def write_surveyjs_folder(folder: str | Path, questionnaire: Questionnaire, *, overwrite: bool = False) -> list[Path]:
    """A form for SurveyJS (`survey.json`) and what randomises its answers before they are sent (`attach.js`).

    Raises:
        InvalidParameter, FileConflict: as `write_questionnaire_folder`.
    """
    for name, mechanism in questions_apart(questionnaire.questions, questionnaire.joint).items():
        refuse_for_device(mechanism, f"questions[{name!r}].privacy")
    content = {
        "attach.js": script("page/attach.js"),
        "survey.json": as_bytes(surveyjs(questionnaire)),
        "questionnaire.json": as_bytes(files.to_json(questionnaire)),
        "vectors.json": as_bytes(vectors(example_mechanisms())),
    }
    return write_files(folder, content, overwrite)


def surveyjs(questionnaire: Questionnaire) -> dict[str, Any]:
    """The questions as SurveyJS has them: a group for each question, boxes for "tick all that apply", conditions."""
    elements: list[dict[str, Any]] = []
    for name, mechanism in questionnaire.questions.items():
        text = questionnaire.texts.get(name, QuestionText())
        labels = [label for label in mechanism.input_labels if label not in (NO_ANSWER, SKIPPED)]
        if text.group and labels == [False, True]:
            _add_box(elements, name, text)
            continue
        shown = text.answers or tuple(map(str, labels))
        choices = [{"value": value, "text": one} for value, one in zip(labels, shown, strict=True)]
        element: dict[str, Any] = {"type": "radiogroup", "name": name, "title": text.text or name, "choices": choices}
        element["isRequired"] = mechanism.input_labels.find(NO_ANSWER) is None
        elements.append(element | _visible_if(questionnaire, name))
    made: dict[str, Any] = {"pages": [{"name": "page1", "elements": elements}]}
    return {"title": questionnaire.title, **made} if questionnaire.title else made


def _add_box(elements: list[dict[str, Any]], name: str, text: QuestionText) -> None:
    """A box beside those of its group."""
    if not elements or elements[-1]["type"] != "checkbox" or elements[-1]["title"] != text.group:
        elements.append({"type": "checkbox", "name": name, "title": text.group, "choices": []})
    elements[-1]["choices"].append({"value": name, "text": text.text or name})


def _visible_if(questionnaire: Questionnaire, name: str) -> dict[str, str]:
    """When a question that may be skipped is shown: for each admissible start of its branch that leads to it."""
    joint = questionnaire.joint
    branch = None if joint is None or name not in joint.names else joint.branch_of(joint.names.index(name))
    if joint is None or branch is None:
        return {}
    place, skipped = (
        branch.columns.index(joint.names.index(name)),
        questionnaire.questions[name].input_labels.find(SKIPPED),
    )
    starts = dict.fromkeys(r[:place] for r in branch.records if skipped is not None and r[place] != skipped)
    return {"visibleIf": " or ".join(_said_of(joint, branch.columns, start) for start in starts)} if starts else {}


def _said_of(joint: JointQuestions, columns: tuple[int, ...], start: tuple[int, ...]) -> str:
    """The answers before a question as a condition of SurveyJS."""
    parts = []
    for i, code in zip(columns, start, strict=False):
        label = joint.labels[i][code]
        if label in (NO_ANSWER, SKIPPED):
            parts.append(f"{{{joint.names[i]}}} empty")
        else:
            written = json.dumps(label, ensure_ascii=False) if not isinstance(label, str) else repr(label)
            parts.append(f"{{{joint.names[i]}}} = {written}")
    return f"({' and '.join(parts)})"


# -- vectors


def record_report(questionnaire: Questionnaire, codes: dict[str, int], words: Iterator[int]) -> dict[str, Any]:
    """The record that a device makes of answers, given by their codes, from these 64-bit words."""
    found: dict[str, Any] = {}
    for name, mechanism in questions_apart(questionnaire.questions, questionnaire.joint).items():
        found[name] = device_report(mechanism, codes[name], words)
    joint = questionnaire.joint
    if joint is not None:
        record = np.array([[codes[name] for name in joint.names]], dtype=np.int64)
        found |= {name: column[0] for name, column in joint.draw(record, NextWords(words)).items()}
    return {name: found[name] for name in questionnaire.questions}


def example_questionnaires() -> list[Questionnaire]:
    """One of every strategy, with goals, sets, several kinds, skipped questions and silence."""
    asked: dict[str, Any] = {
        "smokes": ["no", "yes"],
        "cigarettes": OnlyIf("smokes", "yes", ["1-5", "6-20", 'more "ß ☂"']),
        "age": 3,
        "region": 12,
        "partners": Mean(range(4)),
        "symptoms": TickAll(["fever", "cough"]),
    }
    few = {"a": 2, "b": ["x", "y", "z"], "c": 2}
    return [
        *(Questionnaire.within(3, asked, strategy, optional=["age"]) for strategy in ("joint", "sample", "split")),
        Questionnaire.within(5, few, per_person=2),
        Questionnaire.within("0.5", few),
    ]


def questionnaire_vectors(asked: list[Questionnaire]) -> list[dict[str, Any]]:
    """Answers, words and the records that they make: public numbers under a fixed key, the same in every folder."""
    source, made = CipherWords(bytes(32)), []
    for one in asked:
        share = [_vector(one, i, source) for i in range(VECTORS // len(asked))]
        made.append({"questionnaire": json.loads(json.dumps(files.to_json(one))), "vectors": share})
    return made


def _vector(asked: Questionnaire, number: int, source: CipherWords) -> dict[str, Any]:
    used: list[int] = []
    codes = _record(asked, number)
    reports = record_report(asked, codes, words_of_vector(number, source, used))
    labels = {name: asked.questions[name].input_labels[code] for name, code in codes.items()}
    answers = {name: label for name, label in labels.items() if label not in (NO_ANSWER, SKIPPED)}
    return {"answers": answers, "words": [str(word) for word in used], "reports": reports}


def _record(asked: Questionnaire, number: int) -> dict[str, int]:
    """An admissible record, another one for another number."""
    codes = {name: (number // (i + 1)) % m.k for i, (name, m) in enumerate(asked.questions.items())}
    joint = asked.joint
    for branch in () if joint is None else joint.branches:
        for i, code in zip(branch.columns, branch.records[number % len(branch.records)], strict=True):
            codes[joint.names[i] if joint is not None else ""] = code
    return codes
