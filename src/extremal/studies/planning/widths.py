"""Expected widths of the intervals of a survey, before it is made.

The half-width of a cell is half the length of the interval that `ex.estimate_frequencies` reports when every report is
as frequent as expected. At a given prior that is read off the estimate itself (`extremal.estimate.expected`).

Without a prior it is the largest over all priors, and that needs no search over the simplex. Where the count behind
cell x is binomial, its interval depends on p(x) alone. Elsewhere the score interval at p(x) = t grows with the second
moment of one report's contribution, t·M(x, x) + Σ_{z≠x} p(z)·M(x, z), at t and on both lines that lead away from it;
so the worst prior with p(x) = t puts all the rest on the z with the largest M(x, z). One number t is left for each
cell. Limits are cut to [0, 1], so that the largest length may lie next to an end; t is searched on a grid that is
refined three times, to about 10^-5.

With weights, strata or clusters the limits are those that an estimate will have with such a sample
(`extremal.studies.planning.units`), and `planning.scatter` says how they differ from survey to survey.

For the statistics of a workload it is read off `ex.estimate_workload` in the same way, at the workload's own prior; of
a class of priors, at the one with the largest total variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Flags
from extremal.estimate.expected import expected_estimate, expected_workload
from extremal.estimate.intervals.binomial import beta_limits, mapped, mapped_limits
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.reports.sampling import OneReport
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.linear import LinearEstimate
from extremal.estimate.workload import WorkloadEstimate, statistics_of
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.studies.planning.design_effect import ALONE, DesignEffect
from extremal.studies.planning.scatter import Scattered
from extremal.studies.planning.units import PlannedSampling
from extremal.utility import Workload

GRID = 33  # values of t in each round, which narrows their step by 16
SPREADS = 8.0  # standard deviations of a count that are looked at; what is beyond is counted as too wide
ROUNDING = 1e-9  # of a half-width
ROUNDS = 4  # to a step of 1/(32·16³) < 10^-5

Counts = npt.NDArray[np.intp]


class Reached(NamedTuple):
    """The widest interval: its half-width, what it is about, and what that is at the prior in question."""

    half_width: float
    about: Any
    value: float


class Assured(NamedTuple):
    """The probability that no interval of a survey is wider than it should be, and in which words it is known."""

    probability: float
    words: str


EXACT, BOUND, ABOUT = "{}", "{} or more", "about {}"


class Widths(Protocol):
    """The widest interval as a function of the number of reports."""

    def at(self, n: int) -> Reached:
        """With n reports."""
        ...


class SurveyWidths(Widths, Protocol):
    """The same for surveys, whose intervals differ."""

    def assurance(self, n: int, half_width: float) -> Assured:
        """The probability that no interval of a survey is wider."""
        ...


@dataclass(frozen=True, eq=False)
class Plain:
    """Of people who are not drawn one by one, without randomisation."""

    widths: Widths
    effect: DesignEffect
    level: float

    def at(self, n: int) -> Reached:
        """With n answers."""
        return self.widths.at(self.effect.worth(n, self.level))


@dataclass(frozen=True, eq=False)
class AtPrior:
    """At one prior."""

    mechanism: Mechanism
    prior: Prior
    level: float
    effect: DesignEffect = ALONE

    def at(self, n: int) -> Reached:
        """With n reports."""
        expected = self._expected(n)
        return _widest(expected.interval(self.level), expected.inputs, expected.estimate)

    def assurance(self, n: int, half_width: float) -> Assured:
        """By binomial counts where they are, else by how the variance is estimated."""
        return _assured(self._expected(n), self.level, half_width)

    def _expected(self, n: int) -> FrequencyEstimate:
        return expected_estimate(self.mechanism, self.prior, n, self.effect.sampling)


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


@dataclass(frozen=True, eq=False)
class AtWorst:
    """At the worst prior: whatever the frequencies turn out to be, no expected interval is wider."""

    mechanism: Mechanism
    level: float
    effect: DesignEffect = ALONE

    @cached_property
    def _cells(self) -> tuple[Flags, Floats, Floats, tuple[Any, ...], Floats]:
        """Which cells are binomial, and two numbers of each: P(counted | in it), P(counted | not in it); or its largest
        second moments given an input in it, and not. Then their labels, and the least and the largest contribution of a
        report."""
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
        ends = np.stack([small, large])[:, first]
        return binomial[first], inside[first], outside[first], tuple(labels[x] for x in first.tolist()), ends

    def at(self, n: int) -> Reached:
        """With n reports."""
        binomial, first, second, labels, ends = self._cells
        sampling = self.effect.sampling(n, 0)
        low, high = np.zeros(first.size), np.ones(first.size)
        for _ in range(ROUNDS):
            t = low + (high - low) * np.linspace(0, 1, GRID)[:, None]
            widths = np.empty(t.shape)
            one = np.where(binomial, (t - ends[0]) * (ends[1] - t), t * first + (1 - t) * second - t**2)
            people = np.full(t.shape, float(n)) if sampling is None else _worth(t, one, ends, sampling, self.level)
            for kind, half in ((binomial, _binomial if sampling is None else _beta), (~binomial, _score)):
                if kind.any():
                    widths[:, kind] = half(t[:, kind], people[:, kind], self.level, first[kind], second[kind])
            best = widths.argmax(axis=0)
            step = (high - low) / (GRID - 1)
            middle = low + step * best
            low, high = np.maximum(0.0, middle - step), np.minimum(1.0, middle + step)
        widest = int(widths.max(axis=0).argmax())
        return Reached(float(widths.max()), labels[widest], float(middle[widest]))

    def assurance(self, n: int, half_width: float) -> Assured:
        """No binomial count has a wider interval than the worst one; others are as likely wider as they are there."""
        worst = self.at(n)
        if self._cells[0].all() and self.effect.units is None:
            return Assured(float(half_width >= worst.half_width - ROUNDING), BOUND)
        found = _assured(self._there(worst, n), self.level, half_width, only=worst.about)
        return Assured(found.probability, BOUND if found.words == EXACT else ABOUT.format(BOUND))

    def _there(self, worst: Reached, n: int) -> FrequencyEstimate:
        """What n reports say at the worst prior: all others give the answer whose reports vary most."""
        mechanism, channel = self.mechanism, channel_of(self.mechanism)
        x = mechanism.inputs.index(worst.about)
        moments = np.zeros(mechanism.k)  # of a binomial count all others are alike
        if not self._cells[0].all():
            moments = np.array(channel.inverse(row_prior(mechanism, None)).moments(None))[x]
        moments[x] = -np.inf
        prior = np.zeros(mechanism.k)
        prior[x], prior[int(moments.argmax())] = worst.value, 1 - worst.value
        return expected_estimate(mechanism, prior, n, self.effect.sampling)


@dataclass(frozen=True, eq=False)
class PlainAtWorst:
    """At the worst prior, without randomisation."""

    label: Any
    level: float

    def at(self, n: int) -> Reached:
        """With n answers: a share of one half has the widest interval."""
        t = np.linspace(0, 1, 2 * GRID - 1)
        widths = _binomial(t, np.full(t.size, float(n)), self.level, np.ones(t.size), np.zeros(t.size))
        best = int(widths.argmax())
        return Reached(float(widths[best]), self.label, float(t[best]))


@dataclass(frozen=True, eq=False)
class OfStatistics:
    """Of a workload's statistics, by `ex.estimate_workload`."""

    mechanism: Mechanism
    workload: Workload
    level: float
    effect: DesignEffect = ALONE

    @cached_property
    def _expected(self) -> Callable[[int], WorkloadEstimate]:
        return expected_workload(self.mechanism, self.workload, self.effect.sampling)

    def at(self, n: int) -> Reached:
        """With n reports."""
        expected = self._expected(n)
        return _widest(expected.interval(self.level), expected.names, expected.estimate)

    def assurance(self, n: int, half_width: float) -> Assured:
        """As of shares."""
        return _assured(self._expected(n), self.level, half_width)


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


def _statements(expected: LinearEstimate) -> Counts:
    """Which intervals are about something else than those before. Two shares that sum to one are one statement, and
    whatever is learnt about two kinds of people from two reports."""
    mechanism, size = expected.fit.combinations.mechanism, len(expected.labels)
    least, most = expected.fit.combinations.range()
    if mechanism.row_classes == mechanism.m == 2 or (size == 2 and expected.fit.combinations.matrix is None):
        return np.array([int((most - least).argmax())])
    return np.flatnonzero(most > least)


def _assured(expected: LinearEstimate, level: float, half_width: float, only: Any = None) -> Assured:
    """One minus the sum over all statements (or that about `only`) of the probability that its interval is wider."""
    fit, chosen = expected.fit, _statements(expected)
    chosen = chosen if only is None else np.array([expected.labels.index(only)])
    sampling = fit.observed.sampling
    if isinstance(sampling, PlannedSampling):
        missed = float(Scattered(expected, sampling, level, chosen).missed(half_width).sum())
        return _about(Assured(max(0.0, 1.0 - missed), EXACT if chosen.size == 1 else BOUND))
    binary = fit.inverse.binary(fit.combinations.matrix)[chosen]
    missed = sum(_missed_count(expected, level, half_width, chosen[binary]))
    missed += float(_missed_variance(expected, level, half_width, chosen[~binary]).sum())
    found = Assured(min(1.0, max(0.0, 1.0 - missed)), EXACT if chosen.size == 1 else BOUND)
    return found if binary.all() else _about(found)


def _about(found: Assured) -> Assured:
    """The same, approximately."""
    return Assured(found.probability, found.words if ABOUT.format("") in found.words else ABOUT.format(found.words))


def _missed_count(expected: LinearEstimate, level: float, half_width: float, chosen: Counts) -> Iterator[float]:
    """P(an interval is wider), where a count is binomial."""
    from scipy.special import bdtr, bdtrc

    rows, n, inverse = expected.fit.combinations.matrix, expected.n, expected.fit.inverse
    small, large = (np.broadcast_to(v, expected.estimate.shape)[chosen] for v in inverse.extremes(rows))
    least, most = (v[chosen] for v in expected.fit.combinations.range())
    step = large - small
    shares = (np.stack([most, least, expected.estimate[chosen]]) - small) / step
    for (a, b, share), scale in zip(shares.T.tolist(), (most - least).tolist(), strict=True):
        t = min(max(share, 0.0), 1.0)
        reach = SPREADS * math.sqrt(n * t * (1 - t)) + SPREADS
        x = np.arange(max(0, math.floor(n * t - reach)), min(n, math.ceil(n * t + reach)) + 1)
        limits = mapped_limits(x, n, level, np.full(x.size, a), np.full(x.size, b))
        wide = scale * (limits[:, 1] - limits[:, 0]) / 2 > half_width + ROUNDING
        first = float(bdtr(x[0] - 1.0, n, t)) if x[0] > 0 else 0.0
        chance = np.diff(bdtr(x.astype(np.float64), n, t), prepend=first)
        yield float(chance[wide].sum()) + float(bdtrc(float(x[-1]), n, t)) + first


def _missed_variance(expected: LinearEstimate, level: float, half_width: float, chosen: Counts) -> Floats:
    """About the same elsewhere: the length is U − L, U = θ̂ + u and L = θ̂ − l where they are not cut, with u and l
    proportional to √V̂. A report that contributes B moves it by ([U is not cut] − [L is not cut])(B − θ) + (u + l)((B −
    θ)²/V − 1)/2, to first order, where what is cut counts as none. If reports are not listed, (B − θ)² has the largest
    variance that a bounded B can have.
    """
    fit = expected.fit
    rows, theta, limits = fit.combinations.matrix, expected.estimate[chosen], expected.interval(level)[chosen]
    least, most = (v[chosen] for v in fit.combinations.range())
    uncut = np.column_stack([limits[:, 0] > least, limits[:, 1] < most])
    reach = np.abs(limits - theta[:, None]) * uncut
    moved, grown = uncut[:, 1].astype(np.float64) - uncut[:, 0], reach.sum(axis=1) / 2
    variance, influence = fit.unit_variances(rows)[chosen], fit.inverse.influence(rows)
    if influence is None:
        small, large = (np.broadcast_to(v, expected.estimate.shape)[chosen] for v in fit.inverse.extremes(rows))
        farthest = np.maximum(large - theta, theta - small)
        spread = np.abs(moved) * np.sqrt(variance) + grown * farthest / np.sqrt(variance)
    else:
        away = influence[chosen] - theta[:, None]
        each = moved[:, None] * away + grown[:, None] * (away**2 / variance[:, None] - 1)
        spread = np.sqrt(each**2 @ fit.observed.statistic)
    missing = limits[:, 1] - limits[:, 0] - 2 * half_width
    return np.asarray(ndtr(np.sqrt(expected.n) * missing / np.maximum(spread, ROUNDING)))


def _significant(values: Floats) -> Floats:
    """Rounded to ten digits."""
    unit = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(values), 1e-300))) - 9)
    return np.asarray(np.rint(values / unit) * unit)


def _worth(t: Floats, one: Floats, ends: Floats, sampling: PlannedSampling, level: float) -> Floats:
    """How many independent reports are as precise, at values t with variances `one` of a report."""
    small, large = (np.broadcast_to(end, t.shape).ravel() for end in ends)
    at, spread = t.ravel(), np.maximum(one.ravel(), 0.0)
    report = OneReport(spread, np.column_stack([small - at, large - at]), 1 / (large - small))
    variance = sampling.units.variance(spread, at * (1 - at), sampling.people)
    return sampling.effective(report, variance, level, np.zeros((at.size, 1))).reshape(t.shape)


def _binomial(t: Floats, n: Floats, level: float, inside: Floats, outside: Floats) -> Floats:
    people = int(n.flat[0])
    count = np.rint(people * (outside + (inside - outside) * t)).astype(np.int64)
    limits = mapped_limits(count, people, level, np.broadcast_to(inside, t.shape), np.broadcast_to(outside, t.shape))
    return np.asarray((limits[..., 1] - limits[..., 0]) / 2)


def _beta(t: Floats, n: Floats, level: float, inside: Floats, outside: Floats) -> Floats:
    """The same with a sample."""
    limits = beta_limits(n * (outside + (inside - outside) * t), n, level)
    found = mapped(limits[..., 0], limits[..., 1], inside, outside)
    return np.asarray((found[..., 1] - found[..., 0]) / 2)


def _score(t: Floats, n: Floats, level: float, own: Floats, other: Floats) -> Floats:
    own, other = np.broadcast_to(own, t.shape).ravel(), np.broadcast_to(other, t.shape).ravel()
    at = t.ravel()
    moment = at * own + (1 - at) * other
    bounds = np.zeros(at.size), np.ones(at.size)
    limits = score_limits(at, n.ravel(), quantile(level), bounds, at, moment - at**2, (other, moment, own))
    return np.asarray((limits[:, 1] - limits[:, 0]) / 2).reshape(t.shape)


def _widest(limits: Floats, labels: tuple[Any, ...], values: Floats) -> Reached:
    lengths = limits[:, 1] - limits[:, 0]
    place = int(lengths.argmax())
    return Reached(float(lengths[place]) / 2, labels[place], float(values[place]))
