"""Metric privacy: inputs that are close must be hard to tell apart, distant ones need not be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import Column, ExactView, Exponential, as_fraction, decimal_text, matrix_in_order
from extremal.exact.exponential import SMALLEST_EPSILON, log_of_ratio
from extremal.exact.weights import DENOMINATOR, Floats, Indices, Weights
from extremal.exact.written import refuse_other_fields, written_fraction
from extremal.privacy.notion import Notion
from extremal.problem import Metric, states

# floats of log(a/b) and ε·d agree with the truth to about 1e-15, relatively; within this integers decide
_UNSURE = 1e-12


class MetricPrivacy(Notion):
    """ε-metric privacy: Q(y|x) ≤ e^{ε·d(x,x')}·Q(y|x') for all y, x, x'.

    With d(x,x') = 1 for x ≠ x' it is ε-LDP; on a map it is geo-indistinguishability. An infinite distance asks for
    nothing.

    Guarantee: decided on integers; a distance means the decimal it prints as.

    Args:
        epsilon: nats per unit of distance.
        distances: a symmetric k×k matrix, zero on the diagonal, non-negative; `math.inf` for unrelated inputs.

    Reference: Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using
    Metrics, PETS 2013.

    >>> import extremal as ex
    >>> far = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> m = ex.Mechanism.from_weights([[4, 2, 2], [2, 4, 2], [2, 2, 4]], 8)
    >>> round(ex.MetricPrivacy(1, far).level(m), 12)
    0.69314718056
    """

    name = "MetricPrivacy"

    def __init__(self, epsilon: Any, distances: Any) -> None:
        self.exponential = Exponential(epsilon)
        self._given = _checked(distances)
        self.distances: Floats = self._given.astype(np.float64)
        self.distances.setflags(write=False)

    @property
    def k(self) -> int:
        """Number of inputs."""
        return int(self.distances.shape[0])

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε per unit of distance; `prior` has no part in it."""
        view = self._readable(mechanism)
        worst = 0.0
        for _, values, between in self._columns(view):
            gain, near = _log_ratios(values), between.near
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.where((gain > 0) & np.isfinite(near), gain / near, 0.0)  # ∞/∞ asks for nothing either
            worst = max(worst, float(slope.max()))
        if worst == 0.0 or math.isinf(worst):
            return worst
        candidate = max(worst - 8 * math.ulp(worst), float(SMALLEST_EPSILON))
        while any(
            _pairs_broken(values, between, Fraction(repr(candidate))) for _, values, between in self._columns(view)
        ):
            candidate = math.nextafter(candidate, math.inf)
        return candidate

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        refused = []
        exponent = self.exponential.exponent or Fraction(0)
        for output, values, between in self._columns(view):
            if _pairs_broken(values, between, exponent):
                refused.append(output)
                if first:
                    break
        return refused

    def _columns(self, view: ExactView) -> Iterator[tuple[int, Weights, _Between]]:
        if view.k != self.k:
            raise InvalidParameter(
                f"distances must be {view.k}×{view.k}, one row for each input", parameter="k", value=self.k
            )
        between = self._between(view)
        for column in view.patterns():
            if column.orbit:  # of the pairs of rows that occur as (high, low) only the closest one matters
                pair = np.array([column.largest, column.smallest], dtype=object)
                yield column.output, pair, self._closest(view, column)
                continue
            values = np.empty(view.row_classes, dtype=np.int64 if column.largest <= DENOMINATOR else object)
            for value, members in column.groups:
                for a, b in members.runs:
                    values[a:b] = value
            yield column.output, values, between

    def _between(self, view: ExactView) -> _Between:
        row_of = view.row_of
        if row_of is None:
            return _Between(self.distances, lambda x, other: (np.array([x]), np.array([other])), self.exact_distance)
        near = np.full((view.row_classes, view.row_classes), math.inf)
        np.minimum.at(near, (row_of[:, None], row_of[None, :]), self.distances)

        def inputs(x: int, other: int) -> tuple[Indices, ...]:
            left, right = np.flatnonzero(row_of == x), np.flatnonzero(row_of == other)
            a, b = np.nonzero(self.distances[np.ix_(left, right)] == near[x, other])
            return left[a[: self._tried]], right[b[: self._tried]]

        return _Between(near, inputs, self.exact_distance)

    def _closest(self, view: ExactView, column: Column) -> _Between:
        """For an orbit: the closest inputs of different rows of which one can have the larger weight, and the other one
        the smaller."""
        rows = np.arange(self.k) if view.row_of is None else view.row_of
        high, low = np.zeros((2, view.row_classes), dtype=np.bool_)
        for part, size in column.parts(view.row_classes):
            high[part], low[part] = size > 0, size < len(part)
        apart = (rows[:, None] != rows[None, :]) & high[rows][:, None] & low[rows][None, :]
        least = float(self.distances[apart].min())
        a, b = np.nonzero(apart & (self.distances == least))
        near = np.array([[0.0, least], [least, 0.0]])
        return _Between(near, lambda _x, _other: (a[: self._tried], b[: self._tried]), self.exact_distance)

    @property
    def _tried(self) -> int | None:
        """How many distances of one double can differ: doubles are what they print as, other numbers may be closer."""
        return None if self._given.dtype == object else 1

    def exact_exponent(self, x: int, other: int) -> Fraction:
        """ε·d(x,x'), a rational, for a finite distance."""
        return (self.exponential.exponent or Fraction(0)) * self.exact_distance(x, other)

    def relates(self, x: int, other: int) -> bool:
        """Whether the distance of two inputs is finite: an infinite one asks for nothing."""
        return math.isfinite(self.distances[x, other])

    def exact_distance(self, x: int, other: int) -> Fraction:
        """d(x,x') as the rational it was given as, when it is finite."""
        given = self._given[x, other]
        return _printed(given) if isinstance(given, float) else as_fraction(given, "distance")

    def to_json(self) -> dict[str, Any]:
        rows = [
            ["inf" if math.isinf(float(d)) else decimal_text(as_fraction(d, "distance")) for d in row]
            for row in self._given.tolist()
        ]
        return {"notion": self.name, **self.exponential.to_json(), "distances": rows}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> MetricPrivacy:
        refuse_other_fields(content, ("notion", "epsilon", "distances"), "a claim of metric privacy")
        given = content["distances"]
        rows = [[math.inf if d == "inf" else written_fraction(d, "distances") for d in row] for row in given]
        return cls(written_fraction(content["epsilon"], "epsilon"), np.array(rows, dtype=object))

    def __repr__(self) -> str:
        return f"MetricPrivacy(epsilon={self.epsilon!r}, distances={self.k}×{self.k})"


def _problem(metric: MetricPrivacy) -> Metric:
    return Metric(metric.k, lambda x, z: metric.exact_exponent(x, z) if metric.relates(x, z) else None)


states(MetricPrivacy, _problem)


@dataclass(frozen=True, eq=False)
class _Between:
    """The distances between row classes: the smallest between any input of one and any of the other.

    Floats tell most pairs; where they do not, the exact distances of the very inputs are asked, never one that happens
    to have the same double.

    Attributes:
        near: the smallest distances as doubles.
        inputs: for two classes the pairs of inputs (as two arrays) whose distance is that double.
        distance: of two inputs, exactly.
    """

    near: Floats
    inputs: Callable[[int, int], tuple[Indices, ...]]
    distance: Callable[[int, int], Fraction]

    def exact(self, x: int, other: int) -> Fraction:
        """The smallest distance between two classes, as the rational it was given as."""
        return min(self.distance(int(a), int(b)) for a, b in zip(*self.inputs(x, other), strict=True))


@lru_cache(maxsize=4096)
def _printed(distance: float) -> Fraction:
    """The decimal that a distance prints as: asked for again and again, for every column."""
    return as_fraction(distance, "distance")


def _pairs_broken(values: Weights, between: _Between, exponent: Fraction) -> bool:
    gain, near = _log_ratios(values), between.near
    allowed = float(exponent) * near
    with np.errstate(invalid="ignore"):
        broken = (gain > 0) & (gain > allowed * (1 + _UNSURE))
        unsure = (gain > 0) & ~broken & (gain >= allowed * (1 - _UNSURE)) & np.isfinite(near)
    if broken.any():
        return True
    for x, other in np.argwhere(unsure).tolist():
        bound = Exponential.unchecked(exponent * between.exact(x, other))
        if not bound.at_least(int(values[x]), int(values[other])):
            return True
    return False


def _log_ratios(values: Weights) -> Floats:
    """log(values[x]/values[x']), relatively accurate also next to 0; infinite where only values[x'] is 0, 0 where x is
    not larger."""
    if values.dtype == object:  # products of weights, all positive, that may be beyond what a float holds
        return np.array([[log_of_ratio(a, b) if a > b else 0.0 for b in values.tolist()] for a in values.tolist()])
    difference = np.maximum(values[:, None] - values[None, :], 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference > 0, np.log1p(difference / values[None, :].astype(np.float64)), 0.0)


def _checked(distances: Any) -> npt.NDArray[Any]:
    array = np.array(matrix_in_order(distances, "distances"))
    if array.dtype.kind not in "fiuO":
        raise InvalidParameter("distances must be numbers", parameter="distances.dtype", value=str(array.dtype))
    try:
        floats = array.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameter("distances must be numbers", parameter="distances", value=distances) from None
    if floats.ndim != 2 or floats.shape[0] != floats.shape[1] or floats.shape[0] < 2:
        raise InvalidParameter(
            "distances must be a square matrix for at least 2 inputs", parameter="distances.shape", value=floats.shape
        )
    if np.isnan(floats).any() or (floats < 0).any():
        raise InvalidParameter(
            "distances must not be negative or NaN", parameter="distances", value=float(np.nanmin(floats))
        )
    if np.diagonal(floats).any() or not (array == array.T).all():
        raise InvalidParameter(
            "distances must be symmetric with a zero diagonal", parameter="distances", value=floats.tolist()[:3]
        )
    return array if array.dtype == object else floats
