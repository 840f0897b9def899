"""Subset selection, whose reports are too many to list: everything from how often each input is in a report.

Let a be the probability that a report holds the truth x, and d the size of a report. Then it holds another input with
probability b = (d − a)/(k − 1), and two inputs together with probability c₁ = a(d − 1)/(k − 1) if one of them is the
truth, c₂ = (d − 1)(a(d − 2) + (1 − a)d)/((k − 1)(k − 2)) otherwise (`extremal.estimate.channels.holding`). The estimate
is the generalised least squares one for equally frequent inputs (Ye and Barg 2018).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels.channel import Flags, Inverse
from extremal.estimate.channels.holding import HoldingChannel, HoldingInverse
from extremal.exact.weights import WEIGHT_BITS, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import SubsetSelection


class SubsetChannel(HoldingChannel):
    """t, the share of reports that hold each input."""

    def __init__(self, mechanism: Mechanism) -> None:
        structure = mechanism.structure
        if not isinstance(structure, SubsetSelection):
            raise InvalidParameter("the mechanism must be a subset selection", parameter="kind", value=structure.kind)
        self.r, self.size = structure.r, structure.size
        self.labels = mechanism.input_labels
        a, d, k = float(np.ldexp(structure.inside, -WEIGHT_BITS)), self.size, self.r
        self.own, self.other = a, (d - a) / (k - 1)
        self.pair_with_truth = a * (d - 1) / (k - 1)
        self.pair_without = (d - 1) * (a * (d - 2) + (1 - a) * d) / ((k - 1) * (k - 2)) if k > 2 else 0.0
        self.no_likelihood = f"maximum likelihood needs the reports listed, and there are C({k}, {d})"

    def encode(self, label: Any) -> Hashable:
        codes = tuple(self.labels.code(part, "reports") for part in label) if isinstance(label, (tuple, list)) else ()
        if len(codes) != self.size or len(set(codes)) != self.size:
            raise UnknownLabel(f"a report must hold {self.size} different labels", parameter="reports", value=label)
        return tuple(sorted(codes))

    def statistic(self, keys: Sequence[Any], shares: Floats) -> Floats:
        members = np.asarray(keys, dtype=np.intp).ravel()
        return np.asarray(
            np.bincount(members, weights=np.repeat(shares, self.size), minlength=self.r), dtype=np.float64
        )

    def uniform(self) -> Floats:
        return np.full(self.r, self.size / self.r)

    def expected(self, p: Floats) -> Floats:
        return self.share_held(p)

    def back(self, v: Floats) -> Floats:
        return self.share_held(v)  # symmetric

    def inverse(self, prior: Floats) -> Inverse:
        return SubsetInverse(self)


class SubsetInverse(HoldingInverse):
    """All reports hold `size` inputs, so that the mass of all is the sum of the statistic over it."""

    def __init__(self, channel: SubsetChannel) -> None:
        super().__init__(channel)
        self.size = channel.size

    def apply(self, statistic: Floats) -> Floats:
        mass = statistic.sum(axis=0) / self.size
        return np.asarray((statistic - self.channel.other * mass) / self.step)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        b = self.channel.other
        second = (self.channel.share_held(spread) * (1 - 2 * b) + b**2) / self.step**2
        return np.asarray(second - 2 * spread * centre + centre**2)

    def sums(self, rows: Floats) -> tuple[Floats, Floats]:
        ordered = np.sort(rows, axis=1)  # the worst report holds the d inputs of smallest, or largest, coefficient
        return ordered[:, : self.size].sum(axis=1), ordered[:, -self.size :].sum(axis=1)

    def binary(self, rows: Floats | None) -> Flags:
        """Those that depend on one input alone: A = c·1 + w·e_x, because the estimates sum to one."""
        if rows is None:
            return np.ones(self.channel.r, dtype=np.bool_)
        ordered = np.sort(rows, axis=1)
        k = ordered.shape[1]
        one_above = ordered[:, 0] == ordered[:, k - 2]
        one_below = ordered[:, 1] == ordered[:, k - 1]
        return np.asarray((one_above | one_below) & (ordered[:, 0] < ordered[:, -1]))

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is not None:  # needs how often pairs are held together, which is not counted
            return np.full(rows.shape[0], np.nan)
        b = self.channel.other
        second = (statistic * (1 - 2 * b) + b**2) / self.step**2
        return np.asarray(second - 2 * self.apply(statistic) * centre + centre**2)
