"""The problem as a value: everything that a proof knows of a notion and of a goal, and nothing else.

A proof about `ex.LDP(1)` and `ex.KL(p, q)` needs e^ε, two priors and the name of a divergence. `problem_of` makes these
values from a notion or a utility, `goal_from_json` from what a file says; so the kernel that checks proofs sees
neither utilities nor their floats. Only the very classes of this package have an entry: a subclass may compute
anything, and is a user's function.
"""

from extremal.problem.reading import Written, goal_from_json
from extremal.problem.values import (
    NOT_IDENTIFIED,
    RESOLUTION,
    Coupled,
    Goal,
    InformationGoal,
    LeastGoal,
    LevelGoal,
    Lift,
    LossGoal,
    MeanGoal,
    Metric,
    OverClass,
    PairGoal,
    Privacy,
    Pure,
    WorkloadGoal,
    problem_of,
    states,
)

__all__ = [
    "NOT_IDENTIFIED",
    "RESOLUTION",
    "Coupled",
    "Goal",
    "InformationGoal",
    "LeastGoal",
    "LevelGoal",
    "Lift",
    "LossGoal",
    "MeanGoal",
    "Metric",
    "OverClass",
    "PairGoal",
    "Privacy",
    "Pure",
    "WorkloadGoal",
    "Written",
    "goal_from_json",
    "problem_of",
    "states",
]
