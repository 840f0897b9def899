"""Information under a uniform prior and PML: every extreme lift vector is a rearrangement of one, so all are worth the
same.

OPT = Σ θ·μ(λ) with Σθ = 1, hence OPT = μ(λ) (GSO Theorem 4, Corollary 1). In closed form: with d = ⌊n·e^−ε⌋ inputs
at e^ε and one at r = n − d·e^ε, μ = (d·g(e^ε) + g(r) + (n − d − 1)·g(0))/n, g(t) = t·ln t − t + 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.certificate.leakage_information import Curve
from extremal.certificate.lift import lift_box, one_prior
from extremal.certificate.refused import Refused
from extremal.privacy import Notion
from extremal.utility import MutualInformation, Utility

KIND = "leakage symmetric"


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:  # noqa: ARG001
    """The value of one extreme lift vector, raised by its rounding error."""
    prior = one_prior(privacy)
    if not isinstance(utility, MutualInformation) or utility.prior != prior or len(set(prior.weights)) != 1:
        raise Refused(
            "the symmetric bound is for information under a uniform prior", parameter="utility", value=utility
        )
    box = lift_box(privacy)
    y = box.greedy(np.arange(box.n, 0, -1.0)[None, :])
    value = float(Curve.on(box).values(y)[0])
    return value * (1 + 4 * box.error)
