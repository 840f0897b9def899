"""A bound for a class of priors from one of them.

What is private for every prior of a class is private for each, so the optimum for one prior bounds the optimum for the
class. The proof names one of the priors that describe the class and holds the proof for that prior.
"""

from __future__ import annotations

from typing import Any

from extremal.certificate import leakage_divergence, leakage_information, leakage_symmetric, leakage_vertices
from extremal.certificate.refused import Refused
from extremal.privacy import PML, Notion
from extremal.utility import Utility

KIND = "one prior of the class"

_INNER = {
    leakage_divergence.KIND: leakage_divergence.check,
    leakage_information.KIND: leakage_information.check,
    leakage_symmetric.KIND: leakage_symmetric.check,
    leakage_vertices.KIND: leakage_vertices.check,
    leakage_vertices.SIMPLEX: leakage_vertices.check_simplex,
}


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The bound for the named prior."""
    if not isinstance(privacy, PML):
        raise Refused("a class of priors belongs to PML", parameter="privacy", value=privacy)
    inner = proof["proof"]
    if inner["kind"] not in _INNER:
        raise Refused("the inner proof must be of a known kind", parameter="kind", value=inner["kind"])
    return _INNER[inner["kind"]](inner, privacy.under(privacy.source.member()), utility)
