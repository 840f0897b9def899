"""Estimates with their intervals, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.plotting import COLOURS, figure

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_DRAWN = 60  # inputs: beyond that the labels cannot be read
_OFFSET = 0.6  # of the distance between inputs is used by the strata


def plot(
    results: Sequence[tuple[str, FrequencyEstimate]], level: float, simultaneous: bool, ax: Any, truth: Any
) -> Any:
    """A dot and a bar for each input, inputs downwards in their order, one colour for each stratum."""
    first = results[0][1]
    drawn = min(len(first.inputs), MOST_DRAWN)
    if ax is None:
        _, ax = figure(width=9, height=1.4 + max(0.34, 0.15 * (len(results) + 1)) * max(drawn, 3))
    rows = np.arange(drawn, dtype=np.float64)
    for i, (name, result) in enumerate(results):
        shift = 0.0 if len(results) == 1 else _OFFSET * (i / (len(results) - 1) - 0.5)
        limits = result.interval(level, simultaneous)
        colour = COLOURS[i % len(COLOURS)]
        ax.hlines(
            rows + shift,
            limits[:drawn, 0],
            limits[:drawn, 1],
            color=colour,
            linewidth=2,
            alpha=0.6,
            label=_interval_name(level, simultaneous, name),
        )
        ax.plot(
            result.shown_within(limits)[:drawn],
            rows + shift,
            "o",
            color=colour,
            markersize=5,
            label=result.candidate[0] if not name else None,
        )
    if truth is not None:
        known = np.asarray(truth, dtype=np.float64)
        if known.shape != (len(first.inputs),):
            raise InvalidParameter(
                f"truth must have {len(first.inputs)} entries", parameter="truth.shape", value=known.shape
            )
        ax.plot(known[:drawn], rows, "x", color="black", markersize=6, label="true frequency")
    ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_yticks(rows, [str(label) for label in first.inputs[:drawn]])
    ax.set_ylim(drawn - 0.5, -0.5)
    ax.set_xlabel("share of respondents")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    more = f", first {drawn} of {len(first.inputs)}" if drawn < len(first.inputs) else ""
    ax.set_title(f"{sum(r.n for _, r in results)} reports, {first.candidate[0]} frequencies{more}", fontsize="medium")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the axes: it would hide intervals
    return ax.figure


def _interval_name(level: float, simultaneous: bool, name: str) -> str:
    kind = f"{100 * level:.4g}% interval{', simultaneous' if simultaneous else ''}"
    return f"{name}: {kind}" if name else kind
