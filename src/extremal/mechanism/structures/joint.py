"""One report for the answers to several questions: a random block of questions, and one coin for the whole block.

A record is x = (x_1, …, x_J), one of k_j answers for each question. Each question has *families*: a base law ν and a
truth channel R(·|x). An *assignment*, drawn with its weight whatever the record is, says which questions are asked, in
blocks. Within a block one coin falls for all: with probability γ = coin/2^53 every question of the block reports by
R_j(·|x_j), otherwise by ν_j. Questions outside the assignment are not asked. So a block is

    P(y|x) = (1 − γ)·Π ν_j(y_j) + γ·Π R_j(y_j|x_j).

With o_j = max R_j(y|x)/ν_j(y), the *odds* of a family, the ratio of two entries of a column is at most

    1 + γ/(1 − γ)·Π o_j,

and some report attains it: every R_j is 0 somewhere in each column. The level of an assignment is the product over its
blocks, whose coins are independent; that of the mechanism is the largest over assignments. All of this is decided in
integers, from the coins and the odds alone.

Two kinds of family. *All sets of d answers* (`AllSets`): ν is uniform on them, R uniform on those with x; odds k/d.
*Of a mechanism* Q with positive weights (`Decomposed`): with l_y the least weight of column y, ν is proportional to l_y
and R(y|x) to Q(y|x) − l_y; every staircase mechanism is e^ε − 1 copies of the second on top of the first.

Seen alone, question j is its own mechanism (1 − γ)ν_j + γR_j: at e^{ε_j} = 1 + γ/(1 − γ)·o_j. A mixture of assignments
keeps a question's reports apart by *kind*, its family and its coin: every estimator of one question applies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, count, product
from math import comb, prod
from typing import Any, ClassVar, Self

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Column, Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR, Floats, Weights
from extremal.exact.written import refuse_other_fields
from extremal.mechanism.structures.structure import stored_list, stored_weight
from extremal.mechanism.structures.unlisted import LISTED_FOR_CHECKS, Unlisted

COIN_BITS = 53  # of every coin and of the weights of assignments: what a double of a browser holds exactly
COIN = 1 << COIN_BITS
LISTED_REPORTS = 4096  # of one family: beyond, reports are sets that are never listed
MOST_FAMILY_ENTRIES = 1 << 20  # of a mechanism that is decomposed
MOST_ASSIGNMENTS = 1 << 13  # what a file and a device read in a blink
MOST_QUESTIONS = 1 << 12  # more than anybody answers
MOST_ANSWERS = 1 << 24  # as many as a mechanism has inputs
MOST_HELD = 1 << 14  # answers of a set: beyond, counting the sets alone takes seconds


@dataclass(frozen=True)
class AllSets:
    """All sets of `size` of the `k` answers; with size 1 the answers themselves."""

    k: int
    size: int

    def __post_init__(self) -> None:
        whole = type(self.k) is int and type(self.size) is int
        if not whole or not 2 <= self.k <= MOST_ANSWERS or not 1 <= self.size < self.k:
            raise InvalidParameter(
                f"a set has at least one of at most {MOST_ANSWERS:,} answers and not all of them",
                parameter="k, size",
                value=(self.k, self.size),
            )
        if min(self.size, self.k - self.size) > MOST_HELD:
            raise InvalidParameter(
                f"a set must hold at most {MOST_HELD:,} answers, or all but as many",
                parameter="k, size",
                value=(self.k, self.size),
            )

    @property
    def odds(self) -> Fraction:
        return Fraction(self.k, self.size)

    @cached_property
    def reports(self) -> int:
        return comb(self.k, self.size)

    def base(self) -> Floats:
        """ν, as floats."""
        return np.full(self.reports, 1 / self.reports)

    def truth(self) -> Floats:
        """R, k × reports, as floats; the sets in lexicographic order."""
        found = np.zeros((self.k, self.reports))
        for y, members in enumerate(combinations(range(self.k), self.size)):
            found[list(members), y] = 1 / comb(self.k - 1, self.size - 1)
        return found

    def proportions(self) -> Iterator[tuple[int, list[int]]]:
        """For each report, integers in the proportion ν(y) : R(y|x), x = 0, 1, …"""
        for members in combinations(range(self.k), self.size):
            yield self.size, [self.k if x in members else 0 for x in range(self.k)]

    def to_json(self) -> dict[str, Any]:
        return {"answers": self.k, "size": self.size}


@dataclass(frozen=True, eq=False)
class Decomposed:
    """What all answers share of a mechanism's weights, and the rest: `weights`, k×m, positive, rows of one sum."""

    weights: Weights

    def __post_init__(self) -> None:
        array = self.weights
        if array.ndim != 2 or array.size > MOST_FAMILY_ENTRIES or array.shape[0] < 2 or array.dtype != np.int64:
            raise InvalidParameter(
                f"a family has rows of at most {MOST_FAMILY_ENTRIES:,} whole weights in all",
                parameter="shape of weights",
                value=array.shape,
            )
        sums = {sum(row) for row in array.tolist()}
        if (array <= 0).any() or len(sums) != 1 or sums.pop() > DENOMINATOR or not self.excess.any():
            raise InvalidParameter(
                "weights must be positive, sum to the same in every row, and differ between answers",
                parameter="weights",
                value=array.shape,
            )
        array.setflags(write=False)

    @property
    def k(self) -> int:
        return int(self.weights.shape[0])

    @property
    def reports(self) -> int:
        return int(self.weights.shape[1])

    @cached_property
    def low(self) -> Weights:
        """ν times its sum."""
        return np.asarray(self.weights.min(axis=0))

    @cached_property
    def excess(self) -> Weights:
        """R times the sum of each of its rows, which is the same for all."""
        return np.asarray(self.weights - self.low)

    @cached_property
    def odds(self) -> Fraction:
        low, rest = self.low.tolist(), sum(self.excess[0].tolist())
        return max(Fraction(h, v) for h, v in zip(self.excess.max(axis=0).tolist(), low, strict=True)) * Fraction(
            sum(low), rest
        )

    def base(self) -> Floats:
        return np.asarray(self.low / float(sum(self.low.tolist())))

    def truth(self) -> Floats:
        return np.asarray(self.excess / float(sum(self.excess[0].tolist())))

    def proportions(self) -> Iterator[tuple[int, list[int]]]:
        """For each report, integers in the proportion ν(y) : R(y|x), x = 0, 1, …"""
        shared, rest = sum(self.low.tolist()), sum(self.excess[0].tolist())
        for low, excess in zip(self.low.tolist(), self.excess.T.tolist(), strict=True):
            yield low * rest, [v * shared for v in excess]

    def to_json(self) -> dict[str, Any]:
        return {"weights": [[str(w) for w in row] for row in self.weights.tolist()]}


Family = AllSets | Decomposed


@dataclass(frozen=True)
class Block:
    """Questions under one coin: their numbers, increasing; the number of each one's family; coin/2^53 for the truth."""

    questions: tuple[int, ...]
    families: tuple[int, ...]
    coin: int


@dataclass(frozen=True)
class Assignment:
    """The blocks that a person is asked, with probability weight/2^53."""

    blocks: tuple[Block, ...]
    weight: int

    @property
    def asked(self) -> tuple[int, ...]:
        return tuple(j for block in self.blocks for j in block.questions)


@dataclass(frozen=True)
class Kind:
    """How a question is asked in some assignments: its family, the coin, and the weight of those assignments."""

    family: int
    coin: int
    weight: int


@dataclass(frozen=True, eq=False)
class JointBlocks(Unlisted):
    """For each question its families, and the assignments of questions to people.

    Guarantee: rows sum to one and the level is that of `columns`, exactly; nothing of the size of the product of the
    answers is formed.

    >>> two = ((AllSets(2, 1),), (AllSets(2, 1),))
    >>> coin = coin_at_most(Exponential(2), Fraction(4))
    >>> made = JointBlocks(two, (Assignment((Block((0, 1), (0, 0), coin),), COIN),))
    >>> coin, made.r, made.m
    (5539242524516729, 4, 4)
    """

    families: tuple[tuple[Family, ...], ...]
    assignments: tuple[Assignment, ...]
    kind: ClassVar[str] = "joint_blocks"
    denominator: ClassVar[int] = COIN  # of each coin

    def __post_init__(self) -> None:
        if not 1 <= len(self.families) <= MOST_QUESTIONS or not all(self.families):
            raise InvalidParameter(
                f"there must be 1 to {MOST_QUESTIONS} questions, each with a family",
                parameter="questions",
                value=len(self.families),
            )
        if any(len({family.k for family in options}) != 1 for options in self.families):
            raise InvalidParameter("the families of a question must have the same answers", parameter="families")
        self._refuse_weights([assignment.weight for assignment in self.assignments])
        for assignment in self.assignments:
            self._refuse(assignment)

    def _refuse_weights(self, weights: list[int]) -> None:
        if not 1 <= len(weights) <= MOST_ASSIGNMENTS:
            raise InvalidParameter(
                f"there must be 1 to {MOST_ASSIGNMENTS} assignments", parameter="assignments", value=len(weights)
            )
        if set(map(type, weights)) != {int} or min(weights) < 1 or sum(weights) != COIN:
            raise InvalidParameter(
                "the weights of the assignments must be positive and sum to 2^53",
                parameter="weights",
                value=sum(weights),
            )

    def _refuse(self, assignment: Assignment) -> None:
        """Raise unless every block asks questions that there are, each once."""
        asked = assignment.asked
        if not assignment.blocks or len(set(asked)) != len(asked) or not set(asked) <= set(range(len(self.families))):
            raise InvalidParameter("an assignment asks some questions, each once", parameter="questions", value=asked)
        for block in assignment.blocks:
            self._refuse_block(block)

    def _refuse_block(self, block: Block) -> None:
        """Raise unless it asks each question by a family that it has, with a coin."""
        fits = 0 < len(block.questions) == len(block.families) and list(block.questions) == sorted(block.questions)
        if not fits or not all(
            0 <= f < len(self.families[j]) for j, f in zip(block.questions, block.families, strict=True)
        ):
            raise InvalidParameter(
                "a block names questions in their order, and a family of each",
                parameter="families",
                value=block.families,
            )
        if type(block.coin) is not int or not 0 < block.coin < COIN:
            raise InvalidParameter("a coin must lie between 0 and 2^53", parameter="coin", value=block.coin)

    # -- what it says

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of answers of each question."""
        return tuple(options[0].k for options in self.families)

    @property
    def r(self) -> int:
        return prod(self.sizes)

    @property
    def m(self) -> int:
        return sum(prod(f.reports for block in a.blocks for f in self.of(block)) for a in self.assignments)

    def of(self, block: Block) -> list[Family]:
        """The families of a block's questions."""
        return [self.families[j][f] for j, f in zip(block.questions, block.families, strict=True)]

    def ratio(self, assignment: Assignment) -> tuple[int, int]:
        """The largest ratio of two entries of a column, as integers (high, low)."""
        high, low = 1, 1
        for block in assignment.blocks:
            odds = prod((family.odds for family in self.of(block)), start=Fraction(1))
            below = (COIN - block.coin) * odds.denominator
            high, low = high * (below + block.coin * odds.numerator), low * below
        return high, low

    def columns(self) -> Iterator[Column]:
        """Two orbits for each assignment that bound every column; the ratio of their weights is attained."""
        for i, assignment in enumerate(self.assignments):
            high, low = self.ratio(assignment)
            for j in sorted({1, self.r - 1}):
                members = IndexSet(((0, j),))
                yield Column(i, ((low, members.complement(self.r)), (high, members)), orbit=True, bound=True)

    def patterns(self) -> Iterator[Column]:
        if self.r * self.m > LISTED_FOR_CHECKS:
            return self.columns()
        return self._every_column()

    def _every_column(self) -> Iterator[Column]:
        """The columns one by one, each up to a factor: the product of what its blocks weigh."""
        number = count()
        for assignment in self.assignments:
            for blocks in product(*map(self._weighed, assignment.blocks)):
                entries = np.array([prod(weights) for weights in zip(*blocks, strict=True)], dtype=object)
                groups = ((w, IndexSet.of(np.flatnonzero(entries == w))) for w in sorted(set(entries.tolist())))
                yield Column(next(number), tuple(groups))

    def _weighed(self, block: Block) -> Iterator[list[int]]:
        """(1 − γ)·Πν_j + γ·ΠR_j of each report of a block, for every record, up to a factor."""
        records = list(product(*map(range, self.sizes)))
        for reports in product(*(family.proportions() for family in self.of(block))):
            told = [(j, truth) for j, (_, truth) in zip(block.questions, reports, strict=True)]
            chance = (COIN - block.coin) * prod(base for base, _ in reports)
            yield [chance + block.coin * prod(truth[record[j]] for j, truth in told) for record in records]

    # As what a notion reads: records are their own rows.

    @property
    def k(self) -> int:
        return self.r

    @property
    def row_classes(self) -> int:
        return self.r

    row_of: ClassVar[None] = None

    def distinct_rows(self) -> Weights:
        return self.rows()

    # -- one question, two questions

    def kinds(self, question: int) -> list[Kind]:
        """The ways in which a question is asked, in order of first appearance; empty if it never is."""
        found: dict[tuple[int, int], int] = {}
        for assignment in self.assignments:
            for block in assignment.blocks:
                for j, family in zip(block.questions, block.families, strict=True):
                    if j == question:
                        found[family, block.coin] = found.get((family, block.coin), 0) + assignment.weight
        return [Kind(family, coin, weight) for (family, coin), weight in found.items()]

    def asked(self, question: int) -> Fraction:
        """The probability that a person is asked a question."""
        return Fraction(sum(kind.weight for kind in self.kinds(question)), COIN)

    def alone(self, question: int, kind: Kind) -> Floats:
        """The matrix of a question's own reports of one kind: (1 − γ)ν + γR."""
        family, gamma = self.families[question][kind.family], kind.coin / COIN
        return np.asarray((1 - gamma) * family.base() + gamma * family.truth())

    def mixture(self, question: int) -> Floats:
        """The matrix of a question's own reports, kind after kind, given that it is asked."""
        kinds = self.kinds(question)
        total = sum(kind.weight for kind in kinds)
        return np.hstack([kind.weight / total * self.alone(question, kind) for kind in kinds])

    def _no_list(self) -> tuple[str, str, str]:
        return (
            "a report is an answer, or a set of answers, to each question that was asked",
            "questions",
            str(len(self.families)),
        )

    def in_words(self) -> list[tuple[str, float]]:
        coins = [
            (block.coin / COIN, assignment.weight / COIN)
            for assignment in self.assignments
            for block in assignment.blocks
        ]
        truth = sum(coin * weight for coin, weight in coins) / sum(weight for _, weight in coins)
        return [("all asked questions of a block by the truth", truth), ("all of them at random", 1 - truth)]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "questions": [[family.to_json() for family in options] for options in self.families],
            "assignments": [
                {
                    "weight": str(a.weight),
                    "blocks": [
                        {"questions": list(b.questions), "families": list(b.families), "coin": str(b.coin)}
                        for b in a.blocks
                    ],
                }
                for a in self.assignments
            ],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        families = tuple(
            tuple(_family(family) for family in stored_list(options, "families"))
            for options in stored_list(content["questions"], "questions")
        )
        assignments = tuple(_assignment(a) for a in stored_list(content["assignments"], "assignments"))
        return cls(families, assignments)


def _family(content: Any) -> Family:
    if isinstance(content, dict) and set(content) == {"answers", "size"}:
        return AllSets(content["answers"], content["size"])
    if isinstance(content, dict) and set(content) == {"weights"}:
        rows = [
            [stored_weight(w) for w in stored_list(row, "weights")]
            for row in stored_list(content["weights"], "weights")
        ]
        if len({len(row) for row in rows}) == 1:
            return Decomposed(np.array(rows, dtype=np.int64))
    raise MalformedFile(
        "a family has answers and size, or rows of weights", parameter="family", value=str(content)[:60]
    )


def _assignment(content: Any) -> Assignment:
    refuse_other_fields(content, ("weight", "blocks"), "an assignment")
    blocks = tuple(_block(block) for block in stored_list(content["blocks"], "blocks"))
    return Assignment(blocks, stored_weight(content["weight"]))


def _block(content: Any) -> Block:
    refuse_other_fields(content, ("questions", "families", "coin"), "a block")
    numbers = [tuple(stored_list(content[name], name)) for name in ("questions", "families")]
    if any(type(number) is not int for part in numbers for number in part):
        raise MalformedFile("a block names questions and families by numbers", parameter="block")
    return Block(numbers[0], numbers[1], stored_weight(content["coin"]))


def coin_at_most(exponential: Exponential, odds: Fraction) -> int:
    """The largest coin of a block with these odds at a level: 1 + coin/(2^53 − coin)·odds ≤ e^ε; at least 1 where that
    is private, and below 2^53.

    >>> coin_at_most(Exponential(4), Fraction(16)), coin_at_most(Exponential(4), Fraction(10))
    (6936523697887470, 7590931761103695)
    """
    top, bottom = odds.numerator, odds.denominator

    def private(coin: int) -> bool:
        below = (COIN - coin) * bottom
        return exponential.at_least(below + coin * top, below)

    least, most = 0, COIN - 1
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if private(middle) else (least, middle - 1)
    if not least:
        raise InvalidParameter("no coin of 2^-53 is as private as this", parameter="epsilon", value=exponential.epsilon)
    return least
