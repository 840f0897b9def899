"""How well units show a variance: degrees of freedom, and the share of it that is seen.

A statistic Σ_i a_i y_i has the linearised variance Σ_c u_c², u_c what unit c adds to it after something was fitted:

    u_c = Σ_{i in c} a_i y_i − Σ_k B_ck (Σ_i K_ik y_i),   then centred within strata, times √(n_h/(n_h − 1)).

For a weighted mean a = w/Σw, B_c = Σ_{i in c} a_i and K = a. What is fitted is pulled towards the large units, so that
their deviations are too small, and Σu² scatters as if units were fewer (Bell and McCaffrey 2002). In a working model, y
normal with covariance Ω, all of it is known: u = S y has the covariance M = SΩSᵀ, and how often θ = Σ a_i y_i lies
more than q·√Σu² from its expectation is an integral (`_beyond`). `Degrees` are those of Student's distribution that
reaches as far at two levels, when Σu² is divided by `seen`: limits are t_number·√(Σu²/seen) around the estimate, the
standard error that is reported stays √Σu². Equal units give number = units − strata and seen = 1 whatever the
correlation within them. Satterthwaite's number (tr M)²/tr M² with seen = tr M/Var θ, which is the usual choice, ignores
that a large unit moves θ and Σu² together, and makes intervals of six clusters of 10 to 240 people 1.7 times as long.

The working model gives two people of a unit the correlation `ALIKE`, far above what surveys find: the variance of a
unit's sum is nearly proportional to its squared size, the most unequal that there is, and less of it only makes
intervals hold more often.

References: Satterthwaite, Biometrics Bulletin 2 (1946); Bell and McCaffrey, Survey Methodology 28 (2002); Craig, IEEE
MILCOM (1991), for the integral; Imbens and Kolesár, Rev. Econ. Statist. 98 (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from extremal.columns.lists import Codes
from extremal.estimate.intervals.levels import quantile
from extremal.exact.weights import Floats

ALIKE = 0.5  # correlation of two people of one unit; 1 would call sums of opposite signs within a unit known
LEVELS = (0.8, 0.95, 0.99, 0.999)  # of intervals, the last for several of them together
MATCHED = slice(1, 3)  # of those, which decide the number of degrees
MOST_UNITS = 500  # whose covariance is looked at as a matrix (0.1 s); beyond, two moments of it
RANK = 1e-13  # relative: eigenvalues of a covariance below are rounding
NEAR, FAR = 0.1, 1e8  # standard errors between which every interval of these levels reaches, or nothing is known
FEWEST = 0.2  # degrees: one is what two units have, and rescaled that is the longest tail
TOLERANCE = 1e-12  # relative: far below what anybody reads from degrees of freedom
NODES = 64  # of the integral, whose integrand is smooth: 1e-12 with 2 to 500 units
HIDDEN = 1 / 3  # below this share of a variance, one unit has two thirds of the weight
USUAL = 0.95  # level of intervals


@dataclass(frozen=True)
class Degrees:
    """Of an estimated variance, or of one for each coefficient.

    Attributes:
        number: of degrees of freedom.
        seen: what the variance is divided by, as units show only part of it.
    """

    number: Any
    seen: Any = 1.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Says so where one unit has most of the weight."""
        if self.seen >= HIDDEN:
            return ()
        far = reach(USUAL, self)
        return (f"One cluster has most of the weight: {USUAL:.0%} intervals reach {far:.3g} standard errors.",)


def reach(level: float, degrees: Degrees | float | None) -> Any:
    """How many standard errors an interval of this level reaches: Student's quantile over √seen, the normal one without
    degrees; a number, or one for each of several degrees.

    >>> round(float(reach(0.95, 5)), 3), round(reach(0.95, None), 3)
    (2.571, 1.96)
    """
    if degrees is None:
        return quantile(level)
    from scipy.special import stdtrit

    found = degrees if isinstance(degrees, Degrees) else Degrees(degrees)
    with np.errstate(divide="ignore"):
        return stdtrit(found.number, (1 + level) / 2) / np.sqrt(found.seen)


def sums(values: Floats, units: Codes, size: int) -> Floats:
    """Of each unit, a row for each; values have a row for each respondent."""
    columns = [np.bincount(units, weights=column, minlength=size) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


def within_strata(z: Floats, strata: Codes, size: int) -> Floats:
    """Rows of units less the mean of their stratum, times √(n_h/(n_h − 1)); a stratum's only unit stays as it is."""
    count = np.bincount(strata, minlength=size)
    means = sums(z, strata, size) / np.maximum(count, 1)[:, None]
    means[count == 1] = 0.0
    factor = np.sqrt(np.where(count > 1, count / np.maximum(count - 1, 1), 1.0))
    return np.asarray((z - means[strata]) * factor[strata, None])


@dataclass(frozen=True, eq=False)
class Deviations:
    """How a statistic deviates between units under the working model, before strata.

    Attributes:
        own: the variance of Σ_{i in c} a_i y_i, for each unit.
        fitted: its covariances with Σ_i K_ik y_i, a row for each unit.
        taken: B, a row for each unit.
        among: the covariance of the Σ_i K_ik y_i.
    """

    own: Floats
    fitted: Floats
    taken: Floats
    among: Floats

    @classmethod
    def of_rows(cls, a: Floats, slopes: Floats, taken: Floats, units: Codes) -> Deviations:
        """For each respondent a_i and a row of K; `taken` has a row for each unit."""
        size = len(taken)
        whole = sums(np.column_stack([a, slopes]), units, size)
        single = sums(np.column_stack([a, slopes]) * a[:, None], units, size)
        crossed = ALIKE * whole * whole[:, :1] + (1 - ALIKE) * single
        among = ALIKE * whole[:, 1:].T @ whole[:, 1:] + (1 - ALIKE) * slopes.T @ slopes
        return cls(crossed[:, 0], crossed[:, 1:], taken, np.asarray(among))

    def moments(self, strata: Codes, size: int) -> tuple[float, float]:
        """tr M and tr M², from M = A(D − UBᵀ − BUᵀ + BQBᵀ)A without a matrix of units by units."""
        p = len(self.among)
        z = within_strata(np.hstack([self.fitted, self.taken]), strata, size)
        turned = np.block([[np.zeros((p, p)), -np.eye(p)], [-np.eye(p), self.among]])
        again = within_strata(z, strata, size)
        gram, through = turned @ (z.T @ z), turned @ (again.T @ (self.own[:, None] * again))
        count = np.bincount(strata, minlength=size)
        both = sums(np.column_stack([self.own, self.own**2]), strata, size)
        several = np.maximum(count, 2)
        spread = (both[:, 1] * (1 - 2 / several) + (both[:, 0] / several) ** 2) * (several / (several - 1)) ** 2
        squares = np.where(count > 1, spread, both[:, 1]).sum() + 2 * np.trace(through) + np.trace(gram @ gram)
        return float(self.own.sum() + np.trace(gram)), float(squares)

    def matrix(self, strata: Codes, size: int) -> Floats:
        """M itself."""
        crossed = self.fitted @ self.taken.T
        m = np.diag(self.own) - crossed - crossed.T + self.taken @ self.among @ self.taken.T
        return within_strata(within_strata(m, strata, size).T, strata, size)

    def degrees(self, strata: Codes, size: int) -> Degrees:
        """Of the variance of this statistic."""
        true = float(self.own.sum())
        if not true > 0:
            return Degrees(1.0, 0.0)
        if len(self.own) > MOST_UNITS:
            trace, squares = self.moments(strata, size)
            return Degrees(max(trace**2 / squares, 1.0), min(trace / true, 1.0))
        sizes, directions = np.linalg.eigh(self.matrix(strata, size) / true)
        with_it = within_strata((self.own - self.taken @ self.fitted.sum(axis=0))[:, None], strata, size)[:, 0] / true
        kept = sizes > RANK
        return _matched(sizes[kept], (with_it @ directions[:, kept]) ** 2, float(len(self.own) - size))


def degrees_of(statistics: Sequence[Deviations], strata: Codes, size: int) -> Degrees:
    """The least of these statistics, of each number."""
    found = [one.degrees(strata, size) for one in statistics]
    return Degrees(min(one.number for one in found), min(one.seen for one in found))


def degrees_of_mean(variances: Floats, weights: Floats, parts: Sequence[Degrees]) -> Degrees:
    """Of a mean of independent estimates whose weights were found from their variances, the least over its columns.

    With fixed weights the square of half an interval is at most Σ t_i²V_i, t_i what a part reaches alone (Banerjee
    1960). Weights ω_i of estimated precision make ΣV_i too small by the factor 1 + 4 Σ ω_i(1 − ω_i)/f_i (Meier 1953).
    Satterthwaite's number for ΣV_i is too large where a V_i of few degrees came out small by chance, and with it the
    weight large: four clusters beside 300 single reports are covered in 88% at 95%, with these in 95%.

    Args:
        variances: V_i, what each part adds to the variance: a row for each part.
        weights: ω_i, likewise.
        parts: the degrees of each.

    References: Banerjee, Sankhyā 22 (1960); Meier, Biometrics 9 (1953).
    """
    number = np.array([[part.number] for part in parts])
    whole = np.maximum(variances.sum(axis=0), np.finfo(np.float64).tiny)
    found = 1 + 4 * (weights * (1 - weights) / number).sum(axis=0)
    squares = [(np.array([[reach(level, part)] for part in parts]) ** 2 * variances).sum(axis=0) for level in LEVELS]
    return _student(np.sqrt([(one * found / whole).max() for one in squares]), float(number.sum()))


def _matched(sizes: Floats, shared: Floats, most: float) -> Degrees:
    """Those of θ over √Σu².

    Args:
        sizes: eigenvalues of M, relative to the variance of θ.
        shared: squared covariances of θ with their directions, relative to its squared variance.
        most: degrees, units less strata.
    """
    from scipy.optimize import brentq

    def excess(log_x: float, level: float) -> float:
        return _beyond(float(np.exp(log_x)), sizes, shared)[1] - (1 - level)

    ends = 2 * np.log(NEAR), 2 * np.log(FAR)
    if not sizes.size or excess(ends[1], LEVELS[-1]) > 0:
        return Degrees(1.0, 0.0)
    roots = [float(np.exp(brentq(excess, *ends, args=(level,), xtol=TOLERANCE))) for level in LEVELS]
    return _student(np.array([_beyond(x, sizes, shared)[0] for x in roots]), most)


def _student(far: Floats, most: float) -> Degrees:
    """Those of Student's distribution, rescaled, that reaches at least as far at all `LEVELS`, and has the ratio of two
    of them; at most so many."""
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    if not np.isfinite(far).all():
        return Degrees(1.0, 0.0)
    tails = (1 + np.array(LEVELS)) / 2

    def ratio(number: float) -> float:
        near, distant = stdtrit(number, tails[MATCHED])
        return float(distant / near - far[MATCHED][1] / far[MATCHED][0])

    number = most if ratio(most) >= 0 else brentq(ratio, FEWEST, most, xtol=TOLERANCE)
    return Degrees(float(number), float(min(((stdtrit(number, tails) / far) ** 2).min(), 1.0)))


def _beyond(x: float, sizes: Floats, shared: Floats) -> tuple[float, float]:
    """q and P(θ² > q²·Σu²) for θ of variance 1. With c_j the share of θ's variance that direction j of u explains, and
    r the rest, the form θ² − q²Σu² has one positive eigenvalue h, and its other ones enter through a determinant:

        2/π ∫_0^{π/2} [Π_j (1 + xyλ_j) · (r + Σ_j c_j/((1 + xλ_j)(1 + xyλ_j)))/h]^(−1/2) dφ,   y = 1/cos²φ,

    h = r + Σ_j c_j/(1 + xλ_j) and q² = xh (P(Z² > Q) = E erfc √(Q/2) for Z normal and independent of Q, with Craig's
    integral for erfc)."""
    y, weights = _nodes()
    explained = shared / sizes
    rest = max(1 - float(explained.sum()), 0.0)
    near, spread = 1 + x * sizes, 1 + np.multiply.outer(x * y, sizes)
    positive = rest + float((explained / near).sum())
    logs = np.log(spread).sum(axis=1) + np.log((rest + (explained / (near * spread)).sum(axis=1)) / positive)
    return float(np.sqrt(x * positive)), float(weights @ np.exp(-logs / 2)) / 2


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Of Gauss and Legendre's rule, as 1/cos²φ."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return 1 / np.cos((nodes + 1) * np.pi / 4) ** 2, np.asarray(weights)
