"""Pictures, made with matplotlib when one is asked for; no window, no global state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extremal.errors import MissingDependency

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c77d1e", "#555555", "#17a2a2", "#a0a000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


def figure(width: float = 7.0, height: float = 4.3, columns: int = 1) -> tuple[Any, Any]:
    """A figure and its axes (an array of axes when columns > 1), ready to be saved.

    Raises:
        MissingDependency: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("a picture needs matplotlib", hint="pip install 'extremal[plot]'") from None
    drawn = Figure(figsize=(width, height), layout="constrained")
    axes = drawn.subplots(1, columns)
    for axis in [axes] if columns == 1 else axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(visible=True, linewidth=0.4, alpha=0.6)
        axis.set_axisbelow(True)
    return drawn, axes


def save(drawn: Any, path: str | Path) -> Path:
    """Write the figure; the format follows the file's name."""
    target = Path(path)
    drawn.savefig(target, dpi=150)
    return target
