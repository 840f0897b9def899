"""Closed forms side by side: what each delivers under every notion and utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extremal.closed_forms.forms import Setting, made_for
from extremal.errors import InvalidParameter, TooLarge, UnknownLabel
from extremal.exact import as_prior
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP, LIP, PML
from extremal.tables import aligned, as_frame, number
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

    Attributes:
        epsilon: the ε that was asked for.
        rows: one for each mechanism.
        units: of the values that have one.
    """

    epsilon: float
    rows: tuple[Row, ...]
    units: dict[str, str] = field(default_factory=dict)

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

    def __str__(self) -> str:
        levels, values = list(self.rows[0].levels), list(self.rows[0].values)
        header = ["mechanism", "reports", *(f"{key} ε" for key in levels), *values]
        body = [
            [
                r.name,
                str(r.reports) if r.reports < 10**7 else f"{r.reports:.2g}" if r.reports < 10**300 else "huge",
                *(number(r.levels[key], 4) for key in levels),
                *(number(r.values[key]) for key in values),
            ]
            for r in self.rows
        ]
        return aligned(header, body, left=1)

    def plot(self) -> Any:
        """A bar chart for each utility, one bar a mechanism; a matplotlib figure."""
        keys = list(self.rows[0].values)
        drawn, axes = figure(width=3.2 + 3.2 * len(keys), height=1.2 + 0.36 * len(self.rows), columns=len(keys))
        for j, key in enumerate(keys):
            axis = axes if len(keys) == 1 else axes[j]
            finite = [r for r in self.rows if r.values[key] is not None and math.isfinite(r.values[key] or 0.0)]
            shown = [(f"{r.name}, LDP {number(r.levels['LDP'], 3)}", r.values[key]) for r in finite]
            names = [name for name, _ in shown][::-1]
            axis.barh(names, [value for _, value in shown][::-1], color=COLOURS[j % len(COLOURS)])
            axis.set_xlabel(f"{key} ({self.units[key]})" if self.units.get(key) else key)
            axis.grid(visible=False, axis="y")
            if j:
                axis.set_yticklabels([])
        drawn.suptitle(f"Closed forms at ε = {self.epsilon:g}", fontsize=11)
        return drawn


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

    Args:
        utilities: one or several, on the same inputs; a divergence brings the pair, information the prior.
        epsilon: nats.
        mechanisms: name → mechanism, instead of the closed forms.
        prior: for the PML and LIP levels; taken from the utilities if not given.

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
            Row(name, mechanism.m, levels, {key: _value(u, mechanism) for key, u in zip(keys, wanted, strict=True)})
        )
    units = {key: u.unit for key, u in zip(keys, wanted, strict=True) if u.unit}
    return Comparison(notion.epsilon, tuple(rows), units)


def _value(utility: Utility, mechanism: Mechanism) -> float | None:
    try:
        return utility(mechanism)
    except (TooLarge, UnknownLabel):  # too many reports to add up, or reports that no distortion is defined for
        return None


def _prior_of(utilities: list[Utility]) -> Any:
    informations = [u.prior for u in utilities if isinstance(u, MutualInformation)]
    return informations[0] if informations else next((u.pair.p0 for u in utilities if isinstance(u, Divergence)), None)
