"""The numbers that the explorer looks up, for they are designed or proved and no formula gives them.

`python -m extremal.explorer.table` computes them and writes `table.js`. Means: n × mean squared error of the mean of
0..k−1 at equal shares, for the design and for mechanisms in use. Shuffled: what n shuffled reports of randomised
response guarantee centrally.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from extremal.closed_forms import geometric, piecewise, randomized_response, stochastic_rounding
from extremal.mechanism import Mechanism
from extremal.optimize import design
from extremal.privacy import LDP
from extremal.theory import shuffled
from extremal.utility import Mean

MEAN_ANSWERS = tuple(range(3, 12))  # scales of questionnaires have 3 to 11 points
MEAN_EPSILONS = (
    *("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1", "1.2", "1.4", "1.6", "1.8", "2"),
    *("2.5", "3", "3.5", "4", "5", "6"),
)
USED_FOR_MEANS: dict[str, Callable[[int, str], Mechanism]] = {
    "rounding": stochastic_rounding,
    "piecewise": piecewise,
    "geometric": geometric,
    "response": randomized_response,
}
SHUFFLED_ANSWERS = (2, 4, 10)  # a yes/no question, a rating, a list
SHUFFLED_EPSILONS = ("0.5", "1", "2", "3", "4")
SHUFFLED_PEOPLE = (1_000, 10_000, 100_000, 1_000_000)
SHUFFLED_DELTAS = ("1e-6", "1e-8")


def mean_costs(k: int, epsilon: str) -> dict[str, float]:
    """n × mean squared error of the mean of 0..k−1, for the best mechanism and those in use."""
    goal = Mean(range(k))
    used = {name: goal(make(k, epsilon)) for name, make in USED_FOR_MEANS.items()}
    return {"best": design(LDP(epsilon), goal).value, **used}


def central(k: int, epsilon: str, n: int, delta: str) -> tuple[float, float, float]:
    """(lower end, upper end, bound that knows the local level alone) of the central ε of n shuffled reports."""
    reports = shuffled(randomized_response(k, epsilon), n)
    return (*reports.epsilon(delta), reports.generic(delta))


def computed() -> dict[str, Any]:
    """The whole table; about three minutes."""
    costs = [[mean_costs(k, e) for e in MEAN_EPSILONS] for k in MEAN_ANSWERS]
    return {
        "means": {
            "answers": MEAN_ANSWERS,
            "epsilons": MEAN_EPSILONS,
            "costs": {name: [[cell[name] for cell in row] for row in costs] for name in costs[0][0]},
        },
        "shuffled": {
            "answers": SHUFFLED_ANSWERS,
            "epsilons": SHUFFLED_EPSILONS,
            "people": SHUFFLED_PEOPLE,
            "deltas": SHUFFLED_DELTAS,
            "central": [
                [[[central(k, e, n, d) for d in SHUFFLED_DELTAS] for n in SHUFFLED_PEOPLE] for e in SHUFFLED_EPSILONS]
                for k in SHUFFLED_ANSWERS
            ],
        },
    }


def written(table: dict[str, Any]) -> str:
    """The table as a JavaScript module."""
    parts = ",\n".join(f'"{part}": {json.dumps(content, separators=(",", ":"))}' for part, content in table.items())
    return f"// Written by `python -m extremal.explorer.table`.\nexport const TABLE = {{\n{parts}\n}};\n"


if __name__ == "__main__":
    Path(__file__).with_name("table.js").write_text(written(computed()), encoding="utf-8")
