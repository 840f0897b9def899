"""The API over HTTP: what is answered to whom."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from extremal.collect import service as module
from extremal.collect.openapi import UPLOADS
from extremal.collect.service import Service, merged_languages
from extremal.collect.study import NewStudy
from extremal.collect.writing import WriteOutcome
from extremal.errors import MalformedFile
from support.studies import asked, records, study_in, upload, uploads

JSON = {"content-type": "application/json"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[NewStudy, Service, TestClient]]:
    made, study, store = study_in(tmp_path / "study", title="<i>Health</i>", consent="You may stop.")
    service = Service(study, store, ("https://survey.example",))
    with TestClient(service.app, base_url="http://testserver") as client:
        yield made, service, client
    store.engine.dispose()


@pytest.fixture
def client(served: tuple[NewStudy, Service, TestClient]) -> TestClient:
    return served[2]


def _analyst(made: NewStudy) -> dict[str, str]:
    return {"authorization": f"Bearer {made.token}"}


def test_the_study_is_public(client: TestClient) -> None:
    content = client.get("/api/study").json()
    assert content["hash"] == asked().hash
    assert json.loads(content["questionnaire"])["hash"] == asked().hash
    assert (content["title"], content["open"], content["invited"]) == ("<i>Health</i>", True, False)


def test_stored_same_conflict(client: TestClient) -> None:
    first, second = uploads(asked(), 2)
    assert client.post("/api/reports", json=first).status_code == 201
    assert client.post("/api/reports", json=first).status_code == 200
    other = {**first, "reports": next(r for r in records(asked(), 200) if r != first["reports"])}
    answer = client.post("/api/reports", json=other)
    assert (answer.status_code, answer.json()["reason"]) == (409, "conflict")
    answer = client.post("/api/reports", json=[second, other])
    assert (answer.status_code, answer.json()["at"]) == (409, [1])
    assert client.post("/api/reports", json=[first, second]).json() == {"new": 1}


def test_a_half_valid_list_is_not_stored(served: tuple[NewStudy, Service, TestClient]) -> None:
    _, service, client = served
    good = uploads(asked(), 3)
    bad = upload(asked(), {"drugs": "maybe"})
    answer = client.post("/api/reports", json=[*good, bad])
    assert (answer.status_code, answer.json()["at"]) == (422, [3])
    assert "maybe" not in answer.text
    assert service.store.tallied() == 0


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"content-type": "text/plain"}, b"{}", 415),
        ({"content-type": "application/json; charset=latin-1"}, b"{}", 415),
        ({}, b"{}", 415),
        ({**JSON, "content-encoding": "gzip"}, gzip.compress(bytes(1 << 20)), 415),
        (JSON, b"\x00", 400),
        (JSON, b'{"id": "\xff\xfe"}', 400),
        (JSON, b'{"id"', 400),
        (JSON, b"[" + b" " * (16 << 20) + b"]", 413),
        ({**JSON, "content-length": "99999999999"}, b"{}", 413),
        ({**JSON, "origin": "https://elsewhere.example"}, b"{}", 403),
        ({**JSON, "origin": "null"}, b"{}", 403),
        ({**JSON, "origin": "http://["}, b"{}", 403),
        ({**JSON, "origin": "http://testserver.example", "host": "testserver"}, b"{}", 403),
    ],
)
def test_requests_that_are_refused(client: TestClient, headers: dict[str, str], body: bytes, status: int) -> None:
    answer = client.post("/api/reports", content=body, headers=headers)
    assert answer.status_code == status
    assert set(answer.json()) >= {"reason", "text"}
    assert status in UPLOADS


def test_a_body_without_a_length_is_cut(client: TestClient) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * (1 << 20)

    assert client.post("/api/reports", content=endless(), headers=JSON).status_code == 413


def test_origins(client: TestClient) -> None:
    one, other = uploads(asked(), 2)
    same = client.post("/api/reports", json=one, headers={"origin": "http://testserver"})
    assert same.status_code == 201
    assert "access-control-allow-origin" not in same.headers
    allowed = client.post("/api/reports", json=other, headers={"origin": "https://survey.example"})
    assert allowed.headers["access-control-allow-origin"] == "https://survey.example"
    asked_first = client.options(
        "/api/reports", headers={"origin": "https://survey.example", "access-control-request-method": "POST"}
    )
    assert asked_first.status_code == 204
    assert asked_first.headers["access-control-allow-headers"] == "content-type"
    assert client.options("/api/reports", headers={"origin": "https://elsewhere.example"}).status_code == 403


def test_an_overloaded_server_says_so(
    served: tuple[NewStudy, Service, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, service, client = served
    monkeypatch.setattr(module, "BODIES", 100)
    answer = client.post("/api/reports", json=uploads(asked(), 5))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    monkeypatch.undo()
    monkeypatch.setattr("extremal.collect.writing.MOST_WAITING", 3)
    assert client.post("/api/reports", json=uploads(asked(), 5)).status_code == 429
    assert client.post("/api/reports", json=uploads(asked(), 2)).status_code == 201
    assert service._reading == 0


def test_a_store_that_fails_is_503(
    served: tuple[NewStudy, Service, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, client = served
    one = uploads(asked(), 1)[0]
    with monkeypatch.context() as patched:
        patched.setattr(
            "extremal.collect.writing.Writer.write", lambda _, group: [WriteOutcome("unavailable")] * len(group)
        )
        answer = client.post("/api/reports", json=one)
        assert (answer.status_code, answer.json()["reason"]) == (503, "unavailable")
    assert client.post("/api/reports", json=one).status_code == 201


def test_a_closed_study(served: tuple[NewStudy, Service, TestClient]) -> None:
    _, service, client = served
    first, second = uploads(asked(), 2)
    client.post("/api/reports", json=first)
    service.store.close()
    assert client.get("/api/study").json()["open"] is False
    assert client.post("/api/reports", json=first).status_code == 200
    answer = client.post("/api/reports", json=second)
    assert (answer.status_code, answer.json()["reason"]) == (403, "closed")


def test_invitations(tmp_path: Path) -> None:
    made, study, store = study_in(tmp_path / "study", invitations=1)
    with TestClient(Service(study, store).app) as client:
        first, second = uploads(asked(), 2)
        assert client.post("/api/reports", json=first).json()["reason"] == "invitation"
        assert client.post("/api/reports", json={**first, "invitation": made.codes[0]}).status_code == 201
        assert client.post("/api/reports", json={**first, "invitation": made.codes[0]}).status_code == 200
        assert client.post("/api/reports", json={**second, "invitation": made.codes[0]}).status_code == 403
    store.engine.dispose()


# -- the analyst


@pytest.mark.parametrize("path", ["/analyst", "/api/results", "/api/export/csv", "/api/export/jsonl"])
def test_what_was_collected_needs_the_token(served: tuple[NewStudy, Service, TestClient], path: str) -> None:
    made, _, client = served
    for headers in (
        {},
        {"authorization": "Bearer x"},
        {"authorization": f"Basic {made.token}"},
        {"cookie": "extremal-analyst="},
    ):
        assert client.get(path, headers=headers).status_code == 401
    assert client.get(path, headers=_analyst(made)).status_code == 200


def test_nothing_else_is_served(served: tuple[NewStudy, Service, TestClient]) -> None:
    made, _, client = served
    for path in (
        "/study.sqlite",
        "/files/study.sqlite",
        "/files/..%2f..%2fservice.py",
        "/files/../service.py",
        "/api",
        "/docs",
        "/api/export/exe",
        "/api/study/",
    ):
        assert client.get(path, headers=_analyst(made)).status_code == 404
    for method in ("PUT", "DELETE", "PATCH"):
        for path in ("/api/reports", "/api/study", "/analyst"):
            assert client.request(method, path, headers=_analyst(made)).status_code == 405


def test_the_analysts_link_sets_a_cookie_and_leaves_the_address(served: tuple[NewStudy, Service, TestClient]) -> None:
    made, _, client = served
    answer = client.get(f"/analyst/{made.token}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/analyst")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie
    behind = client.get(f"/analyst/{made.token}", headers={"x-forwarded-proto": "https"}, follow_redirects=False)
    assert "secure" in behind.headers["set-cookie"].lower()
    client.cookies.clear()
    assert client.get(f"/analyst/{made.token}").status_code == 200
    assert client.get("/analyst").status_code == 200
    assert client.get("/analyst/wrong", follow_redirects=False).status_code == 401


def test_the_analysts_page_has_the_numbers_and_no_script(served: tuple[NewStudy, Service, TestClient]) -> None:
    made, service, client = served
    client.post("/api/reports", json=uploads(asked(), 400))
    client.post("/api/reports", json={})
    page = client.get("/analyst", headers=_analyst(made)).text
    assert "&lt;i&gt;Health&lt;/i&gt;" in page
    assert "<script" not in page
    assert "ε = 4 per person" in page
    assert "style=" not in page
    found = client.get("/api/results", headers=_analyst(made)).json()
    assert found["n"] == 400
    for question in found["questions"].values():
        for line in question["estimates"]:
            assert f"{100 * line['estimate']:.1f}%" in page
    questionnaire = asked()
    expected = questionnaire.estimate(
        [dict(zip(questionnaire.questions, json.loads(c), strict=True)) for _, c in service.store.rows()]
    )
    for name, estimate in expected.items():
        given = [line["estimate"] for line in found["questions"][name]["estimates"]]
        assert given == pytest.approx(list(estimate.estimate), abs=1e-12)


def test_an_empty_study_has_a_page(served: tuple[NewStudy, Service, TestClient]) -> None:
    made, _, client = served
    assert "No report yet" in client.get("/analyst", headers=_analyst(made)).text


# -- pages and headers


def test_every_answer_has_the_policy(served: tuple[NewStudy, Service, TestClient]) -> None:
    made, _, client = served
    for path in (
        "/",
        "/files/page.js",
        "/api/study",
        "/nothing",
        "/analyst",
        "/openapi.json",
        "/worker.js",
        "/favicon.ico",
    ):
        headers = client.get(path, headers=_analyst(made)).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_the_page_names_only_what_is_served(client: TestClient) -> None:
    page = client.get("/").text
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    kept = re.findall(r'"(/[^"]*)"', client.get("/worker.js").text.split("const KEPT")[1].split(";")[0])
    for path in {*named, *kept}:
        assert path.startswith("/")
        assert client.get(path).status_code == 200
    assert "http://" not in page
    assert "https://" not in page


def test_every_text_of_the_page_is_in_every_language(client: TestClient) -> None:
    languages = client.get("/files/languages.json").json()
    used = set(re.findall(r'data-say="(\w+)"', client.get("/").text))
    used |= set(re.findall(r'(?:say\("|words\.)(\w+)', client.get("/files/page.js").text))
    assert used <= set(languages["en"])
    for texts in languages.values():
        assert set(texts) == set(languages["en"])
        assert "{epsilon}" in texts["promise"]


def test_a_study_may_bring_its_own_texts(tmp_path: Path) -> None:
    path = tmp_path / "languages.json"
    assert merged_languages(path) is None
    path.write_text(json.dumps({"nl": {"send": "Verzenden"}, "en": {"send": "Off with it"}}))
    merged = json.loads(merged_languages(path) or b"")
    assert (merged["nl"]["send"], merged["en"]["send"], merged["en"]["sent"]) == (
        "Verzenden",
        "Off with it",
        "Sent. Thank you.",
    )
    for bad in ("[]", '{"nl": {"sned": "x"}}', '{"nl": {"send": 3}}', "{"):
        path.write_text(bad)
        with pytest.raises(MalformedFile):
            merged_languages(path)


def test_the_description_lists_every_answer(client: TestClient) -> None:
    content: dict[str, Any] = client.get("/openapi.json").json()
    post = content["paths"]["/api/reports"]["post"]
    assert {int(status) for status in post["responses"]} == set(UPLOADS)
    schema = content["components"]["schemas"]["Upload"]
    assert schema["properties"]["questionnaire"]["const"] == asked().hash
    assert set(schema["properties"]["reports"]["properties"]) == set(asked().questions)


def test_health(client: TestClient) -> None:
    assert client.get("/api/health").json() == {"ready": True}
