"""Every way to spoil a design's certificate that a checker must notice.

`spoiled` changes one thing that is claimed at a time, the problem, the mechanism, or leaves a proof out. `damaged`
changes each field of each proof as a file holds it, nested ones included. Two laws hold for those. What is not whole
(missing, no decimal, of another type) cannot be read. And whatever the fields say, no proof reaches a bound that the
mechanism itself contradicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate import Certificate, NotKnown, Proof, Refused, enclosure, proof_from_json, verify
from extremal.errors import ExtremalError, MalformedFile
from extremal.mechanism import Mechanism
from extremal.optimize import Design
from extremal.privacy import Notion

TIGHTENED = 1e-6
"""How much better than proved a spoiled certificate claims to be, relatively."""

NO_NUMBERS: tuple[Any, ...] = ("nan", "much", "inf", "1/3", "1e999", "", 0.5, None, True, [])
"""What no proof may hold where a number is asked for."""

NO_INDICES: tuple[Any, ...] = ("0", 0.5, None, True, [])
NO_FLAGS: tuple[Any, ...] = (0, 1, "true", None, [])
NO_LISTS: tuple[Any, ...] = ("1", 1, None, {})


def check_refusals(
    design: Design, other_utility: Any = None, other: Mechanism | None = None, unique_dual: bool = True
) -> None:
    """Every way to spoil the certificate is noticed, and no damaged proof undercuts the mechanism; the arguments are
    those of `spoiled`.

    Raises:
        AssertionError: one is not, or does.
    """
    passed = [what for what, certificate in spoiled(design, other_utility, other, unique_dual) if accepted(certificate)]
    for proof in design.certificate.proofs:
        for what, content, whole in damaged(proof.to_json()):
            outcome = _outcome(design, content)
            if outcome is True or (not whole and outcome is not None):
                passed.append(f"{proof.kind}: {what}")
    if passed:
        raise AssertionError(f"accepted: {passed}")


def accepted(certificate: Certificate) -> bool:
    """Whether `verify` accepts a certificate; an error counts as refusal."""
    try:
        return bool(verify(certificate))
    except ExtremalError:
        return False


def undercuts(design: Design, proof: Proof) -> bool:
    """Whether a proof reaches a bound that the mechanism itself contradicts; a refused one does not."""
    low, high = enclosure(design.utility, design.mechanism, design.certificate.worst_prior)
    try:
        bound = proof.bound(design.mechanism.privacy, design.utility)
    except (Refused, NotKnown, ExtremalError):
        return False
    return bool(bound > high if design.utility.is_cost else bound < low)


def _outcome(design: Design, content: Any) -> bool | None:
    """Whether the proof in a file undercuts the design; None when it cannot be read."""
    try:
        proof = proof_from_json(content)
    except MalformedFile:
        return None
    return undercuts(design, proof)


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
        unique_dual: whether another dual vector must prove less; where several prove the optimum, it need not.
    """
    good = design.certificate
    sign = 1 if design.utility.is_cost else -1
    better = design.value + sign * TIGHTENED * max(abs(good.bound), 1e-3)
    yield "bound tightened", replace(good, bound=better)
    yield "no bound", replace(good, bound=math.nan)
    yield "another value", replace(good, value=good.value * (1 + 1e-9) + 1e-250)
    if good.proofs:
        yield "no proof", replace(good, proofs=())
    if other_utility is not None:
        yield "another problem", replace(good, utility=other_utility)
    if other is not None:
        yield "another mechanism", replace(good, mechanism=other)
    moved = _moved(design.mechanism)
    if moved is not None:
        yield "weight moved", replace(good, mechanism=moved)
    for proof in good.proofs:
        changed = _worse(proof, Fraction(max(abs(good.bound), 1e-3)) / 100, -sign) if unique_dual else None
        if changed is not None:
            yield f"{proof.kind}: another dual vector", replace(good, proofs=(changed,))


def _worse(proof: Proof, amount: Fraction, sign: int) -> Proof | None:
    """The proof with another number at the last place of its dual vector: what it proves is then worse."""
    names = {field.name for field in fields(proof)}
    for name in names & {"proof", "dual"}:
        inner = _worse(getattr(proof, name), amount, sign)
        return None if inner is None else _with(proof, name, inner)
    if "alpha" not in names:
        return None
    alpha = proof.alpha  # type: ignore[attr-defined]
    return _with(proof, "alpha", (*alpha[:-1], alpha[-1] + sign * amount))


def _with(proof: Proof, name: str, value: Any) -> Proof:
    changes: dict[str, Any] = {name: value}
    return replace(proof, **changes)


def damaged(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """(what, the proof in a file with one thing changed, whether it is still whole) for each of its fields."""
    yield "a field too many", {**content, "more": []}, False
    yield "of an unknown kind", {**content, "kind": "hearsay"}, False
    for name, value in content.items():
        if name == "kind":
            continue
        yield f"{name} missing", {n: v for n, v in content.items() if n != name}, False
        if isinstance(value, dict):
            for what, inner, whole in damaged(value):
                yield f"{name}.{what}", {**content, name: inner}, whole
            continue
        for what, changed, whole in _damaged_value(value):
            yield f"{name} {what}", {**content, name: changed}, whole


def _damaged_value(value: Any) -> Iterator[tuple[str, Any, bool]]:
    if isinstance(value, dict):
        yield from damaged(value)
    elif isinstance(value, str):
        yield from ((f"is {bad!r}", bad, False) for bad in NO_NUMBERS)
        yield from ((f"is {other}", other, True) for other in _other_numbers(value))
    elif isinstance(value, bool):
        yield from ((f"is {bad!r}", bad, False) for bad in NO_FLAGS)
        yield f"is {not value}", not value, True
    elif isinstance(value, int):
        yield from ((f"is {bad!r}", bad, False) for bad in NO_INDICES)
        yield from ((f"is {other}", other, True) for other in (-1, 0, value + 1, 1 << 40))
    elif isinstance(value, list):
        yield from ((f"is {bad!r}", bad, False) for bad in NO_LISTS)
        yield "empty", [], True
        if value:
            yield "too short", value[:-1], True
            yield "too long", [*value, value[-1]], True
            yield "backwards", value[::-1], True
            for place in sorted({0, len(value) // 2, len(value) - 1}):
                for what, changed, whole in _damaged_value(value[place]):
                    yield f"[{place}] {what}", [*value[:place], changed, *value[place + 1 :]], whole


def _other_numbers(text: str) -> list[str]:
    number = Fraction(text)
    close = float(number) * (1 + 1e-7)
    return [repr(2 * float(number)), repr(-float(number)), repr(close), "0", "1e300", "-1e300", "1e-300"]


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
    return falsely_claiming(made, mechanism.privacy)


def falsely_claiming(mechanism: Mechanism, privacy: Notion | None) -> Mechanism:
    """A mechanism with a claim that nobody decided: what only somebody who writes into the object can make."""
    made: Mechanism = object.__new__(type(mechanism))
    made.__dict__.update(vars(mechanism), privacy=privacy)
    made.__dict__.pop("hash", None)
    return made
