"""How the intervals of surveys with weights, strata or clusters scatter around the expected ones.

An interval is decided by the estimate θ̂ and its estimated variance V̂. θ̂ is followed over its quantiles, normal ones
corrected for its skewness (Cornish and Fisher 1938). Given θ̂ = θ + z√V, the mean of V̂/V is

    1 + γz + (κ − γ²)(z² − 1 − γz)/2,

the regression on z and z², γ and κ the skewness and the excess kurtosis of θ̂: the covariance of V̂ = ΣT² and (ΣT)^j is a
moment of the sum, and V̂ follows the gamma distribution with that mean and the variance
that is left: the χ² of the degrees of freedom where units are normal. Limits are those that the estimate would have
with θ̂ and V̂ (`Fit`): the design may hide a variance (`OneReport`), noise that is known has its variance. Where
contributions take two values they are Clopper and Pearson's, elsewhere their distances from θ̂ are in proportion to what
they are expected to be.

Reference: Cornish and Fisher, Revue de l'Institut International de Statistique 5 (1938).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc

from extremal.estimate.intervals.binomial import beta_limits, mapped
from extremal.estimate.reports.sampling import OneReport
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.linear import LinearEstimate
from extremal.exact.weights import Floats
from extremal.studies.planning.units import Moments, PlannedSampling, Scatter

FAR, NODES = 3.5, 141  # standard errors of θ̂ that are followed, in steps of 1/20: beyond are 5 in 10,000 surveys
APART = 20  # steps, a standard error: an interval that is narrow enough there with the largest V̂ is never too wide
SPREADS = np.linspace(-4.0, 4.0, 9)  # standard deviations of log V̂ where limits are taken: smooth, so that few do
SMOOTH = 0.004  # relative standard deviation of V̂ that is left at least: smaller than a step of θ̂ makes it
LEAST = 0.05  # of the mean of V̂/V given θ̂, whose line falls below zero where hardly any survey is
ROUNDING = 1e-9  # of a half-width

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Scattered:
    """Intervals of surveys with a planned sample.

    Attributes:
        expected: at the expected reports.
        sampling: how they will be drawn.
        level: of confidence.
        chosen: which intervals.
    """

    expected: LinearEstimate
    sampling: PlannedSampling
    level: float
    chosen: Places

    def missed(self, half_width: float) -> Floats:
        """The probability that each is wider."""
        kinds = np.round(np.column_stack([self._theta, self._scatter.relative, *self._ends, *self._range]), 12)
        first, back = np.unique(kinds, axis=0, return_index=True, return_inverse=True)[1:]
        return np.array([self._missed(int(j), half_width) for j in first])[back.ravel()]

    def _missed(self, j: int, half_width: float) -> float:
        z = np.linspace(-FAR, FAR, NODES)
        weight, skewness = np.exp(-(z**2) / 2), float(self._scatter.skewness[j])
        moved = z + skewness * (z**2 - 1) / 6
        bent, lost = float(self._scatter.bent[j]), float(self._scatter.lost[j])
        mean = np.maximum(1 - lost + skewness * moved + bent * (moved**2 - 1 - skewness * moved), LEAST)
        left = max(float(self._scatter.relative[j]) - skewness**2, SMOOTH**2)
        logs = np.log(mean)[:, None] + np.sqrt(np.log1p(left)) * SPREADS
        away = moved * np.sqrt(self._scatter.variance[j])
        if (self._half(j, away[::APART], np.exp(logs[::APART, -1])) <= half_width).all():
            return 0.0
        found = self._half(j, away[:, None], np.exp(logs))
        narrow = np.maximum.accumulate(found, axis=1) <= half_width + ROUNDING
        last = narrow.sum(axis=1)
        inner = np.clip(last, 1, SPREADS.size - 1)
        rows = np.arange(z.size)
        near, wide = found[rows, inner - 1], found[rows, inner]
        share = np.clip((half_width - near) / np.maximum(wide - near, ROUNDING), 0.0, 1.0)
        most = np.exp(logs[rows, inner - 1] + share * (logs[rows, inner] - logs[rows, inner - 1]))
        reached = gammainc(1 / left, most / mean / left)
        reached = np.where(last == 0, 0.0, np.where(last == SPREADS.size, 1.0, reached))
        return float(1 - (reached @ weight) / weight.sum())

    def _half(self, j: int, moved: Floats, factor: Floats) -> Floats:
        """Half-widths of interval j where the estimate has moved so far and its variance is so many times V."""
        shape = np.broadcast_shapes(moved.shape, factor.shape)
        theta = (self._theta[j] + np.broadcast_to(moved, shape)).ravel()
        ratio = np.broadcast_to(factor, shape).ravel()
        small, large = (v[j] for v in self._ends)
        least, most = (v[j] for v in self._range)
        if self._binary[j]:
            share = np.clip((theta - small) / (large - small), 0.0, 1.0)
            one = (large - small) ** 2 * share * (1 - share)
            n = self._worth(j, theta, one, ratio)
            inside, outside = (most - small) / (large - small), (least - small) / (large - small)
            low = beta_limits(n * np.minimum(share, inside), n, self.level)[..., 0]
            high = beta_limits(n * np.maximum(share, outside), n, self.level)[..., 1]
            limits = mapped(low, high, inside, outside)
            return np.asarray((most - least) * (limits[:, 1] - limits[:, 0]) / 2).reshape(shape)
        usual, slope = self._moments.b2[j : j + 1], self._moments.b3[j] / max(self._moments.b2[j], ROUNDING)
        one = np.maximum(usual + slope * (theta - self._theta[j]), 0.0)
        before = usual / self._worth(j, self._theta[j : j + 1], usual, np.ones(1))
        longer = np.sqrt(one / self._worth(j, theta, one, ratio) / np.maximum(before, ROUNDING**2))
        below, above = np.abs(self._uncut[j] - self._theta[j])
        high = np.minimum(most, np.maximum(theta, least) + above * longer)
        return np.asarray((high - np.maximum(least, np.minimum(theta, most) - below * longer)) / 2).reshape(shape)

    def _worth(self, j: int, theta: Floats, one: Floats, ratio: Floats) -> Floats:
        """How many independent reports are as precise."""
        small, large = (v[j] for v in self._ends)
        least, most = (v[j] for v in self._range)
        noise = self._noise[j] * float(self.sampling.noise.sum())
        variance = np.maximum(ratio * self._scatter.variance[j], noise)
        ends = np.column_stack([np.minimum(small - theta, 0.0), np.maximum(large - theta, 0.0)])
        told = np.full(theta.size, (most - least) / (large - small))
        report = OneReport(np.maximum(one, ROUNDING * variance), ends, told)
        return self.sampling.effective(report, variance, self.level, np.zeros((theta.size, 1)))

    @property
    def _fit(self) -> Fit:
        return self.expected.fit

    @cached_property
    def _theta(self) -> Floats:
        return self.expected.estimate[self.chosen]

    @cached_property
    def _binary(self) -> Any:
        return self._fit.inverse.binary(self._fit.combinations.matrix)[self.chosen]

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The least and the largest contribution of a report."""
        found = self._fit.inverse.extremes(self._fit.combinations.matrix)
        small, large = (np.broadcast_to(v, self.expected.estimate.shape)[self.chosen] for v in found)
        return small, large

    @cached_property
    def _range(self) -> tuple[Floats, Floats]:
        """The least and the largest value."""
        least, most = (v[self.chosen] for v in self._fit.combinations.range())
        return least, most

    @cached_property
    def _uncut(self) -> Floats:
        return self._fit.limits(None, self.level, cut=False)[self.chosen]

    @cached_property
    def _noise(self) -> Floats:
        """E Var(B | X)."""
        return np.asarray(np.maximum(self._moments.b2 - self._moments.g2, 0.0))

    @cached_property
    def _scatter(self) -> Scatter:
        return self.sampling.units.scatter(self._moments, self.expected.n)

    @cached_property
    def _moments(self) -> Moments:
        """By what a share, or a statistic, is of each input, and how frequent that is."""
        rows, theta = self._fit.combinations.matrix, self._theta[:, None]
        if rows is None and self._binary.all():  # all other inputs are alike
            a, p = np.tile([1.0, 0.0], (theta.size, 1)), np.column_stack([theta, 1 - theta])
        else:
            p = np.broadcast_to(self._fit.plausible, (theta.size, self._fit.plausible.size))
            a = np.eye(p.shape[1])[self.chosen] if rows is None else rows[self.chosen]
        g = a - theta
        c, d, fourth = self._powers(a)

        def mean(values: Floats) -> Floats:
            return np.asarray((values * p).sum(axis=1))

        of_answers = mean(g**2), mean(g**3), mean(g**4)
        return Moments(
            mean(c), mean(d), mean(fourth), *of_answers, mean(c * g), mean(c * g**2), mean(c**2), mean(d * g)
        )

    def _powers(self, a: Floats) -> tuple[Floats, Floats, Floats]:
        """E (B − θ)^j given each input, j = 2 to 4. If reports are not listed, (B − θ)² has the largest variance that a
        bounded B can have, and no skewness."""
        theta = self._theta[:, None]
        small, large = (v[:, None] - theta for v in self._ends)
        share = np.clip((a - theta - small) / (large - small), 0.0, 1.0)
        second, third, fourth = (share * large**j + (1 - share) * small**j for j in (2, 3, 4))
        if self._binary.all():
            return second, third, fourth
        influence, back = self._fit.inverse.influence(a), self._fit.combinations.channel.back
        if influence is not None:
            away = influence.T - self._theta
            return back(away**2).T, back(away**3).T, back(away**4).T
        two = self._binary[:, None]
        given = np.maximum(self._fit.inverse.moments(a) - 2 * theta * a + theta**2, 0.0)
        bounded = np.maximum(large, -small) ** 2 * given
        return np.where(two, second, given), np.where(two, third, 0.0), np.where(two, fourth, bounded)
