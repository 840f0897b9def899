"""How much is kept at each ε: the optimum and the closed forms over a grid of privacy levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from extremal.closed_forms.forms import curve_values
from extremal.errors import InvalidParameter
from extremal.optimize.design import Design, design
from extremal.optimize.problem import Progress
from extremal.plotting import COLOURS, MARKERS, figure
from extremal.privacy import Notion
from extremal.tables import aligned, as_frame, number
from extremal.utility import Utility

OPTIMUM = "optimum"


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The optimum and the closed forms over ε. `str()` is a table for the terminal.

    Attributes:
        utility: what was optimised.
        epsilons: the grid.
        designs: the design at each ε.
        values: name → value at each ε (None: not applicable there); the first is the optimum.
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

    def __str__(self) -> str:
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
        return (
            f"{self.utility.name}: the optimum, and the share of it that each closed form "
            f"reaches\n\n{aligned(header, body)}"
        )

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
            style |= {"linewidth": 6, "alpha": 0.35, "markersize": 0} if name == OPTIMUM else {"linewidth": 1.4}
            shown = [(e, v) for e, v in zip(self.epsilons, row, strict=True) if v is not None]
            left.plot([e for e, _ in shown], [v for _, v in shown], **style)
            if name != OPTIMUM:
                shares = [(e, v) for e, v in zip(self.epsilons, self.ratios[name], strict=True) if v is not None]
                right.plot([e for e, _ in shares], [v for _, v in shares], **style)
        for axis, label in ((left, self.utility.label), (right, "share of the optimum")):
            axis.set_xlabel("ε (nats)")
            axis.set_ylabel(label)
            axis.set_xscale("log" if max(self.epsilons) > 20 * min(self.epsilons) else "linear")
        left.legend(frameon=False, fontsize=8)
        return drawn


def tradeoff(
    privacy: Callable[[float], Notion], utility: Utility, epsilons: Sequence[float], progress: Progress | None = None
) -> Tradeoff:
    """The optimum at each ε, beside the closed forms that satisfy the same notion.

    Args:
        privacy: ε ↦ notion, such as `lambda epsilon: ex.LDP(epsilon)`.
        utility: what to maximise.
        epsilons: the grid, in nats.
        progress: called with "ε = …" and the share done.

    >>> import extremal as ex
    >>> curve = ex.tradeoff(ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.5, 1, 2])
    >>> [round(v, 4) for v in curve.ratios["binary"]]
    [1.0, 1.0, 1.0]
    """
    grid = tuple(float(e) for e in epsilons)
    if not grid:
        raise InvalidParameter("epsilons must hold at least one level", parameter="epsilons", value=epsilons)
    designs, rows = [], []
    for i, epsilon in enumerate(grid):
        notion = privacy(epsilon)
        if progress is not None:
            progress(f"ε = {epsilon:g}", i / len(grid))
        found = design(notion, utility)
        designs.append(found)
        rows.append({OPTIMUM: found.value, **curve_values(utility, notion)})
    names = dict.fromkeys(name for row in rows for name in row)
    return Tradeoff(utility, grid, tuple(designs), {name: tuple(row.get(name) for row in rows) for name in names})
