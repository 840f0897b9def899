"""One file decided twice, from its bytes: by the kernel and by the checker that stands alone.

They agree when every claim gets the same verdict, or is too large for one of them, which is never a pass.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import extremal as ex
from extremal.certificate.proof import TOO_LARGE
from extremal.checker.grammar import hash_of
from extremal.checker.numbers import Malformed, Undecided
from extremal.checker.verdicts import NOT_HERE, checked
from extremal.errors import MalformedFile
from extremal.mechanism.files import to_json

Content = dict[str, Any]
Said = tuple[str, str, str]
"""What is said of privacy, value and optimality."""

MALFORMED: Said = ("malformed", "malformed", "malformed")
UNDECIDED: Said = (NOT_HERE, NOT_HERE, NOT_HERE)
CLAIMS = ("privacy", "value", "optimality")


def with_hash(content: Mapping[str, Any]) -> Content:
    """A file's content with the hash that it has."""
    return {**content, "hash": hash_of(dict(content))}


def claiming(mechanism: ex.Mechanism, claim: Any) -> Content:
    """A mechanism file with any claim, true or false."""
    return with_hash(to_json(mechanism) | {"privacy": None if claim is None else claim.to_json()})


def written(content: Content) -> bytes:
    """The bytes of a file."""
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")


def kernel_says_of(text: bytes) -> Said:
    """The kernel's verdict on a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        path.write_bytes(text)
        try:
            found = ex.verify(path)
        except MalformedFile:
            return MALFORMED
    large = any(TOO_LARGE in reason for reason in found.reasons)
    said = [str(found.privacy), str(found.value), str(found.optimality)]
    first, second, third = (NOT_HERE if large and word == "not proven" else word for word in said)
    return first, second, third


def checker_says_of(text: bytes) -> Said:
    """The checker's."""
    try:
        found = checked(text)
    except Malformed:
        return MALFORMED
    except Undecided:
        return UNDECIDED
    return found.privacy, found.value, found.optimality


def disagreement_on(text: bytes) -> str:
    """What the two say differently of a file; empty when they agree."""
    kernel, checker = kernel_says_of(text), checker_says_of(text)
    apart = [n for n, a, b in zip(CLAIMS, kernel, checker, strict=True) if a != b and NOT_HERE not in (a, b)]
    return f"{', '.join(apart)}: the kernel says {kernel}, the checker {checker}" if apart else ""
