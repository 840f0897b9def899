"""Beyond the papers: alphabets that they could not list, and goals that they do not have."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from extremal.closed_forms import better_of_two, binary, binary_for_information, randomized_response, subset_selection
from extremal.optimize.design import design
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP
from extremal.reproduce.figure import Columns, Figure, Progress, Reproduced, add_row, paragraph
from extremal.reproduce.instances import SEED, pairs
from extremal.reproduce.style import draw_forms, labelled
from extremal.utility import CDF, KL, Frequencies, MutualInformation

LARGE, EPSILONS = (100, 1000), (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
HARDEST = (["0.191", "0.286", "0.523"], ["0.453", "0.285", "0.262"])
"""The pair on three inputs that gains most among those that were searched."""

DELTA_EPSILONS, DELTAS = (
    ("1", "1.5", "2.5"),
    ("0.01", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.5"),
)
SMALL, CASES, USUAL = (3, 4, 5, 6), 12, ("1.5", "0.3")
GAINED = 1e-9  # relative: less than this is rounding
GOAL_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def large(kind: str, progress: Progress) -> Reproduced:
    """The optimum and the closed forms for a hundred and a thousand inputs."""
    tables: dict[str, Columns] = {}
    for number, k in enumerate(LARGE):
        p0, p1 = pairs(k, count=1)[0]
        utility = KL(p0, p1) if kind == "divergence" else MutualInformation(p0)
        grid = EPSILONS if kind == "divergence" else EPSILONS[:-1]
        columns: dict[str, list[Any]] = {}
        for i, epsilon in enumerate(grid):
            add_row(columns, _values(utility, epsilon))
            progress((number + (i + 1) / len(grid)) / len(LARGE))
        tables[f"{k}-inputs"] = columns

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, k in zip(axes, LARGE, strict=True):
            draw_forms(axis, tables[f"{k}-inputs"], ("binary", "randomised response", "geometric"), share=True)
            axis.set_ylim(0, 1.03)
            labelled(axis, "privacy level ε (nats)", "share of the optimum", f"{k} inputs")
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    what = "divergence of a random pair" if kind == "divergence" else "information about a random prior"
    hundred, thousand = (
        min(b / o for b, o in zip(table["better of two"], table["optimum"], strict=True)) for table in tables.values()
    )
    gap = max(max(columns["gap"]) for columns in tables.values())
    return Reproduced(
        paragraph(f"""The {what}, with the certified optimum (largest relative gap {gap:.1e}) where the papers stop at
        twelve inputs. The better of binary and randomised response falls to {hundred:.1%} of the optimum with a hundred
        inputs and {thousand:.1%} with a thousand."""),
        tables,
        draw,
        SEED,
    )


def _values(utility: KL | MutualInformation, epsilon: float) -> dict[str, float]:
    """The optimum and the closed forms at one ε."""
    found = design(LDP(epsilon), utility, tolerance=1e-9 if isinstance(utility, KL) else 1e-6)
    if isinstance(utility, KL):
        two = binary(utility.pair.p0, utility.pair.p1, epsilon)
    else:
        two = binary_for_information(utility.prior, epsilon)
    return {
        "epsilon": epsilon,
        "optimum": found.value,
        "gap": found.gap,
        "binary": utility(two),
        "randomised response": utility(randomized_response(utility.k, epsilon)),
        "geometric": utility(_geometric(utility.k, epsilon)),
        "better of two": utility(better_of_two(utility, epsilon)),
    }


def _geometric(k: int, epsilon: float) -> Any:
    """The clamped geometric mechanism in floats: a million exact weights would take longer than the design."""
    place = np.arange(k)
    step = epsilon / (k - 1)
    matrix = np.exp(-step * np.abs(place[:, None] - place[None, :]))
    matrix[:, 1:-1] *= -np.expm1(-step)
    return matrix / (1 + np.exp(-step))


def goals(progress: Progress) -> Reproduced:
    """Shares and cumulative shares: n·MSE of the designed optimum beside subset selection and randomised response."""
    k = 10
    zipf = np.arange(1, k + 1) ** -1.5
    prior = (zipf / zipf.sum()).tolist()
    wanted = {"shares": Frequencies(prior), "cumulative shares": CDF(prior)}
    tables: dict[str, Columns] = {}
    for number, (name, goal) in enumerate(wanted.items()):
        columns: dict[str, list[Any]] = {}
        for i, epsilon in enumerate(GOAL_EPSILONS):
            found = design(LDP(epsilon), goal)
            row = {"epsilon": epsilon, "optimum": found.value, "gap": found.gap}
            row["subset selection"] = goal(subset_selection(k, epsilon))
            add_row(columns, row | {"randomised response": goal(randomized_response(k, epsilon))})
            progress((number + (i + 1) / len(GOAL_EPSILONS)) / len(wanted))
        tables[name.replace(" ", "-")] = columns

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, name in zip(axes, wanted, strict=True):
            columns = tables[name.replace(" ", "-")]
            draw_forms(axis, columns, ("subset selection", "randomised response"), share=True)
            axis.axhline(1.0, color="#111111", linewidth=1.4, label="designed optimum")
            axis.set_yscale("log")
            axis.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
            axis.minorticks_off()
            axis.set_ylim(0.93, 4.2)
            labelled(axis, "privacy level ε (nats)", "respondents needed, optimum = 1", name)
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    at_one = GOAL_EPSILONS.index(1.0)
    ratio = {n: tables[n]["subset selection"][at_one] / tables[n]["optimum"][at_one] for n in tables}
    return Reproduced(
        paragraph(f"""Ten answers with Zipf shares (exponent 1.5): how many respondents the usual mechanisms need for
        the precision of the designed one. Subset selection at ε = 1: {ratio["shares"]:.2f} times as many for the
        shares, {ratio["cumulative-shares"]:.2f} times for the cumulative shares."""),
        tables,
        draw,
    )


def delta(progress: Progress) -> Reproduced:
    """(ε,δ): the optimum against revealing with probability δ and else the best ε-mechanism."""
    gains: dict[str, list[Any]] = {}
    for i, epsilon in enumerate(DELTA_EPSILONS):
        gains[f"gain at epsilon {epsilon}"] = [_gain(*HARDEST, epsilon, level) for level in DELTAS]
        progress(0.1 * (i + 1) / len(DELTA_EPSILONS))
    hard = {"delta": list(map(float, DELTAS)), **gains}
    random = _random_gains(lambda share: progress(0.1 + 0.9 * share))
    above = Counter(k for k, gain in zip(random["inputs"], random["gain"], strict=True) if gain > GAINED)
    searched = list(chain.from_iterable(gains.values()))
    below = "never" if min(*searched, *random["gain"]) > -GAINED else "SOMETIMES"
    said = ", ".join(f"{above[k]} with {k}" for k in SMALL)
    return Reproduced(
        paragraph(f"""Under (ε,δ)-LDP with more than two inputs the best mechanism need not be one that reveals the
        answer with probability δ and is the best ε-mechanism otherwise (with two inputs it is exactly that, KOV Theorem
        18). Left: it is up to {max(searched):.1%} above it. Right: it is above it for few random pairs (of {CASES} for
        each number of inputs: {said}). It is {below} below."""),
        {"found-by-search": hard, "random": random},
        partial(_draw_gains, hard, random, above),
        SEED,
    )


def _random_gains(progress: Progress) -> dict[str, list[Any]]:
    random: dict[str, list[Any]] = {}
    for k in SMALL:
        for i, (p0, p1) in enumerate(pairs(k, count=CASES)):
            add_row(random, {"inputs": k, "instance": i + 1, "gain": _gain(p0, p1, *USUAL)})
            progress((k - SMALL[0] + (i + 1) / CASES) / len(SMALL))
    return random


def _draw_gains(hard: Columns, random: Columns, above: Counter[int]) -> Any:
    drawn, (left, right) = figure(10.0, 4.0, columns=2)
    for epsilon, line, marker in zip(DELTA_EPSILONS, ("--", "-", ":"), ("s", "o", "^"), strict=True):
        style = {"color": "#111111", "linestyle": line, "marker": marker, "markersize": 4}
        gains = [100 * gain for gain in hard[f"gain at epsilon {epsilon}"]]
        left.plot(hard["delta"], gains, label=f"ε = {epsilon}", **style)
    labelled(left, "δ", "divergence above revealing (%)", "three inputs, found by search")
    left.legend(frameon=False, fontsize=9)
    gains = [100 * gain for gain in random["gain"]]
    right.plot(random["inputs"], gains, "o", color=COLOURS[0], markersize=5)
    for k in SMALL:
        right.annotate(f"{above[k]} above", (k, 0), (0, -16), textcoords="offset points", ha="center", fontsize=9)
    right.set_xticks(SMALL)
    right.set_xlim(SMALL[0] - 0.6, SMALL[-1] + 0.6)
    right.set_ylim(-0.2 * max(0.01, *gains))
    title = f"{CASES} random pairs each, ε = {USUAL[0]}, δ = {USUAL[1]}"
    labelled(right, "inputs", "divergence above revealing (%)", title)
    return drawn


def _gain(p0: Any, p1: Any, epsilon: str, level: str) -> float:
    """The excess of the optimum over revealing with probability δ, relative."""
    utility, share = KL(p0, p1), float(level)
    plain = design(LDP(epsilon), utility).mechanism.matrix
    revealing = utility(np.hstack([(1 - share) * plain, share * np.eye(len(p0))]))
    return design(LDP(epsilon, level), utility).value / revealing - 1


FIGURES = (
    Figure("beyond-divergence", "Divergence for 100 and 1,000 inputs", partial(large, "divergence"), 20),
    Figure("beyond-information", "Information for 100 and 1,000 inputs", partial(large, "information"), 60),
    Figure("beyond-delta", "(ε,δ) for three to six inputs against revealing with probability δ", delta, 15),
    Figure("beyond-goals", "Shares and cumulative shares: respondents needed", goals, 10),
)
