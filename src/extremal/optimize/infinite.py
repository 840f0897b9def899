"""Utilities without a bound: a report that only one hypothesis makes possible is worth ∞, and is said to be.

A column that is 0 wherever P₁ > 0, but not wherever P₀ > 0, makes a divergence infinite whose f grows faster than
linearly; likewise with the two exchanged when f(0) = ∞. Such a report may name an input that no prior of the notion
lets occur, which is free; or under ε-PML it may name a set S of inputs that P₁ excludes, when e^ε·p(S) ≥ 1 for every
prior p: certainty about S is then allowed. Under ε-LIP no report of positive probability excludes an input that occurs,
so that S must be all of them. Under metric privacy inputs at infinite distances are told apart freely. All of this is
decided in integers.

A mean is infinite when one of its parts is. A worst case is infinite when all its parts are: mechanisms are mixed. When
only some are, a report of tiny probability makes these infinite, and the optimum is that of the other parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate import Dual, OnePrior, Proof
from extremal.errors import InvalidParameter
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LIP, PML, MetricPrivacy, Notion
from extremal.privacy.cones.metric import group_columns
from extremal.sources import SourceClass
from extremal.utility import Average, Divergence, SumOfColumns, Utility, WorstCase

METHOD = "a report that only one hypothesis makes possible: the value is infinite"
_SHARE = 0.5  # of the largest probability that the other report leaves to the set
_SPARED = 2.0**-56  # probability of a report that makes a part of a worst case infinite: 64 units of a weight


def infinite(problem: Problem, finite: Callable[[Problem], Solution]) -> Solution | None:
    """A mechanism that is worth ∞, or one that makes some parts of a worst case infinite and is best for the others;
    None when no part can be infinite.

    Args:
        problem: any sum of column values, or the worst case of several.
        finite: solves the worst case of the other parts.
    """
    parts = parts_of(problem.utility)
    told = [excluding(problem.privacy, part) for part in parts]
    endless = [(part, matrix) for part, matrix in zip(parts, told, strict=True) if matrix is not None]
    if not endless:
        return None
    if len(endless) == len(parts):
        mixed = np.hstack([matrix for _, matrix in endless]) / len(endless)
        return Solution(Mechanism.from_matrix(mixed, problem.privacy, inputs=problem.inputs), math.inf, METHOD)
    rest = WorstCase([part for part, matrix in zip(parts, told, strict=True) if matrix is None])
    solution = finite(replace(problem, utility=rest))
    missing = [matrix for part, matrix in endless if not math.isinf(part(solution.mechanism))]
    mechanism = _extended(problem, solution.mechanism, missing)
    proofs = tuple(_among(proof, [matrix is None for matrix in told]) for proof in solution.proofs)
    return replace(solution, mechanism=mechanism, proofs=proofs)


def parts_of(utility: Utility) -> tuple[SumOfColumns, ...]:
    """The utilities of a worst case, or the utility itself."""
    parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
    sums = tuple(part for part in parts if isinstance(part, SumOfColumns))
    if len(sums) != len(parts):
        raise InvalidParameter(
            "the utility must be a sum over columns, or the worst of several", parameter="utility", value=utility
        )
    return sums


def excluding(privacy: Notion, utility: SumOfColumns) -> Floats | None:
    """A private mechanism that is worth ∞; None when there is none, or the kind of utility or notion is another."""
    if isinstance(utility, Average):
        found = (excluding(privacy, part) for part in utility.utilities)
        return next((matrix for matrix in found if matrix is not None), None)
    if isinstance(privacy, MetricPrivacy):
        groups = group_columns(privacy)
        return groups if math.isinf(float(utility.column_values(groups).sum())) else None
    if isinstance(privacy, PML | LIP) and isinstance(utility, Divergence):
        return _excluding_inputs(privacy, utility)
    return None


def _excluding_inputs(privacy: PML | LIP, utility: Divergence) -> Floats | None:
    occurs = _source(privacy).support()
    for likely, excluded in _sides(utility):
        told = [x for x in range(utility.k) if likely[x] and not excluded[x]]
        if any(not occurs[x] for x in told):
            return _naming(privacy, [])
        certain = [x for x, w in enumerate(excluded) if not w and occurs[x]]
        if told and _is_allowed(privacy, certain):
            return _naming(privacy, certain)
    return None


def _sides(utility: Divergence) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """(likely, excluded): a report that only the first makes possible is worth ∞."""
    first, second = utility.pair.p0.weights, utility.pair.p1.weights
    if math.isinf(utility.slope_at_infinity):
        yield first, second
    if math.isinf(utility.at_zero):
        yield second, first


def _source(privacy: PML | LIP) -> SourceClass:
    return privacy.source if isinstance(privacy, PML) else SourceClass([privacy.prior])


def _is_allowed(privacy: PML | LIP, certain: list[int]) -> bool:
    """Whether a report may be certain about a set of inputs: at the prior under which it is least likely."""
    inside, source = set(certain), _source(privacy)
    prior = source.extreme_prior([-int(x in inside) for x in range(source.k)])
    mass = sum(prior.weights[x] for x in certain)
    return mass == prior.total or (
        isinstance(privacy, PML) and mass > 0 and bool(privacy.exponential.at_least(prior.total, mass))
    )


def _naming(privacy: PML | LIP, certain: list[int]) -> Floats:
    """Inputs that never occur are named; the others report the set `certain` now and then, or nothing."""
    occurs = np.array(_source(privacy).support()) > 0
    free = np.flatnonzero(~occurs)
    matrix = np.zeros((occurs.size, 2 + free.size))
    if certain:
        matrix[certain, 0] = _SHARE * -math.expm1(-privacy.epsilon) if privacy.epsilon else _SHARE
    matrix[:, 1] = 1 - matrix[:, 0]
    matrix[free] = 0.0
    matrix[free, 2 + np.arange(free.size)] = 1.0
    return matrix[:, matrix.any(axis=0)]


def _extended(problem: Problem, mechanism: Mechanism, matrices: list[Floats]) -> Mechanism:
    """The mechanism, mixed with others to such an extent that each of their reports has some probability."""
    if not matrices:
        return mechanism.claiming(problem.privacy)
    spared = [Fraction(_SPARED / float(matrix[matrix > 0].min())) for matrix in matrices]
    weights: Any = np.array([[Fraction(w, DENOMINATOR) for w in row] for row in mechanism.weights.tolist()])
    others = [np.array([[Fraction(v) for v in row] for row in matrix.tolist()]) for matrix in matrices]
    shares = [share * other for share, other in zip(spared, others, strict=True)]
    matrix = np.hstack([(1 - sum(spared)) * weights, *shares])
    return Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs)


def _among(proof: Proof, chosen: list[bool]) -> Proof:
    """The proof about some parts of a worst case as one about all of them: the others have no weight in the mean."""
    if isinstance(proof, OnePrior):
        return replace(proof, proof=_among(proof.proof, chosen))
    if not isinstance(proof, Dual):
        raise TypeError(f"worst cases are proved over rays, not by {proof.kind}")
    weights = iter(proof.mix or (Fraction(1),))
    return replace(proof, mix=tuple(next(weights) if is_chosen else Fraction(0) for is_chosen in chosen))
