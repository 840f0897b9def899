"""Questionnaire files: every question with its whole mechanism, under one hash.

The same strict JSON as mechanism files (`extremal.mechanism.files`): duplicate keys, floats and integers beyond 2^53
are refused, a newer minor version is read, a newer major one refused, and each mechanism's claim is decided again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.errors import MalformedFile
from extremal.mechanism.files import (
    check_version,
    content_digest,
    from_json,
    refuse_unknown_fields,
    to_json,
    write_once,
)

if TYPE_CHECKING:
    from extremal.mechanism import Mechanism
    from extremal.questionnaire.questionnaire import Questionnaire

FORMAT = "extremal-questionnaire"
VERSION = (1, 0)
NOT_NAMED = "every question must have a name of its own and a mechanism"


def _content(questionnaire: Questionnaire) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": ".".join(str(part) for part in VERSION),
        "questions": [{"name": name, "mechanism": to_json(m)} for name, m in questionnaire.questions.items()],
    }


def content_hash(questionnaire: Questionnaire) -> str:
    return content_digest(_content(questionnaire))


def save(questionnaire: Questionnaire, path: Path, overwrite: bool) -> Path:
    """Write it, whole or not at all."""
    content = _content(questionnaire)
    return write_once(path, {**content, "hash": content_digest(content)}, overwrite)


def questionnaire_from_json(content: dict[str, Any], source: str) -> Questionnaire:
    """The questionnaire that a parsed file describes; nothing in it is trusted.

    Raises:
        MalformedFile: not a questionnaire file, corrupted, or of a newer major version.
        PrivacyViolation: a mechanism's claim is false.
    """
    from extremal.questionnaire.questionnaire import Questionnaire

    check_version(content, source, FORMAT, VERSION, "a questionnaire file")
    found = content_digest({key: value for key, value in content.items() if key != "hash"})
    if content.get("hash") != found:
        raise MalformedFile(
            "the content must match its hash: the file was changed after it was written",
            parameter="hash",
            value=content.get("hash"),
            hint=f"The content hashes to {found}.",
        )
    refuse_unknown_fields(content, ("format", "version", "questions"), VERSION)
    listed = content.get("questions")
    if not isinstance(listed, list) or not listed:
        raise MalformedFile("a questionnaire must list its questions", parameter="questions", value=listed)
    questions: dict[str, Mechanism] = {}
    for entry in listed:
        name, inside = _named(entry)
        if name in questions:
            raise MalformedFile(NOT_NAMED, parameter="question", value=name)
        mechanism, claim = from_json(inside, f"{source}, question {name!r}")
        questions[name] = mechanism if claim is None else mechanism.claiming(claim)
    return Questionnaire(questions)


def _named(entry: Any) -> tuple[str, dict[str, Any]]:
    """A question's name and what its file says of its mechanism."""
    content = entry if isinstance(entry, dict) and set(entry) <= {"name", "mechanism"} else {}
    name, inside = content.get("name"), content.get("mechanism")
    if not isinstance(name, str) or not name.strip() or not isinstance(inside, dict):
        raise MalformedFile(NOT_NAMED, parameter="question", value=name)
    return name, inside
