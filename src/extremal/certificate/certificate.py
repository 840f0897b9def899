"""The certificate of a design: problem, mechanism, value, bound, and the proofs of the bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from extremal.certificate.numbers import number_from
from extremal.certificate.proof import Proof, proof_from_json
from extremal.errors import MalformedFile
from extremal.mechanism import Mechanism
from extremal.mechanism.files import content_digest, to_json, write_once
from extremal.mechanism.files import from_json as mechanism_from_json
from extremal.privacy import Notion
from extremal.utility import Utility, utility_from_json

FORMAT = "extremal-certificate"
VERSION = "2.0"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a design claims, and why.

    Attributes:
        mechanism: the mechanism, with its privacy claim.
        utility: what was optimised; None in a file when it is a user's function.
        value: the utility of the mechanism, correct to the last digit but one.
        bound: no private mechanism is better than this (above for a utility, below for a cost).
        proofs: each proves a bound; the best of them reaches `bound`. Empty for a user's function.
        outdated: names of proofs in a file of the previous version, whose kinds are gone.
    """

    mechanism: Mechanism
    utility: Utility | None
    value: float
    bound: float
    proofs: tuple[Proof, ...] = field(default=())
    outdated: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "mechanism": to_json(self.mechanism),
            "utility": None if self.utility is None else self.utility.to_json(),
            "value": repr(self.value),
            "bound": repr(self.bound),
            "proofs": [proof.to_json() for proof in self.proofs],
        }
        return {**content, "hash": content_digest(content)}

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the certificate as JSON, atomically."""
        return write_once(Path(path), self.to_json(), overwrite)


def load_certificate(content: dict[str, Any], source: str) -> tuple[Certificate, Notion | None]:
    """The certificate in a parsed file, and the privacy claim of its mechanism, undecided.

    Raises:
        MalformedFile: not a certificate of version 1 or 2, changed after it was written, or with a number that is none.
    """
    if content.get("format") != FORMAT or not isinstance(content.get("mechanism"), dict):
        raise MalformedFile(f"{source} must be a certificate", parameter="format", value=content.get("format"))
    major = str(content.get("version", "")).split(".")[0]
    if major not in ("1", "2"):
        raise MalformedFile(
            "this release reads certificates of versions 1 and 2", parameter="version", value=content.get("version")
        )
    if content.get("hash") != content_digest({k: v for k, v in content.items() if k != "hash"}):
        raise MalformedFile(
            "the content must match its hash: the file was changed after it was written",
            parameter="hash",
            value=content.get("hash"),
        )
    mechanism, claim = mechanism_from_json(content["mechanism"], source)
    try:
        utility = None if content["utility"] is None else utility_from_json(content["utility"])
        value, bound, proofs = _float(content["value"]), _float(content["bound"]), content["proofs"]
        if not isinstance(proofs, list) or not all(isinstance(proof, dict) for proof in proofs):
            raise TypeError("proofs must be a list of objects")
        if major == "1":
            outdated = tuple(str(proof.get("kind"))[:60] for proof in proofs)
            return Certificate(mechanism, utility, value, bound, (), outdated), claim
        read = tuple(proof_from_json(proof) for proof in proofs)
    except MalformedFile:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedFile(
            f"{source} must have the fields of a certificate", parameter="field", value=str(error)[:120]
        ) from error
    return Certificate(mechanism, utility, value, bound, read), claim


def _float(text: Any) -> float:
    """A double as it prints; infinities by name."""
    if text in ("inf", "-inf"):
        return inf if text == "inf" else -inf
    return float(number_from(text))


def is_certificate(content: dict[str, Any]) -> bool:
    return content.get("format") == FORMAT
