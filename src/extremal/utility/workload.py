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

from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, InvalidPrior
from extremal.exact import ANY_LABELS, Prior, matrix_in_order
from extremal.mechanism import Mechanism
from extremal.problem import Integers, WorkloadGoal
from extremal.sources import SourceClass, as_source
from extremal.utility.fisher import Fisher, fisher
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, Utility, registered
from extremal.utility.worst_prior import WorstPrior, worst_prior

LARGEST_ENTRY = 1e30  # of a workload, and its reciprocal: squares of these are far from the ends of floats
LEAST_INPUTS = 2  # of one nothing is asked
MOST_INPUTS = 4096  # k×k matrices beyond this are refused: 2^24 entries


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
        self.source: SourceClass = source_of(prior)
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
        changed.__dict__.update({key: value for key, value in self.__dict__.items() if key != "_stated"})
        changed.source = source_of(prior)
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

    @property
    def exact_gram(self) -> tuple[Integers, int]:
        """W as integers over one denominator."""
        stated = self.problem()
        return stated.gram, stated.denominator

    # -- as a value --

    def problem(self) -> WorkloadGoal:
        return self._stated

    @cached_property
    def _stated(self) -> WorkloadGoal:
        return WorkloadGoal.of_rows(self.name, self.source, self.rows.tolist())

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "source": self.source.to_json(), **self._content()}

    def _content(self) -> dict[str, Any]:
        return {"matrix": [[repr(a) for a in row] for row in self.rows.tolist()]}

    def __repr__(self) -> str:
        about = self.prior if self.prior is not None else self.source
        return f"{self.name}({about!r})"


def source_of(prior: Any) -> SourceClass:
    """A prior, a class of priors, or the number of equally likely inputs."""
    if isinstance(prior, (int, np.integer)) and not isinstance(prior, bool):
        if prior < LEAST_INPUTS:
            raise InvalidParameter(
                f"there must be at least {LEAST_INPUTS} inputs: a prior that is a whole number is how many there are",
                parameter="prior",
                value=int(prior),
            )
        k = int(prior)
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
            hint="Group neighbouring inputs into bins. For shares of more labels take a mechanism by name: "
            "ex.projective_geometry(k, epsilon) or ex.local_hashing(k, epsilon).",
        )


def _checked(matrix: Any, k: int) -> Floats:
    given = matrix_in_order(matrix, "matrix", ANY_LABELS)
    try:
        array = np.array(given, dtype=np.float64)
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
