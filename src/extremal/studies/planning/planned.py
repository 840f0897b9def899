"""The base of every plan: of people, privacy and what is reached, two are given and the third is solved for.

Around a plan there are curves: what other numbers of people reach, at this level and at others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.optimize.design import PATIENCE
from extremal.plotting import COLOURS, figure, plain_ticks
from extremal.privacy import LDP
from extremal.progress import ProgressLine
from extremal.studies.planning.search import MOST_EPSILON, MOST_PEOPLE
from extremal.tables import as_frame, number, wrapped

FACTORS = (0.5, 1.0, 2.0)  # of ε, in a picture
POINTS = 13  # of a curve

Curve = Callable[[int], float]  # the number of people ↦ what they reach


@dataclass(frozen=True)
class Aim:
    """The aim of a plan: how it is reached, and by how many.

    Attributes:
        name: as the parameter is called.
        best: the mechanism to ask with at ε.
        people: the smallest number with which a mechanism reaches it; None if no number up to 10^10 does.
        level: the smallest ε with which that many people reach it.
        hint: where no number does.
    """

    name: str
    best: Callable[[Any], Mechanism]
    people: Callable[[Mechanism, float], int | None]
    level: Callable[[int, float], Fraction]
    hint: str

    def solve(
        self, mechanism: Mechanism | None, epsilon: Any, n: int | None, wanted: float | None
    ) -> tuple[Mechanism, float, int]:
        """The mechanism, its level and the number of people of a plan in which one of the three was left out."""
        with ProgressLine(PATIENCE) as line:
            line.doing("planning")
            if n is not None and wanted is not None:
                epsilon = self.level(n, wanted)
            asked = self.best(epsilon) if mechanism is None else mechanism
            people = self.people(asked, wanted) if n is None and wanted is not None else n
        if people is None:
            raise InvalidParameter(
                f"{self.name} must be reached by at most {MOST_PEOPLE:,} people",
                parameter=self.name,
                value=wanted,
                hint=self.hint,
            )
        return asked, LDP(epsilon).epsilon if mechanism is None else LDP(1).level(asked), people


@dataclass(frozen=True, eq=False, kw_only=True)
class Planned(ABC):
    """A plan: it says itself in sentences, and shows what other numbers of people reach."""

    reaches: ClassVar[str]  # the name of what is reached
    fewest: ClassVar[int]  # people that make sense
    instead: ClassVar[str]  # of a mechanism, where other levels are asked for

    solved: str
    n: int
    epsilon: float
    wanted: float | None
    mechanism: Mechanism
    without_privacy: int
    designed: bool = True

    @abstractmethod
    def _sentences(self) -> list[str]:
        """The plan in words, up to what it needs without privacy."""

    @abstractmethod
    def _curve(self, mechanism: Mechanism) -> Curve:
        """n ↦ what n people reach who are asked with a mechanism."""

    @abstractmethod
    def _best(self, epsilon: Any) -> Mechanism:
        """The mechanism that is planned with at a level."""

    @abstractmethod
    def _around(self) -> list[int]:
        """Numbers of people to show."""

    def summary(self) -> str:
        """The plan in sentences."""
        lines = [*self._sentences(), f"The same without randomisation needs {self.without_privacy:,} people."]
        if self.solved == "n" and self.n > self.fewest:
            lines.append(f"{self.n - 1:,} people do not reach what was asked for.")
        return "\n".join(map(wrapped, lines))

    __str__ = summary

    @property
    def _heading(self) -> str:
        return f"Plan: {self.n:,} people at ε = {number(self.epsilon, 4)}"

    @property
    def _asked(self) -> str:
        return "" if self.wanted is None else f" (asked for: {self.wanted:g})"

    def to_frame(self, ns: Iterable[int] | None = None, epsilons: Iterable[Any] | None = None) -> Any:
        """A data frame of what is reached: columns epsilon, n, and half_width or power.

        Args:
            ns: numbers of people; a range around `n` if not given.
            epsilons: levels, each with the best mechanism there; that of the plan if not given.
        """
        people = self._around() if ns is None else [as_count(n, "ns", self.fewest) for n in ns]
        curves = [(self.epsilon, self._curve(self.mechanism))]
        if epsilons is not None:
            if not self.designed:
                raise InvalidParameter(
                    "the plan is for one mechanism: other levels would be other mechanisms",
                    parameter="epsilons",
                    value=list(epsilons),
                    hint=f"Plan with {self.instead} instead of a mechanism.",
                )
            curves = [(LDP(e).epsilon, self._curve(self._best(e))) for e in epsilons]
        rows = [(epsilon, n, curve(n)) for epsilon, curve in curves for n in people]
        return as_frame({name: [row[i] for row in rows] for i, name in enumerate(("epsilon", "n", self.reaches))})

    def _drawn(self, plain: Curve, label: str) -> Any:
        """Against the number of people, with the curve `plain` of unrandomised answers, and against ε where the
        mechanism was designed."""
        drawn, axes = figure(width=10.5 if self.designed else 6.0, height=4.2, columns=2 if self.designed else 1)
        left = axes[0] if self.designed else axes
        self._against_people(left, plain)
        if self.designed:
            self._against_level(axes[1])
        for axis in drawn.axes:
            plain_ticks(axis.xaxis, [v for line in axis.get_lines() for v in line.get_xdata()])
            axis.set_ylabel(label)
            axis.legend(frameon=False, fontsize=8)
        return drawn

    def _against_people(self, axis: Any, plain: Curve) -> None:
        ns, curves = self._around(), [(self.epsilon, self._curve(self.mechanism))]
        if self.designed:
            levels = [decimal(factor * self.epsilon) for factor in FACTORS]
            curves = [(float(e), self._curve(self._best(e))) for e in levels]
        for j, (epsilon, curve) in enumerate(curves):
            axis.plot(ns, [curve(n) for n in ns], color=COLOURS[j], label=f"ε = {number(epsilon, 4)}")
        axis.plot(ns, [plain(n) for n in ns], "--", color=COLOURS[5], label="no randomisation")
        axis.plot([self.n], [getattr(self, self.reaches)], "o", color="black", label=f"this plan: n = {self.n:,}")
        axis.set_xlabel("people n")

    def _against_level(self, axis: Any) -> None:
        ends = max(self.epsilon / 8, 1e-6), min(self.epsilon * 8, float(MOST_EPSILON))
        grid = [decimal(e) for e in np.geomspace(*ends, POINTS).tolist()]
        curves = [self._curve(self._best(e)) for e in grid]
        for j, n in enumerate((max(self.n // 4, self.fewest), self.n, min(self.n * 4, MOST_PEOPLE))):
            axis.plot([float(e) for e in grid], [curve(n) for curve in curves], color=COLOURS[j], label=f"n = {n:,}")
        axis.plot([self.epsilon], [getattr(self, self.reaches)], "o", color="black")
        axis.set_xlabel("ε (nats)")


def people_around(first: int, last: int) -> list[int]:
    """Numbers of people from one to another, at equal ratios."""
    return sorted({round(n) for n in np.geomspace(first, min(last, MOST_PEOPLE), POINTS).tolist()})


def decimal(epsilon: float) -> Fraction:
    """A level as a plan would write it: four digits, and at most 50."""
    return Fraction(f"{min(epsilon, float(MOST_EPSILON)):.4g}")


def left_out(mechanism: Any, epsilon: Any, n: Any, name: str, value: Any) -> str:
    """The one of n, ε (or the mechanism) and what is to be reached, called `name`, that was not given."""
    if mechanism is not None and epsilon is not None:
        raise InvalidParameter(
            "a mechanism has its own level", parameter="epsilon", value=epsilon, hint="Leave epsilon out."
        )
    given = {"n": n, "epsilon": epsilon if mechanism is None else mechanism, name: value}
    missing = [key for key, known in given.items() if known is None]
    if len(missing) != 1:
        missed = " and ".join(missing)
        raise InvalidParameter(
            f"give two of n, epsilon (or a mechanism) and {name}, and the third is solved for; "
            f"{f'{missed} are missing' if missing else 'all three were given'}",
            hint=f"Leave out {name}." if not missing else f"For example, n=1000 gives {name}.",
        )
    return missing[0]


def unreached(name: str, people: int, wanted: float, needed: int | None, hint: str) -> InvalidParameter:
    """No ε will do; `needed` people would without randomisation, and where no number does the hint is another."""
    return InvalidParameter(
        f"n people must be able to reach {name} at some ε up to 50",
        parameter=f"n, {name}",
        value=(people, wanted),
        hint=hint if needed is None else f"Without any randomisation it needs {needed:,} people.",
    )
