"""Error exponents of tests on reports, and lower bounds on the errors of any test of private reports.

With n reports from M₀ or M₁ the best test at a fixed false-alarm rate misses with probability e^{−n·D(M₀‖M₁)+o(n)}
(Chernoff–Stein, KOV Section 3), and the best test for the sum of both errors has exponent the Chernoff information
C = max_λ −log Σ M₀^λ M₁^{1−λ}. Privacy replaces n by n·D(M₀‖M₁)/D(P₀‖P₁) reports: the effective sample size.

Lower bounds; for estimates see `theory/estimation.py`. Le Cam: whoever must tell P₀ from P₁ errs with probability at
least (1 − TV)/2 under one of them, and the total variation of n private reports is at most √(n·J/4), J ≤
2(e^ε−1)²/(e^ε+1)·TV(P₀,P₁)² (Corollary 9 at every ε, see `bounds.py`; it holds conditionally on earlier reports, so
mechanisms may be chosen one after another). Fano: whoever must name one of N hypotheses errs with probability at least
1 − (I + log 2)/log N, and n reports carry at most n times the information that ε-LDP leaves of any prior.

Identity testing: whoever must tell the uniform distribution on k symbols from all that are γ away in total variation.
Pair the symbols and move 2γ/k within each pair, one way or the other at random, z ∈ {±1}^(k/2) (Paninski). With Δ_i =
Q(y|2i) − Q(y|2i+1) and q(y) the mean of column y, the second moment of the likelihood ratio of n reports is at most
E exp(zᵀBz'), B = Σ over reports of (2γ/k)²·Σ_y Δ_iΔ_j/q, which Gaussian z bound by Π(1−b_i²)^(−½), b_i the eigenvalues
of B. Their sum s is at most n(2γ/k)² times the largest Σ_iΔ_i²/q² of a staircase column, m·c²k²/(k+cm)² with m pairs
split, c = e^ε − 1: for e^ε ≤ 3 that is 2k·tanh²(ε/2), so s ≤ 8nγ²·tanh²(ε/2)/k. For s < 1 the product is at most
(1−s²)^(−½), and the total variation of the mixture from the uniform reports at most ½√((1−s²)^(−½) − 1). Mechanisms may
differ between people and be chosen with shared randomness, not after seeing reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, as_count, as_fraction, as_prior, in_order
from extremal.exact.bisection import bisected
from extremal.mechanism import Mechanism
from extremal.tables import aligned, as_frame, number
from extremal.utility import KL, ReverseKL
from extremal.utility.curve import InformationCurve
from extremal.utility.pair import Pair


@dataclass(frozen=True)
class ErrorExponent:
    """Exponents of the best tests of n reports; `str()` is a table.

    Attributes:
        stein: D(M₀‖M₁): misses e^{−n·stein} at a fixed false-alarm rate.
        reverse_stein: D(M₁‖M₀): the roles exchanged.
        chernoff: the exponent of the sum of both errors.
        tilt: the λ that attains it.
        without_privacy: D(P₀‖P₁), the exponent of unprivatised data; may be infinite.

    Made by `ex.error_exponent`. Reference: T. Cover, J. Thomas, Elements of Information Theory (2006), Chapter 11.

    >>> import extremal as ex
    >>> found = ex.error_exponent(ex.randomized_response(2, 1), [0.7, 0.3], [0.4, 0.6])
    >>> found.chernoff < found.stein < found.without_privacy
    True
    """

    stein: float
    reverse_stein: float
    chernoff: float
    tilt: float
    without_privacy: float

    @property
    def efficiency(self) -> float:
        """D(M₀‖M₁)/D(P₀‖P₁): the share of the respondents that is left."""
        if not self.without_privacy:
            return 1.0
        return self.stein / self.without_privacy

    def effective(self, n: int) -> float:
        """The number of unprivatised answers that n reports are worth, to first order in the exponent."""
        return n * self.efficiency

    def reports_for(self, error: float) -> int:
        """n with e^{−n·stein} ≤ error: the exponent alone, without the subexponential factor."""
        if not 0 < error < 1 or not self.stein:
            raise InvalidParameter(
                "error must lie between 0 and 1 and the exponent must be positive", parameter="error", value=error
            )
        return math.ceil(-math.log(error) / self.stein)

    def to_frame(self) -> Any:
        return as_frame(dict(zip(("exponent", "value"), zip(*self._rows(), strict=True), strict=True)))

    def _rows(self) -> list[tuple[str, float]]:
        return [
            ("Stein, D(M₀‖M₁)", self.stein),
            ("Stein, D(M₁‖M₀)", self.reverse_stein),
            ("Chernoff", self.chernoff),
            ("without privacy, D(P₀‖P₁)", self.without_privacy),
            ("effective share of n", self.efficiency),
        ]

    def __str__(self) -> str:
        return aligned(["exponent", "value"], [[name, number(v)] for name, v in self._rows()], left=1)


def error_exponent(mechanism: Mechanism, p0: Any, p1: Any) -> ErrorExponent:
    """Compute the Chernoff–Stein and Chernoff exponents of testing P₀ against P₁ from a mechanism's reports.

    Guarantee: both exponents are computed from the exact weights.

    Reference: KOV Section 3; T. Cover, J. Thomas, Elements of Information Theory, Chapter 11.

    >>> import extremal as ex
    >>> found = error_exponent(ex.randomized_response(2, 1), [0.7, 0.3], [0.4, 0.6])
    >>> round(found.stein, 6), round(found.chernoff, 6), round(found.effective(1000))
    (0.038605, 0.009725, 210)
    """
    pair = Pair(in_order(p0, "p0", mechanism.input_labels), in_order(p1, "p1", mechanism.input_labels))
    m0, m1 = mechanism.marginal(pair.p0), mechanism.marginal(pair.p1)
    chernoff, tilt = chernoff_information(m0, m1)
    whole = KL(pair.p0, pair.p1)
    plain = math.fsum(whole.perspective(whole.p0, whole.p1, pair.difference).tolist())
    return ErrorExponent(KL(pair.p0, pair.p1)(mechanism), ReverseKL(pair.p0, pair.p1)(mechanism), chernoff, tilt, plain)


def chernoff_information(m0: Any, m1: Any) -> tuple[float, float]:
    """(max over λ ∈ [0,1] of −log Σ m0^λ m1^{1−λ}, that λ): convex in λ, its derivative changes sign once.

    Guarantee: found by bisection of the derivative, to the last digits of a float.

    Reference: H. Chernoff, Annals of Mathematical Statistics 23 (1952); T. Cover, J. Thomas, Elements of Information
    Theory (2006), Theorem 11.9.1.

    >>> value, tilt = chernoff_information([0.5, 0.5], [0.9, 0.1])
    >>> round(value, 6), round(tilt, 3)
    (0.112377, 0.542)
    """
    a, b = as_prior(m0, "m0").values, as_prior(m1, "m1").values
    both = (a > 0) & (b > 0)
    if not both.any():
        return math.inf, 0.5
    logs, base = np.log(a[both]) - np.log(b[both]), np.log(b[both])

    def derivative(tilt: float) -> float:
        return float((np.exp(base + tilt * logs) * logs).sum())

    tilt = bisected(lambda tilt: derivative(tilt) > 0, 0.0, 1.0)
    # 1 − Σ m0^λ m1^{1−λ} without cancellation: each term is m1·(λr + 1 − λ − r^λ) ≥ 0, r = m0/m1; the rest is lost
    # mass.
    ratio = np.expm1(logs)
    missing = math.fsum((b[both] * (tilt * ratio - np.expm1(tilt * logs))).tolist())
    missing += math.fsum((tilt * a[~both] + (1 - tilt) * b[~both]).tolist())
    return -math.log1p(-missing), tilt


def le_cam(p0: Any, p1: Any, epsilon: Any, n: int) -> float:
    """No test of n ε-LDP reports keeps both error probabilities below this: ½(1 − TV(P₀,P₁)·√(n(e^ε−1)²/(2(e^ε+1)))).

    For an estimator of θ with |θ(P₀) − θ(P₁)| ≥ 2s it is also the probability of an error of at least s at P₀ or P₁.

    Guarantee: proven for every ε and every sequence of ε-LDP mechanisms, also interactively chosen ones.

    Reference: L. Le Cam (1973); J. Duchi, M. Jordan, M. Wainwright, Local Privacy and Statistical Minimax Rates (2013).

    >>> round(le_cam([0.5, 0.5], [0.55, 0.45], 1, 100), 6)
    0.342475
    """
    step = Exponential(epsilon).epsilon
    count = as_count(n, "n", 1)
    distance = math.fsum(np.abs(Pair(p0, p1).difference).tolist()) / 2
    variation = distance * math.sqrt(count * math.expm1(step) * math.tanh(step / 2) / 2)
    return max(0.0, (1 - variation) / 2)


def fano(hypotheses: int | Sequence[Any], epsilon: Any, n: int) -> float:
    """Whoever names one of N hypotheses from n ε-LDP reports errs, on average over them, at least this often.

    1 − (n·I + log 2)/log N. For a number N, I is the most information that an ε-LDP report carries about anything, m −
    1 − ln m with m = ε/(1−e^−ε). For the distributions themselves, the smaller of that and the mean over pairs of
    2(e^ε−1)²/(e^ε+1)·TV²/2, since information is at most the mean divergence between hypotheses.

    Guarantee: a lower bound for every ε-LDP mechanism and every rule; 0 when it says nothing.

    Reference: T. Cover, J. Thomas, Elements of Information Theory (2006), Theorem 2.10.1; KOV Corollary 9 with erratum
    E8.

    >>> round(fano(1000, 1, 10), 6)
    0.721159
    """
    level = Exponential(epsilon).epsilon
    count = as_count(n, "n", 1)
    size = hypotheses if isinstance(hypotheses, int) else len(hypotheses)
    if size < 2:
        raise InvalidParameter("Fano's inequality needs at least 2 hypotheses", parameter="hypotheses", value=size)
    carried = InformationCurve(level).limit if level else 0.0
    if not isinstance(hypotheses, int):
        carried = min(carried, _mean_divergence([as_prior(p).values for p in hypotheses], level))
    return max(0.0, 1 - (count * carried + math.log(2)) / math.log(size))


def identity_testing(k: int, epsilon: Any, distance: Any, n: int) -> float:
    """No test of n ε-LDP reports tells the uniform distribution on k symbols from all that are `distance` away in total
    variation with a sum of both error probabilities below this.

    1 − ½√((1−s²)^(−½) − 1) with s = n(2γ/k)²·max_m m·c²k²/(k+cm)², c = e^ε − 1; 0 where s ≥ 1 (it says nothing).

    Args:
        k: number of symbols.
        epsilon: nats.
        distance: γ, at most ½ (a little less when k is odd).
        n: people, each with one report; mechanisms may differ and share randomness.

    Guarantee: proven for every n, k and ε, in floats; the proof is at the top of this module.

    Reference: L. Paninski, IEEE Trans. Inf. Theory 54 (2008); J. Acharya, C. Canonne, H. Tyagi, Inference under
    information constraints I, IEEE Trans. Inf. Theory 66 (2020), for the rate k/(γ²ε²).

    >>> round(identity_testing(100, 1, 0.1, 1000), 6), identity_testing(100, 1, 0.1, 10_000)
    (0.938924, 0.0)
    """
    level, count, size = Exponential(epsilon).epsilon, as_count(n, "n", 1), as_count(k, "k", 2)
    pairs = size // 2
    moved = float(as_fraction(distance, "distance")) * size / (2 * pairs)
    if not 0 < moved <= 0.5:
        raise InvalidParameter(
            "the distance must be positive and at most ½, times (k − 1)/k for odd k",
            parameter="distance",
            value=distance,
        )
    step = math.expm1(level)
    split = min(float(pairs), size / step) if step else float(pairs)
    column = split * (step * size / (size + step * split)) ** 2
    s = count * (2 * moved / size) ** 2 * column
    return max(0.0, 1 - math.sqrt((1 - s * s) ** -0.5 - 1) / 2) if s < 1 else 0.0


def _mean_divergence(distributions: list[npt.NDArray[np.float64]], epsilon: float) -> float:
    """Mean over ordered pairs of a bound on D(M_i‖M_j): half of the symmetrised one, summed both ways."""
    stack = np.stack(distributions)
    total = 0.0
    for p in stack:
        distance = np.abs(stack - p).sum(axis=1) / 2
        total += float((distance**2).sum())
    return math.expm1(epsilon) * math.tanh(epsilon / 2) * total / len(stack) ** 2
