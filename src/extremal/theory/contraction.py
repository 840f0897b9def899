"""How much of any divergence a mechanism lets through: strong data processing.

For a mechanism Q and a divergence D, the contraction coefficient is the least η with D(P₀Q‖P₁Q) ≤ η·D(P₀‖P₁) for all
P₀, P₁. Two families decide all that is used here.

*KL, χ² and every f that is operator convex* (also squared Hellinger, Jensen–Shannon, α from −1 to 2) share one
coefficient bound, that of χ², and two inputs attain it (Ordentlich, Polyanskiy 2022):

    η(Q) = max over inputs x, z and λ of  λ(1−λ)·Σ_y (Q(y|x) − Q(y|z))²/(λQ(y|x) + (1−λ)Q(y|z)).

With s = λu + (1−λ)v each term is u + v − s − uv/s, concave in s and hence in λ: the maximum is where the derivative
vanishes, and the tangent at any λ bounds it from above. Under ε-LDP two rows are a post-processing of binary randomised
response (KOV Theorem 18), whose coefficient is tanh²(ε/2): so η(Q) ≤ tanh²(ε/2) (Asoodeh, Zhang 2022).

*Hockey-sticks* E_γ(P‖R) = Σ(p − γr)⁺, γ ≥ 1. Write P₀ − γP₁ = A − B with disjoint A, B ≥ 0; A has mass a =
E_γ(P₀‖P₁), B has mass a + γ − 1. Then E_γ(P₀Q‖P₁Q) = a·E_g(ĀQ‖B̄Q) with g = 1 + (γ−1)/a and Ā, B̄ normalised, and E_g
is jointly convex, so it is at most a·max over inputs x, z of E_g(Q_x‖Q_z). Under ε-LDP that is
(a(e^ε−1) − (γ−1))⁺/(e^ε+1), which the binary mechanism on {P₀ > γP₁} attains. For γ < 1 exchange the hypotheses and
take 1/γ.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import as_fraction
from extremal.exact.bisection import bisected
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.tables import aligned, number

MOST_ROWS = 512  # different rows: all pairs are looked at, seconds when many of them are alike, else minutes
ROUNDING = 1e-14  # relative: sums of up to a million terms of floats, added without loss


@dataclass(frozen=True)
class Contraction:
    """What a mechanism lets through of a divergence; `str()` is a table.

    Attributes:
        mechanism: whose coefficients they are.
        divergence: η with D(M₀‖M₁) ≤ η·D(P₀‖P₁) for KL, χ², squared Hellinger, Jensen–Shannon and their like; rounded
            up.
        total_variation: η of total variation (Dobrushin's coefficient), rounded up.
        pair: the two inputs that attain `divergence`.

    Made by `ex.theory.contraction`, which has the references.

    >>> import extremal as ex
    >>> round(ex.theory.contraction(ex.randomized_response(2, 1)).divergence, 9)
    0.213552267
    """

    mechanism: Mechanism
    divergence: float
    total_variation: float
    pair: tuple[Any, Any]

    def hockey_stick(self, gamma: Any, distance: Any = 1) -> float:
        """The most that is left of E_γ: an upper bound on E_γ(M₀‖M₁) for every pair with E_γ(P₀‖P₁) ≤ distance.

        Args:
            gamma: at least 1.
            distance: E_γ(P₀‖P₁), from 0 to 1; 1 gives the contraction coefficient itself.
        """
        g, a = as_fraction(gamma, "gamma"), as_fraction(distance, "distance")
        if g < 1 or not 0 <= a <= 1:
            raise InvalidParameter(
                "a hockey-stick contracts for gamma ≥ 1 and a distance from 0 to 1",
                parameter="gamma, distance",
                value=(gamma, distance),
                hint="For gamma < 1 exchange the hypotheses and take 1/gamma.",
            )
        if not a:
            return 0.0
        rows = _rows(self.mechanism)
        slope = float(1 + (g - 1) / a)
        pairs = itertools.permutations(rows, 2)
        most = max((float(np.maximum(u - slope * v, 0).sum()) for u, v in pairs), default=0.0)
        return min(1.0, float(a) * most * (1 + ROUNDING) + math.ulp(0.5) * len(rows[0]))

    def __str__(self) -> str:
        x, z = self.pair
        return aligned(
            ["coefficient", "value"],
            [
                ["KL, χ², Hellinger, Jensen–Shannon", number(self.divergence)],
                ["total variation", number(self.total_variation)],
                ["attained by inputs", f"{x}, {z}"],
            ],
            left=1,
        )


def contraction(mechanism: Mechanism) -> Contraction:
    """Bound how much of a divergence between two distributions of the value is left between the reports.

    Guarantee: upper bounds on D(M₀‖M₁)/D(P₀‖P₁) over all pairs of distributions, rounded up; attained in the limit by
    distributions on two inputs.

    Args:
        mechanism: with at most 512 different rows.

    Reference: S. Asoodeh, H. Zhang, Contraction of Locally Differentially Private Mechanisms (2022); B. Zamanlooy, S.
    Asoodeh, Strong Data Processing Inequalities for Locally Differentially Private Mechanisms (2023), for E_γ; O.
    Ordentlich, Y. Polyanskiy, Strong Data Processing Constant is Achieved by Binary Inputs, IEEE Trans. Inf. Theory 68
    (2022).

    >>> import extremal as ex
    >>> found = contraction(ex.randomized_response(4, 1))
    >>> round(found.divergence, 6), round(found.total_variation, 6), round(found.hockey_stick(2), 6)
    (0.138861, 0.300489, 0.125611)
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter("the coefficients are those of a mechanism", parameter="mechanism", value=mechanism)
    rows = _rows(mechanism)
    first = {int(r): x for x, r in reversed(list(enumerate(mechanism.row_of)))} if mechanism.row_of is not None else {}
    best, pair = 0.0, (0, min(1, len(rows) - 1))
    kinds: dict[bytes, tuple[int, int]] = {}  # symmetric mechanisms have the same pair of rows many times
    for x, z in itertools.combinations(range(len(rows)), 2):
        both = np.sort(rows[x] + 1j * rows[z])
        kinds.setdefault(both.tobytes(), (x, z))
    for x, z in kinds.values():
        if (found := _two_inputs(rows[x], rows[z])) > best:
            best, pair = found, (x, z)
    variation = max((np.abs(u - v).sum() / 2 for u, v in itertools.combinations(rows, 2)), default=0.0)
    x, z = (mechanism.inputs[first.get(r, r)] for r in pair)
    return Contraction(mechanism, best, min(1.0, float(variation) * (1 + ROUNDING)), (x, z))


def _rows(mechanism: Mechanism) -> Floats:
    """The different rows as probabilities."""
    rows = mechanism.distinct_rows()
    if len(rows) > MOST_ROWS:
        raise TooLarge(
            f"contraction is known for at most {MOST_ROWS} different rows: all pairs are tried",
            parameter="rows",
            value=len(rows),
            hint="tanh²(ε/2) bounds it for every ε-LDP mechanism.",
        )
    return np.asarray(rows, dtype=np.float64) / float(mechanism.denominator)


def _two_inputs(u: Floats, v: Floats) -> float:
    """max over λ of λ(1−λ)Σ(u−v)²/(λu+(1−λ)v), rounded up: the value where the derivative vanishes, and its tangent."""
    seen = (u != v) & (u + v > 0)
    u, v = u[seen], v[seen]
    if not u.size:
        return 0.0

    def slope(share: float) -> float:
        mixed = share * u + (1 - share) * v
        return math.fsum(((u - v) * (u / mixed * (v / mixed) - 1)).tolist())

    share = bisected(lambda t: slope(t) > 0, 1.0, 2.0**-60)
    mixed = share * u + (1 - share) * v
    value = math.fsum(((u - mixed) * (mixed - v) / mixed).tolist())
    tangent = abs(slope(share)) * max(share, 1 - share)
    return min(1.0, value * (1 + ROUNDING) + tangent)
