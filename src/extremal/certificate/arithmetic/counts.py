"""All subsets of a size, inputs equally likely in groups: the cost of a workload, without a list of reports.

The same for several types of sets, each with so many members of certain parts of the rows: a group is then what is
equally likely within a part.

A subset matters through t, how many members it has of each group of n_g rows: Π C(n_g, t_g) subsets share t and the
marginal m_t. A report is low + (high − low)·1_S, and given t two rows of groups g and h both lie in S with probability
t_g t_h/(n_g n_h), two of one group with t_g(t_g − 1)/(n_g(n_g − 1)). So the information is J = diag(a) + LBLᵀ, L the
groups. Rows of a group stand for the same number s_g of inputs; with W̄ the mean of W_c over each row's inputs, by
Woodbury's identity, with A = diag(a + ρ/s) and N the sizes,

    tr W̄(J + ρS⁻¹)⁻¹ = Σ_g tr(W̄ in g)/A_g − tr K·(sums of W̄ over groups)/(A_g A_h),    K = (I + BNA⁻¹)⁻¹B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from extremal.certificate.arithmetic.whole import folded
from extremal.certificate.refused import NotKnown
from extremal.exact import Column, by_row_class
from extremal.utility.workload import RESOLUTION

MOST_COUNTS = 20_000
RHO = fmpq(RESOLUTION.numerator, RESOLUTION.denominator)


def by_counts(wanted: Any, channel: Any, columns: Sequence[Column], prior: Any) -> Any:
    """A ball around the cost; `wanted` are the `Statistics`, each column stands for all sets with its counts.

    Raises:
        NotKnown: columns that only bound the sets, or classes that are too many to count.
    """
    if any(column.bound or column.within != columns[0].within for column in columns):
        raise NotKnown("the sets are not all those with certain counts", parameter="m", value=channel.m)
    rows = list(zip(by_row_class(prior.weights, channel.view), channel.sizes, strict=True))
    of, classes, sizes, kinds = _classes(columns[0], rows)
    weights, inputs = zip(*kinds, strict=True)
    alone = [arb(0) for _ in sizes]
    pairs = [[arb(0) for _ in sizes] for _ in sizes]
    parts = [[sizes[c] for c in own] for own in classes]
    if len(columns) * prod(n + 1 for part in parts for n in part[:-1]) > MOST_COUNTS:
        raise NotKnown("the reports are too many to list or to count", parameter="m", value=channel.m)
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


def _classes(column: Column, given: Sequence[tuple[int, int]]) -> tuple[Any, list[list[int]], list[int], list[Any]]:
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
    alone: list[Any],
    pairs: list[list[Any]],
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


def _means(wanted: Any, of: Any, inputs: Sequence[int]) -> tuple[list[Any], list[list[Any]]]:
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
