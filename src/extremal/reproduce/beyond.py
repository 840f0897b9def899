"""Beyond the papers: alphabets that they could not list, and goals that they do not have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from extremal.closed_forms import (
    better_of_two,
    binary,
    binary_for_information,
    geometric,
    randomized_response,
    subset_selection,
)
from extremal.optimize.design import design
from extremal.plotting import figure
from extremal.privacy import LDP
from extremal.reproduce.figure import Columns, Figure, Progress, Reproduced
from extremal.reproduce.instances import SEED, pairs
from extremal.reproduce.style import STYLES, labelled
from extremal.utility import CDF, KL, Frequencies, MutualInformation, Utility

LARGE, EPSILONS = (100, 1000), (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
GOAL_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def large(kind: str, progress: Progress) -> Reproduced:
    """The optimum and the closed forms for a hundred and a thousand inputs."""
    tables: dict[str, Columns] = {}
    for number, k in enumerate(LARGE):
        p0, p1 = pairs(k, count=1)[0]
        utility: Utility = KL(p0, p1) if kind == "divergence" else MutualInformation(p0)
        grid = EPSILONS if kind == "divergence" else EPSILONS[:-1]
        columns: dict[str, list[float]] = {"epsilon": list(grid)}
        for i, epsilon in enumerate(grid):
            found = design(LDP(epsilon), utility, tolerance=1e-9 if kind == "divergence" else 1e-6)
            two = binary(p0, p1, epsilon) if kind == "divergence" else binary_for_information(p0, epsilon)
            values = {
                "optimum": found.value,
                "gap": found.gap,
                "binary": utility(two),
                "randomised response": utility(randomized_response(k, epsilon)),
                "geometric": utility(geometric(k, epsilon)),
                "better of two": utility(better_of_two(utility, epsilon)),
            }
            for name, value in values.items():
                columns.setdefault(name, []).append(value)
            progress((number + (i + 1) / len(grid)) / len(LARGE))
        tables[f"{k}-inputs"] = columns

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, k in zip(axes, LARGE, strict=True):
            columns = tables[f"{k}-inputs"]
            for form in ("binary", "randomised response", "geometric"):
                share = np.array(columns[form]) / np.array(columns["optimum"])
                axis.plot(columns["epsilon"], share, label=form, **STYLES[form])
            axis.set_ylim(0, 1.03)
            labelled(axis, "privacy level ε (nats)", "share of the optimum", f"{k} inputs")
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    what = "divergence of a random pair" if kind == "divergence" else "information about a random prior"
    worst = {
        k: min(
            b / o for b, o in zip(tables[f"{k}-inputs"]["better of two"], tables[f"{k}-inputs"]["optimum"], strict=True)
        )
        for k in LARGE
    }
    gap = max(max(columns["gap"]) for columns in tables.values())
    return Reproduced(
        f"The {what}, with the certified optimum (largest relative gap {gap:.1e}) where the papers stop at twelve "
        f"inputs. The better of binary and randomised "
        f"response falls to {worst[100]:.1%} of the optimum with a hundred inputs and {worst[1000]:.1%} with a "
        f"thousand.",
        tables,
        draw,
        SEED,
    )


def goals(progress: Progress) -> Reproduced:
    """What people estimate: n·MSE of the designed optimum beside subset selection and randomised response."""
    k = 10
    zipf = np.arange(1, k + 1) ** -1.5
    prior = (zipf / zipf.sum()).tolist()
    wanted = {"shares": Frequencies(prior), "cumulative shares": CDF(prior)}
    tables: dict[str, Columns] = {}
    for number, (name, goal) in enumerate(wanted.items()):
        columns: dict[str, list[float]] = {"epsilon": list(GOAL_EPSILONS)}
        for i, epsilon in enumerate(GOAL_EPSILONS):
            found = design(LDP(epsilon), goal)
            for form, value in (
                ("optimum", found.value),
                ("gap", found.gap),
                ("subset selection", goal(subset_selection(k, epsilon))),
                ("randomised response", goal(randomized_response(k, epsilon))),
            ):
                columns.setdefault(form, []).append(value)
            progress((number + (i + 1) / len(GOAL_EPSILONS)) / len(wanted))
        tables[name.replace(" ", "-")] = columns

    def draw() -> Any:
        drawn, axes = figure(10.0, 4.0, columns=2)
        for axis, name in zip(axes, wanted, strict=True):
            columns = tables[name.replace(" ", "-")]
            for form in ("subset selection", "randomised response"):
                needed = np.array(columns[form]) / np.array(columns["optimum"])
                axis.plot(columns["epsilon"], needed, label=form, **STYLES[form])
            axis.axhline(1.0, color="#111111", linewidth=1.4, label="designed optimum")
            axis.set_yscale("log")
            axis.set_yticks([1, 1.5, 2, 3, 5, 8], ["1", "1.5", "2", "3", "5", "8"])
            axis.minorticks_off()
            labelled(axis, "privacy level ε (nats)", "respondents needed, optimum = 1", name)
        axes[0].legend(frameon=False, fontsize=9)
        return drawn

    at_one = GOAL_EPSILONS.index(1.0)
    ratio = {n: tables[n]["subset selection"][at_one] / tables[n]["optimum"][at_one] for n in tables}
    return Reproduced(
        f"Ten answers with Zipf shares (exponent 1.5): how many respondents the usual mechanisms need for the "
        f"precision of the designed one. Subset selection at "
        f"ε = 1: {ratio['shares']:.2f} times as many for the shares, {ratio['cumulative-shares']:.2f} times for the "
        f"cumulative shares.",
        tables,
        draw,
    )


def delta(progress: Progress) -> Reproduced:
    """(ε,δ): the optimum against revealing with probability δ and else the best ε-mechanism."""
    instances = [("found by search", HARDEST)] + [(f"random, {k} inputs", _random_case(k)) for k in (3, 4, 5, 6)]
    rows: dict[str, list[Any]] = {name: [] for name in ("instance", "epsilon", "delta", "optimum", "revealing", "gain")}
    for i, (name, (p0, p1, epsilon, level)) in enumerate(instances):
        utility = KL(p0, p1)
        best = design(LDP(epsilon, level), utility).value
        plain = design(LDP(epsilon), utility).mechanism.matrix
        share = float(level)
        revealing = utility(np.hstack([(1 - share) * plain, share * np.eye(len(p0))]))
        for column, value in zip(
            rows.values(), (name, epsilon, level, best, revealing, best / revealing - 1), strict=True
        ):
            column.append(value)
        progress((i + 1) / len(instances))

    def draw() -> Any:
        drawn, axis = figure(7.0, 3.2)
        names = rows["instance"][::-1]
        axis.barh(names, [100 * gain for gain in rows["gain"]][::-1], color="#555555")
        axis.grid(visible=False, axis="y")
        labelled(axis, "divergence above revealing with probability δ (%)", "")
        return drawn

    return Reproduced(
        "Under (ε,δ)-LDP with more than two inputs the best mechanism need not be one that reveals the answer with "
        "probability δ and is the best ε-mechanism "
        f"otherwise: it is {rows['gain'][0]:.1%} above it in the first instance, and never below. With two inputs it "
        f"is exactly that (KOV Theorem 17).",
        {"": rows},
        draw,
        SEED,
    )


HARDEST = (["0.191", "0.286", "0.523"], ["0.453", "0.285", "0.262"], "1.4945", "0.317")


def _random_case(k: int) -> tuple[Any, Any, str, str]:
    p0, p1 = pairs(k, count=1)[0]
    return p0, p1, "1.5", "0.3"


FIGURES = (
    Figure("beyond-divergence", "Divergence for 100 and 1,000 inputs", partial(large, "divergence"), 20),
    Figure("beyond-information", "Information for 100 and 1,000 inputs", partial(large, "information"), 60),
    Figure("beyond-delta", "(ε,δ) for three to six inputs against revealing with probability δ", delta, 8),
    Figure("beyond-goals", "Shares and cumulative shares: respondents needed", goals, 10),
)
