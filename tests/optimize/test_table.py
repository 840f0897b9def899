"""The table of methods: which module answers every notion × goal × limit, and that the page prints it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.errors import ExtremalError
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import TABLE, rows_for, solved
from extremal.privacy import Notion
from extremal.utility import Utility

PAGE = Path(__file__).parents[2] / "docs" / "design" / "index.md"

ON_THE_PAGE = {
    "pure": "ε-LDP",
    "coupled": "(ε,δ)-LDP",
    "lift": "PML, LIP, one prior",
    "class": "PML, class of priors",
    "metric": "metric privacy",
    "maximal": "maximal leakage",
}

METHODS = {
    "P": "divergence.solve.solve",
    "=": "divergence.solve.equal_hypotheses",
    "I": "information.solve.solve",
    "H": "hypotheses.solve.solve",
    "R": "rays.solve",
    "M": "rays.over_metric",
    "G": "distortion.hamming.solve",
    "D": "distortion.solve.solve",
    "W": "workload.solve.solve",
    "L": "workload.leakage.solve",
    "A": "approximate.solve.solve",
    "B": "approximate.workload.solve",
    "K": "leakage.solve.solve",
    "C": "leakage.classes.solve",
    "T": "divergence.metric.solve",
}
# For each notion a letter for each goal, in the order of `instances`; a dot where no method is known.
ANY_NUMBER_OF_REPORTS = (
    "PPPIIRRRRGGDWWWW",  # ε-LDP
    "PPPIIRRRRGGDWWWW",  # at ε = 0
    "AAAAAAAAA...BBBB",  # (ε,δ)-LDP
    "K=KKKKKKKDDDLLLL",  # PML
    "K=KKKKKKKDDDLLLL",  # LIP
    "C=CCCCCCCDDDLLLL",  # PML, class of priors
    "T=TMMMMMMDDD....",  # metric privacy on a line
    "T=TMMMMMMDDD....",  # in the plane
)
MANY_INPUTS = ("PPPIIHHHRGGDWWWW", *ANY_NUMBER_OF_REPORTS[1:])
THREE_REPORTS = (
    "PPP.........WWWW",
    "PPP.........WWWW",
    "................",
    ".=..........LLLL",
    ".=..........LLLL",
    ".=..........LLLL",
    ".=..............",
    ".=..............",
)


def instances(k: int) -> tuple[list[Notion], list[Utility]]:
    """Eight notions and sixteen goals."""
    generator = np.random.default_rng(3)
    a, b, c = generator.dirichlet(np.ones(k), 3)
    p, other = generator.dirichlet(np.full(k, 2.0), 2)
    line = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    places = generator.uniform(0, 1, (k, 2))
    plane = np.linalg.norm(places[:, None] - places, axis=2) * 3
    notions = [
        ex.LDP(1),
        ex.LDP(0),
        ex.LDP(1, delta=0.05),
        ex.PML(0.7, p),
        ex.LIP(0.7, p),
        ex.PML(0.7, ex.SourceClass([p, other])),
        ex.MetricPrivacy(0.7, line),
        ex.MetricPrivacy(0.7, plane),
    ]
    goals = [
        ex.KL(a, b),
        ex.KL(a, a),
        ex.TotalVariation(a, b),
        ex.MutualInformation(p),
        ex.MutualInformation(c),
        ex.Average([ex.KL(a, b), ex.KL(b, a)]),
        ex.Average([ex.KL(a, b), ex.KL(a, c)]),
        ex.WorstCase([ex.KL(a, b), ex.KL(c, b)]),
        ex.Average([ex.KL(a, b), ex.MutualInformation(p)]),
        ex.Hamming(p),
        ex.Hamming(ex.SourceClass.ball(p, 0.05)),
        ex.Distortion(p, line),
        ex.Frequencies(k),
        ex.Frequencies(p),
        ex.Mean(np.arange(k), p),
        ex.CDF(k),
    ]
    return notions, goals


@pytest.mark.parametrize(
    ("k", "most", "expected"), [(4, None, ANY_NUMBER_OF_REPORTS), (4, 3, THREE_REPORTS), (12, None, MANY_INPUTS)]
)
def test_a_cell_names_its_method(k: int, most: int | None, expected: tuple[str, ...]) -> None:
    notions, goals = instances(k)
    found = []
    for notion in notions:
        rows = [rows_for(Problem(notion, goal, max_outputs=most))[:1] for goal in goals]
        names = [f"{row[0].module}.{row[0].function}" if row else "" for row in rows]
        found.append("".join(next((letter for letter, name in METHODS.items() if name == one), ".") for one in names))
    assert tuple(found) == expected


@pytest.mark.parametrize("number", range(len(ANY_NUMBER_OF_REPORTS)))
def test_the_method_that_a_cell_names_answers(number: int) -> None:
    """At ε = 0 nothing can be estimated, and classes of priors have no workloads: these are refused in words."""
    notions, goals = instances(4)
    notion = notions[number]
    for letter, goal in zip(ANY_NUMBER_OF_REPORTS[number], goals, strict=True):
        problem = Problem(notion, goal, tolerance=1e-4)
        if letter == ".":
            with pytest.raises(ex.errors.InvalidParameter, match="no method is known for"):
                solved(problem)
        elif (letter == "W" and not notion.epsilon) or (letter == "L" and number == 5):
            with pytest.raises(ExtremalError, match="at epsilon 0|designed for one prior"):
                solved(problem)
        else:
            assert isinstance(rows_for(problem)[0].solve(problem), Solution)


def test_a_refusal_names_what_is_solved() -> None:
    with pytest.raises(ex.errors.InvalidParameter) as refused:
        ex.design(ex.LDP(1, 0.1), ex.Hamming([0.5, 0.5]))
    assert "divergence, information, sum, workload" in str(refused.value)


def test_every_row_names_a_function() -> None:
    from importlib import import_module

    for row in TABLE:
        assert callable(getattr(import_module(f"extremal.optimize.{row.module}"), row.function))


def test_the_page_prints_the_table() -> None:
    lines = ["| notion | goal | way | proof |", "|---|---|---|---|"]
    for row in TABLE:
        notions = "; ".join(ON_THE_PAGE[notion] for notion in row.notions.split())
        lines.append(f"| {notions} | {', '.join(row.goals.split())} | {row.way} | {row.proof} |")
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")
