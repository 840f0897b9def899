"""All subsets of a size, inputs equally likely in groups: the cost of a workload, without a list of reports.

The same for several types of sets, each with so many members of certain parts of the rows: a group is then what is
equally likely within a part.

A subset matters through t, how many members it has of each group of n_g inputs: Π C(n_g, t_g) subsets share t and the
marginal m_t. A report is low + (high − low)·1_S, and given t two inputs of groups g and h both lie in S with
probability t_g t_h/(n_g n_h), two of one group with t_g(t_g − 1)/(n_g(n_g − 1)). So the information is J = diag(a) +
LBLᵀ, L the groups, and by Woodbury's identity, with A = diag(a + ρ) and N the sizes,

    tr W_c(J + ρI)⁻¹ = Σ_g tr(W_c in g)/A_g − tr K·(sums of W_c over groups)/(A_g A_h),    K = (I + BNA⁻¹)⁻¹B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from extremal.certificate.refused import NotKnown
from extremal.exact import Column
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
    of, classes, sizes, weights = _classes(columns[0], prior.weights)
    alone = [arb(0) for _ in sizes]
    pairs = [[arb(0) for _ in sizes] for _ in sizes]
    parts = [[sizes[c] for c in own] for own in classes]
    if len(columns) * prod(n + 1 for part in parts for n in part[:-1]) > MOST_COUNTS:
        raise NotKnown("the reports are too many to list or to count", parameter="m", value=channel.m)
    for column in columns:
        held = [size for _, size in column.parts(len(prior.weights))]
        counts = [sum(chosen, ()) for chosen in product(*map(_counts, parts, held))]
        _add_information(alone, pairs, column, counts, sizes, weights, prior.total, channel.view.denominator)
    groups = range(len(sizes))
    ridged = [alone[g] + arb(RHO) for g in groups]
    system = arb_mat([[(1 if g == h else 0) + pairs[g][h] * sizes[h] / ridged[h] for h in groups] for g in groups])
    inner = system.solve(arb_mat(pairs))
    own, sums = _centred(wanted, of, len(sizes))
    found = sum((own[g] / ridged[g] for g in groups), arb(0))
    return found - sum((inner[g, h] * sums[h][g] / (ridged[g] * ridged[h]) for g in groups for h in groups), arb(0))


def _classes(column: Column, weights: Sequence[int]) -> tuple[Any, list[list[int]], list[int], list[int]]:
    """Equally likely rows of one part of the orbit: the class of each row, and the classes of each part; their sizes
    and weights."""
    of = np.zeros(len(weights), dtype=np.intp)
    found: list[int] = []
    classes: list[list[int]] = []
    for rows, _ in column.parts(len(weights)):
        kinds = sorted({weights[x] for x in rows})
        classes.append(list(range(len(found), len(found) + len(kinds))))
        of[rows] = [len(found) + kinds.index(weights[x]) for x in rows]
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
        if not mass:
            continue
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


def _centred(wanted: Any, of: Any, count: int) -> tuple[list[Any], list[list[Any]]]:
    """The trace of W_c within each group, and its sums between groups."""
    total, lines, mean = wanted.total, wanted.lines, wanted.mean
    own = np.zeros(count, dtype=object)
    np.add.at(own, of, np.diagonal(wanted.matrix) * total**2 - 2 * total * lines + mean)
    sums = np.zeros((count, count), dtype=object)
    folded = np.zeros((count, lines.size), dtype=object)
    np.add.at(folded, of, wanted.matrix)
    np.add.at(sums.T, of, folded.T)
    sizes = np.bincount(of, minlength=count).astype(object)
    line = np.zeros(count, dtype=object)
    np.add.at(line, of, lines)
    cross = np.outer(line, sizes) * total
    whole = sums * total**2 - cross - cross.T + np.outer(sizes, sizes) * mean
    scale = wanted.scale
    return [arb(scale * int(v)) for v in own], [[arb(scale * int(v)) for v in row] for row in whole]
