"""What every utility is: a number for each mechanism, made of what its columns are worth.

A utility is an immutable value, called on a mechanism (computed from its integer weights and structure) or on a plain
row-stochastic array. Most are sums U(Q) = Σ_y μ(q_y) of a sublinear function μ of the columns (KOV Definition 1):
convex and homogeneous, hence smaller after any post-processing (KOV Proposition 17). `is_cost` says whether less is
better. Unknown input (another alphabet, rows that do not sum) is refused, never coerced.

What others must know about a utility is asked of its class: how a file makes it, its unit, whether
its optimality can be verified. `UTILITIES` has every class by name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.problem import Goal, states
from extremal.utility.reading import Reading, read_array, read_mechanism

Floats = npt.NDArray[np.float64]


class Utility(ABC):
    """Base of every utility.

    Attributes:
        name: the name in files, tables and on the command line.
        k: number of inputs.
        is_cost: True when less is better.
        unit: of its values, for tables and axes; empty when they have none.
        of_user: True when it holds a function that the user wrote.
    """

    name: ClassVar[str]
    is_cost: ClassVar[bool] = False
    of_user: ClassVar[bool] = False
    unit: str = ""
    k: int

    @abstractmethod
    def __call__(self, mechanism: Mechanism | Any) -> float:
        """The value of a mechanism, or of a row-stochastic array."""

    @property
    def verifiable(self) -> bool:
        """Whether a claim of optimality can be checked: False for a user's function, and for a user's class, whatever
        it derives from or is called."""
        return UTILITIES.get(self.name) is type(self) and not self.of_user

    @property
    def label(self) -> str:
        """Its name in words, with the unit if it has one, for axes and captions."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name)
        return f"{words} ({self.unit})" if self.unit else words

    def read(self, mechanism: Mechanism | Any) -> Reading:
        """The mechanism's columns in the form that values are computed from; its alphabet is checked."""
        reading = read_mechanism(mechanism) if isinstance(mechanism, Mechanism) else read_array(mechanism)
        if reading.k != self.k:
            raise InvalidParameter(
                f"the mechanism must have {self.k} inputs, as {self.name} has", parameter="k", value=reading.k
            )
        return reading

    def problem(self) -> Goal | None:
        """What a proof knows of it: asked of the classes of this package only, never of a user's."""
        return None

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything needed to state the utility in a file, as JSON values."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Utility) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.name, self.k))


class OfColumns(Utility):
    """A utility that looks at the columns of a mechanism and not at what the reports are called."""

    def __call__(self, mechanism: Mechanism | Any) -> float:
        return self.of(self.read(mechanism))

    @abstractmethod
    def of(self, reading: Reading) -> float:
        """The value of what was read."""


class SumOfColumns(OfColumns):
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


UTILITIES: dict[str, type[Utility]] = {}
"""Every utility of this package by name: what files, checkers and the command line know."""

Kind = TypeVar("Kind", bound=type[Utility])


def registered(kind: Kind) -> Kind:
    """Enter a class of this package into `UTILITIES`, where it is defined."""
    if kind.name in UTILITIES:
        raise TypeError(f"two utilities are called {kind.name}")
    UTILITIES[kind.name] = kind
    states(kind, lambda utility: utility.problem())
    return kind
