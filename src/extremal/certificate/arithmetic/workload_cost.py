"""What a workload costs with a mechanism: balls around n × the total mean squared error, from the exact weights.

F = tr W_c(J + ρI)⁻¹, J = Σ_y q_y q_yᵀ/m_y, is defined in docs/design/proofs.md §4, with what a report of probability 0
counts for and the bound over a class. J is summed in integers: 1/m_y is rounded down once to many bits, and that is in
the radius of balls. Inputs with the same row are handled together: with N the sizes of the row classes and W̄ the mean
of W_c over each, F = (what of W_c varies within classes)/ρ + tr W̄(J + ρN⁻¹)⁻¹.

*All subsets of a size*, inputs equally likely in groups, need no list of reports; nor do several types of sets, each
with so many members of certain parts of the rows (a group is then what is equally likely within a part). A subset
matters through t, how many members it has of each group of n_g rows: Π C(n_g, t_g) subsets share t and the marginal
m_t. A report is low + (high − low)·1_S, and given t two rows of groups g and h both lie in S with probability
t_g t_h/(n_g n_h), two of one group with t_g(t_g − 1)/(n_g(n_g − 1)). So on what sums to 0 within group g, J is a number
a_g, and on what is constant on groups it is Σ_t often_t·u_t u_tᵀ, u_t = low + (high − low)·t/n: groups are handled as
row classes are, and what of W̄ varies between the rows of group g costs 1/(a_g + ρ/N) times itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from math import comb, inf, prod

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_mat

from extremal.certificate.arithmetic.doubles import SLICE, SLICES, near_inverse, set_sums
from extremal.certificate.arithmetic.enclosures import lower, upper
from extremal.certificate.arithmetic.whole import folded, multiplied
from extremal.certificate.proof import NotKnown
from extremal.exact import Column, ExactView, Prior, by_row_class, prefix_sums
from extremal.exact.weights import Indices
from extremal.problem import NOT_IDENTIFIED, RESOLUTION, Integers, WorkloadGoal

BITS = 512  # of balls where matrices are small: inverting M loses about 80 for ρ, and as many for its condition
MORE_BITS = (1, 2, 4)  # times these, until an enclosure is narrow
NARROW = Fraction(1, 1 << 56)  # relative: far less than two doubles are apart
BITS_OF_MANY = 192  # and where they are large, to be done in seconds
MANY = 200  # rows that are many
MOST_ROWS = 1500  # inverted: half a minute in balls, some seconds by a residual
MOST_ENTRIES = 1 << 20  # of a mechanism that are listed at a time
MOST_STEPS = 1 << 35  # r·r·m: half a minute
INVERSE_BITS = 288  # of 1/m_y: where the information is singular 160 are lost to 1/ρ²
PAIR_BITS = 2 * SLICE  # of sums over pairs of many rows, relative to the largest: their rounding is far below a double
RESIDUAL_BITS = 100  # of J + ρI − s11ᵀ where a residual encloses its inverse
LEFT_OF_ONES = 8  # (1 − s)k is about so much less than tr V: no larger than the eigenvalues of V
MOST_COUNTS = 20_000  # vectors of counts: some seconds
MOST_OF_CLASS = 1000  # inputs where the worst of a class of priors is enclosed

ZERO = arb(0)
RHO = fmpq(RESOLUTION.numerator, RESOLUTION.denominator)

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
    channel, single = ExactColumns(view), goal.source.single
    if single is not None:
        return _narrowed(channel, goal, single)
    if worst is None or goal.k > MOST_OF_CLASS:
        raise NotKnown(
            f"a worst case is enclosed where one of its priors is named, up to {MOST_OF_CLASS} inputs",
            "worst_prior",
            None if worst is None else goal.k,
        )
    if len(set(worst.weights)) == 1 and _exchangeable(channel, goal.gram):
        # by symmetry the slope at the uniform prior is constant, and F is concave
        return _narrowed(channel, goal, worst)
    with ctx.workprec(BITS):
        found = cost_at(channel, goal, worst, slope=True)
        slope, (low, high) = slope_of(channel, found), _around(found)
        above = [upper(g) for g in slope]
        if inf in above:
            raise NotKnown("the slope of the cost is not enclosed", "utility")
        best = goal.source.extreme_prior(above)
        rise = sum((best.fraction(x) * a for x, a in enumerate(above)), Fraction(0)) - sum(
            (worst.fraction(x) * lower(g) for x, g in enumerate(slope)), Fraction(0)
        )
        return low, high + max(rise, Fraction(0)) + upper(found.bias)


def _narrowed(channel: ExactColumns, goal: WorkloadGoal, prior: Prior) -> Around:
    """Rationals around the cost at one prior, with more bits where the first leave room for two doubles: what a report
    of probability next to 0 tells takes more than others."""
    allowed = MORE_BITS if min(channel.r, channel.m) <= MANY else MORE_BITS[:1]
    for more in allowed:
        try:
            low, high = _around(cost_at(channel, goal, prior, more=more))
        except NotKnown:
            if more == allowed[-1]:
                raise
            continue
        if low == inf or high - low <= NARROW * low:
            break
    return low, high


def _exchangeable(channel: ExactColumns, gram: Integers) -> bool:
    """All subsets of a size, or all single inputs, are reports, and every input counts alike."""
    first = next(iter(channel.view.columns()))
    pairs = gram - np.diag(np.diagonal(gram))
    alike = len(set(np.diagonal(gram).tolist())) == 1 and not pairs.any()
    return bool(alike and channel.r == channel.view.k and first.orbit and not first.bound and not first.within)


def slope_of(channel: ExactColumns, found: Cost) -> list[arb]:
    """g for each input."""
    squares = arb_mat(channel.m, 1, list(found.squares)) * arb(fmpq(1, channel.view.denominator))
    lines = arb_mat(fmpz_mat(channel.weights.tolist())) * squares
    rows = [line - 2 * moved for line, moved in zip(lines.entries(), found.moved, strict=True)]
    return rows if channel.view.row_of is None else [rows[g] for g in channel.view.row_of.tolist()]


@dataclass(frozen=True, eq=False)
class CentredStatistics:
    """W_c = PᵀWP at a prior, P = I − p1ᵀ, summed over classes: scale·(S·total² − (l·nᵀ + n·lᵀ)·total + s·nnᵀ).

    Attributes: gram S, the sums of W over classes; lines l, the sums of Wp, and mean s = pᵀWp, times the total of the
    prior and its square; sizes n, of the classes.
    """

    gram: Integers
    lines: Integers
    mean: int
    sizes: Integers
    total: int
    scale: fmpq

    @classmethod
    def of(cls, goal: WorkloadGoal, prior: Prior) -> CentredStatistics:
        """Each input is its own class."""
        weights, total = np.array(prior.weights, dtype=object), prior.total
        along, ones = goal.gram @ weights, np.ones(goal.k, dtype=object)
        return cls(goal.gram, along, int(along @ weights), ones, total, fmpq(1, goal.denominator * total * total))

    def over(self, of: Indices | None, count: int) -> CentredStatistics:
        """With classes joined: `of` gives the new one of each; None leaves them."""
        if of is None:
            return self
        lines, sizes = np.zeros((2, count), dtype=object)
        np.add.at(lines, of, self.lines)
        np.add.at(sizes, of, self.sizes)
        return replace(self, gram=folded(self.gram, of, count), lines=lines, sizes=sizes)

    def squares(self) -> list[fmpq]:
        """The means of W_c within each class: the diagonal of W̄."""
        n = self.sizes
        whole = np.diagonal(self.gram) * self.total**2 - 2 * self.total * self.lines * n + self.mean * n**2
        return [self.scale * int(v) / int(c) ** 2 for v, c in zip(whole, n, strict=True)]

    def varying(self, unknown: fmpq) -> fmpq:
        """What of W_c, whose trace is given, varies within classes."""
        return unknown - sum((int(n) * v for n, v in zip(self.sizes, self.squares(), strict=True)), fmpq(0))

    def means(self) -> arb_mat:
        """W̄, the means of W_c over each pair of classes, in balls."""
        sums, sizes = self._balls(self.gram, self.lines, self.sizes), self.sizes.tolist()
        return arb_mat([[sums[g, h] / (a * b) for h, b in enumerate(sizes)] for g, a in enumerate(sizes)])

    def seen(self, weights: Integers) -> arb_mat:
        """QᵀLᵀW_cLQ for whole weights Q, in balls."""
        return self._balls(multiplied(weights.T, self.gram, weights), self.lines @ weights, self.sizes @ weights)

    def whole(self, square: Integers, line: Integers, ones: Integers) -> Integers:
        """W_c/scale from what stands for S, l and n above."""
        cross = np.outer(line, ones) * self.total
        return np.asarray(square * self.total**2 - cross - cross.T + np.outer(ones, ones) * self.mean)

    def _balls(self, square: Integers, line: Integers, ones: Integers) -> arb_mat:
        return arb_mat(fmpz_mat(self.whole(square, line, ones).tolist())) * arb(self.scale)


class ExactColumns:
    """The exact columns of a mechanism in the forms that the cost is computed from."""

    def __init__(self, view: ExactView) -> None:
        self.view, self.r, self.m = view, view.row_classes, view.m
        self.sizes = [1] * self.r if view.row_of is None else np.bincount(view.row_of, minlength=self.r).tolist()

    def orbits(self, prior: Prior) -> list[Column]:
        """Columns that stand for all that permutations of the rows make of them, where all columns are such. Single
        rows, each reported in the same way, are an orbit too: where they are equally likely it has one class."""
        first = next(iter(self.view.columns()))
        if first.orbit:
            return list(self.view.columns())
        alike = len(set(zip(self.sizes, by_row_class(prior.weights, self.view), strict=True))) == 1
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
        self._refuse(self.r * self.m, MOST_ENTRIES)
        return np.array(self.view.distinct_rows().tolist(), dtype=object)

    @cached_property
    def small(self) -> bool:
        """Whether all weights are listed at once."""
        return bool(self.r * self.m <= MOST_ENTRIES and not next(iter(self.view.columns())).orbit)

    def listed(self, start: int, stop: int) -> Integers:
        """The weights of some columns."""
        if self.small:
            return self.weights[:, start:stop]
        columns = self.columns[start:stop]
        found = np.zeros((self.r, len(columns)), dtype=object)
        for y, column in enumerate(columns):
            for weight, members in column.groups:
                found[members.indices(), y] = weight
        return found

    @cached_property
    def two_valued(self) -> tuple[list[Indices], list[int], list[int]] | None:
        """For each report the rows with the larger weight, and both weights, where they are stored like that."""
        return self.view.two_valued()

    def marginals(self, prior: Prior) -> list[int]:
        """m_y times the denominator and the total of the prior."""
        rows = by_row_class(prior.weights, self.view)
        if self.two_valued is not None and not self.small:
            weights, columns = np.array(rows, dtype=object), zip(*self.two_valued, strict=True)
            return [b * prior.total + (t - b) * int(weights[x].sum()) for x, b, t in columns]
        if self.small:
            return [int(v) for v in np.array(rows, dtype=object) @ self.weights]
        prefix = prefix_sums(rows)
        return [column.weighted_sum(prefix) for column in self.columns]

    def information(self, prior: Prior, bits: int = INVERSE_BITS) -> Information:
        """J, of 1/m_y to so many bits; every report has a positive probability."""
        masses = self.marginals(prior)
        shift = bits + max(masses).bit_length() - prior.total.bit_length()
        inverse, unit = [(prior.total << shift) // mass for mass in masses], self.view.denominator << shift
        if self.two_valued is not None and self.r > MANY:
            return self._of_two_values(*self.two_valued, inverse, unit, bits)
        self._refuse(self.r * self.r * self.m, MOST_STEPS)
        whole, at_once = fmpz_mat(self.r, self.r), max(1, MOST_ENTRIES // self.r)
        for start in range(0, self.m, at_once):
            part = self.listed(start, start + at_once)
            scaled = part * np.array(inverse[start : start + at_once], dtype=object)
            whole += fmpz_mat(part.tolist()) * fmpz_mat(scaled.T.tolist())
        # 1/m_y is too small by less than one part in 2^(bits − 1)
        radius = fmpq(max(int(whole[i, i]) for i in range(self.r)), unit << (bits - 1))
        found = np.array([int(v) for v in whole.entries()], dtype=object).reshape(self.r, self.r)
        return Information(found, fmpq(unit), radius)

    def _of_two_values(
        self, members: list[Indices], low: list[int], high: list[int], inverse: list[int], unit: int, bits: int
    ) -> Information:
        """J = Σ_y (b² 11ᵀ + b·d (1·1_Tᵀ + 1_T·1ᵀ) + d² 1_T 1_Tᵀ)/m_y for columns b + d·1_T, each coefficient rounded
        down, those of pairs of rows to the nearest of fewer bits. A pair is in no more sets than a row is."""
        terms = [(c * b * b, c * b * (t - b), c * (t - b) ** 2) for c, b, t in zip(inverse, low, high, strict=True)]
        square = max(term[2] for term in terms)
        down = max(0, max(square, *(term[0] for term in terms)).bit_length() - SLICE * SLICES)
        fewer = max(down, square.bit_length() - PAIR_BITS)
        half = (1 << fewer) >> 1
        numbers = [mixed >> down for _, mixed, _ in terms], [(squared + half) >> fewer for _, _, squared in terms]
        line, products = set_sums(members, *numbers, self.r)
        whole = (products << (fewer - down)) + line[:, None] + line + sum(constant >> down for constant, _, _ in terms)
        # coefficients of a column are off by at most 1, those of pairs by 1/2, and what 1/m_y lacks is less still
        most = int(np.bincount(np.concatenate(members), minlength=self.r).max())
        radius = fmpq(self.m * (8 << down), unit) + fmpq(most << fewer, 2 * unit)
        radius += fmpq(int(whole.max()) << down, unit << (bits - 1))
        return Information(whole, fmpq(unit, 1 << down), radius)

    def _refuse(self, count: int, most: int) -> None:
        if count > most:
            raise NotKnown(f"a mechanism of {self.r} × {self.m} weights is too large", "m")


@dataclass(frozen=True, eq=False)
class Information:
    """J, every entry within `radius` of whole/unit."""

    whole: Integers
    unit: fmpq
    radius: fmpq

    @property
    def balls(self) -> arb_mat:
        r, spread = len(self.whole), arb(0, arb(self.radius).upper())
        return arb_mat(fmpz_mat(self.whole.tolist())) * arb(1 / self.unit) + arb_mat(r, r, [spread] * (r * r))


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

    value: arb
    unknown: arb
    squares: tuple[arb, ...] = ()
    moved: tuple[arb, ...] = ()
    bias: arb = ZERO


def cost_at(channel: ExactColumns, goal: WorkloadGoal, prior: Prior, slope: bool = False, more: int = 1) -> Cost:
    """F at a prior, in balls, of so many times the bits; with its slope where asked for."""
    orbits = [] if slope else channel.orbits(prior)
    possible = bool(orbits) or all(channel.marginals(prior))
    inverted = channel.r if possible else max(channel.r, channel.m)
    if not orbits and inverted > MOST_ROWS:
        raise NotKnown(f"at most {MOST_ROWS} different rows are inverted", "k", inverted)
    with ctx.workprec(more * (BITS if min(channel.r, channel.m) <= MANY else BITS_OF_MANY)):
        wanted = CentredStatistics.of(goal, prior)
        unknown, rows = sum(wanted.squares(), fmpq(0)), wanted.over(channel.view.row_of, channel.r)
        try:
            if orbits:
                return _by_counts(channel, rows, unknown, orbits, prior)
            if channel.m >= channel.r and possible:
                return _by_rows(channel, rows, unknown, prior, slope, more)
            return _by_reports(channel, rows, unknown, prior, slope)
        except ZeroDivisionError:
            raise NotKnown("the information cannot be inverted", "k", channel.r) from None


def _inverse(matrix: arb_mat, ridge: Iterable[fmpq | arb]) -> arb_mat:
    """(matrix + diag(ridge))⁻¹."""
    ridged = arb_mat(matrix)
    for i, more in enumerate(ridge):
        ridged[i, i] = ridged[i, i] + arb(more)
    return ridged.inv()


def _by_rows(
    channel: ExactColumns, rows: CentredStatistics, unknown: fmpq, prior: Prior, slope: bool, more: int
) -> Cost:
    r, sizes, found = channel.r, channel.sizes, channel.information(prior, more * INVERSE_BITS)
    if r > MANY and channel.view.row_of is None and not slope and (near := _by_residual(found, rows)) is not None:
        return Cost(near, arb(unknown))
    information = found.balls
    inverse, within = _inverse(information, (RHO / n for n in sizes)), rows.varying(unknown)
    product = rows.means() * inverse
    value = arb(within / RHO) + product.trace()
    if not slope:
        return Cost(value, arb(unknown))
    inner = inverse * product  # M⁻¹W̄M⁻¹
    table = arb_mat(fmpz_mat(channel.weights.tolist())) * arb(fmpq(1, channel.view.denominator))
    masses = [fmpq(mass, prior.total * channel.view.denominator) for mass in channel.marginals(prior)]
    through = inner * table
    squares = tuple(
        sum((table[g, y] * through[g, y] for g in range(r)), ZERO) / (mass * mass) for y, mass in enumerate(masses)
    )
    moved = information * (inner * arb_mat(r, 1, [1] * r))  # J·p = 1
    # b_i = a_i − Qt_i: within classes what varies, between them ρN⁻¹M⁻¹a_i
    lost = sum((RHO * RHO * inner[g, g] / n for g, n in enumerate(sizes)), arb(within))
    return Cost(value, arb(unknown), squares, tuple(moved.entries()), lost)


def _by_residual(found: Information, rows: CentredStatistics) -> arb | None:
    """tr W_cM⁻¹, M = J + ρI, each row its own class, from a symmetric X near the inverse of K = M − s11ᵀ in whole
    numbers; None when X is not near enough.

    J = V + 11ᵀ with V ⪰ 0 small, so that K has a far smaller condition than M; J·p = 1 and W_cp = 0 make it as good:
    with u = K⁻¹1 = (p − ρK⁻¹p)/(1−s), M⁻¹ = K⁻¹ − s·uuᵀ/(1 + s·1ᵀu), and 0 ≤ uᵀW_cu ≤ (ρ|K⁻¹|/(1−s))²·tr W_c. K' is K
    with whole numbers for entries, R = I − K'X. Then K'⁻¹ = 2X − XK'X + RᵀK'⁻¹R, the last term between 0 and
    |R|²·|K'⁻¹|, and |K'⁻¹| ≤ |X|/(1 − |R|) = 1/λ in norms of Frobenius. Entries of K − K' are at most δ, so that K lies
    between K'(1 − rδ/λ) and K'(1 + rδ/λ). Nothing rests on X or s.
    """
    r = len(found.whole)
    one = int(found.unit.p) // int(found.unit.q)
    diagonal = [int(v) for v in np.diagonal(found.whole)]
    lower_by = one - max(1, (sum(diagonal) // r - one) // LEFT_OF_ONES)  # s, in units of M
    down = max(0, (max(diagonal) - lower_by).bit_length() - RESIDUAL_BITS)
    unit = found.unit / (1 << down)
    whole = (found.whole - lower_by) >> down
    ridge = RHO * unit
    whole[np.diag_indices(r)] += int(ridge.p) // int(ridge.q)
    x, bits = near_inverse(whole)  # X = x/2^bits, in the inverse of the units of K'
    inverse = fmpz_mat(x.tolist())
    residual = np.array((fmpz_mat(whole.tolist()) * inverse).tolist(), dtype=object)
    residual[np.diag_indices(r)] -= 1 << bits
    size, length = (fmpq(int((m * m).sum()), 1 << 2 * bits) for m in (residual, x))  # |R|², |X|²
    norm = 2 * arb(length).sqrt()  # 1/λ, where |R| ≤ 1/2
    share = r * arb((found.radius + 2 / unit) * unit) * norm
    if size > fmpq(1, 4) or not share < fmpq(1, 2):
        return None
    gram = rows.whole(rows.gram, rows.lines, rows.sizes)
    seen = np.array((fmpz_mat(gram.tolist()) * inverse).tolist(), dtype=object)  # W_cX; the residual here is −R
    value = arb(fmpq(int(np.trace(seen)), 1 << bits) - fmpq(int((seen * residual.T).sum()), 1 << 2 * bits))
    trace = int(np.trace(gram))
    above = (value + arb(size) * norm * trace) / (1 - share)
    lost = (arb(RHO * found.unit / (found.unit - lower_by)) * 2 * norm * arb(unit)) ** 2 * trace / arb(unit)
    return arb(rows.scale * unit) * (value / (1 + share) - lost).union(above)


def _by_reports(channel: ExactColumns, rows: CentredStatistics, unknown: fmpq, prior: Prior, slope: bool) -> Cost:
    """F = (tr W_c − tr (ρD + QᵀQ)⁻¹QᵀW_cQ)/ρ, D = diag(m)."""
    unit, marginals = fmpq(1, channel.view.denominator), channel.marginals(prior)
    read = _read(channel.weights, marginals)
    weights, masses = channel.weights[:, read], [fmpq(marginals[y], prior.total) * unit for y in read]
    often = weights * np.array(channel.sizes, dtype=object)[:, None]
    inner = arb_mat(fmpz_mat(weights.T.tolist()) * fmpz_mat(often.tolist())) * arb(unit * unit)
    inverse = _inverse(inner, (RHO * mass for mass in masses))
    product = inverse * (rows.seen(weights) * arb(unit * unit))
    value = (arb(unknown) - product.trace()) / arb(RHO)
    if not slope:
        return Cost(value, arb(unknown))
    decoders = product * inverse  # Σ_i t_i t_iᵀ
    table = arb_mat(fmpz_mat(weights.tolist())) * arb(unit)
    moved = table * (decoders * arb_mat(len(read), 1, masses))
    lost = (decoders * inner).trace() - 2 * product.trace() + arb(unknown)
    squares = [ZERO] * channel.m
    for i, y in enumerate(read):
        squares[y] = decoders[i, i]
    return Cost(value, arb(unknown), tuple(squares), tuple(moved.entries()), lost)


def _read(weights: Integers, masses: Sequence[int]) -> list[int]:
    """The reports that a decoder reads: of those of probability 0 as many as are linearly independent. What it says to
    the others may be 0."""
    never = [y for y, mass in enumerate(masses) if not mass]
    reduced, rank = fmpq_mat(fmpz_mat(len(weights), len(never), weights[:, never].ravel().tolist())).rref()
    pivots = [next(j for j in range(len(never)) if reduced[i, j]) for i in range(rank)]
    return sorted([y for y, mass in enumerate(masses) if mass] + [never[j] for j in pivots])


def _around(cost: Cost) -> tuple[Fraction | float, Fraction | float]:
    """Rationals around a cost; infinite both when it is so large that a statistic cannot be told.

    Raises:
        NotKnown: the enclosure is so wide that this is not decided.
    """
    low, high = lower(cost.value), upper(cost.value)
    if low * RESOLUTION > NOT_IDENTIFIED * upper(cost.unknown):
        return inf, inf
    if low < 0 and high * RESOLUTION > NOT_IDENTIFIED * upper(cost.unknown):
        raise NotKnown("the information cannot be inverted", "precision", "too low")
    return low, high


# -- all subsets of a size --


def _by_counts(
    channel: ExactColumns, rows: CentredStatistics, unknown: fmpq, columns: Sequence[Column], prior: Prior
) -> Cost:
    """Each column stands for all sets with its counts.

    Raises:
        NotKnown: columns that only bound the sets, or classes that are too many to count.
    """
    if any(column.bound or column.within != columns[0].within for column in columns):
        raise NotKnown("the sets are not all those with certain counts", "m", channel.m)
    kinds = list(zip(by_row_class(prior.weights, channel.view), channel.sizes, strict=True))
    of, parts, shared = _classes(columns[0], kinds)
    alone, information = _information_of(channel, columns, parts, shared, prior)
    sizes, groups = list(chain(*parts)), rows.over(of, len(shared))
    value = (groups.means() * _inverse(information, (RHO / int(n) for n in groups.sizes))).trace()
    between = [-n * v for n, v in zip(sizes, groups.squares(), strict=True)]
    for g, square in zip(of.tolist(), rows.squares(), strict=True):
        between[g] += square
    value += sum((arb(b) / a for a, b in zip(alone, between, strict=True)), rows.varying(unknown) / RHO)
    return Cost(value, arb(unknown))


def _information_of(
    channel: ExactColumns,
    columns: Sequence[Column],
    parts: list[list[int]],
    shared: Sequence[tuple[int, int]],
    prior: Prior,
) -> tuple[list[arb], arb_mat]:
    """a_g + ρ/N of each class, and J on what is constant on classes."""
    sizes = list(chain(*parts))
    alone, seen, told = [arb(RHO / n) for _, n in shared], [], []  # u, and u times how often
    for t, low, step in _sets_by_counts(columns, parts, channel):
        mass = low * prior.total + step * sum(c * w for c, (w, _) in zip(t, shared, strict=True))
        subsets = prod(comb(n, c) for n, c in zip(sizes, t, strict=True))
        often = arb(fmpq(subsets * prior.total, mass * channel.view.denominator))
        for g, (n, c) in enumerate(zip(sizes, t, strict=True)):
            both = fmpq(c * (c - 1), n * max(1, n - 1))
            alone[g] += often * arb(step**2 * (fmpq(c, n) - both))
            seen.append(arb(low + step * fmpq(c, n)))
            told.append(often * seen[-1])
    count = len(sizes)
    ways = len(seen) // count
    return alone, arb_mat(ways, count, seen).transpose() * arb_mat(ways, count, told)


def _sets_by_counts(
    columns: Sequence[Column], parts: list[list[int]], channel: ExactColumns
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """The counts t that sets of each column have, with the smaller weight and what the larger has more."""
    if len(columns) * prod(n + 1 for part in parts for n in part[:-1]) > MOST_COUNTS:
        raise NotKnown("the reports are too many to list or to count", "m", channel.m)
    for column in columns:
        (low, _), (high, _) = column.groups
        held = [size for _, size in column.parts(channel.r)]
        yield from ((sum(chosen, ()), low, high - low) for chosen in product(*map(_counts, parts, held)))


def _classes(
    column: Column, given: Sequence[tuple[int, int]]
) -> tuple[Indices, list[list[int]], list[tuple[int, int]]]:
    """Rows of one part of the orbit with the same weight and as many inputs: the class of each row; how many rows the
    classes of each part have; and what the rows of each class have in common."""
    of = np.zeros(len(given), dtype=np.intp)
    found: list[tuple[int, int]] = []
    parts: list[list[int]] = []
    for rows, _ in column.parts(len(given)):
        members = Counter(given[x] for x in rows)
        kinds = sorted(members)
        parts.append([members[kind] for kind in kinds])
        of[rows] = [len(found) + kinds.index(given[x]) for x in rows]
        found += kinds
    return of, parts, found


def _counts(sizes: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """All vectors of counts with this sum."""
    for first in product(*(range(n + 1) for n in sizes[:-1])):
        last = size - sum(first)
        if 0 <= last <= sizes[-1]:
            yield (*first, last)
