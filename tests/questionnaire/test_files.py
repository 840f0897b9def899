"""Questionnaire files: what is written is read, what was changed is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.loading import LOADERS
from extremal.mechanism.files import content_digest
from support.refusals import falsely_claiming

YES_NO = ex.randomized_response(2, 1, inputs=["no", "yes"])


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    asked = ex.Questionnaire(
        {"drugs": YES_NO, "party": ex.subset_selection(7, 1), "none": ex.Mechanism.from_weights([[3, 1], [1, 3]], 4)}
    )
    again = ex.load(asked.save(tmp_path / "q.json"))
    assert isinstance(again, ex.Questionnaire)
    assert again.hash == asked.hash
    assert list(again.questions) == list(asked.questions)
    assert [m.privacy for m in again.questions.values()] == [m.privacy for m in asked.questions.values()]
    with pytest.raises(ex.errors.FileConflict):
        ex.Questionnaire({"drugs": YES_NO}).save(tmp_path / "q.json")
    ex.Questionnaire({"drugs": YES_NO}).save(tmp_path / "q.json", overwrite=True)
    assert len(ex.load(tmp_path / "q.json")) == 1


def test_load_reads_every_kind(tmp_path: Path) -> None:
    assert set(LOADERS) == {
        "extremal-heavy-hitters",
        "extremal-mechanism",
        "extremal-questionnaire",
        "extremal-shuffled",
    }
    assert ex.load(YES_NO.save(tmp_path / "m.json")) == YES_NO
    for content in ('{"format": "something"}', '{"format": 3}', "{}"):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(ex.errors.MalformedFile, match="must be a mechanism file"):
            ex.load(tmp_path / "x.json")


def _rehashed(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "hash": content_digest({key: value for key, value in content.items() if key != "hash"})}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"questions": []}, "hash"),
        (lambda c: _rehashed(c | {"questions": []}), "must list its questions"),
        (lambda c: _rehashed(c | {"questions": {}}), "must list its questions"),
        (lambda c: _rehashed(c | {"questions": [3]}), "a name of its own"),
        (lambda c: _rehashed(c | {"questions": [{"name": "a"}]}), "a name of its own"),
        (lambda c: _rehashed(c | {"questions": [{"name": " ", "mechanism": {}}]}), "a name of its own"),
        (lambda c: _rehashed(c | {"questions": c["questions"] * 2}), "a name of its own"),
        (
            lambda c: _rehashed(c | {"questions": [{"name": "a", "mechanism": {}}]}),
            "question 'a' must be a mechanism file",
        ),
        (lambda c: _rehashed(c | {"version": "2.0"}), "version 1.x"),
        (lambda c: _rehashed(c | {"version": 1}), "major.minor"),
    ],
)
def test_what_was_changed_is_refused(
    change: Callable[[dict[str, Any]], dict[str, Any]], message: str, tmp_path: Path
) -> None:
    content = json.loads(ex.Questionnaire({"drugs": YES_NO}).save(tmp_path / "q.json").read_text())
    (tmp_path / "x.json").write_text(json.dumps(change(content)))
    with pytest.raises(ex.errors.MalformedFile, match=message):
        ex.load(tmp_path / "x.json")


def test_a_newer_minor_version_is_read(tmp_path: Path) -> None:
    content = json.loads(ex.Questionnaire({"drugs": YES_NO}).save(tmp_path / "q.json").read_text())
    (tmp_path / "x.json").write_text(json.dumps(_rehashed(content | {"version": "1.7", "more": "fields"})))
    assert len(ex.load(tmp_path / "x.json")) == 1


def test_a_false_claim_in_a_file_is_refused(tmp_path: Path) -> None:
    false = ex.Questionnaire({"drugs": falsely_claiming(YES_NO, ex.LDP("0.5"))})
    with pytest.raises(ex.errors.PrivacyViolation):
        ex.load(false.save(tmp_path / "q.json"))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("budget", lambda b: b | {"epsilon": "1_0"}),
        ("budget", lambda b: b | {"epsilon": " 2"}),
        ("budget", lambda b: b | {"more": 1}),
        ("budget", lambda b: b | {"per_person": True}),
        ("budget", lambda b: b | {"costs": [c | {"asked": c["asked"] + "0"} for c in b["costs"]]}),
        ("goals", lambda g: {n: one | {"more": 1} for n, one in g.items()}),
        ("goals", lambda g: {n: one | {"values": ["0_0", *one["values"][1:]]} for n, one in g.items()}),
        ("joint", lambda j: j | {"more": 1}),
        ("title", lambda _: ""),
    ],
)
def test_what_save_would_not_write_is_malformed(tmp_path: Path, part: str, change: Callable[[Any], Any]) -> None:
    asked = ex.Questionnaire.within(2, {"a": ["no", "yes"], "n": (list(range(4)), ex.Mean([0, 1, 2, 3]))}, title="T")
    content = json.loads(asked.save(tmp_path / "q.json").read_text())
    assert ex.load(tmp_path / "q.json").hash == asked.hash
    (tmp_path / "x.json").write_text(json.dumps(_rehashed(content | {part: change(content[part])})))
    with pytest.raises(ex.errors.MalformedFile):
        ex.load(tmp_path / "x.json")
