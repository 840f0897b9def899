"""Costs that are known in closed form, exactly: of sets that inputs choose, and of blocks of questions.

*Sets that inputs choose*, for shares, by the estimate that asks whether the report is in each set. x favours a set
S_x of reports (`hadamard`, `projective`, `hashed`). How often a report lies in S_x depends on the truth z only through
whether z = x, z shares the block of x, or neither (one block, but for Hadamard's). So with T = 1 where the report lies
in S_x and U = 1 where it lies in the block of x, αT − βU − γ is an unbiased estimate of the share of x, the same α, β,
γ for all, and its variance is a rational number at every prior. The best estimate is no worse: what is returned is
never less than F, the cost of docs/design/proofs.md §4.

*Blocks of questions*, for the shares of every question or the cross-tables of all pairs. A block throws a coin γ and
reports sets of d_j of the k_j answers. It tells γ²·f_j about question j, f_j = (k_j/d_j − 1)/(k_j − 1), and γ²·f_i·f_j
about the interaction of two of its questions. Two questions under two coins, which fall independently, tell the product
of what each tells. μ_A is the mean over the people, and n × the squared error is

    (1 − 1/k_j)/μ_j in total for the shares of question j,
    ((k_i − 1)/μ_i + (k_j − 1)/μ_j + (k_i − 1)(k_j − 1)/μ_ij)/(k_i·k_j) in total for the cells of questions i and j.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, inf, prod

import numpy as np

from extremal.certificate.proof import Bound, NotKnown
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import JointBlocks
from extremal.mechanism.structures.chosen_sets import ChosenSets, HadamardSets
from extremal.mechanism.structures.joint import COIN, AllSets
from extremal.problem import QuestionsGoal, TablesGoal, WorkloadGoal

Chances = tuple[Fraction, Fraction]  # that a report lies in S_x, and that it lies in the block of x


def membership_cost(goal: WorkloadGoal, mechanism: Mechanism, sets: ChosenSets) -> Fraction:
    """n × the total mean squared error of the estimate by membership, at the goal's prior.

    Raises:
        NotKnown: the prior is not one, the statistics are not the shares themselves, or inputs do not have a set each
            in their own order.
    """
    prior, weights = goal.source.single, np.diagonal(goal.gram)
    if goal.k != mechanism.k:
        raise NotKnown("the mechanism and the cost are about different inputs", "k", mechanism.k)
    if prior is None or mechanism.row_of is not None or np.count_nonzero(goal.gram) > np.count_nonzero(weights):
        raise NotKnown("of sets that inputs choose the cost of shares at one prior is known", "m", mechanism.m)
    blocks = sets.blocks if isinstance(sets, HadamardSets) else 1
    own, same, apart = _chances(sets, blocks)
    second = _second_moments(own, same, apart)
    of = np.arange(goal.k) % blocks
    masses = [0] * blocks
    for block, mass in zip(of.tolist(), prior.weights, strict=True):
        masses[block] += mass
    total = Fraction(0)
    for weight, block, mass in zip(weights.tolist(), of.tolist(), prior.weights, strict=True):
        here = second[0] * mass + second[1] * (masses[block] - mass) + second[2] * (prior.total - masses[block])
        total += int(weight) * (here / prior.total - Fraction(mass, prior.total) ** 2)
    return total / goal.denominator


def _chances(sets: ChosenSets, blocks: int) -> tuple[Chances, Chances, Chances]:
    """For a truth that is x itself, another of its block, and one of another block."""
    inside, size, width = Fraction(sets.inside, DENOMINATOR), sets.size, sets.m // blocks
    outside = (1 - inside) / (sets.m - size)  # of each report that the truth does not favour
    shared = sets.overlap(0, blocks)
    block = inside + outside * (width - size)
    return (
        (inside, block),
        (inside * shared + outside * size * (1 - shared), block),
        (outside * size, outside * width),
    )


def _second_moments(own: Chances, same: Chances, apart: Chances) -> tuple[Fraction, ...]:
    """E(αT − βU − γ)² for the three kinds of truth: its mean is 1 for the first and 0 for the others."""
    alpha = 1 / (own[0] - same[0])
    beta = alpha * (same[0] - apart[0]) / (same[1] - apart[1]) if same[1] != apart[1] else Fraction(0)
    gamma = alpha * same[0] - beta * same[1]
    inside, around, beyond = (alpha - beta - gamma) ** 2, (beta + gamma) ** 2, gamma**2
    return tuple(t * inside + (u - t) * around + (1 - u) * beyond for t, u in (own, same, apart))


# -- blocks of questions

ZERO = Fraction(0)
Asked = list[tuple[Fraction, list[tuple[int, Fraction]]]]
"""The blocks of one person: γ², and of each question its number and f_j."""


def questions_cost(goal: QuestionsGoal | TablesGoal, mechanism: Mechanism) -> Bound:
    """The cost of blocks that report all sets of some sizes alike; infinite where they tell nothing of what is asked.

    Raises:
        NotKnown: of any other mechanism.
    """
    return _of_shares(goal, mechanism) if isinstance(goal, QuestionsGoal) else _of_tables(goal.sizes, mechanism)


def _of_shares(goal: QuestionsGoal, mechanism: Mechanism) -> Bound:
    """Σ w_j(1 − 1/k_j)/μ_j, or the largest w_j(1 − 1/k_j)/(k_j·μ_j)."""
    told = [ZERO] * len(goal.sizes)
    for share, asked in _blocks_of(goal.sizes, mechanism):
        for square, members in asked:
            for j, part in members:
                told[j] += share * square * part
    if not all(told):
        return inf
    errors = [w * (1 - Fraction(1, k)) / mu for w, k, mu in zip(goal.weights, goal.sizes, told, strict=True)]
    return max(e / k for e, k in zip(errors, goal.sizes, strict=True)) if goal.largest else sum(errors, ZERO)


def _of_tables(sizes: tuple[int, ...], mechanism: Mechanism) -> Bound:
    """The mean over pairs."""
    told: dict[tuple[int, ...], Fraction] = {}
    for share, asked in _blocks_of(sizes, mechanism):
        placed = sorted((j, part, b) for b, (_, members) in enumerate(asked) for j, part in members)
        for one in (*combinations(placed, 1), *combinations(placed, 2)):
            coins = prod(asked[b][0] for b in {b for _, _, b in one})
            members = tuple(j for j, _, _ in one)
            told[members] = told.get(members, ZERO) + share * coins * prod(part for _, part, _ in one)
    found = ZERO
    for i, j in combinations(range(len(sizes)), 2):
        if (i, j) not in told:
            return inf
        parts = [prod(sizes[a] - 1 for a in members) / told[members] for members in ((i,), (j,), (i, j))]
        found += sum(parts, ZERO) / (sizes[i] * sizes[j])
    return found / comb(len(sizes), 2)


def _blocks_of(sizes: tuple[int, ...], mechanism: Mechanism) -> Iterator[tuple[Fraction, Asked]]:
    """The share of people who get each assignment, and its blocks, which report all sets of some sizes alike."""
    structure = getattr(mechanism, "structure", None)
    if not isinstance(structure, JointBlocks) or structure.sizes != sizes:
        raise NotKnown("the cost of questions is known of blocks of the same questions", "k", mechanism.k)
    for assignment in structure.assignments:
        asked = []
        for block in assignment.blocks:
            members = []
            for j, family in zip(block.questions, structure.of(block), strict=True):
                if not isinstance(family, AllSets):
                    raise NotKnown("the cost of questions is known of sets of answers", "question", j)
                members.append((j, (family.odds - 1) / (family.k - 1)))
            asked.append((Fraction(block.coin, COIN) ** 2, members))
        yield Fraction(assignment.weight, COIN), asked
