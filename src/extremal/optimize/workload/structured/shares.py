"""Shares of many inputs, some likelier than others: exactly where inputs come in groups, else by subset selection.

When the prior has a few different values, the best mechanism mixes all sets with certain counts in each group of
equally likely inputs; mechanism and bound are exact (`groups`). Where subset selection of the best size is as good, it
is taken: it is one number to store. Otherwise the better of it and of a projective
geometry restricted to the inputs (`blocks`): every pair in equally many sets, bounded by the matrix inequality.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from extremal.errors import TooLarge
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.lifts import Coordinates, Floats
from extremal.optimize.workload.structured.blocks import restricted_design
from extremal.optimize.workload.structured.groups import (
    MOST_COUNTS,
    Classes,
    alike,
    best_orbits,
    counts_proof,
    orbit_mechanism,
)
from extremal.optimize.workload.structured.symmetric import best_size
from extremal.privacy import LDP
from extremal.utility import Workload

MOST_CLASSES = 3
NEAR = 1e-3  # relative: closer to the bound nothing else is tried
SIMPLER = 1e-9  # relative: subset selection that is closer to the bound is preferred to a mixture


def many_shares(problem: Problem, utility: Workload, prior: Floats, privacy: LDP, *until: Any) -> Solution:
    """Exactly for few groups of inputs; else the better of subset selection and a restricted block design, with the
    best bound there is; `until` are the time, pairs and clock of `best_inequality`."""
    classes = alike(utility.gram, prior)
    if classes is not None and classes.sizes.size <= MOST_CLASSES and classes.counts <= MOST_COUNTS:
        return _by_groups(problem, utility, privacy, classes)
    bound = best_inequality(Coordinates(prior, utility.rows), privacy.epsilon, *until)
    found = []
    with contextlib.suppress(TooLarge):  # the prior has too many different values to count subsets by
        found.append(_best_subsets(problem, utility, privacy))
    if not found or found[0][0] > bound.bound * (1 + NEAR):
        sets = restricted_design(utility.k, math.expm1(privacy.epsilon))
        listed = Mechanism.from_cover(utility.k, sets, privacy, inputs=problem.inputs)
        found.append((utility(listed), listed, f"projective geometry, {listed.m} sets"))
    _, mechanism, method = min(found, key=lambda one: one[0])
    return Solution(mechanism, bound.bound, method, (bound.proof(privacy, utility),))


def _by_groups(problem: Problem, utility: Workload, privacy: LDP, classes: Classes) -> Solution:
    """The best mixture of types of sets, or subset selection where that is as good."""
    orbits = best_orbits(classes, privacy.epsilon)
    proof = counts_proof(classes, orbits, utility.exact_gram[1])
    size = best_size(utility.k, math.exp(privacy.epsilon))
    subsets = Mechanism.from_subsets(utility.k, size, privacy, inputs=problem.inputs)
    if utility(subsets) <= orbits.found.bound * (1 + SIMPLER):
        return Solution(subsets, orbits.found.bound, f"subset selection of size {size}", (proof,))
    mixture = orbit_mechanism(classes, orbits, privacy, problem.inputs)
    method = f"sets of {orbits.weights.size} types, counted in {classes.sizes.size} groups of inputs"
    return Solution(mixture, orbits.found.bound, method, (proof,))


def _best_subsets(problem: Problem, utility: Workload, privacy: LDP) -> tuple[float, Mechanism, str]:
    """Subset selection of the size that suits the prior: from the size for equal shares, downhill."""
    k, tried = utility.k, dict[int, tuple[float, Mechanism]]()

    def cost(size: int) -> float:
        if size not in tried:
            mechanism = Mechanism.from_subsets(k, size, privacy, inputs=problem.inputs)
            tried[size] = (utility(mechanism), mechanism)
        return tried[size][0]

    size = best_size(k, float(np.exp(privacy.epsilon)))
    step = max(1, size // 8)
    while step:
        near = [s for s in (size - step, size + step) if 1 <= s < k]
        better = min(near, key=cost)
        if cost(better) < cost(size):
            size = better
        else:
            step //= 2
    value, mechanism = tried[size]
    return value, mechanism, f"subset selection of size {size}"
