"""How the respondents were drawn, in numbers, and what follows for a variance: R's survey package with one more stage.

With weights w_i the estimate is θ̂ = Σ w_i B_i / Σ w_i, B_i what report i contributes. Reports of one cluster are not
independent, those of different strata are not exchangeable; the linearised variance adds up clusters within strata,

    V = Σ_h (1 − f_h) · n_h/(n_h − 1) · Σ_{c in h} (z_c − z̄_h)²,   z_c = Σ_{i in c} w_i (B_i − θ̂) / Σ w,

with n_h the number of clusters of stratum h in the sample and f_h the share that they are of those in the population
(0 where that is not known). Without clusters every respondent is one. This is `svydesign(ids, strata, fpc)` with
`svymean` (Binder 1983; Lumley 2004); the randomisation of the answers is one more stage, and is in the B_i. It is not
reduced by a finite population, so that f_h takes away only what exceeds the privacy noise; and because that noise is
known, V is never taken below it. Tests and regressions are about the distribution that answers come from, of which a
finite population is itself a sample: f_h takes nothing from their variances.

After raking B_i − θ̂ is replaced by the residual of B_i on the margins' indicators, fitted with the weights before
raking (Deville and Särndal 1992; R's `calibrate`). With replicate weights V = Σ_r s_r (θ̂_r − θ̂)².

A stratum with a single cluster has no spread to be seen; like R's `survey.lonely.psu = "adjust"`, its cluster is
centred at the overall mean. Effective numbers of reports are V(one report)/V times (z/t)², z and t the quantiles at the
level in question for as many degrees of freedom as the units are worth (`degrees`; clusters − strata where they are
equal), the variance divided by the share of it that they show (Korn and Graubard 1998); both variances as they would be
where the limits are (`OneReport`).

References: Binder, Int. Statist. Rev. 51 (1983); Deville and Särndal, JASA 87 (1992); Lumley, J. Statist. Software 9
(2004); Korn and Graubard, Survey Methodology 24 (1998); Wolter, Introduction to Variance Estimation (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extremal.columns.lists import Codes
from extremal.errors import InvalidParameter, TooLarge
from extremal.estimate.channels.channel import Inverse
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.reports.degrees import Degrees, Deviations, degrees_of, reach, sums, within_strata
from extremal.exact.weights import Floats
from extremal.mechanism.structures.structure import LARGEST_DENSE

FINITE = "finite population"  # as a summary calls it
RAKED = 1e-13  # relative: margins that are met to this before a round are done
# Correlation of two people of a unit that a sample may hide: limits then hold where the true one is up to 0.2
# (audit.estimate.clusters), and are 5 to 20% longer where it is next to nothing and the answer rare.
ALIKE = 0.06
MOST_ROUNDS = 2_000  # of raking; some dozens are usual, more than this means that the margins contradict the sample


@dataclass(frozen=True, eq=False)
class Margins:
    """What a sample was raked to: the indicators of the margins' groups, and the weights before."""

    indicators: Floats
    before: Floats

    @cached_property
    def _solver(self) -> Floats:
        """(XᵀDX)⁺: the indicators of two margins add up to the same, so that it has no inverse."""
        return np.asarray(
            np.linalg.pinv((self.indicators.T * self.before) @ self.indicators, rcond=1e-12, hermitian=True),
            dtype=np.float64,
        )

    @property
    def fitting(self) -> Floats:
        """What each respondent adds to the regression's slopes, times its number: a row for each."""
        return np.asarray((self.indicators * self.before[:, None]) @ self._solver)

    def slopes(self, weighted: Callable[[Floats], Floats]) -> Floats:
        """Of the regression on the indicators of anything, with `weighted(v)` its sum weighted by v."""
        crossed = np.stack([weighted(self.before * column) for column in self.indicators.T])
        return np.asarray(self._solver @ crossed)


def rake(weights: Floats, groups: Sequence[tuple[Codes, Floats]]) -> Floats:
    """Weights with the wanted shares in each grouping, moved as little as possible in relative entropy; their sum
    stays.

    >>> rake(np.ones(4), [(np.array([0, 0, 0, 1]), np.array([0.5, 0.5]))]).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    total, w = float(weights.sum()), weights
    for _ in range(MOST_ROUNDS):
        furthest = 0.0
        for codes, shares in groups:
            factor = shares * total / np.bincount(codes, weights=w, minlength=shares.size)
            furthest = max(furthest, float(np.abs(factor - 1).max()))
            w = w * factor[codes]
        if furthest <= RAKED or len(groups) == 1:
            return np.asarray(w)
    raise InvalidParameter(
        "the weights must be able to meet all margins: no weights of this sample do",
        parameter="margins",
        hint="Combinations of groups without a respondent can make margins contradictory: merge groups.",
    )


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """Those who reported, in the order of their reports.

    Attributes:
        weights: of each.
        weighted: whether they differ from 1 by what was said.
        units: the unit that was drawn, as a code: the cluster of each, or each alone.
        strata: the stratum of each unit, as a code.
        sampled: the share of its stratum's units that each stratum's sample is (0: not known, or a large population).
        margins: what the weights were raked to.
        replicates, scales: replicate weights, a row for each, and the factor of each one's squared deviation.
        clustered: whether units are clusters.
        notes: sentences on how the weights were read.
    """

    weights: Floats
    weighted: bool
    units: Codes
    strata: Codes
    sampled: Floats
    margins: Margins | None = None
    replicates: Floats | None = None
    scales: Floats | None = None
    clustered: bool = False
    notes: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether weights say it all: the variance then needs the sums of weights and their squares only."""
        units = self.clustered or self.sampled.size > 1 or bool(self.sampled.any())
        return not units and self.margins is None and self.replicates is None

    @cached_property
    def degrees(self) -> Degrees:
        """Of a weighted mean; for replicates, what they span less the mean."""
        if self.replicates is not None:
            return Degrees(float(max(1, np.linalg.matrix_rank(self.replicates) - 1)))
        a = self.weights / self.weights.sum()
        slopes, indicators = a[:, None], np.ones((a.size, 1))
        if self.margins is not None:
            slopes, indicators = self.margins.fitting, self.margins.indicators
        taken = sums(indicators * a[:, None], self.units, self.strata.size)
        return self.degrees_of([Deviations.of_rows(a, slopes, taken, self.units)])

    def degrees_of(self, statistics: Sequence[Deviations]) -> Degrees:
        """Of the sum of the variances of these statistics between units within strata."""
        return degrees_of(statistics, self.strata, self.sampled.size)

    def association_degrees(self, scores: Floats) -> Degrees:
        """Of the weighted means of products of something with these centred scores, a row for each respondent, where
        that something is centred as well and unrelated to them."""
        if self.replicates is not None:
            return self.degrees
        share = self.weights / self.weights.sum()
        size = sums(share[:, None], self.units, self.strata.size)
        found = []
        for column in scores.T:
            a = share * column
            taken = np.hstack([sums(a[:, None], self.units, self.strata.size), size])
            found.append(Deviations.of_rows(a, np.column_stack([share, a]), taken, self.units))
        return self.degrees_of(found)

    @property
    def words(self) -> str:
        """The design in a few words: what the summary of an estimate says of it."""
        finite = FINITE if self.sampled.any() and self.replicates is None else ""
        return ", ".join(filter(None, [self.units_in_words, finite]))

    @property
    def units_in_words(self) -> str:
        """The same for tests and regressions, in which a finite population changes nothing."""
        found = ["weights"] if self.weighted else []
        if self.replicates is not None:
            return f"weights, {len(self.replicates)} replicates"
        found += [f"{self.strata.size} clusters"] if self.clustered else []
        found += [f"{self.sampled.size} strata{self._alone}"] if self.sampled.size > 1 else []
        found += ["raked"] if self.margins is not None else []
        return ", ".join(found)

    @property
    def _alone(self) -> str:
        """How many strata have a single unit, whose spread is taken around the overall mean."""
        alone = int(np.count_nonzero(np.bincount(self.strata) == 1))
        return f", {alone} of them with one {'cluster' if self.clustered else 'respondent'}" if alone else ""

    def shares(self, codes: Codes, size: int) -> Floats:
        """Of the labels by weight, for reports given as codes."""
        return np.asarray(np.bincount(codes, weights=self.weights, minlength=size) / self.weights.sum())

    def of_labels(self, codes: Codes, size: int) -> Floats:
        """How the labels' shares deviate in each unit or replicate, a row each: squares add up to the variance."""
        rows = self.strata.size if self.replicates is None else len(self.replicates)
        if rows * size > LARGEST_DENSE:
            raise TooLarge(
                "there may be at most 2^24 sums: of each kind of report in each cluster, or person without them",
                parameter="units × reports",
                value=f"{rows} × {size}",
                hint="Weights alone have no such limit. Group inputs, or give replicate weights.",
            )

        def weighted(weights: Floats) -> Floats:
            return np.asarray(np.bincount(codes, weights=weights, minlength=size), dtype=np.float64)

        cells = self.units * size + codes
        table = np.bincount(cells, weights=self.weights, minlength=self.strata.size * size)
        return self._deviations(weighted, np.asarray(table.reshape(self.strata.size, size)))

    def of_rows(self, values: Floats) -> Floats:
        """The same for the mean of numbers, of which everybody has a row."""
        table = np.zeros((self.strata.size, values.shape[1]))
        np.add.at(table, self.units, values * self.weights[:, None])
        return self._deviations(lambda weights: np.asarray(weights @ values), table)

    def _deviations(self, weighted: Callable[[Floats], Floats], table: Floats) -> Floats:
        total, whole = self.weights.sum(), table.sum(axis=0)
        if self.replicates is not None and self.scales is not None:
            each = np.stack([weighted(row) / row.sum() for row in self.replicates])
            return np.asarray((each - whole / total) * np.sqrt(self.scales)[:, None])
        if self.margins is None:
            z = table - sums(self.weights[:, None], self.units, self.strata.size) * (whole / total)
        else:
            held = sums(self.margins.indicators * self.weights[:, None], self.units, self.strata.size)
            z = table - held @ self.margins.slopes(weighted)
        return np.asarray(within_strata(z, self.strata, self.sampled.size) / total)

    def sampling(self, codes: Codes, size: int, statistic: Floats | None = None) -> Sampling:
        """How a statistic deviates that has a column of values for each label of the reports; by default their
        shares."""
        deviations, apart = self.of_labels(codes, size).T, self.strata_apart(codes, size).T
        if statistic is not None:
            deviations, apart = np.asarray(statistic @ deviations), np.asarray(statistic @ apart)
        columns, sampled = self.strata, self.sampled
        if self.replicates is not None:
            columns, sampled = np.zeros(len(self.replicates), np.intp), np.zeros(1)
        return Sampling(
            deviations,
            columns,
            sampled,
            self.noise,
            apart,
            self.together,
            self.degrees,
            self.words,
            self._population,
        )

    @cached_property
    def _layers(self) -> Codes:
        """The stratum of each respondent; one for all with replicate weights, which do not say."""
        return self.strata[self.units] if self.replicates is None else np.zeros(self.weights.size, np.intp)

    @property
    def noise(self) -> Floats:
        """Σ w_i² of each stratum over (Σ w)²."""
        return np.asarray(np.bincount(self._layers, weights=self.weights**2) / self.weights.sum() ** 2)

    @property
    def together(self) -> Floats:
        """By how much more, in each stratum, people of one unit who are alike to `ALIKE` would weigh."""
        if self.replicates is not None:
            return np.zeros(1)
        of_units = np.bincount(self.units, weights=self.weights) ** 2 / self.weights.sum() ** 2
        return np.asarray(ALIKE * (np.bincount(self.strata, of_units, self.sampled.size) - self.noise))

    def strata_apart(self, codes: Codes, size: int) -> Floats:
        """The shares of the labels in each stratum, a row each, less those in the whole sample."""
        cells = self._layers * size + codes
        count = self.noise.size
        table = np.bincount(cells, weights=self.weights, minlength=count * size).reshape(count, size)
        return np.asarray(table / table.sum(axis=1, keepdims=True) - self.shares(codes, size))

    @property
    def _population(self) -> int | None:
        """Of how many the respondents were drawn at random: also everybody of every stratum is one census."""
        if self.clustered or self.replicates is not None or self.margins is not None or np.ptp(self.weights) > 0:
            return None
        drawn = float(self.sampled.min())
        known = drawn == 1 or (self.sampled.size == 1 and drawn > 0)
        return round(self.weights.size / drawn) if known else None


@dataclass(frozen=True, eq=False)
class Sampling:
    """How a channel's statistic deviates between units: what an estimate needs of the sample.

    Attributes:
        deviations: a column for each unit or replicate, such that squares add up to the variance.
        strata: the stratum of each column, as a code.
        sampled: the share of its stratum's population that each stratum's sample is.
        noise: Σ_i w_i² of each stratum over (Σ w)²: the weight of what randomisation alone contributes.
        apart: the statistic of each stratum's reports less that of all, a column for each stratum.
        together: by how much people of one unit who are alike to `ALIKE` would add to that weight.
        degrees: how well units show a variance.
        words: the design in a few words.
        population: of how many the respondents were drawn at random, where that is all there is to say.
    """

    deviations: Floats
    strata: Codes
    sampled: Floats
    noise: Floats
    apart: Floats
    together: Floats
    degrees: Degrees
    words: str
    population: int | None = None

    def variances(self, inverse: Inverse, rows: Floats | None, p: Floats) -> Floats:
        """Of these linear functions of the estimate (None: of each entry); p are plausible frequencies."""
        return self.floored(self._residuals(inverse, rows), _privacy(inverse, rows, p))

    def covariance(self, inverse: Inverse, rows: Floats | None, p: Floats) -> Floats:
        """With the variances above on the diagonal."""
        noise = inverse.covariance(rows, p, p)
        at = p if rows is None else rows @ p
        noise = noise + np.outer(at, at) - (np.diag(p) if rows is None else (rows * p) @ rows.T)
        return self.covariance_of(self._residuals(inverse, rows), noise)

    def floored(self, residuals: Floats, privacy: Floats) -> Floats:
        """Variances from how each function deviates in each unit; never below the noise of randomisation alone.

        Args:
            residuals: a row for each function, a column for each unit.
            privacy: E Var(B | X) of one report, for each function.
        """
        by_stratum = np.zeros((residuals.shape[0], self.sampled.size))
        np.add.at(by_stratum.T, self.strata, residuals.T**2)
        above = np.maximum(by_stratum - privacy[:, None] * self.noise, 0.0)
        return np.asarray(np.maximum((by_stratum - self.sampled * above).sum(axis=1), privacy * self.noise.sum()))

    def covariance_of(self, residuals: Floats, noise: Floats) -> Floats:
        """The same with covariances; no combination of the functions has less than the noise of randomisation.

        What exceeds the noise is S − N, by strata less what a finite population takes away. Where that has a negative
        eigenvalue it is replaced by its positive part, scaled to the variances of `floored`; else nothing changes.

        Args:
            residuals: a row for each function, a column for each unit.
            noise: E Cov(B | X) of one report.
        """
        privacy = np.maximum(np.diagonal(noise), 0.0)
        known = noise * float(self.noise.sum())
        left = residuals * np.sqrt(1 - self.sampled)[self.strata]
        above = left @ left.T - noise * float(((1 - self.sampled) * self.noise).sum())
        sizes, directions = np.linalg.eigh(above)
        above = (directions * np.maximum(sizes, 0.0)) @ directions.T
        own = np.diagonal(above)
        wanted = self.floored(residuals, privacy)
        more = np.maximum(wanted - np.diagonal(known), 0.0)
        scale = np.sqrt(np.divide(more, own, out=np.zeros_like(own), where=own > 0))
        found = known + above * np.outer(scale, scale)
        found[np.diag_indices_from(found)] = wanted
        return np.asarray(found)

    def effective(self, one: OneReport, variance: Floats, level: float, apart: Floats) -> Floats:
        """Korn and Graubard's effective number of reports, for intervals of this level.

        Args:
            one: what one report contributes to each function.
            variance: of each.
            level: of the intervals.
            apart: how far the mean contribution of each stratum is from that of all, a row for each function.
        """
        left = 1 - self.sampled
        found = one.worth(variance, level, apart, left * self.noise, left * self.together)
        return np.asarray(found * (quantile(level) / reach(level, self.degrees)) ** 2)

    def _residuals(self, inverse: Inverse, rows: Floats | None) -> Floats:
        found = inverse.apply(self.deviations)
        return found if rows is None else np.asarray(rows @ found)


@dataclass(frozen=True, eq=False)
class OneReport:
    """What one report contributes to the estimates of some functions.

    Attributes:
        variance: σ², of each.
        ends: d, how far the least and the largest are from the mean, a row for each function.
        told: the range of a function over that of its contributions: 1 without randomisation.
        share: of the weights, of those who can contribute another number than 0.
        squares: the same of their squares.
    """

    variance: Floats
    ends: Floats
    told: Floats
    share: float = 1.0
    squares: float = 1.0

    def weighted_worth(self, variance: Floats, level: float, n: float) -> Floats:
        """`worth` of people drawn one by one with weights, Kish's number of them n."""
        return self.worth(variance, level, np.zeros((variance.size, 1)), np.array([1 / n]), np.zeros(1))

    def worth(self, variance: Floats, level: float, apart: Floats, noise: Floats, together: Floats) -> Floats:
        """How many independent reports of equal weight are as precise: the least of σ²/V at the estimate and at its
        limits.

        A stratum or a few clusters whose people happen to answer alike show next to no variance, though others may not
        be like them. If a part s of everybody contributed an end, the mean would move by s·d, one report's variance to
        (1 − s)(σ² + s·d²), and that of the mean to (1 − s)(V + s·D).

        Args:
            variance: V.
            level: of the limits.
            apart: how far the mean of each stratum is from that of all, a row for each function.
            noise: Σ w_i² of each stratum over (Σ w)².
            together: what people of one unit who are alike add to that.
        """
        found = np.divide(self.variance, variance, out=np.ones_like(variance), where=variance > 0)
        for d in self.ends.T:
            hidden = self.squares * hidden_variances(d[:, None] - apart, noise, together, self.told)
            s = moved_share(variance, quantile(level), self.share * d, hidden)
            there = np.divide(
                self.variance + s * self.share * d**2, variance + s * hidden, out=found.copy(), where=variance > 0
            )
            found = np.minimum(found, there)
        return np.asarray(found)


def hidden_variances(gaps: Floats, noise: Floats, together: Floats, told: Floats) -> Floats:
    """D: of means, if everybody contributed an end, so far from the means of the strata, and the truth in it were alike
    within units."""
    return np.asarray(gaps**2 @ noise + told * (gaps**2 @ together))


def moved_share(variance: Floats, far: float, d: Floats, hidden: Floats) -> Floats:
    """s where s·d is so many standard errors: s²(d² + far²·D) + s·far²(V − D) = far²·V."""
    square, line = d**2 + far**2 * hidden, far**2 * (variance - hidden)
    root = np.sqrt(line**2 + 4 * square * far**2 * variance)
    return np.divide(root - line, 2 * square, out=np.zeros_like(d), where=square > 0)


def _privacy(inverse: Inverse, rows: Floats | None, p: Floats) -> Floats:
    """E Var(B | X): E B² − E a_X²."""
    if rows is None:
        return np.asarray(np.maximum(inverse.variances(p, p) + p**2 - p, 0.0))
    return np.asarray(np.maximum(inverse.moments(rows) @ p - rows**2 @ p, 0.0))
