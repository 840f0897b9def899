"""From the bytes of a request to reports that may be stored, or the reason why not.

An upload is `{"id": 32 hexadecimal digits, "questionnaire": hash, "reports": {question: report}}`, with `"invitation"`
where the study asks for one; or a list of at most 10,000. A question that was not asked of a person is null or left
out. Nothing is stored of an upload with one bad report in it. What is stored is the reports as a JSON list in the order
of the questionnaire, each written in one way, so that equal reports are equal texts.

A report is looked up by its bytes among those that were seen before; only one that is new is parsed and looked up among
the labels, and `Questionnaire.check_record` decides which questions go together.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from extremal.collect.study import Study, hashed_code
from extremal.collect.writing import Arrival
from extremal.errors import ExtremalError
from extremal.questionnaire import Questionnaire

MOST_REPORTS = 10_000  # in one upload
LARGEST_BODY = 16 << 20  # bytes: 1.6 kB for each of the most reports
LONGEST_CODE = 64  # characters of an invitation as it is typed
MOST_SAID = 100  # positions of bad reports in an answer
REMEMBERED = 1 << 16  # reports of a question that are looked up by their bytes; others are parsed each time
ID = re.compile(r"[0-9a-f]{32}")
NOT_ASKED = b"null"


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    """One person's reports, as they are sent."""

    id: str
    questionnaire: str
    reports: dict[str, msgspec.Raw]
    invitation: str | None = None


@dataclass(eq=False)
class Refusal(Exception):
    """Why a request is not served.

    Attributes:
        status: of the answer.
        reason: one word, by which refusals are counted.
        text: one sentence; it quotes nothing that was sent.
        at: positions in a list.
    """

    status: int
    reason: str
    text: str
    at: tuple[int, ...] = ()


class UploadReader:
    """Reads the uploads of one study."""

    def __init__(self, study: Study) -> None:
        asked = study.questionnaire
        self._asked: Questionnaire = asked
        self._hash = asked.hash
        self._invited = study.invited
        self._decoder = msgspec.json.Decoder(Upload | list[Upload])
        self._names = tuple(asked.questions)
        self._known: dict[str, dict[bytes, str]] = {name: {NOT_ASKED: "null"} for name in self._names}
        self._patterns: dict[tuple[bool, ...], bool] = {}

    def read(self, body: bytes) -> Arrival:
        """The reports in a request's body, all of them valid.

        Raises:
            Refusal: something is wrong; nothing of it may be stored.
        """
        try:
            content = self._decoder.decode(body)
        except msgspec.ValidationError:
            raise Refusal(
                422, "invalid", "an upload has id, questionnaire and reports, and an invitation where one is asked for"
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Refusal(400, "malformed", "the body must be JSON in UTF-8") from None
        uploads = content if isinstance(content, list) else [content]
        if not 0 < len(uploads) <= MOST_REPORTS:
            status, text = (
                (413, f"a list has at most {MOST_REPORTS:,} uploads") if uploads else (422, "the list is empty")
            )
            raise Refusal(status, "too large" if uploads else "invalid", text)
        arrival = Arrival([], [], [])
        bad: list[tuple[int, str, str]] = []
        for place, upload in enumerate(uploads):
            found = self._read(upload, arrival)
            if found:
                bad.append((place, *found))
        if bad:
            _, reason, text = bad[0]
            listed = isinstance(content, list)
            raise Refusal(422, reason, text, tuple(place for place, _, _ in bad[:MOST_SAID]) if listed else ())
        return arrival

    def _read(self, upload: Upload, arrival: Arrival) -> tuple[str, str] | None:
        """Append one upload to an arrival, or say why not."""
        if not ID.fullmatch(upload.id):
            return "invalid", "an id is 16 random bytes as 32 hexadecimal digits in lower case"
        if upload.questionnaire != self._hash:
            return "questionnaire", "the reports must be to this study's questionnaire; /api/study has its hash"
        code = upload.invitation
        if code is not None and len(code) > LONGEST_CODE:
            return "invalid", f"an invitation has at most {LONGEST_CODE} characters"
        content = self._content(upload.reports)
        if content is None:
            return (
                "invalid",
                "the reports must be such as the questionnaire makes, to questions that are asked together",
            )
        arrival.ids.append(bytes.fromhex(upload.id))
        arrival.contents.append(content)
        arrival.codes.append(hashed_code(code) if code is not None and self._invited else None)
        return None

    def _content(self, reports: dict[str, msgspec.Raw]) -> str | None:
        """The reports in the questionnaire's order as text; None where the questionnaire never reports so."""
        parts = []
        given = 0
        for name in self._names:
            raw = reports.get(name)
            if raw is None:
                parts.append("null")
                continue
            given += 1
            data = bytes(raw)
            known = self._known[name].get(data)
            if known is None:
                known = self._looked_up(name, data)
                if known is None:
                    return None
            parts.append(known)
        if given < len(reports):  # a name that is no question's
            return None
        return f"[{','.join(parts)}]" if self._together(parts) else None

    def _looked_up(self, name: str, data: bytes) -> str | None:
        """A report as it is stored; None if the mechanism never makes it."""
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        labels = self._asked.questions[name].output_labels
        value = tuple(value) if isinstance(value, list) else value
        if not isinstance(value, (str, int, tuple)):  # bool is an int, and labels tell them apart
            return None
        try:
            code = labels.find(value)
        except (ExtremalError, TypeError):
            return None
        if code is None:
            return None
        text = written(labels[code])
        if len(self._known[name]) < REMEMBERED:
            self._known[name][data] = text
        return text

    def _together(self, parts: list[str]) -> bool:
        """Whether these questions are asked together, and the record is one that there is. Where every combination of
        reports to questions that are asked together may occur, it is decided once for each pattern."""
        if self._asked.joint is not None and self._asked.joint.branches:
            return self._is_record(parts)
        pattern = tuple(part == "null" for part in parts)
        if pattern not in self._patterns:
            decided = self._is_record(parts)
            if not decided and len(self._patterns) >= REMEMBERED:
                return False
            self._patterns[pattern] = decided
        return self._patterns[pattern]

    def _is_record(self, parts: list[str]) -> bool:
        record = dict(zip(self._names, map(read_report, parts), strict=True))
        try:
            self._asked.check_record(record)
        except ExtremalError:
            return False
        return True


def written(report: Any) -> str:
    """A report as JSON, in the one way in which it is stored."""
    return json.dumps(report, ensure_ascii=False, separators=(",", ":"))


def read_report(text: str) -> Any:
    """What `written` wrote."""
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


def read_content(text: str) -> list[Any]:
    """The reports of one person, in the questionnaire's order; None where a question was not asked."""
    return [tuple(value) if isinstance(value, list) else value for value in json.loads(text)]
