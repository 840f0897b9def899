"""A table of every upper bound on what ε-LDP leaves that applies, next to the optimum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential
from extremal.optimize.design import design
from extremal.plotting import COLOURS, draw_curve, figure, label_ends
from extremal.privacy import LDP
from extremal.tables import aligned, as_frame, number, wrapped
from extremal.theory.bounds import Bound, divergence_bounds, information_bounds
from extremal.utility import Divergence, MutualInformation, Utility


@dataclass(frozen=True)
class Converses:
    """Every bound that applies to a utility at ε, and the optimum; `str()` is a table.

    Attributes:
        utility: what is bounded.
        epsilon: nats.
        slack: δ of the asymptotic statements.
        bounds: those proven here from the tightest on, then those for ε small or large enough.
        optimum: the largest value that an ε-LDP mechanism reaches (`ex.design`), None when it was not asked for.

    Made by `ex.theory.converses`, which has the references.

    >>> import extremal as ex
    >>> table = ex.theory.converses(ex.TotalVariation([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 1)
    >>> bool(table.optimum <= table.tightest.value * (1 + 1e-12))
    True
    """

    utility: Utility
    epsilon: float
    slack: float
    bounds: tuple[Bound, ...]
    optimum: float | None

    @property
    def tightest(self) -> Bound:
        """The smallest bound among those proven at this ε."""
        return next(b for b in self.bounds if b.holds_here)

    def to_frame(self) -> Any:
        """A data frame with one row for each bound."""
        rows = self.bounds
        return as_frame(
            {
                "bound": [b.name for b in rows],
                "value": [b.value for b in rows],
                "optimum": [self.optimum for _ in rows],
                "proven for": [b.proven for b in rows],
                "proven here": [b.holds_here for b in rows],
                "statement": [b.statement for b in rows],
                "source": [b.source for b in rows],
                "erratum": [b.erratum for b in rows],
            }
        )

    def __str__(self) -> str:
        body = [[b.name, number(b.value), b.proven, b.source] for b in self.bounds]
        if self.optimum is not None:
            body.insert(0, ["optimum", number(self.optimum), "", "ex.design"])
        first = aligned(["bound", "value", "proven for"], [row[:3] for row in body], left=1).split("\n")
        width = max(map(len, first)) + 2
        return "\n".join(
            wrapped(source, line.ljust(width), " " * width)
            for line, source in zip(first, ["source", *(row[3] for row in body)], strict=True)
        )

    def plot(self, epsilons: Sequence[float] | None = None) -> Any:
        """Every bound and the optimum against ε, logarithmic; a matplotlib figure."""
        grid = np.geomspace(self.epsilon / 10, min(self.epsilon * 10, 20), 25) if epsilons is None else epsilons
        tables = [converses(self.utility, float(e), slack=self.slack) for e in grid]
        optima = [t.optimum or 0.0 for t in tables]
        drawn, axis = figure(8.0, 4.8)
        axis.plot(grid, optima, color="black", linewidth=2, label="optimum")
        named = [{b.name: b for b in t.bounds} for t in tables]
        for i, name in enumerate(dict.fromkeys(chain.from_iterable(named))):
            _draw_bound(axis, grid, [bounds.get(name, _NOWHERE) for bounds in named], i, name)
        axis.set(xscale="log", yscale="log", xlabel="ε (nats)", ylabel=f"{self.utility.name} (nats)")
        axis.set_ylim(min(filter(None, optima)) / 2, 4 * max(optima))
        axis.set_xlim(min(grid), max(grid))
        axis.set_title("dotted: proven only for ε small or large enough", fontsize=9, loc="left")
        label_ends(axis)
        return drawn


_NOWHERE = Bound("", math.inf, "", "")  # stands for a bound where it does not apply


def _draw_bound(axis: Any, grid: Iterable[float], found: Sequence[Bound], place: int, name: str) -> None:
    """One bound over ε, dotted where it is proven only for ε small or large enough."""
    proven = all(b.holds_here for b in found)
    style = ":" if not proven else "-" if place < len(COLOURS) else "--"
    values = [b.value if b.value > 0 else None for b in found]
    draw_curve(axis, grid, values, place, name, marker="", linestyle=style)


def converses(utility: Utility, epsilon: Any, *, slack: float = 0.1, optimum: bool = True) -> Converses:
    """List every upper bound on what ε-LDP leaves of a divergence or of information, and where each is proven.

    Args:
        utility: an f-divergence or `ex.MutualInformation`.
        epsilon: nats, positive.
        slack: δ > 0 of the statements that hold for ε small or large enough (KOV Corollaries 10, 15, 16).
        optimum: whether to compute the optimum too.

    Guarantee: a bound with `holds_here` True is proven at this ε; the value is a float.

    Reference: KOV Theorems 7, 13, Corollaries 9–11, 15, 16, Lemmas 25–27; J. Duchi, M. Jordan, M. Wainwright, Local
    Privacy and Statistical Minimax Rates, FOCS 2013; the rest is proven in `extremal.theory.bounds`.

    >>> import extremal as ex
    >>> table = converses(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), 0.5)
    >>> table.tightest.name, bool(table.optimum <= table.tightest.value * (1 + 1e-12))
    ('binary is optimal', True)
    """
    level = Exponential(epsilon).epsilon
    if not level or not 0 < slack < 1:
        raise InvalidParameter(
            "converses need a positive epsilon and a slack between 0 and 1",
            parameter="epsilon, slack",
            value=(epsilon, slack),
        )
    if isinstance(utility, Divergence):
        bounds = divergence_bounds(utility, level, slack)
    elif isinstance(utility, MutualInformation):
        bounds = information_bounds(utility, level, slack)
    else:
        raise InvalidParameter(
            "converses are known for f-divergences and for mutual information", parameter="utility", value=utility
        )
    best = design(LDP(epsilon), utility).value if optimum else None
    return Converses(utility, level, slack, tuple(sorted(bounds, key=lambda b: (b.holds_here is None, b.value))), best)
