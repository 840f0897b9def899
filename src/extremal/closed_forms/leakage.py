"""Closed forms under pointwise maximal leakage: two symbols, high privacy, uniform priors, and calibrated randomised
response."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, Prior, as_count, as_prior, in_order
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.privacy import LDP, PML


def pml_binary(prior: Any, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The best ε-PML mechanism for two inputs, for every utility with data processing (GSO Theorem 2).

    With p₁ ≥ p₂ and E = e^ε: below ε₁ = −log p₁ the high-privacy form of `pml_high_privacy`; above, the likelier input
    is revealed whenever the budget allows: Q(·|2) = (0, 1) and Q(·|1) = (1 − c, c) with c = (1/E − p₂)/p₁, until
    nothing is hidden at ε_max = −log p₂.

    Guarantee: ε-PML in integers.

    >>> pml_binary([0.55, 0.45], 0.7).matrix.round(6).tolist()
    [[0.915299, 0.084701], [0.0, 1.0]]
    """
    exact = as_prior(in_order(prior, "prior", inputs), k=2)
    notion = PML(epsilon, exact)
    if not notion.epsilon:
        return _constant(notion, inputs)
    p = exact.values
    if notion.region == 1 and notion.epsilon < -math.log(p.max()):
        rows = _high_privacy_matrix(exact, notion)[
            :, ::-1
        ]  # the same two reports, named so that the truth is the likelier one
        return Mechanism.from_matrix(rows, notion, inputs=inputs, outputs=inputs)
    small, large = (1, 0) if p[0] >= p[1] else (0, 1)
    kept = max(0.0, (math.exp(-notion.epsilon) - p[small]) / p[large])
    matrix = np.zeros((2, 2))
    matrix[small, small], matrix[large, small], matrix[large, large] = 1.0, kept, 1 - kept
    return Mechanism.from_matrix(matrix, notion, inputs=inputs, outputs=inputs)


def pml_high_privacy(prior: Any, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The best ε-PML mechanism in region 1, ε < ε₁ = −log(1 − p_min), for every utility with data processing (GSO
    Theorem 3).

    Q(j|i) = E·p_j for j ≠ i, Q(i|i) = 1 − E(1−p_i), E = e^ε: every report makes all other inputs likelier by E. The
    report distribution is the prior itself. Labelled 1..N its correlation with the input is exactly 1 − E < 0 (erratum
    P9).

    Guarantee: ε-PML in integers.

    Raises:
        InvalidParameter: ε is above ε₁; use `ex.design(ex.PML(...), ...)`.

    >>> pml_high_privacy([0.5, 0.3, 0.2], 0.2).matrix[0].round(6).tolist()
    [0.389299, 0.366421, 0.244281]
    """
    exact = as_prior(in_order(prior, "prior", inputs))
    notion = PML(epsilon, exact)
    if not notion.epsilon:
        return _constant(notion, inputs)
    if notion.epsilon > -math.log1p(-exact.values.min()) * (1 + 1e-15):
        raise InvalidParameter(
            f"epsilon must be at most −log(1 − p_min) = {-math.log1p(-exact.values.min()):.6g}: region 1 of this prior",
            parameter="epsilon",
            value=epsilon,
            hint="In other regions there is no closed form; use ex.design.",
        )
    return _high_privacy(exact, notion, inputs)


def pml_uniform(n: int, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The best ε-PML mechanism for a uniform prior and every symmetric utility (GSO Theorem 4, Corollary 1).

    Each report is e^ε/n likely on ⌊n·e^−ε⌋ consecutive inputs, takes what is left of 1 on one more, and rules the
    others out; the matrix is circulant (the printed index set must read mod with representatives 1..n, erratum P10).

    Guarantee: ε-PML for the uniform prior, in integers. The symmetry of the utility matters (erratum P6).

    >>> pml_uniform(3, 0.8).matrix[0].round(6).tolist()
    [0.258153, 0.0, 0.741847]
    """
    count = as_count(n, "n", 2)
    notion = PML(epsilon, ["1/" + str(count)] * count)
    # A column of the circulant sums to 2^62 as its rows do, so the claim is: n·(largest weight) ≤ e^ε·2^62.
    most = min(notion.exponential.floor_times(DENOMINATOR) // count, DENOMINATOR)
    full, rest = divmod(DENOMINATOR, most)
    if full >= count:  # ε = 0, or so small that 2^62 does not tell
        even = Mechanism.from_windows(count, 1, LDP(0), inputs=inputs, outputs=inputs)
        return even.claiming(notion)
    return Mechanism.from_circulant(
        [(rest, 1), (most, full), (0, count - 1 - full)], notion, inputs=inputs, outputs=inputs
    )


def pml_randomized_response(prior: Any, epsilon: Any, inputs: Any = None) -> Mechanism:
    """Randomised response at the largest ε_r whose leakage is at most ε (GSO eq 7–9).

    Its leakage is largest at the rarest input: ε = ε_r − log(1 + (e^{ε_r}−1)p_min), hence ε_r = ε +
    log((1−p_min)/(1−p_min·e^ε)), for ε below ε_max = −log p_min. Its report distribution is not the prior unless that
    is uniform (erratum P1); eq 7–9 hold all the same.

    Guarantee: ε-PML in integers.

    >>> import extremal as ex
    >>> round(ex.LDP(1).level(pml_randomized_response([0.5, 0.3, 0.2], 0.08)), 9)
    0.101041597
    """
    exact = as_prior(in_order(prior, "prior", inputs))
    notion = PML(epsilon, exact)
    smallest = float(exact.values.min())
    room = 1 - smallest * math.exp(min(notion.epsilon, 700.0))
    if smallest == 0 or room <= 0:
        raise InvalidParameter(
            "epsilon must be below −log of the smallest probability, which must be positive",
            parameter="epsilon",
            value=epsilon,
            hint="From there on nothing needs to be hidden: report the value itself.",
        )
    nats = notion.epsilon + math.log1p(-smallest) - math.log(room)
    k = len(exact)
    if not nats:
        return _constant(notion, inputs)
    e = math.exp(-nats)
    matrix = np.full((k, k), e / (1 + (k - 1) * e))
    np.fill_diagonal(matrix, 1 / (1 + (k - 1) * e))
    return Mechanism.from_matrix(matrix, notion, inputs=inputs, outputs=inputs)


def _high_privacy(prior: Prior, notion: PML, inputs: Any) -> Mechanism:
    return Mechanism.from_matrix(_high_privacy_matrix(prior, notion), notion, inputs=inputs, outputs=inputs)


def _high_privacy_matrix(prior: Prior, notion: PML) -> npt.NDArray[np.float64]:
    p, e = prior.values, math.exp(notion.epsilon)
    matrix = np.tile(e * p, (p.size, 1))
    np.fill_diagonal(matrix, np.maximum(0.0, 1 - e * (1 - p)))
    return np.asarray(matrix)


def _constant(notion: PML, inputs: Any) -> Mechanism:
    return Mechanism.from_matrix(np.tile(notion.prior.values, (notion.k, 1)), notion, inputs=inputs, outputs=inputs)


def randomized_response_leakage(prior: Any, epsilon: Any) -> float:
    """The leakage of ε-LDP randomised response under a prior: ε − log(1 + (e^ε − 1)·p_min), GSO eq 8.

    p_min is the smallest positive probability; the leakage is Schur-convex in the prior (GSO Proposition 1).

    Guarantee: exact up to rounding of floats.

    >>> round(randomized_response_leakage([0.5, 0.3, 0.2], 1), 12)
    0.70460547088
    """
    values, nats = as_prior(prior).values, Exponential(epsilon).epsilon
    return nats - math.log1p(math.expm1(nats) * float(values[values > 0].min()))
