"""How an estimate came about, at the level of the mechanism's rows, and what follows for its variance and limits.

One report contributes L·e_Y to the estimate. Its variance is worked out twice: with Y as the fitted frequencies say,
which does not call a report impossible because it was not seen, and over the reports themselves, because fitted
frequencies are pulled together and make large cells look less variable than they are. The larger one is used. Weights
enter through their squares, clusters and strata through the sums of each cluster (`reports.sampling`).

Limits are exact wherever the contribution takes two values: then the number of reports with the larger one is binomial,
whatever the other frequencies are. With weights or clusters the same limits are taken at the effective number of
reports, and are approximate. Everything else gets Gaffke's limits or score limits. Where respondents are all, or a
random sample, of a finite population, limits are those of the law of their reports (`intervals.finite`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from extremal.columns.lists import Codes
from extremal.estimate.channels.channel import NEGLIGIBLE, Channel, Flags, Inverse
from extremal.estimate.intervals.binomial import beta_limits, mapped, mapped_limits
from extremal.estimate.intervals.bounded import (
    binomial_quantiles,
    gaffke_limits,
    moved_within,
    probabilities,
    upper_quantiles,
)
from extremal.estimate.intervals.finite import (
    MOST_CHANCES,
    MOST_KINDS,
    MOST_PEOPLE,
    Contributions,
    finite_limits,
    finite_quantiles,
)
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.intervals.ratios import Ratio, inverted, ratio_limits
from extremal.estimate.intervals.score import score_limits
from extremal.estimate.methods.combinations import Combinations
from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.estimate.reports.degrees import USUAL, Degrees, reach
from extremal.estimate.reports.sampling import OneReport, Sampling
from extremal.estimate.reports.tally import Tally
from extremal.exact.weights import Floats

MOST_ENUMERATED = 500  # reports: beyond, score limits hold as well, and are as wide to a hundredth
MOST_VALUES = 1 << 17  # statistics × reports for which Gaffke's limits take a second
TOLERANCE = 1e-10
"""Mean log-likelihood that a maximum likelihood estimate may miss: far below the 1/n by which it is uncertain."""

Drawn = Callable[[int, int], Sampling | None]
"""How the respondents of a survey will be drawn: their number and the size of the statistic ↦ how it deviates."""


@dataclass(frozen=True, eq=False)
class Observed:
    """What the reports say, summed up by the channel.

    Attributes:
        statistic: of the reports by their weights.
        squares: by their squared weights; `statistic` itself without weights.
        n: how many reports.
        effective_n: the same, corrected for unequal weights (Kish).
        distinct: how many of them differ.
        weighted: whether there are weights.
        dropped: missing reports that were left out.
        sampling: how units deviate, if the sample is more than weights.
        notes: sentences on how the reports were read.
    """

    statistic: Floats
    squares: Floats
    n: int
    effective_n: float
    distinct: int
    weighted: bool = False
    dropped: int = 0
    sampling: Sampling | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, channel: Channel, found: Tally) -> Observed:
        """From counted reports."""
        statistic = channel.statistic(*found.shares())
        weighted = bool(found.weights)
        return cls(
            statistic,
            channel.statistic(*found.shares(squared=True)) if weighted else statistic,
            found.n,
            found.effective_n,
            len(found.counts),
            weighted,
            found.dropped,
            found.sampling,
            found.notes,
        )

    @classmethod
    def expected(cls, channel: Channel, p: Floats, n: int, drawn: Drawn | None = None) -> Observed:
        """As if each of n reports came as often as it is expected to when row i has probability p_i."""
        statistic = channel.expected(p)
        sampling = None if drawn is None else drawn(n, statistic.size)
        return cls(statistic, statistic, n, float(n), int(np.count_nonzero(statistic)), sampling=sampling)


@dataclass(frozen=True, eq=False)
class Fit:
    """How an estimate came about, at the level of the mechanism's rows.

    Attributes:
        combinations: what is estimated.
        observed: what the reports say.
        unbiased_inverse, unbiased: the unbiased estimate and the linear map that makes it.
        inverse, centre: the same for the estimate that standard errors and limits belong to.
        plausible: frequencies on the simplex, for the variance of a report.
        spread: those by squared weights.
        likeliest, deficit: the frequencies of largest likelihood where they were asked for, and a bound on what they
            miss of it.
    """

    combinations: Combinations
    observed: Observed
    unbiased_inverse: Inverse
    unbiased: Floats
    inverse: Inverse
    centre: Floats
    plausible: Floats
    spread: Floats
    likeliest: Floats | None = None
    deficit: float | None = None

    @classmethod
    def of(cls, combinations: Combinations, observed: Observed, prior: Floats, efficient: bool = False) -> Fit:
        """Least squares weighted for `prior`; with `efficient`, one step from there to the likeliest frequencies."""
        channel, weighted = combinations.channel, observed.weighted
        inverse = channel.inverse(prior)
        unbiased = inverse.apply(observed.statistic)
        likeliest = deficit = None
        if efficient or combinations.deficient:
            likeliest, deficit = channel.maximum_likelihood(observed.statistic, TOLERANCE)
            plausible = likeliest
            spread = channel.maximum_likelihood(observed.squares, TOLERANCE)[0] if weighted else plausible
        else:
            plausible = project_onto_simplex(unbiased)
            spread = project_onto_simplex(inverse.apply(observed.squares)) if weighted else plausible
        fit = cls(combinations, observed, inverse, unbiased, inverse, unbiased, plausible, spread, likeliest, deficit)
        return fit._one_step() if efficient else fit

    def reweighted(self) -> Fit:
        """The same with least squares weighted for the shares that were found, twice over: for reports of several
        mechanisms, whose weights for equal shares may be far from the best."""
        found = self
        for _ in range(2):
            moved = found._one_step()
            found = replace(
                moved,
                unbiased_inverse=moved.inverse,
                unbiased=moved.centre,
                plausible=project_onto_simplex(moved.centre),
                spread=project_onto_simplex(moved.inverse.apply(self.observed.squares)),
            )
        return found

    def _one_step(self) -> Fit:
        """The same around p̃ = J⁻¹QD⁻¹f, taken at plausible frequencies that call no report impossible."""
        variances = self.inverse.variances(self.plausible, self.spread)
        error = np.sqrt(np.maximum(variances, 0.0) / self.observed.effective_n)
        plausible, spread = _raised(self.plausible, error), _raised(self.spread, error)
        inverse = self.combinations.channel.inverse(plausible)
        centre = inverse.apply(self.observed.statistic)
        return replace(self, inverse=inverse, centre=centre, plausible=plausible, spread=spread)

    @property
    def degrees(self) -> Degrees | None:
        """Of freedom of its standard errors, where units are few enough to matter."""
        return None if self.observed.sampling is None else self.observed.sampling.degrees

    @property
    def notes(self) -> tuple[str, ...]:
        """On how the reports were read, and on units that are too unequal."""
        return self.observed.notes if self.degrees is None else (*self.observed.notes, *self.degrees.notes)

    @property
    def simple(self) -> bool:
        """Whether reports are independent and count alike."""
        return self.observed.sampling is None and not self.observed.weighted

    def covariance(self, coefficients: Floats | None) -> Floats:
        """Of these linear functions of what is estimated (None: of each)."""
        rows = self._rows(coefficients)
        if self.observed.sampling is not None:
            return self.observed.sampling.covariance(self.inverse, rows, self.plausible)
        fitted = self.inverse.covariance(rows, self.plausible, self.spread) / self.observed.effective_n
        scale = np.sqrt(
            np.divide(
                self.variances(coefficients),
                np.diagonal(fitted),
                out=np.ones(len(fitted)),
                where=np.diagonal(fitted) > 0,
            )
        )
        return np.asarray(fitted * np.outer(scale, scale))

    def variances(self, coefficients: Floats | None = None) -> Floats:
        """The diagonal of `covariance`."""
        rows = self._rows(coefficients)
        if self.observed.sampling is not None:
            return self.observed.sampling.variances(self.inverse, rows, self.plausible)
        return self._spread(rows, self.spread, self.observed.squares) / self.observed.effective_n

    def unit_variances(self, rows: Floats | None) -> Floats:
        """Of what one report contributes."""
        return self._spread(rows, self.plausible, self.observed.statistic)

    def _spread(self, rows: Floats | None, p: Floats, statistic: Floats) -> Floats:
        """The mean squared distance of contributions from the estimate: the larger of the fitted and the seen one."""
        if rows is None:
            fitted = self.inverse.variances(self.plausible, p)
        else:
            # One at a time: the whole covariance of many combinations is not needed.
            fitted = self.inverse.moments(rows) @ p
            at, middle = rows @ p, rows @ self.plausible
            fitted = fitted - 2 * at * middle + middle**2
        seen = self.inverse.sample_variances(rows, statistic, self.centre)
        return np.asarray(np.maximum(np.fmax(fitted, seen), 0.0))

    def limits(self, coefficients: Floats | None, level: float, cut: bool = True) -> Floats:
        """Rows (low, high) for these linear functions of what is estimated (None: for each).

        With `cut` they stay within what is possible, an estimate outside moved into it first; without, they are those
        of a share of reports, mapped, for combinations that are cut at the end.
        """
        return self._of_rows(self._rows(coefficients), level, cut)

    def _of_rows(self, rows: Floats | None, level: float, cut: bool) -> Floats:
        """`limits` of functions of the mechanism's rows."""
        estimate = self.centre if rows is None else np.asarray(rows @ self.centre)
        size = estimate.size
        least, most = (np.zeros(size), np.ones(size)) if rows is None else (rows.min(axis=1), rows.max(axis=1))
        exact = self.inverse.binary(rows) & (most > least)
        found = np.column_stack([least, most])  # a constant is known
        if exact.any():
            found[exact] = self._binomial(rows, estimate, least, most, level, exact, cut)
        rest = ~exact & (most > least)
        if rest.any():
            found[rest] = self._score(rows, estimate, least, most, level, rest, cut)
        return found

    def ratio_limits(self, pair: Floats, bounds: tuple[float, float], level: float) -> tuple[float, float]:
        """Limits of the ratio of two linear functions of what is estimated, the rows of `pair`: the r for which those
        of their difference, the second times r, hold zero."""
        values = self.combinations.rows(pair) @ self.centre
        if values[1] < 0 and (pair[1] < 0).any():  # the same ratio
            return self.ratio_limits(-pair, bounds, level)
        if values[1] <= 0:
            return bounds
        rows = self.combinations.rows(pair)
        influence = self.inverse.influence(rows)
        if influence is None:
            return self._linear_ratio(rows, values, bounds, level)
        near = float(np.clip(values[0] / values[1], *bounds))
        n = float(self._effective(rows[:1] - near * rows[1:], np.ones(1, np.bool_), level)[0])
        ratio = Ratio(influence[0], influence[1], self.observed.statistic, n, bounds, self.simple)
        low, high = ratio_limits([ratio], level)[0].tolist()
        return float(low), float(high)

    def _linear_ratio(
        self, rows: Floats, values: Floats, bounds: tuple[float, float], level: float
    ) -> tuple[float, float]:
        """The same where reports are not listed: from score limits."""
        scale = max(float(np.abs(rows[0]).max()), NEGLIGIBLE) / np.abs(rows[1]).max()

        def excess(_: Codes, angle: Floats, side: float) -> Floats:
            functions = side * np.cos(angle)[:, None] / scale * rows[:1] - np.sin(angle)[:, None] * rows[1:]
            return -self._of_rows(functions, level, cut=False)[:, 1]

        if (
            excess(np.zeros(1, np.intp), np.array([np.pi / 2]), 1.0)[0] <= 0
        ):  # the denominator may be zero for all that is known
            return bounds
        least, most = np.array(bounds)[:, None]
        low, high = inverted(excess, values[:1] / values[1], (least, most), np.array([scale]))[0].tolist()
        return float(low), float(high)

    def confidence(self, level: float) -> tuple[Floats, Floats]:
        """Quantiles of the distributions whose quantiles are the lower, and the upper, limits of what is estimated at
        every level, not cut to what is possible: a row for each, at `bounded.probabilities`. `level` matters for what
        few clusters cost.

        Clopper and Pearson's where the count is binomial, Gaffke's where reports are listed, else normal ones. The law
        of the reports of a finite population is summed at each probability, up to `MOST_ENUMERATED` of them.
        """
        rows = self.combinations.matrix
        estimate = self.combinations.of_rows(self.centre)
        finite = self._finite_confidence(rows, estimate) if self.observed.n <= MOST_ENUMERATED else None
        if finite is not None:
            return finite
        every = np.ones(estimate.size, dtype=np.bool_)
        n = np.full(estimate.size, float(self.observed.n)) if self.simple else self._effective(rows, every, level)
        tails = probabilities()[0]
        error = np.sqrt(np.maximum(self.unit_variances(rows) / n, 0.0))
        low = high = estimate[:, None] + error[:, None] * ndtri(tails)
        binary, influence = self.inverse.binary(rows), self.inverse.influence(rows)
        if binary.any():
            small, large = (np.broadcast_to(v, estimate.shape)[binary] for v in self.inverse.extremes(rows))
            count = np.clip(n[binary] * (estimate[binary] - small) / (large - small), 0.0, n[binary])
            count = np.rint(count) if self.simple else count
            low, high = low.copy(), high.copy()
            for table, upper in ((low, False), (high, True)):
                shares = binomial_quantiles(count, n[binary], upper)
                table[binary] = small[:, None] + (large - small)[:, None] * shares
        if influence is not None and not binary.all():
            rest = ~binary
            counts, values = n[rest, None] * self.observed.statistic, influence[rest]
            low, high = low.copy(), high.copy()
            low[rest] = -upper_quantiles(-values, counts, np.broadcast_to(tails, (len(values), tails.size)))
            high[rest] = upper_quantiles(values, counts, np.broadcast_to(1 - tails, (len(values), tails.size)))
        return low, high

    def exact(self, coefficients: Floats | None) -> Flags:
        """Which of these have exact limits."""
        known = self.inverse.binary(self._rows(coefficients))
        return known & (self.simple or self._population is not None)

    @property
    def binomial(self) -> bool:
        """Whether all limits are those of binomial counts; a finite population has a law of its own."""
        return self._population is None and bool(self.inverse.binary(self.combinations.matrix).all())

    @property
    def _population(self) -> int | None:
        """Of how many the respondents were drawn, where limits are those of the law of their reports."""
        sampling = self.observed.sampling
        found = None if sampling is None else sampling.population
        return None if found is None or found > MOST_PEOPLE else found

    def _finite_confidence(self, rows: Floats | None, estimate: Floats) -> tuple[Floats, Floats] | None:
        """`confidence` for a finite population, cut to what is possible; None where there is none."""
        if self._population is None:
            return None
        binary, tails = self.inverse.binary(rows), probabilities()[0]
        places = np.flatnonzero(~binary)
        others = [one for one in (self._contributions(rows, x) for x in places.tolist()) if one is not None]
        if len(others) < places.size:
            return None
        tables = np.empty((2, estimate.size, tails.size))
        if binary.any():
            tables[:, binary] = self._finite_shares(rows, estimate, binary, self._population)
        for x, one in zip(places.tolist(), others, strict=True):
            tables[:, x] = one.quantiles(float(estimate[x]), tails)
        return tables[0], tables[1]

    def _finite_shares(self, rows: Floats | None, estimate: Floats, chosen: Flags, population: int) -> Floats:
        """The same where contributions take two values: lower and upper quantiles, a row for each."""
        small, large = (np.broadcast_to(v, estimate.shape)[chosen] for v in self.inverse.extremes(rows))
        least, most = (v[chosen] for v in self.combinations.range())
        n, step = self.observed.n, large - small
        count = np.rint(n * (estimate[chosen] - small) / step)
        inside, outside = (most - small) / step, (least - small) / step
        shares = np.stack(finite_quantiles(count, n, population, probabilities()[0], inside, outside))
        return np.asarray(least[:, None] + (most - least)[:, None] * shares)

    def _contributions(self, rows: Floats | None, place: int) -> Contributions | None:
        """What the reports of a finite population say of one of these functions; None without one, where reports are
        not listed, or where they are too many."""
        influence, population, channel = self.inverse.influence(rows), self._population, self.combinations.channel
        if population is None or influence is None or channel.r > MOST_KINDS:
            return None
        if channel.r * influence.shape[1] > MOST_CHANCES:
            return None
        worth = np.eye(channel.r)[place] if rows is None else rows[place]
        chances = channel.back(np.eye(influence.shape[1]))
        seen = self.observed.n * self.observed.statistic
        found = Contributions(worth, influence[place], chances, seen, population)
        rates = self.inverse.influence(found.variances[None, :])
        told = rates is not None and np.allclose(chances @ rates[0], found.variances)
        return replace(found, rates=rates[0]) if told and rates is not None else found

    def _binomial(
        self, rows: Floats | None, estimate: Floats, least: Floats, most: Floats, level: float, chosen: Flags, cut: bool
    ) -> Floats:
        small, large = (np.broadcast_to(v, estimate.shape)[chosen] for v in self.inverse.extremes(rows))
        least, most, step = least[chosen], most[chosen], large - small
        inside, outside = ((most - small) / step, (least - small) / step) if cut else (np.ones_like(step), 0.0 * step)
        share = (estimate[chosen] - small) / step
        population = self._population
        if population is not None:
            inside, outside = (most - small) / step, (least - small) / step
            count = np.rint(self.observed.n * share).astype(np.int64)
            found = finite_limits(count, self.observed.n, population, level, inside, outside)
            moved = 0.0 if cut else estimate[chosen] - np.clip(estimate[chosen], least, most)
            return np.asarray((least + moved)[:, None] + (most - least)[:, None] * found)
        if not self.simple:
            n = self._effective(rows, chosen, level)
            low = beta_limits(n * np.minimum(share, inside), n, level)[..., 0]
            high = beta_limits(n * np.maximum(share, outside), n, level)[..., 1]
            found = mapped(low, high, inside, outside)
        else:
            found = mapped_limits(
                np.rint(self.observed.n * share).astype(np.int64), self.observed.n, level, inside, outside
            )
        return np.asarray(
            least[:, None] + (most - least)[:, None] * found if cut else small[:, None] + step[:, None] * found
        )

    def _score(
        self, rows: Floats | None, estimate: Floats, least: Floats, most: Floats, level: float, chosen: Flags, cut: bool
    ) -> Floats:
        """Of contributions that take more than two values: Gaffke's limits while reports are few and listed."""
        places = [self._contributions(rows, x) for x in np.flatnonzero(chosen).tolist()]
        if cut and all(one is not None for one in places):
            values = estimate[chosen].tolist()
            return np.array([one.limits(at, level) for one, at in zip(places, values, strict=True) if one is not None])
        n = self._effective(rows, chosen, level)
        found = self._gaffke(rows, estimate, least, most, level, chosen, cut, n)
        if found is not None:
            return found
        ends, fitted = self._ends(rows, least, most, chosen)
        return score_limits(
            estimate[chosen],
            n,
            quantile(level),
            (least[chosen], most[chosen]),
            fitted,
            self.unit_variances(rows)[chosen],
            ends,
            cut,
        )

    def _gaffke(
        self,
        rows: Floats | None,
        estimate: Floats,
        least: Floats,
        most: Floats,
        level: float,
        chosen: Flags,
        cut: bool,
        n: Floats,
    ) -> Floats | None:
        influence = self.inverse.influence(rows)
        if influence is None or self.observed.n > MOST_ENUMERATED or influence[chosen].size > MOST_VALUES:
            return None
        found = gaffke_limits(influence[chosen], n[:, None] * self.observed.statistic, level)
        return moved_within(found, estimate[chosen], least[chosen], most[chosen]) if cut else found

    def _ends(
        self, rows: Floats | None, least: Floats, most: Floats, chosen: Flags
    ) -> tuple[tuple[Floats, Floats, Floats], Floats]:
        """The second moments of a report's contribution at the least, the fitted and the largest value, and the fitted
        value."""
        if rows is None:
            low, middle, high = (moment[chosen] for moment in self.inverse.ends(self.plausible))
            return (low, middle, high), self.plausible[chosen]
        moments, a = self.inverse.moments(rows)[chosen], rows[chosen]
        low = _mean_where(moments, a == least[chosen, None], self.plausible)
        high = _mean_where(moments, a == most[chosen, None], self.plausible)
        return (low, moments @ self.plausible, high), np.asarray(a @ self.plausible)

    def half(self, coefficients: Floats, level: float) -> Floats:
        """Half of the length of normal limits, for these linear functions of what is estimated."""
        rows = self.combinations.rows(coefficients)
        n = self._effective(rows, np.ones(len(rows), np.bool_), level)
        return np.asarray(quantile(level) * np.sqrt(self.unit_variances(rows) / n))

    @property
    def effective_n(self) -> float:
        """How many independent reports of equal weight are as precise, over all that is estimated."""
        rows, sampling = self.combinations.matrix, self.observed.sampling
        unit = self.unit_variances(rows)
        if sampling is None or not unit.sum() > 0:
            return self.observed.effective_n
        found = self._effective(rows, np.ones(unit.shape, np.bool_), USUAL)
        longer = reach(USUAL, sampling.degrees) / quantile(USUAL)  # few clusters are told of by degrees of freedom
        return float(unit.sum() / (unit / found).sum() * longer**2)

    def _effective(self, rows: Floats | None, chosen: Flags, level: float) -> Floats:
        """How many independent unweighted reports are as precise, for each, in intervals of this level."""
        unit, sampling, n = self.unit_variances(rows)[chosen], self.observed.sampling, self.observed.effective_n
        if self.simple:
            return np.full(unit.shape, n)
        size = chosen.shape
        small, large = (np.broadcast_to(v, size)[chosen] for v in self.inverse.extremes(rows))
        centre = (self.centre if rows is None else rows @ self.centre)[chosen]
        width = 1.0 if rows is None else np.ptp(rows, axis=1)[chosen]
        told = np.divide(width, large - small, out=np.ones_like(centre), where=large > small)
        one = OneReport(unit, np.column_stack([small - centre, large - centre]), told)
        if sampling is None:
            variance = self._spread(rows, self.spread, self.observed.squares)[chosen] / n
            return one.weighted_worth(variance, level, n)
        apart = self.inverse.apply(sampling.apart)
        variance = sampling.variances(self.inverse, rows, self.plausible)[chosen]
        return sampling.effective(one, variance, level, (apart if rows is None else rows @ apart)[chosen])

    def _rows(self, coefficients: Floats | None) -> Floats | None:
        return self.combinations.matrix if coefficients is None else self.combinations.rows(coefficients)


def _raised(p: Floats, error: Floats) -> Floats:
    """Every entry at least the smaller of 1/k and its standard error: what the reports cannot tell from zero is not
    zero."""
    raised = np.maximum(p, np.minimum(error, 1 / p.size))
    return np.asarray(raised / raised.sum())


def _mean_where(moments: Floats, where: Flags, p: Floats) -> Floats:
    """The mean of each row's moments over the inputs at a bound, weighted by their frequencies if they have any."""
    weight = where * (p + NEGLIGIBLE)
    return np.asarray((moments * weight).sum(axis=1) / weight.sum(axis=1))
