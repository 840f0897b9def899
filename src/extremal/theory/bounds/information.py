"""Bounds on what ε-LDP leaves of mutual information."""

from __future__ import annotations

import math

import numpy as np

from extremal.closed_forms import binary_for_information
from extremal.closed_forms.balance import balanced_subset
from extremal.optimize.information.bounds import affine, fluid
from extremal.theory.bounds.bound import Bound
from extremal.utility import MutualInformation
from extremal.utility.curve import Floats, InformationCurve

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
        Bound("fluid", fluid(prior, curve)[0], "prices g(p_x), see docs/information.md", "this package"),
        Bound("affine", affine(prior, curve)[0], "prices A + B·p_x, see docs/information.md", "this package"),
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
