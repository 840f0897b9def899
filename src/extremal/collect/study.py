"""What a study is: its questionnaire and how it is run, and the store that holds both and the reports.

A study is a folder with one SQLite file, `study.sqlite`. `--store postgresql://…` puts the same tables into a schema of
that database, named after the study's random id, so that several processes on several machines collect together; the
folder then says which study it is, and the database holds the reports.

The settings never change after `new_study`, except that a study can be closed. The analyst's token and the invitation
codes are stored as SHA-256: both have at least 100 random bits, so that a hash cannot be inverted by trying.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremal.errors import FileConflict, InvalidParameter, MalformedFile
from extremal.exact import as_count
from extremal.mechanism.files import LARGEST_FILE, parsed
from extremal.paths import refuse_unusable
from extremal.privacy import LDP
from extremal.questionnaire import Questionnaire
from extremal.questionnaire.files import questionnaire_from_json

if TYPE_CHECKING:
    from extremal.collect.store import Store

FILE = "study.sqlite"
FORMAT, VERSION = "extremal-study", "1.0"
TOKEN_BYTES = 24  # 192 bits of the analyst's token
CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is mistaken for another
CODE_LENGTH = 21  # of 31 letters each: 104 bits, and three groups of seven on paper
MOST_INVITATIONS = 10_000_000  # a gigabyte of hashes
LONGEST_TEXT = 1 << 16  # characters of a title or a consent
OF_THE_STUDY = "the questionnaire of the study"
EPOCH = datetime.date(1970, 1, 1)
CHANGEABLE = ("closed", "elsewhere")  # settings that are not the study's own: when it ended, where its reports are


@dataclass(frozen=True, eq=False)
class Study:
    """The settings of a study.

    Attributes:
        key: 16 random bytes in hexadecimal, its name in a database.
        title: what respondents read on top.
        consent: a text that they read before they answer, in plain paragraphs.
        questionnaire_text: the questionnaire's file.
        until: the last day on which reports are taken, or None.
        invited: whether a report needs an invitation code.
        precision: the half-width that is aimed at, for the forecast.
        token_hash: SHA-256 of the analyst's token, hexadecimal.
    """

    key: str
    title: str
    consent: str
    questionnaire_text: str
    until: datetime.date | None
    invited: bool
    precision: float
    token_hash: str

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """The questionnaire, its claims decided again."""
        content = parsed(self.questionnaire_text.encode("utf-8"), OF_THE_STUDY, LARGEST_FILE)
        return questionnaire_from_json(content, OF_THE_STUDY)

    def is_analyst(self, token: str) -> bool:
        """Whether this is the analyst's token."""
        return hmac.compare_digest(_hashed(token).hex(), self.token_hash)

    def over(self, today: datetime.date) -> bool:
        """Whether its last day is past."""
        return self.until is not None and today > self.until

    def to_settings(self) -> dict[str, str]:
        """As texts by name, with a hash over all of them."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "key": self.key,
            "title": self.title,
            "consent": self.consent,
            "questionnaire": self.questionnaire_text,
            "until": "" if self.until is None else self.until.isoformat(),
            "invited": "yes" if self.invited else "no",
            "precision": repr(self.precision),
            "token": self.token_hash,
        }
        return {**content, "hash": _digest(content)}

    @classmethod
    def from_settings(cls, stored: dict[str, str]) -> Study:
        """What `to_settings` wrote.

        Raises:
            MalformedFile: it was changed, or is of another version.
        """
        content = {name: text for name, text in stored.items() if name not in ("hash", *CHANGEABLE)}
        if content.get("format") != FORMAT or content.get("version") != VERSION:
            raise MalformedFile(
                f"a study must be of version {VERSION}", parameter="version", value=content.get("version")
            )
        if stored.get("hash") != _digest(content):
            raise MalformedFile("the settings of a study must match their hash: they were changed", parameter="hash")
        until = content["until"]
        return cls(
            content["key"],
            content["title"],
            content["consent"],
            content["questionnaire"],
            datetime.date.fromisoformat(until) if until else None,
            content["invited"] == "yes",
            float(content["precision"]),
            content["token"],
        )


@dataclass(frozen=True, eq=False)
class NewStudy:
    """A study that was made, with what is said once and stored nowhere: the analyst's token and the codes."""

    study: Study
    token: str
    codes: tuple[str, ...]


def new_study(
    folder: str | Path,
    questionnaire: Questionnaire,
    *,
    title: str = "",
    consent: str = "",
    until: datetime.date | None = None,
    invitations: int = 0,
    precision: float = 0.05,
) -> NewStudy:
    """Make a study's folder and its store.

    Raises:
        InvalidParameter: a questionnaire that a device cannot decide; a text that is too long.
        FileConflict: the folder holds a study already.
    """
    from extremal.collect.store import Store

    _refuse_undecidable(questionnaire)
    for name, text in (("title", title), ("consent", consent)):
        if len(text) > LONGEST_TEXT or "\0" in text:
            raise InvalidParameter(f"{name} must be a text of at most {LONGEST_TEXT:,} characters", parameter=name)
    if not 0 < precision < 1:
        raise InvalidParameter("precision must lie between 0 and 1", parameter="precision", value=precision)
    count = as_count(invitations, "invitations", 0)
    if count > MOST_INVITATIONS:
        raise InvalidParameter(
            f"at most {MOST_INVITATIONS:,} invitations are made", parameter="invitations", value=count
        )
    if until is not None and until < today():
        raise InvalidParameter("the last day must not be past", parameter="until", value=until.isoformat())
    token = secrets.token_urlsafe(TOKEN_BYTES)
    study = Study(
        secrets.token_hex(16),
        title or questionnaire.title or "A private survey",
        consent,
        _file_text(questionnaire),
        until,
        bool(count),
        precision,
        _hashed(token).hex(),
    )
    codes = tuple(_code() for _ in range(count))
    place = Path(folder)
    refuse_unusable(place)
    if (place / FILE).exists():
        raise FileConflict(
            "the folder must not hold a study yet",
            parameter="folder",
            value=str(folder),
            hint="Choose another folder: reports of two questionnaires are not mixed.",
        )
    place.mkdir(parents=True, exist_ok=True)
    with Store.made(place / FILE, study.to_settings(), map(hashed_code, codes)):
        pass
    return NewStudy(study, token, codes)


def open_study(folder: str | Path, url: str | None = None) -> tuple[Study, Store]:
    """The settings and the store of a study; with a URL that database, which gets the study's tables the first time.

    Raises:
        FileNotFoundError: there is no study in the folder.
        MalformedFile: the store is damaged.
        InvalidParameter: the reports are in a database, and no URL is given.
    """
    from extremal.collect.store import Store

    path = Path(folder) / FILE
    if not path.is_file():
        raise FileNotFoundError(2, "No study in this folder; extremal collect new makes one", str(folder))
    store = Store.opened(path)
    settings = store.settings()
    study = Study.from_settings(settings)
    if url is None and settings["elsewhere"]:
        raise InvalidParameter(
            "the reports of this study are in a database; say in which",
            parameter="store",
            value=None,
            hint="--store postgresql://…, as given to serve.",
        )
    if url is None:
        return study, store
    with store:
        return study, Store.in_database(url, study.key, store)


def hashed_code(code: str) -> bytes:
    """An invitation as it is stored: without the hyphens and capitals that people type."""
    return _hashed("".join(code.split()).replace("-", "").lower())


def today() -> datetime.date:
    """The day in UTC, the only time that a report gets."""
    return datetime.datetime.now(datetime.UTC).date()


def day_number(day: datetime.date) -> int:
    return (day - EPOCH).days


def day_of(number: int) -> datetime.date:
    return EPOCH + datetime.timedelta(days=number)


def _code() -> str:
    drawn = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    third = CODE_LENGTH // 3
    return "-".join(drawn[start : start + third] for start in range(0, CODE_LENGTH, third))


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _digest(content: dict[str, str]) -> str:
    return _hashed(json.dumps(content, sort_keys=True, ensure_ascii=False)).hex()


def _file_text(questionnaire: Questionnaire) -> str:
    """The questionnaire as its file has it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return questionnaire.save(Path(folder) / "questionnaire.json").read_text(encoding="utf-8")


def _refuse_undecidable(questionnaire: Questionnaire) -> None:
    """The page decides every promise before it asks; it knows LDP without δ."""
    for name, mechanism in questionnaire.questions.items():
        claim: Any = mechanism.privacy
        together = questionnaire.joint is not None and name in questionnaire.joint.names
        if not together and (not isinstance(claim, LDP) or claim.exact_delta):
            raise InvalidParameter(
                "a device decides LDP without δ, and every question must claim it",
                parameter=f"questions[{name!r}].privacy",
                value=claim,
                hint="mechanism.claiming(ex.LDP(epsilon)) decides such a claim.",
            )
