"""What every design must satisfy, whichever method made it, and ways to spoil its certificate that a checker must
notice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from extremal.certificate import Certificate, verify
from extremal.errors import ExtremalError
from extremal.mechanism import Mechanism
from extremal.optimize import Design

TIGHTENED = 1e-6
"""How much better than proved a spoiled certificate claims to be, relatively."""


def faults(design: Design, tolerance: float = 1e-9) -> list[str]:
    """Everything that is wrong with a design; empty when nothing is."""
    found = []
    claim = design.mechanism.privacy
    if claim is None or not claim.holds(design.mechanism):
        found.append(f"{claim!r} does not hold")
    outcome = verify(design)
    if not outcome:
        found.append(f"not verified: {outcome.reasons}")
    if not design.lower_bound <= design.upper_bound:
        found.append(f"the bounds cross: {design.lower_bound!r} > {design.upper_bound!r}")
    if not design.gap <= tolerance:
        found.append(f"the gap is {design.gap!r}")
    return found


def spoiled(design: Design, other_utility: Any) -> Iterator[tuple[str, Certificate]]:
    """The design's certificate with one thing changed: each must be refused."""
    certificate = design.certificate
    sign = 1 if design.utility.is_cost else -1
    better = certificate.bound + sign * TIGHTENED * max(abs(certificate.bound), 1e-3)
    claims = tuple({**proof, "bound": repr(better)} for proof in certificate.proofs)
    yield "bound tightened", replace(certificate, bound=better, proofs=claims)
    yield "another problem", replace(certificate, utility=other_utility)
    for name in ("alpha", "mix", "prior"):
        for i, proof in enumerate(certificate.proofs):
            if name in proof and len(proof[name]) > 1:
                entries = [*proof[name]]
                entries[0] = (
                    repr(float(_number(entries[0])) - sign * 0.01)
                    if name == "alpha"
                    else "0"
                    if _number(entries[0])
                    else "1"
                )
                yield (
                    f"{name} changed",
                    replace(
                        certificate,
                        proofs=(*certificate.proofs[:i], {**proof, name: entries}, *certificate.proofs[i + 1 :]),
                    ),
                )
    moved = _moved(design.mechanism)
    if moved is not None:
        yield "weight moved", replace(certificate, mechanism=moved)


def accepted(certificate: Certificate) -> bool:
    """Whether `verify` accepts a certificate; an error counts as refusal."""
    try:
        return bool(verify(certificate))
    except ExtremalError:
        return False


def _number(text: str) -> float:
    top, _, bottom = str(text).partition("/")
    return float(top) / float(bottom or 1)


def _moved(mechanism: Mechanism) -> Mechanism | None:
    """A thousandth of the first row's weight moved from its largest entry to its smallest, with the same claim."""
    weights = np.array(mechanism.weights)
    if mechanism.m < 2:
        return None
    amount = mechanism.denominator // 1000
    high, low = int(np.argmax(weights[0])), int(np.argmin(weights[0]))
    weights[0, high] -= amount
    weights[0, low] += amount
    made = Mechanism.from_weights(weights, mechanism.denominator, None, mechanism.inputs, mechanism.outputs)
    return replace(made, privacy=mechanism.privacy)


def relative_difference(a: float, b: float) -> float:
    """|a − b| relative to the larger, 0 when both are 0."""
    return abs(a - b) / max(abs(a), abs(b), math.ulp(0.0)) if a != b else 0.0
