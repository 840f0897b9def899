"""The shares of yes/no questions, all of one weight: Σ μ_j ≤ M, proved without a number in the file.

A column of largest Σ v_j·μ_j under ε-LDP is E on a set of records Σ u_j·x_j > θ, x_j = ±1, and 1 elsewhere (its
linearisation at itself is largest there), and with c = E − 1

    M = max over Σ u_j² = 1 of θ(u)²,   c·E(Σ u_j·x_j − θ)⁺ = θ,   x_j independent signs.

*E ≤ 3*: M = ((E − 1)/(E + 1))², for any number of questions and any weights (v_j = 1): with X = Σu_jx_j symmetric,
2E(X − θ)⁺ = E|X − θ| − θ ≤ E max(|X|, θ) − θ ≤ (1 + EX²)/2 − θ ≤ 1 − θ where θ ≤ ½.

*Up to seven questions*: after flips and sorting, the set is closed upwards in the dominance order on {0, 1}^J (sums of
the first i coordinates, for every i). There are 5, 10, 27, 119, 1,173 and 44,315 such sets for J = 2 … 7; each is
listed. A set of m records with Σ_j (Σ_{x in it} ±1)² = W has Σ μ_j = W/(2^J/c + m)².

*More*: G_n(y, a) = max E(y + R)⁺ over R = Σ u_j·x_j with n terms, Σ u_j² = 1, all u_j ≤ a. Taking out the largest, u,
1/√n ≤ u ≤ a, G_n(y, a) ≤ max over u of ρ/2·Σ_± G_{n−1}((y ± u)/ρ, min(1, u/ρ)), ρ = √(1 − u²). E(y + ρR)⁺ grows with
ρ, and h(y + u) + h(y − u) with u for convex h: on a cell of u take ρ at its lower and u at its upper end. G is convex
in y: chords are above it, and those of the last term are sixteen times as short. Everything is in whole numbers,
rounded up. M ≤ θ² for any θ with c·G_J(−θ, 1) ≤ θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from extremal.certificate.limits import work_of_entries
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.proofs.questions import Wanted, ratio_above
from extremal.certificate.reading import Counts
from extremal.problem import Goal, Privacy, TablesGoal

MOST_LISTED = 7  # questions whose sets are listed: two seconds
PER_SET, PER_LEVEL = 30, 250_000  # units of work: a pair of records of a few questions, a level of the recursion
MOST_QUESTIONS = 24  # so that |y| ≤ 5 is all that there is: √24 < 5
CELLS = 4096  # of u
STEPS = 16  # of y, in a unit: more change the fourth digit
FINER = 16  # steps of the last one
REACH = 5  # of y
BITS = 30  # of numbers between 0 and 1; a product of two is below 2^63
UNIT = 1 << BITS
FRACTION_BITS = 20  # of a place between two steps

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class YesNo(Proof):
    """Σ μ_j ≤ M. Field: sizes, a 2 for each question."""

    kind: ClassVar[str] = "yes-no"
    sizes: Counts

    def work(self, privacy: Privacy, goal: Goal) -> int:
        count = len(self.sizes)
        return work_of_entries(goal) + (PER_SET * 4**count if count <= MOST_LISTED else PER_LEVEL * count)

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        ratio, wanted = ratio_above(privacy), Wanted.of(goal, self.sizes)
        count = len(self.sizes)
        if set(self.sizes) != {2} or count > MOST_QUESTIONS or isinstance(goal, TablesGoal):
            what = f"the shares of up to {MOST_QUESTIONS} yes/no questions"
            raise Refused(f"this proof is about {what}", "sizes", self.sizes[:8])
        if ratio > 3 and len(set(wanted.errors)) > 1:
            raise Refused("above e^ε = 3 all questions must have the same weight", "weights", count)
        return wanted.below([Fraction(1)] * count, most_told(count, ratio))


def most_told(count: int, ratio: Fraction) -> Fraction:
    """M, or a number above it, for yes/no questions at e^ε = ratio."""
    if ratio <= 3:
        return ((ratio - 1) / (ratio + 1)) ** 2
    if count <= MOST_LISTED:
        z = Fraction(1 << count) / (ratio - 1)
        return max(Fraction(w) / (z + m) ** 2 for m, w in enumerate(largest_squares(count)))
    return _by_recursion(count, ratio - 1)


# -- sets of up to seven questions


@cache
def largest_squares(count: int) -> tuple[int, ...]:
    """For each m the largest W of a set of m records that is closed upwards; 0 where there is none.

    >>> largest_squares(2)
    (0, 2, 4, 2, 0)
    """
    order, above, below = _dominance(count)
    signs = [[2 * (x >> (count - 1 - j) & 1) - 1 for j in range(count)] for x in order]
    best = [0] * (len(order) + 1)
    # A set is built by adding records in their order; those that may be added next are carried along.
    stack: list[tuple[int, tuple[int, ...], int, tuple[int, ...]]] = [(0, (0,) * count, 0, (0,))]
    while stack:
        size, sums, inside, free = stack.pop()
        best[size] = max(best[size], sum(s * s for s in sums))
        for number, i in enumerate(free):
            grown = inside | 1 << i
            opened = [j for j in below[i] if j > i and all(grown >> a & 1 for a in above[j])]
            later = tuple(sorted({*free[number + 1 :], *opened}))
            stack.append((size + 1, tuple(a + b for a, b in zip(sums, signs[i], strict=True)), grown, later))
    return tuple(best)


def _dominance(count: int) -> tuple[list[int], list[list[int]], list[list[int]]]:
    """All records, each after those above it; and by their places those next above and next below each."""
    order = sorted(range(1 << count), key=lambda x: (-sum(_sums(x, count)), x))
    place = {x: i for i, x in enumerate(order)}
    above = [[place[y] for y in _covers(x, count)] for x in order]
    below: list[list[int]] = [[] for _ in order]
    for i, upper in enumerate(above):
        for j in upper:
            below[j].append(i)
    return order, above, below


def _sums(x: int, count: int) -> list[int]:
    """The sums of the first coordinates; the first one is the highest bit."""
    found, total = [], 0
    for j in range(count):
        total += x >> (count - 1 - j) & 1
        found.append(total)
    return found


def _covers(x: int, count: int) -> list[int]:
    """The records next above: a 1 moved one place to the front, or a 1 in place of the last 0."""
    bits = [x >> (count - 1 - j) & 1 for j in range(count)]
    found = [x ^ (3 << (count - 2 - j)) for j in range(count - 1) if (bits[j], bits[j + 1]) == (0, 1)]
    return found if x & 1 else [*found, x | 1]


# -- any number of questions


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of u: their upper ends, ρ at the lower ones, and the cell whose upper end is at least u/ρ: where the
    largest coefficient of the rest may lie."""

    ends: list[int]
    scales: list[int]
    caps: list[int]

    @classmethod
    @cache
    def all(cls) -> _Cells:
        edges = [c * (UNIT // CELLS) for c in range(CELLS + 1)]
        upper = [isqrt(UNIT * UNIT - u**2 - 1) + 1 for u in edges[:-1]]
        lower = [isqrt(UNIT * UNIT - u**2) for u in edges[1:]]
        caps = [
            min(CELLS - 1, -(-u * CELLS // rho) - 1) if rho else CELLS - 1
            for u, rho in zip(edges[1:], lower, strict=True)
        ]
        return cls(edges[1:], upper, caps)

    def taken_out(self, table: Whole, terms: int, y: Whole) -> Whole:
        """Numbers above 2^30·G_terms(−y, u) for the upper end u of every cell, from those of one term less."""
        made = np.zeros((CELLS, y.size), dtype=np.int64)
        for c in range(isqrt((CELLS * CELLS - 1) // terms), CELLS):  # the largest of n terms is at least 1/√n
            before, rho, u = table[self.caps[c]], self.scales[c], self.ends[c]
            made[c] = -(-(_scaled(before, rho, u - y) + _scaled(before, rho, -u - y)) // 2)
        return np.asarray(np.maximum.accumulate(made, axis=0))


@cache
def _tails(terms: int) -> Whole:
    """Numbers above 2^30·G_terms(−i/16, u), a row for the upper end u of each cell."""
    y = np.arange(REACH * STEPS + 1, dtype=np.int64) * (UNIT // STEPS)
    if terms == 1:
        return np.tile(-(-np.maximum(UNIT - y, 0) // 2), (CELLS, 1))  # one term: ½(1 − y)⁺ at −y ≤ 0
    return _Cells.all().taken_out(_tails(terms - 1), terms, y)


def _scaled(table: Whole, rho: int, x: Whole) -> Whole:
    """At least 2^30·ρ·G(x/ρ): G(x) = x⁺ + G(−|x|), by the chord between two steps."""
    place = (np.abs(x) << FRACTION_BITS) // max(rho, 1) * STEPS  # steps from 0, rounded towards it: G falls
    index = place >> FRACTION_BITS
    beyond = index >= REACH * STEPS
    near = np.where(beyond, 0, index)
    part = place & ((1 << FRACTION_BITS) - 1)
    first, second = table[near], table[near + 1]
    between = -((-(first * ((1 << FRACTION_BITS) - part) + second * part)) >> FRACTION_BITS)
    tail = np.where(beyond, 0, -((-(between * rho)) >> BITS))
    return np.maximum(x, 0) + tail


def _by_recursion(count: int, c: Fraction) -> Fraction:
    """θ² for a θ with c·G(−θ) ≤ θ: where a chord crosses the line, between two steps that the last term divides
    again: G has kinks, which a chord over a whole step would cut off."""
    values = [*_tails(count)[-1, :-1].tolist(), 0]  # |R| ≤ √24 < 5
    i = _crossing(values, 0, STEPS, c)
    y = ((i - 1) * FINER + np.arange(FINER + 1, dtype=np.int64)) * (UNIT // (STEPS * FINER))
    fine = _Cells.all().taken_out(_tails(count - 1), count, y)[-1].tolist()
    fine[-1] = min(fine[-1], values[i])
    start = Fraction(i - 1, STEPS)
    j = _crossing(fine, start, STEPS * FINER, c)
    begin, step = start + Fraction(j - 1, STEPS * FINER), Fraction(1, STEPS * FINER)
    before, after = c * Fraction(fine[j - 1], UNIT) - begin, c * Fraction(fine[j], UNIT) - begin - step
    return (begin + step * before / (before - after)) ** 2


def _crossing(values: list[int], start: Fraction | int, steps: int, c: Fraction) -> int:
    """The first step at which c·G is below the line."""
    return next(i for i in range(1, len(values)) if c * Fraction(values[i], UNIT) <= start + Fraction(i, steps))
