"""The HTTP side of a study: the respondent's page, the API, the analyst's page. `/openapi.json` says what it answers.

Everybody may read the study and send reports; what was collected is for whoever has the analyst's token, and nothing of
a study can be changed over HTTP. What a client can cost is bounded before anything is read: bytes of one body, bytes of
all bodies that are being read, seconds for one of them, reports that wait. No address is looked at, stored or logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from extremal.collect.analyst_page import analyst_page
from extremal.collect.export import EXPORTS, streamed
from extremal.collect.openapi import ANSWERS, description
from extremal.collect.results import Results, people_needed, results_of
from extremal.collect.store import Store
from extremal.collect.study import Study, today
from extremal.collect.uploads import LARGEST_BODY, Refusal, UploadReader
from extremal.collect.writing import Arrival, Busy, Intake, WriteOutcome, Writer
from extremal.errors import MalformedFile

BODIES = 64 << 20  # bytes of all bodies that are being read
SLOWEST = 30.0  # seconds that one body may take
FRESH = 10.0  # seconds for which computed results are shown again
COOKIE = "extremal-analyst"
PAGE_FILES = {
    "page.js": "text/javascript",
    "page.css": "text/css",
    "languages.json": "application/json",
    "analyst.css": "text/css",
}
DEVICE_FILES = {  # of `extremal.release`, the same that `extremal device` writes
    "randomiser.js": ("randomiser.js", "text/javascript"),
    "form.js": ("page/form.js", "text/javascript"),
    "form.css": ("page/form.css", "text/css"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
STATUS_OF = {"conflict": 409, "invitation": 403, "closed": 403, "unavailable": 503}
TEXT_OF = {
    "conflict": "another report is stored under this id",
    "invitation": "the study needs an invitation code that nobody has used",
    "closed": "the study is closed",
    "unavailable": "the reports could not be written and are not stored; send them again later",
}


class Service:
    """A study on the network.

    Args:
        origins: where pages stand that may send reports besides the study's own: ("https://survey.example",).
        languages: texts of the page, as JSON, in place of those that come with it.
    """

    def __init__(
        self, study: Study, store: Store, origins: tuple[str, ...] = (), languages: bytes | None = None
    ) -> None:
        self.study, self.store, self.origins, self.languages = study, store, origins, languages
        self._reader = UploadReader(study)
        self._intake: Intake | None = None
        self._reading = 0
        self._results: tuple[float, Results] | None = None
        self._computing = asyncio.Lock()

    @cached_property
    def app(self) -> Starlette:
        routes = [
            Route("/", self.page),
            Route("/files/{name}", self.page_file),
            Route("/worker.js", self.worker),
            Route("/favicon.ico", self.nothing),
            Route("/api/study", self.public),
            Route("/api/reports", self.receive, methods=["POST"]),
            Route("/api/reports", self.preflight, methods=["OPTIONS"]),
            Route("/api/health", self.health),
            Route("/openapi.json", self.openapi),
            Route("/api/results", self.results),
            Route("/api/export/{format}", self.export),
            Route("/analyst", self.analyst),
            Route("/analyst/{token}", self.enter),
        ]
        handlers: Any = {Refusal: self.refused, HTTPException: self.unknown}
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        app.router.redirect_slashes = False  # a redirect would quote the host that a client made up
        return app

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self._intake = Intake(Writer(self.study, self.store))
        running = asyncio.create_task(self._intake.run())
        try:
            yield
        finally:
            self._intake.end()
            await running
            self._intake = None

    # -- answers

    async def refused(self, _request: Request, error: Refusal) -> Response:
        if self._intake is not None:
            self._intake.rejects[error.reason] += 1
        content: dict[str, Any] = {"reason": error.reason, "text": error.text}
        if error.at:
            content["at"] = list(error.at)
        more = {"retry-after": "1"} if error.status in (429, 503) else {}
        return _json(content, error.status, more)

    async def unknown(self, _request: Request, error: HTTPException) -> Response:
        """A path or a method that is not served."""
        return _json(
            {"reason": "unknown", "text": ANSWERS.get(error.status_code, "not served")},
            error.status_code,
            error.headers,
        )

    # -- for everyone

    async def page(self, _request: Request) -> Response:
        return _file("extremal.collect", "page/index.html", "text/html; charset=utf-8")

    async def page_file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "languages.json" and self.languages is not None:
            return Response(self.languages, 200, HEADERS, PAGE_FILES[name])
        if name in PAGE_FILES:
            return _file("extremal.collect", f"page/{name}", PAGE_FILES[name])
        if name in DEVICE_FILES:
            return _file("extremal.release", *DEVICE_FILES[name])
        raise HTTPException(404)

    async def worker(self, _request: Request) -> Response:
        """The script that keeps the page; its address decides what it may serve."""
        return _file("extremal.collect", "page/worker.js", "text/javascript")

    async def nothing(self, _request: Request) -> Response:
        """What browsers ask for unasked."""
        return Response(None, 204, HEADERS)

    async def public(self, _request: Request) -> Response:
        study = self.study
        closed = bool(await asyncio.to_thread(self.store.closed)) or study.over(today())
        return _json(
            {
                "title": study.title,
                "consent": study.consent,
                "hash": study.questionnaire.hash,
                "epsilon": study.questionnaire.epsilon,
                "questionnaire": study.questionnaire_text,
                "until": None if study.until is None else study.until.isoformat(),
                "invited": study.invited,
                "open": not closed,
            },
            200,
            self._shared(_request),
        )

    async def health(self, _request: Request) -> Response:
        return _json({"ready": self._intake is not None}, 200)

    async def openapi(self, _request: Request) -> Response:
        return _json(description(self.study), 200)

    # -- reports

    async def receive(self, request: Request) -> Response:
        self._refuse_origin(request)
        _refuse_type(request)
        try:
            body = await self._body(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        outcome = await self._stored(self._reader.read(body))
        if outcome.state != "stored":
            raise Refusal(STATUS_OF[outcome.state], outcome.state, TEXT_OF[outcome.state], outcome.at)
        return _json({"new": outcome.new}, 201 if outcome.new else 200, self._shared(request))

    async def preflight(self, request: Request) -> Response:
        """What a browser asks before a page of another origin may send."""
        self._refuse_origin(request)
        allowed = {"access-control-allow-methods": "POST", "access-control-allow-headers": "content-type"}
        return Response(None, 204, {**HEADERS, **self._shared(request), **allowed})

    async def _stored(self, arrival: Arrival) -> WriteOutcome:
        if self._intake is None:
            return WriteOutcome("unavailable")
        try:
            return await self._intake.stored(arrival)
        except Busy:
            raise Refusal(429, "busy", "too many reports wait to be written; send them again in a second") from None

    async def _body(self, request: Request) -> bytes:
        """The body, within all limits."""
        said = request.headers.get("content-length", "")
        if said.isdecimal() and int(said) > LARGEST_BODY:
            raise Refusal(413, "too large", f"a body has at most {LARGEST_BODY:,} bytes")
        parts, size = [], 0
        try:
            async with asyncio.timeout(SLOWEST):
                async for part in request.stream():
                    size += len(part)
                    self._reading += len(part)
                    parts.append(part)
                    if size > LARGEST_BODY:
                        raise Refusal(413, "too large", f"a body has at most {LARGEST_BODY:,} bytes")
                    if self._reading > BODIES:
                        raise Refusal(429, "busy", "too many bodies are being read; send it again in a second")
        except TimeoutError:
            raise Refusal(408, "slow", f"a body must arrive within {SLOWEST:g} seconds") from None
        finally:
            self._reading -= size
        return b"".join(parts)

    def _refuse_origin(self, request: Request) -> None:
        """A page of another origin sends reports only if the study allows it."""
        origin = request.headers.get("origin")
        if origin is None or origin in self.origins or origin.partition("://")[2] == request.headers.get("host"):
            return
        raise Refusal(403, "origin", "pages of another origin may not send reports; serve --origin allows one")

    def _shared(self, request: Request) -> dict[str, str]:
        """Lets a page of an allowed origin read the answer."""
        origin = request.headers.get("origin")
        if origin not in self.origins:
            return {}
        return {
            "access-control-allow-origin": str(origin),
            "vary": "origin",
            "cross-origin-resource-policy": "cross-origin",
        }

    # -- the analyst's

    def _admit(self, request: Request) -> None:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        token = given if kind.lower() == "bearer" else request.cookies.get(COOKIE, "")
        if not self.study.is_analyst(token):
            raise Refusal(401, "token", "this needs the analyst's token, which extremal collect new printed")

    async def enter(self, request: Request) -> Response:
        """The analyst's link: the token goes into a cookie and out of the address."""
        token = request.path_params["token"]
        if not self.study.is_analyst(token):
            raise Refusal(401, "token", "this needs the analyst's token, which extremal collect new printed")
        answer = RedirectResponse("/analyst", 303, HEADERS)
        secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
        # not strict: a browser that follows the link from a mail would not send it to the page that it is led to
        answer.set_cookie(COOKIE, token, httponly=True, samesite="lax", secure=secure, path="/")
        return answer

    async def analyst(self, request: Request) -> Response:
        self._admit(request)
        return Response(analyst_page(await self._current()), 200, HEADERS, "text/html; charset=utf-8")

    async def results(self, request: Request) -> Response:
        self._admit(request)
        return _json((await self._current()).to_json(), 200)

    async def _current(self) -> Results:
        """The results, computed at most every few seconds, in a thread."""
        async with self._computing:
            now = asyncio.get_running_loop().time()
            if self._results is None or now - self._results[0] > FRESH:
                found = await asyncio.to_thread(self._compute)
                self._results = asyncio.get_running_loop().time(), found
            return self._results[1]

    def _compute(self) -> Results:
        return results_of(self.study, self.store, self._needed)

    @cached_property
    def _needed(self) -> int | None:
        return people_needed(self.study)

    async def export(self, request: Request) -> Response:
        self._admit(request)
        name = request.path_params["format"]
        if name not in EXPORTS:
            raise HTTPException(404)
        headers = {**HEADERS, "content-disposition": f'attachment; filename="reports.{name}"'}
        return StreamingResponse(streamed(self.study, self.store, name), 200, headers, EXPORTS[name])


def _refuse_type(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower()
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise Refusal(415, "type", "the content type must be application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "type", "the body must not be compressed")


def _json(content: Any, status: int, headers: Any = None) -> Response:
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return Response(data, status, {**HEADERS, **(headers or {})}, "application/json")


def _file(package: str, name: str, kind: str) -> Response:
    return Response(files(package).joinpath(name).read_bytes(), 200, HEADERS, kind)


def merged_languages(path: Path) -> bytes | None:
    """The page's texts with those of a study's own file put over them; None where there is no file.

    Raises:
        MalformedFile: it is not `{language: {key: text}}` with keys of the page.
    """
    if not path.is_file():
        return None
    known: dict[str, dict[str, str]] = json.loads(
        files("extremal.collect").joinpath("page/languages.json").read_bytes()
    )
    try:
        own = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, str]])
    except msgspec.DecodeError as error:
        raise MalformedFile("languages must be {language: {key: text}}", parameter="file", value=str(path)) from error
    strange = sorted({key for texts in own.values() for key in texts} - set(known["en"]))
    if strange:
        raise MalformedFile("a text of the page must have a key of it", parameter="key", value=strange[0])
    merged = {name: {**known.get(name, {}), **own.get(name, {})} for name in {**known, **own}}
    return json.dumps(merged, ensure_ascii=False).encode()
