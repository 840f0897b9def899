"""Draws the pictures of docs/theory: python examples/theory_pictures.py [folder]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import extremal as ex
from extremal import theory
from extremal.plotting import COLOURS, figure, save

P0, P1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
KL = ex.KL(P0, P1)


def thresholds() -> object:
    """What binary and randomised response reach of the optimum."""
    drawn, axis = figure()
    grid = [float(e) for e in np.linspace(0.2, 6, 80)]
    best = [ex.design(ex.LDP(e), KL).value for e in grid]
    for i, (name, form) in enumerate(
        {
            "binary": lambda e: ex.binary(P0, P1, e),
            "randomised response": lambda e: ex.randomized_response(3, e),
        }.items()
    ):
        axis.plot(grid, [KL(form(e)) / b for e, b in zip(grid, best, strict=True)], color=COLOURS[i], label=name)
    axis.axvline(theory.binary_threshold(P0, P1), color=COLOURS[5], linestyle="--", label="universal threshold")
    axis.axvline(theory.binary_threshold_for(KL), color=COLOURS[2], linestyle=":", label="threshold for KL, of both")
    axis.set(xlabel="ε (nats)", ylabel="share of the optimal KL", ylim=(0, 1.05))
    axis.legend(frameon=False, loc="lower right")
    return drawn


def exponents() -> object:
    """The effective share of the respondents."""
    drawn, axis = figure()
    grid = [float(e) for e in np.geomspace(0.05, 8, 60)]
    forms = {
        "optimal": lambda e: ex.design(ex.LDP(e), KL).mechanism,
        "binary": lambda e: ex.binary(P0, P1, e),
        "randomised response": lambda e: ex.randomized_response(3, e),
    }
    for i, (name, form) in enumerate(forms.items()):
        shares = [ex.error_exponent(form(e), P0, P1).efficiency for e in grid]
        axis.plot(grid, shares, color=("black", *COLOURS)[i], linestyle=("-", "--", ":")[i], label=name)
    axis.set(xscale="log", yscale="log", xlabel="ε (nats)", ylabel="effective share of the respondents")
    axis.legend(frameon=False)
    return drawn


def staircase() -> object:
    """The sixteen patterns of four inputs in the paper's numbering; dark is e^ε."""
    drawn, axis = figure(7, 2.4)
    axis.imshow(theory.staircase_patterns(4, 1), cmap="Blues", aspect="auto", vmin=0.5, vmax=3)
    axis.set(xticks=range(16), xticklabels=range(1, 17), yticks=range(4), yticklabels=range(1, 5))
    axis.set(xlabel="pattern j", ylabel="input")
    axis.grid(visible=False)
    return drawn


def leakage() -> object:
    """How many reports leak more than ε."""
    found = theory.leakage_distribution(ex.randomized_response(3, 1), [0.5, 0.3, 0.2])
    drawn, axis = figure()
    grid = [float(e) for e in np.linspace(0, 0.8, 400)]
    axis.plot(grid, [found.tail(e) for e in grid], color=COLOURS[0], label="P[leakage > ε]")
    lines = {"mean": found.mean, "maximal leakage": found.maximal_leakage, "PML level": found.level}
    for i, (name, value) in enumerate(lines.items()):
        axis.axvline(value, color=COLOURS[i + 1], linestyle=(":", "--", "-")[i], label=name)
    axis.set(xlabel="ε (nats)", ylabel="share of the reports")
    axis.legend(frameon=False)
    return drawn


def shuffle() -> object:
    """Central ε after shuffling: any mechanism of local level 2, and four with that level."""
    drawn, axis = figure()
    people, delta = [10**3, 10**4, 10**5, 10**6, 10**7], "1e-8"
    forms = {
        "CDF design, k = 10": ex.design(ex.LDP(2), ex.CDF(10)).mechanism,
        "two answers": ex.randomized_response(2, 2),
        "ten answers": ex.randomized_response(10, 2),
        "a hundred answers": ex.randomized_response(100, 2),
    }
    generic = [ex.shuffled(forms["two answers"], n).generic(delta) for n in people]
    axis.plot(people, generic, color=COLOURS[5], linestyle=":", label="any 2-LDP mechanism (numerical clones)")
    for i, (name, m) in enumerate(forms.items()):
        ends = [ex.shuffled(m, n).epsilon(delta) for n in people]
        axis.plot(people, [high for _, high in ends], color=COLOURS[i], marker="o", markersize=3.5, label=name)
        axis.plot(people, [low for low, _ in ends], color=COLOURS[i], linewidth=0.8)
    axis.set(xscale="log", yscale="log", xlabel="people who report", ylabel="central ε at δ = 1e-8 (nats)")
    axis.legend(frameon=False)
    return drawn


def main(folder: Path) -> None:
    """All pictures."""
    three = ex.Mechanism.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    half = ex.randomized_response(3, 0.5)
    pictures = {
        "thresholds": thresholds(),
        "exponents": exponents(),
        "staircase": staircase(),
        "leakage": leakage(),
        "shuffle": shuffle(),
        "converses": theory.converses(KL, 1).plot(),
        "converses_information": theory.converses(ex.MutualInformation(P0), 1).plot(),
        "regions": theory.error_region_of(1, 0.1).plot(
            theory.error_region(ex.randomized_response(2, 1)),
            theory.error_region(three),
            labels=["allowed by ε = 1, δ = 0.1", "randomised response, ε = 1", "a mechanism of level 0.92"],
        ),
        "induced_regions": theory.error_region(ex.binary(P0, P1, 0.8), P0, P1).plot(
            theory.error_region(ex.randomized_response(3, 0.8), P0, P1),
            theory.error_region(ex.geometric(3, 0.8), P0, P1),
            labels=["binary", "randomised response", "geometric"],
        ),
        "profile": theory.privacy_profile(ex.randomized_response(3, 1)).plot(
            theory.privacy_profile(ex.quaternary(0.5, 0.1)),
            theory.privacy_profile(theory.compose(half, half)),
            labels=["randomised response, ε = 1", "quaternary, ε = 0.5, δ = 0.1", "twice randomised response, ε = 0.5"],
        ),
    }
    for name, drawn in pictures.items():
        print(save(drawn, folder / f"theory_{name}.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images")
