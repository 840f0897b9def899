"""What every design must satisfy, whichever method made it, and every way to spoil its certificate that a checker must
notice.

`check` is the one helper: primal feasible (private, in integers), dual feasible (each proof reproduces what it
claims), value, order and gap. `spoiled` damages one thing at a time: what is claimed, the problem, the mechanism, and
each field of each proof, nested ones included. Two laws hold for a damaged field. What is not whole (missing, too
short, not a number) is refused as it stands. And whatever a field says, no proof reaches a bound that the mechanism
itself contradicts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from extremal.certificate import Certificate, Proof, verify
ChosenPrior: Any = None
Unreadable: Any = None
from extremal.errors import ExtremalError
from extremal.mechanism import Mechanism
from extremal.optimize import Design

TIGHTENED = 1e-6
"""How much better than proved a spoiled certificate claims to be, relatively."""

ROUNDING = 1e-14
"""A value below is nothing but rounding (a hockey stick next to its kink): its relative gap means nothing."""

CHANGED = "changed at first"

NOT_ALWAYS_READ = ("inside", "target", "flows", "shares")
"""Fields of a proof that only some problems need, or that may be shorter than they are."""


def faults(design: Design, tolerance: float = 1e-9, value: float | None = None) -> list[str]:
    """Everything that is wrong with a design; empty when nothing is.

    Args:
        design: any.
        tolerance: the largest relative gap allowed.
        value: what the optimum is known to be, compared within `tolerance`.
    """
    found = []
    claim = design.mechanism.privacy
    if claim is None or not claim.holds(design.mechanism):
        found.append(f"{claim!r} does not hold")
    if relative_difference(design.value, design.utility(design.mechanism)) > 1e-12:
        found.append(f"the value is {design.utility(design.mechanism)!r}, not {design.value!r}")
    outcome = verify(design)
    if not outcome:
        found.append(f"not verified: {outcome.reasons}")
    if not design.lower_bound <= design.upper_bound:
        found.append(f"the bounds cross: {design.lower_bound!r} > {design.upper_bound!r}")
    if (design.upper_bound if design.utility.is_cost else design.lower_bound) != design.value:
        found.append(f"neither bound is the value {design.value!r}")
    if not design.gap <= tolerance and not design.upper_bound < ROUNDING:
        found.append(f"the gap is {design.gap!r}")
    if value is not None and relative_difference(design.value, value) > tolerance:
        found.append(f"the optimum is {value!r}, not {design.value!r}")
    return found


def check(design: Design, tolerance: float = 1e-9, value: float | None = None) -> Design:
    """The design, when nothing is wrong with it.

    Raises:
        AssertionError: something is.
    """
    found = faults(design, tolerance, value)
    if found:
        raise AssertionError("; ".join(found))
    return design


def check_refusals(
    design: Design, other_utility: Any = None, other: Mechanism | None = None, unique_dual: bool = True
) -> None:
    """Every way to spoil the certificate is noticed; the arguments are those of `spoiled`.

    Raises:
        AssertionError: one is not.
    """
    passed = [what for what, certificate in spoiled(design, other_utility, other, unique_dual) if accepted(certificate)]
    if passed:
        raise AssertionError(f"accepted: {passed}")


def accepted(certificate: Certificate) -> bool:
    """Whether `verify` accepts a certificate; an error counts as refusal."""
    try:
        return bool(verify(certificate))
    except ExtremalError:
        return False


def with_proof(design: Design, **changes: Any) -> Certificate:
    """The certificate with fields of its only proof replaced."""
    (proof,) = design.certificate.proofs
    return replace(design.certificate, proofs=(replace(proof, **changes),))


def spoiled(
    design: Design, other_utility: Any = None, other: Mechanism | None = None, unique_dual: bool = True
) -> Iterator[tuple[str, Certificate]]:
    """The design's certificate with one thing changed: each must be refused.

    Args:
        design: one that is verified.
        other_utility: of which the certificate proves nothing.
        other: a mechanism of another value, or without the claim.
        unique_dual: whether another prior or dual vector must prove less; where several prove the optimum, it need not.
    """
    good = design.certificate
    yield from _other_claims(design)
    if other_utility is not None:
        yield "another problem", replace(good, utility=other_utility)
    if other is not None:
        yield "another mechanism", replace(good, mechanism=other)
    moved = _moved(design.mechanism)
    if moved is not None:
        yield "weight moved", replace(good, mechanism=moved)
    for i, proof in enumerate(good.proofs):
        for what, damaged, whole in _damaged(proof, -1 if design.utility.is_cost else 1):
            proofs = (*good.proofs[:i], damaged, *good.proofs[i + 1 :])
            if not whole and (unique_dual or not what.endswith(CHANGED)):
                yield f"{proof.kind}: {what}", replace(good, proofs=proofs)
            yield f"{proof.kind}: {what}, and more claimed", _claiming_more(replace(good, proofs=proofs), design, i)


def _other_claims(design: Design) -> Iterator[tuple[str, Certificate]]:
    good = design.certificate
    better = _better(design)
    yield "bound tightened", replace(good, bound=better)
    claims = tuple(replace(proof, claimed=better) for proof in good.proofs)
    yield "bound and claims tightened", replace(good, bound=better, proofs=claims)
    yield "no bound", replace(good, bound=math.nan)
    yield "another value", replace(good, value=good.value * (1 + 1e-9) + 1e-250)
    yield "no proof", replace(good, proofs=())
    yield "an unknown proof", replace(good, proofs=(Unreadable("{}", "unknown", claimed=good.bound),))
    yield "a proof that claims nothing", replace(good, proofs=tuple(replace(p, claimed=None) for p in good.proofs))


def _better(design: Design) -> float:
    """A bound that the mechanism itself contradicts."""
    sign = 1 if design.utility.is_cost else -1
    return design.value + sign * TIGHTENED * max(abs(design.certificate.bound), 1e-3)


def _claiming_more(certificate: Certificate, design: Design, i: int) -> Certificate:
    """The certificate with its i-th proof alone, claiming what cannot be."""
    claim = replace(certificate.proofs[i], claimed=_better(design))
    return replace(certificate, proofs=(claim,), bound=_better(design))


def _damaged(proof: Proof, sign: int) -> Iterator[tuple[str, Proof, bool]]:
    """(what, the proof with one field damaged, whether it is still whole) for each field."""
    for field in fields(proof):
        value = getattr(proof, field.name)
        if field.name == "claimed" or value is None:
            continue
        if isinstance(value, Proof):
            for what, inner, whole in _damaged(value, sign):
                yield f"{field.name}.{what}", _with(proof, field.name, inner), whole
            continue
        for what, damaged, whole in _damaged_value(field.name, value, sign):
            optional = field.name in NOT_ALWAYS_READ
            yield f"{field.name} {what}", _with(proof, field.name, damaged), whole or optional
        if field.default is not dataclasses.MISSING:
            yield f"{field.name} missing", _with(proof, field.name, None), field.name in NOT_ALWAYS_READ


def _with(proof: Proof, name: str, value: Any) -> Proof:
    changes: dict[str, Any] = {name: value}
    return replace(proof, **changes)


def _damaged_value(name: str, value: Any, sign: int) -> Iterator[tuple[str, Any, bool]]:
    match value:
        case ChosenPrior():
            yield "of nothing", ChosenPrior(), False
            yield "of one entry", ChosenPrior(prior=("1",)), False
        case bool():
            yield "untrue", False, False
        case str():
            yield "not a number", "nan", False
            yield "no text of a number", "much", False
            yield "doubled", repr(2 * _number(value)), True
            yield "of the other sign", repr(-_number(value) - 1), True
        case (str(), *_):
            yield "empty", (), False
            yield "too short", value[:-1], False
            yield "not a number", ("nan", *value[1:]), False
            yield "no text of a number", ("much", *value[1:]), False
            yield "doubled", tuple(repr(2 * _number(entry)) for entry in value), True
            if len(value) > 1:
                must_matter = name in ("alpha", "prices", "mix", "prior")
                yield CHANGED, (_changed(name, value[0], sign), *value[1:]), not must_matter
        case (int(), *_):
            yield "empty", (), False
            yield "too short", value[:-1], False
            yield "backwards", value[::-1], False
        case (tuple(), *_):
            yield "no lists", ("much",), False
            yield "too short", value[:-1], True
            yield "doubled", tuple((*entry[:-1], repr(2 * _number(entry[-1]))) for entry in value), True
            yield "negative", tuple((*entry[:-1], repr(-1.0)) for entry in value), True


def _changed(name: str, entry: str, sign: int) -> str:
    """Another number: a share that was all or nothing, or a price that makes the bound worse."""
    if name in ("mix", "prior"):
        return "0" if _number(entry) else "1"
    return repr(_number(entry) + 0.01 * sign)


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
