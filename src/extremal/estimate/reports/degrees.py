"""How well units show a variance: degrees of freedom, and the share of it that is seen.

A statistic Σ_i a_i y_i has the linearised variance Σ_c u_c², u_c what unit c adds to it after something was fitted:

    u_c = Σ_{i in c} a_i y_i − Σ_k B_ck (Σ_i K_ik y_i),   then centred within strata, times √(n_h/(n_h − 1)).

For a weighted mean a = w/Σw, B_c = Σ_{i in c} a_i and K = a. What is fitted is pulled towards the large units, so that
their deviations are too small: E Σu² is less than the variance, and Σu² scatters as if units were fewer. Under a
working model for y with covariance Ω both are known. With u = S y and M = SΩSᵀ,

    seen = tr M / Var(Σ a_i y_i),   number = (tr M)²/tr M²

(Satterthwaite 1946; Bell and McCaffrey 2002). Limits are t_number·√(Σu²/seen) around the estimate; the standard error
that is reported stays √Σu². The working model gives two people of a unit the correlation `ALIKE`, far above what
surveys find: the variance of a unit's sum is nearly proportional to its squared size, the most unequal that there is.
Equal units give seen = 1 and number = units − strata whatever the correlation.

References: Satterthwaite, Biometrics Bulletin 2 (1946); Bell and McCaffrey, Survey Methodology 28 (2002); Imbens and
Kolesár, Rev. Econ. Statist. 98 (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.columns.lists import Codes
from extremal.estimate.intervals.levels import quantile
from extremal.exact.weights import Floats

ALIKE = 0.5  # correlation of two people of one unit; 1 would call sums of opposite signs within a unit known
HIDDEN = 0.5  # of a variance: where less is seen, one unit has most of the weight


@dataclass(frozen=True)
class Degrees:
    """Of an estimated variance, or of one for each coefficient.

    Attributes:
        number: of degrees of freedom.
        seen: the share of the variance that its estimate has on average.
    """

    number: Any
    seen: Any = 1.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Says so where one unit has most of the weight."""
        if self.seen >= HIDDEN:
            return ()
        shown = f"clusters show {self.seen:.0%} of the variance, with {self.number:.2g} degrees of freedom"
        return (f"One cluster has most of the weight: {shown}. Standard errors are too small, intervals allow for it.",)


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


def degrees_of(statistics: Sequence[Deviations], strata: Codes, size: int) -> Degrees:
    """Of the sum of the variances of these statistics. That |Σ M_j| ≤ Σ |M_j| makes them a bound for several."""
    true = sum(float(one.own.sum()) for one in statistics)
    moments = [one.moments(strata, size) for one in statistics]
    trace = sum(first for first, _ in moments)
    root = sum(np.sqrt(max(second, 0.0)) for _, second in moments)
    if not (true > 0 and trace > 0 and root > 0):
        return Degrees(1.0, 0.0)
    return Degrees(max(float(trace / root) ** 2, 1.0), min(float(trace / true), 1.0))
