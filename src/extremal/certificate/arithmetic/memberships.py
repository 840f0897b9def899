"""What shares cost with sets that the inputs choose, exactly: the estimate that asks whether the report is in each set.

Input x favours a set S_x of reports (`hadamard`, `projective`, `hashed`). How often a report lies in S_x depends on the
truth z only through whether z = x, z shares the block of x, or neither (one block, but for Hadamard's). So with T = 1
where the report lies in S_x and U = 1 where it lies in the block of x, αT − βU − γ is an unbiased estimate of the share
of x, the same α, β, γ for all, and its variance is a rational number at every prior. The best estimate is no worse:
what is returned is never less than F, the cost of docs/design/proofs.md §4.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from extremal.certificate.proof import NotKnown
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.chosen_sets import ChosenSets, HadamardSets
from extremal.problem import WorkloadGoal

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
