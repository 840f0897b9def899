"""The shares of every question of a record, records equally likely: a mixture of blocks of questions.

Such a workload is recognised by its matrix, W(x, z) = Σ_j w_j·1[x_j = z_j] + u_x + u_z, records in the order in which
the last question counts fastest: the shares of all answers of each question, of one of two, or means of ±1. Its best
mechanisms ask a random block of questions under one coin (`extremal.optimize.questions`); the bound is that of
`extremal.optimize.question_bounds`. The information of such a mechanism may be singular, for what two questions have to
do with each other need not be told.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.question_bounds import question_proofs
from extremal.optimize.questions import Asked, Pick, design_blocks, gamma_of, shares_option
from extremal.privacy import LDP
from extremal.problem import QuestionsGoal
from extremal.utility import Workload

MOST_RECORDS = 1024  # for which a proof compares the matrices
MOST_REPORTS = 1 << 14  # all blocks together
CLOSE = 1e-9  # of the largest entry: as rounding leaves them; what is recognised is then compared in whole numbers
TIMES = 1 << 24  # units of the commonest report: shares to 1e-7, which the cost sees squared


def questions_of_workload(utility: Workload, prior: Floats) -> tuple[tuple[int, ...], tuple[Fraction, ...]] | None:
    """The numbers of answers and the weights of the questions whose shares these are; None if they are none.

    >>> signs = Workload([[-1, -1, 1, 1], [-1, 1, -1, 1]], 4)
    >>> questions_of_workload(signs, np.full(4, 0.25))
    ((2, 2), (Fraction(2, 1), Fraction(2, 1)))
    """
    if len(set(prior.tolist())) != 1 or len(prior) > MOST_RECORDS:
        return None
    sizes = _sizes(utility.gram - utility.gram.mean(axis=0) - utility.gram.mean(axis=1)[:, None])
    if len(sizes) < 2:
        return None
    gram, denominator = utility.exact_gram
    sums = gram.sum(axis=1)
    centred = gram * utility.k**2 - utility.k * (sums[:, None] + sums)
    weights = [centred[0, 0] - centred[0, math.prod(sizes[j + 1 :])] for j in range(len(sizes))]
    places = np.array(list(product(*map(range, sizes))))
    rebuilt = sum(w * (places[:, None, j] == places[None, :, j]).astype(object) for j, w in enumerate(weights))
    if not np.array_equal(rebuilt - rebuilt[0, 0], centred - centred[0, 0]):
        return None
    return sizes, tuple(Fraction(int(w), denominator * utility.k**2) for w in weights)


def _sizes(left: Floats) -> tuple[int, ...]:
    """The numbers of answers, by which records beside the first one agree with it in fewer questions; none if there are
    none."""
    sizes: tuple[int, ...] = ()
    close = CLOSE * float(np.abs(left).max())
    while len(left) > 1:
        beside = np.flatnonzero(np.abs(left[1, 2:] - left[0, 1]) > close)
        size = 2 + int(beside[0]) if beside.size else len(left)
        if left[0, 0] - left[0, 1] <= close or len(left) % size:
            return ()
        sizes = (size, *sizes)
        left = left[::size, ::size]
    return sizes


def question_shares(problem: Problem, utility: Workload, prior: Floats, privacy: LDP) -> Solution | None:
    """The best mixture of blocks, with its proofs; None where the workload is another, or reports would be too many."""
    found = questions_of_workload(utility, prior)
    if found is None:
        return None
    sizes, weights = found
    kinds = list(dict.fromkeys(zip(sizes, weights, strict=True)))
    asked = Asked(
        [[shares_option(k, d) for d in range(1, k // 2 + 1)] for k in sizes],
        np.array([float(w) * (1 - 1 / k) for k, w in zip(sizes, weights, strict=True)]),
        [kinds.index(kind) for kind in zip(sizes, weights, strict=True)],
    )
    c = math.expm1(privacy.epsilon)
    made = design_blocks(c, asked, largest=False)
    count = sum(math.prod(math.comb(sizes[j], o + 1) for j, o in enumerate(pick) if o >= 0) for pick in made.blocks)
    if count > min(MOST_REPORTS, problem.max_outputs or MOST_REPORTS):
        return None
    mechanism = _mechanism(sizes, c, asked, made.blocks, made.shares, privacy, problem)
    goal = QuestionsGoal(sizes, weights, False)
    method = f"random blocks of questions under one coin: {len(made.blocks)} blocks of {len(sizes)} questions"
    return Solution(mechanism, math.nan, method, question_proofs(privacy.exponential, goal))


def _mechanism(
    sizes: tuple[int, ...],
    c: float,
    asked: Asked,
    blocks: list[Pick],
    shares: list[float],
    privacy: LDP,
    problem: Problem,
) -> Mechanism:
    """A report is e^ε times likelier on the records that agree with all its sets."""
    places = np.array(list(product(*map(range, sizes))))
    sets: list[list[int]] = []
    lows: list[float] = []
    for pick, share in zip(blocks, shares, strict=True):
        members = [j for j, o in enumerate(pick) if o >= 0]
        every = list(product(*(list(combinations(range(sizes[j]), pick[j] + 1)) for j in members)))
        low = share * (1 - gamma_of(c, asked, pick)) / len(every)
        for chosen in every:
            inside = np.logical_and.reduce([np.isin(places[:, j], own) for j, own in zip(members, chosen, strict=True)])
            sets.append(np.flatnonzero(inside).tolist())
            lows.append(low)
    times = [1] * len(sets) if max(lows) - min(lows) <= 1e-9 * max(lows) else _whole(lows)
    return Mechanism.from_cover(len(places), sets, privacy, times=times, inputs=problem.inputs)


def _whole(lows: list[float]) -> list[int]:
    return [max(1, round(low / max(lows) * TIMES)) for low in lows]
