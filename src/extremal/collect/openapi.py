"""The description of the API, as OpenAPI 3.1 has it: every path, every answer, and the reports that a study takes."""

from __future__ import annotations

from typing import Any

from extremal import __version__
from extremal.collect.study import Study
from extremal.collect.uploads import LONGEST_CODE, MOST_REPORTS

ANSWERS = {
    200: "the same reports were stored before",
    201: "the reports are on disk",
    400: "the body is no JSON",
    401: "the analyst's token is missing or wrong",
    403: "the study is closed, the invitation is missing or spent, or the page's origin is not allowed",
    404: "there is nothing under this path",
    405: "the method is not served here",
    408: "the body came too slowly",
    409: "another report is stored under this id",
    413: "the body or the list is too large",
    415: "the content type is not application/json",
    422: "a report is not one that the questionnaire makes, or an upload is not of its form",
    429: "too many reports wait; try again after the seconds that retry-after says",
    503: "the store cannot be written; nothing of the upload is stored",
}
UPLOADS = (200, 201, 400, 403, 408, 409, 413, 415, 422, 429, 503)
REASONS = {
    "type": "object",
    "required": ["reason", "text"],
    "properties": {
        "reason": {"type": "string"},
        "text": {"type": "string"},
        "at": {"type": "array", "items": {"type": "integer"}, "description": "positions in the list"},
    },
}
STORED = {"type": "object", "required": ["new"], "properties": {"new": {"type": "integer", "minimum": 0}}}


def description(study: Study) -> dict[str, Any]:
    """The document that `/openapi.json` serves."""
    bearer: list[dict[str, list[str]]] = [{"token": []}]
    return {
        "openapi": "3.1.0",
        "info": {"title": f"{study.title} (extremal collect)", "version": __version__},
        "paths": {
            "/api/study": {"get": {"summary": "The questionnaire and its hash", "responses": _answers(200)}},
            "/api/health": {"get": {"summary": "Whether reports are taken", "responses": _answers(200)}},
            "/api/reports": {"post": _upload()},
            "/api/results": {
                "get": {"summary": "Estimates so far", "security": bearer, "responses": _answers(200, 401)}
            },
            "/api/export/{format}": {
                "get": {
                    "summary": "All reports",
                    "security": bearer,
                    "parameters": [
                        {
                            "name": "format",
                            "in": "path",
                            "required": True,
                            "schema": {"type": "string", "enum": ["csv", "jsonl"]},
                        }
                    ],
                    "responses": {
                        **_answers(401, 404),
                        "200": {"description": "a file", "content": {"text/csv": {}, "application/jsonl": {}}},
                    },
                }
            },
        },
        "components": {
            "schemas": {"Upload": _schema(study), "Refused": REASONS, "Stored": STORED},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _upload() -> dict[str, Any]:
    one = {"$ref": "#/components/schemas/Upload"}
    several = {"type": "array", "minItems": 1, "maxItems": MOST_REPORTS, "items": one}
    answers = _answers(*UPLOADS)
    for status in ("200", "201"):
        answers[status]["content"] = {"application/json": {"schema": {"$ref": "#/components/schemas/Stored"}}}
    return {
        "summary": "Send one person's reports, or a list of several; all of a list is stored, or nothing",
        "requestBody": {"required": True, "content": {"application/json": {"schema": {"oneOf": [one, several]}}}},
        "responses": answers,
    }


def _schema(study: Study) -> dict[str, Any]:
    asked = study.questionnaire
    properties: dict[str, Any] = {
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "16 bytes drawn by the device"},
        "questionnaire": {"type": "string", "const": asked.hash},
        "reports": {
            "type": "object",
            "description": "null, or nothing, where the question was not asked",
            "properties": {
                name: {"type": ["string", "integer", "boolean", "array", "null"]} for name in asked.questions
            },
            "additionalProperties": False,
        },
        "invitation": {"type": ["string", "null"], "maxLength": LONGEST_CODE},
    }
    return {
        "type": "object",
        "required": ["id", "questionnaire", "reports", *(["invitation"] if study.invited else [])],
        "properties": properties,
        "additionalProperties": False,
    }


def _answers(*statuses: int) -> dict[str, Any]:
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Refused"}}}
    plain: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
    return {
        str(status): {
            "description": ANSWERS[status] if status != 200 or 201 in statuses else "what was asked for",
            "content": plain if status < 300 else refused,
        }
        for status in statuses
    }
