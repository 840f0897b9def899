"""What a workload costs with a mechanism: balls around n × the total mean squared error, from the exact weights.

With M = J + ρI, J = Σ_y q_y q_yᵀ/m_y and A_c the statistics less their means, the cost is F = tr(A_c M⁻¹ A_cᵀ), the
least n × mean squared error when a bias counts as it would for 1/ρ respondents (`extremal.utility.workload`). J is
summed in integers: 1/m_y is rounded down once to many bits, and the rounding is in the radius of the balls. M is
inverted in balls, or, where reports are fewer than rows, ρD + QᵀQ is: F = (tr W_c − tr (ρD + QᵀQ)⁻¹QᵀW_cQ)/ρ.

F is the least over decoders t of Σ_i [Σ_y m_y t_iy² + |a_i − Qt_i|²/ρ], a_i the rows of A_c. That says what a report of
probability 0 counts for: it costs nothing and takes away bias where inputs of probability 0 make it. So F is the limit
of what it is at priors without zeros, and concave in the prior. J has no such term, the second form has.

Inputs with the same row are handled together: with N the sizes of the row classes and W̄ the mean of W_c over each,
F = (what of W_c varies within classes)/ρ + tr W̄(J + ρN⁻¹)⁻¹.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_mat

from extremal.certificate.arithmetic.counts import by_counts
from extremal.certificate.arithmetic.doubles import SUM_BITS, member_sums, pair_sums
from extremal.certificate.arithmetic.enclosures import lower, upper
from extremal.certificate.arithmetic.whole import Integers, congruent, folded
from extremal.certificate.refused import NotKnown
from extremal.exact import Column, by_row_class, prefix_sums
from extremal.utility.workload import NOT_IDENTIFIED, RESOLUTION

BITS = 512  # of balls where matrices are small
BITS_OF_MANY = 192  # and where they are large
MANY = 200  # rows that are many
MOST_ROWS = 1500  # inverted in balls
MOST_ENTRIES = 1 << 20  # of a mechanism whose columns have any values
INVERSE_BITS = 224  # of 1/m_y

RHO = fmpq(RESOLUTION.numerator, RESOLUTION.denominator)


@dataclass(frozen=True, eq=False)
class ExactWorkload:
    """W = gram/denominator, and A = factor/√denominator where that is whole and has few rows."""

    gram: Integers
    denominator: int
    factor: Integers | None

    @classmethod
    def of(cls, utility: Any) -> ExactWorkload:
        rows, denominator = utility.exact_gram
        factor = utility.exact_rows
        few = factor is not None and 2 * len(factor) <= utility.k
        return cls(np.array(rows, dtype=object), denominator, np.array(factor, dtype=object) if few else None)


@dataclass(frozen=True, eq=False)
class Statistics:
    """W_c = PᵀWP at the prior, P = I − p1ᵀ, summed over row classes: (S·total² − (l·nᵀ + n·lᵀ)·total + s·nnᵀ)·scale.

    Attributes:
        matrix, row_of: W = AᵀA in whole numbers, and the row class of each input.
        factor: A in whole numbers over the root of W's denominator, where it has few rows.
        lines, mean: l = LᵀWp and s = pᵀWp, times the total of the prior and its square.
        sizes: n, of the row classes.
        total, scale: as above.
        trace: tr W_c.
    """

    matrix: Integers
    row_of: Any
    factor: Integers | None
    lines: Integers
    mean: int
    sizes: Integers
    total: int
    scale: Any
    trace: Any

    @classmethod
    def of(cls, workload: ExactWorkload, prior: Any, view: Any) -> Statistics:
        gram, factor = workload.gram, workload.factor
        weights, total, r = np.array(prior.weights, dtype=object), prior.total, view.row_classes
        along = gram @ weights if factor is None else factor.T @ (factor @ weights)
        mean, scale = int(along @ weights), fmpq(1, workload.denominator * total * total)
        trace = scale * (int(np.trace(gram)) * total**2 - 2 * total * int(along.sum()) + len(weights) * mean)
        lines, sizes = along, np.ones(r, dtype=object)
        if view.row_of is not None:
            lines = np.zeros(r, dtype=object)
            np.add.at(lines, view.row_of, along)
            sizes = np.bincount(view.row_of, minlength=r).astype(object)
        return cls(gram, view.row_of, factor, lines, mean, sizes, total, scale, arb(trace))

    @property
    def summed(self) -> Integers:
        """LᵀWL, L the inputs of each row class."""
        return self.matrix if self.row_of is None else folded(self.matrix, self.row_of, self.sizes.size)

    @cached_property
    def sums(self) -> Any:
        """LᵀW_cL, in balls."""
        return self.centred(self.summed, self.lines, self.sizes)

    def seen(self, weights: Integers) -> Any:
        """QᵀLᵀW_cLQ for whole weights Q, in balls."""
        if self.factor is not None:
            inputs = weights if self.row_of is None else weights[self.row_of]
            along = self.factor @ inputs
            whole = along.T @ along
        else:
            whole = congruent(weights.T, self.summed)
        return self.centred(whole, self.lines @ weights, self.sizes @ weights)

    def centred(self, square: Integers, line: Integers, ones: Integers) -> Any:
        """W_c in balls, from what multiplies total², total and s above."""
        cross = np.outer(line, ones) * self.total
        whole = square * self.total**2 - cross - cross.T + np.outer(ones, ones) * self.mean
        return arb_mat(fmpz_mat(whole.tolist())) * arb(self.scale)


class Channel:
    """The exact columns of a mechanism in the forms that the cost is computed from."""

    def __init__(self, view: Any) -> None:
        self.view, self.r, self.m = view, view.row_classes, view.m
        self.sizes = [1] * self.r if view.row_of is None else np.bincount(view.row_of, minlength=self.r).tolist()

    def orbits(self, prior: Sequence[int]) -> list[Column]:
        """Columns that stand for all that permutations of the rows make of them, where all columns are such. Single
        rows, each reported in the same way, are an orbit too: where they are equally likely it has one class.
        """
        first = next(iter(self.view.columns()))
        if first.orbit:
            return list(self.view.columns())
        alike = len(set(zip(self.sizes, by_row_class(prior, self.view), strict=True))) == 1
        if not alike or self.r != self.m or len(first.groups) != 2:
            return []
        weights = {tuple(weight for weight, _ in column.groups) for column in self.columns}
        single = all(len(column.groups[-1][1]) == 1 for column in self.columns)  # each row once: rows have equal sums
        return [replace(first, orbit=True)] if len(weights) == 1 and single else []

    @cached_property
    def columns(self) -> list[Column]:
        columns = list(self.view.columns())
        if any(column.orbit for column in columns):
            raise NotKnown("the outputs are too many to list", parameter="m", value=self.m)
        return columns

    @cached_property
    def weights(self) -> Integers:
        """All weights, r×m."""
        if not self.small:
            raise NotKnown(f"a mechanism of {self.r} × {self.m} different weights is too large", parameter="m")
        return np.array(self.view.distinct_rows().tolist(), dtype=object)

    @cached_property
    def small(self) -> bool:
        """Whether all weights are listed."""
        return bool(self.r * self.m <= MOST_ENTRIES and not next(iter(self.view.columns())).orbit)

    def marginals(self, prior: Sequence[int]) -> list[int]:
        """m_y times the denominator and the total of the prior."""
        rows = by_row_class(prior, self.view)
        if self.small:
            return [int(v) for v in np.array(rows, dtype=object) @ self.weights]
        prefix = prefix_sums(rows)
        return [column.weighted_sum(prefix) for column in self.columns]

    def information(self, prior: Sequence[int], total: int) -> Any:
        """Balls around J."""
        masses = self.marginals(prior)
        shift = INVERSE_BITS + max(mass.bit_length() for mass in masses) - total.bit_length()
        inverse = [(total << shift) // mass if mass else 0 for mass in masses]
        unit = self.view.denominator << shift
        if self.small:
            whole = fmpz_mat(self.weights.tolist()) * fmpz_mat(
                (self.weights * np.array(inverse, dtype=object)).T.tolist()
            )
            largest = max(int(whole[i, i]) for i in range(self.r))
            # 1/m_y is too small by less than one part in 2^(INVERSE_BITS − 1)
            return self._balls(whole, unit, fmpq(largest, unit << (INVERSE_BITS - 1)))
        return self._two_valued(inverse, unit)

    def _two_valued(self, inverse: list[int], unit: int) -> Any:
        """J = Σ_y (b² 11ᵀ + b·d (1·1_Tᵀ + 1_T·1ᵀ) + d² 1_T 1_Tᵀ)/m_y for columns b + d·1_T, each coefficient rounded
        down."""
        if any(len(column.groups) > 2 for column in self.columns):
            raise NotKnown(f"a mechanism of {self.r} × {self.m} different weights is too large", parameter="m")
        low = [column.groups[0][0] for column in self.columns]
        step = [column.groups[-1][0] - b for column, b in zip(self.columns, low, strict=True)]
        square = [c * d * d for c, d in zip(inverse, step, strict=True)]
        largest = max(max(square), max(c * b * b for c, b in zip(inverse, low, strict=True)))
        down = max(0, largest.bit_length() - SUM_BITS)
        constant = sum((c * b * b) >> down for c, b in zip(inverse, low, strict=True))
        members = [column.groups[-1][1].indices() if d else () for column, d in zip(self.columns, step, strict=True)]
        products = pair_sums(members, [q >> down for q in square], self.r)
        mixed = [(c * b * d) >> down for c, b, d in zip(inverse, low, step, strict=True)]
        line = member_sums(members, mixed, self.r)
        whole = products + line[:, None] + line + constant
        # four coefficients of a column are each too small by less than 1, and what 1/m_y lacks is less still
        radius = fmpq((8 * self.m) << down, unit) + fmpq(int(whole.max()) << down, unit << (INVERSE_BITS - 1))
        return self._balls(fmpz_mat(whole.tolist()), fmpq(unit, 1 << down), radius)

    def _balls(self, whole: Any, unit: Any, radius: Any) -> Any:
        spread = arb(0, upper_float(radius))
        return arb_mat(whole) * (1 / arb(unit)) + arb_mat(self.r, self.r, [spread] * (self.r * self.r))


def upper_float(number: Any) -> Any:
    """An exact ball at or above a rational: what a radius is made of."""
    return arb(number).upper()


@dataclass(frozen=True, eq=False)
class Cost:
    """F at one prior, and what its change with the prior is made of.

    Attributes:
        value: F.
        unknown: ρ times what F is when nothing is known, tr W_c.
        squares: Σ_i t_iy² for each report, t the best decoder of the centred statistics; empty if not asked for.
        moved: Σ_i (p·b_i)(Qt_i)(x) for each row, b the bias of the decoder.
        bias: Σ_i |b_i|².
    """

    value: Any
    unknown: Any
    squares: tuple[Any, ...] = ()
    moved: tuple[Any, ...] = ()
    bias: Any = 0


def cost_at(channel: Channel, workload: ExactWorkload, prior: Any, slope: bool = False) -> Cost:
    """F at a prior, in balls; with its slope where asked for."""
    orbits = [] if slope else channel.orbits(prior.weights)
    possible = bool(orbits) or all(channel.marginals(prior.weights))
    inverted = channel.r if possible else max(channel.r, channel.m)
    if not orbits and inverted > MOST_ROWS:
        raise NotKnown(f"at most {MOST_ROWS} different rows are inverted", parameter="k", value=inverted)
    with ctx.workprec(BITS if min(channel.r, channel.m) <= MANY else BITS_OF_MANY):
        wanted = Statistics.of(workload, prior, channel.view)
        try:
            if orbits:
                return Cost(by_counts(wanted, channel, orbits, prior), wanted.trace)
            way = _by_rows if channel.m >= channel.r and possible else _by_reports
            return way(channel, wanted, prior, slope)
        except ZeroDivisionError:
            raise NotKnown("the information cannot be inverted", parameter="k", value=channel.r) from None


def _by_rows(channel: Channel, wanted: Statistics, prior: Any, slope: bool) -> Cost:
    r, sizes = channel.r, channel.sizes
    information = channel.information(prior.weights, prior.total)
    ridged = arb_mat(information)
    for g, n in enumerate(sizes):
        ridged[g, g] = ridged[g, g] + arb(RHO / n)
    inverse = ridged.inv()
    shrink = _diagonal([fmpq(1, n) for n in sizes]) if channel.view.row_of is not None else None
    mean = wanted.sums if shrink is None else shrink * wanted.sums * shrink
    within = wanted.trace - sum((n * mean[g, g] for g, n in enumerate(sizes)), arb(0))
    product = mean * inverse
    value = within / arb(RHO) + sum((product[g, g] for g in range(r)), arb(0))
    if not slope:
        return Cost(value, wanted.trace)
    inner = inverse * product  # M⁻¹W̄M⁻¹
    table = arb_mat(fmpz_mat(channel.weights.tolist())) * arb(fmpq(1, channel.view.denominator))
    masses = [fmpq(mass, prior.total * channel.view.denominator) for mass in channel.marginals(prior.weights)]
    through = inner * table
    squares = tuple(
        sum((table[g, y] * through[g, y] for g in range(r)), arb(0)) / (mass * mass) for y, mass in enumerate(masses)
    )
    moved = information * inner * (information * _column(by_row_class(prior.weights, channel.view), prior.total))
    # b_i = a_i − Qt_i: within classes what varies, between them ρN⁻¹M⁻¹a_i
    lost = sum((RHO * RHO * inner[g, g] / n for g, n in enumerate(sizes)), arb(0)) + within
    return Cost(value, wanted.trace, squares, tuple(moved[g, 0] for g in range(r)), lost)


def _by_reports(channel: Channel, wanted: Statistics, prior: Any, slope: bool) -> Cost:
    unit, marginals = fmpq(1, channel.view.denominator), channel.marginals(prior.weights)
    read = _read(channel.weights, marginals)
    m, weights, masses = len(read), channel.weights[:, read], [fmpq(marginals[y], prior.total) * unit for y in read]
    often = weights * np.array(channel.sizes, dtype=object)[:, None]
    inner = arb_mat(fmpz_mat(weights.T.tolist()) * fmpz_mat(often.tolist())) * arb(unit * unit)
    ridged = arb_mat(inner)
    for y, mass in enumerate(masses):
        ridged[y, y] = ridged[y, y] + arb(RHO * mass)
    inverse = ridged.inv()
    product = inverse * (wanted.seen(weights) * arb(unit * unit))
    value = (wanted.trace - sum((product[y, y] for y in range(m)), arb(0))) / arb(RHO)
    if not slope:
        return Cost(value, wanted.trace)
    decoders = product * inverse  # Σ_i t_i t_iᵀ
    table = arb_mat(fmpz_mat(weights.tolist())) * arb(unit)
    moved = table * (decoders * arb_mat(m, 1, masses))
    lost = (
        sum(((decoders * inner)[y, y] for y in range(m)), arb(0))
        - 2 * sum((product[y, y] for y in range(m)), arb(0))
        + wanted.trace
    )
    squares = [arb(0)] * channel.m
    for i, y in enumerate(read):
        squares[y] = decoders[i, i]
    return Cost(value, wanted.trace, tuple(squares), tuple(moved[g, 0] for g in range(channel.r)), lost)


def _read(weights: Integers, masses: Sequence[int]) -> list[int]:
    """The reports that a decoder reads: of those of probability 0 as many as are linearly independent. What it says to
    the others may be 0."""
    never = [y for y, mass in enumerate(masses) if not mass]
    reduced, rank = fmpq_mat(fmpz_mat(len(weights), len(never), weights[:, never].ravel().tolist())).rref()
    pivots = [next(j for j in range(len(never)) if reduced[i, j]) for i in range(rank)]
    return sorted([y for y, mass in enumerate(masses) if mass] + [never[j] for j in pivots])


def _diagonal(entries: Sequence[Any]) -> Any:
    n = len(entries)
    return arb_mat(n, n, [e if i == j else 0 for i, e in enumerate(entries) for j in range(n)])


def _column(weights: Sequence[int], total: int) -> Any:
    return arb_mat(len(weights), 1, [fmpq(w, total) for w in weights])


def around(cost: Cost) -> tuple[Fraction | float, Fraction | float]:
    """Rationals around a cost; infinite both when it is so large that a statistic cannot be told."""
    low, high = lower(cost.value), upper(cost.value)
    if low * RESOLUTION > NOT_IDENTIFIED * upper(cost.unknown):
        return inf, inf
    return low, high
