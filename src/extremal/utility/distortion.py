"""Expected distortion: how far a report is from the truth, in the worst case over a class of sources."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, InvalidPrior
from extremal.exact import as_fraction, decimal_text, matrix_in_order
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.privacy import LDP
from extremal.problem import LevelGoal, LossGoal
from extremal.sources import SourceClass, as_source
from extremal.utility.utility import Floats, Utility, registered


@registered
class Distortion(Utility):
    """max_p Σ_x p(x) Σ_y Q(y|x) d(x,y), a cost (KSS Definition 2).

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Args:
        prior_or_class: a prior, or an `ex.SourceClass`.
        distances: k×m' matrix of finite, non-negative losses; row x, column y.
        outputs: labels of its columns. When not given and the matrix is square, the columns are the inputs; otherwise
            0..m'−1.

    >>> import extremal as ex
    >>> steps = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> round(ex.Distortion([0.5, 0.3, 0.2], steps)(ex.randomized_response(3, 1)), 12)
    0.572242205566
    """

    name: ClassVar[str] = "Distortion"
    is_cost: ClassVar[bool] = True

    def __init__(self, prior_or_class: Any, distances: Any, outputs: Any = None) -> None:
        self.source: SourceClass = as_source(prior_or_class)
        self.k = self.source.k
        self.output_labels = None if outputs is None else Labels(outputs, "outputs", tuples=True)
        self.distances = _checked(matrix_in_order(distances, "distances", None, self.output_labels), self.k)
        if self.output_labels is not None and len(self.output_labels) != self.distances.shape[1]:
            raise InvalidParameter(
                "outputs must name the columns of distances", parameter="len(outputs)", value=len(self.output_labels)
            )

    def __call__(self, mechanism: Mechanism | Any) -> float:
        return self.source.worst_case(self.for_each_input(mechanism))[0]

    def for_each_input(self, mechanism: Mechanism | Any) -> Floats:
        """Σ_y Q(y|x) d(x,y) for each input x."""
        if not isinstance(mechanism, Mechanism):
            reading = self.read(mechanism)
            if reading.base.size != self.distances.shape[1]:
                raise InvalidParameter(
                    f"the array must have {self.distances.shape[1]} columns, as distances has",
                    parameter="columns",
                    value=reading.base.size,
                )
            return np.asarray(((reading.base + reading.excess) * self.distances).sum(axis=1))
        if mechanism.k != self.k:
            raise InvalidParameter(
                f"the mechanism must have {self.k} inputs, as {self.name} has", parameter="k", value=mechanism.k
            )
        return self._of_mechanism(mechanism)

    def _of_mechanism(self, mechanism: Mechanism) -> Floats:
        return np.asarray((mechanism.matrix * self.distances[:, self._columns(mechanism)]).sum(axis=1))

    def _columns(self, mechanism: Mechanism) -> list[int]:
        """The column of `distances` that each output of the mechanism stands for."""
        if self.output_labels is not None:
            return [self.output_labels.code(y, "output") for y in mechanism.output_labels]
        square = self.distances.shape[1] == self.k
        names = mechanism.input_labels if square else Labels(range(self.distances.shape[1]), "outputs")
        return [names.code(y, "output") for y in mechanism.output_labels]

    def problem(self) -> LossGoal:
        losses = [[Fraction(repr(d)) for d in row] for row in self.distances.tolist()]
        return LossGoal(self.source, losses, None if self.output_labels is None else self.output_labels.to_json())

    def to_json(self) -> dict[str, Any]:
        labels = None if self.output_labels is None else self.output_labels.to_json()
        rows = [[repr(d) for d in row] for row in self.distances.tolist()]
        return {"utility": self.name, "source": self.source.to_json(), "distances": rows, "outputs": labels}

    def __repr__(self) -> str:
        return f"{self.name}({self.source!r}, {self.distances.shape[0]}×{self.distances.shape[1]})"


@registered
class Hamming(Distortion):
    """max_p Σ_x p(x)·(1 − Q(x|x)): the probability that the report is not the truth, a cost (KSS Section II).

    KSS print the minimum over priors as the utility (erratum H6); it is the largest distortion that counts.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    >>> import extremal as ex
    >>> round(ex.Hamming(ex.SourceClass.simplex(3))(ex.randomized_response(3, 1)), 12)
    0.423883115234
    """

    name: ClassVar[str] = "Hamming"

    def __init__(self, prior_or_class: Any) -> None:
        self.source = as_source(prior_or_class)
        self.k = self.source.k
        self.output_labels = None

    @property
    def distances(self) -> Floats:  # type: ignore[override]
        return np.asarray(1.0 - np.eye(self.k))

    def _of_mechanism(self, mechanism: Mechanism) -> Floats:
        return np.array(
            [(mechanism.denominator - truth) / mechanism.denominator for truth in self.truth_weights(mechanism)]
        )

    def truth_weights(self, mechanism: Mechanism) -> list[int]:
        """The integer weight of reporting x when x is the truth, for each input x; 0 when x is never reported."""
        names = mechanism.input_labels
        reported = np.array([names.code(y, "output") for y in mechanism.output_labels], dtype=np.intp)
        rows = reported if mechanism.row_of is None else mechanism.row_of[reported]
        truth = dict(zip(reported.tolist(), mechanism.structure.entries(rows, np.arange(mechanism.m)), strict=True))
        return [truth.get(x, 0) for x in range(self.k)]

    def problem(self) -> LossGoal:
        return LossGoal(self.source, None)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "source": self.source.to_json()}

    def __repr__(self) -> str:
        return f"Hamming({self.source!r})"


def _checked(distances: Any, k: int) -> Floats:
    try:
        array = np.array(distances, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(
            "distances must be a matrix of numbers", parameter="distances", value=distances
        ) from None
    if array.ndim != 2 or array.shape[0] != k or array.shape[1] < 1:
        raise InvalidPrior(
            f"distances must have {k} rows, one for each input of the prior",
            parameter="distances.shape",
            value=array.shape,
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InvalidParameter(
            "distances must be finite and non-negative",
            parameter="distances",
            value=array.tolist()[:3],
            hint="Use a large number for forbidden.",
        )
    array.setflags(write=False)
    return array


@registered
class LevelAtDistortion(Utility):
    """The smallest ε of a mechanism whose worst-case Hamming distortion is at most D, a cost; infinite above D (KSS
    Definition 4).

    Guarantee: both are decided on the integer weights.

    Args:
        prior_or_class: a prior, or an `ex.SourceClass`.
        distortion: D, 0 ≤ D ≤ 1.

    >>> import extremal as ex
    >>> LevelAtDistortion([0.5, 0.3, 0.2], 0.3)(ex.hamming(3, 0.3))
    1.540445040947149
    """

    name: ClassVar[str] = "LevelAtDistortion"
    is_cost: ClassVar[bool] = True
    unit = "nats"

    def __init__(self, prior_or_class: Any, distortion: Any) -> None:
        self.source: SourceClass = as_source(prior_or_class)
        self.k = self.source.k
        self.distortion = as_fraction(distortion, "distortion")
        if not 0 <= self.distortion <= 1:
            raise InvalidParameter("distortion must lie between 0 and 1", parameter="distortion", value=distortion)

    def __call__(self, mechanism: Mechanism | Any) -> float:
        if not isinstance(mechanism, Mechanism) or mechanism.k != self.k:
            raise InvalidParameter(
                f"{self.name} takes a mechanism with {self.k} inputs", parameter="mechanism", value=mechanism
            )
        if self.worst_distortion(mechanism) > self.distortion:
            return math.inf
        return LDP(0).level(mechanism)

    def worst_distortion(self, mechanism: Mechanism) -> Fraction:
        """max_p Σ p(x)(1 − Q(x|x)), exactly."""
        lost = [mechanism.denominator - truth for truth in Hamming(self.source).truth_weights(mechanism)]
        worst = self.source.extreme_prior(lost)
        return Fraction(
            sum(w * v for w, v in zip(worst.weights, lost, strict=True)), worst.total * mechanism.denominator
        )

    def problem(self) -> LevelGoal:
        return LevelGoal(self.source, self.distortion)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "source": self.source.to_json(), "distortion": decimal_text(self.distortion)}

    def __repr__(self) -> str:
        return f"{self.name}({self.source!r}, {float(self.distortion):g})"
