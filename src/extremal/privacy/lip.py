"""Local information privacy: a report moves no posterior far from the prior, in either direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Column, ExactView, Exponential, Prior, as_prior, by_row_class, prefix_sums
from extremal.exact.written import level_field, refuse_other_fields
from extremal.privacy.notion import Notion, Ratio, level_by_ratio, refused_by_ratio
from extremal.problem import Lift, states


class LIP(Notion):
    """ε-local information privacy for a prior.

    e^−λ ≤ Q(y|x)/P_Y(y) ≤ e^ε for every x with p(x) > 0 and every report y that can occur, P_Y = Σ p(x)Q(·|x). λ = ε
    unless `lower` is given (asymmetric local information privacy).

    Guarantee: decided on integers, the prior being the decimals given, divided by their exact sum.

    Args:
        epsilon: nats, 0 or 1e-9..100: bound on how much likelier a report makes an input.
        prior: a probability vector.
        lower: λ in nats: bound on how much less likely. None: the same as epsilon.

    Reference: Jiang, Seif, Tandon, Li, Context-Aware Local Information Privacy, IEEE TIFS 16 (2021); the asymmetric
    form in Zarrabian, Ding, Sadeghi, On the Lift, Related Privacy Measures, and Applications to Privacy–Utility
    Trade-offs, Entropy 25 (2023).

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> ex.LIP(1, [0.5, 0.5]).holds(m), ex.LIP(0.5, [0.5, 0.5]).holds(m)
    (True, False)
    """

    name = "LIP"

    def __init__(self, epsilon: Any, prior: Any, lower: Any = None) -> None:
        self.exponential = Exponential(epsilon)
        self.prior: Prior = as_prior(prior)
        self._lower = None if lower is None else Exponential(lower, "lower")

    def under(self, prior: Any) -> LIP:
        """The notion at the same levels for another prior.

        >>> LIP(1, [0.5, 0.5], lower=2).under([0.9, 0.1])
        LIP(epsilon=1.0, Prior([0.9, 0.1]), lower=2.0)
        """
        return self._at(self.exponential, as_prior(prior), self._lower)

    @classmethod
    def _at(cls, exponential: Exponential, prior: Prior, lower: Exponential | None) -> LIP:
        notion = cls.__new__(cls)
        notion.exponential, notion.prior, notion._lower = exponential, prior, lower
        return notion

    @property
    def k(self) -> int:
        """Number of inputs."""
        return len(self.prior)

    @property
    def lower(self) -> float:
        """λ, the bound on the other side; ε itself when the notion is symmetric."""
        return self.lower_exponential.epsilon

    @property
    def lower_exponential(self) -> Exponential:
        """e^λ, exactly; e^ε itself when the notion is symmetric."""
        return self.exponential if self._lower is None else self._lower

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε, under this notion's prior or under another one; with a fixed `lower` that is broken:
        infinity."""
        view = self._readable(mechanism)
        upper, lower = self._ratios(view, self.prior if prior is None else as_prior(prior))
        if self._lower is None:
            return level_by_ratio(view.patterns(), lambda column: [upper(column), lower(column)])
        if refused_by_ratio(view.patterns(), lambda column: [lower(column)], self._lower, first=True):
            return math.inf
        return level_by_ratio(view.patterns(), lambda column: [upper(column)])

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        upper, lower = self._ratios(view, self.prior)
        above = refused_by_ratio(view.patterns(), lambda column: [upper(column)], self.exponential, first)
        below = refused_by_ratio(view.patterns(), lambda column: [lower(column)], self.lower_exponential, first)
        return sorted({*above, *below})

    def _ratios(self, view: ExactView, prior: Prior) -> tuple[Callable[[Column], Ratio], Callable[[Column], Ratio]]:
        if len(prior) != view.k:
            raise InvalidParameter(
                f"the prior must have {view.k} entries, one for each input", parameter="len(prior)", value=len(prior)
            )
        masses = by_row_class(prior.weights, view)
        prefix, total = prefix_sums(masses), prior.total

        def upper(orbit: Column) -> Ratio:
            column, _ = orbit.arranged(masses)
            largest = next(value for value, members in reversed(column.groups) if members.total(prefix))
            return largest * total, column.weighted_sum(prefix)

        def lower(orbit: Column) -> Ratio:
            _, column = orbit.arranged(masses)
            smallest = next(value for value, members in column.groups if members.total(prefix))
            return column.weighted_sum(prefix), smallest * total

        return upper, lower

    def to_json(self) -> dict[str, Any]:
        lower = None if self._lower is None else self._lower.to_json()
        return {"notion": self.name, **self.exponential.to_json(), "prior": self.prior.to_json(), "lower": lower}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LIP:
        refuse_other_fields(content, ("notion", level_field(content), "prior", "lower"), "a claim of LIP")
        below, lower = content["lower"], None
        if below is not None:
            refuse_other_fields(below, (level_field(below),), "the lower level of LIP")
            lower = Exponential.from_json(below)
        return cls._at(Exponential.from_json(content), Prior.from_json(content["prior"]), lower)

    def __repr__(self) -> str:
        lower = "" if self._lower is None else f", lower={self.lower!r}"
        return f"LIP(epsilon={self.epsilon!r}, {self.prior!r}{lower})"


states(LIP, lambda lip: Lift(lip.prior, lip.lower_exponential, lip.exponential))
