"""Local differential privacy, pure and approximate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Column, ExactView, Exponential, as_fraction, decimal_text
from extremal.privacy.approximate import excess_at_most, level_for_delta, smallest_delta
from extremal.privacy.notion import Notion, Ratio, level_by_ratio, refused_by_ratio


class LDP(Notion):
    """(ε,δ)-local differential privacy.

    Q(S|x) ≤ e^ε·Q(S|x') + δ for all inputs x, x' and all sets S of reports. For δ = 0: every column's largest weight is
    at most e^ε times its smallest (KOV eq 1, 7). For δ > 0: Σ_y (Q(y|x) − e^ε Q(y|x'))⁺ ≤ δ for all pairs (KOV eq 23).

    Guarantee: `holds` and `level` are decided on integers; no rounding favours the claim.

    Args:
        epsilon: nats, 0 or 1e-9..100; a float means the decimal it prints as.
        delta: 0 ≤ δ < 1.

    Reference: Kairouz, Oh, Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR 17 (2016).

    >>> import extremal as ex
    >>> m = ex.randomized_response(4, 1)
    >>> ex.LDP(1).holds(m), ex.LDP(0.999999999).holds(m), ex.LDP(1).level(m)
    (True, False, 1.0)
    """

    name = "LDP"

    def __init__(self, epsilon: Any, delta: Any = 0) -> None:
        self._set(Exponential(epsilon), delta)

    @classmethod
    def from_ratio(cls, ratio: Any, delta: Any = 0) -> LDP:
        """The notion with e^ε exactly `ratio`.

        >>> LDP.from_ratio(3).epsilon
        1.0986122886681098
        """
        notion = cls.__new__(cls)
        notion._set(Exponential.of_ratio(ratio), delta)
        return notion

    def _set(self, exponential: Exponential, delta: Any) -> None:
        self.exponential = exponential
        self._delta = as_fraction(delta, "delta")
        if not 0 <= self._delta < 1:
            raise InvalidParameter("delta must be at least 0 and less than 1", parameter="delta", value=delta)

    @property
    def delta(self) -> float:
        """δ, the probability mass that may escape the ratio bound."""
        return float(self._delta)

    @property
    def exact_delta(self) -> Fraction:
        """δ as the rational it was given as."""
        return self._delta

    def holds(self, mechanism: Any) -> bool:
        view = self._readable(mechanism)
        if not self._refused(view, first=True):
            return True
        return self._delta > 0 and excess_at_most(view, self.exponential, self._delta)

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε at this δ; `prior` has no part in it."""
        view = self._readable(mechanism)
        pure = level_by_ratio(_kinds(view), _extremes)
        if not self._delta or not pure:
            return pure
        return level_for_delta(view, self._delta, pure)

    def delta_at(self, mechanism: Any, epsilon: Any = None) -> float:
        """The smallest δ at `epsilon` (this notion's own if not given), rounded up so that (ε,δ)-LDP holds there.

        >>> import extremal as ex
        >>> round(ex.LDP(1).delta_at(ex.Mechanism.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), 0.5), 12)
        0.17025574586
        """
        view = self._readable(mechanism)
        exponential = self.exponential if epsilon is None else Exponential(epsilon)
        if not refused_by_ratio(_kinds(view), _extremes, exponential, first=True):
            return 0.0
        return smallest_delta(view, exponential)

    def refused_outputs(self, mechanism: ExactView) -> list[int] | None:
        if self._delta:
            return [] if self.holds(mechanism) else None
        return super().refused_outputs(mechanism)

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        return refused_by_ratio(_kinds(view) if first else view.columns(), _extremes, self.exponential, first)

    def to_json(self) -> dict[str, Any]:
        return {"notion": self.name, **self.exponential.to_json(), "delta": decimal_text(self._delta)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LDP:
        notion = cls.__new__(cls)
        notion._set(Exponential.from_json(content), content["delta"])
        return notion

    def __repr__(self) -> str:
        ratio = self.exponential.ratio
        inside = (
            f"LDP.from_ratio({ratio}"
            if ratio is not None and self.exponential.exponent is None
            else f"LDP(epsilon={self.epsilon!r}"
        )
        return inside + (f", delta={self.delta!r})" if self._delta else ")")


def _kinds(view: ExactView) -> Iterator[Column]:
    """Which weights a column has decides, not where: one column of each kind is enough."""
    return view.kinds_of_columns()


def _extremes(column: Column) -> list[Ratio]:
    return [(column.largest, column.smallest)]
