"""Hadamard and projective geometry response, from fast transforms: a million inputs in about a second.

The statistic is the vector f of report frequencies. The share t_x of reports that x favours comes from one transform of
f: Hadamard's in each block, or Fourier's over the vectors modulo q, because Σ_c ω^(c·x·y) over the c ≠ 0 is q − 1 where
x·y = 0 and −1 elsewhere (Acharya, Sun and Zhang 2019; Feldman, Nelson, Nguyen and Talwar 2022). One report y adds

    L_x(y) = (1{y ∈ S_x} − κ·1{y in the block of x} − γ)/step

to the estimate of x, with E L_x = p_x. Everything else is the same transform of something else: which reports the
inputs of given weights favour.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.estimate.channels.channel import (
    NEGLIGIBLE,
    Flags,
    Inverse,
    ListedReports,
    WithoutLikelihood,
    dense_moment,
    two_valued,
)
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import ChosenSets, HadamardSets, ProjectiveSets
from extremal.mechanism.structures.structure import refuse_large

MOST_VECTORS = 1 << 27  # a gigabyte


class TransformChannel(ListedReports, WithoutLikelihood, ABC):
    """f, the frequencies of the reports."""

    no_likelihood = "maximum likelihood is offered where inputs × reports are at most 65,536"
    blocks = 1  # of reports and, by x mod blocks, of inputs
    between = 0.0  # κ

    def __init__(self, structure: ChosenSets, mechanism: Mechanism) -> None:
        super().__init__(mechanism)
        self.structure, self.r = structure, structure.r
        self.inside = structure.inside / DENOMINATOR
        # P(y) for a report outside, and by how much one inside exceeds it.
        self.low = (1 - self.inside) / (structure.m - structure.size)
        self.rise = self.inside / structure.size - self.low
        shared = float(structure.overlap(0, structure.r))  # r may stand for any other input
        self.other = self.low * structure.size + self.rise * shared * structure.size
        self.within = self.other  # P(a report is in S_x) when the truth is another input of the block of x
        self.step, self.constant = self.inside - self.other, self.other

    @abstractmethod
    def favoured(self, f: Floats) -> Floats:
        """t: for each input the sum of f over the reports that it favours."""

    @abstractmethod
    def favouring(self, p: Floats) -> Floats:
        """For each report the sum of p over the inputs that favour it."""

    def blocks_of_reports(self, f: Floats) -> Floats:
        """The sum of f over each block."""
        return np.asarray(f.reshape(self.blocks, -1).sum(axis=1))

    def expected(self, p: Floats) -> Floats:
        if p.ndim == 2:
            return np.column_stack([self.expected(column) for column in p.T])
        return np.asarray(self.low * p.sum() + self.rise * self.favouring(p))

    def back(self, v: Floats) -> Floats:
        if v.ndim == 2:
            return np.column_stack([self.back(column) for column in v.T])
        return np.asarray(self.low * v.sum() + self.rise * self.favoured(v))

    def combinations(self) -> Floats | None:
        return None

    def inverse(self, prior: Floats) -> Inverse:
        return TransformInverse(self)


class HadamardChannel(TransformChannel):
    """Hadamard's transform in each block."""

    def __init__(self, mechanism: Mechanism) -> None:
        structure = mechanism.structure
        if not isinstance(structure, HadamardSets):
            raise InvalidParameter("the mechanism must be a Hadamard response", parameter="kind", value=structure.kind)
        super().__init__(structure, mechanism)
        self.blocks, self.width = structure.blocks, structure.width
        self.within = within = self.low * structure.size + self.rise * structure.size / 2
        self.step = self.inside - within
        self.constant = within
        if self.blocks > 1:  # a report's block tells of the block of the truth, apart from the half of it
            outside, block_outside = self.low * structure.size, self.low * self.width
            block_within = self.inside + self.low * structure.size
            self.between = (within - outside) / (block_within - block_outside)
            self.constant = outside - self.between * block_outside
        inputs = np.arange(self.r)
        self._block, self._line = inputs % self.blocks, inputs // self.blocks + 1

    def favoured(self, f: Floats) -> Floats:
        table = f.reshape(self.blocks, self.width)
        return np.asarray((table.sum(axis=1)[self._block] + hadamard(table)[self._block, self._line]) / 2)

    def favouring(self, p: Floats) -> Floats:
        table = np.zeros((self.blocks, self.width))
        table[self._block, self._line] = p
        return np.asarray((table.sum(axis=1, keepdims=True) + hadamard(table)) / 2).ravel()


class ProjectiveChannel(TransformChannel):
    """Fourier's transform over the vectors modulo q, where a point has the same value on all its multiples."""

    def __init__(self, mechanism: Mechanism) -> None:
        structure = mechanism.structure
        if not isinstance(structure, ProjectiveSets):
            raise InvalidParameter("the mechanism must be a projective one", parameter="kind", value=structure.kind)
        super().__init__(structure, mechanism)
        self.rule = structure
        self.q, self.t = structure.order, structure.coordinates
        if self.q**self.t > MOST_VECTORS:
            raise TooLarge(
                "the transform has at most 2^27 vectors", parameter="order^coordinates", value=f"{self.q}^{self.t}"
            )

    def favoured(self, f: Floats) -> Floats:
        return self._sums(f)[: self.r]

    def favouring(self, p: Floats) -> Floats:
        return self._sums(np.concatenate((p, np.zeros(self.m - self.r))))

    def _sums(self, values: Floats) -> Floats:
        """For each point x the sum of the values over the points y with x·y = 0."""
        from scipy.fft import rfftn

        q, t = self.q, self.t
        vectors = self.rule.vectors(np.arange(self.m))
        grid = np.zeros(q**t)
        for scale in range(1, q):
            grid[self._scaled(vectors, scale)] = values
        transform = rfftn(grid.reshape((q,) * t)).real
        last = vectors % q
        mirrored = np.where(last > q // 2, self._scaled(vectors, q - 1), vectors)  # the transform is even, half is kept
        half = q // 2 + 1
        return np.asarray((transform.ravel()[mirrored // q * half + mirrored % q] + values.sum()) / q)

    def _scaled(self, vectors: Any, scale: int) -> Any:
        """The vectors times a number modulo q."""
        if scale == 1:
            return vectors
        total = np.zeros_like(vectors)
        for power in (self.q**j for j in range(self.t)):
            total += vectors // power % self.q * scale % self.q * power
        return total


class TransformInverse:
    """L by transforms."""

    def __init__(self, channel: TransformChannel) -> None:
        self.channel = channel
        self._last: tuple[Floats, Floats] | None = None

    def _favoured(self, f: Floats) -> Floats:
        """The channel's transform of f; that of the last f is kept, for it takes most of the time."""
        if self._last is None or self._last[0] is not f:
            self._last = (f, self.channel.favoured(f))
        return self._last[1]

    def apply(self, statistic: Floats) -> Floats:
        if statistic.ndim == 2:
            return np.column_stack([self.apply(column) for column in statistic.T])
        c = self.channel
        block = c.blocks_of_reports(statistic)[np.arange(c.r) % c.blocks] if c.between else 0.0
        return np.asarray((self._favoured(statistic) - c.between * block - c.constant * statistic.sum()) / c.step)

    def influence(self, rows: Floats | None) -> Floats | None:
        return None

    def variances(self, centre: Floats, spread: Floats) -> Floats:
        """L_x takes three values: on the set of x, on the rest of its block, elsewhere."""
        return np.asarray(self.ends(spread)[1] - 2 * spread * centre + centre**2)

    def _second(self, f: Floats) -> Floats:
        """The mean of L_x² when reports are as frequent as f."""
        c = self.channel
        held = self._favoured(f)
        block = c.blocks_of_reports(f)[np.arange(c.r) % c.blocks]
        inside, beside, away = self._values()
        return np.asarray(inside**2 * held + beside**2 * (block - held) + away**2 * (f.sum() - block))

    def _values(self) -> tuple[float, float, float]:
        c = self.channel
        return tuple((v - c.constant) / c.step for v in (1 - c.between, -c.between, 0.0))  # type: ignore[return-value]

    def covariance(self, rows: Floats | None, centre: Floats, spread: Floats) -> Floats:
        chosen = self._identity() if rows is None else rows
        return dense_moment(self._influence(chosen), chosen, self.channel.expected(spread), centre, spread)

    def extremes(self, rows: Floats | None) -> tuple[Floats, Floats]:
        if rows is None:
            values = self._values() if self.channel.blocks > 1 else self._values()[:2]
            return np.array([min(values)]), np.array([max(values)])
        influence = self._influence(rows)
        return influence.min(axis=1), influence.max(axis=1)

    def binary(self, rows: Floats | None) -> Flags:
        if rows is None:
            return np.full(self.channel.r, self.channel.blocks == 1)
        return two_valued(self._influence(rows))

    def moments(self, rows: Floats | None) -> Floats:
        squares = self._influence(self._identity() if rows is None else rows) ** 2
        return np.asarray(self.channel.back(squares.T).T)

    def ends(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Three numbers say all: the truth is x, another input of its block, or one of another block."""
        c = self.channel
        inside, beside, away = (value**2 for value in self._values())
        size, width = c.structure.size, c.m // c.blocks
        own = inside * c.inside + beside * c.low * (width - size) + away * c.low * (c.m - width)
        held = c.within
        in_block = c.inside + c.low * (width - size)
        near = inside * held + beside * (in_block - held) + away * (1 - in_block)
        far = c.low * (inside * size + beside * (width - size) + away * (c.m - width))
        weight = p + NEGLIGIBLE
        blocks = np.arange(c.r) % c.blocks
        here = np.bincount(blocks, weights=weight, minlength=c.blocks)[blocks]
        others = near * (here - weight) + far * (weight.sum() - here)
        mass = np.bincount(blocks, weights=p, minlength=c.blocks)[blocks]
        all_of_p = own * p + near * (mass - p) + far * (p.sum() - mass)
        return others / (weight.sum() - weight), np.asarray(all_of_p), np.full(c.r, own)

    def sample_variances(self, rows: Floats | None, statistic: Floats, centre: Floats) -> Floats:
        if rows is None:
            return np.asarray(self._second(statistic) - 2 * self.apply(statistic) * centre + centre**2)
        return np.asarray((self._influence(rows) - (rows @ centre)[:, None]) ** 2 @ statistic)

    def _identity(self) -> Floats:
        refuse_large(self.channel.r, self.channel.m, "the influence of reports")
        return np.eye(self.channel.r)

    def _influence(self, rows: Floats) -> Floats:
        """A L, one row of m numbers for each row of A."""
        c = self.channel
        refuse_large(rows.shape[0], c.m, "the influence of reports")
        made = np.empty((rows.shape[0], c.m))
        for i, row in enumerate(rows):
            made[i] = c.favouring(row) - c.constant * row.sum()
            if c.between:
                mass = np.bincount(np.arange(c.r) % c.blocks, weights=row, minlength=c.blocks)
                made[i] -= c.between * np.repeat(mass, c.m // c.blocks)
        return made / c.step


def hadamard(table: Floats) -> Floats:
    """Each row of 2^j numbers times Hadamard's matrix (Sylvester's).

    >>> hadamard(np.array([[1.0, 2, 3, 4]])).tolist()
    [[10.0, -2.0, -4.0, 0.0]]
    """
    rows, width = table.shape
    work, half = table.copy(), 1
    while half < width:
        pairs = work.reshape(rows, -1, 2, half)
        left, right = pairs[:, :, 0].copy(), pairs[:, :, 1].copy()
        pairs[:, :, 0], pairs[:, :, 1] = left + right, left - right
        half *= 2
    return work
