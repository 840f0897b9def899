"""The randomised Bloom filter: least squares on the bits of all cohorts.

The statistic holds, for each cohort, the share of reports with a 1 in each bit, and the share of reports. With a and b
the probabilities of a 1 where a bit is set and where not, C·(share of ones − b·share of the cohort)/(a − b) has the
mean Σ_x p_x·B(x) with B(x) the filter of x, so that the pseudo-inverse of B gives unbiased frequencies where it has
full rank (Erlingsson, Pihur and Korolova 2014, who add a lasso for long lists of candidates). Given the truth the bits
are independent: all moments are exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.channels.channel import WORST_CONDITION, EndsByMoments, Flags, Inverse, WithoutLikelihood
from extremal.estimate.channels.dense import reduced_basis
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import BitLabels, unpacked
from extremal.mechanism.structures import BloomBits
from extremal.mechanism.structures.structure import refuse_large

_AT_A_TIME = 1 << 22  # bits worked on together


class BloomChannel(WithoutLikelihood):
    """The ones in each bit of each cohort, and then the reports of each cohort."""

    instead = 'Use method="unbiased" or "projected"; frequencies that are not identified need more bits or cohorts.'

    def __init__(self, mechanism: Mechanism) -> None:
        structure, labels = mechanism.structure, mechanism.output_labels
        if not isinstance(structure, BloomBits) or not isinstance(labels, BitLabels):
            raise InvalidParameter("the mechanism must be a Bloom filter", parameter="kind", value=structure.kind)
        self.labels: Labels = labels
        self.structure, self.words, self.r = structure, labels, structure.r
        self.bits, self.cohorts = structure.bits, structure.cohorts
        refuse_large(self.r, self.bits * self.cohorts, "the filters of all inputs")
        self.own, self.other = (weight / structure.denominator for weight in structure.shown)
        self.step = (structure.shown[0] - structure.shown[1]) / structure.denominator

    @cached_property
    def filters(self) -> Floats:
        """B: which bits each input sets, a column for each input, cohort after cohort."""
        return np.concatenate([self.structure.filters(c).T for c in range(self.cohorts)]).astype(np.float64)

    @cached_property
    def inverted(self) -> tuple[Floats, bool]:
        """The pseudo-inverse of B, and whether it is an inverse."""
        gram = self.filters.T @ self.filters
        with suppress(np.linalg.LinAlgError):  # several times as fast as by eigenvalues
            inverse = np.linalg.inv(gram)
            # Norms of Frobenius bound the largest eigenvalue, and one over the smallest.
            if np.linalg.norm(gram) * np.linalg.norm(inverse) < np.sqrt(WORST_CONDITION):
                return np.asarray(inverse @ self.filters.T), True
        values, vectors = np.linalg.eigh(gram)
        kept = values > values[-1] / np.sqrt(WORST_CONDITION)
        return np.asarray((vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ self.filters.T)), bool(kept.all())

    def encode(self, label: Any) -> Hashable:
        return self.words.packed(label, "reports")

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        ones, mass = np.zeros((self.cohorts, self.bits)), np.zeros(self.cohorts)
        at_a_time = max(1, _AT_A_TIME // self.words.bits)
        for start in range(0, len(keys), at_a_time):
            cohort, filters = self.structure.split(unpacked(list(keys[start : start + at_a_time]), self.words.bits))
            here = shares[start : start + at_a_time]
            mass += np.bincount(cohort, weights=here, minlength=self.cohorts)
            for c in np.unique(cohort).tolist():
                chosen = cohort == c
                ones[c] += here[chosen] @ filters[chosen]
        return np.concatenate((ones.ravel(), mass))

    def uniform(self) -> Floats:
        size = self.cohorts * self.bits
        return np.concatenate((np.full(size, 0.5 / self.cohorts), np.full(self.cohorts, 1 / self.cohorts)))

    def expected(self, p: Floats) -> Floats:
        total = p.sum(axis=0)
        ones = self.other * total + self.step * (self.filters @ p)
        mass = np.broadcast_to(total, (self.cohorts, *p.shape[1:]))
        return np.concatenate((ones, mass)) / self.cohorts

    def back(self, v: Floats) -> Floats:
        ones, mass = v[: -self.cohorts], v[-self.cohorts :]
        return np.asarray(
            (self.other * ones.sum(axis=0) + self.step * (self.filters.T @ ones) + mass.sum(axis=0)) / self.cohorts
        )

    def smallest_share(self, p: Floats) -> float:
        ones = self.other + self.step * (self.filters @ p)
        return float(min(ones.min(), (1 - ones).min())) / self.cohorts

    def combinations(self) -> Floats | None:
        return None if self.inverted[1] else reduced_basis(self.filters)

    def inverse(self, prior: Floats) -> Inverse:
        return BloomInverse(self)


class BloomInverse(EndsByMoments):
    """One report of cohort c contributes C·Σ_i B⁺_xi (bit i − b)/(a − b) over the bits of its cohort."""

    def __init__(self, channel: BloomChannel) -> None:
        self.channel, self.matrix = channel, channel.inverted[0]

    def apply(self, statistic: Floats) -> Floats:
        c = self.channel
        ones, mass = statistic[: -c.cohorts], statistic[-c.cohorts :]
        excess = ones - c.other * np.repeat(mass, c.bits, axis=0)
        return np.asarray(self.matrix @ excess * (c.cohorts / c.step))

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        return np.asarray(self.moments(None) @ spread - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        c, matrix = self.channel, self._rows(rows)
        at, middle = (spread, centre) if rows is None else (rows @ spread, rows @ centre)
        moment = (matrix * self._noise(spread)) @ matrix.T
        for mean in self._means(matrix):
            moment += (mean * spread) @ mean.T / c.cohorts
        return np.asarray(moment - np.outer(at, middle) - np.outer(middle, at) + np.outer(middle, middle))

    def _noise(self, p: Floats) -> Floats:
        """C/(a − b)² times the variance of a bit given the truth, mean over truths p."""
        c = self.channel
        off, on = c.other * (1 - c.other), c.own * (1 - c.own)
        return np.asarray((off * p.sum() + (on - off) * (c.filters @ p)) * (c.cohorts / c.step**2))

    def _means(self, matrix: Floats) -> list[Floats]:
        """For each cohort the mean contribution to each row, given each truth."""
        c = self.channel
        parts = [slice(i * c.bits, (i + 1) * c.bits) for i in range(c.cohorts)]
        return [c.cohorts * (matrix[:, part] @ c.filters[part]) for part in parts]

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        c, matrix = self.channel, self._rows(rows)
        parts = matrix.reshape(matrix.shape[0], c.cohorts, c.bits)
        base = c.other * parts.sum(axis=2)
        low, high = (np.sum(cut(parts, 0), axis=2) - base for cut in (np.minimum, np.maximum))
        return low.min(axis=1) * (c.cohorts / c.step), high.max(axis=1) * (c.cohorts / c.step)

    def binary(self, rows: Floats | None) -> Flags:
        return np.zeros(self._rows(rows).shape[0], dtype=np.bool_)

    def moments(self, rows: Floats | None) -> Floats:
        c, matrix = self.channel, self._rows(rows)
        off, on = c.other * (1 - c.other), c.own * (1 - c.own)
        squares = matrix**2
        noise = off * squares.sum(axis=1, keepdims=True) + (on - off) * (squares @ c.filters)
        total = noise * (c.cohorts / c.step**2)
        for mean in self._means(matrix):
            total += mean**2 / c.cohorts
        return np.asarray(total)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        return np.full(self._rows(rows).shape[0], np.nan)  # needs pairs of bits, which are not counted

    def _rows(self, rows: Floats | None) -> Floats:
        return self.matrix if rows is None else np.asarray(rows @ self.matrix)
