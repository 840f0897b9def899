"""Maximal leakage: how much likelier the best guess of anything becomes on average, whatever the prior."""

from __future__ import annotations

from typing import Any

from extremal.errors import TooLarge
from extremal.exact import ExactView, Exponential, level_of_ratio
from extremal.exact.written import level_field, refuse_other_fields
from extremal.privacy.notion import Notion
from extremal.problem import Leaked, states

MOST_REPORTS = 1 << 20  # whose largest weights are added up: a few seconds


class MaximalLeakage(Notion):
    """ε-maximal leakage: Σ_y max_x Q(y|x) ≤ e^ε.

    log Σ_y max_x Q(y|x) is the largest factor, over all priors with full support and all functions of the input, by
    which a report raises the probability of guessing that function right; an average over reports, where `ex.PML`
    bounds each report. It rests on no prior, and a report may rule inputs out.

    Guarantee: decided on the integer weights.

    Args:
        epsilon: nats, 0 or 1e-9..100.

    Reference: I. Issa, A. Wagner, S. Kamath, An Operational Approach to Information Leakage, IEEE Trans. Inf. Theory 66
    (2020).

    >>> import extremal as ex
    >>> m = ex.randomized_response(3, 1)
    >>> round(ex.MaximalLeakage(1).level(m), 6), ex.MaximalLeakage(0.5).holds(m)
    (0.547168, False)
    """

    name = "MaximalLeakage"

    def __init__(self, epsilon: Any) -> None:
        self.exponential = Exponential(epsilon)

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """log Σ_y max_x Q(y|x), rounded up; `prior` has no part in it."""
        view = self._readable(mechanism)
        return level_of_ratio(_sum_of_largest(view), view.denominator)

    def refused_outputs(self, mechanism: ExactView) -> list[int] | None:
        """None where the notion is broken: all columns together are to blame."""
        return None if self._refused(mechanism, first=True) else []

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        """The first output stands for all of them."""
        return [] if self.exponential.at_least(_sum_of_largest(view), view.denominator) else [0]

    def to_json(self) -> dict[str, Any]:
        return {"notion": self.name, **self.exponential.to_json()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> MaximalLeakage:
        refuse_other_fields(content, ("notion", level_field(content)), "a claim of maximal leakage")
        notion = cls.__new__(cls)
        notion.exponential = Exponential.from_json(content)
        return notion

    def __repr__(self) -> str:
        return f"MaximalLeakage(epsilon={self.epsilon!r})"


def _sum_of_largest(view: ExactView) -> int:
    if view.m > MOST_REPORTS:
        raise TooLarge(
            f"maximal leakage is decided for at most {MOST_REPORTS:,} reports", parameter="reports", value=view.m
        )
    total = 0
    for column in view.columns():
        if column.orbit:  # it stands for many reports, or bounds them: how many is not said
            raise TooLarge(
                "maximal leakage is decided where reports are listed one by one", parameter="reports", value=view.m
            )
        total += max(value for value, members in column.groups if len(members))
    return total


states(MaximalLeakage, lambda notion: Leaked(notion.exponential))
