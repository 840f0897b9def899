"""What (ε,δ)-LDP is compared with: reveal the input with probability δ, else follow the best ε-mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from extremal.errors import TooLarge
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem
from extremal.optimize.workload.structured.blocks import restricted_design
from extremal.privacy import LDP
from extremal.tables import number
from extremal.utility import Utility

NO_TIME = 1e-3  # seconds: what is asked for when none are left


def best_plain(problem: Problem, privacy: LDP) -> Floats:
    """The best ε-LDP mechanism; at level 0 the constant one."""
    from extremal.optimize.design import design

    if not privacy.epsilon:
        return np.ones((problem.utility.k, 1))
    pure, left = LDP.from_json({**privacy.to_json(), "delta": "0"}), problem.seconds_left
    found = design(pure, problem.utility, time_limit=None if left is None else left or NO_TIME).mechanism
    try:
        return found.matrix
    except TooLarge:  # subset selection of many inputs: the sets of a projective geometry are nearly as good
        sets = restricted_design(found.k, math.expm1(privacy.epsilon))
        return Mechanism.from_cover(found.k, sets, pure).matrix


def revealing(plain: Floats, privacy: LDP) -> Floats:
    """The mechanism that reveals the input with probability δ, and else does what an ε-LDP mechanism does."""
    return np.hstack([(1 - privacy.delta) * plain, privacy.delta * np.eye(plain.shape[0])])


@dataclass(frozen=True, eq=False)
class RevealOrStaircase:
    """How much better the optimum is than revealing with probability δ and else the best ε-mechanism."""

    utility: Utility
    privacy: LDP
    mechanism: Mechanism

    def sentence(self) -> str:
        reached = self.utility(revealing(best_plain(Problem(self.privacy, self.utility), self.privacy), self.privacy))
        best = self.utility(self.mechanism)
        share = f" ({number(100 * reached / best, 5)}% of this)" if best and np.isfinite(best) else ""
        return f"revealing with probability δ, else the best ε-mechanism: {number(reached)}{share}"
