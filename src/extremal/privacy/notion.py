"""What every privacy notion is, and how its claims are decided.

A notion is an immutable value: a set of admissible mechanisms, indexed by ε. Most are decided column by column from
ratios: the column q of an output is admissible when a ≤ e^ε·b for each pair (a, b) that the notion reads off it.
`holds` decides the inequality in integers; `level` finds the largest ratio and rounds its logarithm up, so that the
notion at that level holds. Unknown input (a plain array, a mechanism on another alphabet) is refused, never coerced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from extremal.errors import InvalidParameter
from extremal.exact import Column, ExactView, Exponential, level_of_ratio

Ratio = tuple[int, int]
Ratios = Callable[[Column], Iterable[Ratio]]


class Notion(ABC):
    """Base of `LDP`, `PML`, `LIP` and `MetricPrivacy`."""

    name: ClassVar[str]
    """What files call it."""

    exponential: Exponential

    @property
    def epsilon(self) -> float:
        """ε in nats."""
        return self.exponential.epsilon

    def holds(self, mechanism: Any) -> bool:
        """Whether the mechanism satisfies this notion, decided exactly on its integer weights."""
        return not self._refused(self._readable(mechanism), first=True)

    @abstractmethod
    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε at which the notion holds, rounded up so that it does hold there; infinity if there is
        none."""

    def refused_outputs(self, mechanism: ExactView) -> list[int] | None:
        """The outputs whose columns break the notion; None when no single column is to blame."""
        return self._refused(mechanism, first=False)

    @abstractmethod
    def _refused(self, view: ExactView, first: bool) -> list[int]:
        """Outputs at fault; only the first one when `first`."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything needed to make the notion again, as JSON values."""

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Notion:
        """The notion that `to_json` described."""

    def under(self, prior: Any) -> Notion:
        """The notion at the same level for another prior; itself when it depends on none."""
        return self

    def _readable(self, mechanism: Any) -> ExactView:
        if not hasattr(mechanism, "columns") or not hasattr(mechanism, "distinct_rows"):
            raise InvalidParameter(
                "privacy is decided on exact weights, not on a plain array",
                parameter="mechanism",
                value=mechanism,
                hint="Use ex.Mechanism.from_matrix(array) first: floats are private only after rounding.",
            )
        view: ExactView = mechanism
        return view

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notion) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.name, self.exponential))


def refused_by_ratio(columns: Iterable[Column], ratios: Ratios, exponential: Exponential, first: bool) -> list[int]:
    """Outputs with a ratio above e^ε."""
    refused = []
    for column in columns:
        if not all(exponential.at_least(a, b) for a, b in ratios(column)):
            refused.append(column.output)
            if first:
                break
    return refused


def level_by_ratio(columns: Iterable[Column], ratios: Ratios) -> float:
    """The level of the largest ratio over all columns."""
    largest: Ratio = (1, 1)
    for column in columns:
        for a, b in ratios(column):
            if a * largest[1] > largest[0] * b:
                largest = (a, b)
    return level_of_ratio(*largest)
