"""What each part of a mean or of a worst case gets under a mechanism: a list, a sentence, a picture.

Parts that are divergences are named after their pair, KL(P1‖P2): distributions are numbered from 1 as they first occur,
so that for `ex.PairwiseDivergence` P1, P2, … are those of the list, and for two lists of hypotheses those of the first
pair come first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.tables import number
from extremal.utility import Average, Divergence, Utility, WorstCase

MOST_DRAWN = 40  # bars that can be told apart; beyond, the smallest are drawn
_CLOSE = 1e-6  # relative: parts this near to the least are least as well, by rounding


@dataclass(frozen=True)
class Part:
    """Attributes: name, such as KL(P1‖P2); value, under the mechanism."""

    name: str
    value: float


def parts_under(utility: Utility, mechanism: Mechanism) -> list[Part]:
    """The parts of a mean or a worst case; empty for any other utility."""
    if not isinstance(utility, (Average, WorstCase)):
        return []
    known: list[Prior] = []
    names = [_named(part, i, known) for i, part in enumerate(utility.utilities, start=1)]
    return [Part(name, part(mechanism)) for name, part in zip(names, utility.utilities, strict=True)]


def _named(part: Utility, place: int, known: list[Prior]) -> str:
    if not isinstance(part, Divergence):
        return f"{place}: {part.name}"
    return f"{part.name}(P{_number(part.pair.p0, known)}‖P{_number(part.pair.p1, known)})"


def _number(prior: Prior, known: list[Prior]) -> int:
    """Its place among those that occurred before, from 1; it is added when it is new."""
    for i, other in enumerate(known, start=1):
        if other.weights == prior.weights:
            return i
    known.append(prior)
    return len(known)


def least(parts: list[Part]) -> list[Part]:
    """The worst part, and those that get as little."""
    smallest = min(part.value for part in parts)
    return [part for part in parts if part.value <= smallest + _CLOSE * abs(smallest)]


@dataclass(frozen=True, eq=False)
class WorstPart:
    """Which part gets least."""

    utility: Utility
    mechanism: Mechanism

    def sentence(self) -> str:
        parts = parts_under(self.utility, self.mechanism)
        if len(parts) < 2:
            return ""
        worst = least(parts)
        others = f" and {len(worst) - 1} more" if len(worst) > 1 else ""
        most = max(part.value for part in parts)
        return f"least of {len(parts)} parts: {worst[0].name}{others}, {number(worst[0].value)}; most: {number(most)}"


def draw_parts(utility: Utility, mechanism: Mechanism) -> Any:
    """A bar for each part, the worst on top and marked; a matplotlib figure."""
    parts = sorted(parts_under(utility, mechanism), key=lambda part: part.value)
    worst, shown = least(parts), parts[:MOST_DRAWN]
    drawn, axis = figure(width=7.0, height=1.7 + 0.3 * len(shown))
    for y, part in enumerate(shown):
        finite = math.isfinite(part.value)
        if finite:
            axis.barh(y, part.value, color=COLOURS[1] if part in worst else COLOURS[0])
        said = f" {number(part.value, 4)}" + ("  worst" if part in worst else "")
        axis.text(part.value if finite else 0.0, y, said, va="center", fontsize=8)
    mean = utility(mechanism)
    if isinstance(utility, Average) and math.isfinite(mean):
        axis.axvline(mean, color="0.3", linewidth=1, linestyle="--")
        axis.text(mean, len(shown) - 0.3, f" mean {number(mean, 4)}", fontsize=8, color="0.3", va="center")
    axis.set_yticks(range(len(shown)), [part.name for part in shown])
    axis.set_ylim(len(shown), -0.6)
    axis.margins(x=0.2)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(f"value under the design ({getattr(utility, 'unit', '') or 'each in its own unit'})")
    axis.set_ylabel("pair of hypotheses" if all("‖" in part.name for part in shown) else "part")
    title = f"{utility.name} under {mechanism.privacy!r}: what each part gets"
    left_out = f"\n(the {len(shown)} smallest of {len(parts)})" if len(parts) > len(shown) else ""
    drawn.suptitle(title + left_out, fontsize=11)
    return drawn
