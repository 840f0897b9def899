"""One style for all figures: legible in print and in greyscale, so that no line is known by its colour alone."""

from __future__ import annotations

from typing import Any

from extremal.plotting import COLOURS

STYLES: dict[str, dict[str, Any]] = {
    "optimum": {"color": "#111111", "linestyle": "-", "marker": "o", "markersize": 3.5, "linewidth": 1.8},
    "binary": {"color": COLOURS[0], "linestyle": "--", "marker": "s", "markersize": 3.5, "linewidth": 1.4},
    "randomised response": {"color": COLOURS[1], "linestyle": "-.", "marker": "^", "markersize": 4, "linewidth": 1.4},
    "geometric": {"color": "#888888", "linestyle": ":", "marker": "v", "markersize": 4, "linewidth": 1.4},
    "design for the centres": {
        "color": COLOURS[2],
        "linestyle": "-",
        "marker": "o",
        "markersize": 3.5,
        "linewidth": 1.4,
    },
    "best design for one pair": {
        "color": COLOURS[0],
        "linestyle": "--",
        "marker": "s",
        "markersize": 3.5,
        "linewidth": 1.4,
    },
    "subset selection": {"color": COLOURS[2], "linestyle": "-", "marker": "D", "markersize": 3.5},
}
"""Name of a mechanism → how its line looks."""

DARK = 0.6  # shades above this take white figures


def labelled(axis: Any, x: str, y: str, title: str = "") -> None:
    """Names of the axes, with units, and a title."""
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if title:
        axis.set_title(title, fontsize=10)


def heat_map(drawn: Any, axis: Any, matrix: Any) -> None:
    """Probabilities as shades of grey with their values: a row for each input, a column for each report."""
    shown = axis.imshow(matrix, cmap="Greys", vmin=0.0, vmax=1.0, aspect="auto")
    for (x, y), value in ((index, matrix[index]) for index in _cells(matrix.shape)):
        axis.text(
            y, x, f"{value:.2f}", ha="center", va="center", color="white" if value > DARK else "black", fontsize=8
        )
    axis.set_xticks(range(matrix.shape[1]), [str(y + 1) for y in range(matrix.shape[1])])
    axis.set_yticks(range(matrix.shape[0]), [str(x + 1) for x in range(matrix.shape[0])])
    axis.grid(visible=False)
    labelled(axis, "report y", "input x")
    drawn.colorbar(shown, ax=axis, label="Q(y|x)")


def _cells(shape: tuple[int, int]) -> list[tuple[int, int]]:
    return [(x, y) for x in range(shape[0]) for y in range(shape[1])]
