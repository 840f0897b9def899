"""How much information can be kept as ε grows, beside what one bit and randomised response keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.errors import InvalidParameter
from extremal.exact import Prior, as_prior
from extremal.optimize.information.notes import EXACT_BALANCE
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP
from extremal.tables import aligned, as_frame, heading, html, number
from extremal.utility import MutualInformation
from extremal.utility.curve import InformationCurve

FEW_POINTS = 25


@dataclass(frozen=True, eq=False)
class InformationOverEpsilon:
    """One row for each ε.

    Made by `ex.studies.information_over_epsilon`.

    Attributes:
        columns: "epsilon"; "optimum" and its "upper_bound"; "randomized_response"; "binary"; "limit" for any prior: m −
            1 − ln m; all in nats.

    >>> import extremal as ex
    >>> sorted(ex.studies.information_over_epsilon([0.5, 0.5], [1]).columns)[:3]
    ['binary', 'epsilon', 'limit']
    """

    prior: Prior
    columns: dict[str, list[float]]

    def to_frame(self) -> Any:
        """A data frame with these columns."""
        return as_frame(self.columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = zip(*self.columns.values(), strict=True)
        return [heading(name) for name in self.columns], [[number(value) for value in row] for row in rows]

    def __str__(self) -> str:
        return aligned(*self._cells())

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption="Mutual information (nats)")

    def plot(self) -> Any:
        """Information against ε, and the share of the optimum that the two classical mechanisms keep; a matplotlib
        figure."""
        drawn, (left, right) = figure(width=10.0, columns=2)
        c, epsilon = self.columns, self.columns["epsilon"]
        support = self.prior.values[self.prior.values > 0]
        left.axhline(
            -float(support @ np.log(support)),
            color="#999999",
            linewidth=0.8,
            linestyle=":",
            label="entropy of the prior",
        )
        left.plot(epsilon, c["limit"], color="#999999", linestyle="--", label="limit for any prior, m − 1 − ln m")
        points = {"marker": "o", "markersize": 4} if len(epsilon) <= FEW_POINTS else {}  # lines between few are guesses
        for name, label, colour in _LINES:
            width = 2.4 if name == "optimum" else 1.4
            left.plot(epsilon, c[name], color=colour, label=label, linewidth=width, **points)
        for name, label, colour in _LINES[1:]:
            share = [100 * value / best for value, best in zip(c[name], c["optimum"], strict=True)]
            right.plot(epsilon, share, color=colour, label=label, **points)
        left.set_ylabel("I(X;Y) (nats)")
        left.set_ylim(0, 1.15 * -float(support @ np.log(support)))
        right.set_ylabel("share of the optimum (%)")
        right.set_ylim(0, 103)
        for axis in (left, right):
            axis.set_xlabel("ε (nats)")
            axis.legend(frameon=False, fontsize=8)
        drawn.suptitle(f"Information kept under ε-LDP, {len(self.prior)} inputs", fontsize=11)
        return drawn


_LINES = (
    ("optimum", "optimum", COLOURS[0]),
    ("randomized_response", "randomised response", COLOURS[1]),
    ("binary", "one bit about the most balanced set", COLOURS[2]),
)


def information_over_epsilon(
    prior: Any, epsilons: Iterable[Any], tolerance: float = 1e-9, time_limit: float | None = None
) -> InformationOverEpsilon:
    """The certified optimum, randomised response, one bit, and the limit that holds for any prior, at each ε.

    Guarantee: the optimum lies between the columns optimum and upper_bound.

    Args:
        prior: the distribution of the input.
        epsilons: nats, above 0.
        tolerance, time_limit: of each design.

    Reference: KOV eq 5, on information preservation.

    >>> table = information_over_epsilon([0.5, 0.3, 0.2], [0.5, 2])
    >>> [round(value, 6) for value in table.columns["optimum"]]
    [0.0303, 0.401183]
    """
    from extremal.optimize.design import design

    exact = as_prior(prior)
    support = exact.values[exact.values > 0]
    z = float(balanced_subset(exact, EXACT_BALANCE).probability)
    names = ("epsilon", "optimum", "upper_bound", "randomized_response", "binary", "limit")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for epsilon in epsilons:
        notion = LDP(epsilon)
        if not notion.epsilon:
            raise InvalidParameter(
                "epsilons must be positive: at 0 nothing is reported", parameter="epsilons", value=epsilon
            )
        curve, found = (
            InformationCurve(notion.epsilon),
            design(notion, MutualInformation(exact), tolerance=tolerance, time_limit=time_limit),
        )
        row = (notion.epsilon, found.value, found.upper_bound, curve.response(support), curve.binary(z), curve.limit)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    if not columns["epsilon"]:
        raise InvalidParameter("epsilons must hold at least one value", parameter="epsilons", value=[])
    return InformationOverEpsilon(exact, columns)
