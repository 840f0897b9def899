"""What people compute from the reports: shares, distribution functions, ranges, means, any linear statistics.

A *workload* is a matrix A whose rows are the linear statistics a·p that are wanted of the unknown shares p. Its value
for a mechanism is

    F(Q) = n × the total variance of the best unbiased linear estimates of Ap from n reports = tr(A_c V⁺ A_cᵀ)

(see `extremal.utility.fisher`), at the prior: a cost, the same for every n, sampling variance included, and the
asymptotic n × mean squared error of the maximum likelihood estimate. It is infinite when a wanted statistic is not
identified. With a `SourceClass` in place of a prior it is the largest value over the class. F is convex in the
mechanism's information, and concave in p.

Weights are whole numbers over 2^62, so that "identified" needs a resolution: what is proved is about tr(A_c (J + ρI)⁻¹
A_cᵀ), ρ = 2^-80, the least n × mean squared error if a bias is charged as with 1/ρ respondents. It differs from F by
rounding, and is finite but huge where F is infinite.

Numbers in a workload are taken as the binary floats that they are, so that W = AᵀA is exact for whoever proves
something about it. References: Lopuhaä-Zwakenberg, Škorić, Li 2022 (Fisher information as utility); McKenna, Maity,
Mazumdar, Miklau 2020 (workloads)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, InvalidPrior
from extremal.exact import Prior, as_count
from extremal.mechanism import Mechanism
from extremal.privacy import Option
from extremal.sources import SourceClass, as_source
from extremal.utility.fisher import Fisher, fisher
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, Utility, registered
from extremal.utility.worst_prior import WorstPrior, worst_prior

LARGEST_ENTRY = 1e30  # of a workload, and its reciprocal: squares of these are far from the ends of floats
MOST_INPUTS = 4096  # k×k matrices beyond this are refused: 2^24 entries

RESOLUTION = Fraction(1, 1 << 80)
"""ρ: a bias costs what it would in n × mean squared error at n = 1/ρ, more people than there are."""

NOT_IDENTIFIED = Fraction(1, 1 << 20)
"""A cost above this share of tr(A_cA_cᵀ)/ρ, what knowing nothing costs, counts as infinite."""


_SOURCE = Option("prior", "--prior", "source", "distribution of the answers", required="a prior or a number of inputs")


@registered
class Workload(Utility):
    """n × the total mean squared error of the statistics Ap, a cost.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        matrix: A, one row for each statistic, one column for each input; finite numbers. prior: probabilities, an int k
            (all inputs equally likely), or an `ex.SourceClass` (then the worst case over it).

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> first_and_difference = ex.Workload([[1, 0, 0], [0, 1, -1]], 3)
    >>> round(first_and_difference(ex.randomized_response(3, 1)), 6)
    6.70234
    """

    name: ClassVar[str] = "Workload"
    is_cost: ClassVar[bool] = True
    unit = "n × mean squared error"

    def __init__(self, matrix: Any, prior: Any) -> None:
        self.source: SourceClass = _source(prior)
        self.k = self.source.k
        self.rows: Floats = _checked(matrix, self.k)
        """Rows with the same AᵀA as the statistics; the statistics themselves unless there are too many to list."""

    # -- the value --

    def __call__(self, mechanism: Mechanism | Any) -> float:
        """F of a mechanism, or of a row-stochastic array; infinite when a statistic is not identified."""
        if self.prior is not None:
            return self.information(mechanism, self.prior.values).value(self.rows)
        return self.worst_prior(mechanism).value

    def information(self, mechanism: Mechanism | Any, prior: Floats) -> Fisher:
        """The information of one report at `prior`; the alphabet is checked."""
        if isinstance(mechanism, Mechanism) and mechanism.k != self.k:
            raise InvalidParameter(
                f"the mechanism must have {self.k} inputs, as {self.name} has", parameter="k", value=mechanism.k
            )
        if not isinstance(mechanism, Mechanism):
            self.read(mechanism)
        return fisher(mechanism, prior)

    def worst_prior(self, mechanism: Mechanism | Any) -> WorstPrior:
        """The prior of the class for which the value is largest, and a bound that no prior of the class exceeds."""
        return worst_prior(lambda prior: self.information(mechanism, prior), mechanism, self.rows, self.source)

    def of(self, reading: Reading) -> float:
        """The value of dense columns that were read."""
        columns = reading.base + reading.excess if reading.masses is None else None
        if columns is None:
            raise InvalidParameter("a workload reads a mechanism or an array", parameter="reading", value="levels")
        return self(columns if reading.row_of is None else columns[reading.row_of])

    @property
    def prior(self) -> Prior | None:
        """The prior, when there is just one."""
        return self.source.single

    def at(self, prior: Any) -> Workload:
        """The same statistics at one prior, or over another class."""
        changed = type(self).__new__(type(self))
        changed.__dict__.update({key: value for key, value in self.__dict__.items() if key != "exact_gram"})
        changed.source = _source(prior)
        if changed.source.k != self.k:
            raise InvalidPrior(
                f"the prior must have {self.k} entries, one for each input",
                parameter="len(prior)",
                value=changed.source.k,
            )
        return changed

    # -- W = AᵀA --

    @property
    def gram(self) -> Floats:
        """W = AᵀA in floats."""
        return np.asarray(self.rows.T @ self.rows)

    @cached_property
    def exact_gram(self) -> tuple[list[list[int]], int]:
        """W as integers over one denominator."""
        numbers, denominator = as_integers(self.rows)
        return gram_of(numbers), denominator**2

    @property
    def exact_rows(self) -> list[list[int]] | None:
        """A as integers over the root of W's denominator; None where only W is exact."""
        return as_integers(self.rows)[0]

    # -- as a value --

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "source": self.source.to_json(), **self._content()}

    def _content(self) -> dict[str, Any]:
        return {"matrix": [[repr(a) for a in row] for row in self.rows.tolist()]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Workload:
        """The workload that `to_json` described."""
        return cls([[float(a) for a in row] for row in content["matrix"]], SourceClass.from_json(content["source"]))

    def __repr__(self) -> str:
        about = self.prior if self.prior is not None else self.source
        return f"{self.name}({about!r})"


@registered
class Frequencies(Workload):
    """n × the total mean squared error of the shares themselves.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        prior: probabilities, an int k, or an `ex.SourceClass`.
        items: positions of the inputs whose shares are wanted; all if not given.
        weights: how much each of them counts, positive; 1 if not given.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.Frequencies(10)(ex.subset_selection(10, 1)), 4)
    30.0041
    """

    name: ClassVar[str] = "Frequencies"
    options = (_SOURCE,)

    def __init__(self, prior: Any, items: Sequence[int] | None = None, weights: Any = None) -> None:
        source = _source(prior)
        chosen = (
            list(range(source.k)) if items is None else [as_count(x, f"items[{i}]", 0) for i, x in enumerate(items)]
        )
        if not chosen or len(set(chosen)) < len(chosen) or max(chosen) >= source.k:
            raise InvalidParameter(
                f"items must be different positions below {source.k}", parameter="items", value=chosen[:8]
            )
        scale = np.ones(len(chosen)) if weights is None else _numbers(weights, "weights", len(chosen))
        if (scale <= 0).any():
            raise InvalidParameter("weights must be positive", parameter="weights", value=scale[:8].tolist())
        self.items, self.weights = tuple(chosen), tuple(scale.tolist())
        matrix = np.zeros((len(chosen), source.k))
        matrix[np.arange(len(chosen)), chosen] = np.sqrt(scale)
        super().__init__(matrix, source)

    @property
    def symmetric(self) -> bool:
        """Whether every input counts alike."""
        return len(self.items) == self.k and len(set(self.weights)) == 1

    @cached_property
    def exact_gram(self) -> tuple[list[list[int]], int]:
        numbers, denominator = as_integers(np.asarray([self.weights]))
        gram = [[0] * self.k for _ in range(self.k)]
        for x, weight in zip(self.items, numbers[0], strict=True):
            gram[x][x] = weight
        return gram, denominator

    @property
    def exact_rows(self) -> None:
        return None

    def _content(self) -> dict[str, Any]:
        return {"items": list(self.items), "weights": [repr(w) for w in self.weights]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Frequencies:
        return cls(SourceClass.from_json(content["source"]), content["items"], [float(w) for w in content["weights"]])


@registered
class CDF(Workload):
    """n × the total mean squared error of the distribution function P(X ≤ t) of ordered inputs.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        prior: probabilities, an int k, or an `ex.SourceClass`.
        thresholds: positions t, 0 ≤ t < k−1; all if not given. Nine deciles of 1,000 bins are as easy as ten bins.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.CDF(4)(ex.randomized_response(4, 1)), 4)
    6.9219
    """

    name: ClassVar[str] = "CDF"
    options = (
        _SOURCE,
        Option("thresholds", "--thresholds", "positions", "positions t of P(X ≤ t), for CDF; all if not given"),
    )

    def __init__(self, prior: Any, thresholds: Sequence[int] | None = None) -> None:
        source = _source(prior)
        chosen = (
            range(source.k - 1)
            if thresholds is None
            else [as_count(t, f"thresholds[{i}]", 0) for i, t in enumerate(thresholds)]
        )
        if not len(chosen) or len(set(chosen)) < len(chosen) or max(chosen) >= source.k - 1:
            raise InvalidParameter(
                f"thresholds must be different positions below {source.k - 1}", parameter="thresholds", value=thresholds
            )
        self.thresholds = tuple(chosen)
        super().__init__(
            (np.arange(source.k)[None, :] <= np.asarray(self.thresholds)[:, None]).astype(np.float64), source
        )

    def _content(self) -> dict[str, Any]:
        return {"thresholds": None if len(self.thresholds) == self.k - 1 else list(self.thresholds)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> CDF:
        return cls(SourceClass.from_json(content["source"]), content["thresholds"])


@registered
class Ranges(Workload):
    """n × the total mean squared error of P(a ≤ X ≤ b) over all k(k+1)/2 ranges a ≤ b of ordered inputs.

    With prefix sums c_0 = 0, c_1, …, c_k the ranges are the differences c_j − c_i, and Σ_{i<j}(c_j − c_i)² = (k+1)Σc² −
    (Σc)²: `rows` is √(k+1)·(I − β11ᵀ) times the prefix sums, β = (1 − 1/√(k+1))/k, so that nothing of size k² × k is
    listed.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.Ranges(4)(ex.randomized_response(4, 1)), 4)
    20.7656
    """

    name: ClassVar[str] = "Ranges"
    options = (_SOURCE,)

    def __init__(self, prior: Any) -> None:
        source = _source(prior)
        k = source.k
        prefix = np.tril(np.ones((k, k)))
        mixed = prefix - (1 - 1 / math.sqrt(k + 1)) / k * prefix.sum(axis=0)
        super().__init__(math.sqrt(k + 1) * mixed, source)

    @cached_property
    def exact_gram(self) -> tuple[list[list[int]], int]:
        """x and z lie together in (min + 1)(k − max) ranges."""
        return [[(min(x, z) + 1) * (self.k - max(x, z)) for z in range(self.k)] for x in range(self.k)], 1

    @property
    def exact_rows(self) -> None:
        return None

    def _content(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Ranges:
        return cls(SourceClass.from_json(content["source"]))


@registered
class Mean(Workload):
    """n × the mean squared error of the mean Σ p(x)·value(x).

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        values: one finite number for each input, not all equal.
        prior: probabilities, an `ex.SourceClass`, or None for equally likely inputs.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import math
    >>> import extremal as ex
    >>> one_bit = ex.Mechanism.from_partition([0, 1], ex.LDP(1))
    >>> round(ex.Mean([0, 1])(one_bit), 6), round((math.tanh(0.5) * 2) ** -2, 6)
    (1.170674, 1.170674)
    """

    name: ClassVar[str] = "Mean"
    options = (
        Option("values", "--values", "values", "the number that each input stands for, for Mean", required="values"),
        Option("prior", "--prior", "source", "distribution of the answers"),
    )

    def __init__(self, values: Any, prior: Any = None) -> None:
        numbers = _numbers(values, "values", None)
        source = _source(numbers.size if prior is None else prior)
        if np.ptp(numbers) == 0:
            raise InvalidParameter(
                "values must differ: the mean of a constant is known", parameter="values", value=numbers[:4].tolist()
            )
        super().__init__(numbers[None, :], source)

    @property
    def values(self) -> Floats:
        """The number that each input stands for."""
        return np.asarray(self.rows[0])

    def _content(self) -> dict[str, Any]:
        return {"values": [repr(v) for v in self.values.tolist()]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Mean:
        return cls([float(v) for v in content["values"]], SourceClass.from_json(content["source"]))


def as_integers(array: Floats) -> tuple[list[list[int]], int]:
    """Floats as the exact binary numbers they are: integers over one power of two."""
    ratios = [[a.as_integer_ratio() for a in row] for row in array.tolist()]
    denominator = max(d for row in ratios for _, d in row)
    return [[n * (denominator // d) for n, d in row] for row in ratios], denominator


def gram_of(rows: list[list[int]]) -> list[list[int]]:
    """AᵀA of integer rows, exactly."""
    array = np.array(rows, dtype=object)
    return [list(row) for row in (array.T @ array).tolist()]


def _source(prior: Any) -> SourceClass:
    """A prior, a class of priors, or the number of equally likely inputs."""
    if isinstance(prior, (int, np.integer)) and not isinstance(prior, bool):
        k = as_count(prior, "prior", 2)
        _refuse_many(k)
        return SourceClass([[Fraction(1, k)] * k])
    source = as_source(prior)
    _refuse_many(source.k)
    return source


def _refuse_many(k: int) -> None:
    if k > MOST_INPUTS:
        raise InvalidParameter(
            f"a workload may have at most {MOST_INPUTS} inputs",
            parameter="k",
            value=k,
            hint="Group neighbouring inputs into bins.",
        )


def _numbers(values: Any, parameter: str, size: int | None) -> Floats:
    try:
        array = np.asarray([float(v) for v in values])
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"{parameter} must be a sequence of numbers", parameter=parameter, value=values
        ) from None
    wanted = "at least two" if size is None else str(size)
    if (
        (size is not None and array.size != size)
        or array.size < (2 if size is None else 1)
        or not np.isfinite(array).all()
    ):
        raise InvalidParameter(
            f"{parameter} must be {wanted} finite numbers", parameter=parameter, value=array[:8].tolist()
        )
    return array


def _checked(matrix: Any, k: int) -> Floats:
    try:
        array = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("matrix must be a matrix of numbers", parameter="matrix", value=matrix) from None
    if array.ndim != 2 or array.shape[1] != k or array.shape[0] < 1:
        raise InvalidParameter(
            f"matrix must have {k} columns, one for each input", parameter="matrix.shape", value=array.shape
        )
    if not np.isfinite(array).all():
        raise InvalidParameter("matrix must be finite", parameter="matrix", value=array.ravel()[:8].tolist())
    if not 1 / LARGEST_ENTRY <= np.abs(array).max(initial=0.0) <= LARGEST_ENTRY and array.any():
        raise InvalidParameter(
            f"the largest entry of matrix must lie between {1 / LARGEST_ENTRY:g} and {LARGEST_ENTRY:g}",
            parameter="matrix",
            value=float(np.abs(array).max()),
            hint="Choose another unit: estimates scale with it.",
        )
    if not np.ptp(array, axis=1).any():
        raise InvalidParameter(
            "some row of matrix must not be constant: shares sum to one", parameter="matrix", value=array[:2].tolist()
        )
    array.setflags(write=False)
    return array
