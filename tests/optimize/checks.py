"""What every design must satisfy, whatever found it."""

from __future__ import annotations

import dataclasses
from typing import Any

import extremal as ex
from extremal.certificate import Certificate


def sound(found: ex.Design, tolerance: float = 1e-9) -> ex.Design:
    """Privacy decided exactly, the certificate verified without a solver, the gap small, value and bound in order."""
    claim = found.mechanism.privacy
    assert claim is not None
    assert claim.holds(found.mechanism)
    verification = ex.verify(found)
    assert verification, verification.reasons
    assert found.lower_bound <= found.upper_bound
    assert found.gap <= tolerance
    return found


def changed(found: ex.Design, **fields: Any) -> Certificate:
    """The certificate of a design with some fields replaced."""
    return dataclasses.replace(found.certificate, **fields)


def with_proof(found: ex.Design, **fields: Any) -> Certificate:
    """The certificate with fields of its (only) proof replaced."""
    (proof,) = found.certificate.proofs
    return changed(found, proofs=({**proof, **fields},))
