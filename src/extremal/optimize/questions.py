"""Which blocks of questions to ask under one coin, and how often: the least total cost, or equal margins.

A block B whose families have odds o_j throws a coin γ = c/(c + Π o_j), c = e^ε − 1, and tells I_j(γ) about question j;
n × the error of question j is b_j/I_j with I_j the mean over the blocks that are asked. For all sets of d of k answers,
and the shares, I is μ_j = γ²(o_j − 1)/(k_j − 1) and b_j = 1 − 1/k_j (the whole error) for every distribution of the
answers; so minimising Σ b_j/I_j, or the largest b_j/I_j, over mixtures of blocks is a convex program, solved by column
generation: a block of largest Σ v_j·I_j, v_j = b_j/I_j² or the multipliers of a linear program, is priced and added.

Pricing is a knapsack: a block matters through Π o_j and the sum of its worths v_j·w_j, I_j = γ²·w_j, so that only pairs
that no other pair beats are kept, question by question. For families whose information is no multiple of γ² it is a
proposal; what a block tells is always taken from the block itself. Questions of one class (the same answers, the same
goal, the same importance) are exchanged: a block stands for all its arrangements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from extremal.exact.weights import Floats
from extremal.solver import LinearProgram

MOST_ROUNDS = 400  # of column generation; a dozen is usual
CLOSED = 1e-13  # relative: a block that is better by less is the same up to rounding
USED = 1e-9  # of the people: a block that fewer get is left out
HOPELESS = 1e4  # odds beyond e^ε − 1, times: a coin that never falls on the truth
MOST_STATES = 20_000  # pairs that the pricing keeps: seconds
MOST_ARRANGED = 2048  # blocks of a design, all arrangements counted

Pick = tuple[int, ...]
"""For each question the number of its option, or −1 where it is not asked."""


@dataclass(frozen=True, eq=False)
class FamilyOption:
    """One family of a question: its odds, and what a report tells when the coin is γ.

    Attributes:
        odds: max R/ν.
        information: γ ↦ I, increasing.
        alone: it may be asked only as a block of its own.
    """

    odds: float
    information: Callable[[float], float]
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """What there is to ask: options of each question, b_j, and the class of each question."""

    options: Sequence[Sequence[FamilyOption]]
    costs: Floats
    classes: Sequence[int]

    @property
    def members(self) -> list[list[int]]:
        return [[j for j, c in enumerate(self.classes) if c == g] for g in range(max(self.classes) + 1)]


@dataclass(frozen=True, eq=False)
class BlockDesign:
    """Blocks with the share of the people who get each, all arrangements listed.

    Attributes:
        blocks, shares: what is asked and how often.
        information: I_j of each question.
        value: Σ b_j/I_j, or the largest of them.
        multipliers: v_j ≥ 0 of each question at the optimum.
    """

    blocks: list[Pick]
    shares: list[float]
    information: Floats
    value: float
    multipliers: Floats


def shares_option(k: int, size: int, alone: bool = False) -> FamilyOption:
    """All sets of `size` of k answers, for the shares: I = γ²(k/d − 1)/(k − 1)."""
    worth = (k / size - 1) / (k - 1)
    return FamilyOption(k / size, lambda gamma: gamma * gamma * worth, alone)


def design_blocks(c: float, asked: Asked, largest: bool, per_person: int | None = None) -> BlockDesign:
    """The mixture of blocks of least cost.

    Args:
        c: e^ε − 1.
        asked: the questions.
        largest: the largest b_j/I_j instead of their sum.
        per_person: how many questions every block has; any number if not given.
    """
    groups = asked.members
    costs = np.array([asked.costs[members[0]] for members in groups])
    sizes = np.array([float(len(members)) for members in groups])
    picks = _first(c, asked, per_person)
    columns = [_told(c, asked, pick, groups) for pick in picks]
    weights, value = np.ones(len(picks)) / len(picks), math.inf
    multipliers = np.zeros(len(groups))
    for _ in range(MOST_ROUNDS):
        matrix = np.column_stack(columns)
        weights, multipliers = (_equal if largest else _least)(matrix, costs, sizes)
        told = matrix @ weights
        value = float((costs / told).max()) if largest else float((sizes * costs / told).sum())
        each = np.array([multipliers[g] for g in asked.classes])
        pick = price(c, asked, each, per_person)
        new = _told(c, asked, pick, groups)
        if (multipliers * sizes) @ new <= ((multipliers * sizes) @ matrix).max() * (1 + CLOSED) or pick in picks:
            break
        picks.append(pick)
        columns.append(new)
    used = [(pick, w) for pick, w in zip(picks, weights.tolist(), strict=True) if w > USED]
    blocks, shares = _arranged(used, groups)
    told = np.column_stack(columns) @ weights
    each = np.array([told[g] for g in asked.classes])
    return BlockDesign(blocks, shares, each, value, np.array([multipliers[g] for g in asked.classes]))


def gamma_of(c: float, asked: Asked, pick: Pick) -> float:
    """The coin of a block: c/(c + Π o_j)."""
    log_odds = sum(math.log(asked.options[j][o].odds) for j, o in enumerate(pick) if o >= 0)
    return 1 / (1 + math.exp(log_odds - math.log(c)))


def _told(c: float, asked: Asked, pick: Pick, groups: list[list[int]]) -> Floats:
    """The mean information of a block about the questions of each class."""
    gamma = gamma_of(c, asked, pick)
    own = [asked.options[j][o].information(gamma) if o >= 0 else 0.0 for j, o in enumerate(pick)]
    return np.array([math.fsum(own[j] for j in members) / len(members) for members in groups])


def _first(c: float, asked: Asked, per_person: int | None) -> list[Pick]:
    """For each class a block that asks it: alone, by the option that tells most, or among the first so many."""
    found = []
    count = len(asked.options)
    for members in asked.members:
        j = members[0]
        best = max(
            range(len(asked.options[j])),
            key=lambda o: asked.options[j][o].information(c / (c + asked.options[j][o].odds)),
        )
        others = [] if per_person is None else [i for i in range(count) if i != j][: per_person - 1]
        found.append(tuple(best if i == j else 0 if i in others else -1 for i in range(count)))
    return list(dict.fromkeys(found))


State = tuple[float, float, Pick]
"""A block so far: the logarithm of its odds, its worth, and the options picked."""


def price(c: float, asked: Asked, multipliers: Floats, per_person: int | None = None) -> Pick:
    """The block of largest γ²·Σ v_j·w_j; w_j is I_j where the coin always falls on the truth."""
    candidates = [pick for _, _, pick in _knapsack(c, asked, multipliers, per_person) if max(pick) >= 0]
    if per_person in (None, 1):
        candidates += _alone(asked)
    return max((_worth(c, asked, multipliers, pick), pick) for pick in candidates)[1]


def _knapsack(c: float, asked: Asked, multipliers: Floats, per_person: int | None) -> list[State]:
    """Blocks that no other beats in odds and worth, question by question; of `per_person` questions, where given."""
    # With a number of questions: states by how many are asked so far, and no limit of odds.
    limit = math.log(max(c, 4 / HOPELESS)) + math.log(HOPELESS) if per_person is None else math.inf
    states: list[list[State]] = [[(0.0, 0.0, ())], *([] for _ in range(per_person or 0))]
    for j, options in enumerate(asked.options):
        grown: list[list[State]] = [[(odds, worth, (*pick, -1)) for odds, worth, pick in part] for part in states]
        if multipliers[j] > 0 or per_person is not None:
            for number, part in enumerate(states):
                after = number if per_person is None else number + 1
                if after < len(states):
                    grown[after] += _asked_too(part, options, float(multipliers[j]), limit)
        states = [_undominated(part) for part in grown]
    return states[-1]


def _asked_too(states: list[State], options: Sequence[FamilyOption], multiplier: float, limit: float) -> list[State]:
    """Every block with every option of one more question."""
    return [
        (odds + math.log(option.odds), worth + multiplier * option.information(1.0), (*pick, o))
        for odds, worth, pick in states
        for o, option in enumerate(options)
        if not option.alone and odds + math.log(option.odds) <= limit
    ]


def _alone(asked: Asked) -> list[Pick]:
    """Options that may be asked only as blocks of their own."""
    count = len(asked.options)
    return [
        tuple(o if i == j else -1 for i in range(count))
        for j, options in enumerate(asked.options)
        for o, option in enumerate(options)
        if option.alone
    ]


def _worth(c: float, asked: Asked, multipliers: Floats, pick: Pick) -> float:
    gamma = gamma_of(c, asked, pick)
    return math.fsum(
        float(multipliers[j]) * asked.options[j][o].information(gamma) for j, o in enumerate(pick) if o >= 0
    )


def _undominated(states: list[tuple[float, float, Pick]]) -> list[tuple[float, float, Pick]]:
    """Those with less worth at the same or larger odds are dropped."""
    kept: list[tuple[float, float, Pick]] = []
    for state in sorted(states, key=lambda s: (s[0], -s[1])):
        if not kept or state[1] > kept[-1][1] * (1 + CLOSED):
            kept.append(state)
    if len(kept) > MOST_STATES:  # thinned out evenly: a proposal is enough
        kept = [kept[i] for i in np.linspace(0, len(kept) - 1, MOST_STATES).astype(int).tolist()]
    return kept


def _equal(matrix: Floats, costs: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """The largest z with Σ_B θ_B·I_cB ≥ z·b_c; the multipliers are those of one question of each class."""
    scaled = matrix / costs[:, None]
    unit = scaled.max()
    groups, count = scaled.shape
    program = LinearProgram([*[0.0] * groups, 1.0], [*[math.inf] * groups, 1.0])
    block = np.vstack([scaled / unit, np.ones(count)])
    program.add(np.column_stack([block, np.append(-np.ones(groups), 0.0)]), np.append(np.zeros(count), 1.0))
    answer = program.polished(program.solve())
    weights = answer.x[:-1] / answer.x[:-1].sum()
    return weights, np.maximum(-answer.duals[:-1], 0.0) / costs / sizes


def _least(matrix: Floats, costs: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """The weights of least Σ n_c·b_c/I_c, by sequential quadratic programs on the simplex."""
    from scipy.optimize import minimize

    scale = sizes * costs
    start = np.full(matrix.shape[1], 1 / matrix.shape[1])
    unit = float((scale / (matrix @ start)).sum())
    least = (matrix @ start) * 1e-9  # where a step looks: no cost is divided by zero

    def cost(weights: Floats) -> tuple[float, Floats]:
        told = np.maximum(matrix @ weights, least)
        return float((scale / told).sum() / unit), -(matrix.T @ (scale / told**2)) / unit

    found: Any = minimize(
        cost,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * start.size,
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones_like(w)}],
        options={"ftol": 1e-16, "maxiter": 500},
    )
    weights = np.maximum(found.x, 0.0) / np.maximum(found.x, 0.0).sum()
    weights = weights if cost(weights)[0] <= cost(start)[0] else start
    return weights, costs / (matrix @ weights) ** 2


def _arranged(used: list[tuple[Pick, float]], groups: list[list[int]]) -> tuple[list[Pick], list[float]]:
    """Every arrangement of each block within the classes, or as many shifts as keep every question alike."""
    total, listed = sum(weight for _, weight in used), []
    for pick, weight in used:
        every = _permuted(pick, groups, MOST_ARRANGED // len(used))
        listed += [(one, weight / total / len(every)) for one in every]
    merged: dict[Pick, float] = {}
    for one, share in listed:
        merged[one] = merged.get(one, 0.0) + share
    return list(merged), list(merged.values())


def _permuted(pick: Pick, groups: list[list[int]], most: int) -> list[Pick]:
    found = [pick]
    for members in groups:
        own = [pick[j] for j in members]
        if len(set(own)) == 1:
            continue
        orders = list(islice(_distinct(own), most + 1))
        if len(orders) * len(found) > most:  # shifts alone, which are as even
            orders = [tuple(own[s:] + own[:s]) for s in range(len(own))]
        grown = []
        for one in found:
            for order in orders:
                changed = list(one)
                for j, option in zip(members, order, strict=True):
                    changed[j] = option
                grown.append(tuple(changed))
        found = grown
    return found


def _distinct(values: list[int]) -> Any:
    """The different orders of a list."""
    if len(set(values)) <= 1:
        yield tuple(values)
        return
    rarest = min(set(values), key=lambda v: (values.count(v), v))
    rest = [v for v in values if v != rarest]
    for inner in _distinct(rest):
        for places in combinations(range(len(values)), values.count(rarest)):
            left = iter(inner)
            yield tuple(rarest if i in places else next(left) for i in range(len(values)))
