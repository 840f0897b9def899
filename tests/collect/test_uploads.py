"""Every upload that must be refused is, and none that a device sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.collect.uploads import MOST_REPORTS, Refusal, UploadReader, read_content
from support.studies import records, study_in, upload

ID = "00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def asked() -> ex.Questionnaire:
    return ex.Questionnaire(
        {
            "vote": ex.randomized_response(2, 1, inputs=["no", "yes"]),
            "flag": ex.randomized_response(2, 1, inputs=[False, True]),
            "count": ex.randomized_response(3, 1),
            "set": ex.subset_selection(["a", "b", "c", "d", "e", "f"], 1),
        }
    )


@pytest.fixture(scope="module")
def reader(asked: ex.Questionnaire, tmp_path_factory: pytest.TempPathFactory) -> UploadReader:
    _, study, store = study_in(tmp_path_factory.mktemp("studies") / "study", asked)
    store.engine.dispose()
    return UploadReader(study)


def _good(asked: ex.Questionnaire) -> dict[str, Any]:
    size = len(asked.questions["set"].privatize(["a"])[0])
    return {"vote": "yes", "flag": True, "count": 2, "set": list("abcdef"[:size])}


def _body(asked: ex.Questionnaire, **changed: Any) -> bytes:
    return json.dumps({**upload(asked, {**_good(asked), **changed}), "id": ID}).encode()


def test_what_is_stored_has_one_form(asked: ex.Questionnaire, reader: UploadReader) -> None:
    one = reader.read(_body(asked))
    spaced = json.dumps({**upload(asked, _good(asked)), "id": ID}, indent=3).replace('"yes"', '"\\u0079es"')
    other = reader.read(spaced.encode())
    assert one.contents == other.contents
    assert one.ids == [bytes.fromhex(ID)]
    assert dict(zip(asked.questions, read_content(one.contents[0]), strict=True)) == asked.check_record(_good(asked))


def test_everything_that_is_reported_is_taken(asked: ex.Questionnaire, reader: UploadReader) -> None:
    made = [upload(asked, record) for record in records(asked, 300)]
    assert len(reader.read(json.dumps(made).encode()).ids) == 300


@pytest.mark.parametrize(
    "changed",
    [
        {"vote": "maybe"},
        {"vote": "yes "},
        {"vote": "yes\0"},
        {"vote": True},
        {"vote": ["yes"]},
        {"vote": {"yes": 1}},
        {"vote": "'; DROP TABLE reports; --"},
        {"vote": "<script>alert(1)</script>"},
        {"vote": "=1+1"},
        {"flag": 1},
        {"flag": "True"},
        {"count": 3},
        {"count": -1},
        {"count": 1.0},
        {"count": 1e400},
        {"count": 2**70},
        {"count": True},
        {"count": "1"},
        {"set": ["a", "a"]},
        {"set": []},
        {"set": "abcdef"},
        {"set": [["a"], "b"]},
        {"set": [1, 2, 3]},
        {"other": "yes"},
        {"vote": None},
    ],
)
def test_reports_that_are_never_made(asked: ex.Questionnaire, reader: UploadReader, changed: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        reader.read(_body(asked, **changed))
    assert (caught.value.status, caught.value.reason) == (422, "invalid") or caught.value.status == 400
    for value in changed.values():
        assert str(value) not in caught.value.text or value in (1, True, None)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"id": "\xff"}', 400),
        (b"nan", 400),
        (b"[" * 100_000, 422),
        (b"null", 422),
        (b"3", 422),
        (b"[]", 422),
        (b"[[]]", 422),
        (b"{}", 422),
        (b'{"id": 3}', 422),
    ],
)
def test_bodies_that_are_no_uploads(reader: UploadReader, body: bytes, status: int) -> None:
    with pytest.raises(Refusal) as caught:
        reader.read(body)
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", ID.upper(), "invalid"),
        ("id", ID[:-1], "invalid"),
        ("id", f"{ID}00", "invalid"),
        ("id", "../../etc/passwd", "invalid"),
        ("questionnaire", "0" * 64, "questionnaire"),
        ("invitation", "x" * 1000, "invalid"),
        ("address", "10.0.0.1", "invalid"),
    ],
)
def test_fields(asked: ex.Questionnaire, reader: UploadReader, field: str, value: str, reason: str) -> None:
    with pytest.raises(Refusal) as caught:
        reader.read(json.dumps({**json.loads(_body(asked)), field: value}).encode())
    assert (caught.value.status, caught.value.reason) == (422, reason)


def test_a_list_names_the_bad_ones(asked: ex.Questionnaire, reader: UploadReader) -> None:
    good = json.loads(_body(asked))
    bad = json.loads(_body(asked, vote="maybe"))
    with pytest.raises(Refusal) as caught:
        reader.read(json.dumps([good, bad, good, bad]).encode())
    assert caught.value.at == (1, 3)


def test_a_list_that_is_too_long(asked: ex.Questionnaire, reader: UploadReader) -> None:
    with pytest.raises(Refusal) as caught:
        reader.read(json.dumps([json.loads(_body(asked))] * (MOST_REPORTS + 1)).encode())
    assert caught.value.status == 413


def test_questions_that_are_not_asked_together(tmp_path: Path) -> None:
    """In a joint questionnaire the questions that a person is asked are drawn; not every set of them is."""
    joint = ex.Questionnaire.within(2, {f"q{i}": ["no", "yes"] for i in range(4)}, strategy="sample", per_person=2)
    _, study, store = study_in(tmp_path / "study", joint)
    store.engine.dispose()
    reader = UploadReader(study)
    for names, good in ((("q0", "q1"), True), (("q0",), False), (("q0", "q1", "q2"), False), ((), False)):
        body = json.dumps(upload(joint, dict.fromkeys(names, "yes"))).encode()
        for _ in range(2):  # decided, and remembered
            if good:
                assert len(reader.read(body).ids) == 1
            else:
                with pytest.raises(Refusal):
                    reader.read(body)
