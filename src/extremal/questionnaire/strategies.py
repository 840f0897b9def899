"""Ways to spend one budget on several questions, and what each costs.

*joint*: a random block of questions under one coin (`extremal.mechanism.structures.joint`), the blocks chosen so that
all margins, relative to their importance, are equal and as small as blocks allow. *sample*: `per_person` random
questions, each with an equal part of the budget and a coin of its own; how often a question is asked makes the margins
equal. *split*: every question of everybody, the budget divided so that the margins are equal.

A margin is compared by n × its variance times the importance squared (`extremal.questionnaire.questions`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential
from extremal.exact.bisection import bisected
from extremal.exact.exponential import LARGEST_EPSILON, SMALLEST_EPSILON
from extremal.mechanism.structures.joint import COIN, Assignment, Block, Family, JointBlocks, coin_at_most
from extremal.optimize.questions import MOST_ARRANGED, Asked, Pick, design_blocks
from extremal.questionnaire.questions import Question

STRATEGIES = ("joint", "sample", "split")
DIGITS = 6  # of the budget, to which a share is rounded
UNRANDOMISED = 1e-4  # of a variance: nearer to that of plain answers is no gain


@dataclass(frozen=True, eq=False)
class Costs:
    """What a strategy costs: n × the variance of each question's statistics, in its units.

    Attributes:
        strategy: its name.
        asked: how many questions a person is asked, on average.
        variances: by question.
        worst: the largest, times its importance squared.
    """

    strategy: str
    asked: float
    variances: dict[str, float]
    worst: float


def costs(strategy: str, questions: Sequence[Question], asked: float, variances: Sequence[float]) -> Costs:
    named = {
        name: float(v * part) for q, v in zip(questions, variances, strict=True) for name, part in q.margins.items()
    }
    worst = max(v * q.importance**2 for q, v in zip(questions, variances, strict=True))
    return Costs(strategy, asked, named, float(worst))


def refuse_budget(epsilon: Fraction, count: int) -> None:
    """Raise unless every question can have its part."""
    least = SMALLEST_EPSILON * max(count, 1)
    if not least <= epsilon <= LARGEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must lie between {float(least):g} and {float(LARGEST_EPSILON):g}",
            parameter="epsilon",
            value=float(epsilon),
        )


# -- joint


def joint(epsilon: Fraction, questions: Sequence[Question], per_person: int | None) -> tuple[JointBlocks, Costs]:
    """Blocks under one coin with equal margins."""
    found = {q.alike: list(zip(*q.families(epsilon), strict=True)) for q in questions}
    families, options = zip(*(found[q.alike] for q in questions), strict=True)
    kinds = list(found)
    asked = Asked(options, np.array([q.importance**2 for q in questions]), [kinds.index(q.alike) for q in questions])
    made = design_blocks(math.expm1(float(epsilon)), asked, largest=True, per_person=per_person)
    structure = blocks_structure(Exponential(epsilon), families, made.blocks, made.shares)
    mean = sum(s * sum(o >= 0 for o in pick) for pick, s in zip(made.blocks, made.shares, strict=True))
    variances = [
        _variance(q, structure, j, 1 / told)
        for j, (q, told) in enumerate(zip(questions, made.information.tolist(), strict=True))
    ]
    return structure, costs("joint", questions, mean, variances)


def _variance(question: Question, structure: JointBlocks, place: int, of_shares: float) -> float:
    """n × the variance of a question's statistics: of its shares, or of its goal from the reports that it gets."""
    if question.goal is None:
        return of_shares
    return question.cost(structure.mixture(place)) / float(structure.asked(place))


def blocks_structure(
    exponential: Exponential, families: Sequence[Sequence[Family]], blocks: Sequence[Pick], shares: Sequence[float]
) -> JointBlocks:
    """One block for each assignment, with the largest coin that the level allows; families that no block uses are
    dropped."""
    used = [sorted({pick[j] for pick in blocks if pick[j] >= 0}) or [0] for j in range(len(families))]
    kept = tuple(tuple(families[j][o] for o in options) for j, options in enumerate(used))
    made = [_block(exponential, families, used, pick) for pick in blocks]
    return JointBlocks(kept, tuple(Assignment((b,), w) for b, w in zip(made, whole_weights(shares), strict=True)))


def whole_weights(shares: Sequence[float]) -> list[int]:
    """Positive whole weights over 2^53 as near to the shares as that allows; what is left over goes to the largest."""
    total = float(sum(shares))
    rounded = [max(1, int(share / total * COIN)) for share in shares]
    rounded[max(range(len(rounded)), key=rounded.__getitem__)] += COIN - sum(rounded)
    return rounded


def _block(
    exponential: Exponential, families: Sequence[Sequence[Family]], used: Sequence[list[int]], pick: Pick
) -> Block:
    members = tuple(j for j, o in enumerate(pick) if o >= 0)
    odds = math.prod((families[j][pick[j]].odds for j in members), start=Fraction(1))
    return Block(members, tuple(used[j].index(pick[j]) for j in members), coin_at_most(exponential, odds))


# -- sample


def sample(epsilon: Fraction, questions: Sequence[Question], per_person: int | None) -> tuple[JointBlocks, Costs]:
    """Some questions each, coins of their own; the number of questions with the smallest largest margin."""
    count = len(questions)
    sizes = range(1, count + 1) if per_person is None else [per_person]
    chances = {s: _chances(questions, float(epsilon) / s, s) for s in sizes}
    best = min(sizes, key=lambda s: _largest(questions, float(epsilon) / s, chances[s]))
    level = epsilon / best
    families = tuple((q.family(level),) for q in questions)
    coins = [coin_at_most(Exponential(level), family.odds) for (family,) in families]
    alike = len({q.alike for q in questions}) == 1
    chosen = _subsets(count, best, chances[best], alike)
    weights = whole_weights([share for _, share in chosen])
    assignments = tuple(
        Assignment(tuple(Block((j,), (0,), coins[j]) for j in members), weight)
        for (members, _), weight in zip(chosen, weights, strict=True)
    )
    structure = JointBlocks(families, assignments)
    variances = [
        _variance(q, structure, j, q.variance(float(level)) / float(structure.asked(j)))
        for j, q in enumerate(questions)
    ]
    return structure, costs("sample", questions, float(best), variances)


def _largest(questions: Sequence[Question], level: float, chances: list[float]) -> float:
    return max(q.variance(level) * q.importance**2 / p for q, p in zip(questions, chances, strict=True))


def _chances(questions: Sequence[Question], level: float, size: int) -> list[float]:
    """How often each question is asked, `size` in all and at most always, so that margins are equal."""
    needs = [q.variance(level) * q.importance**2 for q in questions]
    found = [0.0] * len(needs)
    free = set(range(len(needs)))
    left = float(size)
    while free:
        total = sum(needs[j] for j in free)
        full = {j for j in free if needs[j] * left >= total * (1 - 1e-12)}
        if not full or left <= 0:
            for j in free:
                found[j] = needs[j] * left / total
            break
        for j in full:
            found[j] = 1.0
        free -= full
        left -= len(full)
    return found


def _subsets(count: int, size: int, chances: list[float], alike: bool) -> list[tuple[tuple[int, ...], float]]:
    """Sets of questions with shares that give every question its chance: all sets where all chances are equal, which
    asks every pair of somebody; else by a comb of `size` teeth over the line of chances."""
    if alike and math.comb(count, size) <= MOST_ARRANGED:
        every = list(combinations(range(count), size))
        return [(members, 1 / len(every)) for members in every]
    edges = np.concatenate(([0.0], np.cumsum(chances)))
    edges[-1] = size
    starts = sorted({0.0, *(float(e % 1.0) for e in edges[1:-1])})
    found: dict[tuple[int, ...], float] = {}
    for start, stop in zip(starts, [*starts[1:], 1.0], strict=True):
        if stop - start < 1e-12:
            continue
        teeth = (start + stop) / 2 + np.arange(size)
        members = tuple(sorted(set((np.searchsorted(edges, teeth, side="right") - 1).tolist())))
        found[members] = found.get(members, 0.0) + stop - start
    return list(found.items())


# -- split


def split(epsilon: Fraction, questions: Sequence[Question]) -> tuple[dict[str, Fraction], Costs]:
    """The ε of each question, adding up to the budget exactly, with equal margins."""
    levels = _equal_margins(float(epsilon), questions)
    rounded = _rounded(epsilon, levels)
    variances = [
        q.variance(float(e)) if q.goal is None else q.cost(q.best(e).matrix)
        for q, e in zip(questions, rounded, strict=True)
    ]
    named = {q.name: e for q, e in zip(questions, rounded, strict=True)}
    return named, costs("split", questions, float(len(questions)), variances)


def _equal_margins(total: float, questions: Sequence[Question]) -> list[float]:
    """Levels at which n × variance × importance² is the same for all: each falls with its level. A question that is as
    good as unrandomised asks for no more: what is left over is spread in proportion."""
    if len({q.alike for q in questions}) == 1:
        return [total / len(questions)] * len(questions)
    floor, top = math.log(total * 1e-9), math.log(total)

    floors = {q.name: q.variance(float(LARGEST_EPSILON)) * (1 + UNRANDOMISED) * q.importance**2 for q in questions}

    def level(question: Question, log_cost: float) -> float:
        enough = max(log_cost, math.log(floors[question.name]))

        def cheap(log_level: float) -> bool:
            return math.log(question.variance(math.exp(log_level)) * question.importance**2) <= enough

        return math.exp(bisected(cheap, floor, top)) if cheap(top) else total

    def affordable(log_cost: float) -> bool:
        return sum(level(q, log_cost) for q in questions) <= total

    found = bisected(affordable, -60.0, 120.0)
    levels = [level(q, found) for q in questions]
    return [e * total / sum(levels) for e in levels]


def _rounded(total: Fraction, levels: list[float]) -> list[Fraction]:
    """Decimals that add up to the total: each rounded down, the rest to the largest; equal parts stay equal."""
    if len(set(levels)) == 1:
        return [total / len(levels)] * len(levels)
    unit = Fraction(10) ** (math.floor(math.log10(total)) - DIGITS + 1)
    rounded = [max(unit, math.floor(Fraction(e) / unit) * unit) for e in levels]
    rounded[levels.index(max(levels))] += total - sum(rounded, Fraction(0))
    return rounded
