"""One style for all figures: legible in print and in greyscale, so that no line is known by its colour alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from extremal.plotting import COLOURS


def _line(colour: str, line: str, marker: str, size: float = 3.5, width: float = 1.4) -> dict[str, Any]:
    return {"color": colour, "linestyle": line, "marker": marker, "markersize": size, "linewidth": width}


STYLES: dict[str, dict[str, Any]] = {
    "optimum": _line("#111111", "-", "o", width=1.8),
    "binary": _line(COLOURS[0], "--", "s"),
    "randomised response": _line(COLOURS[1], "-.", "^", size=4),
    "geometric": _line("#888888", ":", "v", size=4),
    "mean": _line(COLOURS[5], "--", "s"),
    "design for the centres": _line(COLOURS[2], "-", "o"),
    "best design for one pair": _line(COLOURS[0], "--", "s"),
    "subset selection": {"color": COLOURS[2], "linestyle": "-", "marker": "D", "markersize": 3.5},
}
"""Name of a mechanism, or of what is drawn of several → how its line looks."""

DARK = 0.6  # shades above this take white figures


def draw_forms(axis: Any, columns: Any, forms: Iterable[str], share: bool = False) -> None:
    """A line for each mechanism over ε; with `share`, divided by the optimum."""
    for form in forms:
        values = np.array(columns[form]) / np.array(columns["optimum"]) if share else columns[form]
        axis.plot(columns["epsilon"], values, label=form, **STYLES[form])


def labelled(axis: Any, x: str, y: str, title: str = "") -> None:
    """Names of the axes, with units, and a title."""
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if title:
        axis.set_title(title, fontsize=10)


def heat_map(drawn: Any, axis: Any, matrix: Any, first: int = 1) -> None:
    """Probabilities as shades of grey with their values: a row for each input, a column for each report, both numbered
    from `first` on."""
    shown = axis.imshow(matrix, cmap="Greys", vmin=0.0, vmax=1.0, aspect="auto")
    for (x, y), value in np.ndenumerate(matrix):
        ink = "white" if value > DARK else "black"
        axis.text(y, x, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=8)
    axis.set_xticks(range(matrix.shape[1]), [str(first + y) for y in range(matrix.shape[1])])
    axis.set_yticks(range(matrix.shape[0]), [str(first + x) for x in range(matrix.shape[0])])
    axis.grid(visible=False)
    labelled(axis, "report y", "input x")
    drawn.colorbar(shown, ax=axis, label="Q(y|x)")
