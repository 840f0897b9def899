"""What one report says about the shares: its Fisher information at a prior.

With m = Qᵀp the probabilities of the reports, J = Σ_y q_y q_yᵀ/m_y. Rows of Q sum to one, so Jp = 1, and all that can
be learned beyond "shares sum to one" is the *excess* V = J − 11ᵀ = Σ_y (q_y − m_y)(q_y − m_y)ᵀ/m_y, with Vp = 0. V is
formed from what a column deviates from its smallest entry, so that it keeps its digits at ε = 1e-6, where J itself is 1
to twelve places. For a statistic a·p the least variance of an unbiased linear estimate from one report is a_cᵀ V⁺ a_c
with a_c = a − (a·p)1, and infinite when a_c is not in the range of V (Gauss and Markov; at p also the Cramér–Rao
bound). A report of probability 0 at a prior with zeros is left out here, so that a cost may be too large, never too
small; what is certified is the limit of priors without zeros (docs/design/proofs.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from extremal.errors import TooLarge
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS, Floats, Indices, as_probabilities
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_text
from extremal.mechanism.structures import Colourings, GroupedSets, SubsetSelection
from extremal.mechanism.structures.structure import LARGEST_DENSE, refuse_large
from extremal.utility.reading import Reading, read_array

MOST_GROUPS = 3  # of equally likely inputs, where all subsets are counted
MOST_COUNTS = 300_000  # vectors of counts in the classes: arrays of some 10 MB
CHUNK = 1 << 22  # entries of a dense block of columns
# eigenvalues of the scaled V below this, relatively, are rounding: V has k entries of relative error 1e-16 a column
NULL = 1e-12
# an input that moves the reports less than this, relatively, is not scaled up: what is left of it is rounding
FLAT = 1e-6
EVEN = 1e-13  # entries of a matrix with a unit diagonal that differ by less are equal up to rounding
WELL_CONDITIONED = 1e9  # below, no eigenvalue is near `NULL`, and an inverse by factors has six digits or more
MANY_ROWS = 300  # rows from which eigenvalues take long: below, they are as quick
NEVER = 1e-10  # a report that the prior rules out tells so much more than others: no end, by definition
OUTSIDE = 1e-7  # a statistic with a larger part, relatively, in the null space of V is not identified


@dataclass(frozen=True, eq=False)
class Fisher:
    """V at the level of the mechanism's different rows.

    Attributes:
        excess: r×r, V.
        prior: probabilities of the rows.
        row_of: row of each input; None when every input has its own.
    """

    excess: Floats
    prior: Floats
    row_of: Indices | None

    def of_rows(self, statistics: Floats) -> Floats | None:
        """Coefficients of the inputs (one statistic a row) as coefficients of the rows; None when inputs of one row
        differ in them.
        """
        if self.row_of is None:
            return statistics
        first = np.unique(self.row_of, return_index=True)[1]
        rows = statistics[:, first]
        return rows if np.array_equal(rows[:, self.row_of], statistics) else None

    def decoder(self, statistics: Floats) -> Floats | None:
        """A_c V⁺ for statistics in the coefficients of the inputs, or None when they are not identified."""
        found = self.decoded(statistics)
        return None if found is None else found[0]

    def value(self, statistics: Floats) -> float:
        """Σ over the statistics of their least variance; infinite when one is not identified."""
        found = self.decoded(statistics)
        return float("inf") if found is None else found[1]

    def decoded(self, statistics: Floats) -> tuple[Floats, float] | None:
        """The decoder and the value together; None when a statistic is not identified."""
        rows = self.of_rows(statistics)
        if rows is None:
            return None
        centred = rows - (rows @ self.prior)[:, None]
        inverse, null = self._inverse
        outside = np.abs(centred @ null).max(initial=0.0)
        if outside > OUTSIDE * np.abs(centred).max(initial=1e-300):
            return None
        decoder = np.asarray(centred @ inverse)
        return decoder, float(np.sum(decoder * centred))

    @property
    def _inverse(self) -> tuple[Floats, Floats]:
        """(V⁺, a basis of the null space within p⊥), V scaled to a unit diagonal first."""
        scale = np.sqrt(np.maximum(np.diagonal(self.excess), 0.0))
        scale = np.maximum(scale, FLAT * scale.max()) if scale.max() > 0 else np.ones_like(scale)
        scaled_prior = self.prior * scale
        scaled = self.excess / np.outer(scale, scale)
        direction = scaled_prior / np.linalg.norm(scaled_prior)
        # The prior is in the null space: put an eigenvalue 1 there.
        whole = scaled + np.outer(direction, direction)
        if whole.shape[0] >= MANY_ROWS and (quick := _quick_inverse(whole)) is not None:
            inverse = quick - np.outer(direction, direction)
            return np.asarray(inverse / np.outer(scale, scale)), np.zeros((scale.size, 0))
        values, vectors = np.linalg.eigh(whole)
        kept = values > NULL * max(1.0, float(values[-1]))
        used = vectors[:, kept]
        inverse = (used / values[kept]) @ used.T - np.outer(direction, direction)
        return np.asarray(inverse / np.outer(scale, scale)), np.asarray(vectors[:, ~kept] / scale[:, None])


def _quick_inverse(matrix: Floats) -> Floats | None:
    """Without eigenvalues; None where one of them may be rounding.

    Where inputs are exchangeable it is αI + β11ᵀ, with the inverse (I − β/(α + rβ)·11ᵀ)/α. Else by Cholesky's factors:
    the largest eigenvalue is at most |M| and the smallest at least 1/|M⁻¹|, norms of Frobenius.
    """
    r, other = matrix.shape[0], float(matrix[0, 1])
    alone = float(matrix[0, 0]) - other
    around = alone + r * other
    if min(alone, around) * WELL_CONDITIONED > r and np.ptp(np.diagonal(matrix)) <= EVEN:
        apart = np.abs(matrix - other)
        np.fill_diagonal(apart, 0.0)
        if apart.max() <= EVEN:
            inverse = np.full(matrix.shape, -other / (around * alone))
            inverse[np.diag_indices(r)] += 1 / alone
            return inverse
    try:
        root = np.linalg.inv(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return None
    inverse = np.asarray(root.T @ root)
    fine = float(np.linalg.norm(matrix)) * float(np.linalg.norm(inverse)) < WELL_CONDITIONED
    return inverse if fine else None


def fisher(mechanism: Mechanism | Any, prior: Floats) -> Fisher:
    """The information of a mechanism, or of a row-stochastic array, at `prior`."""
    if not isinstance(mechanism, Mechanism):
        reading = read_array(mechanism)
        return _summed(_pieces_of_reading(reading), prior, None)
    rows = by_row(mechanism, prior)
    refuse_large(rows.size, rows.size, "the information matrix")
    structure = mechanism.structure
    if isinstance(structure, (SubsetSelection, GroupedSets)):
        return _all_sets(structure, rows, mechanism.row_of)
    return _summed(_pieces(mechanism), rows, mechanism.row_of)


def by_row(mechanism: Mechanism, prior: Floats) -> Floats:
    """Probabilities of the mechanism's different rows."""
    row_of, r = mechanism.row_of, mechanism.row_classes
    return prior if row_of is None else np.asarray(np.bincount(row_of, weights=prior, minlength=r), dtype=np.float64)


def _summed(pieces: Iterator[tuple[Floats, Floats]], prior: Floats, row_of: Indices | None) -> Fisher:
    excess = np.zeros((prior.size, prior.size))
    for base, above in pieces:
        mean = prior @ above
        marginal = base + mean
        marginal = np.where(marginal > 0, marginal, NEVER * above.max(axis=0, initial=0.0) ** 2)
        seen = marginal > 0
        deviation = (above - mean)[:, seen] / np.sqrt(marginal[seen])
        excess += deviation @ deviation.T
    return Fisher(excess, prior, row_of)


def _pieces_of_reading(reading: Reading) -> Iterator[tuple[Floats, Floats]]:
    yield reading.base, reading.excess


def _pieces(mechanism: Mechanism) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of columns: the smallest entry of each, and what every row has above it; integers until the last step."""
    structure, r = mechanism.structure, mechanism.row_classes
    if r * mechanism.m <= LARGEST_DENSE:
        rows = structure.rows()
        smallest = rows.min(axis=0)
        yield (
            np.ldexp(smallest.astype(np.float64), -WEIGHT_BITS),
            np.ldexp((rows - smallest).astype(np.float64), -WEIGHT_BITS),
        )
        return
    if isinstance(structure, Colourings):
        yield from _coloured(structure)
        return
    width, block = max(1, CHUNK // r), []
    for column in structure.columns():
        if column.orbit:
            raise TooLarge(
                "the information of one report needs the reports listed, and they are too many",
                parameter="m",
                value=count_text(mechanism.m),
            )
        block.append(column.groups)
        if len(block) == width:
            yield _from_groups(block, r)
            block = []
    if block:
        yield _from_groups(block, r)


def _coloured(structure: Colourings) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of colourings."""
    every, at_a_time = np.arange(structure.r)[:, None], max(1, CHUNK // (structure.r * int(structure.sizes.max())))
    for a in range(0, len(structure.colours), at_a_time):
        part, sizes = slice(a, a + at_a_time), structure.sizes[a : a + at_a_time]
        step = as_probabilities(structure.high[part] - structure.low[part])
        above = np.zeros((structure.r, int(sizes.sum())))
        above[every, (structure.colours[part].T + (np.cumsum(sizes) - sizes))] = step
        yield as_probabilities(np.repeat(structure.low[part], sizes)), above


def _from_groups(block: list[Any], r: int) -> tuple[Floats, Floats]:
    """Columns given as (weight, set of rows) groups, the smallest weight first: differences at the ends of runs, then
    a running sum.
    """
    base = np.array([np.ldexp(groups[0][0], -WEIGHT_BITS) for groups in block])
    change = np.zeros((r + 1, len(block)))
    for y, groups in enumerate(block):
        for weight, members in groups[1:]:
            ends = np.asarray(members.runs, dtype=np.intp)
            step = np.ldexp(float(weight - groups[0][0]), -WEIGHT_BITS)
            change[ends[:, 0], y] += step
            change[ends[:, 1], y] -= step
    above = np.cumsum(change[:-1], axis=0)
    return base, np.where(above > 0.5 * np.ldexp(1.0, -WEIGHT_BITS), above, 0.0)


def _all_sets(structure: SubsetSelection | GroupedSets, prior: Floats, row_of: Indices | None) -> Fisher:
    """Every set S of some types, by how many members it has of each class of equally likely inputs of a group.

    A set of type t has the marginal (low_t + (high_t − low_t)·p(S))/N_t. A vector of counts in the classes has the
    share of the sets of its type that draws without replacement say, and the lift of S is 1 + c(1_S − p(S)). Given the
    counts n', x lies in S with probability n'/n of its class, and a pair by the same count without replacement; equally
    likely inputs of subset selection are one class, and V = λ(I − 11ᵀ/r).
    """
    groups, types = _types(structure)
    values = np.rint(prior / prior.max() * 1e12)
    found, of = np.unique(np.column_stack([groups, values]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    sizes = np.bincount(of)
    classes = [np.flatnonzero(found[:, 0] == g) for g in range(int(groups.max()) + 1)]
    few = all(c.size <= MOST_GROUPS for c in classes)
    if not few or len(types) * np.prod([np.prod(sizes[c[:-1]] + 1.0) for c in classes]) > MOST_COUNTS:
        raise TooLarge(
            f"all sets of {structure.r} inputs are counted for at most {MOST_GROUPS} different probabilities",
            parameter="prior",
            value=f"{max(c.size for c in classes)} different probabilities",
            hint="Use a mechanism that lists its reports, such as ex.design's.",
        )
    probabilities = np.asarray(np.bincount(of, weights=prior) / sizes)
    between = np.zeros((sizes.size, sizes.size))
    alone = np.zeros(sizes.size)  # Σθc²·(P(x ∈ S) − P(x, x' ∈ S))
    for t, low, step in types:
        counts, often = _counts(sizes, classes, t)
        mass = probabilities @ counts  # p(S)
        often = often * step**2 / (low + step * mass)  # θ·c²
        share = counts / sizes[:, None]
        apart = share - mass
        between += (apart * often) @ apart.T
        alone += (share * (1 - share)) @ often * (sizes / np.maximum(sizes - 1, 1))
    within = (alone / sizes)[of]  # of share² it is not covered: P(x, x' ∈ S) = share² − alone/n
    excess = between[np.ix_(of, of)] - np.where(of[:, None] == of, within, 0.0)
    excess[np.diag_indices(structure.r)] += alone[of]
    return Fisher(excess, prior, row_of)


def _types(structure: SubsetSelection | GroupedSets) -> tuple[Indices, list[tuple[tuple[int, ...], float, float]]]:
    """The group of each row; counts of each type with N_t·(low, high − low), as probabilities."""
    if isinstance(structure, GroupedSets):
        weights = zip(structure.types, structure.low, structure.high, strict=True)
        return structure.of, [(t, low / DENOMINATOR, (high - low) / DENOMINATOR) for t, low, high in weights]
    r, d = structure.r, structure.size
    low = (DENOMINATOR - structure.inside) * r / ((r - d) * DENOMINATOR)
    step = (structure.inside * r - d * DENOMINATOR) * r / (d * (r - d) * DENOMINATOR)
    return np.zeros(r, dtype=np.intp), [((d,), low, step)]


def _counts(sizes: Indices, classes: list[Indices], t: tuple[int, ...]) -> tuple[Floats, Floats]:
    """All vectors of counts in the classes, t_g in all in those of group g, one in each column; and which share of all
    sets of the type has them."""
    tables, shares = [], []
    for own, size in zip(classes, t, strict=True):
        listed = list(product(*(range(n + 1) for n in sizes[own[:-1]].tolist())))
        first = np.array(listed, dtype=np.float64).reshape(len(listed), own.size - 1)
        last = size - first.sum(axis=1)
        table = np.column_stack([first, last])[(last >= 0) & (last <= sizes[own[-1]])].T
        tables.append(table)
        shares.append(_hypergeometric(sizes[own], table))
    places = np.meshgrid(*(np.arange(share.size) for share in shares), indexing="ij")
    counts = np.empty((sizes.size, places[0].size))
    often = np.ones(places[0].size)
    for own, table, share, place in zip(classes, tables, shares, places, strict=True):
        counts[own] = table[:, place.ravel()]
        often *= share[place.ravel()]
    return counts, often


def _hypergeometric(sizes: Indices, counts: Floats) -> Floats:
    """Which share of all subsets has these counts."""
    from scipy.special import gammaln

    n = sizes[:, None].astype(np.float64)
    logs = (gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)).sum(axis=0)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def squared_influence(mechanism: Mechanism | Any, fisher: Fisher, decoder: Floats) -> Floats:
    """∂F/∂p up to a constant, for each input: Σ_y Q(y|x)·|t_y|², t_y = A_c V⁺ (q_y − m_y)/m_y what report y moves the
    estimates by.

    F(p) = min over unbiased T of Σ m|T|² − |Ap|², so ∂F/∂p = Σ_y Q(y|·)|T_y|² − 2(Ap)·a_x with T = Ap + t, and Σ_y
    Q(y|x)t_y = a_x − Ap."""
    pieces = _pieces_of_reading(read_array(mechanism)) if not isinstance(mechanism, Mechanism) else _pieces(mechanism)
    slope = np.zeros(fisher.prior.size)
    for base, above in pieces:
        mean = fisher.prior @ above
        marginal = base + mean
        seen = marginal > 0
        moved = decoder @ ((above - mean)[:, seen] / marginal[seen])
        squares = (moved**2).sum(axis=0)
        slope += (base + above)[:, seen] @ squares
    return slope if fisher.row_of is None else slope[fisher.row_of]
