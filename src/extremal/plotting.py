"""Pictures, made with matplotlib when one is asked for; no window, no global state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent, refuse_existing
from extremal.errors import InvalidParameter, MissingDependency

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c77d1e", "#555555", "#17a2a2", "#a0a000")
ENDINGS = (".png", ".pdf", ".svg")  # of pictures that are written
MOST_TICKS = 7  # with numbers, on one axis
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


def draw_curve(axis: Any, x: Iterable[float], y: Iterable[float | None], place: int, name: str, **style: Any) -> None:
    """One of several curves, where it has finite values, in the colour and with the marker of its place among them."""
    shown = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and math.isfinite(b)]
    if shown:
        usual = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)], "markersize": 4}
        axis.plot(*zip(*shown, strict=True), label=name, **{**usual, **style})


def plain_ticks(axis: Any, values: Iterable[float]) -> None:
    """A logarithmic axis (`axes.xaxis` or `axes.yaxis`) with numbers as people write them, few enough to be read."""
    if axis.axis_name == "x":
        axis.axes.set_xscale("log")
    else:
        axis.axes.set_yscale("log")
    seen = [float(v) for v in values]
    low, high = min(seen), max(seen)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            float(f"{step}e{power}")
            for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for step in steps
        ]
        ticks = [tick for tick in ticks if low * 0.98 <= tick <= high * 1.02]
        if len(ticks) <= MOST_TICKS:
            break
    axis.set_ticks(ticks, [f"{tick:,.6g}" if tick < 10**6 else f"{tick:.0e}" for tick in ticks])
    axis.set_ticks([], minor=True)


def as_svg(drawn: Any) -> str:
    """A figure as an element of a page."""
    import io

    held = io.StringIO()
    drawn.savefig(held, format="svg", metadata={"Date": None})
    text = held.getvalue()
    return text[text.index("<svg") :]


def refuse_ending(path: Path) -> None:
    """Raise unless a name ends as a picture's does."""
    if path.suffix.lower() not in ENDINGS:
        raise InvalidParameter(
            "a picture must have the ending of a format", parameter="path", value=str(path), hint="png, pdf or svg."
        )


def save(drawn: Any, path: str | Path, overwrite: bool = False) -> Path:
    """Write the figure, complete or not at all; the format follows the file's name. Drawn again, the file is the same
    byte for byte.

    Raises:
        InvalidParameter: the name ends in no format of `ENDINGS`.
        FileConflict: the file exists, and may not be replaced.
    """
    from matplotlib import rc_context

    target = Path(path)
    refuse_ending(target)
    ending = target.suffix.lower().removeprefix(".")
    refuse_existing(target, overwrite)
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    with complete_or_absent(target, overwrite) as temporary, rc_context({"svg.hashsalt": "extremal"}):
        drawn.savefig(temporary, dpi=150, format=ending, metadata=undated)
    return target
