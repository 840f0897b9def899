"""Pictures, made with matplotlib when one is asked for; no window, no global state."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from extremal.atomic import complete_or_absent, refuse_existing
from extremal.errors import InvalidParameter, MissingDependency

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c77d1e", "#555555", "#17a2a2", "#a0a000")
ENDINGS = (".png", ".pdf", ".svg")  # of pictures that are written
MOST_TICKS = 7  # with numbers, on one axis
LEAST_BETWEEN = 0.2  # of the length of an axis across: numbers of six digits that do not touch
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

COLOUR_OF = {
    "best mechanism": COLOURS[0],
    "designed": COLOURS[0],
    "optimum": "#111111",
    "optimal": "#111111",
    "binary": COLOURS[0],
    "randomised response": COLOURS[1],
    "subset selection": COLOURS[2],
    "geometric": "#888888",
    "unary encoding (optimised)": "#7f5539",
    "unary encoding (symmetric)": COLOURS[3],
    "local hashing": COLOURS[4],
    "stochastic rounding": COLOURS[6],
    "piecewise": COLOURS[7],
}
"""The colour of a mechanism that has one of its own, the same in every picture and in the explorer."""
LEAST_APART = 0.045  # of the height of the axes: lines of labels that do not touch


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


def colour_of(name: str, place: int) -> str:
    """The colour of the mechanism that a label names first ("binary", "binary, ε = 1", "subset selection (d=2)"), or
    that of its place among the curves."""
    named = [key for key in COLOUR_OF if _is_called(name, key)]
    return COLOUR_OF[named[0]] if named else COLOURS[place % len(COLOURS)]


def colours_of(names: Sequence[str]) -> list[str]:
    """A colour for each of several curves in one picture: that of its mechanism, or one that no other has, if any."""
    own = [next((COLOUR_OF[key] for key in COLOUR_OF if _is_called(name, key)), None) for name in names]
    left = [colour for colour in COLOURS if colour not in own] or list(COLOURS)
    free = itertools.cycle(left)
    return [next(free) if colour is None else colour for colour in own]


def _is_called(label: str, name: str) -> bool:
    return label == name or label.startswith((f"{name},", f"{name}:", f"{name} ("))


def draw_curve(axis: Any, x: Iterable[float], y: Iterable[float | None], place: int, name: str, **style: Any) -> None:
    """One of several curves, where it has finite values, in the colour and with the marker of its place among them."""
    shown = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and math.isfinite(b)]
    if shown:
        usual = {"color": colour_of(name, place), "marker": MARKERS[place % len(MARKERS)], "markersize": 4}
        axis.plot(*zip(*shown, strict=True), label=name, **{**usual, **style})


def label_ends(axis: Any) -> None:
    """Write the name of every curve beside its last visible point, in its colour, moved apart where they would touch;
    the limits of the axes must be set."""
    named = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
    ends = sorted(((*_last_seen(axis, line), line) for line in named), key=lambda end: end[0])
    places: list[float] = []
    for height, _, _ in ends:
        places.append(max(height, places[-1] + LEAST_APART) if places else height)
    top = 1.0
    for i in range(len(places) - 1, -1, -1):  # pushed down where the top is full
        places[i] = min(places[i], top)
        top = places[i] - LEAST_APART
    for place, (height, x, line) in zip(places, ends, strict=True):
        axis.annotate(
            line.get_label(),
            xy=(x, height),
            xytext=(1.03, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=line.get_color(),
            fontsize=9,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": line.get_color(),
                "linewidth": 0.5,
                "alpha": 0.6,
                "relpos": (0, 0.5),
            },
            annotation_clip=False,
        )


def _last_seen(axis: Any, line: Any) -> tuple[float, float]:
    """Height and place of a curve's last visible point, as shares of the axes."""
    points = axis.transData.transform(list(zip(line.get_xdata(), line.get_ydata(), strict=True)))
    seen = [(y, x) for x, y in axis.transAxes.inverted().transform(points) if 0 <= y <= 1]
    return seen[-1] if seen else (1.0, 1.0)


def _ticks(low: float, high: float, steps: Sequence[int]) -> list[float]:
    """These multiples of powers of ten, from the lowest to the highest value."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in every if low * 0.98 <= tick <= high * 1.02]


def plain_ticks(axis: Any, values: Iterable[float]) -> None:
    """A logarithmic axis (`axes.xaxis` or `axes.yaxis`) with numbers as people write them, few enough to be read."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    seen = list(map(float, values))
    low, high = min(seen), max(seen)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = _ticks(low, high, steps)
        gap = min((math.log(b / a) for a, b in itertools.pairwise(ticks)), default=math.inf)
        if len(ticks) <= MOST_TICKS and gap >= LEAST_BETWEEN * math.log(high / low):
            break
    axis.set_ticks(ticks, [f"{tick:,.6g}" if tick < 10**6 else f"{tick:.0e}" for tick in ticks])
    axis.set_ticks([], minor=True)


def picture_in_page(draw: Callable[[], Any]) -> str:
    """What `draw` draws as a figure of a page; nothing where matplotlib is not installed: the tables say the same."""
    try:
        return f"<figure>{as_svg(draw())}</figure>"
    except MissingDependency:
        return ""


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
