"""The kernel and the second checker on one proof: both derive the same bound, or both refuse it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.certificate import NotKnown, Refused, proof_from_json
from extremal.errors import MalformedFile
from support.second_checker import numbers, problem, proofs

Content = dict[str, Any]
"""A proof as a file holds it."""

CLOSE = Fraction(1, 10**9)
"""Relative: how far apart two bounds may be; each checker rounds e^ε and logarithms to the safe side."""

NOTHING = Fraction(1, 10**40)
"""Below is rounding: bounds on what is worth 0."""

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


def second_says(proof: Content, privacy: Any, utility: Any) -> Said:
    """The second checker's."""
    try:
        return proofs.derived(proof, privacy.to_json(), utility.to_json())
    except numbers.Malformed:
        return MALFORMED
    except numbers.Undecided:
        return UNDECIDED
    except (numbers.Refused, problem.NotKnown):
        return REFUSED


def disagreement(proof: Content, privacy: Any, utility: Any) -> str:
    """What the two say differently; empty when they agree.

    The kernel may refuse a matrix whose definiteness has little room; the second checker leaves large matrices alone.
    """
    ours, theirs = kernel_says(proof, privacy, utility), second_says(proof, privacy, utility)
    if ours == theirs or theirs == UNDECIDED or (ours == REFUSED and "matrix" in str(proof)):
        return ""
    if isinstance(ours, str) or isinstance(theirs, str):
        return f"the kernel says {_shown(ours)}, the second checker {_shown(theirs)}"
    if math.isinf(ours) or math.isinf(theirs):
        return f"{_shown(ours)} against {_shown(theirs)}"
    apart = abs(Fraction(ours) - Fraction(theirs))
    return "" if apart <= CLOSE * abs(Fraction(ours)) + NOTHING else f"{_shown(ours)} against {_shown(theirs)}"


def _shown(said: Said) -> str:
    return said if isinstance(said, str) else repr(float(said))
