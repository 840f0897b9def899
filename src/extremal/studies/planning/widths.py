"""Expected widths of the intervals of a survey, before it is made.

The half-width of a cell is half the length of the interval that `ex.estimate_frequencies` reports when every report is
as frequent as expected. At a given prior that is read off the estimate itself (`extremal.estimate.expected`).

Without a prior it is the largest over all priors, and that needs no search over the simplex. Where the count behind
cell x is binomial, its interval depends on p(x) alone. Elsewhere the score interval at p(x) = t grows with the second
moment of one report's contribution, t·M(x, x) + Σ_{z≠x} p(z)·M(x, z), at t and on both lines that lead away from it;
so the worst prior with p(x) = t puts all the rest on the z with the largest M(x, z). One number t is left for each
cell. Limits are cut to [0, 1], so that the largest length may lie next to an end; t is searched on a grid that is
refined three times, to about 10^-5.

For the statistics of a workload it is read off `ex.estimate_workload` in the same way, at the workload's own prior; of
a class of priors, at the one with the largest total variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Flags
from extremal.estimate.expected import expected_estimate, expected_workload
from extremal.estimate.intervals.binomial import mapped_limits
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.workload import WorkloadEstimate, statistics_of
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.studies.planning.design_effect import DesignEffect
from extremal.utility import Workload

GRID = 33  # values of t in each round, which narrows their step by 16
SPREADS = 8.0  # standard deviations of a count that are looked at; what is beyond is counted as too wide
ROUNDING = 1e-9  # of a half-width
ROUNDS = 4  # to a step of 1/(32·16³) < 10^-5


class Reached(NamedTuple):
    """The widest interval: its half-width, what it is about, and what that is at the prior in question."""

    half_width: float
    about: Any
    value: float


class Widths(Protocol):
    """The widest interval as a function of the number of reports."""

    def at(self, n: int) -> Reached:
        """With n reports."""
        ...

    def assurance(self, n: int, half_width: float) -> float | None:
        """A lower bound on the probability that no interval of a survey is wider; None where it is not known."""
        ...


@dataclass(frozen=True, eq=False)
class Thinned:
    """Of people who are not drawn one by one."""

    widths: Widths
    effect: DesignEffect
    level: float

    def at(self, n: int) -> Reached:
        """With n reports."""
        return self.widths.at(self.effect.worth(n, self.level))

    def assurance(self, _n: int, _half_width: float) -> float | None:
        """Not known: the spread between clusters differs from survey to survey."""
        return None


@dataclass(frozen=True, eq=False)
class AtPrior:
    """At one prior."""

    mechanism: Mechanism
    prior: Prior
    level: float

    def at(self, n: int) -> Reached:
        """With n reports."""
        expected = expected_estimate(self.mechanism, self.prior, n)
        return _widest(expected.interval(self.level), expected.inputs, expected.estimate)

    def assurance(self, n: int, half_width: float) -> float | None:
        """By the binomial counts of all cells, put together by Bonferroni."""
        expected = expected_estimate(self.mechanism, self.prior, n)
        inverse = expected.fit.inverse
        if not inverse.binary(None).all():
            return None
        p = expected.estimate
        small, large = (np.broadcast_to(v, p.shape) for v in inverse.extremes(None))
        return _assured(n, self.level, half_width, (1 - small) / (large - small), -small / (large - small), p)


@dataclass(frozen=True, eq=False)
class PlainAtPrior:
    """At one prior, without randomisation."""

    labels: tuple[Any, ...]
    prior: Prior
    level: float

    def at(self, n: int) -> Reached:
        """With n answers."""
        p = self.prior.values
        limits = mapped_limits(np.rint(n * p).astype(np.int64), n, self.level, np.ones(p.size), np.zeros(p.size))
        return _widest(limits, self.labels, p)

    def assurance(self, n: int, half_width: float) -> float | None:
        """As with a mechanism."""
        p = self.prior.values
        return _assured(n, self.level, half_width, np.ones(p.size), np.zeros(p.size), p)


@dataclass(frozen=True, eq=False)
class AtWorst:
    """At the worst prior: whatever the frequencies turn out to be, no expected interval is wider."""

    mechanism: Mechanism
    level: float

    @cached_property
    def _cells(self) -> tuple[Flags, Floats, Floats, tuple[Any, ...]]:
        """Which cells are binomial, and two numbers of each: P(counted | in it), P(counted | not in it); or its largest
        second moments given an input in it, and not."""
        mechanism, channel = self.mechanism, channel_of(self.mechanism)
        combinations = Combinations.inputs(mechanism, channel)
        inverse = channel.inverse(row_prior(mechanism, None))
        binomial = inverse.binary(None)
        small, large = (np.broadcast_to(v, binomial.shape) for v in inverse.extremes(None))
        inside, outside = (1 - small) / (large - small), -small / (large - small)
        labels = combinations.names
        if not binomial.all():
            moments = np.array(inverse.moments(None))
            own = np.diagonal(moments).copy()
            np.fill_diagonal(moments, -np.inf)
            inside, outside = np.where(binomial, inside, own), np.where(binomial, outside, moments.max(axis=1))
        # Cells of a symmetric mechanism are alike up to rounding: one of each kind is enough.
        kinds = np.column_stack([binomial, _significant(inside), _significant(outside)])
        first = np.sort(np.unique(kinds, axis=0, return_index=True)[1])
        return binomial[first], inside[first], outside[first], tuple(labels[x] for x in first.tolist())

    def at(self, n: int) -> Reached:
        """With n reports."""
        binomial, first, second, labels = self._cells
        low, high = np.zeros(first.size), np.ones(first.size)
        for _ in range(ROUNDS):
            t = low + (high - low) * np.linspace(0, 1, GRID)[:, None]
            widths = np.empty(t.shape)
            if binomial.any():
                widths[:, binomial] = _binomial(t[:, binomial], n, self.level, first[binomial], second[binomial])
            if not binomial.all():
                rest = ~binomial
                widths[:, rest] = _score(t[:, rest], n, self.level, first[rest], second[rest])
            best = widths.argmax(axis=0)
            step = (high - low) / (GRID - 1)
            middle = low + step * best
            low, high = np.maximum(0.0, middle - step), np.minimum(1.0, middle + step)
        widest = int(widths.max(axis=0).argmax())
        return Reached(float(widths.max()), labels[widest], float(middle[widest]))

    def assurance(self, n: int, half_width: float) -> float | None:
        """No count has a wider interval than the worst one."""
        return 1.0 if self._cells[0].all() and half_width >= self.at(n).half_width - ROUNDING else None


@dataclass(frozen=True, eq=False)
class PlainAtWorst:
    """At the worst prior, without randomisation."""

    label: Any
    level: float

    def at(self, n: int) -> Reached:
        """With n answers: a share of one half has the widest interval."""
        t = np.linspace(0, 1, 2 * GRID - 1)
        widths = _binomial(t, n, self.level, np.ones(t.size), np.zeros(t.size))
        best = int(widths.argmax())
        return Reached(float(widths[best]), self.label, float(t[best]))

    def assurance(self, n: int, half_width: float) -> float | None:
        """As with a mechanism."""
        return 1.0 if half_width >= self.at(n).half_width - ROUNDING else None


@dataclass(frozen=True, eq=False)
class OfStatistics:
    """Of a workload's statistics, by `ex.estimate_workload`."""

    mechanism: Mechanism
    workload: Workload
    level: float

    @cached_property
    def _expected(self) -> Callable[[int], WorkloadEstimate]:
        return expected_workload(self.mechanism, self.workload)

    def at(self, n: int) -> Reached:
        """With n reports."""
        expected = self._expected(n)
        return _widest(expected.interval(self.level), expected.names, expected.estimate)

    def assurance(self, _n: int, _half_width: float) -> float | None:
        """Not known."""
        return None


@dataclass(frozen=True, eq=False)
class OfPlainStatistics:
    """The same without randomisation: means of what each answer is worth."""

    labels: Sequence[Any]
    workload: Workload
    prior: Floats
    level: float

    def at(self, n: int) -> Reached:
        """With n answers."""
        names, rows = statistics_of(self.workload, self.labels)
        p = self.prior
        centre = rows @ p
        variance = np.maximum(rows**2 @ p - centre**2, 0.0)
        reach = quantile(self.level) * np.sqrt(variance / (n - 1))
        low, high = np.maximum(rows.min(axis=1), centre - reach), np.minimum(rows.max(axis=1), centre + reach)
        return _widest(np.column_stack([low, high]), names, centre)

    def assurance(self, _n: int, _half_width: float) -> float | None:
        """Not known."""
        return None


def _assured(n: int, level: float, half_width: float, inside: Floats, outside: Floats, p: Floats) -> float:
    """P(every interval is at most so wide), at least: one minus the sum over the cells of P(its interval is wider)."""
    from scipy.special import bdtr, bdtrc

    missed = 0.0
    cells, times = np.unique(np.column_stack([inside, outside, p]), axis=0, return_counts=True)
    for (a, b, share), count in zip(cells.tolist(), times.tolist(), strict=True):
        t = min(max(b + (a - b) * share, 0.0), 1.0)
        reach = SPREADS * math.sqrt(n * t * (1 - t)) + SPREADS
        x = np.arange(max(0, math.floor(n * t - reach)), min(n, math.ceil(n * t + reach)) + 1)
        limits = mapped_limits(x, n, level, np.full(x.size, a), np.full(x.size, b))
        wide = (limits[:, 1] - limits[:, 0]) / 2 > half_width + ROUNDING
        below = bdtr(x.astype(np.float64), n, t)
        chance = np.diff(below, prepend=0.0 if x[0] == 0 else float(bdtr(x[0] - 1.0, n, t)))
        beyond = float(bdtrc(float(x[-1]), n, t)) + (float(bdtr(x[0] - 1.0, n, t)) if x[0] > 0 else 0.0)
        missed += count * (float(chance[wide].sum()) + beyond)
    return max(0.0, 1.0 - missed)


def _significant(values: Floats) -> Floats:
    """Rounded to ten digits."""
    unit = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(values), 1e-300))) - 9)
    return np.asarray(np.rint(values / unit) * unit)


def _binomial(t: Floats, n: int, level: float, inside: Floats, outside: Floats) -> Floats:
    count = np.rint(n * (outside + (inside - outside) * t)).astype(np.int64)
    limits = mapped_limits(count, n, level, np.broadcast_to(inside, t.shape), np.broadcast_to(outside, t.shape))
    return np.asarray((limits[..., 1] - limits[..., 0]) / 2)


def _score(t: Floats, n: int, level: float, own: Floats, other: Floats) -> Floats:
    own, other = np.broadcast_to(own, t.shape).ravel(), np.broadcast_to(other, t.shape).ravel()
    at = t.ravel()
    moment = at * own + (1 - at) * other
    bounds = np.zeros(at.size), np.ones(at.size)
    limits = score_limits(at, n, quantile(level), bounds, at, moment - at**2, (other, moment, own))
    return np.asarray((limits[:, 1] - limits[:, 0]) / 2).reshape(t.shape)


def _widest(limits: Floats, labels: tuple[Any, ...], values: Floats) -> Reached:
    lengths = limits[:, 1] - limits[:, 0]
    place = int(lengths.argmax())
    return Reached(float(lengths[place]) / 2, labels[place], float(values[place]))
