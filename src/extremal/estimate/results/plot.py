"""Estimates with their intervals, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import in_order
from extremal.exact.weights import Floats
from extremal.plotting import COLOURS, figure

MOST_DRAWN = 60  # rows: beyond that the labels cannot be read
SHARE = "share of respondents"  # an axis of shares is in per cent
_OFFSET = 0.6  # of the distance between rows is used by the series


@dataclass(frozen=True, eq=False)
class Bars:
    """One series: its name, what its rows are about, points and limits."""

    name: str
    labels: tuple[Any, ...]
    points: Floats
    limits: Floats


def plot(
    series: Sequence[Bars],
    title: str,
    axis_label: str,
    level: float,
    simultaneous: bool,
    ax: Any,
    truth: Any = None,
    points: str = "shown",
) -> Any:
    """A dot and a bar for each row, downwards in their order, one colour for each series."""
    labels = series[0].labels
    drawn = min(len(labels), MOST_DRAWN)
    if ax is None:
        _, ax = figure(width=9, height=1.4 + max(0.34, 0.15 * (len(series) + 1)) * max(drawn, 3))
    rows = np.arange(drawn, dtype=np.float64)
    kind = f"{100 * level:.4g}% interval{', simultaneous' if simultaneous else ''}"
    for i, one in enumerate(series):
        shift = 0.0 if len(series) == 1 else _OFFSET * (i / (len(series) - 1) - 0.5)
        style = {"color": COLOURS[i % len(COLOURS)]}
        of_points, of_bars = (f"{one.name} ({points}, {kind})", None) if one.name else (points, kind)
        ax.hlines(rows + shift, *one.limits[:drawn].T, linewidth=2, alpha=0.6, label=of_bars, **style)
        ax.plot(one.points[:drawn], rows + shift, "o", markersize=5, label=of_points, **style)
    if truth is not None:
        known = np.asarray(in_order(truth, "truth", labels), dtype=np.float64)
        if known.shape != (len(labels),):
            raise InvalidParameter(f"truth must have {len(labels)} entries", parameter="truth.shape", value=known.shape)
        ax.plot(known[:drawn], rows, "x", color="black", markersize=6, label="true frequency")
    ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_yticks(rows, list(map(_text, labels[:drawn])))
    ax.set_ylim(drawn - 0.5, -0.5)
    ax.set_xlabel(axis_label)
    if axis_label == SHARE:
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    more = f" (first {drawn} of {len(labels)} rows)" if drawn < len(labels) else ""
    ax.set_title(f"{title}{more}", fontsize="medium")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the axes: it would hide intervals
    return ax.figure


def plot_steps(labels: tuple[Any, ...], points: Floats, limits: Floats, title: str, kind: str, ax: Any) -> Any:
    """A distribution function: steps with a band, inputs from left to right."""
    if ax is None:
        _, ax = figure(width=9, height=4.2)
    x = np.arange(len(labels) + 1) - 0.5
    low, high = (np.append(side, side[-1]) for side in limits.T)
    ax.fill_between(x, low, high, step="post", color=COLOURS[0], alpha=0.2, linewidth=0, label=kind)
    ax.step(x, np.append(points, points[-1]), where="post", color=COLOURS[0], label="shown")
    each = max(1, -(-len(labels) // MOST_DRAWN))
    places = np.arange(0, len(labels), each)
    long = max(len(_text(labels[i])) for i in places.tolist()) > 3
    ax.set_xticks(places, [_text(labels[i]) for i in places.tolist()], rotation=45 if long and places.size > 8 else 0)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel("share up to and including")
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    ax.set_title(title, fontsize="medium")
    ax.legend(fontsize="small", loc="lower right")
    return ax.figure


def _text(label: Any) -> str:
    return " × ".join(map(str, label)) if isinstance(label, tuple) else str(label)
