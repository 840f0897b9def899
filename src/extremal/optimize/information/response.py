"""When randomised response keeps most information.

Randomised response on the symbols of positive probability is optimal exactly when

    I_RR ≤ φ(p₁) + φ(p₂) − φ(p₁+p₂),   p₁ ≤ p₂ the two smallest probabilities.

*Why.* Take the dual a_x = φ(p_x) − V, V = I_RR, of the staircase program (φ(P(T)) ≤ V + a(T) for every T, Σa = cV). It
is the only one that is tight on all singletons, so randomised response is optimal iff it is feasible: Σ_T φ(p_x) −
φ(P(T)) ≥ (|T|−1)·V. By concavity adding a symbol to T costs φ(z)+φ(y)−φ(z+y), increasing in both arguments, hence never
less than for the two smallest symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.exact import as_prior
from extremal.utility.curve import Floats, InformationCurve

TIE = 1e-13
"""Relative: a margin above −1e-13 is a tie, evaluation is accurate to a few 1e-15."""


def response_margin(prior: Floats, epsilon: float) -> float:
    """φ(p₁) + φ(p₂) − φ(p₁+p₂) − I_RR over the two smallest positive probabilities: randomised response is optimal iff
    it is not negative."""
    curve = InformationCurve(epsilon)
    support = np.sort(prior[prior > 0])
    if support.size < 2:
        return 0.0
    first, second, both = curve.value([support[0], support[1], support[0] + support[1]]).tolist()
    return float(first + second - both - curve.response(support))


def response_is_optimal(prior: Any, epsilon: float) -> bool:
    """Whether randomised response keeps most information among all ε-LDP mechanisms.

    Guarantee: necessary and sufficient: φ(p₁) + φ(p₂) − φ(p₁+p₂) of the two smallest probabilities against the value
    of randomised response, in floats.

    Reference: KOV Theorem 14, with erratum E3; docs/design/information.md has the proof.

    >>> response_is_optimal([0.5, 0.3, 0.2], 2), response_is_optimal([0.5, 0.3, 0.2], 0.5)
    (True, False)
    """
    values = as_prior(prior).values
    return response_margin(values, epsilon) >= -TIE * InformationCurve(epsilon).limit
