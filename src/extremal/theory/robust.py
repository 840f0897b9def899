"""Hypotheses that are not one distribution, and people who are not independent: two questions that KOV leave open.

*Hulls.* P₀ and P₁ may be any mixtures of listed distributions (or any that satisfy linear inequalities). The worth of a
mechanism Q = Σθ_T S_T is Σθ_T·μ_T(P₀, P₁): linear in θ and convex in (P₀, P₁). So there is a saddle point, and the best
worst case is reached by growing a list of pairs: design for the worst of the pairs so far, which is an upper bound with
a certificate, find the pair of the hulls that is worst for that mechanism, a convex program, and go on until both
agree. The tangent at the pair found bounds the convex program from below, so the lower bound is one whatever the solver
did.

*Correlated people.* Two people hold correlated values; each randomises alone, and the reports are read together. Given
the mechanism of one, the divergence of the pair of reports is a sum of sublinear functions of the columns of the other:
by KOV Theorem 4 a vertex of the staircase program is best for each. All pairs of vertices are tried, which is exact.
With two inputs there is nothing to try: everybody's randomised response simulates every other mechanism (KOV Theorem
18), so it is optimal for any joint distribution of any number of people.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Exponential, Prior, matrix_in_order
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.design import Design, design
from extremal.privacy import LDP
from extremal.sources import SourceClass
from extremal.tables import number
from extremal.theory.staircase import staircase_patterns
from extremal.utility import KL, Divergence, WorstCase

Pair = tuple[Prior, Prior]

MOST_PAIRS = 60  # of hypotheses: each costs a design; a saddle point has at most as many as the mechanism has reports
SHARES = 10**12  # mixtures are kept as fractions with this denominator, so that they lie in the hull exactly
MOST_CORRELATED = 4  # inputs: a few hundred vertices, all pairs of them in seconds
_FEASIBLE = 1e-12  # weights of a vertex that may be negative by rounding


@dataclass(frozen=True)
class RobustDesign:
    """The best mechanism for hypotheses that may be any of two convex classes; `str()` says how good it is.

    Attributes:
        mechanism: what to release.
        value: its divergence at the worst pair of the classes, at least; in floats.
        upper_bound: what no ε-LDP mechanism exceeds at its worst pair, by the certificate of `design`.
        pairs: the pairs of hypotheses that decide.
        design: the design for the worst of these pairs, which has the certificate of the bound.

    Made by `ex.theory.robust_design`, which has the references.

    >>> import extremal as ex
    >>> found = ex.theory.robust_design(1, ex.SourceClass([[0.8, 0.2], [0.6, 0.4]]), [0.3, 0.7])
    >>> found.gap < 1e-8, [round(float(p), 6) for p in found.pairs[-1][0].values]
    (True, [0.6, 0.4])
    """

    mechanism: Mechanism
    value: float
    upper_bound: float
    pairs: tuple[Pair, ...]
    design: Design

    @property
    def gap(self) -> float:
        """(upper bound − value)/upper bound."""
        return (self.upper_bound - self.value) / self.upper_bound if self.upper_bound else 0.0

    def __str__(self) -> str:
        return (
            f"worst case at least {number(self.value, 9)}; no mechanism exceeds {number(self.upper_bound, 9)} "
            f"(gap {number(self.gap, 3)}, decided by {len(self.pairs)} pairs of hypotheses)"
        )


def robust_design(
    epsilon: Any, class0: Any, class1: Any, divergence: Callable[[Any, Any], Divergence] = KL, tolerance: float = 1e-8
) -> RobustDesign:
    """The ε-LDP mechanism whose divergence is largest at the worst pair of two convex classes of hypotheses.

    Args:
        epsilon: nats, positive.
        class0, class1: a distribution, or an `ex.SourceClass` whose corners can be listed: a list stands for all
            mixtures of its members, `from_inequalities` for all that satisfy them.
        divergence: a class such as `ex.KL`, or a function of two distributions.
        tolerance: on the gap.

    Guarantee: value ≤ best worst case ≤ upper bound; the bound has the certificate of `design`, the value is a tangent
    in floats.

    Reference: KOV Section 6, which asks for it; P. Huber, V. Strassen, Annals of Statistics 1 (1973), for balls, where
    one pair decides: `ex.RobustDivergence`.

    >>> import extremal as ex
    >>> either = ex.SourceClass([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1]])
    >>> round(robust_design(1, either, [0.3, 0.3, 0.25, 0.15]).value, 8)
    0.01753751
    """
    corners = [_corners(given, name) for given, name in ((class0, "class0"), (class1, "class1"))]
    middle = [_mixture(c, np.full(len(c), 1 / len(c))) for c in corners]
    pairs = [(middle[0], middle[1])]
    best, bound = _tried(epsilon, pairs, corners, divergence)
    while best.gap > tolerance and bound not in pairs and len(pairs) < MOST_PAIRS:
        pairs.append(bound)
        found, bound = _tried(epsilon, pairs, corners, divergence)
        better = found if found.value > best.value else best
        upper = min(best.upper_bound, found.upper_bound)
        best = replace(found, mechanism=better.mechanism, value=better.value, upper_bound=upper)
    return best


def _tried(
    epsilon: Any,
    pairs: Sequence[Pair],
    corners: Sequence[Sequence[Prior]],
    divergence: Callable[[Any, Any], Divergence],
) -> tuple[RobustDesign, Pair]:
    """The design for the worst of these pairs, what it is worth at worst, and the pair that is worst for it."""
    utilities = [divergence(p, q) for p, q in pairs]
    found = design(LDP(epsilon), WorstCase(utilities) if len(utilities) > 1 else utilities[0])
    lowest, worst = _worst_pair(found.mechanism, corners, divergence)
    return RobustDesign(found.mechanism, lowest, found.upper_bound, tuple(pairs), found), worst


def _corners(given: Any, parameter: str) -> list[Prior]:
    """The corners of a class, or the one distribution."""
    if not isinstance(given, SourceClass):
        return [Prior(given, parameter)]
    return given.vertices()


def _mixture(corners: Sequence[Prior], shares: Floats) -> Prior:
    """The mixture with these shares, rounded to fractions that sum to 1: exactly in the hull."""
    whole = [max(0, round(float(s) * SHARES)) for s in shares]
    total = sum(whole)
    used = [(Fraction(w, total), c) for w, c in zip(whole, corners, strict=True)]
    return Prior([sum((share * c.fraction(x) for share, c in used), Fraction(0)) for x in range(len(corners[0]))])


def _worst_pair(
    mechanism: Mechanism, corners: Sequence[Sequence[Prior]], divergence: Callable[[Any, Any], Divergence]
) -> tuple[float, Pair]:
    """(a lower bound on the divergence over both hulls, a pair near the least): sequential quadratic programming, and
    the tangent where it stops."""
    from scipy.optimize import minimize

    q = mechanism.matrix
    reports = [np.array([c.values @ q for c in part]) for part in corners]  # of each corner
    sizes = [len(part) for part in corners]
    f = divergence(corners[0][0], corners[1][0])

    def split(shares: Floats) -> tuple[Floats, Floats]:
        return shares[: sizes[0]] @ reports[0], shares[sizes[0] :] @ reports[1]

    def value(shares: Floats) -> float:
        m0, m1 = split(shares)
        return float(f.perspective(m0, m1, m0 - m1).sum())

    def slopes(shares: Floats) -> Floats:
        m0, m1 = split(shares)
        ratio = m0 / m1
        slope = f.derivative(ratio)
        rest = f.excess(ratio - 1, ratio) - ratio * slope
        return np.concatenate([reports[0] @ slope, reports[1] @ rest])

    start = np.concatenate([np.full(n, 1 / n) for n in sizes])
    ends = (slice(None, sizes[0]), slice(sizes[0], None))
    found = minimize(
        value,
        start,
        jac=slopes,
        method="SLSQP",
        bounds=[(0, 1)] * len(start),
        constraints=[{"type": "eq", "fun": lambda s, part=part: s[part].sum() - 1} for part in ends],
        options={"ftol": 1e-15, "maxiter": 500},
    ).x
    shares = np.concatenate([np.clip(found[part], 0, 1) / np.clip(found[part], 0, 1).sum() for part in ends])
    slope = slopes(shares)
    fall = float(slope[ends[0]].min() + slope[ends[1]].min() - slope @ shares)
    pair = (_mixture(corners[0], shares[ends[0]]), _mixture(corners[1], shares[ends[1]]))
    return value(shares) + min(0.0, fall), pair


@dataclass(frozen=True)
class CorrelatedDesign:
    """The best two mechanisms for two people with correlated values; `str()` says what they are worth.

    Attributes:
        mechanisms: one for each person.
        value: the divergence of the pair of reports under the two hypotheses.
        equal: the most that two equal mechanisms reach.

    Made by `ex.theory.correlated_design`, which has the reference.

    >>> import extremal as ex
    >>> found = ex.theory.correlated_design([[0.4, 0.1], [0.1, 0.4]], [[0.25, 0.25], [0.25, 0.25]], 1)
    >>> found.value == found.equal, [m.m for m in found.mechanisms]
    (True, [2, 2])
    """

    mechanisms: tuple[Mechanism, Mechanism]
    value: float
    equal: float

    def __str__(self) -> str:
        return f"two mechanisms {number(self.value, 9)}; two equal ones {number(self.equal, 9)}"


def correlated_design(
    joint0: Any, joint1: Any, epsilon: Any, divergence: Callable[[Any, Any], Divergence] = KL
) -> CorrelatedDesign:
    """The two ε-LDP mechanisms, one for each of two people, whose reports together tell two joint distributions apart
    best.

    Args:
        joint0, joint1: k×k matrices of probabilities: the first person's value by the second's, under each hypothesis;
            k up to 4.
        epsilon: nats, positive.
        divergence: a class such as `ex.KL`, or a function of two distributions.

    Guarantee: the optimum over all pairs of ε-LDP mechanisms, in floats.

    Reference: KOV Section 6 asks for it; that people in like positions should be treated differently is found here.

    >>> import numpy as np
    >>> p0, p1 = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    >>> copied = [0.5 * np.diag(p) + 0.5 * np.outer(p, p) for p in (p0, p1)]
    >>> print(correlated_design(*copied, 0.5))
    two mechanisms 0.0214905605; two equal ones 0.0214564201
    """
    given = [matrix_in_order(j, name) for name, j in (("joint0", joint0), ("joint1", joint1))]
    joints = [np.asarray(j, dtype=np.float64) for j in given]
    k = len(joints[0])
    if any(j.shape != (k, k) or (j < 0).any() or abs(j.sum() - 1) > 1e-9 for j in joints) or k < 2:
        raise InvalidParameter(
            "both must be square matrices of probabilities of the same size", parameter="joint", value=joints[1].shape
        )
    if k > MOST_CORRELATED:
        raise TooLarge(f"pairs of vertices are tried for at most {MOST_CORRELATED} inputs", parameter="inputs", value=k)
    matrices = _vertices(k, epsilon)
    f = divergence(np.full(2, 0.5), np.full(2, 0.5))
    table = np.stack([_told(f, first, matrices, joints) for first in matrices])
    i, j = divmod(int(table.argmax()), len(matrices))
    made = tuple(Mechanism.from_matrix(_used(matrices[n]), LDP(epsilon)) for n in (i, j))
    return CorrelatedDesign((made[0], made[1]), float(table[i, j]), float(table.diagonal().max()))


def _told(f: Divergence, first: Floats, matrices: Floats, joints: list[Floats]) -> Floats:
    """The divergence of the pair of reports, from this first mechanism and each second one."""
    m0, m1 = (np.einsum("yz,nzw->nyw", first.T @ j, matrices).reshape(len(matrices), -1) for j in joints)
    used = m0 + m1 > 0
    worth = np.zeros_like(m0)
    worth[used] = f.perspective(m0[used], m1[used], (m0 - m1)[used])
    return np.asarray(worth.sum(axis=1))


def _used(matrix: Floats) -> Floats:
    return matrix[:, matrix.sum(axis=0) > 0]


def _vertices(k: int, epsilon: Any) -> Floats:
    """All vertices of the staircase program as matrices of k columns, zero ones last."""
    patterns = staircase_patterns(k, Exponential(epsilon).epsilon)
    found = []
    for chosen in itertools.combinations(range(patterns.shape[1]), k):
        columns = patterns[:, chosen]
        if np.linalg.matrix_rank(columns) < k:
            continue
        weights = np.linalg.solve(columns, np.ones(k))
        if (weights > -_FEASIBLE).all():
            weights = np.where(weights > _FEASIBLE, weights, 0.0)
            found.append(columns[:, np.argsort(-weights)] * np.sort(weights)[::-1])
    return np.unique(np.round(np.array(found), 15), axis=0)
