"""How many people each mechanism needs: closed forms against the best mechanism, for what will be estimated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from extremal.closed_forms.forms import Setting, made_for
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.optimize.workload.notes import half_width
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP
from extremal.studies.values import value_of
from extremal.tables import aligned, as_frame, number
from extremal.utility import Workload

BEST = "best mechanism"
TIMED = 1000  # reports
LONGEST_BAR = 6  # of a picture, in lengths of the shortest


@dataclass(frozen=True)
class Needed:
    """One mechanism: its reports, n × mean squared error, respondents relative to the best, and the half-width of a 95%
    interval at n = 1,000; infinite where the statistics cannot be estimated. `bits` hold a report; one takes `seconds`,
    measured here over a thousand."""

    name: str
    reports: int
    value: float
    people: float
    half_width: float
    bits: int
    seconds: float


@dataclass(frozen=True)
class Respondents:
    """Mechanisms by the people they need. `str()` is a table for the terminal.

    Made by `ex.studies.respondents`.

    Attributes:
        epsilon: nats.
        goal: what is estimated.
        bound: no ε-LDP mechanism has a smaller n × mean squared error.
        rows: one for each mechanism, the best one first.
        n: respondents of the best mechanism that the interval and the last column are for.

    >>> import extremal as ex
    >>> ex.studies.respondents(ex.Frequencies(3), epsilon=1).rows[0].name
    'best mechanism'
    """

    epsilon: float
    goal: str
    bound: float
    rows: tuple[Needed, ...]
    n: int = 1000

    def to_frame(self) -> Any:
        """A data frame with one row for each mechanism."""
        return as_frame(
            {
                "mechanism": [r.name for r in self.rows],
                "reports": [r.reports for r in self.rows],
                "n × mean squared error": [r.value for r in self.rows],
                "half-width of a 95% interval": [r.half_width for r in self.rows],
                "respondents": [r.people * self.n for r in self.rows],
                "bits per report": [r.bits for r in self.rows],
                "microseconds per report": [r.seconds * 1e6 for r in self.rows],
            }
        )

    def __str__(self) -> str:
        header = ["mechanism", "n·MSE", f"±95%, n={self.n:,}", "respondents", "bits", "µs/report"]
        body = [
            [
                r.name,
                number(r.value),
                number(r.half_width, 3),
                "not possible" if math.isinf(r.people) else f"{math.ceil(self.n * r.people - 1e-6):,}",
                f"{r.bits:,}",
                number(r.seconds * 1e6, 2),
            ]
            for r in self.rows
        ]
        last = f"no {self.epsilon:g}-LDP mechanism has n·MSE below {number(self.bound)}"
        return f"{aligned(header, body, left=1)}\n{last}"

    def plot(self) -> Any:
        """Two bar charts, n × mean squared error and respondents needed; a matplotlib figure."""
        shown = [r for r in self.rows if math.isfinite(r.value)][::-1]
        drawn, axes = figure(width=9.5, height=1.4 + 0.36 * len(shown), columns=2)
        names = [r.name for r in shown]
        panels: tuple[tuple[Any, list[float], Callable[[float], str], str], ...] = (
            (axes[0], [r.value for r in shown], lambda v: number(v, 4), f"n × mean squared error, {self.goal}"),
            (
                axes[1],
                [self.n * r.people for r in shown],
                lambda v: f"{math.ceil(v - 1e-6):,}",
                "respondents for equal precision",
            ),
        )
        for j, (axis, sizes, say, label) in enumerate(panels):
            far = min(max(sizes), LONGEST_BAR * sizes[-1])  # longer bars are cut, their number says how long
            axis.barh(names, [min(size, far) for size in sizes], color=COLOURS[2 * j])
            for y, size in enumerate(sizes):
                axis.text(min(size, far), y, f" {say(size)}{' →' if size > far else ''}", va="center", fontsize=8)
            axis.set_xlim(0, 1.25 * far)
            axis.set_xlabel(label)
            axis.grid(visible=False, axis="y")
        axes[0].axvline(self.bound, color=COLOURS[1], linewidth=1, linestyle="--")
        axes[1].set_yticklabels([])
        drawn.suptitle(f"{self.goal} at ε = {self.epsilon:g}; dashed: no mechanism is below", fontsize=11)
        return drawn


def respondents(workload: Workload, *, epsilon: Any, time_limit: float | None = None) -> Respondents:
    """How many respondents the closed forms need for the precision of the best mechanism.

    Guarantee: the best mechanism comes with a bound; the others are evaluated on their exact weights.

    Args:
        workload: what will be estimated: `ex.Frequencies`, `ex.CDF`, `ex.Ranges`, `ex.Mean`, `ex.Workload`.
        epsilon: nats, for ε-LDP.
        time_limit: seconds for the best mechanism; None for no limit.

    Reference: docs/mechanisms/closed_forms.md cites the source of every form.

    >>> import extremal as ex
    >>> table = ex.studies.respondents(ex.CDF(6), epsilon=1)
    >>> [row.name for row in table.rows][:2], round(table.rows[1].people, 3)
    (['best mechanism', 'subset selection (frequencies, d=2)'], 1.259)
    """
    given: object = workload
    if not isinstance(given, Workload):
        raise InvalidParameter(
            "respondents are compared for what is estimated, such as ex.CDF(20)", parameter="workload", value=given
        )
    notion = LDP(epsilon)
    best = design(notion, workload, time_limit=time_limit)
    rows = [_needed(BEST, best.mechanism, workload, best.value, 1.0)]
    for name, mechanism in made_for(Setting(workload.k, epsilon)).items():
        if not notion.holds(mechanism):
            continue
        value = value_of(workload, mechanism)
        if value is not None:
            rows.append(_needed(name, mechanism, workload, value, value / best.value))
    rows.sort(key=lambda r: (r.name != BEST, r.value))
    return Respondents(notion.epsilon, workload.name, best.lower_bound, tuple(rows))


def _needed(name: str, mechanism: Mechanism, workload: Workload, value: float, people: float) -> Needed:
    bits = (mechanism.m - 1).bit_length()
    return Needed(name, mechanism.m, value, people, half_width(workload, value), bits, _seconds(mechanism))


def _seconds(mechanism: Mechanism) -> float:
    """What one report takes here: the best of three rounds, after one that prepares."""
    values = [mechanism.inputs[x % mechanism.k] for x in range(TIMED)]
    found = []
    for _ in range(4):
        start = perf_counter()
        mechanism.privatize(values)
        found.append((perf_counter() - start) / TIMED)
    return min(found[1:])
