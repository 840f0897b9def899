"""PML for every prior of a class.

Small alphabets with few extreme priors: the best mechanism over all extreme columns, which double description lists
exactly. Otherwise a mechanism that holds for the whole class, from a design for one prior of it at a smaller ε, with
the bound that this prior alone gives: the gap is then what is proved, not what is lost.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from extremal.certificate import OnePrior
from extremal.errors import TooLarge
from extremal.optimize.infinite import infinite
from extremal.optimize.leakage.solve import solve as for_one_prior
from extremal.optimize.problem import Problem, Solution, constant
from extremal.optimize.rays import over_class
from extremal.privacy import PML
from extremal.utility import Utility

STEPS = 24  # halvings of the ε at which the one-prior design is made
NEAR = 1e-4  # relative: closer to the largest such ε is not worth a design
LOOSE = 1e-7  # gap of the designs on the way


def solve(problem: Problem, privacy: PML, _: Utility) -> Solution:
    """PML for a class of several priors, any sum over columns or the worst of several."""
    found = infinite(problem, lambda rest: _finite(rest, privacy)) or _finite(problem, privacy)
    said = (
        f"holds for every prior of {privacy.source!r}: the largest leakage over the class is "
        f"{privacy.level(found.mechanism):.6g}"
    )
    return dataclasses.replace(found, notes=(said,))


def _finite(problem: Problem, privacy: PML) -> Solution:
    if not privacy.epsilon:
        return constant(problem)
    try:
        return over_class(problem, privacy)
    except TooLarge:  # too many extreme columns or priors to list
        return _shrunk(problem, privacy)


def _shrunk(problem: Problem, privacy: PML) -> Solution:
    """The largest ε′ ≤ ε whose one-prior design still holds for the class, by halving."""
    prior = privacy.source.member()
    single = privacy.under(prior)
    outer = for_one_prior(dataclasses.replace(problem, privacy=single), single, problem.utility)
    weights = tuple(Fraction(w) for w in prior.weights)
    proofs = tuple(OnePrior(weights, (), proof) for proof in outer.proofs)
    best = outer.mechanism.claiming(privacy) if privacy.holds(outer.mechanism) else None
    low, high = 0.0, privacy.epsilon
    for _ in range(STEPS if best is None else 0):
        if problem.out_of_time and best is not None:
            break
        middle = (low + high) / 2
        smaller = PML(middle, prior)
        loose = dataclasses.replace(problem, privacy=smaller, tolerance=max(problem.tolerance, LOOSE))
        tried = for_one_prior(loose, smaller, problem.utility).mechanism
        if privacy.holds(tried):
            low, best = middle, tried.claiming(privacy)
        else:
            high = middle
        if high - low < NEAR * high:
            break
    if best is None:
        best = constant(problem).mechanism
    return Solution(best, outer.bound, "design for one prior of the class at a smaller ε", proofs)
