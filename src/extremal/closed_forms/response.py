"""Randomised response and its relatives: on all answers, on two sides of them, the better of the two, and with δ.

The binary mechanism is optimal for strong privacy and randomised response for weak (KOV Theorems 5, 8, 12, 14, with
the conditions of errata E1, E3 and E6); between them neither need be, and the better of the two is what KOV suggest
for every ε (Sections 3.4 and 4.4). How far off it may be is seen in `extremal reproduce kov-fig4 kov-fig7`; `ex.design`
has no such gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.errors import InvalidParameter
from extremal.exact import as_prior, in_order
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.privacy import LDP
from extremal.utility import KL, Divergence, MutualInformation, Utility
from extremal.utility.pair import Pair


def randomized_response(k: int | Sequence[Any], epsilon: Any, inputs: Any = None) -> Mechanism:
    """Report the true answer with probability e^ε/(e^ε + k − 1), else one of the others: k-ary randomised response.

    Q(y|x) = e^ε/(k−1+e^ε) if y = x, else 1/(k−1+e^ε) (KOV eq 15; Warner 1965 for k = 2).

    Guarantee: ε-LDP in integers, tight to 2^-62 of probability. Stored as two numbers whatever k. At ε = 0 it is the
    uniform mechanism.

    Args:
        k: number of inputs, at least 2; or their labels.
        epsilon: nats.
        inputs: labels, also of the outputs; 0..k−1 if not given.

    Reference: KOV Theorems 8 and 14 say when it is optimal (with erratum E3: no two equal likelihood ratios).

    >>> randomized_response(4, 1).matrix[0].round(6).tolist()
    [0.475367, 0.174878, 0.174878, 0.174878]
    >>> randomized_response(["no", "yes"], 1).inputs
    ('no', 'yes')
    """
    count, labels = count_and_labels(k, inputs, epsilon)
    return Mechanism.from_partition(np.arange(count), LDP(epsilon), inputs=labels, outputs=labels)


def binary(
    p0: Any, p1: Any, epsilon: Any, inputs: Any = None, divergence: Callable[[Any, Any], Divergence] = KL
) -> Mechanism:
    """Make the binary mechanism, the best single bit for distinguishing p0 from p1.

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
    """Make the binary mechanism that keeps most information: T with P(T) as close to ½ as possible.

    Q(0|x) = e^ε/(1+e^ε) for x ∈ T, else 1/(1+e^ε) (KOV eq 19, 20; "arg max" in Section 4.2 must read arg min, erratum
    E9). Finding T is the partition problem: exact up to 40 symbols, beyond that by largest differencing (see
    `balanced_subset`).

    Guarantee: ε-LDP in integers.

    >>> m = binary_for_information([0.5, 0.3, 0.2], 1)
    >>> m.matrix[:, 0].round(6).tolist()
    [0.731059, 0.268941, 0.268941]
    """
    exact = as_prior(in_order(prior, "prior", inputs))
    inside = np.zeros(len(exact), dtype=bool)
    inside[list(balanced_subset(exact).members)] = True
    return _two_sided(inside if inside[0] else ~inside, LDP(epsilon), inputs)


def _two_sided(side: Any, notion: LDP, inputs: Any) -> Mechanism:
    if side.all() or not side.any():  # P₀ = P₁: nothing to tell apart, any two blocks will do
        side = np.arange(side.size) == 0
    return Mechanism.from_partition(np.where(side, 0, 1), notion, inputs=inputs)


def better_of_two(utility: Utility, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The binary mechanism or randomised response, whichever has the larger utility; ε-LDP.

    Guarantee: exactly ε-LDP, as both are; U = max(U(binary), U(randomised response)).

    Args:
        utility: a divergence of two hypotheses, or mutual information.
        epsilon: nats.
        inputs: labels; 0..k−1 if not given.

    Raises:
        InvalidParameter: another utility: the binary mechanism is made from two hypotheses or one prior.

    Reference: Kairouz, Oh, Viswanath, JMLR 17 (2016), Sections 3.4 and 4.4.

    >>> import extremal as ex
    >>> u = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    >>> better_of_two(u, 0.5).m, better_of_two(u, 5).m
    (2, 3)
    """
    if isinstance(utility, Divergence):
        two = binary(utility.pair.p0, utility.pair.p1, epsilon, divergence=lambda *_: utility, inputs=inputs)
    elif isinstance(utility, MutualInformation):
        two = binary_for_information(utility.prior, epsilon, inputs=inputs)
    else:
        raise InvalidParameter(
            "the binary mechanism needs two hypotheses or a prior",
            parameter="utility",
            value=type(utility).__name__,
            hint="ex.KL(p0, p1) or ex.MutualInformation(prior).",
        )
    response = randomized_response(utility.k, epsilon, inputs=inputs)
    return max((two, response), key=utility)


def quaternary(epsilon: Any, delta: Any, inputs: Any = None) -> Mechanism:
    """Optimal for two inputs under (ε,δ)-LDP and every utility with data processing (KOV eq 24, Theorem 18).

    Rows (δ, 0, (1−δ)/(1+e^ε), (1−δ)e^ε/(1+e^ε)) and (0, δ, (1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε)). With δ = 0 the last two
    columns are left.

    Guarantee: (ε,δ)-LDP in integers, tight to 2^-62.

    Args:
        epsilon: nats.
        delta: 0 ≤ δ < 1.
        inputs: two labels.

    >>> quaternary(1, 0.1).matrix[0].round(6).tolist()
    [0.1, 0.0, 0.242047, 0.657953]
    """
    notion = LDP(epsilon, delta)
    reveal = notion.exact_delta.numerator * DENOMINATOR // notion.exact_delta.denominator
    rest = DENOMINATOR - reveal
    low = notion.exponential.least_low(rest)
    weights = np.array([[reveal, 0, low, rest - low], [0, reveal, rest - low, low]], dtype=np.int64)
    return Mechanism.from_weights(weights if reveal else weights[:, 2:], privacy=notion, inputs=inputs)
