"""The kernel and the checker that stands alone, on one proof: both derive the same bound, or both refuse it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.certificate import NotKnown, Refused, proof_from_json
from extremal.checker import goals, notions, numbers, proofs
from extremal.errors import MalformedFile

Content = dict[str, Any]
"""A proof as a file holds it."""

CLOSE = Fraction(1, 10**9)
"""Relative: how far apart two bounds may be; each checker rounds e^ε and logarithms to the safe side."""

NOTHING = Fraction(1, 10**40)
"""Relative to the largest number of the proof: below is rounding, as of a bound on what is worth 0."""

REFUSED, MALFORMED, UNDECIDED = "refused", "malformed", "undecided"
Said = Fraction | float | str


def kernel_says(proof: Content, privacy: Any, utility: Any) -> Said:
    """The kernel's bound, or that it refuses."""
    try:
        return proof_from_json(proof).bound(privacy, utility)
    except MalformedFile:
        return MALFORMED
    except (Refused, NotKnown):
        return REFUSED


def checker_says(proof: Content, privacy: Any, utility: Any) -> Said:
    """The checker's."""
    numbers.Work.spent = 0
    try:
        parts = proofs.read_proof(proof), notions.read_notion(privacy.to_json()), goals.read_goal(utility.to_json())
        return proofs.bound(*parts)
    except numbers.Malformed:
        return MALFORMED
    except numbers.Undecided:
        return UNDECIDED
    except (numbers.Rejected, numbers.Uncheckable):
        return REFUSED


def disagreement(proof: Content, privacy: Any, utility: Any) -> str:
    """What the two say differently; empty when they agree.

    The kernel may refuse a matrix whose definiteness has little room; the checker leaves large matrices undecided.
    """
    ours, theirs = kernel_says(proof, privacy, utility), checker_says(proof, privacy, utility)
    if ours == theirs or theirs == UNDECIDED or (ours == REFUSED and "matrix" in str(proof)):
        return ""
    if isinstance(ours, str) or isinstance(theirs, str):
        return f"the kernel says {_shown(ours)}, the checker {_shown(theirs)}"
    if math.isinf(ours) or math.isinf(theirs):
        return f"{_shown(ours)} against {_shown(theirs)}"
    apart, room = abs(Fraction(ours) - Fraction(theirs)), CLOSE * abs(Fraction(ours)) + NOTHING * _largest(proof)
    return "" if apart <= room else f"{_shown(ours)} against {_shown(theirs)}"


def _largest(content: Any) -> Fraction:
    """The largest number in a proof, at least 1."""
    if isinstance(content, dict | list):
        inner = content.values() if isinstance(content, dict) else content
        return max(map(_largest, inner), default=Fraction(1))
    try:
        return max(Fraction(1), abs(Fraction(content)))
    except (TypeError, ValueError):
        return Fraction(1)


def _shown(said: Said) -> str:
    return said if isinstance(said, str) else repr(float(said))


def in_decimals(value: Any) -> Any:
    """What a proof writes, with the doubles next to its fractions: files hold decimals only."""
    if isinstance(value, dict):
        return {name: v if name == "kind" else in_decimals(v) for name, v in value.items()}
    if isinstance(value, list):
        return [in_decimals(v) for v in value]
    return repr(float(Fraction(value))) if isinstance(value, str) and "/" in value else value
