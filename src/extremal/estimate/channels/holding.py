"""Reports that hold each input or not, too many to list: what all mechanisms with such reports share.

A report holds its own input with probability a and any other with probability b, so the share t_x of reports that hold
x has E t = b + (a − b)p, and p̂ = (t − b)/(a − b) is unbiased (Wang et al. 2017; for subset selection Ye and Barg
2018). Two inputs are held together with probability c₁ if one of them is the truth, c₂ otherwise: that is the
covariance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from extremal.estimate.channels.channel import EndsByMoments, WithoutLikelihood
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures.structure import refuse_large


class UnlistedChannel(WithoutLikelihood, ABC):
    """What is answered alike wherever reports hold inputs and are never listed."""

    r: int
    labels: Labels

    @abstractmethod
    def share_held(self, p: Floats) -> Floats:
        """E t when row i has probability p_i."""

    def smallest_share(self, p: Floats) -> float:
        held = self.share_held(p)
        return float(min(held.min(), (1 - held).min()))

    def combinations(self) -> Floats | None:
        return None


class HoldingChannel(UnlistedChannel):
    """What is asked of the probabilities alone, however the shares t are counted."""

    own: float
    other: float
    pair_with_truth: float
    pair_without: float

    def share_held(self, p: Floats) -> Floats:
        return np.asarray(self.other * p.sum(axis=0) + (self.own - self.other) * p)


class HoldingInverse(EndsByMoments):
    """One report contributes (1{it holds x} − b)/(a − b)."""

    def __init__(self, channel: HoldingChannel) -> None:
        self.channel, self.step = channel, channel.own - channel.other

    @abstractmethod
    def apply(self, statistic: Floats) -> Floats: ...

    @abstractmethod
    def variances(self, centre: Floats, spread: Floats) -> Floats: ...

    @abstractmethod
    def sums(self, rows: Floats) -> tuple[Floats, Floats]:
        """The least and the most that the inputs of one report sum to, in each row."""

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        rows = self._rows(rows, "the covariance")
        b, both = self.channel.other, self.channel.pair_without
        apart = self.channel.pair_with_truth - both
        held = self.channel.share_held(spread)
        # P(x and x' held) = c₂ + (c₁ − c₂)(p_x + p_x') off the diagonal, P(x held) on it.
        own = held - both - 2 * apart * spread
        ones, p, w = rows.sum(axis=1), rows @ spread, rows @ held
        moment = (rows * own) @ rows.T + both * np.outer(ones, ones) + apart * (np.outer(p, ones) + np.outer(ones, p))
        moment += b**2 * np.outer(ones, ones) - b * (np.outer(w, ones) + np.outer(ones, w))
        a = rows @ centre
        return np.asarray(moment / self.step**2 - np.outer(p, a) - np.outer(a, p) + np.outer(a, a))

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        b = self.channel.other
        if rows is None:
            return np.array([-b / self.step]), np.array([(1 - b) / self.step])
        base = b * rows.sum(axis=1)
        least, most = self.sums(rows)
        return (least - base) / self.step, (most - base) / self.step

    def moments(self, rows: Floats | None) -> Floats:
        rows = self._rows(rows, "the moments")
        b, both = self.channel.other, self.channel.pair_without
        apart = self.channel.pair_with_truth - both
        ones, squares = rows.sum(axis=1, keepdims=True), (rows**2).sum(axis=1, keepdims=True)
        # The second moment in `covariance`, which is linear in the frequencies, one input at a time.
        own = (b - both) * squares + (self.step - 2 * apart) * rows**2
        pairs = (both + b**2) * ones**2 + 2 * apart * rows * ones
        return np.asarray((own + pairs - 2 * b * ones * (b * ones + self.step * rows)) / self.step**2)

    def _rows(self, rows: Floats | None, what: str) -> Floats:
        if rows is not None:
            return rows
        refuse_large(self.channel.r, self.channel.r, what)
        return np.eye(self.channel.r)
