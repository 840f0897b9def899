"""Goals: what a mechanism is designed for, read from what the file says (§3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.checker.grammar import (
    MOST_NAMED,
    Content,
    Names,
    count,
    exact_double,
    exactly,
    flag,
    list_of,
    printed_double,
    rational,
    read_labels,
    read_set_label,
)
from extremal.checker.numbers import ONE, ZERO, Uncheckable, Vector, afford, expect, require
from extremal.checker.sources import Prior, Source, read_prior, read_source

MOST_OF_A_WORKLOAD = 4096  # inputs of a k×k matrix


@dataclass(frozen=True)
class DivergenceLeaf:
    """Σ_y M₁f(M₀/M₁); the parameter is a of AlphaDivergence, γ of HockeyStick."""

    kind: str
    p0: Prior
    p1: Prior
    parameter: Fraction = ZERO

    @property
    def k(self) -> int:
        return len(self.p0)


@dataclass(frozen=True)
class InformationLeaf:
    """Mutual information between input and report at a prior, in nats."""

    prior: Prior

    @property
    def k(self) -> int:
        return len(self.prior)


Leaf = DivergenceLeaf | InformationLeaf
Weighted = tuple[Fraction, Leaf]


@dataclass(frozen=True)
class Gain:
    """A utility: the least of several means of leaves. A single utility is the least of one mean of one leaf."""

    parts: tuple[tuple[Weighted, ...], ...]
    least: bool
    k: int

    def leaves(self, mix: Sequence[Fraction]) -> list[Weighted]:
        """Leaves of positive weight of the mean that `mix` makes of the parts: the least is at most that."""
        n = len(self.parts)
        require(len(mix) in (0, n if self.least else 1), "mix has a number for each part, or none")
        require(all(m >= 0 for m in mix) and (not mix or sum(mix) > 0), "mix is not negative, and not all 0")
        shares = [m / sum(mix) for m in mix] or [Fraction(1, n)] * n
        return [(s * w, leaf) for s, part in zip(shares, self.parts, strict=True) for w, leaf in part if s * w]


@dataclass(frozen=True)
class DistortionGoal:
    """A distortion: max over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y)."""

    source: Source
    distances: tuple[tuple[Fraction, ...], ...] | None
    """None for Hamming: d = 1 off the diagonal, which need not be written out."""
    outputs: Names | None = None

    @property
    def k(self) -> int:
        return self.source.k

    @property
    def columns(self) -> int:
        """How many outputs have losses."""
        return self.k if self.distances is None else len(self.distances[0])

    def column(self, y: int) -> Vector:
        """d(·, y)."""
        if self.distances is None:
            return [Fraction(int(x != y)) for x in range(self.k)]
        return [row[y] for row in self.distances]


@dataclass(frozen=True)
class LeastLevel:
    """The least ε at which a mechanism has Hamming distortion at most D."""

    source: Source
    distortion: Fraction

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class StatisticsGoal:
    """n × the total mean squared error of statistics A: W = AᵀA = gram/unit, gram whole."""

    source: Source
    gram: tuple[tuple[int, ...], ...]
    unit: int

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class QuestionShares:
    """n × the squared error of the shares of every question of a record, records equally likely: w_j times the total
    of question j, added up; or the largest of w_j times their mean."""

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    largest: bool

    @property
    def k(self) -> int:
        return math.prod(self.sizes)


@dataclass(frozen=True)
class QuestionTables:
    """n × the squared error of the cells of the cross-table of two questions of a record, records equally likely: the
    total of a table, the mean over all pairs of questions."""

    sizes: tuple[int, ...]

    @property
    def k(self) -> int:
        return math.prod(self.sizes)


Goal = Gain | DistortionGoal | LeastLevel | StatisticsGoal | QuestionShares | QuestionTables

DIVERGENCES = (
    "KL",
    "ReverseKL",
    "SymmetricKL",
    "TotalVariation",
    "ChiSquared",
    "SquaredHellinger",
    "JensenShannon",
    "AlphaDivergence",
    "HockeyStick",
)
PARAMETERS = {"AlphaDivergence": "alpha", "HockeyStick": "gamma"}
OF_USERS = ("Sublinear", "ConvexUtility", "FDivergence")


def read_goal(given: Any) -> Goal:
    """A goal: its name and exactly the fields of that goal; a user's function is not known."""
    kind = given.get("utility") if isinstance(given, dict) else None
    expect(isinstance(kind, str), "a goal has a name")
    if kind == "WorstCase":
        parts = [list(leaves_of_mean(part)) for part in parts_of(given)]
        return gain_of(parts, least=True)
    if kind == "QuestionShares":
        return read_question_shares(exactly(given, {"utility", "sizes", "weights", "largest"}, "shares of questions"))
    if kind == "QuestionTables":
        sizes = tuple(list_of(count)(exactly(given, {"utility", "sizes"}, "tables of questions")["sizes"]))
        expect(2 <= len(sizes) <= 64 and min(sizes) >= 2, "2 to 64 questions with two answers or more")
        return QuestionTables(sizes)
    if kind in COSTS:
        names, read = COSTS[str(kind)]
        content = exactly(given, {"utility", "source", *names}, f"the goal {kind}")
        return read(content, read_source(content["source"]))
    return gain_of([list(leaves_of_mean(given))], least=False)


def gain_of(parts: Sequence[Sequence[Weighted | None]], least: bool) -> Gain:
    """A utility of parts that are about the same inputs; one of a user (None) makes all of it not known."""
    known = [leaf for part in parts for leaf in part if leaf is not None]
    expect(len({leaf.k for _, leaf in known}) <= 1, "all parts are about the same inputs")
    if len(known) < sum(map(len, parts)):
        raise Uncheckable("a user's function")
    return Gain(tuple(tuple(leaf for leaf in part if leaf is not None) for part in parts), least, known[0][1].k)


def parts_of(given: Any) -> list[Any]:
    """The parts of a mean or of a worst case."""
    parts = exactly(given, {"utility", "utilities"}, "a mean or a worst case")["utilities"]
    expect(isinstance(parts, list) and len(parts) > 0, "it has parts")
    return list(parts)


def leaves_of_mean(given: Any) -> Iterator[Weighted | None]:
    """The leaves of a mean with their weights, in the order in which they are written; None for a user's function."""
    kind = given.get("utility") if isinstance(given, dict) else None
    if kind == "Average":
        parts = parts_of(given)
        for part in parts:
            for leaf in leaves_of_mean(part):
                yield None if leaf is None else (leaf[0] / len(parts), leaf[1])
    elif kind == "MutualInformation":
        yield ONE, InformationLeaf(read_prior(exactly(given, {"utility", "prior"}, "information")["prior"]))
    elif kind in OF_USERS:
        yield None
    else:
        expect(kind in DIVERGENCES, "a goal that files hold")
        yield ONE, read_divergence(str(kind), given)


def read_divergence(kind: str, given: Any) -> DivergenceLeaf:
    """A divergence between two hypotheses; AlphaDivergence of order 0 is ReverseKL, of order 1 KL."""
    more = {PARAMETERS[kind]} if kind in PARAMETERS else set()
    content = exactly(given, {"utility", "p0", "p1"} | more, f"the divergence {kind}")
    p0, p1 = (read_prior(content[key]) for key in ("p0", "p1"))
    expect(len(p0) == len(p1), "hypotheses about the same inputs")
    parameter = rational(content[PARAMETERS[kind]]) if kind in PARAMETERS else ZERO
    expect(kind != "HockeyStick" or parameter >= 0, "γ ≥ 0")
    if kind == "AlphaDivergence" and parameter in (0, 1):
        kind = "KL" if parameter else "ReverseKL"
    return DivergenceLeaf(kind, p0, p1, parameter)


def read_distortion(given: Content, of: Source) -> DistortionGoal:
    rows = list_of(list_of(printed_double))(given["distances"])
    expect(len(rows) == of.k and len(rows[0]) > 0, "a row of losses for each input")
    expect(all(len(row) == len(rows[0]) and min(row) >= 0 for row in rows), "losses are not negative, rows of a length")
    outputs = None if given["outputs"] is None else read_labels(given["outputs"], read_set_label, MOST_NAMED)
    return DistortionGoal(of, tuple(map(tuple, rows)), outputs)


def read_hamming(_given: Content, of: Source) -> DistortionGoal:
    return DistortionGoal(of, None)


def read_least_level(given: Content, of: Source) -> LeastLevel:
    distortion = rational(given["distortion"])
    expect(0 <= distortion <= 1, "a distortion between 0 and 1")
    return LeastLevel(of, distortion)


def of_rows(rows: Sequence[Sequence[Fraction]], of: Source) -> StatisticsGoal:
    """W = AᵀA of integers over the smallest power of two, squared."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    expect(len(rows) > 0 and all(len(row) == of.k for row in rows), "a number for each input")
    afford(len(rows) * of.k**2, 2**26, "the gram matrix of a workload")
    below = math.lcm(*(v.denominator for row in rows for v in row))  # a power of two: entries are doubles
    scaled = [[int(v * below) for v in row] for row in rows]
    columns = list(zip(*scaled, strict=True))
    gram = tuple(tuple(sum(a * b for a, b in zip(one, other, strict=True)) for other in columns) for one in columns)
    return StatisticsGoal(of, gram, below**2)


def read_workload(given: Content, of: Source) -> StatisticsGoal:
    return of_rows(list_of(list_of(exact_double))(given["matrix"]), of)


def read_mean(given: Content, of: Source) -> StatisticsGoal:
    return of_rows([list_of(exact_double)(given["values"])], of)


def read_positions(given: Any, below: int) -> list[int]:
    """Different inputs."""
    found = list_of(count)(given)
    expect(len(found) > 0 and len(set(found)) == len(found), "positions are different, at least one")
    expect(all(0 <= x < below for x in found), f"positions are below {below}")
    return found


def read_cdf(given: Content, of: Source) -> StatisticsGoal:
    """gram_xz is the number of thresholds t with x ≤ t and z ≤ t."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    at = range(of.k - 1) if given["thresholds"] is None else read_positions(given["thresholds"], of.k - 1)
    above = [sum(x <= t for t in at) for x in range(of.k)]
    return StatisticsGoal(of, tuple(tuple(above[max(x, z)] for z in range(of.k)) for x in range(of.k)), 1)


def read_ranges(_given: Content, of: Source) -> StatisticsGoal:
    """gram_xz is the number of ranges that hold both inputs."""
    k = of.k
    expect(k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    gram = tuple(tuple((min(x, z) + 1) * (k - max(x, z)) for z in range(k)) for x in range(k))
    return StatisticsGoal(of, gram, 1)


def read_frequencies(given: Content, of: Source) -> StatisticsGoal:
    """gram is diagonal: the weight of each item."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    items, weights = read_positions(given["items"], of.k), list_of(exact_double)(given["weights"])
    expect(len(items) == len(weights) and min(weights) > 0, "a positive weight for each item")
    below = math.lcm(*(w.denominator for w in weights))
    at = dict(zip(items, weights, strict=True))
    gram = tuple(tuple(int(at.get(x, ZERO) * below) if x == z else 0 for z in range(of.k)) for x in range(of.k))
    return StatisticsGoal(of, gram, below)


def read_question_shares(given: Content) -> QuestionShares:
    sizes, weights = tuple(list_of(count)(given["sizes"])), tuple(list_of(rational)(given["weights"]))
    expect(1 <= len(sizes) <= 64 and min(sizes) >= 2, "1 to 64 questions with two answers or more")
    expect(len(weights) == len(sizes) and min(weights) > 0, "a positive weight of each question")
    return QuestionShares(sizes, weights, flag(given["largest"]))


COSTS: dict[str, tuple[set[str], Callable[[Content, Source], Goal]]] = {
    "Distortion": ({"distances", "outputs"}, read_distortion),
    "Hamming": (set(), read_hamming),
    "LevelAtDistortion": ({"distortion"}, read_least_level),
    "Workload": ({"matrix"}, read_workload),
    "Mean": ({"values"}, read_mean),
    "CDF": ({"thresholds"}, read_cdf),
    "Ranges": (set(), read_ranges),
    "Frequencies": ({"items", "weights"}, read_frequencies),
}
