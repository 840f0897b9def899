"""Upper bounds on what ε-LDP leaves of a divergence or of information: those of the paper as they hold, and others.

A bound is a value at one ε with its statement, its source, the erratum that changed it and the ε for which it is
proven. Some are proven at every ε; some "for ε small (or large) enough", without saying how small, and with a slack δ >
0 that the caller chooses. The proofs that are not in the paper, all for every ε, with E = e^ε, c = E − 1, S_T = 1 +
c·1_T, Q = Σ_T θ_T S_T (KOV Theorem 4), δ_T = P₀(T) − P₁(T):

*Quadratic* (Corollary 9 at every ε and without slack). (a − b)·log(a/b) ≤ (a − b)²/√(ab), χ² and Hellinger likewise,
and both report probabilities of S_T are at least 1. So the symmetrised divergence is at most c²·Σθ_T δ_T², |δ_T| ≤
TV(P₀,P₁), and c·Σθ_T|δ_T| = 2·TV(M₀,M₁) ≤ 2·tanh(ε/2)·TV(P₀,P₁) by Corollary 11: together 2c²/(E+1)·TV².

*Stein's exponent* (KOV Section 3, at every ε and without slack). a·log(a/b) − a + b ≤ (a − b)²/(2·min(a, b)), and both
report probabilities are at least 1: D(M₀‖M₁) is at most half of what bounds the symmetrised divergence.

*Contraction* (tanh²(ε/2) times what there was, and what is left of a hockey-stick): `theory/contraction.py`. It is
below Pinsker's form of the paper, (E−1)²/(2(E+1))·D(P₀‖P₁), by a factor 2/(E+1).

*Pinsker and the quadratic bound* (Theorem 7 with E + 1 in place of 2(E+1)²): BIN ≥ 2·tanh²(ε/2)·TV².

*Chord.* The ratio of report probabilities lies in [1/E, E], where a convex f with f(1) = 0 lies below its chords from
1: D_f ≤ TV(M₀,M₁)·(f(E) + E·f(1/E))/(E − 1); with Corollary 11 the factor is TV(P₀,P₁)/(E + 1).

*Lemma 27 at every ε* (hence Theorem 13). φ is concave with φ(0) = φ(1) = 0 and its largest value φ* at z* ≤ ½. Let t ≤
½ be the mass of the lighter side of the most balanced split. If z* < t, concavity gives φ(t) + φ(1−t) ≥ φ*/(1−z*). If t
≤ z* and no symbol is heavier than ⅔, t ≥ ⅓ and φ(t) + φ(1−t) ≥ φ*·t/(z*(1−z*)) ≥ ⁴⁄₃·φ*. If t ≤ z* and one symbol is
heavier than ⅔, no set has a mass strictly between t and 1 − t, and φ is monotone on either side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.closed_forms import binary, binary_for_information
from extremal.closed_forms.balance import balanced_subset
from extremal.optimize.divergence.lorenz import Lorenz
from extremal.optimize.information.bounds import affine, fluid
from extremal.tables import number
from extremal.theory.crossings import binary_threshold
from extremal.utility import (
    KL,
    AlphaDivergence,
    ChiSquared,
    Divergence,
    HockeyStick,
    JensenShannon,
    MutualInformation,
    ReverseKL,
    SquaredHellinger,
    SymmetricKL,
    TotalVariation,
)
from extremal.utility.curve import Floats, InformationCurve

EVERY = "every ε"


@dataclass(frozen=True)
class Bound:
    """An upper bound on the optimum at one ε.

    Attributes:
        name: short, for tables and legends.
        value: the bound.
        statement: what is claimed, in symbols.
        source: where it comes from.
        proven: the ε for which it is proven, in words.
        holds_here: True where that includes this ε, None where the statement says "small (large) enough" only.
        erratum: what was wrong as printed, or "".

    Reference: the `source` of each; made by `ex.theory.converses`.

    >>> import extremal as ex
    >>> ex.theory.converses(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 0.5).tightest.proven
    'ε ≤ 0.887303'
    """

    name: str
    value: float
    statement: str
    source: str
    proven: str = EVERY
    holds_here: bool | None = True
    erratum: str = ""


def low_privacy_coefficient(p0: Any, p1: Any) -> float:
    """g with D(M₀‖M₁) = D(P₀‖P₁) − g·e^−ε + O(e^−2ε) for randomised response: Σ(kP₀−1)log(P₀/P₁) + ΣP₀/P₁ − k.

    Never negative. KOV Corollary 10 prints G = Σ(1−P₀)log(P₁/P₀) instead (erratum E4). Infinite if some symbol is
    impossible under one distribution.

    Guarantee: the formula, in floats.

    >>> round(low_privacy_coefficient([0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45]), 12)
    4.84283440136
    """
    pair = KL(p0, p1)
    if not (pair.p0 * pair.p1 > 0).all():
        return math.inf
    logs = np.log(pair.p0) - np.log(pair.p1)
    return math.fsum(((pair.k * pair.p0 - 1) * logs + pair.p0 / pair.p1 - 1).tolist())


def divergence_bounds(utility: Divergence, epsilon: float, slack: float) -> list[Bound]:
    ratio, step = math.exp(epsilon), math.expm1(epsilon)
    difference = utility.pair.difference
    distance = math.fsum(np.abs(difference).tolist()) / 2
    unprivatised = math.fsum(utility.perspective(utility.p0, utility.p1, difference).tolist())
    found = [
        Bound("no privacy", unprivatised, "D_f(M₀‖M₁) ≤ D_f(P₀‖P₁)", "KOV Proposition 17"),
        Bound(
            "chord",
            distance * _chord(utility, ratio) / (ratio + 1),
            "D_f(M₀‖M₁) ≤ TV(P₀,P₁)·(f(e^ε) + e^ε f(e^−ε))/(e^ε+1)",
            "KOV Corollary 11 and convexity",
        ),
    ]
    one_bit = utility(binary(utility.pair.p0, utility.pair.p1, epsilon, divergence=lambda *_: utility))
    universal = binary_threshold(utility.pair.p0, utility.pair.p1)
    if epsilon <= universal:
        found.append(
            Bound(
                "binary is optimal",
                one_bit,
                "D_f(M₀‖M₁) ≤ BIN",
                "KOV Theorem 5",
                f"ε ≤ {number(universal)}",
                erratum="E1: no symbol may have P₀ = P₁; E2: the threshold",
            )
        )
    if isinstance(utility, TotalVariation):
        found.append(
            Bound(
                "Corollary 11", math.tanh(epsilon / 2) * distance, "TV(M₀,M₁) ≤ tanh(ε/2)·TV(P₀,P₁)", "KOV Corollary 11"
            )
        )
    found += _contractions(utility, epsilon, unprivatised)
    quadratic = step * math.tanh(epsilon / 2) * distance**2
    if isinstance(utility, (KL, ReverseKL)):
        found += _stein_bounds(step, quadratic, unprivatised)
    if isinstance(utility, (KL, ReverseKL, SymmetricKL)):
        found += [
            Bound(
                "Corollary 9",
                2 * quadratic,
                "J(M₀,M₁) ≤ 2(e^ε−1)²/(e^ε+1)·TV(P₀,P₁)²",
                "KOV Corollary 9, eq 16",
                erratum="E8: printed with 1+δ and for small ε only; the expansion lacks a square",
            ),
            Bound(
                "Duchi et al.",
                min(4.0, ratio**2) * step**2 * distance**2,
                "J(M₀,M₁) ≤ min(4, e^2ε)(e^ε−1)²·TV(P₀,P₁)²",
                "Duchi, Jordan, Wainwright 2013, Theorem 1; KOV Lemma 25",
            ),
        ]
    if isinstance(utility, KL):
        found += _kl_bounds(utility, epsilon, slack, one_bit, unprivatised)
    if isinstance(utility, SymmetricKL):
        found += _symmetric_bounds(utility, epsilon, slack, unprivatised)
    if isinstance(utility, ChiSquared):
        found.append(
            Bound("quadratic", 2 * quadratic, "χ²(M₀‖M₁) ≤ 2(e^ε−1)²/(e^ε+1)·TV(P₀,P₁)²", "as KOV Corollary 9")
        )
    if isinstance(utility, SquaredHellinger):
        found.append(
            Bound("quadratic", quadratic / 2, "H²(M₀,M₁) ≤ (e^ε−1)²/(2(e^ε+1))·TV(P₀,P₁)²", "as KOV Corollary 9")
        )
    return found


def _chord(utility: Divergence, ratio: float) -> float:
    ends = np.array([ratio, 1 / ratio])
    f = utility.excess(ends - 1, ends)
    return float(f[0] + ratio * f[1])


CONTRACTING = (KL, ReverseKL, SymmetricKL, ChiSquared, SquaredHellinger, JensenShannon)
"""Divergences whose f is operator convex, so that the coefficient of χ² bounds theirs."""

_ASOODEH = "Asoodeh, Zhang 2022"


def _contractions(utility: Divergence, epsilon: float, unprivatised: float) -> list[Bound]:
    """What ε-LDP leaves of the divergence itself, for the f that are known to contract."""
    if isinstance(utility, HockeyStick):
        left = (unprivatised * math.expm1(epsilon) - abs(utility.gamma - 1)) / (math.exp(epsilon) + 1)
        statement = "E_γ(M₀‖M₁) ≤ ((e^ε−1)·E_γ(P₀‖P₁) − |γ−1|)⁺/(e^ε+1), attained"
        return [Bound("contraction", max(0.0, left), statement, "this package; Zamanlooy, Asoodeh 2023")]
    if isinstance(utility, AlphaDivergence) and not -1 <= utility.alpha <= 2:
        return []  # x^α is not operator convex there
    if not isinstance(utility, (*CONTRACTING, AlphaDivergence)):
        return []
    kept = math.tanh(epsilon / 2) ** 2 * unprivatised
    return [Bound("contraction", kept, "D_f(M₀‖M₁) ≤ tanh²(ε/2)·D_f(P₀‖P₁)", _ASOODEH)]


def _stein_bounds(step: float, quadratic: float, unprivatised: float) -> list[Bound]:
    """The two bounds of KOV Section 3 on Stein's exponent, which hold without their slack."""
    return [
        Bound(
            "Stein",
            quadratic,
            "D(M₀‖M₁) ≤ (e^ε−1)²/(e^ε+1)·TV(P₀,P₁)²",
            "KOV Section 3",
            erratum="E8: printed with 1+δ and for small ε only",
        ),
        Bound(
            "Pinsker",
            step**2 / (2 * (step + 2)) * unprivatised,
            "D(M₀‖M₁) ≤ (e^ε−1)²/(2(e^ε+1))·D(P₀‖P₁)",
            "KOV Section 3",
            erratum="printed for small ε only; the contraction bound is (e^ε+1)/2 times smaller",
        ),
    ]


def _kl_bounds(utility: KL, epsilon: float, slack: float, one_bit: float, unprivatised: float) -> list[Bound]:
    ratio = math.exp(epsilon)
    found = [
        Bound("Theorem 7", 2 * (ratio + 1) ** 2 * one_bit, "D(M₀‖M₁) ≤ 2(e^ε+1)²·BIN", "KOV Theorem 7"),
        Bound(
            "Theorem 7, sharper", (ratio + 1) * one_bit, "D(M₀‖M₁) ≤ (e^ε+1)·BIN", "Pinsker's inequality, Corollary 9"
        ),
    ]
    coefficient = low_privacy_coefficient(utility.pair.p0, utility.pair.p1)
    if math.isfinite(coefficient) and _distinct_ratios(utility):
        found.append(
            Bound(
                "Corollary 10",
                unprivatised - (1 - slack) * coefficient / ratio,
                f"D(M₀‖M₁) ≤ D(P₀‖P₁) − {1 - slack:g}·g·e^−ε, g = Σ(kP₀−1)log(P₀/P₁) + ΣP₀/P₁ − k",
                "KOV Corollary 10, eq 17",
                "ε large enough",
                None,
                "E4: printed for J and with G = Σ(1−P₀)log(P₁/P₀); E3: distinct likelihood ratios",
            )
        )
    return found


def _symmetric_bounds(utility: SymmetricKL, epsilon: float, slack: float, unprivatised: float) -> list[Bound]:
    p0, p1 = utility.pair.p0, utility.pair.p1
    coefficient = low_privacy_coefficient(p0, p1) + low_privacy_coefficient(p1, p0)
    if not math.isfinite(coefficient) or not _distinct_ratios(utility):
        return []
    return [
        Bound(
            "Corollary 10",
            unprivatised - (1 - slack) * coefficient * math.exp(-epsilon),
            f"J(M₀,M₁) ≤ J(P₀,P₁) − {1 - slack:g}·(g(P₀,P₁) + g(P₁,P₀))·e^−ε",
            "KOV Corollary 10, eq 17",
            "ε large enough",
            None,
            "E4: printed with D(P₀‖P₁) and G",
        )
    ]


def _distinct_ratios(utility: Divergence) -> bool:
    lorenz = Lorenz.of(utility)
    return lorenz.n == utility.k


ALL_SETS_UP_TO = 16  # symbols: the best set is found by listing


def best_single_rate(prior: Floats, curve: InformationCurve) -> float:
    """max over sets T of φ(P(T))/(1 + c·P(T)): the dual α = λP of the staircase program; beyond 16 symbols its limit.

    >>> round(best_single_rate(np.array([0.5, 0.3, 0.2]), InformationCurve(1.0)), 9)
    0.122366304
    """
    support = prior[prior > 0]
    if support.size > ALL_SETS_UP_TO:
        return curve.limit
    return float(curve.rate(_masses(support)).max())


def _masses(support: Floats) -> Floats:
    masses = np.zeros(1)
    for p in support:
        masses = np.concatenate([masses, masses + p])
    return np.minimum(masses[1:-1], 1.0)


def information_bounds(utility: MutualInformation, epsilon: float, slack: float) -> list[Bound]:
    prior = utility.prior.values[utility.prior.values > 0]
    curve, ratio, k = InformationCurve(epsilon), math.exp(epsilon), int(np.count_nonzero(prior))
    entropy = -math.fsum((prior * np.log(prior)).tolist())
    balance = balanced_subset(utility.prior)
    one_bit, z = utility(binary_for_information(utility.prior, epsilon)), float(balance.probability)
    crowd = k / (ratio + k - 1)
    most = float(curve.value(_masses(prior) if k <= ALL_SETS_UP_TO else curve.argmax(0.0)).max())
    sides = float(curve.value(z) + curve.value(1 - z))
    found = [
        Bound("entropy", entropy, "I(X;Y) ≤ H(X)", "KOV Section 4"),
        Bound("contraction", math.tanh(epsilon / 2) ** 2 * entropy, "I(X;Y) ≤ tanh²(ε/2)·H(X)", _ASOODEH),
        Bound("fluid", fluid(prior, curve)[0], "prices g(p_x), see docs/design/information.md", "this package"),
        Bound("affine", affine(prior, curve)[0], "prices A + B·p_x, see docs/design/information.md", "this package"),
        Bound("any prior", curve.limit, "I(X;Y) ≤ m − 1 − ln m, m = ε/(1−e^−ε)", "this package"),
        Bound(
            "best single set",
            best_single_rate(prior, curve),
            "I(X;Y) ≤ max_T φ(P(T))/(1 + (e^ε−1)P(T))",
            "weak duality with α = λP",
        ),
        Bound("Lemma 26", most * crowd, "I(X;Y) ≤ max_T φ(P(T))·k/(e^ε+k−1)", "KOV Lemma 26"),
    ]
    if balance.proven:
        found += [
            Bound(
                "Lemma 27",
                sides * crowd,
                "I(X;Y) ≤ (φ(P(T)) + φ(P(T^c)))·k/(e^ε+k−1)",
                "KOV Lemmas 26, 27",
                erratum="E10: the derivative; E11: ε ≤ 1 is not needed",
            ),
            Bound(
                "Theorem 13",
                (1 + ratio) * one_bit,
                "I(X;Y) ≤ (1 + e^ε)·BIN",
                "KOV Theorem 13",
                erratum="E11: ε ≤ 1 is not needed; E9: T is the most balanced set",
            ),
            Bound(
                "Corollary 15",
                (1 + slack) / 2 * z * (1 - z) * epsilon**2,
                f"I(X;Y) ≤ {1 + slack:g}/2·P(T)P(T^c)·ε²",
                "KOV Corollary 15, eq 21",
                "ε small enough",
                None,
                "E6, E9: T is the most balanced set, arg min, and the slack is needed",
            ),
        ]
    found.append(
        Bound(
            "Corollary 16",
            entropy - (1 - slack) * (k - 1) * epsilon / ratio,
            f"I(X;Y) ≤ H(X) − {1 - slack:g}·(k−1)·ε·e^−ε",
            "KOV Corollary 16, eq 22",
            "ε large enough",
            None,
            "E5: the remainder of eq 22 is O(e^−ε)",
        )
    )
    return found
