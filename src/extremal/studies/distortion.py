"""ε* against the distortion allowed, with the bounds of the Hamming paper and the jump to 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.optimize.design import Design
from extremal.optimize.distortion.smallest_epsilon import smallest_epsilon
from extremal.plotting import COLOURS, draw_curve, figure
from extremal.sources import SourceClass, as_source
from extremal.tables import aligned, as_frame, heading, html, number
from extremal.theory.distortion import lower_bound, thresholds, upper_bound

BEFORE = Fraction(1, 10**9)  # where ε* is shown just below the jump


@dataclass(frozen=True, eq=False)
class DistortionTradeoff:
    """ε* at each distortion; for ordered classes also the paper's bounds.

    Made by `ex.studies.distortion_tradeoff`.

    Attributes:
        source: the class.
        distortions: the values of D.
        designs: `ex.smallest_epsilon` at each.
        bounds: name → values; empty when the class is not ordered.
        jump: (D, ε* just below it): from D on ε* = 0. None when D lies beyond the given distortions and the class is
            not ordered.

    >>> import extremal as ex
    >>> ex.studies.distortion_tradeoff([0.5, 0.5], [0.25]).columns()["distortion"]
    [0.25]
    """

    source: SourceClass
    distortions: tuple[float, ...]
    designs: tuple[Design, ...]
    bounds: dict[str, tuple[float, ...]]
    jump: tuple[float, float] | None

    def columns(self) -> dict[str, list[float]]:
        """distortion, epsilon, and one column for each bound."""
        return {
            "distortion": list(self.distortions),
            "epsilon": [d.value for d in self.designs],
            **{name: list(values) for name, values in self.bounds.items()},
        }

    def to_frame(self) -> Any:
        """A data frame, one row for each distortion."""
        return as_frame(self.columns())

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self.columns()
        rows = [[number(v) for v in row] for row in zip(*columns.values(), strict=True)]
        return [heading(name) for name in columns], rows

    def __str__(self) -> str:
        return aligned(*self._cells())

    def _repr_html_(self) -> str:
        return html(*self._cells(), caption="The smallest ε within each distortion")

    def plot(self) -> Any:
        """ε* as a line with its jump; the bounds dashed."""
        drawn, axes = figure()
        points = [(d, found.value) for d, found in zip(self.distortions, self.designs, strict=True)]
        above, zero = [p for p in points if p[1] > 0], [d for d, value in points if not value]
        end = math.inf if self.jump is None else self.jump[0]
        before = np.array(self.distortions) < end
        for place, ((name, values), line) in enumerate(zip(self.bounds.items(), (":", "--", "-."), strict=False), 1):
            shown = np.where(before, values, math.inf).tolist()
            draw_curve(axes, self.distortions, shown, place, name, marker="", linestyle=line, linewidth=1.4, zorder=4)
        if self.jump is not None:
            above, zero = [*above, self.jump], [end, *zero]
            axes.plot([end, end], [self.jump[1], 0], ":", color="#888888", linewidth=1)
            axes.plot(*self.jump, "o", color=COLOURS[0], markerfacecolor="white", zorder=3)
            axes.plot(end, 0, "o", color=COLOURS[0], zorder=3)
        axes.plot(*zip(*above, strict=True), color=COLOURS[0], linewidth=2, label="ε*, exact")
        axes.plot(zero, [0.0] * len(zero), color=COLOURS[0], linewidth=2)
        axes.set_xlabel("largest probability of a false report, D")
        axes.set_ylabel("smallest ε (nats)")
        axes.set_ylim(bottom=-0.02 * max(1.0, *(value for _, value in points)))
        axes.legend(frameon=False)
        return drawn


def distortion_tradeoff(source_class: Any, distortions: Sequence[Any] | None = None) -> DistortionTradeoff:
    """The smallest ε for each of several distortions.

    Guarantee: each ε is the exact optimum of its design; `jump` is exact.

    Args:
        source_class: a prior or an `ex.SourceClass`.
        distortions: values of D in (0, 1]; a grid up to a little beyond the jump when not given.

    Reference: KSS Theorems 1 and 2, with the corrections in docs/reference/errata.md.

    >>> table = distortion_tradeoff([0.5, 0.3, 0.2], [0.1, 0.3, 0.5])
    >>> [round(d.value, 6) for d in table.designs], round(table.jump[1], 4)
    ([2.890372, 1.540445, 0.0], 0.5108)
    """
    source = as_source(source_class, "source_class")
    ordered = _is_ordered(source)
    end = thresholds(source)[-1] if ordered else Fraction(source.k - 1, source.k)
    chosen = _grid(end) if distortions is None else [as_fraction(d, "distortions") for d in distortions]
    if not chosen or min(chosen) <= 0:
        raise InvalidParameter(
            "distortions must be positive: at 0 no finite epsilon suffices", parameter="distortions", value=distortions
        )
    designs = tuple(smallest_epsilon(source, d) for d in chosen)
    bounds = _bounds(source, chosen) if ordered else {}
    jump = (float(end), smallest_epsilon(source, end - BEFORE).value) if ordered and end > BEFORE else None
    return DistortionTradeoff(source, tuple(map(float, chosen)), designs, bounds, jump)


def _grid(end: Fraction) -> list[Fraction]:
    """Forty steps to where the curve ends, and a few beyond."""
    return [min(end * i / 40, Fraction(1)) for i in range(2, 45)]


def _bounds(source: SourceClass, distortions: Sequence[Fraction]) -> dict[str, tuple[float, ...]]:
    """Those of the paper, as it has them and as it could."""
    return {
        "upper bound, printed": tuple(upper_bound(source, d, "printed") for d in distortions),
        "upper bound, tightened": tuple(upper_bound(source, d) for d in distortions),
        "lower bound, printed": tuple(lower_bound(source, d, "printed") for d in distortions),
    }


def _is_ordered(source: SourceClass) -> bool:
    try:
        thresholds(source)
    except InvalidParameter:
        return False
    return True
