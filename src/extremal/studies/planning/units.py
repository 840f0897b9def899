"""The units of a planned survey: what people of clusters, strata and different weights will show of an estimate.

B is what a report contributes, a_X = E(B | X). Randomisation is drawn for each person alone, so that the contributions
of two people of one unit have the covariance ρ Var a_X, ρ the intraclass correlation of their answers, and with weights
of sum W the estimate has the variance

    V = Σ_c [Σ_{i in c} w_i² Var B + ρ (W_c² − Σ_{i in c} w_i²) Var a_X] / W².

How V̂ scatters is decided by third and fourth moments of what a unit adds, T = Σ_{i in c} w_i (B_i − θ). Answers of a
cluster are taken to follow shares that are Dirichlet with the intraclass correlation ρ (beta and binomial for two
answers): the next person repeats the answer of each one before with probability ρ/(1 + jρ − ρ), j their number, else
draws afresh (Blackwell and MacQueen 1973), so that moments are sums over who repeats whom.

Reference: Blackwell and MacQueen, Ann. Statist. 1 (1973).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from extremal.columns.lists import Codes
from extremal.estimate.channels.channel import Inverse
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.reports.degrees import Degrees, reach
from extremal.estimate.reports.sampling import DrawnSample, OneReport, Sampling
from extremal.exact.weights import Floats

LEAST_SEEN = 1e-3  # of a variance: limits of so few units that they show less are those of knowing nothing


class Moments(NamedTuple):
    """Of one person, a column for each statistic: b = B − θ given the answer X, with g = E(b | X), c = E(b² | X) and
    d = E(b³ | X)."""

    b2: Floats
    b3: Floats
    b4: Floats
    g2: Floats
    g3: Floats
    g4: Floats
    cg: Floats
    cgg: Floats
    cc: Floats
    dg: Floats


class Scatter(NamedTuple):
    """Of an estimate θ̂ and its estimated variance V̂.

    Attributes:
        variance: of θ̂.
        skewness: of θ̂, which is the covariance of its standardised value and V̂/V.
        relative: the variance of V̂/V.
        bent: the regression of V̂/V on the square of the standardised value, less what its skewness explains.
        lost: how much V̂/V misses of 1 on average.
    """

    variance: Floats
    skewness: Floats
    relative: Floats
    bent: Floats
    lost: Floats


@dataclass(frozen=True, eq=False)
class Units:
    """Those of a sample, for surveys of n people like it.

    Attributes:
        people: m, how many the sample has.
        strata: of each unit, a code.
        powers: Σ w_i^j of each unit, j = 1 to 4, for weights of mean 1: a row for each j.
        alike: ρ, of the answers of two people of a unit.
        together: what people of one unit who are alike add to the noise of each stratum.
        degrees: those of the sample; None for weights alone, which an estimate takes as known.
    """

    people: int
    strata: Codes
    powers: Floats
    alike: float
    together: Floats
    degrees: Degrees | None

    @classmethod
    def of(cls, drawn: DrawnSample, alike: float) -> Units:
        """Those of a sample that was drawn."""
        w, size = drawn.weights / drawn.weights.mean(), drawn.strata.size
        powers = np.stack([np.bincount(drawn.units, weights=w**j, minlength=size) for j in range(1, 5)])
        degrees = None if drawn.plain else drawn.degrees
        return cls(w.size, drawn.strata, np.asarray(powers, dtype=np.float64), alike, drawn.together, degrees)

    def sampling(self, n: int, size: int, words: str) -> PlannedSampling:
        """That of a survey of n people, for a statistic of this size."""
        shrink = self.people / n
        noise = self._by_stratum(self.powers[1]) / self.people**2
        degrees = self.at(n)
        return PlannedSampling(
            np.zeros((size, 0)),
            np.zeros(0, np.intp),
            np.zeros(noise.size),
            noise * shrink,
            np.zeros((size, 1)),
            self.together * shrink,
            Degrees(np.inf) if degrees is None else degrees,
            words,
            units=self,
            people=n,
        )

    def at(self, n: int) -> Degrees | None:
        """Degrees of freedom of n people: units less strata, as many of each as in the sample."""
        if self.degrees is None:
            return None
        units, strata = self.powers.shape[1], self.together.size
        share = n / self.people
        more = max(units * share - strata, 1.0) / max(units - strata, 1.0)
        seen = 1 - (1 - float(self.degrees.seen)) / share
        return Degrees(max(1.0, float(self.degrees.number) * more), min(1.0, max(LEAST_SEEN, seen)))

    def variance(self, one: Floats, told: Floats, n: int) -> Floats:
        """Of an estimate, from that of one report and that of E(B | X)."""
        own, pairs = self.powers[1].sum(), (self.powers[0] ** 2 - self.powers[1]).sum()
        return np.asarray((own * one + pairs * self.alike * told) / (self.people * n))

    @property
    def apart(self) -> Floats:
        """How much more than the whole the mean of each stratum varies around it."""
        first, second = self.powers[:2]
        own = self._by_stratum(second + self.alike * (first**2 - second))
        share = self._by_stratum(first) / self.people
        return np.asarray(np.maximum(own / own.sum() / share**2 * (1 - 2 * share) + 1, 0.0))

    def scatter(self, one: Moments, n: int) -> Scatter:
        """Of surveys of n people."""
        r = self.alike
        s1, s2, s3, s4 = self.powers
        pairs, fresh = s1**2 - s2, (1 - r) * r / (1 + r)
        triple, four = r**2 / (1 + r), r**2 / ((1 + r) * (1 + 2 * r))
        second = np.multiply.outer(s2, one.b2) + np.multiply.outer(pairs, r * one.g2)
        total = second.sum(axis=0)
        whole = np.where(total > 0, total, 1.0)  # a constant does not scatter
        third = s3.sum() * one.b3 + 3 * (s2 * s1 - s3).sum() * r * one.cg
        third = third + 2 * (s1**3 - 3 * s1 * s2 + 2 * s3).sum() * triple * one.g3
        fourth = s4.sum() * one.b4 + 4 * (s3 * s1 - s4).sum() * r * one.dg
        fourth = fourth + 3 * (s2**2 - s4).sum() * (r * one.cc + (1 - r) * one.b2**2)
        two = 2 * triple * one.cgg + fresh * one.b2 * one.g2
        fourth = fourth + 6 * (s2 * s1**2 - s2**2 - 2 * s3 * s1 + 2 * s4).sum() * two
        apart = (s1**4 - 6 * s1**2 * s2 + 3 * s2**2 + 8 * s1 * s3 - 6 * s4).sum()
        fourth = fourth + apart * four * (6 * r * one.g4 + 3 * (1 - r) * one.g2**2)
        squares, shrink, degrees = (second**2).sum(axis=0), self.people / n, self.at(n)
        alone = shrink * squares / whole**2
        normal = 2 * alone if degrees is None else 2 / degrees.number
        excess = shrink * (fourth - 3 * squares) / whole**2
        skewness = np.sqrt(shrink) * third / whole**1.5
        bent, lost = (excess - skewness**2) / 2, alone if degrees is None else np.zeros_like(alone)
        return Scatter(total / (self.people * n), skewness, normal + excess, bent, lost)

    def _by_stratum(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.strata, values, self.together.size))


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedSampling(Sampling):
    """How the statistic of a planned survey is expected to deviate between units.

    Attributes:
        units: those of a sample like it.
        people: how many.
    """

    units: Units
    people: int

    def variances(self, inverse: Inverse, rows: Floats | None, p: Floats) -> Floats:
        """Of these linear functions, expected."""
        if rows is None:
            return self.units.variance(inverse.variances(p, p), p * (1 - p), self.people)
        at = rows @ p
        return self.units.variance(inverse.moments(rows) @ p - at**2, rows**2 @ p - at**2, self.people)

    def effective(self, one: OneReport, variance: Floats, level: float, apart: Floats) -> Floats:
        """As an estimate will find it; strata, whose answers are alike, are apart by chance, on either side. A constant
        is known from everybody."""
        away = np.sqrt(np.multiply.outer(variance, self.units.apart))
        noise, together = (np.tile(v / 2, 2) for v in (self.noise, self.together))
        found = one.worth(variance, level, np.hstack([away, -away]), noise, together)
        found = np.where(variance > 0, found, self.people)
        return np.asarray(found * (quantile(level) / reach(level, self.degrees)) ** 2)
