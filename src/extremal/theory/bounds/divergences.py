"""Bounds on what ε-LDP leaves of an f-divergence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.closed_forms import binary
from extremal.optimize.divergence.lorenz import Lorenz
from extremal.tables import number
from extremal.theory.bounds.bound import Bound
from extremal.theory.thresholds.universal import binary_threshold
from extremal.utility import (
    KL,
    ChiSquared,
    Divergence,
    ReverseKL,
    SquaredHellinger,
    SymmetricKL,
    TotalVariation,
)


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
    quadratic = step * math.tanh(epsilon / 2) * distance**2
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
