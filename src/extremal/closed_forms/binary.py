"""One bit: is the value in T? The answer through randomised response on two answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.exact import as_prior
from extremal.mechanism import Mechanism
from extremal.privacy import LDP
from extremal.utility import KL, Divergence
from extremal.utility.pair import Pair


def binary(
    p0: Any, p1: Any, epsilon: Any, inputs: Any = None, divergence: Callable[[Any, Any], Divergence] = KL
) -> Mechanism:
    """The binary mechanism for telling p0 from p1.

    Q(0|x) = e^ε/(1+e^ε) if P₀(x) ≥ P₁(x), else 1/(1+e^ε); Q(1|x) = 1 − Q(0|x) (KOV eq 14). Optimal for every
    f-divergence up to `ex.theory.binary_threshold(p0, p1)`, and for total variation at every ε (KOV Theorems 5, 6).

    KOV put ties P₀(x) = P₁(x) into T, and then Theorem 5 fails (erratum E1): here both sides are tried and the better
    one for `divergence` is taken.

    Guarantee: ε-LDP in integers, tight to 2^-62.

    Args:
        p0, p1: the two distributions.
        epsilon: nats.
        inputs: labels; 0..k−1 if not given. The reports are 0 (the side of p0) and 1.
        divergence: decides ties; a class such as `ex.KL`.

    >>> binary([0.4, 0.3, 0.2, 0.1], [0.1, 0.15, 0.3, 0.45], 1).matrix[:, 0].round(6).tolist()
    [0.731059, 0.731059, 0.268941, 0.268941]
    """
    pair, notion = Pair(p0, p1), LDP(epsilon)
    difference = pair.difference
    sides = [difference >= 0] if (difference != 0).all() else [difference >= 0, difference > 0]
    candidates = [_two_sided(side, notion, inputs) for side in sides]
    if len(candidates) == 1 or not notion.epsilon:
        return candidates[0]
    value = divergence(pair.p0, pair.p1)
    return max(candidates, key=value)


def binary_for_information(prior: Any, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The binary mechanism that keeps most information: T with P(T) as close to ½ as possible.

    Q(0|x) = e^ε/(1+e^ε) for x ∈ T, else 1/(1+e^ε) (KOV eq 19, 20; "arg max" in Section 4.2 must read arg min, erratum
    E9). Finding T is the partition problem: exact up to 40 symbols, beyond that by largest differencing (see
    `balanced_subset`).

    Guarantee: ε-LDP in integers.

    >>> m = binary_for_information([0.5, 0.3, 0.2], 1)
    >>> m.matrix[:, 0].round(6).tolist()
    [0.731059, 0.268941, 0.268941]
    """
    exact = as_prior(prior)
    inside = np.zeros(len(exact), dtype=bool)
    inside[list(balanced_subset(exact).members)] = True
    return _two_sided(inside if inside[0] else ~inside, LDP(epsilon), inputs)


def _two_sided(side: Any, notion: LDP, inputs: Any) -> Mechanism:
    if side.all() or not side.any():  # P₀ = P₁: nothing to tell apart, any two blocks will do
        side = np.arange(side.size) == 0
    return Mechanism.from_partition(np.where(side, 0, 1), notion, inputs=inputs)
