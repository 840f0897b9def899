"""The main job, end to end, on a real survey: a goal, the best mechanism and its proof, reports, the estimate.

Run with `make run`. Nobody's answer leaves this program unrandomised except in the line "truth", which a real study
would not have.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.data import INCOME_MIDDLES, LEVELS, survey
from extremal.plotting import COLOURS, figure, save

EPSILON = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
PICTURE = Path("out/survey.png")


def one_bit(values: tuple[float, ...], epsilon: float) -> ex.Mechanism:
    """Round at random to the lowest or highest value, then randomised response (Duchi, Jordan and Wainwright 2013)."""
    place = (np.array(values) - min(values)) / (max(values) - min(values))
    high = 0.5 + np.tanh(epsilon / 2) * (place - 0.5)
    return ex.Mechanism.from_matrix(np.column_stack([1 - high, high]), ex.LDP(epsilon), inputs=LEVELS["income"])


def picture(names: list[str], people: list[float], found: list[Any], truth: float) -> Any:
    """What each mechanism needs, and what each found."""
    drawn, (left, right) = figure(width=10, height=3.1, columns=2)
    left.barh(names, people, color=[COLOURS[0]] + ["#9db4c0"] * (len(names) - 1))
    for y, n in enumerate(people):
        left.text(n, y, f" {n:,.0f}", va="center", fontsize=9)
    left.margins(x=0.14)
    left.set_xlabel(f"respondents for the margin of {people[0]:,.0f} with the designed one")
    for y, one in enumerate(found):
        (low, high), colour = one.interval()[0], COLOURS[0] if not y else "#6c8290"
        right.plot([low, high], [y, y], color=colour, linewidth=4, alpha=0.6)
        right.plot(one.estimate, [y], "o", color=colour)
    right.axvline(truth, color="black", linestyle=":")
    right.text(truth, -0.5, "truth ", ha="right", va="top", fontsize=9)
    right.set_yticks(range(len(names)), [""] * len(names))
    right.set_xlabel("mean income in $1,000, with 95% interval")
    for axis in (left, right):
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.grid(visible=False, axis="y")
    drawn.suptitle(f"Household income, {len(LEVELS['income'])} brackets, ε = {EPSILON:g}", fontsize=11)
    return drawn


def main() -> None:
    """The whole story in one screen."""
    answers, brackets = survey()["income"], LEVELS["income"]
    print(f"{len(answers)} people, household income in {len(brackets)} brackets. Goal: the mean.")
    odds = f"{np.exp(EPSILON):.3g} times as likely from one income as from another"
    print(f"Promise: ε = {EPSILON:g}, no report is more than {odds}.\n")

    goal = ex.Mean(INCOME_MIDDLES)
    best = ex.design(ex.LDP(EPSILON), goal, inputs=brackets)
    print(best.summary(), "\n")
    print("Checked without the solver:")
    print(ex.verify(best), "\n")

    mechanisms = {
        "designed": best.mechanism,
        "one bit (for means)": one_bit(INCOME_MIDDLES, EPSILON),
        "subset selection": ex.subset_selection(brackets, EPSILON),
        "randomised response": ex.randomized_response(brackets, EPSILON),
    }
    people = [len(answers) * goal(m) / best.value for m in mechanisms.values()]
    found = [ex.estimate_workload(m.privatize(answers), m, goal) for m in mechanisms.values()]
    truth = float(np.mean([INCOME_MIDDLES[brackets.index(answer)] for answer in answers]))
    print(f"{'mechanism':20s} {'estimate':>9s} {'95% margin':>11s}   {'people needed for the designed margin':s}")
    for name, n, one in zip(mechanisms, people, found, strict=True):
        print(f"{name:20s} {one.estimate[0]:9.1f} {1.96 * one.standard_error[0]:11.1f}   {n:,.0f}")
    print(f"{'truth':20s} {truth:9.1f}   thousand dollars; randomised once, your numbers differ each time\n")
    bit, response = (f"{people[i] - people[0]:,.0f}" for i in (1, 3))
    print(f"The design saves {bit} people compared with one bit and {response} compared with randomised response,")
    print("if all brackets are equally likely.")
    drawn = picture(list(mechanisms), people, found, truth)
    print(f"Picture: {save(drawn, PICTURE, overwrite=True)}\n")
    print("Next: .venv/bin/python examples/survey.py 0.5        another ε")
    print("      .venv/bin/extremal design --help               your own question from a shell")
    print("      docs/start/tutorial.md, or make docs           ten minutes; everything else")


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    main()
