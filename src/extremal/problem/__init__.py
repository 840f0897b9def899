"""The problem as a value: everything that a proof knows of a notion and of a goal, and nothing else.

A proof about `ex.LDP(1)` and `ex.KL(p, q)` needs e^ε, two priors and the name of a divergence. `problem_of` makes these
frozen values from a notion or a utility, `problem.reading` from what a file says; so the kernel that checks proofs sees
neither utilities nor their floats. Priors and sources are shared objects: a million symbols are not written out.

What a class of this package states is entered by `states` where the class is defined. Only the very class has an
entry: a subclass may compute anything, and is a user's function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, TypeVar, get_args

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from extremal.exact import Exponential, Prior, decimal_text
from extremal.sources import SourceClass

Integers = npt.NDArray[np.object_]  # of any size

RESOLUTION = Fraction(1, 1 << 80)
"""ρ: a bias costs what it would in n × mean squared error at n = 1/ρ, more people than there are."""

NOT_IDENTIFIED = Fraction(1, 1 << 20)
"""A cost above this share of tr(A_cA_cᵀ)/ρ, what knowing nothing costs, counts as infinite."""


# -- notions --


@dataclass(frozen=True, eq=False)
class Pure:
    """ε-LDP; ratio is e^ε."""

    ratio: Exponential


@dataclass(frozen=True, eq=False)
class Coupled:
    """(ε,δ)-LDP with δ > 0: all columns together may break the ratio by δ."""

    ratio: Exponential
    delta: Fraction


@dataclass(frozen=True, eq=False)
class Lift:
    """PML and LIP for one prior: 1/low ≤ Q(y|x)/P(y) ≤ high; low is None where there is no lower bound."""

    prior: Prior
    low: Exponential | None
    high: Exponential


@dataclass(frozen=True, eq=False)
class OverClass:
    """PML for each prior of a class."""

    source: SourceClass
    ratio: Exponential


@dataclass(frozen=True, eq=False)
class Metric:
    """Metric privacy; exponent(x, z) is ε·d(x, z), or None where the distance is infinite."""

    k: int
    exponent: Callable[[int, int], Fraction | None]


@dataclass(frozen=True, eq=False)
class Leaked:
    """Maximal leakage: Σ_y max_x Q(y|x) ≤ ratio."""

    ratio: Exponential


Privacy = Pure | Coupled | Lift | OverClass | Metric | Leaked


# -- goals --


@dataclass(frozen=True, eq=False)
class PairGoal:
    """A named divergence between two distributions; parameter is the α or γ of those that have one."""

    name: str
    p0: Prior
    p1: Prior
    parameter: Fraction | None = None
    is_cost: ClassVar[bool] = False

    @property
    def k(self) -> int:
        return len(self.p0)


@dataclass(frozen=True, eq=False)
class InformationGoal:
    """Mutual information between the input and its report."""

    prior: Prior
    is_cost: ClassVar[bool] = False
    name: ClassVar[str] = "MutualInformation"

    @property
    def k(self) -> int:
        return len(self.prior)


@dataclass(frozen=True, eq=False)
class _Parts:
    parts: tuple[PairGoal | InformationGoal | MeanGoal, ...]
    is_cost: ClassVar[bool] = False

    @property
    def k(self) -> int:
        return self.parts[0].k


class MeanGoal(_Parts):
    """The mean of several sums over columns."""

    name: ClassVar[str] = "Average"


class LeastGoal(_Parts):
    """The least of several sums over columns."""

    name: ClassVar[str] = "WorstCase"


@dataclass(frozen=True, eq=False)
class _Cost:
    source: SourceClass
    is_cost: ClassVar[bool] = True

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True, eq=False)
class LossGoal(_Cost):
    """An expected distortion, in the worst case over a class of priors.

    Attributes:
        losses: d(x, y), a row for each input; None for Hamming distortion, 1 wherever x is not reported.
        outputs: labels of the columns as a file writes them; None: the inputs where there are k columns, else 0, 1, ….
    """

    losses: Sequence[Sequence[Fraction]] | None
    outputs: Any = None

    @property
    def name(self) -> str:
        return "Hamming" if self.losses is None else "Distortion"


@dataclass(frozen=True, eq=False)
class LevelGoal(_Cost):
    """The ε of a mechanism whose Hamming distortion is at most D."""

    distortion: Fraction
    name: ClassVar[str] = "LevelAtDistortion"


@dataclass(frozen=True, eq=False)
class WorkloadGoal(_Cost):
    """Linear statistics Ap, by n × their total mean squared error.

    Attributes:
        gram, denominator: W = AᵀA = gram/denominator, gram of whole numbers.
    """

    name: str
    gram: Integers
    denominator: int

    @classmethod
    def of_rows(cls, name: str, source: SourceClass, matrix: Sequence[Sequence[float]]) -> WorkloadGoal:
        """The statistics of a matrix of floats, taken as the binary numbers that they are."""
        rows, denominator = as_integers(matrix)
        statistics = fmpz_mat(rows)
        gram = np.array([int(w) for w in (statistics.transpose() * statistics).entries()], dtype=object)
        return cls(source, name, gram.reshape(source.k, source.k), denominator**2)

    @classmethod
    def of_shares(cls, source: SourceClass, items: Sequence[int], weights: Sequence[float]) -> WorkloadGoal:
        """The shares of some inputs: √weight times the indicator of each, of which only the square is rational."""
        numbers, denominator = as_integers([weights])
        gram = np.zeros((source.k, source.k), dtype=object)
        gram[items, items] = numbers[0]
        return cls(source, "Frequencies", gram, denominator)

    @classmethod
    def of_thresholds(cls, source: SourceClass, thresholds: Sequence[int]) -> WorkloadGoal:
        """The indicators of x ≤ t."""
        x = np.arange(source.k)
        reached = (x[:, None] <= np.array(thresholds, dtype=np.intp)[None, :]).sum(axis=1)  # t ≥ x, for each x
        return cls(source, "CDF", reached[np.maximum(x[:, None], x[None, :])].astype(object), 1)

    @classmethod
    def of_ranges(cls, source: SourceClass) -> WorkloadGoal:
        """All ranges a ≤ X ≤ b: x and z lie together in (min + 1)(k − max) of them."""
        x = np.arange(source.k)[:, None]
        gram = (np.minimum(x, x.T) + 1) * (source.k - np.maximum(x, x.T))
        return cls(source, "Ranges", gram.astype(object), 1)


@dataclass(frozen=True, eq=False)
class QuestionsGoal:
    """The shares of every question of a record, records equally likely, by n × their squared error.

    Attributes:
        sizes: the number of answers of each question.
        weights: how much each question counts.
        largest: the largest mean squared error of a share, over the questions, instead of the sum of all.
    """

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    largest: bool
    is_cost: ClassVar[bool] = True
    name: ClassVar[str] = "QuestionShares"

    @property
    def k(self) -> int:
        return prod(self.sizes)

    def to_json(self) -> dict[str, Any]:
        return {
            "utility": self.name,
            "sizes": list(self.sizes),
            "weights": [decimal_text(weight) for weight in self.weights],
            "largest": self.largest,
        }


@dataclass(frozen=True, eq=False)
class TablesGoal:
    """The cross-tables of two questions of a record, records equally likely: n × the total squared error of the cells,
    the mean over all pairs of questions.

    Attributes:
        sizes: the number of answers of each question.
    """

    sizes: tuple[int, ...]
    is_cost: ClassVar[bool] = True
    name: ClassVar[str] = "QuestionTables"

    @property
    def k(self) -> int:
        return prod(self.sizes)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "sizes": list(self.sizes)}


Goal = (
    PairGoal | InformationGoal | MeanGoal | LeastGoal | LossGoal | LevelGoal | WorkloadGoal | QuestionsGoal | TablesGoal
)


def as_integers(array: Sequence[Sequence[float]]) -> tuple[list[list[int]], int]:
    """Floats as the exact binary numbers they are: integers over one power of two."""
    ratios = [[float(a).as_integer_ratio() for a in row] for row in array]
    denominator = max(d for row in ratios for _, d in row)
    return [[n * (denominator // d) for n, d in row] for row in ratios], denominator


# -- what a class states --

_Kind = TypeVar("_Kind")
_STATED: dict[type, Callable[[Any], Any]] = {
    kind: lambda value: value for kind in (*get_args(Privacy), *get_args(Goal))
}


def states(kind: type[_Kind], problem: Callable[[_Kind], Privacy | Goal | None]) -> None:
    """Enter what values of a class state, under that very class; None: nothing that a proof can be about."""
    _STATED[kind] = problem


def problem_of(value: object) -> Any:
    """The `Privacy` or `Goal` that a notion or a utility states; None when it is a user's."""
    state = _STATED.get(type(value))
    return None if state is None else state(value)
