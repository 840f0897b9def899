"""Subset selection, whose reports are too many to list: everything from how often each input is in a report.

Let a be the probability that a report holds the truth x, and d the size of a report. Then it holds another input with
probability b = (d − a)/(k − 1), so the share t_x of reports that hold x has E t = b + (a − b)p, and p̂ = (t − b)/(a −
b) is unbiased (Ye and Barg 2018). It is the generalised least squares estimate for equally frequent inputs. Two inputs
are held together with probability c₁ = a(d − 1)/(k − 1) if one of them is the truth, c₂ = (d − 1)(a(d − 2) + (1 −
a)d)/((k − 1)(k − 2)) otherwise: that is the covariance.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels.channel import Flags, Floats, Inverse, ends_of
from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import SubsetSelection
from extremal.mechanism.structures.structure import refuse_large


class SubsetChannel:
    """t, the share of reports that hold each input."""

    def __init__(self, mechanism: Mechanism) -> None:
        kernel = mechanism.kernel
        if not isinstance(kernel, SubsetSelection):
            raise InvalidParameter("the mechanism must be a subset selection", parameter="kind", value=kernel.kind)
        self.r, self.size = kernel.r, kernel.size
        self.labels = mechanism.input_labels
        self.with_truth = float(np.ldexp(kernel.inside, -WEIGHT_BITS))
        self.without = (self.size - self.with_truth) / (self.r - 1)

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
        return np.asarray(self.without * p.sum(axis=0) + (self.with_truth - self.without) * p)

    def back(self, v: Floats) -> Floats:
        return self.expected(v)  # symmetric

    def smallest_share(self, p: Floats) -> float:
        held = self.expected(p)
        return float(min(held.min(), (1 - held).min()))

    def combinations(self) -> Floats | None:
        return None

    def inverse(self, prior: Floats) -> Inverse:
        return SubsetInverse(self)

    def maximum_likelihood(self, statistic: Floats, tolerance: float) -> tuple[Floats, float]:
        raise InvalidParameter(
            f"maximum likelihood needs the reports listed, and there are C({self.r}, {self.size})",
            parameter="method",
            value="mle",
            hint='Use method="unbiased" or "projected".',
        )

    def misfit(self, statistic: Floats, p: Floats, n: float) -> tuple[float, int]:
        return 0.0, 0


class SubsetInverse:
    """One report S contributes (1{x ∈ S} − b)/(a − b)."""

    def __init__(self, channel: SubsetChannel) -> None:
        a, d, k = channel.with_truth, channel.size, channel.r
        self.channel, self.step = channel, a - channel.without
        self.pair_with_truth = a * (d - 1) / (k - 1)
        self.pair_without = (d - 1) * (a * (d - 2) + (1 - a) * d) / ((k - 1) * (k - 2)) if k > 2 else 0.0

    def apply(self, statistic: Floats) -> Floats:
        mass = statistic.sum(axis=0) / self.channel.size
        return np.asarray((statistic - self.channel.without * mass) / self.step)

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        b = self.channel.without
        held = self.channel.expected(spread)
        second = (held * (1 - 2 * b) + b**2) / self.step**2
        return np.asarray(second - 2 * spread * centre + centre**2)

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        if rows is None:
            refuse_large(centre.size, centre.size, "the covariance")
            rows = np.eye(centre.size)
        b, both, apart = self.channel.without, self.pair_without, self.pair_with_truth - self.pair_without
        held = self.channel.expected(spread)
        # P(x, x' ∈ S) = c₂ + (c₁ − c₂)(p_x + p_x') off the diagonal, P(x ∈ S) on it.
        own = held - both - 2 * apart * spread
        ones, p, w = rows.sum(axis=1), rows @ spread, rows @ held
        moment = (rows * own) @ rows.T + both * np.outer(ones, ones) + apart * (np.outer(p, ones) + np.outer(ones, p))
        moment += b**2 * np.outer(ones, ones) - b * (np.outer(w, ones) + np.outer(ones, w))
        a = rows @ centre
        return np.asarray(moment / self.step**2 - np.outer(p, a) - np.outer(a, p) + np.outer(a, a))

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        b, d = self.channel.without, self.channel.size
        if rows is None:
            return np.array([-b / self.step]), np.array([(1 - b) / self.step])
        ordered = np.sort(rows, axis=1)  # the worst report holds the d inputs of smallest, or largest, coefficient
        base = b * rows.sum(axis=1)
        return (ordered[:, :d].sum(axis=1) - base) / self.step, (ordered[:, -d:].sum(axis=1) - base) / self.step

    def binary(self, rows: Floats | None) -> Flags:
        """Those that depend on one input alone: A = c·1 + w·e_x, because the estimates sum to one."""
        if rows is None:
            return np.ones(self.channel.r, dtype=np.bool_)
        ordered = np.sort(rows, axis=1)
        k = ordered.shape[1]
        one_above = ordered[:, 0] == ordered[:, k - 2]
        one_below = ordered[:, 1] == ordered[:, k - 1]
        return np.asarray((one_above | one_below) & (ordered[:, 0] < ordered[:, -1]))

    def moments(self, rows: Floats | None) -> Floats:
        if rows is None:
            refuse_large(self.channel.r, self.channel.r, "the moments")
            rows = np.eye(self.channel.r)
        b, both, apart = self.channel.without, self.pair_without, self.pair_with_truth - self.pair_without
        ones, squares = rows.sum(axis=1, keepdims=True), (rows**2).sum(axis=1, keepdims=True)
        # The second moment in `covariance`, which is linear in the frequencies, one input at a time.
        own = (b - both) * squares + (self.step - 2 * apart) * rows**2
        pairs = (both + b**2) * ones**2 + 2 * apart * rows * ones
        return np.asarray((own + pairs - 2 * b * ones * (b * ones + self.step * rows)) / self.step**2)

    def ends(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        return ends_of(self.moments(None), p)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is not None:  # needs how often pairs are held together, which is not counted
            return np.full(rows.shape[0], np.nan)
        b = self.channel.without
        second = (statistic * (1 - 2 * b) + b**2) / self.step**2
        return np.asarray(second - 2 * self.apply(statistic) * centre + centre**2)
