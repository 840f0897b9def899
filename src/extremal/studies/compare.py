"""Closed forms side by side: what each delivers under every notion and utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extremal.closed_forms.forms import Setting, made_for
from extremal.errors import InvalidParameter
from extremal.exact import as_prior
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP, LIP, PML
from extremal.studies.values import value_of
from extremal.tables import aligned, as_frame, how_many, html, number
from extremal.utility import KL, Divergence, MutualInformation, Utility


@dataclass(frozen=True)
class Row:
    """One mechanism of a comparison: its levels (None: not defined) and values (None: too many reports to add up)."""

    name: str
    reports: int
    levels: dict[str, float | None]
    values: dict[str, float | None]


@dataclass(frozen=True)
class Comparison:
    """Mechanisms side by side. `str()` is a table for the terminal.

    Made by `ex.compare`.

    Attributes:
        epsilon: the ε that was asked for.
        rows: one for each mechanism.
        units: of the values that have one.
        costs: names of the utilities of which less is better.

    >>> import extremal as ex
    >>> table = ex.compare(ex.KL([0.7, 0.3], [0.4, 0.6]), epsilon=1, mechanisms={"mine": ex.randomized_response(2, 1)})
    >>> table.rows[0].levels["LDP"]
    1.0
    """

    epsilon: float
    rows: tuple[Row, ...]
    units: dict[str, str] = field(default_factory=dict)
    costs: frozenset[str] = frozenset()

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
        keys = list(self.rows[0].values)
        rows = sorted(self.rows, key=lambda r: self._rank(keys[0], r.values[keys[0]]))
        drawn, axes = figure(width=3.4 + 3.2 * len(keys), height=1.5 + 0.34 * len(rows), columns=len(keys))
        places = range(len(rows))
        for j, key in enumerate(keys):
            axis = axes if len(keys) == 1 else axes[j]
            shown = [(y, r, v) for y, r in zip(places, rows, strict=True) if _drawable(v := r.values[key])]
            for y, row, value in shown:
                axis.barh(y, value, color=COLOURS[j % len(COLOURS)], alpha=0.35 if self._exceeds(row) else 1.0)
                axis.text(value, y, f" {number(value, 3)}", va="center", fontsize=8)
            for y in set(places) - {y for y, _, _ in shown}:
                axis.text(0, y, f" {number(rows[y].values[key], 3)}", va="center", fontsize=8, color="0.4")
            axis.set_yticks(list(places), [self._named(row) for row in rows] if not j else [""] * len(rows))
            axis.set_ylim(len(rows) - 0.5, -0.5)
            axis.margins(x=0.16)
            direction = "smaller is better" if key in self.costs else "larger is better"
            unit = f" ({self.units[key]})" if self.units.get(key) else ""
            axis.set_xlabel(f"{key}{unit}\n{direction}")
            axis.grid(visible=False, axis="y")
        drawn.suptitle(f"Mechanisms at ε = {self.epsilon:g}", fontsize=11)
        return drawn

    def _rank(self, key: str, value: float | None) -> float:
        """Best first; what has no value comes last."""
        return math.inf if value is None else value if key in self.costs else -value

    def _exceeds(self, row: Row) -> bool:
        level = row.levels["LDP"]
        return level is not None and level > self.epsilon

    def _named(self, row: Row) -> str:
        return f"{row.name} (LDP ε = {number(row.levels['LDP'], 3)})" if self._exceeds(row) else row.name


def _drawable(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def compare(
    utilities: Sequence[Utility] | Utility,
    *,
    epsilon: Any,
    mechanisms: Mapping[str, Mechanism] | None = None,
    prior: Any = None,
) -> Comparison:
    """Every applicable closed form at ε, with its level under each notion and its value under the utilities.

    Mechanisms made for ε-LDP and for ε-PML both appear: the columns of levels say what each promises under the other
    notion. Survey designs (two inputs) appear with their usual parameters, at the ε that they deliver.

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
    wanted = [utilities] if isinstance(utilities, Utility) else list(utilities)
    if not wanted or len({u.k for u in wanted}) != 1:
        raise InvalidParameter("utilities must be one or more, on the same inputs", parameter="utilities", value=wanted)
    notion = LDP(epsilon)
    if not notion.epsilon:
        raise InvalidParameter(
            "epsilon must be positive: at 0 every mechanism is constant", parameter="epsilon", value=epsilon
        )
    k, source = wanted[0].k, as_prior(prior) if prior is not None else _prior_of(wanted)
    pair = next((u.pair for u in wanted if isinstance(u, Divergence)), None)
    setting = Setting(k, epsilon, source, None if pair is None else KL(pair.p0, pair.p1))
    chosen = dict(mechanisms) if mechanisms is not None else made_for(setting)
    names = [u.name for u in wanted]
    keys = [n if names.count(n) == 1 else f"{n} {i + 1}" for i, n in enumerate(names)]
    rows = []
    for name, mechanism in chosen.items():
        levels: dict[str, float | None] = {"LDP": LDP(1).level(mechanism)}
        if source is not None:
            levels |= {"PML": PML(1, source).level(mechanism), "LIP": LIP(1, source).level(mechanism)}
        rows.append(
            Row(name, mechanism.m, levels, {key: value_of(u, mechanism) for key, u in zip(keys, wanted, strict=True)})
        )
    units = {key: u.unit for key, u in zip(keys, wanted, strict=True) if u.unit}
    costs = frozenset(key for key, u in zip(keys, wanted, strict=True) if u.is_cost)
    return Comparison(notion.epsilon, tuple(rows), units, costs)


def _prior_of(utilities: list[Utility]) -> Any:
    informations = [u.prior for u in utilities if isinstance(u, MutualInformation)]
    return informations[0] if informations else next((u.pair.p0 for u in utilities if isinstance(u, Divergence)), None)
