"""The certificate of a design: problem, mechanism, value, bound, and the proofs of the bound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extremal.certificate.proof import Proof, proof_from_json
from extremal.errors import MalformedFile
from extremal.mechanism import Mechanism
from extremal.mechanism.files import content_digest, to_json, write_once
from extremal.mechanism.files import from_json as mechanism_from_json
from extremal.privacy import Notion
from extremal.utility import Utility, utility_from_json

FORMAT = "extremal-certificate"
VERSION = "1.0"
UNVERIFIED = "unverified (user function)"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a design claims, and why.

    Attributes:
        mechanism: the mechanism, with its privacy claim.
        utility: what was optimised; read from a file, a user's function is a name only (`UserUtility`).
        value: the utility of the mechanism.
        bound: no private mechanism is better than this (above for a utility, below for a cost).
        proofs: each with the bound that it claims; the best of those is `bound`. Empty for a user's function.
    """

    mechanism: Mechanism
    utility: Utility | None
    value: float
    bound: float
    proofs: tuple[Proof, ...] = ()

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
    """The certificate in a parsed file, and the privacy claim of its mechanism, undecided."""
    if content.get("format") != FORMAT or not isinstance(content.get("mechanism"), dict):
        raise MalformedFile(f"{source} must be a certificate", parameter="format", value=content.get("format"))
    if str(content.get("version", "")).split(".")[0] != "1":
        raise MalformedFile(
            "this release reads certificates of version 1.x", parameter="version", value=content.get("version")
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
        value, bound = float(content["value"]), float(content["bound"])
        proofs = tuple(proof_from_json(dict(proof)) for proof in content["proofs"])
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedFile(
            f"{source} must have the fields of a certificate", parameter="field", value=str(error)
        ) from error
    return Certificate(mechanism, utility, value, bound, proofs), claim


def is_certificate(content: dict[str, Any]) -> bool:
    return content.get("format") == FORMAT
