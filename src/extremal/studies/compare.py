"""Closed forms side by side: what each delivers under every notion and utility, and how many people each needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extremal.closed_forms.forms import Setting, made_for
from extremal.errors import InvalidParameter, called_as
from extremal.exact import Prior, as_prior
from extremal.mechanism import Mechanism
from extremal.optimize.design import PATIENCE, TIME_LIMIT, design
from extremal.optimize.workload.notes import bits_of, half_width, seconds_of
from extremal.plotting import COLOURS, colour_of, figure, plain_ticks
from extremal.privacy import LDP, LIP, PML
from extremal.progress import ProgressLine
from extremal.studies.tradeoff import value_of
from extremal.tables import aligned, as_frame, how_many, html, number
from extremal.utility import KL, Divergence, Frequencies, MutualInformation, Utility, Workload

BEST = "best mechanism"
GREY = 5  # place in the palette of mechanisms without a colour of their own


@dataclass(frozen=True)
class Compared:
    """One mechanism of a comparison: its levels (None: not defined) and values (None: too many reports to add up)."""

    name: str
    reports: int
    levels: dict[str, float | None]
    values: dict[str, float | None]
    mechanism: Mechanism = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """Mechanisms side by side. `str()` is a table for the terminal.

    Made by `ex.compare`.

    Attributes:
        notion: ε-LDP with the ε that was asked for.
        rows: one for each mechanism.
        utilities: by their names in the table.

    >>> import extremal as ex
    >>> table = ex.compare(ex.KL([0.7, 0.3], [0.4, 0.6]), epsilon=1, mechanisms={"mine": ex.randomized_response(2, 1)})
    >>> table.rows[0].levels["LDP"]
    1.0
    """

    notion: LDP
    rows: tuple[Compared, ...]
    utilities: dict[str, Utility] = field(repr=False)

    @property
    def epsilon(self) -> float:
        """The ε that was asked for."""
        return self.notion.epsilon

    def to_frame(self) -> Any:
        """A data frame with one row for each mechanism."""
        columns: dict[str, list[Any]] = {
            "mechanism": [r.name for r in self.rows],
            "reports": [r.reports for r in self.rows],
        }
        for key in self.rows[0].levels:
            columns[f"{key} level"] = [r.levels[key] for r in self.rows]
        for key in self.rows[0].values:
            columns[key] = [r.values[key] for r in self.rows]
        return as_frame(columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        levels, values = list(self.rows[0].levels), list(self.rows[0].values)
        header = ["mechanism", "reports", *(f"{key} ε" for key in levels), *values]
        body = [
            [
                r.name,
                how_many(r.reports),
                *(number(r.levels[key], 4) for key in levels),
                *(number(r.values[key]) for key in values),
            ]
            for r in self.rows
        ]
        return header, body

    def __str__(self) -> str:
        return aligned(*self._cells(), left=1)

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption=f"Mechanisms at ε = {self.epsilon:g}")

    def plot(self) -> Any:
        """A panel for each utility with the same mechanisms in the same order, best of the first utility on top; a
        matplotlib figure. Pale bars are of mechanisms whose LDP level exceeds the ε that was asked for."""
        keys = list(self.utilities)
        rows = sorted(self.rows, key=lambda r: self._rank(keys[0], r.values[keys[0]]))
        drawn, axes = figure(width=3.4 + 3.2 * len(keys), height=1.5 + 0.34 * len(rows), columns=len(keys))
        for j, key in enumerate(keys):
            axis = axes if len(keys) == 1 else axes[j]
            self._draw_bars(axis, rows, key, COLOURS[j % len(COLOURS)])
            axis.set_yticks(range(len(rows)), [self._named(row) for row in rows] if not j else [""] * len(rows))
        drawn.suptitle(f"Mechanisms at ε = {self.epsilon:g}", fontsize=11)
        return drawn

    def _draw_bars(self, axis: Any, rows: Sequence[Compared], key: str, colour: str) -> None:
        """A bar and a number for each value; a number alone where there is nothing to draw."""
        for y, row in enumerate(rows):
            value = row.values[key]
            bar = value if value is not None and math.isfinite(value) else 0.0
            if bar:
                axis.barh(y, bar, color=colour, alpha=0.35 if self._exceeds(row) else 1.0)
            axis.text(bar, y, f" {number(value, 3)}", va="center", fontsize=8, color="black" if bar else "0.4")
        utility = self.utilities[key]
        unit = f" ({utility.unit})" if utility.unit else ""
        axis.set_xlabel(f"{key}{unit}\n{'smaller' if utility.is_cost else 'larger'} is better")
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.margins(x=0.16)
        axis.grid(visible=False, axis="y")

    def _rank(self, key: str, value: float | None) -> float:
        """Best first; what has no value comes last."""
        return math.inf if value is None else value if self.utilities[key].is_cost else -value

    def _exceeds(self, row: Compared) -> bool:
        level = row.levels["LDP"]
        return level is not None and level > self.epsilon

    def _named(self, row: Compared) -> str:
        return f"{row.name} (LDP ε = {number(row.levels['LDP'], 3)})" if self._exceeds(row) else row.name

    def respondents(self, time_limit: float | None = TIME_LIMIT) -> Respondents:
        """Count the people whom each mechanism needs for the precision of the best one, where one goal is estimated.

        Guarantee: the best mechanism comes with a bound; the others are evaluated on their exact weights.

        Args:
            time_limit: seconds for the best mechanism; None for no limit.

        Raises:
            InvalidParameter: the table is not about one `ex.Frequencies`, `ex.CDF`, `ex.Ranges`, `ex.Mean` or
                `ex.Workload`.

        >>> import extremal as ex
        >>> table = ex.compare(ex.CDF(6), epsilon=1).respondents()
        >>> [row.name for row in table.rows][:2], round(table.rows[1].people, 3)
        (['best mechanism', 'subset selection (frequencies, d=2)'], 1.259)
        """
        (key, goal), *others = self.utilities.items()
        if others or not isinstance(goal, Workload):
            raise InvalidParameter(
                "respondents are compared for one thing that is estimated, such as ex.CDF(20)",
                parameter="utilities",
                value=list(self.utilities),
            )
        best = design(self.notion, goal, time_limit=time_limit)
        rows = [_needed(BEST, best.mechanism, goal, best.value, 1.0)]
        with ProgressLine(PATIENCE) as line:
            for done, row in enumerate(self.rows):
                line.share(f"timing {row.name}", done / len(self.rows))
                value = row.values[key]
                if value is not None and self.notion.holds(row.mechanism):
                    rows.append(_needed(row.name, row.mechanism, goal, value, value / best.value))
        rows.sort(key=lambda r: (r.name != BEST, r.value))
        return Respondents(self.epsilon, goal.name, best.lower_bound, tuple(rows))


@called_as("ex.compare(ex.Frequencies(4), epsilon=1)")
def compare(
    utilities: Sequence[Utility] | Utility,
    *,
    epsilon: Any,
    mechanisms: Mapping[str, Mechanism] | None = None,
    prior: Any = None,
) -> Comparison:
    """Compare every applicable closed form at ε: its level under each notion and its value under the utilities.

    Mechanisms made for ε-LDP and for ε-PML both appear: the columns of levels say what each promises under the other
    notion. Survey designs (two inputs) appear with their usual parameters, at the ε that they deliver. Where only
    shares of more than 200 inputs are wanted, forms for ordered values are left out.

    Guarantee: levels are the smallest ε at which each notion holds, decided in integers.

    Args:
        utilities: one or several, on the same inputs; a divergence brings the pair, information the prior.
        epsilon: nats.
        mechanisms: name → mechanism, instead of the closed forms.
        prior: for the PML and LIP levels; taken from the utilities if not given.

    Reference: docs/mechanisms/closed_forms.md cites the source of every form.

    >>> import extremal as ex
    >>> table = ex.compare([ex.MutualInformation([0.5, 0.3, 0.2])], epsilon=1)
    >>> [row.name for row in table.rows][:3]
    ['randomised response', 'geometric', 'subset selection (frequencies, d=1)']
    """
    wanted = _named(utilities)
    notion = LDP(epsilon)
    if not notion.epsilon:
        raise InvalidParameter(
            "epsilon must be positive: at 0 every mechanism is constant", parameter="epsilon", value=epsilon
        )
    source = as_prior(prior) if prior is not None else _prior_of(wanted.values())
    pair = next((u.pair for u in wanted.values() if isinstance(u, Divergence)), None)
    first = next(iter(wanted.values()))
    nominal = all(isinstance(u, Frequencies) for u in wanted.values())
    setting = Setting(first.k, epsilon, source, None if pair is None else KL(pair.p0, pair.p1), nominal)
    chosen = dict(mechanisms) if mechanisms is not None else made_for(setting)
    rows = []
    with ProgressLine(PATIENCE) as line:
        for done, (name, m) in enumerate(chosen.items()):
            line.share(name, done / len(chosen))
            values = {key: value_of(u, m) for key, u in wanted.items()}
            rows.append(Compared(name, m.m, _levels(m, source), values, m))
    return Comparison(notion, tuple(rows), wanted)


def _named(utilities: Sequence[Utility] | Utility) -> dict[str, Utility]:
    """Utilities by their names, numbered where several have the same."""
    wanted = [utilities] if isinstance(utilities, (str, Utility)) else list(utilities)
    for utility in wanted:
        if not isinstance(utility, Utility):
            raise InvalidParameter(
                "compare takes goals",
                parameter="utilities",
                value=utility,
                hint="ex.Frequencies(4), ex.Mean(range(5)), ex.KL(p0, p1) or ex.MutualInformation(prior).",
            )
    if not wanted or len({u.k for u in wanted}) != 1:
        raise InvalidParameter("utilities must be one or more, on the same inputs", parameter="utilities", value=wanted)
    names = [u.name for u in wanted]
    return {u.name if names.count(u.name) == 1 else f"{u.name} {i}": u for i, u in enumerate(wanted, 1)}


def _levels(mechanism: Mechanism, prior: Prior | None) -> dict[str, float | None]:
    """The level under each notion that can be asked for."""
    levels: dict[str, float | None] = {"LDP": LDP(1).level(mechanism)}
    if prior is not None:
        levels |= {"PML": PML(1, prior).level(mechanism), "LIP": LIP(1, prior).level(mechanism)}
    return levels


def _prior_of(utilities: Iterable[Utility]) -> Prior | None:
    """That of an information, else the first hypothesis."""
    known = [u.prior for u in utilities if isinstance(u, MutualInformation)]
    known += [u.pair.p0 for u in utilities if isinstance(u, Divergence)]
    return known[0] if known else None


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

    Made by `ex.compare(goal, epsilon=…).respondents()`.

    Attributes:
        epsilon: nats.
        goal: what is estimated.
        bound: no ε-LDP mechanism has a smaller n × mean squared error.
        rows: one for each mechanism, the best one first.
        n: respondents of the best mechanism that the interval and the last column are for.

    >>> import extremal as ex
    >>> ex.compare(ex.Frequencies(3), epsilon=1).respondents().rows[0].name
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
        """Two panels, n × mean squared error and respondents needed, on logarithmic axes; a matplotlib figure."""
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
            # Costs range over powers of ten: a point on a logarithmic axis cuts nothing off.
            colours = [colour_of(name, GREY) for name in names]
            axis.hlines(range(len(names)), sizes[-1], sizes, color=colours, linewidth=2, alpha=0.5)
            axis.scatter(sizes, range(len(names)), color=colours, zorder=3)
            for y, size in enumerate(sizes):
                axis.annotate(say(size), (size, y), (7, 0), textcoords="offset points", va="center", fontsize=9)
            axis.set_yticks(range(len(names)), names if not j else [""] * len(names))
            plain_ticks(axis.xaxis, [0.8 * min(sizes), max(sizes)])
            axis.set_xlim(0.8 * min(sizes), max(sizes) * (max(sizes) / min(sizes)) ** 0.3 * 1.1)
            axis.set_xlabel(f"{label} (logarithmic)")
            axis.grid(visible=False, axis="y")
        axes[0].axvline(self.bound, color="black", linewidth=1, linestyle="--")
        drawn.suptitle(f"{self.goal} at ε = {self.epsilon:g}; dashed: no mechanism is below", fontsize=11)
        return drawn


def _needed(name: str, mechanism: Mechanism, workload: Workload, value: float, people: float) -> Needed:
    reach = half_width(workload, value)
    return Needed(name, mechanism.m, value, people, reach, bits_of(mechanism), seconds_of(mechanism))
