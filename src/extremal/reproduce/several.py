"""Beyond the papers: more than two hypotheses, and hypotheses that are known only as classes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from extremal.closed_forms import randomized_response
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.plotting import figure
from extremal.privacy import LDP
from extremal.reproduce.figure import Columns, Figure, Progress, Reproduced, add_row, paragraph
from extremal.reproduce.instances import SEED
from extremal.reproduce.style import STYLES, labelled
from extremal.sources import SourceClass
from extremal.utility import KL, PairwiseDivergence, RobustDivergence, Utility

INSTANCES, INPUTS = 30, 6
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
COUNTS, TILT = (3, 5, 8), 0.5
P0, P1 = ("0.30", "0.25", "0.20", "0.12", "0.08", "0.05"), ("0.06", "0.10", "0.14", "0.20", "0.22", "0.28")
RADII, LEVELS = tuple(i / 20 for i in range(10)), (1.0, 4.0)
ONE_PAIR, CENTRES, RESPONSE = "best design for one pair", "design for the centres", "randomised response"


def hypotheses(progress: Progress) -> Reproduced:
    """Several hypotheses: the worst pair of three, and the mean over all pairs of as many hypotheses as inputs."""
    generator = np.random.default_rng(SEED)
    rows: list[dict[str, list[Any]]] = []
    gaps: list[float] = []
    for i in range(INSTANCES):
        given = generator.dirichlet(np.ones(INPUTS), 3).tolist()
        rows.append(_worst(PairwiseDivergence(given, worst_case=True), list(itertools.permutations(given, 2)), gaps))
        progress(0.8 * (i + 1) / INSTANCES)
    random = _over_instances(rows)
    tilted: dict[str, list[float]] = {"epsilon": list(EPSILONS)}
    for j, m in enumerate(COUNTS):
        utility = PairwiseDivergence(_tilted(m))
        best = [design(LDP(epsilon), utility) for epsilon in EPSILONS]
        gaps += [found.gap for found in best]
        response = [utility(randomized_response(m, epsilon)) for epsilon in EPSILONS]
        tilted[f"{m} hypotheses"] = [r / found.value for r, found in zip(response, best, strict=True)]
        progress(0.8 + 0.2 * (j + 1) / len(COUNTS))

    def draw() -> Any:
        drawn, (left, right) = figure(10.0, 4.0, columns=2)
        _shares(left, random, (ONE_PAIR, RESPONSE), f"three hypotheses, {INPUTS} inputs: the worst pair")
        for m, (line, marker) in zip(COUNTS, (("-", "o"), ("--", "s"), (":", "^")), strict=True):
            style = {"color": "#111111", "linestyle": line, "marker": marker, "markersize": 4, "linewidth": 1.4}
            right.plot(EPSILONS, tilted[f"{m} hypotheses"], label=f"{m} hypotheses, {m} inputs", **style)
        right.set_ylim(0, 1.04)
        title = f"each answer tilted by {TILT:g}: the mean pair"
        labelled(right, "privacy level ε (nats)", "randomised response / optimum", title)
        right.legend(frameon=False, fontsize=9, loc="lower right")
        return drawn

    low = {form: min(random[f"{form}, worst"]) for form in (ONE_PAIR, RESPONSE)}
    at = EPSILONS.index(0.5)
    said = ", ".join(f"{tilted[f'{m} hypotheses'][at]:.1%} with {m}" for m in COUNTS)
    return Reproduced(
        paragraph(f"""Several hypotheses, which the paper leaves open (largest relative gap of an optimum
        {max(gaps):.1e}). Left: the smallest divergence among all pairs of three random hypotheses, {INSTANCES}
        instances (mean; thin: the worst). The best design for any one pair falls to {low[ONE_PAIR]:.1%} of the optimum
        in the worst instance, randomised response to {low[RESPONSE]:.1%}. Right: the mean over all pairs of P_i =
        {1 - TILT:g}·uniform + {TILT:g}·δ_i. Although everything is symmetric, randomised response is not always optimal
        at small ε: of the optimum it has, at ε = {EPSILONS[at]:g}, {said}."""),
        {"worst-pair": random, "tilted": tilted},
        draw,
        SEED,
    )


def robust(progress: Progress) -> Reproduced:
    """Hypotheses known as classes: balls in total variation, and lists."""
    apart = _total_variation()
    balls = _balls(apart)
    generator = np.random.default_rng(SEED)
    rows: list[dict[str, list[Any]]] = []
    gaps: list[float] = []
    for i in range(INSTANCES):
        first, second = generator.dirichlet(np.ones(INPUTS), (2, 3)).tolist()
        centre = KL(np.mean(first, axis=0), np.mean(second, axis=0))
        rows.append(_worst(RobustDivergence(first, second), list(itertools.product(first, second)), gaps, centre))
        progress((i + 1) / INSTANCES)
    lists = _over_instances(rows)
    least = {epsilon: min(balls[f"{CENTRES}, epsilon {epsilon:g}"]) for epsilon in LEVELS}
    said = " and ".join(f"{share:.1%} at ε = {epsilon:g}" for epsilon, share in least.items())
    low = {form: min(lists[f"{form}, worst"]) for form in (CENTRES, ONE_PAIR, RESPONSE)}
    return Reproduced(
        paragraph(f"""Two hypotheses that are known only as classes; what counts is the worst pair. Left: balls in total
        variation around two distributions on {INPUTS} inputs (they meet at radius {apart / 2:g}), at the least
        favourable pair of the optimum, where no design has more than the best guarantee: the least share of the design
        for the centres over these radii is {said}. Right: {INSTANCES} random pairs of lists of three distributions
        (mean; thin: the worst; largest relative gap of an optimum {max(gaps):.1e}): in the worst instance the design
        for the means of the lists has {low[CENTRES]:.1%} of the optimum, the best design for one pair
        {low[ONE_PAIR]:.1%}, randomised response {low[RESPONSE]:.1%}."""),
        {"balls": balls, "lists": lists},
        partial(_draw_robust, balls, lists),
        SEED,
    )


def _balls(apart: float) -> dict[str, list[Any]]:
    """For balls of growing radius: the best guarantee, and the share of it that two other designs have."""
    centres = KL(P0, P1)
    balls: dict[str, list[Any]] = {"radius": [share * apart for share in RADII]}
    for epsilon in LEVELS:
        plain, response = design(LDP(epsilon), centres).mechanism, randomized_response(INPUTS, epsilon)
        for i, radius in enumerate(balls["radius"]):
            one, two = (SourceClass.ball(p, f"{radius:.4f}") for p in (P0, P1))
            utility = RobustDivergence(one, two) if i else centres
            best = design(LDP(epsilon), utility).value
            values = {"guaranteed": best, CENTRES: utility(plain) / best, RESPONSE: utility(response) / best}
            add_row(balls, {f"{name}, epsilon {epsilon:g}": value for name, value in values.items()})
    return balls


def _draw_robust(balls: Columns, lists: Columns) -> Any:
    drawn, (left, right) = figure(10.0, 4.0, columns=2)
    for epsilon, form in itertools.product(LEVELS, (CENTRES, RESPONSE)):
        style = {**STYLES[form], "markerfacecolor": STYLES[form]["color"] if epsilon == LEVELS[0] else "white"}
        left.plot(balls["radius"], balls[f"{form}, epsilon {epsilon:g}"], label=f"{form}, ε = {epsilon:g}", **style)
    left.set_ylim(0, 1.04)
    left.set_xticks([0, 0.05, 0.1, 0.15, 0.2])
    labelled(left, "radius of both balls (total variation)", "share of the best guarantee", "balls")
    left.legend(frameon=False, fontsize=8, loc="center left")
    _shares(right, lists, (CENTRES, ONE_PAIR, RESPONSE), "lists of three: the worst of nine pairs")
    return drawn


def _worst(utility: Utility, pairs: Sequence[Any], gaps: list[float], centre: KL | None = None) -> dict[str, list[Any]]:
    """Shares of the optimum of a worst case, for each ε; what its gaps are is added to `gaps`."""
    shares: dict[str, list[Any]] = {}
    for epsilon in EPSILONS:
        best = design(LDP(epsilon), utility)
        gaps.append(best.gap)
        values = {ONE_PAIR: max(utility(_designed(epsilon, KL(a, b))) for a, b in pairs)}
        values[RESPONSE] = utility(randomized_response(utility.k, epsilon))
        if centre is not None:
            values[CENTRES] = utility(_designed(epsilon, centre))
        add_row(shares, {form: value / best.value for form, value in values.items()})
    return shares


def _designed(epsilon: float, utility: KL) -> Mechanism:
    return design(LDP(epsilon), utility).mechanism


def _over_instances(rows: Sequence[dict[str, list[float]]]) -> dict[str, list[float]]:
    """Mean and lowest of each form over the instances, for each ε."""
    columns: dict[str, list[float]] = {"epsilon": list(EPSILONS)}
    for form in rows[0]:
        values = np.array([row[form] for row in rows])
        columns[f"{form}, mean"] = values.mean(axis=0).tolist()
        columns[f"{form}, worst"] = values.min(axis=0).tolist()
    return columns


def _shares(axis: Any, columns: Columns, forms: Sequence[str], title: str) -> None:
    for form in forms:
        style = STYLES[form]
        axis.plot(columns["epsilon"], columns[f"{form}, mean"], label=form, **style)
        axis.plot(columns["epsilon"], columns[f"{form}, worst"], **{**style, "linewidth": 0.7, "marker": ""})
    axis.set_ylim(0, 1.04)
    labelled(axis, "privacy level ε (nats)", "share of the optimum", title)
    axis.legend(frameon=False, fontsize=9, loc="upper left")


def _tilted(m: int) -> list[list[float]]:
    return [[(1 - TILT) / m + (TILT if i == j else 0.0) for j in range(m)] for i in range(m)]


def _total_variation() -> float:
    return round(sum(abs(float(a) - float(b)) for a, b in zip(P0, P1, strict=True)) / 2, 12)


FIGURES = (
    Figure("beyond-hypotheses", "Three and more hypotheses: the worst pair and the mean of all", hypotheses, 20),
    Figure("beyond-robust", "Hypotheses known as classes: balls and lists", robust, 40),
)
