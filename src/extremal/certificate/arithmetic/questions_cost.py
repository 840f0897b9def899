"""What blocks of questions cost for the shares of every question, or for the cross-tables of all pairs: exactly.

A block throws a coin γ and reports sets of d_j of the k_j answers. It tells γ²·f_j about question j, f_j = (k_j/d_j −
1)/(k_j − 1), and γ²·f_i·f_j about the interaction of two of its questions. Two questions under two coins, which fall
independently, tell the product of what each tells. μ_A is the mean over the people, and n × the squared error is

    (1 − 1/k_j)/μ_j in total for the shares of question j,
    ((k_i − 1)/μ_i + (k_j − 1)/μ_j + (k_i − 1)(k_j − 1)/μ_ij)/(k_i·k_j) in total for the cells of questions i and j.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, inf, prod

from extremal.certificate.proof import Bound, NotKnown
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import JointBlocks
from extremal.mechanism.structures.joint import COIN, AllSets
from extremal.problem import QuestionsGoal, TablesGoal

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
