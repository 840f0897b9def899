"""What every utility is: a number for each mechanism, made of what its columns are worth.

A utility is an immutable value, called on a mechanism (computed from its integer weights and structure) or on a plain
row-stochastic array. Most are sums U(Q) = Σ_y μ(q_y) of a sublinear function μ of the columns (KOV Definition 1):
convex and homogeneous, hence smaller after any post-processing (KOV Proposition 17). `is_cost` says whether less is
better. Unknown input (another alphabet, rows that do not sum) is refused, never coerced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.utility.reading import Reading, read_array, read_mechanism

Floats = npt.NDArray[np.float64]


class Utility(ABC):
    """Base of every utility.

    Attributes:
        name: the name in files, tables and on the command line.
        k: number of inputs.
        is_cost: True when less is better.
    """

    name: ClassVar[str]
    is_cost: ClassVar[bool] = False
    k: int

    def __call__(self, mechanism: Mechanism | Any) -> float:
        """The value of a mechanism, or of a row-stochastic array."""
        return self.of(self.read(mechanism))

    def read(self, mechanism: Mechanism | Any) -> Reading:
        """The mechanism's columns in the form that values are computed from; its alphabet is checked."""
        reading = read_mechanism(mechanism) if isinstance(mechanism, Mechanism) else read_array(mechanism)
        if reading.k != self.k:
            raise InvalidParameter(
                f"the mechanism must have {self.k} inputs, as {self.name} has", parameter="k", value=reading.k
            )
        return reading

    @abstractmethod
    def of(self, reading: Reading) -> float:
        """The value of what was read."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything needed to make the utility again, as JSON values."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Utility) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.name, self.k))


class SumOfColumns(Utility):
    """A utility Σ_y μ(q_y) with μ sublinear: homogeneous of degree one and subadditive."""

    def of(self, reading: Reading) -> float:
        return float(self._values(reading).sum())

    def column_values(self, columns: Any) -> Floats:
        """μ of each column of a k×n array of non-negative numbers."""
        array = np.asarray(columns, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != self.k or not np.isfinite(array).all() or (array < 0).any():
            raise InvalidParameter(
                f"columns must be {self.k}×n, finite and non-negative", parameter="columns.shape", value=array.shape
            )
        return self._values(Reading.dense(array))

    @abstractmethod
    def _values(self, reading: Reading) -> Floats:
        """μ of each column read."""
