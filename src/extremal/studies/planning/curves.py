"""What a plan reaches with other numbers of people and at other levels: the table and the picture of every plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.plotting import COLOURS, figure, plain_ticks
from extremal.privacy import LDP
from extremal.studies.planning.search import MOST_EPSILON, MOST_PEOPLE
from extremal.tables import as_frame, number, wrapped

FACTORS = (0.5, 1.0, 2.0)  # of ε, in a picture
POINTS = 13  # of a curve

Curve = Callable[[int], float]  # the number of people ↦ what they reach


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves around one plan.

    Attributes:
        name: of what is reached, as the table's column.
        n, epsilon, reached: the plan itself.
        fewest: people that make sense.
        around: numbers of people to show.
        own: the curve of the plan's mechanism.
        best: the curve of the best mechanism at a level; None where the plan is for a mechanism that was given.
        hint: how to plan so that other levels make sense.
    """

    name: str
    n: int
    epsilon: float
    reached: float
    fewest: int
    around: list[int]
    own: Curve
    best: Callable[[Any], Curve] | None
    hint: str

    def to_frame(self, ns: Iterable[int] | None, epsilons: Iterable[Any] | None) -> Any:
        """Columns epsilon, n, and what is reached."""
        people = self.around if ns is None else [as_count(n, "ns", self.fewest) for n in ns]
        curves = [(self.epsilon, self.own)]
        if epsilons is not None:
            if self.best is None:
                raise InvalidParameter(
                    "the plan is for one mechanism: other levels would be other mechanisms",
                    parameter="epsilons",
                    value=list(epsilons),
                    hint=self.hint,
                )
            curves = [(LDP(e).epsilon, self.best(e)) for e in epsilons]
        rows = [(epsilon, n, curve(n)) for epsilon, curve in curves for n in people]
        return as_frame({name: [row[i] for row in rows] for i, name in enumerate(("epsilon", "n", self.name))})

    def plot(self, plain: Curve, label: str) -> Any:
        """Against the number of people, with the curve `plain` of unrandomised answers, and against ε where the
        mechanism was designed."""
        designed, ns = self.best is not None, self.around
        drawn, axes = figure(width=10.5 if designed else 6.0, height=4.2, columns=2 if designed else 1)
        left = axes[0] if designed else axes
        curves = [(self.epsilon, self.own)]
        if self.best is not None:
            levels = [decimal(factor * self.epsilon) for factor in FACTORS]
            curves = [(float(e), self.best(e)) for e in levels]
            self._against_level(axes[1], self.best)
        for j, (epsilon, curve) in enumerate(curves):
            left.plot(ns, [curve(n) for n in ns], color=COLOURS[j], label=f"ε = {number(epsilon, 4)}")
        left.plot(ns, [plain(n) for n in ns], "--", color=COLOURS[5], label="no randomisation")
        left.plot([self.n], [self.reached], "o", color="black", label=f"this plan: n = {self.n:,}")
        left.set_xlabel("people n")
        for axis in axes if designed else (left,):
            plain_ticks(axis.xaxis, [v for line in axis.get_lines() for v in line.get_xdata()])
            axis.set_ylabel(label)
            axis.legend(frameon=False, fontsize=8)
        return drawn

    def _against_level(self, axis: Any, best: Callable[[Any], Curve]) -> None:
        ends = max(self.epsilon / 8, 1e-6), min(self.epsilon * 8, float(MOST_EPSILON))
        grid = [decimal(e) for e in np.geomspace(*ends, POINTS).tolist()]
        curves = [best(e) for e in grid]
        for j, n in enumerate((max(self.n // 4, self.fewest), self.n, min(self.n * 4, MOST_PEOPLE))):
            axis.plot([float(e) for e in grid], [curve(n) for curve in curves], color=COLOURS[j], label=f"n = {n:,}")
        axis.plot([self.epsilon], [self.reached], "o", color="black")
        axis.set_xlabel("ε (nats)")


class Planned(ABC):
    """What every plan can do: say itself in sentences, and show what other numbers of people reach."""

    fewest: ClassVar[int]  # people that make sense
    solved: str
    n: int

    @abstractmethod
    def _sentences(self) -> list[str]:
        """What is reached, how, and without privacy."""

    @property
    @abstractmethod
    def _curves(self) -> Curves:
        """What is reached around the plan."""

    def summary(self) -> str:
        """The plan in sentences."""
        lines = self._sentences()
        if self.solved == "n" and self.n > self.fewest:
            lines.append(f"{self.n - 1:,} people do not reach what was asked for.")
        return "\n".join(map(wrapped, lines))

    __str__ = summary

    def to_frame(self, ns: Iterable[int] | None = None, epsilons: Iterable[Any] | None = None) -> Any:
        """A data frame of what is reached: columns epsilon, n, and half_width or power.

        Args:
            ns: numbers of people; a range around `n` if not given.
            epsilons: levels, each with the best mechanism there; that of the plan if not given.
        """
        return self._curves.to_frame(ns, epsilons)


def people_around(first: int, last: int) -> list[int]:
    """Numbers of people from one to another, at equal ratios."""
    return sorted({round(n) for n in np.geomspace(first, min(last, MOST_PEOPLE), POINTS).tolist()})


def decimal(epsilon: float) -> Fraction:
    """A level as a plan would write it: four digits, and at most 50."""
    return Fraction(f"{min(epsilon, float(MOST_EPSILON)):.4g}")
