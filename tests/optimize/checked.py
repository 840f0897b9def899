"""One helper for every solved problem: what must hold of a design, whoever solved it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import extremal as ex
from extremal.certificate import Certificate


def check_design(found: ex.Design, tolerance: float = 1e-9) -> None:
    """Primal feasible (private in integers), dual feasible (each proof reproduces its bound), and a small gap."""
    assert found.mechanism.privacy is not None
    assert found.mechanism.privacy.holds(found.mechanism)
    assert found.value == found.utility(found.mechanism)
    assert found.lower_bound <= found.upper_bound
    assert (found.upper_bound if found.utility.is_cost else found.lower_bound) == found.value
    # A value that is nothing but rounding (a hockey stick next to its kink) has no meaningful relative gap.
    assert found.gap <= tolerance or found.upper_bound < 1e-14, f"gap {found.gap}"
    outcome = ex.verify(found)
    assert outcome, outcome.reasons


def corrupted(certificate: Certificate, **changes: Any) -> Certificate:
    return dataclasses.replace(certificate, **changes)


def check_refusals(found: ex.Design, other: ex.Mechanism, other_utility: Any) -> None:
    """The verifier refuses: a bound tightened by 1e-6, another mechanism, another utility, a missing or unknown proof,
    a broken claim."""
    good = found.certificate
    sign = -1 if found.utility.is_cost else 1
    tighter = good.bound - sign * 1e-6 * abs(good.bound)
    assert not ex.verify(corrupted(good, bound=tighter))
    tight = tuple({**p, "bound": repr(float(p["bound"]) - sign * 1e-6 * abs(good.bound))} for p in good.proofs)
    assert not ex.verify(corrupted(good, bound=tighter, proofs=tight))
    assert not ex.verify(corrupted(good, mechanism=other))
    assert not ex.verify(corrupted(good, utility=other_utility))
    assert not ex.verify(corrupted(good, proofs=()))
    assert not ex.verify(corrupted(good, proofs=({"kind": "trust me", "bound": repr(good.bound)},)))
    assert not ex.verify(corrupted(good, value=good.value * (1 + 1e-9)))
    assert not ex.verify(corrupted(good, bound=math.nan))
