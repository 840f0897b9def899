"""What every design must satisfy, whichever method made it.

`check` is the one helper: private in integers, the value as the kernel encloses it and as floats compute it, the proofs
reach the bound, order and gap.

>>> from extremal import LDP, KL, design
>>> check(design(LDP(1), KL([0.5, 0.5], [0.2, 0.8]))).gap <= 1e-9
True
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from extremal.certificate import verify
from extremal.optimize import Design

ROUNDING = 1e-14
"""A value below is nothing but rounding (a hockey stick next to its kink): its relative gap means nothing."""

IN_FLOATS = 1e-9
"""How far the utility in floats may be from its enclosure, relatively."""


def faults(design: Design, tolerance: float = 1e-9, value: float | None = None) -> list[str]:
    """Everything that is wrong with a design; empty when nothing is.

    Args:
        design: any.
        tolerance: the largest relative gap allowed.
        value: what the optimum is known to be, compared within `tolerance`.
    """
    return [
        *_of_privacy(design),
        *_of_value(design, tolerance, value),
        *_of_proofs(design),
        *_of_bounds(design, tolerance),
    ]


def _of_privacy(design: Design) -> Iterator[str]:
    claim = design.mechanism.privacy
    if claim is None or not claim.holds(design.mechanism):
        yield f"{claim!r} does not hold"


def _of_value(design: Design, tolerance: float, value: float | None) -> Iterator[str]:
    in_floats = design.utility(design.mechanism)
    if relative_difference(design.value, in_floats) > IN_FLOATS and abs(design.value - in_floats) > ROUNDING:
        yield f"the value is {in_floats!r}, not {design.value!r}"
    if value is not None and relative_difference(design.value, value) > tolerance:
        yield f"the optimum is {value!r}, not {design.value!r}"


def _of_proofs(design: Design) -> Iterator[str]:
    outcome = verify(design)
    if not outcome and not (outcome.exit_code == 3 and not design.utility.verifiable):
        yield f"not verified: {outcome.reasons}"


def _of_bounds(design: Design, tolerance: float) -> Iterator[str]:
    if not design.lower_bound <= design.upper_bound:
        yield f"the bounds cross: {design.lower_bound!r} > {design.upper_bound!r}"
    if (design.upper_bound if design.utility.is_cost else design.lower_bound) != design.value:
        yield f"neither bound is the value {design.value!r}"
    if not design.gap <= tolerance and not design.upper_bound < ROUNDING:
        yield f"the gap is {design.gap!r}"


def check(design: Design, tolerance: float = 1e-9, value: float | None = None) -> Design:
    """The design, when nothing is wrong with it.

    Raises:
        AssertionError: something is.
    """
    found = faults(design, tolerance, value)
    if found:
        raise AssertionError("; ".join(found))
    return design


def relative_difference(a: float, b: float) -> float:
    """|a − b| relative to the larger, 0 when both are 0."""
    return abs(a - b) / max(abs(a), abs(b), math.ulp(0.0)) if a != b else 0.0
