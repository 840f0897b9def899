"""The least worst value over a class of priors: a saddle point.

g(p) = min over mechanisms of F(Q, p) is concave in p; at its maximum over the class the mechanism that is best for p is
best in the worst case wherever g is smooth: F(Q, ·) is concave, and its gradient at p, which is g's, points nowhere
further into the class. So g is maximised by mixing vertices of the class, each step an optimal design; the mechanism's
own worst prior is then found independently, and the gap between g(p) and that worst value is what is certified. Up to
ten inputs a design is over all patterns; beyond, patterns are generated at every prior that is met, and the matrix
inequality at the last one proves the bound. Means over all priors need one bit, and shares where the class holds the
uniform prior are a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from extremal.certificate import OnePrior, Proof
from extremal.errors import InvalidParameter
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution, decimals
from extremal.optimize.table import SIZES
from extremal.optimize.workload.generation import generate
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, all_sets, staircase_deviations
from extremal.optimize.workload.mechanisms import reduced, staircase_mechanism
from extremal.optimize.workload.proofs import listed_patterns
from extremal.optimize.workload.solve import finished, refuse_nothing
from extremal.optimize.workload.structured.mean import one_bit, one_bit_proof
from extremal.optimize.workload.structured.symmetric import symmetric_mechanism, symmetric_proof
from extremal.privacy import LDP
from extremal.sources import SourceClass
from extremal.utility import Frequencies, Mean, Workload
from extremal.utility.worst_prior import centre_of, reweighted

ROUNDS = 40  # a guard: each adds a vertex of the class
INWARD = Fraction(1, 10**11)  # of the way to the centre of a class, where rounding cannot leave it
LOOSE = 1e-6  # gap of a design on generated patterns: the bound is further away
CLOSE = 1e-7  # relative: no vertex of the class promises more
STEPS = 40  # of sequential quadratic programming between two vertices
FIRST_TURNS = 12  # of column generation at the centre of the class
TURNS = 4  # and at each other prior: the next one starts from what this one found
USED = 1e-7  # of the largest weight: patterns that are kept from one prior to the next
BOUND_SECONDS = 10.0  # of the processor for the matrix inequality at the last prior
FINISHING = 0.25  # of the time, for that


def solve(problem: Problem, privacy: LDP, utility: Workload) -> Solution:
    """The best mechanism in the worst case over a class of priors, under pure ε-LDP."""
    refuse_nothing(privacy)
    return finished(problem, utility, _in_worst_case(problem, utility, privacy))


def _in_worst_case(problem: Problem, utility: Workload, privacy: LDP) -> Solution:
    source, k = utility.source, utility.k
    if isinstance(utility, Mean) and source.kind == "simplex":
        bit = one_bit_proof(utility.values, privacy.epsilon)
        mechanism = Mechanism.from_matrix(
            one_bit(utility.values, privacy.epsilon), privacy=privacy, inputs=problem.inputs
        )
        return Solution(mechanism, math.nan, "closed form: one bit", (bit,))
    central = source.kind == "permutation_invariant" or source.admits(Prior([Fraction(1, k)] * k))
    if isinstance(utility, Frequencies) and utility.symmetric and central:
        mechanism, method = symmetric_mechanism(k, privacy, problem.inputs)
        return Solution(mechanism, math.nan, method, (_at_uniform(source, symmetric_proof(k)),))
    if k > SIZES.minimax_columns:
        raise InvalidParameter(
            f"the worst case over this class is designed for at most {SIZES.minimax_columns} inputs",
            parameter="k",
            value=k,
            hint="Give one prior, group inputs, or ask for the frequencies over ex.SourceClass.simplex.",
        )
    reached = saddle(utility.rows, source, privacy.epsilon, _before_the_end(problem), problem.progress)
    found = min(reached, key=lambda one: one.promised)
    if k <= SIZES.minimax:
        proof = listed_patterns(found.coordinates, found.found, Fraction(utility.exact_gram[1]))
        proved: Proof = _at_prior(source, decimals(found.prior), proof)
        return Solution(_mechanism(problem, privacy, found), found.found.bound, "saddle point", (proved,))
    tried = [_mechanism(problem, privacy, one) for one in dict.fromkeys((reached[0], found))]
    hardest = max(reached, key=lambda one: one.found.value)
    left = problem.seconds_left
    seconds = BOUND_SECONDS if left is None else min(BOUND_SECONDS, left)
    bound, prior = best_inequality(hardest.coordinates, privacy.epsilon, seconds), decimals(hardest.prior)
    proved = bound.proof(privacy, utility, within=lambda squares: _at_prior(source, prior, squares))
    return Solution(min(tried, key=utility), bound.bound, "saddle point, column generation", (proved,))


def _mechanism(problem: Problem, privacy: LDP, found: Saddle) -> Mechanism:
    points = found.coordinates.points(staircase_deviations(found.sets, found.prior, math.expm1(privacy.epsilon)))
    theta = reduced(points, found.found.theta, found.coordinates.guarded)
    return staircase_mechanism(found.sets, theta, found.prior, privacy, problem.inputs)


def _before_the_end(problem: Problem) -> Callable[[], bool]:
    """Whether the search must end, so that some time is left for a bound where all patterns do not prove it."""
    given = problem.seconds_left
    if problem.utility.k <= SIZES.minimax:
        return lambda: problem.out_of_time
    return lambda: problem.seconds_left is not None and problem.seconds_left <= FINISHING * (given or 0.0)


def _at_uniform(source: SourceClass, proof: Proof) -> OnePrior:
    """The proof at the uniform prior, exactly: a member of a list, or weights that are all one."""
    if source.kind in ("list", "ordered"):
        first = next(i for i, p in enumerate(source.priors) if len(set(p.weights)) == 1)
        return OnePrior((), tuple(Fraction(int(i == first)) for i in range(len(source.priors))), proof)
    return OnePrior((Fraction(1),) * source.k, (), proof)


def _at_prior(source: SourceClass, prior: tuple[Fraction, ...], proof: Proof) -> OnePrior:
    """The proof for one prior of the class: weights of a list's members, or probabilities moved inward beyond
    rounding."""
    from scipy.optimize import nnls

    if source.kind in ("list", "ordered"):
        hull = np.array([p.values for p in source.priors]).T
        weights = nnls(hull, np.array([float(p) for p in prior]))[0]
        return OnePrior((), decimals(weights / weights.sum()), proof)
    if source.kind == "simplex":
        return OnePrior(prior, (), proof)
    total = sum(prior)
    centre = SourceClass.simplex(source.k).member() if source.kind == "permutation_invariant" else source.member()
    inward = [float((1 - INWARD) * p / total + INWARD * centre.fraction(x)) for x, p in enumerate(prior)]
    return OnePrior(decimals(inward), (), proof)


@dataclass(frozen=True, eq=False)
class Saddle:
    """A worst prior as a mixture of vertices, and the best design at it."""

    prior: Floats
    coordinates: Coordinates
    found: OptimalDesign
    sets: Sets
    promised: float


def saddle(
    rows: Floats,
    source: SourceClass,
    epsilon: float,
    out_of_time: Callable[[], bool],
    tell: Callable[[str, float], None],
) -> list[Saddle]:
    """The designs met while g is maximised over the class, the first at its centre: on all patterns of a small
    alphabet, or on those that a search finds."""
    growth, few = math.expm1(epsilon), source.k <= SIZES.minimax
    sets = all_sets(source.k) if few else np.zeros((source.k, 0), dtype=np.bool_)

    def solved(prior: Floats) -> tuple[Coordinates, OptimalDesign, Floats]:
        coordinates = Coordinates(prior, rows)
        deviations = staircase_deviations(sets, prior, growth)
        found = optimal_design(coordinates.points(deviations), coordinates.guarded, 1e-9 if few else LOOSE)
        return coordinates, found, _gradient(coordinates, found, deviations, rows)

    corners, weights = [centre_of(source)], np.array([1.0])
    reached: list[Saddle] = []
    for _ in range(ROUNDS):
        prior = np.asarray(weights @ np.array(corners))
        if not few:
            sets = _generated(Coordinates(prior, rows), growth, out_of_time, sets, TURNS if reached else FIRST_TURNS)
        coordinates, found, gradient = solved(prior)
        linear, corner = source.worst_case(gradient)
        promised = max(0.0, linear - float(gradient @ prior)) / found.value
        tell("worst prior", promised)
        reached.append(Saddle(prior, coordinates, found, sets, promised))
        if promised <= CLOSE or out_of_time():
            break
        corners.append(corner)
        scale, table = found.value, np.array(corners)

        def negative(w: Floats, scale: float = scale, table: Floats = table) -> tuple[float, Floats]:
            if out_of_time():  # a flat end: the search stops where it is
                return 0.0, np.zeros_like(w)
            _, design, slope = solved(np.asarray(w @ table) / w.sum())
            return -design.value / scale, -(table @ slope - float(w @ table @ slope)) / scale

        weights = reweighted(negative, np.append(weights, 0.0), STEPS, 1e-12, 1e-10)
        used = weights > 0
        corners, weights = [c for c, u in zip(corners, used, strict=True) if u], weights[used]
    return reached


def _generated(
    coordinates: Coordinates, growth: float, out_of_time: Callable[[], bool], sets: Sets, turns: int
) -> Sets:
    """Patterns for the best design at a prior, those of the last prior among them."""
    pool = generate(coordinates, growth, out_of_time, lambda *_: None, extra=sets, rounds=turns)
    return pool.sets[:, pool.found.theta > USED * pool.found.theta.max()]


def _gradient(coordinates: Coordinates, found: OptimalDesign, deviations: Floats, rows: Floats) -> Floats:
    """∂F/∂p at fixed mechanism, up to a constant: Σ_y Q(y|x)|t_y|², Q(y|x) = θ_y(1 + D_y(x)), t_y = A_c Z D_y."""
    decoder = (rows - (rows @ coordinates.prior)[:, None]) @ coordinates.covariance(found.inverse)
    squares = ((decoder @ deviations) ** 2).sum(axis=0)
    return np.asarray((1 + deviations) @ (found.theta * squares))
