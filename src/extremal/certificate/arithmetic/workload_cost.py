"""What a workload costs with a mechanism: balls around n × the total mean squared error, from the exact weights.

With M = J + ρI, J = Σ_y q_y q_yᵀ/m_y and A_c the statistics less their means, the cost is F = tr(A_c M⁻¹ A_cᵀ), the
least n × mean squared error when a bias counts as it would for 1/ρ respondents (`problem.RESOLUTION`). J is summed in
integers: 1/m_y is rounded down once to many bits, and the rounding is in the radius of the balls. M is inverted in
balls, or, where reports are fewer than rows, ρD + QᵀQ is: F = (tr W_c − tr (ρD + QᵀQ)⁻¹QᵀW_cQ)/ρ.

F is the least over decoders t of Σ_i [Σ_y m_y t_iy² + |a_i − Qt_i|²/ρ], a_i the rows of A_c. That says what a report of
probability 0 counts for: it costs nothing and takes away bias where inputs of probability 0 make it. So F is the limit
of what it is at priors without zeros, and concave in the prior. J has no such term, the second form has.

Inputs with the same row are handled together: with N the sizes of the row classes and W̄ the mean of W_c over each,
F = (what of W_c varies within classes)/ρ + tr W̄(J + ρN⁻¹)⁻¹.

*All subsets of a size*, inputs equally likely in groups, need no list of reports; nor do several types of sets, each
with so many members of certain parts of the rows (a group is then what is equally likely within a part). A subset
matters through t, how many members it has of each group of n_g rows: Π C(n_g, t_g) subsets share t and the marginal
m_t. A report is low + (high − low)·1_S, and given t two rows of groups g and h both lie in S with probability
t_g t_h/(n_g n_h), two of one group with t_g(t_g − 1)/(n_g(n_g − 1)). So the information is J = diag(a) + LBLᵀ, L the
groups. Rows of a group stand for the same number s_g of inputs; by Woodbury's identity, with A = diag(a + ρ/s),

    tr W̄(J + ρS⁻¹)⁻¹ = Σ_g tr(W̄ in g)/A_g − tr K·(sums of W̄ over groups)/(A_g A_h),    K = (I + BNA⁻¹)⁻¹B.

*Over a class of priors* the cost F(p) at any prior p of it is a lower bound. For an upper bound keep the decoder that
is best at p: with t its values, b its bias, s(v) what it averages to under a prior v, every other prior has

    F(v) ≤ F(p) + Σ_i |b_i|² + g·(v − p),      g(x) = Σ_i Σ_y Q(y|x)t_iy² − 2·Σ_i s_i(p)·(Qt_i)(x)

because Σ_y m_y t² is linear in the prior and −s² concave. A linear function is largest at a vertex, exactly. Where p
comes from does not matter: how good it is shows in the width of the enclosure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb, inf, prod

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_mat

from extremal.certificate.arithmetic.doubles import SLICE, SUM_BITS, Members, member_sums, near_inverse, pair_sums
from extremal.certificate.arithmetic.enclosures import Ball, Rational, lower, upper
from extremal.certificate.arithmetic.whole import Integers, congruent, folded
from extremal.certificate.refused import NotKnown
from extremal.exact import Column, ExactView, Prior, by_row_class
from extremal.problem import NOT_IDENTIFIED, RESOLUTION, WorkloadGoal
from extremal.sources import SourceClass

BITS = 512  # of balls where matrices are small: inverting M loses about 80 for ρ, and as many for its condition
BITS_OF_MANY = 192  # and where they are large, to be done in seconds
MANY = 200  # rows that are many
MOST_ROWS = 1500  # inverted: half a minute in balls, some seconds by a residual
MOST_ENTRIES = 1 << 20  # of a mechanism whose columns have any values
INVERSE_BITS = 224  # of 1/m_y
PAIR_BITS = 2 * SLICE  # of sums over pairs of many rows, relative to the largest: their rounding is far below a double
RESIDUAL_BITS = 100  # of J + ρI where a residual encloses its inverse
MOST_COUNTS = 20_000  # vectors of counts: some seconds
MOST_OF_CLASS = 1000  # inputs where the worst of a class of priors is enclosed

ZERO = arb(0)
RHO = fmpq(RESOLUTION.numerator, RESOLUTION.denominator)

Indices = npt.NDArray[np.intp]
Around = tuple[Fraction | float, Fraction | float]  # rationals around a cost, or infinite both


def workload_cost(goal: WorkloadGoal, view: ExactView, worst: Prior | None) -> Around:
    """Rationals around n × the total mean squared error; infinite both when a statistic is not identified.

    Args:
        worst: where the source is a class, a prior of it.

    Raises:
        NotKnown: a mechanism too large to invert, or a class without a prior of it.
    """
    if view.k != goal.k:
        raise NotKnown("the mechanism and the cost are about different inputs", "k", view.k)
    workload, channel = ExactWorkload.of(goal), ExactColumns(view)
    single = goal.source.single
    if single is not None:
        return _around(cost_at(channel, workload, single))
    if worst is None or goal.k > MOST_OF_CLASS:
        raise NotKnown(
            f"a worst case is enclosed where one of its priors is named, up to {MOST_OF_CLASS} inputs",
            "worst_prior",
            None if worst is None else goal.k,
        )
    return _over_class(channel, workload, goal.source, worst)


def _over_class(channel: ExactColumns, workload: ExactWorkload, source: SourceClass, prior: Prior) -> Around:
    if len(set(prior.weights)) == 1 and _exchangeable(channel, workload.gram):
        # by symmetry the slope at the uniform prior is constant, and F is concave
        return _around(cost_at(channel, workload, prior))
    with ctx.workprec(BITS):
        found = cost_at(channel, workload, prior, slope=True)
        slope, (low, high) = slope_of(channel, found), _around(found)
        above = [upper(g) for g in slope]
        if inf in above:
            raise NotKnown("the slope of the cost is not enclosed", "utility")
        best = source.extreme_prior(above)
        rise = sum((best.fraction(x) * a for x, a in enumerate(above)), Fraction(0)) - sum(
            (prior.fraction(x) * lower(g) for x, g in enumerate(slope)), Fraction(0)
        )
        return low, high + max(rise, Fraction(0)) + upper(found.bias)


def _exchangeable(channel: ExactColumns, gram: Integers) -> bool:
    """All subsets of a size, or all single inputs, are reports, and every input counts alike."""
    first = next(iter(channel.view.columns()))
    pairs = gram - np.diag(np.diagonal(gram))
    alike = len(set(np.diagonal(gram).tolist())) == 1 and not pairs.any()
    return bool(alike and channel.r == channel.view.k and first.orbit and not first.bound and not first.within)


def slope_of(channel: ExactColumns, found: Cost) -> list[Ball]:
    """g for each input."""
    unit = fmpq(1, channel.view.denominator)
    rows = []
    for g in range(channel.r):
        line = sum((int(w) * s for w, s in zip(channel.weights[g], found.squares, strict=True) if w), arb(0))
        rows.append(line * unit - 2 * found.moved[g])
    return rows if channel.view.row_of is None else [rows[g] for g in channel.view.row_of.tolist()]


@dataclass(frozen=True, eq=False)
class ExactWorkload:
    """W = gram/denominator, and A = factor/√denominator where that is whole and has few rows."""

    gram: Integers
    denominator: int
    factor: Integers | None

    @classmethod
    def of(cls, goal: WorkloadGoal) -> ExactWorkload:
        few = goal.rows is not None and 2 * len(goal.rows) <= goal.k
        factor = np.array(goal.rows, dtype=object) if few else None
        return cls(np.array(goal.gram, dtype=object), goal.denominator, factor)


@dataclass(frozen=True, eq=False)
class CentredStatistics:
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
    row_of: Indices | None
    factor: Integers | None
    lines: Integers
    mean: int
    sizes: Integers
    total: int
    scale: Rational
    trace: Ball

    @classmethod
    def of(cls, workload: ExactWorkload, prior: Prior, channel: ExactColumns) -> CentredStatistics:
        gram, factor, row_of = workload.gram, workload.factor, channel.view.row_of
        weights, total = np.array(prior.weights, dtype=object), prior.total
        along = gram @ weights if factor is None else factor.T @ (factor @ weights)
        mean, scale = int(along @ weights), fmpq(1, workload.denominator * total * total)
        trace = scale * (int(np.trace(gram)) * total**2 - 2 * total * int(along.sum()) + len(weights) * mean)
        sizes, lines = np.array(channel.sizes, dtype=object), np.zeros(channel.r, dtype=object)
        np.add.at(lines, np.arange(weights.size) if row_of is None else row_of, along)
        return cls(gram, row_of, factor, lines, mean, sizes, total, scale, arb(trace))

    @property
    def summed(self) -> Integers:
        """LᵀWL, L the inputs of each row class."""
        return self.matrix if self.row_of is None else folded(self.matrix, self.row_of, self.sizes.size)

    @property
    def means(self) -> arb_mat:
        """W̄, the means of W_c over each row class, in balls."""
        sums = self.centred(self.summed, self.lines, self.sizes)
        if self.row_of is None:
            return sums
        sizes = self.sizes.tolist()
        return arb_mat([[sums[g, h] / (a * b) for h, b in enumerate(sizes)] for g, a in enumerate(sizes)])

    def seen(self, weights: Integers) -> arb_mat:
        """QᵀLᵀW_cLQ for whole weights Q, in balls."""
        if self.factor is not None:
            inputs = weights if self.row_of is None else weights[self.row_of]
            along = self.factor @ inputs
            whole = along.T @ along
        else:
            whole = congruent(weights.T, self.summed)
        return self.centred(whole, self.lines @ weights, self.sizes @ weights)

    def whole_centred(self) -> Integers:
        """W_c over `scale` where every input is a row class."""
        return self._whole(self.matrix, self.lines, self.sizes)

    def _whole(self, square: Integers, line: Integers, ones: Integers) -> Integers:
        cross = np.outer(line, ones) * self.total
        return np.asarray(square * self.total**2 - cross - cross.T + np.outer(ones, ones) * self.mean)

    def centred(self, square: Integers, line: Integers, ones: Integers) -> arb_mat:
        """W_c in balls, from what multiplies total², total and s above."""
        return arb_mat(fmpz_mat(self._whole(square, line, ones).tolist())) * arb(self.scale)


class ExactColumns:
    """The exact columns of a mechanism in the forms that the cost is computed from."""

    def __init__(self, view: ExactView) -> None:
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
            raise NotKnown("the outputs are too many to list", "m", self.m)
        return columns

    @cached_property
    def weights(self) -> Integers:
        """All weights, r×m."""
        if not self.small:
            raise NotKnown(f"a mechanism of {self.r} × {self.m} different weights is too large", "m")
        return np.array(self.view.distinct_rows().tolist(), dtype=object)

    @cached_property
    def small(self) -> bool:
        """Whether all weights are listed."""
        return bool(self.r * self.m <= MOST_ENTRIES and not next(iter(self.view.columns())).orbit)

    @cached_property
    def two_valued(self) -> tuple[Sequence[Members], list[int], list[int]]:
        """For each report the rows with the larger weight, and both weights."""
        found = self.view.two_valued()
        if found is not None:
            return found
        if any(len(column.groups) > 2 for column in self.columns):
            raise NotKnown(f"a mechanism of {self.r} × {self.m} different weights is too large", "m")
        low, high = ([column.groups[end][0] for column in self.columns] for end in (0, -1))
        return [column.groups[-1][1].indices() for column in self.columns], low, high

    def marginals(self, prior: Sequence[int]) -> list[int]:
        """m_y times the denominator and the total of the prior."""
        rows = np.array(by_row_class(prior, self.view), dtype=object)
        if self.small:
            return [int(v) for v in rows @ self.weights]
        whole, (members, low, high) = int(rows.sum()), self.two_valued
        return [b * whole + (t - b) * int(rows[x].sum()) for x, b, t in zip(members, low, high, strict=True)]

    def information(self, prior: Sequence[int], total: int) -> Information:
        """J at a prior with this total."""
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
            return Information(whole, fmpq(unit), fmpq(largest, unit << (INVERSE_BITS - 1)))
        return self._two_valued_information(inverse, unit)

    def _two_valued_information(self, inverse: list[int], unit: int) -> Information:
        """J = Σ_y (b² 11ᵀ + b·d (1·1_Tᵀ + 1_T·1ᵀ) + d² 1_T 1_Tᵀ)/m_y for columns b + d·1_T, each coefficient rounded
        down; those of pairs of rows, of which there are many, to fewer bits."""
        members, low, high = self.two_valued
        step = [t - b for t, b in zip(high, low, strict=True)]
        square = [c * d * d for c, d in zip(inverse, step, strict=True)]
        largest = max(max(square), max(c * b * b for c, b in zip(inverse, low, strict=True)))
        down = max(0, largest.bit_length() - SUM_BITS)
        fewer = max(down, max(square).bit_length() - (SUM_BITS if self.r <= MANY else PAIR_BITS))
        constant = sum((c * b * b) >> down for c, b in zip(inverse, low, strict=True))
        products = pair_sums(members, [q >> fewer for q in square], self.r) << (fewer - down)
        mixed = [(c * b * d) >> down for c, b, d in zip(inverse, low, step, strict=True)]
        line = member_sums(members, mixed, self.r)
        whole = products + line[:, None] + line + constant
        # four coefficients of a column are each too small by less than 1, and what 1/m_y lacks is less still
        radius = fmpq(self.m * ((8 << down) + (1 << fewer)), unit) + fmpq(
            int(whole.max()) << down, unit << (INVERSE_BITS - 1)
        )
        return Information(fmpz_mat(whole.tolist()), fmpq(unit, 1 << down), radius)


@dataclass(frozen=True, eq=False)
class Information:
    """J, every entry within `radius` of whole/unit."""

    whole: fmpz_mat
    unit: Rational
    radius: Rational

    @property
    def balls(self) -> arb_mat:
        r, spread = self.whole.nrows(), arb(0, arb(self.radius).upper())
        return arb_mat(self.whole) * (1 / arb(self.unit)) + arb_mat(r, r, [spread] * (r * r))


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

    value: Ball
    unknown: Ball
    squares: tuple[Ball, ...] = ()
    moved: tuple[Ball, ...] = ()
    bias: Ball = ZERO


def cost_at(channel: ExactColumns, workload: ExactWorkload, prior: Prior, slope: bool = False) -> Cost:
    """F at a prior, in balls; with its slope where asked for."""
    orbits = [] if slope else channel.orbits(prior.weights)
    possible = bool(orbits) or all(channel.marginals(prior.weights))
    inverted = channel.r if possible else max(channel.r, channel.m)
    if not orbits and inverted > MOST_ROWS:
        raise NotKnown(f"at most {MOST_ROWS} different rows are inverted", "k", inverted)
    with ctx.workprec(BITS if min(channel.r, channel.m) <= MANY else BITS_OF_MANY):
        wanted = CentredStatistics.of(workload, prior, channel)
        try:
            if orbits:
                return Cost(_by_counts(wanted, channel, orbits, prior), wanted.trace)
            way = _by_rows if channel.m >= channel.r and possible else _by_reports
            return way(channel, wanted, prior, slope)
        except ZeroDivisionError:
            raise NotKnown("the information cannot be inverted", "k", channel.r) from None


def _by_rows(channel: ExactColumns, wanted: CentredStatistics, prior: Prior, slope: bool) -> Cost:
    r, sizes = channel.r, channel.sizes
    found = channel.information(prior.weights, prior.total)
    if r > MANY and channel.view.row_of is None and not slope:
        near = _by_residual(found, wanted)
        if near is not None:
            return Cost(near, wanted.trace)
    information = found.balls
    ridged = arb_mat(information)
    for g, n in enumerate(sizes):
        ridged[g, g] = ridged[g, g] + arb(RHO / n)
    inverse = ridged.inv()
    mean = wanted.means
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
    moved = information * (inner * arb_mat(r, 1, [1] * r))  # J·p = 1
    # b_i = a_i − Qt_i: within classes what varies, between them ρN⁻¹M⁻¹a_i
    lost = sum((RHO * RHO * inner[g, g] / n for g, n in enumerate(sizes)), arb(0)) + within
    return Cost(value, wanted.trace, squares, tuple(moved[g, 0] for g in range(r)), lost)


def _by_residual(found: Information, wanted: CentredStatistics) -> Ball | None:
    """tr W_cM⁻¹, each row its own class, from a symmetric X near M⁻¹ in whole numbers; None when X is not near enough.

    M' is M with whole numbers for entries, R = I − M'X. Then M'⁻¹ = 2X − XM'X + RᵀM'⁻¹R, the last term between 0 and
    |R|²·|M'⁻¹|, and |M'⁻¹| ≤ |X|/(1 − |R|) = 1/λ, norms of Frobenius. Entries of M − M' are at most δ, so that M lies
    between M'(1 − rδ/λ) and M'(1 + rδ/λ). Nothing rests on X.
    """
    r = found.whole.nrows()
    top = max(int(found.whole[i, i]) for i in range(r))
    down = max(0, top.bit_length() - RESIDUAL_BITS)
    unit = found.unit / (1 << down)
    whole = np.array([[int(v) >> down for v in row] for row in found.whole.tolist()], dtype=object)
    ridge = RHO * unit
    whole[np.diag_indices(r)] += int(ridge.p // ridge.q)
    off = found.radius + 2 / unit
    x, bits = near_inverse(whole)
    if x is None:
        return None
    # X = x/2^bits in the inverse of the units of M'
    product = fmpz_mat(whole.tolist()) * fmpz_mat(x.tolist())
    residual = [[int(v) for v in row] for row in product.tolist()]
    for i in range(r):
        residual[i][i] -= 1 << bits
    size = sum(v * v for row in residual for v in row)  # |R|²·4^bits
    if size << 8 >= 1 << 2 * bits:
        return None
    twice = np.array((fmpz_mat(x.tolist()) * fmpz_mat(residual)).tolist(), dtype=object)  # −XR·4^bits
    gram = wanted.whole_centred()
    low = fmpq(int((gram * x).sum()), 1 << bits) - fmpq(int((gram * twice).sum()), 1 << 2 * bits)
    norm = 2 * arb(fmpq(int((x * x).sum()), 1 << 2 * bits)).sqrt()  # 1/λ: |R| ≤ 1/16
    rest = arb(fmpq(size, 1 << 2 * bits)) * norm * int(np.trace(gram))
    share = r * arb(off * unit) * norm
    if not share < arb(fmpq(1, 2)):
        return None
    scale = arb(wanted.scale * unit)
    bottom, above = scale * arb(low) / (1 + share), scale * (arb(low) + rest) / (1 - share)
    return bottom.union(above)


def _by_reports(channel: ExactColumns, wanted: CentredStatistics, prior: Prior, slope: bool) -> Cost:
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


def _around(cost: Cost) -> tuple[Fraction | float, Fraction | float]:
    """Rationals around a cost; infinite both when it is so large that a statistic cannot be told."""
    low, high = lower(cost.value), upper(cost.value)
    if low * RESOLUTION > NOT_IDENTIFIED * upper(cost.unknown):
        return inf, inf
    return low, high


# -- all subsets of a size --


def _by_counts(wanted: CentredStatistics, channel: ExactColumns, columns: Sequence[Column], prior: Prior) -> Ball:
    """A ball around the cost; each column stands for all sets with its counts.

    Raises:
        NotKnown: columns that only bound the sets, or classes that are too many to count.
    """
    if any(column.bound or column.within != columns[0].within for column in columns):
        raise NotKnown("the sets are not all those with certain counts", "m", channel.m)
    rows = list(zip(by_row_class(prior.weights, channel.view), channel.sizes, strict=True))
    of, classes, sizes, kinds = _classes(columns[0], rows)
    weights, inputs = zip(*kinds, strict=True)
    alone = [arb(0) for _ in sizes]
    pairs = [[arb(0) for _ in sizes] for _ in sizes]
    parts = [[sizes[c] for c in own] for own in classes]
    if len(columns) * prod(n + 1 for part in parts for n in part[:-1]) > MOST_COUNTS:
        raise NotKnown("the reports are too many to list or to count", "m", channel.m)
    for column in columns:
        held = [size for _, size in column.parts(len(rows))]
        counts = [sum(chosen, ()) for chosen in product(*map(_counts, parts, held))]
        _add_information(alone, pairs, column, counts, sizes, weights, prior.total, channel.view.denominator)
    groups = range(len(sizes))
    ridged = [alone[g] + arb(RHO / n) for g, n in enumerate(inputs)]
    system = arb_mat([[(1 if g == h else 0) + pairs[g][h] * sizes[h] / ridged[h] for h in groups] for g in groups])
    inner = system.solve(arb_mat(pairs))
    own, sums = _means(wanted, of, inputs)
    found = sum((own[g] / ridged[g] for g in groups), arb(0))
    beside = (inner[g, h] * sums[h][g] / (ridged[g] * ridged[h]) for g in groups for h in groups)
    within = wanted.trace - sum((n * v for n, v in zip(inputs, own, strict=True)), arb(0))
    return within / arb(RHO) + found - sum(beside, arb(0))


def _classes(
    column: Column, given: Sequence[tuple[int, int]]
) -> tuple[Indices, list[list[int]], list[int], list[tuple[int, int]]]:
    """Rows of one part of the orbit with the same weight and as many inputs: the class of each row, and the classes of
    each part; how many rows they have, and what those have in common."""
    of = np.zeros(len(given), dtype=np.intp)
    found: list[tuple[int, int]] = []
    classes: list[list[int]] = []
    for rows, _ in column.parts(len(given)):
        kinds = sorted({given[x] for x in rows})
        classes.append(list(range(len(found), len(found) + len(kinds))))
        of[rows] = [len(found) + kinds.index(given[x]) for x in rows]
        found += kinds
    return of, classes, np.bincount(of).tolist(), found


def _add_information(
    alone: list[Ball],
    pairs: list[list[Ball]],
    column: Column,
    counts: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    weights: Sequence[int],
    total: int,
    denominator: int,
) -> None:
    """Add to (a, B), in balls, what the sets with these counts tell."""
    (low, _), (high, _), count = *column.groups, range(len(sizes))
    step = high - low
    for t in counts:
        mass = low * total + step * sum(n * w for n, w in zip(t, weights, strict=True))  # m_t·denominator·total
        subsets = prod(comb(n, c) for n, c in zip(sizes, t, strict=True))
        often = arb(fmpq(subsets * total, mass * denominator))
        share = [fmpq(c, n) for c, n in zip(t, sizes, strict=True)]
        for g in count:
            both = fmpq(t[g] * (t[g] - 1), sizes[g] * max(1, sizes[g] - 1))
            alone[g] += often * arb(step * step * (share[g] - both))
            for h in count:
                together = both if g == h else share[g] * share[h]
                pairs[g][h] += often * arb(low * low + low * step * (share[g] + share[h]) + step * step * together)


def _counts(sizes: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """All vectors of counts with this sum."""
    for first in product(*(range(n + 1) for n in sizes[:-1])):
        last = size - sum(first)
        if 0 <= last <= sizes[-1]:
            yield (*first, last)


def _means(wanted: CentredStatistics, of: Indices, inputs: Sequence[int]) -> tuple[list[Ball], list[list[Ball]]]:
    """The trace of W̄ within each group, and its sums between groups."""
    count, total, lines, sizes = len(inputs), wanted.total, wanted.lines, wanted.sizes
    summed = wanted.summed
    own, line, ones = (np.zeros(count, dtype=object) for _ in range(3))
    np.add.at(own, of, np.diagonal(summed) * total**2 - 2 * total * lines * sizes + wanted.mean * sizes**2)
    np.add.at(line, of, lines)
    np.add.at(ones, of, sizes)
    sums = wanted.centred(folded(summed, of, count), line, ones)
    each = range(count)
    means = [[sums[g, h] / (inputs[g] * inputs[h]) for h in each] for g in each]
    return [arb(wanted.scale * int(own[g])) / inputs[g] ** 2 for g in each], means
