"""The kinds of proof, by name. A checker takes (proof, privacy, utility) and returns a bound that is valid whatever
made the proof.

For a utility the bound is above every private mechanism's value, for a cost below. A checker never trusts a number in
the proof: it may only use it as a choice (a dual vector, a partition, a grid). What does not check raises `Refused`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extremal.certificate import (
    chords,
    class_rays,
    distortion,
    dual,
    hamming,
    information_bounds,
    information_prices,
    leakage_class,
    leakage_divergence,
    leakage_information,
    leakage_symmetric,
    leakage_vertices,
    patterns,
    rays,
    theorem,
)
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import Utility

Checker = Callable[[dict[str, Any], Notion, Utility], float]

PROOFS: dict[str, Checker] = {
    "patterns": patterns.check,
    "theorem": theorem.check,
    "dual": dual.check,
    "hamming": hamming.check,
    "distortion": distortion.check,
    "chords": chords.check,
    "rays": rays.check,
    class_rays.KIND: class_rays.check,
    leakage_class.KIND: leakage_class.check,
    leakage_divergence.KIND: leakage_divergence.check,
    leakage_information.KIND: leakage_information.check,
    leakage_symmetric.KIND: leakage_symmetric.check,
    leakage_vertices.KIND: leakage_vertices.check,
    leakage_vertices.SIMPLEX: leakage_vertices.check_simplex,
    "fluid": information_bounds.fluid,
    "affine": information_bounds.affine,
    "convex": information_bounds.convex,
    "response": information_bounds.response,
    "prices": information_prices.check,
}

__all__ = ["PROOFS", "Checker", "Refused"]
