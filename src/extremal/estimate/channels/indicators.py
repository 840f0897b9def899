"""Unary encoding and local hashing: reports may hold any number of inputs (`extremal.estimate.channels.holding`).

The statistic is t, the share of reports that hold each input, and the mass of all reports behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.estimate.channels.channel import Flags, Inverse
from extremal.estimate.channels.holding import HoldingChannel, HoldingInverse
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.report_labels import BitLabels, unpacked
from extremal.mechanism.structures import HashedSets, IndependentBits
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, scattered

MOST_HASHES = 10**9  # reports × inputs up to which every input is hashed under every report
_AT_A_TIME = 1 << 20  # bits or hashes worked on together


class IndicatorChannel(HoldingChannel, ABC):
    """t, the share of reports that hold each input, and then the mass of all reports."""

    by_chance: float
    """P(a report holds x) when every report is equally frequent."""

    @abstractmethod
    def encode(self, label: Any) -> Hashable: ...

    @abstractmethod
    def held(self, keys: Sequence[Any], shares: Floats) -> Floats:
        """t for reports `keys` with these shares."""

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        return np.append(self.held(keys, shares), shares.sum())

    def uniform(self) -> Floats:
        return np.append(np.full(self.r, self.by_chance), 1.0)

    def expected(self, p: Floats) -> Floats:
        return np.concatenate((self.share_held(p), p.sum(axis=0, keepdims=True)))

    def back(self, v: Floats) -> Floats:
        return np.asarray(self.share_held(v[:-1]) + v[-1])  # what is held is symmetric

    def inverse(self, prior: Floats) -> Inverse:
        return IndicatorInverse(self)


class BitsChannel(IndicatorChannel):
    """Unary encoding: a report holds the inputs of its ones, independently."""

    def __init__(self, mechanism: Mechanism) -> None:
        structure, labels = mechanism.structure, mechanism.output_labels
        if not isinstance(structure, IndependentBits) or not isinstance(labels, BitLabels):
            raise InvalidParameter("the mechanism must be a unary encoding", parameter="kind", value=structure.kind)
        self.r, self.labels, self.words, self.by_chance = structure.r, labels, labels, 0.5
        self.own, self.other = structure.own / DENOMINATOR, structure.other / DENOMINATOR
        self.pair_with_truth, self.pair_without = self.own * self.other, self.other**2

    def encode(self, label: Any) -> Hashable:
        return self.words.packed(label, "reports")

    def held(self, keys: Sequence[Any], shares: Floats) -> Floats:
        at_a_time, total = max(1, _AT_A_TIME // self.r), np.zeros(self.r)
        for start in range(0, len(keys), at_a_time):
            part = slice(start, start + at_a_time)
            total += shares[part] @ unpacked(list(keys[part]), self.r)
        return total


class HashChannel(IndicatorChannel):
    """Local hashing: a report holds the inputs that its seed sends to its bucket.

    The seeds hash any two inputs independently, so that estimates and variances are exact; covariances treat three as
    independent, which they are but for the few that satisfy an equation in small whole numbers modulo P.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        structure = mechanism.structure
        if not isinstance(structure, HashedSets):
            raise InvalidParameter("the mechanism must be a local hashing", parameter="kind", value=structure.kind)
        self.structure, self.labels = structure, mechanism.output_labels
        self.r, self.by_chance = structure.r, 1 / structure.buckets
        self.own = structure.inside / DENOMINATOR
        share, g = structure.shares, structure.buckets
        bucket = self.own * share + (1 - self.own) * (1 - share) / (g - 1)  # how often each is reported
        self.other = float(bucket @ share)
        self.pair_with_truth, self.pair_without = self.own * float(share @ share), float(bucket @ share**2)

    def encode(self, label: Any) -> Hashable:
        return self.labels.code(label, "reports")

    def held(self, keys: Sequence[Any], shares: Floats) -> Floats:
        if len(keys) * self.r > MOST_HASHES:
            raise TooLarge(
                "every report is hashed for every input: at most 10^9 in all",
                parameter="reports × inputs",
                value=f"{len(keys)} × {self.r}",
                hint="ex.estimate_frequencies(reports, mechanism, labels=[…]) estimates the labels that matter.",
            )
        return self.held_among(np.asarray(keys, dtype=np.int64), shares, np.arange(self.r))

    def held_among(self, reports: Any, shares: Floats, inputs: Any) -> Floats:
        """t for some inputs alone."""
        seeds, bucket = np.divmod(reports, self.structure.buckets)
        a, b = np.divmod(seeds, HASH_PRIME)
        places = scattered(inputs)
        total, at_a_time = np.empty(inputs.size), max(1, _AT_A_TIME // max(1, reports.size))
        for start in range(0, inputs.size, at_a_time):
            x = places[start : start + at_a_time, None]
            total[start : start + at_a_time] = ((a * x + b) % HASH_PRIME % self.structure.buckets == bucket) @ shares
        return total


class IndicatorInverse(HoldingInverse):
    """The mass of all reports is the last entry of the statistic."""

    def apply(self, statistic: Floats) -> Floats:
        return np.asarray((statistic[:-1] - self.channel.other * statistic[-1]) / self.step)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        b = self.channel.other
        second = (self.channel.share_held(spread) * (1 - 2 * b) + b**2 * spread.sum()) / self.step**2
        return np.asarray(second - 2 * spread * centre + centre**2)

    def sums(self, rows: Floats) -> tuple[Floats, Floats]:
        """A report may hold any set of inputs; of hashes not every set occurs, and these are bounds."""
        return np.minimum(rows, 0).sum(axis=1), np.maximum(rows, 0).sum(axis=1)

    def binary(self, rows: Floats | None) -> Flags:
        """Those that depend on one input alone; not even the sum of all estimates is constant."""
        if rows is None:
            return np.ones(self.channel.r, dtype=np.bool_)
        return np.asarray(np.count_nonzero(rows, axis=1) == 1)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is not None:  # needs how often pairs are held together, which is not counted
            return np.full(rows.shape[0], np.nan)
        b, mass = self.channel.other, statistic[-1]
        second = (statistic[:-1] * (1 - 2 * b) + b**2 * mass) / self.step**2
        return np.asarray(second - 2 * self.apply(statistic) * centre + centre**2 * mass)
