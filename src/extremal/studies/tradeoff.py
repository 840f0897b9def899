"""How much is kept at each ε: the optimum and the closed forms over a grid of privacy levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from extremal.closed_forms.forms import curve_values
from extremal.errors import InvalidParameter
from extremal.optimize.design import Design, design
from extremal.optimize.problem import Progress
from extremal.plotting import COLOURS, MARKERS, figure
from extremal.privacy import LIP, PML, MetricPrivacy, Notion
from extremal.tables import aligned, as_frame, html, number
from extremal.utility import MutualInformation, Utility

OPTIMUM = "optimum"
_TICKS = [a * 10**b for b in range(-6, 3) for a in (1, 2, 5)]
_DASHES = ((), (5, 1.5), (1.5, 1.5), (7, 2, 1.5, 2))  # curves that coincide are seen through each other


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The optimum and the closed forms over ε. `str()` is a table for the terminal.

    Made by `ex.tradeoff`.

    Attributes:
        utility: what was optimised.
        epsilons: the grid.
        designs: the design at each ε.
        values: name → value at each ε (None: not applicable there); the first is the optimum.

    >>> import extremal as ex
    >>> ex.tradeoff(ex.LDP, ex.KL([0.7, 0.3], [0.4, 0.6]), [1]).epsilons
    (1.0,)
    """

    utility: Utility
    epsilons: tuple[float, ...]
    designs: tuple[Design, ...]
    values: dict[str, tuple[float | None, ...]]

    @property
    def ratios(self) -> dict[str, tuple[float | None, ...]]:
        """Each closed form's share of the optimum."""
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
        header = ["ε", OPTIMUM, "gap", "reports", *self.ratios]
        body = [
            [
                number(epsilon, 4),
                number(self.values[OPTIMUM][i], 8),
                f"{self.designs[i].gap:.0e}",
                str(self.designs[i].mechanism.m),
                *(number(row[i], 4) for row in self.ratios.values()),
            ]
            for i, epsilon in enumerate(self.epsilons)
        ]
        return header, body

    def _title(self) -> str:
        compared = (
            "how many times that each closed form costs"
            if self.utility.is_cost
            else "the share each closed form reaches"
        )
        return f"{self.utility.name}: the optimum, and {compared}"

    def __str__(self) -> str:
        return f"{self._title()}\n\n{aligned(*self._cells())}"

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption=self._title())

    def plot(self) -> Any:
        """Values on the left, shares of the optimum on the right, against ε; a matplotlib figure."""
        drawn, (left, right) = figure(width=10.5, height=4.2, columns=2)
        for j, (name, row) in enumerate(self.values.items()):
            style: dict[str, Any] = {
                "color": COLOURS[j % len(COLOURS)],
                "marker": MARKERS[j % len(MARKERS)],
                "markersize": 4,
                "label": name,
            }
            style |= (
                {"linewidth": 6, "alpha": 0.35, "markersize": 0}
                if name == OPTIMUM
                else {
                    "linewidth": 1.4,
                    "dashes": _DASHES[j % len(_DASHES)] or (1, 0),
                }
            )
            shown = [(e, v) for e, v in zip(self.epsilons, row, strict=True) if v is not None]
            left.plot([e for e, _ in shown], [v for _, v in shown], **style)
            if name != OPTIMUM:
                shares = [(e, v) for e, v in zip(self.epsilons, self.ratios[name], strict=True) if v is not None]
                right.plot([e for e, _ in shares], [v for _, v in shares], **style)
        least, most = min(self.epsilons), max(self.epsilons)
        for axis, label in (
            (left, self.utility.label),
            (right, "times the optimum" if self.utility.is_cost else "share of the optimum"),
        ):
            axis.set_xlabel("ε (nats)")
            axis.set_ylabel(label)
            if 0 < 20 * least < most:
                axis.set_xscale("log")
                ticks = [e for e in _TICKS if least <= e <= most]
                axis.set_xticks(ticks, [f"{e:g}" for e in ticks])
                axis.minorticks_off()
        left.set_title("What can be kept", fontsize="medium")
        right.set_title("What the mechanisms in use keep of it", fontsize="medium")
        left.legend(frameon=False, fontsize=8)
        return drawn


def tradeoff(
    privacy: Callable[[float], Notion], utility: Utility, epsilons: Sequence[float], progress: Progress | None = None
) -> Tradeoff:
    """The optimum at each ε, beside the closed forms that satisfy the same notion.

    Guarantee: each optimum comes with its gap; the closed forms are evaluated on their exact weights.

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
        rows.append({OPTIMUM: found.value, **curve_values(utility, notion)})
    names = dict.fromkeys(name for row in rows for name in row)
    return Tradeoff(utility, grid, tuple(designs), {name: tuple(row.get(name) for row in rows) for name in names})


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
