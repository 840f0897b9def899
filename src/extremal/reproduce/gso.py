"""Grosse, Saeidian and Oechtering, "Extremal mechanisms for pointwise maximal leakage", IEEE TIFS (2024): Figures 1 to
4 and the examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from extremal.closed_forms import pml_binary, pml_high_privacy, pml_randomized_response, pml_uniform
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.plotting import COLOUR_OF, figure
from extremal.privacy import PML
from extremal.reproduce.figure import Columns, Figure, Progress, Reproduced, add_row, paragraph
from extremal.reproduce.style import STYLES, draw_forms, labelled
from extremal.simulate import Simulation
from extremal.theory import correlation, empirical_correlation, empirical_information, pml_regions
from extremal.utility import MutualInformation

SEED, RUNS, SAMPLE = 0, 10, 1000
PRIORS = {"uniform": [1 / 3, 1 / 3, 1 / 3], "skewed": [0.5, 0.3, 0.2]}
TWO, FIVE = [0.55, 0.45], [0.3, 0.2, 0.2, 0.2, 0.1]


def _grid(prior: list[float]) -> list[float]:
    """Steps of 0.05, and where regions begin and end: the corners of the curves."""
    regions = pml_regions(prior)
    steps = [round(0.05 * i, 2) for i in range(1, 41) if 0.05 * i < regions.epsilon_max]
    return sorted({*steps, *(region.start for region in regions.regions[1:]), regions.epsilon_max})


def over_leakage(progress: Progress) -> Reproduced:
    """Figure 1: information of the PML optimum and of randomised response at equal leakage."""
    tables: dict[str, Columns] = {}
    for number, (name, prior) in enumerate(PRIORS.items()):
        utility, grid = MutualInformation(prior), _grid(prior)
        best, response = [], []
        for i, epsilon in enumerate(grid):
            hidden = epsilon < PML(1, prior).epsilon_max  # from there on the value itself may be reported
            best.append(design(PML(epsilon, prior), utility).value if hidden else utility(np.eye(3)))
            response.append(utility(pml_randomized_response(prior, epsilon) if hidden else np.eye(3)))
            progress((number + (i + 1) / len(grid)) / len(PRIORS))
        tables[name] = {"epsilon": grid, "optimum": best, "randomised response": response}

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, (name, prior) in zip(axes, PRIORS.items(), strict=True):
            draw_forms(axis, tables[name], ("optimum", "randomised response"))
            axis.axhline(MutualInformation(prior)(np.eye(3)), color="#555555", linewidth=1, linestyle=(0, (4, 3)))
            for region in pml_regions(prior).regions[1:]:
                axis.axvline(region.start, color="#bbbbbb", linewidth=0.8)
            title = "uniform prior" if name == "uniform" else "prior (0.5, 0.3, 0.2)"
            labelled(axis, "pointwise maximal leakage ε (nats)", "I(X;Y) (nats)", title)
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    return Reproduced(
        paragraph(f"""Information kept at equal leakage, three inputs; dashed: the entropy of X; grey: where privacy
        regions begin. ε in steps of 0.05, and at every corner up to ε_max. Agrees with the paper, the corner at log 1.5
        = {math.log(1.5):.4f} of the uniform prior included. The last region, up to ε_max, is region N, which the
        paper's index leaves out (erratum P2)."""),
        tables,
        draw,
    )


def _sampled(
    measure: Callable[[Any, Any], float],
    exact: Callable[[Mechanism, list[float], bool], float],
    prior: list[float],
    epsilon: float,
    simulation: Simulation,
    values: Any,
) -> dict[str, tuple[list[float], float]]:
    optimal = pml_binary(prior, epsilon) if len(prior) == 2 else pml_high_privacy(prior, epsilon)
    made = {
        "optimum": (optimal, len(prior) > 2),
        "randomised response": (pml_randomized_response(prior, epsilon), False),
    }
    found = {}
    for name, (mechanism, reverse) in made.items():
        runs = []
        for inputs in values:
            reports = np.asarray(simulation.privatize(mechanism, inputs).reports)
            runs.append(measure(inputs + 1, mechanism.m - reports if reverse else reports + 1))
        found[name] = (runs, exact(mechanism, prior, reverse))
    return found


def experiments(kind: str, progress: Progress) -> Reproduced:
    """Figures 2 and 3: ten runs with a thousand people each, and the exact values."""
    measure, exact, measured = MEASURES[kind]
    grids = {
        "two inputs": (TWO, [round(0.05 * i, 2) for i in range(1, 16)]),
        "five inputs": (FIVE, [round(0.01 * i, 2) for i in range(1, 11)]),
    }
    tables: dict[str, Columns] = {}
    simulation, generator = Simulation(SEED), np.random.default_rng(SEED)
    for number, (name, (prior, grid)) in enumerate(grids.items()):
        columns: dict[str, list[Any]] = {}
        for i, epsilon in enumerate(grid):
            values = [generator.choice(len(prior), size=SAMPLE, p=prior) for _ in range(RUNS)]
            found = _sampled(measure, exact, prior, epsilon, simulation, values)
            add_row(columns, {"epsilon": epsilon} | _summary(found))
            progress((number + (i + 1) / len(grid)) / len(grids))
        tables[name.replace(" ", "-")] = columns

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, (name, (prior, _)) in zip(axes, grids.items(), strict=True):
            columns = tables[name.replace(" ", "-")]
            for form in ("optimum", "randomised response"):
                _draw_runs(axis, columns, form)
            labelled(axis, "pointwise maximal leakage ε (nats)", measured, f"prior {tuple(prior)}")
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    return Reproduced(_said(kind, tables), tables, draw, SEED)


def _summary(found: dict[str, tuple[list[float], float]]) -> dict[str, float]:
    """Mean, lowest and highest of the runs of each form, and its exact value."""
    summary = {}
    for form, (runs, truth) in found.items():
        summary[f"{form}, mean of {RUNS} runs"] = float(np.mean(runs))
        summary |= {f"{form}, lowest": min(runs), f"{form}, highest": max(runs), f"{form}, exact": truth}
    return summary


def _draw_runs(axis: Any, columns: Columns, form: str) -> None:
    """A band from the lowest to the highest run, their mean, and the exact value."""
    x, style, mean = columns["epsilon"], STYLES[form], f"{form}, mean of {RUNS} runs"
    low, high = columns[f"{form}, lowest"], columns[f"{form}, highest"]
    axis.fill_between(x, low, high, color=style["color"], alpha=0.2, linewidth=0)
    axis.plot(x, columns[mean], label=mean, **style)
    axis.plot(x, columns[f"{form}, exact"], color=style["color"], linewidth=0.9)


def _said(kind: str, tables: dict[str, Columns]) -> str:
    below = all(
        best >= response
        for columns in tables.values()
        for best, response in zip(columns["optimum, exact"], columns["randomised response, exact"], strict=True)
    )
    crossed = [
        epsilon
        for columns in tables.values()
        for epsilon, best, response in zip(
            columns["epsilon"],
            columns[f"optimum, mean of {RUNS} runs"],
            columns[f"randomised response, mean of {RUNS} runs"],
            strict=True,
        )
        if best < response
    ]
    crossings = ", ".join(f"{e:g}" for e in crossed)
    means = f"; the means of {RUNS} runs are in the other order at ε = {crossings}" if crossed else ""
    start = (
        f"Empirical {kind} of {RUNS} runs with {SAMPLE} people each (band: lowest to highest; thin: exact). ε in "
        "steps of 0.05 and 0.01; the paper has 0.005 and 0.0005. The order of the exact values "
        f"{'agrees' if below else 'DISAGREES'} with the paper{means}. "
    )
    if kind == "correlation":
        return start + (
            "With five inputs the mechanism of Theorem 3 as printed has correlation 1 − e^ε, below 0; shown is the "
            "member of its class with columns reversed, e^ε − 1 (erratum P9)."
        )
    bias, most = (len(FIVE) - 1) ** 2 / (2 * SAMPLE), max(tables["five-inputs"]["randomised response, exact"])
    return start + (
        "The formula printed divides by the size of the alphabet where the sample size must stand (erratum P8); and "
        f"with five inputs the empirical values of both lie about (N−1)²/(2n) = {bias:g} above the truth, which is "
        f"{bias / most:.1f} times the largest information of randomised response shown."
    )


def _information(mechanism: Mechanism, prior: list[float], _reverse: bool) -> float:
    return MutualInformation(prior)(mechanism)


def _correlation(mechanism: Mechanism, prior: list[float], reverse: bool) -> float:
    outputs = np.arange(mechanism.m, 0.0, -1) if reverse else None
    return correlation(mechanism, prior, outputs=outputs)


MEASURES = {
    "information": (empirical_information, _information, "empirical I(X;Y) (nats)"),
    "correlation": (empirical_correlation, _correlation, "empirical correlation of X and Y"),
}
"""For each kind of figure what is measured in a run, its exact value, and the name of the axis."""


def polytopes(progress: Progress) -> Reproduced:
    """Figure 4: the polytope of two inputs and two reports, with contours of information."""
    epsilon = math.log(1.5)
    priors = ([0.55, 0.45], [0.75, 0.25])
    stars = [pml_binary(prior, epsilon).matrix for prior in priors]
    progress(1.0)

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.6, columns=2)
        for axis, prior, star in zip(axes, priors, stars, strict=True):
            _draw_polytope(axis, prior, epsilon, MutualInformation(prior)(star))
            look = {"linestyle": "none", "marker": "*", "markersize": 13, "color": COLOUR_OF["optimal"]}
            axis.plot(*star, zorder=3, label="optimal", **look)
            labelled(axis, "Q(1|1)", "Q(1|2)", f"prior {tuple(prior)}, ε = log 1.5")
        axes[0].legend(framealpha=1, edgecolor="white", fontsize=9, loc="upper left")
        return drawn

    table: Columns = {
        "prior of the first input": [p for p, _ in priors],
        "Q(1|1)": [float(s[0, 0]) for s in stars],
        "Q(1|2)": [float(s[1, 0]) for s in stars],
        "I(X;Y)": [MutualInformation(p)(s) for p, s in zip(priors, stars, strict=True)],
    }
    return Reproduced(
        paragraph("""All mechanisms with two inputs and two reports that are ε-PML (grey) at ε = log 1.5, contours of
        information, and the two optima, which are the same mechanism with its reports renamed. Left: no input may be
        named with certainty; right: e^ε·P(x₁) ≥ 1, and the first may. As the paper describes; its text does not give
        the priors of its panels, so these are chosen here."""),
        {"": table},
        draw,
    )


def _draw_polytope(axis: Any, prior: Sequence[float], epsilon: float, best: float) -> None:
    """The pairs (Q(1|1), Q(1|2)) of ε-PML mechanisms, and contours of information, one through the optimum."""
    grid = np.linspace(0, 1, 201)
    a, b = np.meshgrid(grid, grid)
    levels = np.zeros_like(a)
    slack = np.full_like(a, np.inf)  # of the inequalities of ε-PML; at least 0 in the polytope
    for first, second in ((a, b), (1 - a, 1 - b)):
        marginal = prior[0] * first + prior[1] * second
        slack = np.minimum(slack, math.exp(epsilon) * marginal - np.maximum(first, second))
        with np.errstate(all="ignore"):
            for weight, value in zip(prior, (first, second), strict=True):
                levels += np.where(value > 0, weight * value * np.log(value / marginal), 0.0)
    axis.contourf(a, b, slack, levels=[-1e-12, 2], colors=["#dddddd"])
    axis.contour(
        a, b, levels, levels=[best * share for share in (0.1, 0.25, 0.5, 1, 2, 4)], colors="#666666", linewidths=0.8
    )
    axis.plot([0, 1], [0, 1], color="#555555", linewidth=0.8, linestyle="--")
    axis.set_xlim(-0.03, 1.03)
    axis.set_ylim(-0.03, 1.03)
    axis.set_aspect("equal")


def examples(progress: Progress) -> Reproduced:
    """Examples 1 to 3."""
    one = pml_high_privacy([0.4, 0.2, 0.2, 0.2], math.log(9 / 8)).matrix
    two = pml_uniform(4, math.log(3)).matrix
    p, epsilon = [0.4, 0.35, 0.25], 0.602
    third = (1 - math.exp(epsilon) * (1 - p[2])) / p[2]
    progress(1.0)
    header = ["input", *(f"output {j + 1}" for j in range(4))]
    return Reproduced(
        paragraph(f"""Example 1, prior (2/5, 1/5, 1/5, 1/5), ε = log 9/8, and Example 2, uniform on four, ε = log 3 (the
        paper prints it with its columns shifted, the same class: erratum P10), agree. Example 3 lists a vector (e^ε,
        e^ε, r₃(3)) whose last entry is negative in region 2: {third:.3f} for the prior {tuple(p)} at ε = {epsilon}
        (erratum P4)."""),
        {
            name: {h: [i + 1 for i in range(4)] if not j else m[:, j - 1].tolist() for j, h in enumerate(header)}
            for name, m in (("1", one), ("2", two))
        },
    )


FIGURES = (
    Figure("gso-fig1", "Information at equal leakage: PML optimum and randomised response", over_leakage, 4),
    Figure("gso-fig2", "Empirical information of samples", partial(experiments, "information"), 2),
    Figure("gso-fig3", "Empirical correlation of samples", partial(experiments, "correlation"), 2),
    Figure("gso-fig4", "The polytope of two inputs and contours of information", polytopes, 2),
    Figure("gso-examples", "Examples 1 to 3", examples),
)
