"""Kalantari, Sankar and Sarwate, "The optimal differential privacy mechanism under Hamming distortion for universal
memoryless source classes" (2016): Figures 1 and 2, and the bounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from extremal.optimize import smallest_epsilon
from extremal.plotting import COLOURS, draw_curve, figure
from extremal.privacy import LDP
from extremal.reproduce.figure import Figure, Progress, Reproduced, paragraph
from extremal.reproduce.style import labelled
from extremal.sources import SourceClass
from extremal.studies import DistortionTradeoff, distortion_tradeoff
from extremal.theory.distortion import lower_bound, upper_bound

PRIOR = ["0.5", "0.3", "0.2"]
TIED = [["0.45", "0.45", "0.1"], ["0.6", "0.2", "0.2"]]
DISTORTION = "0.45"
ORDERED = [["0.5", "0.3", "0.2"], ["0.7", "0.2", "0.1"], ["0.45", "0.45", "0.1"]]
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])


def classes(progress: Progress) -> Reproduced:
    """Figure 1: a permutation-invariant and an ordered class in the simplex of three inputs."""
    orbit = sorted(set(itertools.permutations([float(p) for p in PRIOR])))
    ordered = [tuple(float(p) for p in prior) for prior in ORDERED]
    progress(1.0)

    def draw() -> Any:
        drawn, (left, right) = figure(9.6, 4.4, columns=2)
        _draw_class(left, orbit, "permutation invariant")
        chamber = np.array([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]) @ CORNERS
        right.fill(*chamber.T, color="#dddddd", label="P₁ ≥ P₂ ≥ P₃")
        _draw_class(right, ordered, "ordered statistics")
        return drawn

    return Reproduced(
        "Two classes of priors on three inputs: all orders of one prior and their mixtures, and priors with one order "
        "in common. Agrees with the paper.",
        {
            "invariant": {f"P{i + 1}": [p[i] for p in orbit] for i in range(3)},
            "ordered": {f"P{i + 1}": [p[i] for p in ordered] for i in range(3)},
        },
        draw,
    )


def _draw_class(axis: Any, points: Sequence[tuple[float, ...]], title: str) -> None:
    """The hull of some priors in the simplex of three inputs."""
    axis.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="#333333", linewidth=1.2)
    placed = np.array(points) @ CORNERS
    away = placed - placed.mean(axis=0)
    around = placed[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
    axis.fill(*around.T, color=COLOURS[0], alpha=0.35, label="the class")
    axis.plot(*placed.T, "o", color=COLOURS[0], markersize=5)
    for corner, name in zip(CORNERS, ("(1,0,0)", "(0,1,0)", "(0,0,1)"), strict=True):
        up = bool(corner[1])
        where: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "bottom" if up else "top"}
        axis.annotate(name, corner, (0, 5 if up else -5), fontsize=9, **where)
    axis.text(0.5, -0.12, title, ha="center", va="top", fontsize=10)
    axis.set_axis_off()
    axis.set_aspect("equal")
    axis.set_xlim(-0.1, 1.1)
    axis.set_ylim(-0.2, 1.0)
    axis.legend(frameon=False, fontsize=9, loc="upper right")


def colours(progress: Progress) -> Reproduced:
    """Figure 2: which entries of an optimal mechanism are tied by privacy: black the largest of a column, red the
    smallest."""
    found = smallest_epsilon(SourceClass.ordered(TIED), DISTORTION).mechanism
    progress(1.0)
    matrix = np.zeros((found.k, found.k))  # a report that is never sent is a column of zeros
    matrix[:, [found.inputs.index(y) for y in found.outputs]] = found.matrix
    kinds = _tied(matrix, LDP(0).level(found))
    sent = matrix.max(axis=0) > 0
    others = "black" if (np.diag(kinds)[1:] == "B")[sent[1:]].all() else "NOT BLACK"
    never = [str(y + 1) for y in range(found.k) if not sent[y]]
    unsent = f" (report {', '.join(never)} is never sent)" if never else ""
    ratios = [float(column.min() / column.max()) for column in found.matrix.T]
    columns = {f"output {y + 1}": kinds[:, y].tolist() for y in range(found.k)}
    return Reproduced(
        paragraph(f"""A mechanism of smallest ε for the priors (0.45, 0.45, 0.1), (0.6, 0.2, 0.2) and distortion
        {DISTORTION}: black (B) and red (R) entries of a column are exactly e^ε apart, white ones are not held by
        privacy. The first diagonal entry is {"black" if kinds[0, 0] == "B" else "not black"}, which the paper's
        colouring allows it alone not to be; the others that are sent are {others}{unsent}. Smallest over largest entry
        of the columns: {", ".join(f"{r:.3f}" for r in ratios)}."""),
        {"": {"input": list(range(1, found.k + 1)), **columns}},
        partial(_draw_colours, kinds, matrix),
    )


def _tied(matrix: Any, epsilon: float) -> Any:
    """B and R where a column's largest and smallest entries are e^ε apart, else W."""
    kinds = np.full(matrix.shape, "W")
    for y, column in enumerate(matrix.T):
        if column.min() > 0 and math.log(column.max() / column.min()) > epsilon - 1e-9:
            kinds[np.isclose(column, column.max(), rtol=1e-9), y] = "B"
            kinds[np.isclose(column, column.min(), rtol=1e-9), y] = "R"
    return kinds


def _draw_colours(kinds: Any, matrix: Any) -> Any:
    drawn, axis = figure(5.0, 3.8)
    shades = {"B": "#222222", "R": "#d1495b", "W": "#ffffff"}
    k, m = matrix.shape
    for (x, y), kind in np.ndenumerate(kinds):
        axis.add_patch(_box(x, y, k, shades[kind]))
        style: dict[str, Any] = {"ha": "center", "va": "center", "color": "black" if kind == "W" else "white"}
        axis.text(y + 0.5, k - x - 0.5, f"{kind}\n{matrix[x, y]:.3f}", fontsize=9, **style)
    axis.set_xlim(0, m)
    axis.set_ylim(0, k)
    axis.set_xticks([y + 0.5 for y in range(m)], [str(y + 1) for y in range(m)])
    axis.set_yticks([k - x - 0.5 for x in range(k)], [str(x + 1) for x in range(k)])
    axis.grid(visible=False)
    labelled(axis, "report", "input", "B and R: e^ε apart in their column")
    return drawn


def _box(x: int, y: int, k: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((y, k - x - 1), 1, 1, facecolor=colour, edgecolor="#555555")


def bounds(progress: Progress) -> Reproduced:
    """The exact curve against the bounds as printed and as they hold, for one prior and for three."""
    sources = {"one-prior": SourceClass.ordered([PRIOR]), "three-priors": SourceClass.ordered(ORDERED)}
    made = {}
    for i, (name, source) in enumerate(sources.items()):
        made[name] = distortion_tradeoff(source)
        progress((i + 1) / 2)
    printed = lower_bound(sources["one-prior"], "0.1", "printed")
    exact = smallest_epsilon(PRIOR, "0.1").value
    loose = upper_bound(sources["three-priors"], "0.45", "printed")

    def draw() -> Any:
        drawn, axes = figure(11.0, 4.2, columns=2)
        for axis, (name, table) in zip(axes, made.items(), strict=True):
            _draw_bounds(axis, table)
            labelled(axis, "largest probability of a false report D", "smallest ε (nats)", name.replace("-", " "))
            axis.legend(frameon=False, fontsize=9, handlelength=3.5)
        return drawn

    return Reproduced(
        paragraph(f"""The smallest ε at each distortion, exact, and the paper's bounds. The lower bound as printed lies
        below the optimum even where Theorem 3 says that it is tight: {printed:.4f} against {exact:.4f} at D = 0.1 for
        one prior (erratum H2: with ordered distortions it is exact). The upper bound is loose where symbols are left
        out (erratum H4; {loose:.4f} as printed at D = 0.45 for three priors)."""),
        {name: table.columns() for name, table in made.items()},
        draw,
    )


def _draw_bounds(axis: Any, table: DistortionTradeoff) -> None:
    """ε* with its jump to 0, and the paper's bounds as far as ε* is above 0."""
    below = [i for i, d in enumerate(table.designs) if d.value > 0]
    x = [table.distortions[i] for i in below]
    for (label, values), place, line in zip(table.bounds.items(), (1, 2, 0), (":", "--", "-."), strict=True):
        style: dict[str, Any] = {"marker": "", "linestyle": line, "linewidth": 2, "zorder": 3}
        draw_curve(axis, x, [values[i] for i in below], place, label, **style)
    exact = [table.designs[i].value for i in below]
    axis.plot(x, exact, color="#111111", linewidth=2, label="ε*, exact")
    free = [d for d, made in zip(table.distortions, table.designs, strict=True) if made.value == 0]
    if free:  # from D(M−1) on nothing need be sent: ε* jumps to 0
        axis.plot([free[0], free[0]], [exact[-1], 0], color="#111111", linewidth=1, linestyle=":")
        axis.plot([free[0], free[-1]], [0, 0], color="#111111", linewidth=2, marker="o", markevery=[0], markersize=4)


FIGURES = (
    Figure("kss-fig1", "Classes of priors in the simplex", classes),
    Figure("kss-fig2", "Colours of an optimal mechanism", colours),
    Figure("kss-bounds", "The exact Hamming curve and the printed bounds", bounds, 20),
)
