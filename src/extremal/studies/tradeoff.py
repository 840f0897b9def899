"""How much is kept at each ε: the optimum and the closed forms over a grid of privacy levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard, cast

from extremal.closed_forms.forms import curve_values
from extremal.errors import InvalidParameter
from extremal.optimize.design import Design, design
from extremal.optimize.problem import Progress
from extremal.plotting import COLOURS, MARKERS, figure, plain_ticks
from extremal.privacy import LIP, PML, MetricPrivacy, Notion
from extremal.studies.values import value_of
from extremal.tables import aligned, as_frame, how_many, html, number
from extremal.utility import MutualInformation, Utility, Workload

OPTIMUM = "optimum"
_TICKS = [a * 10**b for b in range(-6, 3) for a in (1, 2, 5)]
_DASHES = ((1, 0), (5, 1.5), (1.5, 1.5), (7, 2, 1.5, 2))  # curves that coincide are seen through each other
TOO_MANY, NOT_IDENTIFIED = "too many reports to add up", "does not identify what is wanted"
WORST_SHOWN = 100  # times the optimum: what costs more is beyond the right panel of a picture


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The optimum and the closed forms over ε. `str()` is a table for the terminal.

    Made by `ex.tradeoff`.

    Attributes:
        utility: what was optimised.
        epsilons: the grid.
        designs: the design at each ε.
        values: name → value at each ε (None: not applicable there); the first is the optimum.
        left_out: name → why, for closed forms that have no value at any ε.

    >>> import extremal as ex
    >>> curve = ex.tradeoff(ex.LDP, ex.KL([0.7, 0.3], [0.4, 0.6]), [1])
    >>> curve.epsilons, curve.left_out["local hashing"]
    ((1.0,), 'too many reports to add up')
    """

    utility: Utility
    epsilons: tuple[float, ...]
    designs: tuple[Design, ...]
    values: dict[str, tuple[float | None, ...]]
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def ratios(self) -> dict[str, tuple[float | None, ...]]:
        """Each closed form's share of the optimum; of a cost, how many times the optimum it is."""
        best = self.values[OPTIMUM]
        return {
            name: tuple(None if v is None or not b else v / b for v, b in zip(row, best, strict=True))
            for name, row in self.values.items()
            if name != OPTIMUM
        }

    def to_frame(self) -> Any:
        """A data frame: ε, the values, the gap, and each form's share of the optimum."""
        columns: dict[str, Any] = {
            "epsilon": list(self.epsilons),
            **{name: list(row) for name, row in self.values.items()},
        }
        columns["gap"] = [d.gap for d in self.designs]
        return as_frame({**columns, **{f"{name} / optimum": list(row) for name, row in self.ratios.items()}})

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        body = [
            [OPTIMUM, *(number(v) for v in self.values[OPTIMUM])],
            ["its gap", *(f"{d.gap:.0e}" for d in self.designs)],
            ["its reports", *(how_many(d.mechanism.m) for d in self.designs)],
            *([name, *(number(v, 4) for v in row)] for name, row in self.ratios.items()),
        ]
        return ["ε", *(number(e, 4) for e in self.epsilons)], body

    def _title(self) -> str:
        if isinstance(self.utility, Workload):
            return f"{self.utility.name}: n·MSE of the optimum, and how many times its respondents each other needs"
        cost = self.utility.is_cost
        reached = "how many times it each closed form has" if cost else "the share of it that each closed form reaches"
        return f"{self.utility.name}: the optimum, and {reached}"

    def _below(self) -> list[str]:
        return [
            f"left out ({why}): {', '.join(name for name, reason in self.left_out.items() if reason == why)}"
            for why in dict.fromkeys(self.left_out.values())
        ]

    def __str__(self) -> str:
        return "\n".join([self._title(), "", aligned(*self._cells(), left=1), *self._below()])

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption=self._title(), below=self._below())

    def plot(self) -> Any:
        """Values on the left, shares of the optimum on the right (of a cost: times the optimum), against ε; a
        matplotlib figure. Of a cost, what is far above the optimum is beyond the picture, and the legend says so."""
        drawn, (left, right) = figure(width=12.5, height=4.8, columns=2)
        cost, best, ratios = self.utility.is_cost, self.values[OPTIMUM], self.ratios
        for j, (name, row) in enumerate(self.values.items()):
            beyond = cost and name != OPTIMUM and all(r is None or r > WORST_SHOWN for r in ratios[name])
            style = _style(j) | {"label": f"{name} (above the picture)" if beyond else name}
            _draw(left, self.epsilons, row, style)
            if name != OPTIMUM:
                _draw(right, self.epsilons, ratios[name], style)
        beside = "share of the optimum" if not cost else f"{self.utility.unit or self.utility.name}, optimum = 1"
        for axis, label in ((left, self.utility.label), (right, beside)):
            axis.set_xlabel("ε (nats)")
            axis.set_ylabel(label)
            _spread(axis, self.epsilons)
        positive = [v for v in best if v]
        if cost and positive:
            most = min(WORST_SHOWN, max((r for row in ratios.values() for r in row if _shown(r)), default=1.0))
            for axis, lowest, highest in ((left, min(positive), most * max(positive)), (right, 1.0, most)):
                plain_ticks(axis.yaxis, [lowest, highest])
                axis.set_ylim(0.9 * lowest, 1.1 * highest)
        left.set_title("What can be kept" if not cost else "What it takes at the least", fontsize="medium")
        right.set_title(
            "What the mechanisms in use keep of it" if not cost else "What the mechanisms in use take",
            fontsize="medium",
        )
        drawn.legend(*left.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
        return drawn


def _style(j: int) -> dict[str, Any]:
    """How the j-th curve looks; the first is the optimum, broad and pale, so that curves on it are seen. A second round
    of colours has hollow markers and other dashes."""
    if not j:
        return {"color": "#111111", "linewidth": 6, "alpha": 0.3}
    again, i = divmod(j - 1, len(COLOURS))
    return {
        "color": COLOURS[i],
        "marker": MARKERS[(i + 3 * again) % len(MARKERS)],
        "markersize": 5,
        "markerfacecolor": "white" if again else COLOURS[i],
        "linewidth": 1.3,
        "dashes": _DASHES[(i + again) % len(_DASHES)],
    }


def _draw(axis: Any, epsilons: Sequence[float], row: Sequence[float | None], style: dict[str, Any]) -> None:
    shown = [(e, v) for e, v in zip(epsilons, row, strict=True) if _shown(v)]
    axis.plot([e for e, _ in shown], [v for _, v in shown], **style)


def _shown(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _spread(axis: Any, epsilons: Sequence[float]) -> None:
    """A logarithmic axis where the grid spans more than a decade."""
    least, most = min(epsilons), max(epsilons)
    if 0 < 20 * least < most:
        axis.set_xscale("log")
        ticks = [e for e in _TICKS if least <= e <= most]
        axis.set_xticks(ticks, [f"{e:g}" for e in ticks])
        axis.minorticks_off()


def tradeoff(
    privacy: Callable[[float], Notion], utility: Utility, epsilons: Sequence[float], progress: Progress | None = None
) -> Tradeoff:
    """The optimum at each ε, beside the closed forms that satisfy the same notion.

    Guarantee: each optimum comes with its gap; the closed forms are evaluated on their exact weights. Where a form has
    too many reports to list, n·MSE of a workload is that of its usual unbiased estimate.

    Args:
        privacy: ε ↦ notion: `ex.LDP`, or `lambda epsilon: ex.PML(epsilon, prior)`. With mutual information `ex.PML` and
            `ex.LIP` alone take the prior of the utility.
        utility: what to maximise.
        epsilons: the grid, in nats.
        progress: called with "ε = …" and the share done.

    Reference: the figures of KOV are such curves.

    >>> import extremal as ex
    >>> curve = ex.tradeoff(ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.5, 1, 2])
    >>> [round(v, 4) for v in curve.ratios["binary"]]
    [1.0, 1.0, 1.0]
    """
    grid = tuple(float(e) for e in epsilons)
    if not grid:
        raise InvalidParameter("epsilons must hold at least one level", parameter="epsilons", value=epsilons)
    at = _of_epsilon(privacy, utility)
    designs, rows = [], []
    for i, epsilon in enumerate(grid):
        notion = at(epsilon)
        if progress is not None:
            progress(f"ε = {epsilon:g}", i / len(grid))
        found = design(notion, utility)
        designs.append(found)
        rows.append({OPTIMUM: found.value, **curve_values(utility, notion, value=partial(value_of, utility))})
    names = dict.fromkeys(name for row in rows for name in row)
    values = {name: tuple(row.get(name) for row in rows) for name in names}
    left_out = {name: _why(row) for name, row in values.items() if name != OPTIMUM and not any(map(_shown, row))}
    shown = {name: row for name, row in values.items() if name not in left_out}
    return Tradeoff(utility, grid, tuple(designs), shown, left_out)


def _why(row: Sequence[float | None]) -> str:
    return TOO_MANY if all(v is None for v in row) else NOT_IDENTIFIED


def _of_epsilon(privacy: Any, utility: Utility) -> Callable[[float], Notion]:
    """ε ↦ notion; a notion about a prior takes that of the utility, if it has one."""
    if isinstance(privacy, type) and issubclass(privacy, (PML, LIP)) and isinstance(utility, MutualInformation):
        return lambda epsilon: privacy(epsilon, utility.prior)
    if not callable(privacy) or (isinstance(privacy, type) and issubclass(privacy, (PML, LIP, MetricPrivacy))):
        raise InvalidParameter(
            "privacy must give a notion for every ε",
            parameter="privacy",
            value=getattr(privacy, "__name__", privacy),
            hint="ex.LDP, or for instance lambda epsilon: ex.PML(epsilon, prior).",
        )
    return cast("Callable[[float], Notion]", privacy)
