"""Up to which ε one bit, and from which ε randomised response, is the best that can be reported.

For f-divergences the criteria and their proofs are in `theory.crossings`.

*Information.* `optimize/information/response.py` has the criterion for randomised response and why it holds. One bit
about the most balanced set (KOV Theorem 12) is optimal for small ε if the balanced partition is unique or exactly half;
the theorem omits that condition and is false for the uniform prior on three symbols (erratum E6). The condition is
sufficient, not necessary.
"""

from __future__ import annotations

from dataclasses import dataclass

from extremal.closed_forms.balance import balanced_subset
from extremal.errors import InvalidParameter
from extremal.optimize.design import design
from extremal.optimize.information.response import TIE, response_margin
from extremal.privacy import LDP
from extremal.theory.crossings import (
    Threshold,
    binary_threshold,
    binary_threshold_for_divergence,
    from_on,
    optimal_ranges,
    rr_threshold_for_divergence,
    up_to,
)
from extremal.utility import Divergence, MutualInformation, Utility
from extremal.utility.curve import InformationCurve

INFORMATION_SCANNED = (1e-3, 60.0)
"""The range of ε in which changes are looked for, for information."""

_RESPONSE_POINTS = 400  # for information, where a point costs microseconds
_BINARY_POINTS = 16  # each costs a design
_BINARY_LOSS = 1e-11  # relative loss up to which one bit is called optimal; the optimum is known to about 1e-12


def binary_threshold_for(utility: Utility, time_limit: float = 60.0) -> Threshold:
    """The ε up to which the binary mechanism is optimal for this divergence, or for information.

    For a divergence the binary mechanism is `ex.binary` (where P₀(x) = P₁(x) the better side), for information one bit
    about the most balanced set. 0 if it is not optimal for small ε, infinity if throughout the scanned range. It is
    never below `binary_threshold(p0, p1)`.

    Guarantee: the result is a float with `.ranges`, every range of ε found, and `.is_interval`; a divergence's is
    accurate to about 1e-14, information's to about 1e-10. A range narrower than the step of the scan may be missed.

    Args:
        utility: an f-divergence or `ex.MutualInformation`.
        time_limit: seconds for each ε tried, for information.

    Reference: KOV Theorems 5 and 12, with errata E1, E2, E6.

    >>> import extremal as ex
    >>> threshold = binary_threshold_for(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    >>> round(threshold, 12), threshold.is_interval
    (2.299535829004, True)
    """
    if isinstance(utility, Divergence):
        return binary_threshold_for_divergence(utility)
    prior = _information(utility).prior
    z = float(balanced_subset(prior).probability)

    def margin(epsilon: float) -> float:
        best = design(LDP(epsilon), MutualInformation(prior), tolerance=1e-12, time_limit=time_limit)
        return InformationCurve(epsilon).binary(z) - best.value * (1 - _BINARY_LOSS)

    return up_to(optimal_ranges(margin, INFORMATION_SCANNED, _BINARY_POINTS), INFORMATION_SCANNED, _BINARY_POINTS)


def rr_threshold(utility: Utility) -> Threshold:
    """The ε from which on randomised response is optimal for this divergence, or for information.

    0 if throughout the scanned range, infinity if it is not optimal at its upper end. Symbols that occur under neither
    distribution are left out of the randomised response. Two symbols with the same likelihood ratio make it infinite
    for a divergence (erratum E3), total variation does so from three symbols on.

    Guarantee: the result is a float with `.ranges`, every range of ε found, and `.is_interval`, accurate to about 1e-14
    for a divergence. A range narrower than the step of the scan may be missed.

    Reference: KOV Theorems 8 and 14, with erratum E3.

    >>> import extremal as ex
    >>> round(rr_threshold(ex.ChiSquared([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])), 12)
    1.985935882591
    >>> quartic = ex.FDivergence([0.187, 0.802, 0.011], [0, 0.448, 0.552], lambda x: x**4 - 4 * x + 3)
    >>> rr_threshold(quartic).describe()
    'optimal for ε in [2.22944, 3.87028]; 120 values from 0.001 to 40 were tried'
    """
    if isinstance(utility, Divergence):
        return rr_threshold_for_divergence(utility)
    values = _information(utility).prior.values

    def margin(epsilon: float) -> float:
        return response_margin(values, epsilon) + TIE * InformationCurve(epsilon).limit

    return from_on(optimal_ranges(margin, INFORMATION_SCANNED, _RESPONSE_POINTS), INFORMATION_SCANNED, _RESPONSE_POINTS)


@dataclass(frozen=True)
class Thresholds:
    """Where the two simple mechanisms are optimal for one goal; made by `ex.theory.thresholds`. `str()` says it.

    Attributes:
        goal: the name of the goal.
        universal: the binary mechanism is optimal for every f-divergence up to this ε; None for information.
        binary: the binary mechanism is optimal for the goal up to this ε.
        response: randomised response is optimal for it from this ε on.

    >>> import extremal as ex
    >>> ex.theory.thresholds(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])).goal
    'KL'
    """

    goal: str
    universal: float | None
    binary: Threshold
    response: Threshold

    def __str__(self) -> str:
        lines = [
            f"binary is optimal for {self.goal} up to ε = {self.binary:.10g}",
            f"  {self.binary.describe()}",
            f"randomised response is optimal for {self.goal} from ε = {self.response:.10g}",
            f"  {self.response.describe()}",
        ]
        if self.universal is not None:
            lines.insert(0, f"binary is optimal for every divergence up to ε = {self.universal:.10g}")
        return "\n".join(lines)


def thresholds(utility: Utility) -> Thresholds:
    """Find up to which ε the binary mechanism, and from which ε randomised response, is optimal for a goal.

    Guarantee: that of `binary_threshold`, `binary_threshold_for` and `rr_threshold`, whose values these are.

    Args:
        utility: a divergence of two hypotheses, or mutual information.

    Reference: KOV Theorems 5, 8, 12 and 14, with errata E1 to E6.

    >>> import extremal as ex
    >>> found = thresholds(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    >>> round(found.universal, 4), round(found.binary, 4), round(found.response, 4)
    (0.8873, 2.2995, 2.2995)
    """
    if not isinstance(utility, Utility):
        raise InvalidParameter(
            "thresholds belong to a goal", parameter="utility", value=utility, hint="Give ex.KL(p0, p1), for example."
        )
    universal = binary_threshold(utility.pair.p0, utility.pair.p1) if isinstance(utility, Divergence) else None
    return Thresholds(utility.name, universal, binary_threshold_for(utility), rr_threshold(utility))


def _information(utility: Utility) -> MutualInformation:
    if not isinstance(utility, MutualInformation):
        raise InvalidParameter(
            "a threshold is known for f-divergences and for mutual information",
            parameter="utility",
            value=utility,
            hint="Give ex.KL(p0, p1), another divergence, or ex.MutualInformation(prior).",
        )
    return utility
