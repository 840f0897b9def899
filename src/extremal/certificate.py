"""Proof of what a mechanism claims, from its integers alone.

`verify` takes a mechanism or a file and decides the privacy claim in integer arithmetic. It imports no solver and nothing of
`optimize/`: what is checked here was made elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Claim
from extremal.mechanism import Mechanism
from extremal.mechanism.files import read


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`; true when everything that is claimed holds, and something is claimed.

    Attributes:
        privacy: whether the privacy claim holds; None when there is none.
        optimality: whether the optimality claim holds; None when there is none.
        reasons: one sentence for each thing found, good or bad.
    """

    privacy: bool | None
    optimality: bool | None
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.privacy is True and self.optimality is not False


def verify(subject: Mechanism | str | Path) -> Verification:
    """Decide the claim of a mechanism, or of a mechanism file, in integer arithmetic.

    Args:
        subject: a Mechanism, or the path of a file written by `Mechanism.save`.

    Raises:
        MalformedFile: the file is not whole.

    >>> import extremal as ex
    >>> result = verify(ex.randomized_response(3, 1))
    >>> bool(result), result.reasons
    (True, ('LDP(epsilon=1.0) holds: the level is 1.0',))
    """
    if isinstance(subject, (str, Path)):
        mechanism, claim = read(subject)
        return _verified(mechanism, claim)
    if isinstance(subject, Mechanism):
        return _verified(subject, subject.privacy)
    raise InvalidParameter("verify takes a mechanism or a path", parameter="subject", value=_kind(subject))


def _verified(mechanism: Mechanism, claim: Claim | None) -> Verification:
    if claim is None:
        return Verification(None, None, ("no privacy is claimed, so there is nothing to verify",))
    level = claim.level(mechanism)
    if claim.holds(mechanism):
        return Verification(True, None, (f"{claim!r} holds: the level is {level!r}",))
    return Verification(False, None, (f"{claim!r} is false: the level is {level!r}",))


def _kind(subject: Any) -> str:
    return type(subject).__name__
