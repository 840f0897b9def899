"""Reports of several mechanisms about the same inputs, estimated together.

Whoever answered through mechanism i, with probability w_i = n_i/n, made one of its reports: together they are reports
of the one mechanism [w₁Q₁ | w₂Q₂ | …], with the mechanisms' reports kept apart. Least squares through it, weighted for
the shares p° at hand, is the best linear combination of the parts there: of all L with L[w_iQ_i]ᵀ = I those differ by
c_i(1_i − w_i·1), which is nothing for the n_i at hand, and the one with the least variance makes the means of all parts
equal at p°, so that it does not matter that n_i was not drawn. With weights for equal shares, as `unbiased` has them
elsewhere, a large part that tells little can make the whole worse than its best part. The weights are found from the
reports, so that the estimate is unbiased in the limit only. Parts of one mechanism need not be kept apart: the best
weights are their w_i, and its reports need not be listed.

Reports with unequal weights or in clusters tell less than their number says. Then n_i is the number of independent
reports of equal weight that are as precise: Kish's (Σw)²/Σw² for weights alone, else n over the mean design effect of
the shares of the reports, which is never below that of the known noise of randomisation (Rao and Scott 1981). Intervals
allow for parts of few degrees of freedom, and for weights that were found from their variances (`degrees_of_mean`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import Inverse, ListedReports
from extremal.estimate.frequencies import Method, estimate_frequencies, estimated
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.methods.combinations import Combinations, row_prior
from extremal.estimate.reports.degrees import USUAL, Degrees, degrees_of_mean, reach
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.sampling import Sampling
from extremal.estimate.reports.tally import Reports, Tally
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.fit import Fit, Observed
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_text, refuse_other_inputs
from extremal.mechanism.structures.structure import LARGEST_DENSE

MOST_WORTH = 1e6  # times its number of reports that a part counts at most: a census without noise has no variance


def pool(
    parts: Iterable[tuple[Any, Mechanism]],
    method: Method = "unbiased",
    *,
    counts: bool = False,
    column: str | None = None,
    sample: Sample | Sequence[Sample | None] | None = None,
) -> FrequencyEstimate:
    """Estimate frequencies from reports that several mechanisms made.

    Guarantee: consistent if every mechanism saw the same population, with weights that are best at the shares and the
    design effects that are found, so that a part with unequal weights or few clusters does not make the whole worse
    than its best part; with one mechanism, what `estimate_frequencies` gives.

    Args:
        parts: pairs (reports, mechanism). The mechanisms have the same inputs in the same order.
        method: as for `estimate_frequencies`.
        counts: the reports are counts, as for `estimate_frequencies`.
        column: of the reports, where parts are data frames.
        sample: how the respondents were sampled: one `ex.Sample` of columns that each part's data frame has, or one for
            each part. Parts are strata.

    Raises:
        InvalidParameter: no parts, different inputs, or the same reports twice.

    Reference: A. Chaudhuri, R. Mukerjee, Randomized Response (1988); Rao and Scott, JASA 76 (1981), on design effects.

    >>> import extremal as ex
    >>> old, new = ex.randomized_response(2, 1), ex.randomized_response(2, 3)
    >>> both = ex.pool([([0] * 600 + [1] * 400, old), ([0] * 350 + [1] * 150, new)])
    >>> both.n, both.estimate.round(3).tolist()
    (1500, [0.72, 0.28])
    """
    listed = list(parts)
    _refuse_parts(listed)
    samples = _sample_of_each(sample, len(listed))
    if len(listed) == 1:
        return estimate_frequencies(*listed[0], method, counts=counts, column=column, sample=samples[0])
    drawn = [Sample.of(one) for one in samples]
    alike = len({mechanism for _, mechanism in listed}) == 1
    channels = [channel_of(mechanism) if alike else _listed(mechanism) for _, mechanism in listed]
    tallies = [
        Reports(reports, mechanism, column, counts=counts).sampled(one, how)[None]
        for (reports, mechanism), one, how in zip(listed, channels, drawn, strict=True)
    ]
    parts_of = _Pooled(listed, tallies, channels, alike)
    sizes = np.array([one.effective_n for one in tallies])
    if any(one.sampling is not None for one in tallies):
        sizes = parts_of.worth(sizes)
    return parts_of.estimated(method, sizes)


def _sample_of_each(sample: Any, parts: int) -> list[Any]:
    """One for each part, or the same for all."""
    samples: list[Any] = list(sample) if isinstance(sample, (list, tuple)) else [sample] * parts
    if len(samples) != parts:
        raise InvalidParameter("there must be a sample for each part", parameter="len(sample)", value=len(samples))
    return samples


def _listed(mechanism: Mechanism) -> ListedReports:
    """Reports of different mechanisms are kept apart by listing them."""
    if mechanism.k * mechanism.m > LARGEST_DENSE:
        raise TooLarge(
            "reports of different mechanisms are pooled where inputs times reports of each are at most 2^24",
            parameter="inputs × reports",
            value=f"{mechanism.k} × {count_text(mechanism.m)}",
            hint="Reports of one mechanism can be pooled whatever their number.",
        )
    return ListedReports(mechanism)


def _refuse_parts(listed: list[Any]) -> None:
    if not listed:
        raise InvalidParameter("there must be at least one pair (reports, mechanism)", parameter="parts", value=[])
    for part in listed:
        if not (isinstance(part, (tuple, list)) and len(part) == 2 and isinstance(part[1], Mechanism)):
            raise InvalidParameter(
                "parts must be pairs (reports, Mechanism)",
                parameter="parts",
                value=type(part).__name__,
                hint="ex.pool([(reports, mechanism), (other reports, other mechanism)])",
            )
    for reports, mechanism in listed:
        refuse_other_inputs(mechanism.inputs, listed[0][1].inputs, "inputs", "all mechanisms")
        if sum(reports is other for other, _ in listed) > 1:
            raise InvalidParameter("every part must have reports of its own", parameter="parts", value="the same twice")


@dataclass(frozen=True, eq=False)
class _Pooled:
    """Pairs of reports and a mechanism, the counted reports, and how they are counted."""

    listed: list[Any]
    tallies: list[Tally]
    channels: list[Any]
    alike: bool
    """Whether one mechanism made all reports."""

    def worth(self, sizes: Floats) -> Floats:
        """How many independent reports each part is worth, if they were so many."""
        if self.alike:
            own = [Observed.of(channel, one) for channel, one in zip(self.channels, self.tallies, strict=True)]
            return np.array([self._fit(one).effective_n / _longer(one.sampling) ** 2 for one in own])
        at = self.estimated("unbiased", sizes).fit.plausible
        return np.array([_worth(*part, at) for part in zip(self.tallies, self.listed, strict=True)])

    def _fit(self, observed: Observed) -> Fit:
        """Of one of several parts that one mechanism made."""
        mechanism = self.listed[0][1]
        return Fit.of(Combinations.inputs(mechanism, self.channels[0]), observed, row_prior(mechanism, None))

    def estimated(self, method: str, sizes: Floats) -> FrequencyEstimate:
        """With each part weighted as so many independent reports."""
        shares = sizes / sizes.sum()
        together = self.listed[0][1] if self.alike else _together(self.listed, shares)
        combinations, prior = Combinations.inputs(together, channel_of(together)), row_prior(together, None)
        observed = self._observed(shares)
        found = estimated(combinations, observed, method, prior, reweighted=not self.alike)
        if observed.sampling is None:
            return found
        sampling = replace(observed.sampling, degrees=self._degrees(found.fit.inverse, shares))
        observed = replace(observed, sampling=sampling)
        return estimated(combinations, observed, method, prior, reweighted=not self.alike)

    def _degrees(self, inverse: Inverse, shares: Floats) -> Degrees:
        """Of the weighted means of the parts, the least over inputs."""
        parts = self._samplings()
        variances = np.array([np.square(inverse.apply(one)).sum(axis=1) for one in self._blocks(parts, shares)])
        weights = np.repeat(shares[:, None], variances.shape[1], axis=1)
        if not self.alike:
            told = [share * mechanism.matrix.T for share, (_, mechanism) in zip(shares, self.listed, strict=True)]
            weights = np.clip([np.diagonal(inverse.apply(one)) for one in _stacked(told)], 0.0, 1.0)
        return degrees_of_mean(variances, weights, [part.degrees for part in parts])

    def _observed(self, shares: Floats) -> Observed:
        """The statistic of all reports, in which each part has the share that it has of the reports."""
        tallies = self.tallies
        weighted = any(one.weights for one in tallies)
        statistic = self._mean(self._statistics(), shares)
        return Observed(
            statistic,
            self._mean(self._statistics(squared=True), shares) if weighted else statistic,
            sum(one.n for one in tallies),
            1 / sum(share**2 / one.effective_n for one, share in zip(tallies, shares, strict=True)),
            sum(len(one.counts) for one in tallies),
            weighted,
            sampling=self._sampling(shares),
            notes=tuple(dict.fromkeys(note for one in tallies for note in one.notes)),
        )

    def _sampling(self, shares: Floats) -> Sampling | None:
        """Units of all parts, if one of them is more than weights; parts are strata."""
        tallies = self.tallies
        if all(one.sampling is None for one in tallies):
            return None
        parts, means = self._samplings(), self._statistics()
        apart = self._placed([mean[:, None] + part.apart for mean, part in zip(means, parts, strict=True)])
        before = np.cumsum([0, *(part.sampled.size for part in parts)])
        words = " and ".join(dict.fromkeys(one.sampling.words for one in tallies if one.sampling is not None))
        return Sampling(
            np.hstack(self._blocks(parts, shares)),
            np.concatenate([part.strata + start for part, start in zip(parts, before, strict=False)]),
            np.concatenate([part.sampled for part in parts]),
            np.concatenate([share**2 * part.noise for part, share in zip(parts, shares, strict=True)]),
            np.hstack(apart) - self._mean(means, shares)[:, None],
            np.concatenate([share**2 * part.together for part, share in zip(parts, shares, strict=True)]),
            Degrees(1.0),  # until the weights of the parts are known
            f"{words}, {len(tallies)} parts",
        )

    def _samplings(self) -> list[Sampling]:
        """How the units of each part deviate."""
        pairs = zip(self.tallies, self.channels, strict=True)
        return [one.sampling or one.independent(channel, np.zeros(1)) for one, channel in pairs]

    def _blocks(self, parts: list[Sampling], shares: Floats) -> list[Floats]:
        """The deviations of each part's units among the reports of all parts."""
        return self._placed([share * part.deviations for part, share in zip(parts, shares, strict=True)])

    def _statistics(self, squared: bool = False) -> list[Floats]:
        """Of each part, by weights or squared weights."""
        pairs = zip(self.tallies, self.channels, strict=True)
        return [channel.statistic(*one.shares(squared)) for one, channel in pairs]

    def _placed(self, parts: list[Floats]) -> list[Floats]:
        """Columns of each part as columns of the statistic of all."""
        return parts if self.alike else _stacked(parts)

    def _mean(self, statistics: list[Floats], shares: Floats) -> Floats:
        """The statistic of all from that of each part."""
        return np.asarray(np.hstack(self._placed([one[:, None] for one in statistics])) @ shares)


def _longer(sampling: Sampling | None) -> float:
    """By how much 95% intervals are longer than normal ones, as few clusters may agree by chance."""
    return 1.0 if sampling is None else float(reach(USUAL, sampling.degrees)) / quantile(USUAL)


def _together(listed: list[Any], shares: Floats) -> Mechanism:
    """The one mechanism that all reports are of, each kept apart by its part."""
    matrix = np.hstack([w * mechanism.matrix for w, (_, mechanism) in zip(shares, listed, strict=True)])
    names = [f"{i + 1}: {label!r}" for i, (_, mechanism) in enumerate(listed) for label in mechanism.outputs]
    return Mechanism.from_matrix(matrix, inputs=list(listed[0][1].inputs), outputs=names)


def _worth(one: Tally, part: Any, p: Floats) -> float:
    """How many independent reports of equal weight are as precise, if the frequencies are p: Korn and Graubard's
    effective number at 95%, as few clusters may agree by chance; clusters are never worth more than single people."""
    sampling, alone = one.sampling, one.effective_n
    if sampling is None:
        return alone
    matrix = part[1].matrix
    expected = p @ matrix
    kept = expected > 0
    variance = sampling.floored(sampling.deviations, p @ (matrix * (1 - matrix)))[kept] / expected[kept]
    spread = max(float(variance.sum()), 1 / (MOST_WORTH * one.n))
    worth = float((1 - expected[kept]).sum()) / spread / _longer(sampling) ** 2
    clustered = sampling.deviations.shape[1] < one.n and not sampling.sampled.any()
    return min(worth, alone) if clustered else worth


def _stacked(parts: list[Floats]) -> list[Floats]:
    """Each part's rows at its place among the rows of all parts, zeros elsewhere."""
    ends = np.cumsum([len(part) for part in parts])
    return [np.pad(part, ((end - len(part), ends[-1] - end), (0, 0))) for part, end in zip(parts, ends, strict=True)]
