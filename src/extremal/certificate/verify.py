"""`verify`: every claim of a mechanism, a design or a file, decided."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extremal.certificate.certificate import UNVERIFIED, Certificate, is_certificate, load_certificate
from extremal.certificate.refused import Refused
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.mechanism.files import from_json, parse
from extremal.privacy import Notion

VALUE_TOLERANCE = 1e-11  # relative: utilities are computed in floats to about 1e-13


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`; true when everything that is claimed holds, and something is claimed.

    Attributes:
        privacy: whether the privacy claim holds; None when there is none.
        optimality: whether the optimality claim holds; None when there is none, or it cannot be verified.
        reasons: one sentence for each thing found, good or bad.
        unproven: True when nothing is false, but an optimality that is claimed cannot be verified.
    """

    privacy: bool | None
    optimality: bool | None
    reasons: tuple[str, ...]
    unproven: bool = False

    def __bool__(self) -> bool:
        return self.privacy is True and self.optimality is not False and not self.unproven


def verify(subject: Any) -> Verification:
    """Decide the claims of a mechanism, a design, or a file of either.

    Privacy is decided in integer arithmetic. Optimality: the value is computed again from the weights, and the bound is
    derived again from each proof with outward rounding and without a solver; it must not exceed the bound that is
    claimed.

    Args:
        subject: a Mechanism, a Design, a Certificate, or the path of a mechanism or certificate file.

    Raises:
        MalformedFile: the file is not whole.

    >>> import extremal as ex
    >>> result = verify(ex.randomized_response(3, 1))
    >>> bool(result), result.reasons
    (True, ('LDP(epsilon=1.0) holds: the level is 1.0',))
    """
    if isinstance(subject, (str, Path)):
        content = parse(Path(subject))
        if is_certificate(content):
            certificate, claim = load_certificate(content, str(subject))
            return _verified(certificate.mechanism, claim, certificate)
        mechanism, claim = from_json(content, str(subject))
        return _verified(mechanism, claim, None)
    attached = subject if isinstance(subject, Certificate) else getattr(subject, "certificate", None)
    if isinstance(attached, Certificate):
        return _verified(attached.mechanism, attached.mechanism.privacy, attached)
    if isinstance(subject, Mechanism):
        return _verified(subject, subject.privacy, None)
    raise InvalidParameter(
        "verify takes a mechanism, a design, a certificate or a path", parameter="subject", value=type(subject).__name__
    )


def _verified(mechanism: Mechanism, claim: Notion | None, certificate: Certificate | None) -> Verification:
    if claim is None:
        return Verification(None, None, ("no privacy is claimed, so there is nothing to verify",))
    level = claim.level(mechanism)
    private = claim.holds(mechanism)
    reasons = [f"{claim!r} holds: the level is {level!r}" if private else f"{claim!r} is false: the level is {level!r}"]
    if certificate is None:
        return Verification(private, None, tuple(reasons))
    optimal, why = _optimality(certificate, claim)
    return Verification(private, optimal, (*reasons, *why), unproven=private and optimal is None)


def _optimality(certificate: Certificate, claim: Notion) -> tuple[bool | None, list[str]]:
    utility = certificate.utility
    if utility is None:
        return None, ["optimality: unverified (the certificate does not say what was optimised)"]
    if not utility.verifiable:
        return None, [f"optimality: {UNVERIFIED}"]
    value = utility(certificate.mechanism)
    if not math.isclose(value, certificate.value, rel_tol=VALUE_TOLERANCE, abs_tol=1e-300):
        return False, [f"the value is {value!r}, not {certificate.value!r} as claimed"]
    if not certificate.proofs:
        return False, ["optimality is claimed without a proof"]
    sign, side = (-1, "below") if utility.is_cost else (1, "above")
    reasons, proved = [f"{utility.name} is {value!r}"], []
    for proof in certificate.proofs:
        kind = proof.kind
        try:
            bound = proof.bound(claim, utility)
        except Refused as error:
            return False, [*reasons, f"the proof by {kind} does not hold: {error}"]
        claimed = math.nan if proof.claimed is None else proof.claimed
        if not sign * bound <= sign * claimed:
            return False, [*reasons, f"the proof by {kind} gives {bound!r}, not the claimed {claimed!r}"]
        reasons.append(f"no private mechanism is {side} {claimed!r}: proved by {kind}")
        proved.append(sign * claimed)
    if not min(proved) <= sign * certificate.bound:
        return False, [*reasons, f"no proof reaches the claimed bound {certificate.bound!r}"]
    return True, reasons
