"""Privacy and a workload → the mechanism with the least n × mean squared error.

Which way is taken depends on what is asked (MATHS: optimal design of experiments):

| asked | way | proof |
|---|---|---|
| shares, all inputs alike | closed form: a block design or subset selection | counts |
| one statistic | intervals of values, to 40 values exactly; a grid and cells beyond | line |
| at most 14 inputs, after merging those that no statistic tells apart | all patterns, interior point | patterns |
| at most 60 inputs | column generation from random sets that the bound suggests | inequality |
| more, shares in up to three groups of equal probability | sets of a few types, counted in the groups | counts |
| more, other shares | subset selection, or a projective geometry on its first points | inequality |
| more, ordered | random-scale subset selection | inequality |
| PML, LIP, at most 12 inputs | all extreme columns | patterns |
| a class of priors | saddle point, at most 10 inputs; means over all priors: one bit | as above, at the worst prior |
| such a class that holds the uniform prior, shares | closed form: a block design or subset selection | counts |
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate import OnePrior, Proof
from extremal.errors import InvalidParameter
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution, decimals
from extremal.optimize.table import SIZES
from extremal.optimize.workload.generation.columns import generate
from extremal.optimize.workload.generation.copula import random_sets
from extremal.optimize.workload.generation.fewer import fewer_patterns
from extremal.optimize.workload.inequality import Inequality, best_inequality
from extremal.optimize.workload.interior import optimal_design
from extremal.optimize.workload.leakage import extreme_columns
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, all_sets, staircase_deviations
from extremal.optimize.workload.mechanisms import balanced, reduced, staircase_mechanism
from extremal.optimize.workload.merging import Merged, denominator_of, merged
from extremal.optimize.workload.minimax import saddle
from extremal.optimize.workload.notes import People, Precision
from extremal.optimize.workload.proofs import listed_patterns
from extremal.optimize.workload.structured.mean import (
    CELLS,
    cells_for,
    grid_columns,
    grid_for,
    on_grid,
    one_bit,
    one_bit_proof,
    one_statistic,
    rounded,
    rounding,
    sweep_proof,
)
from extremal.optimize.workload.structured.ordered import best_mixture, mixture_mechanism
from extremal.optimize.workload.structured.shares import many_shares
from extremal.optimize.workload.structured.symmetric import symmetric_mechanism, symmetric_proof
from extremal.privacy import LDP, LIP, PML, Notion
from extremal.sources import SourceClass
from extremal.utility import Frequencies, Mean, Workload

MOST_ON_A_LINE = 8.0  # ε: beyond, the line's floats run out of digits, and few values have all their patterns listed
AS_GOOD = 1e-7  # relative: closer to a bound nothing else is looked for
INWARD = Fraction(1, 10**11)  # of the way to the centre of a class, where rounding cannot leave it
BOUND_SECONDS = 60.0


def solve(problem: Problem, privacy: LDP, utility: Workload) -> Solution:
    """The best mechanism found under pure ε-LDP, and a proof of how good it is."""
    _refuse_nothing(privacy)
    return _finished(problem, utility, _under_ldp(problem, utility, privacy))


def by_lifts(problem: Problem, privacy: PML | LIP, utility: Workload) -> Solution:
    """The same under PML or LIP, for one prior."""
    _refuse_nothing(privacy)
    return _finished(problem, utility, _by_lifts(problem, utility, privacy))


def _refuse_nothing(privacy: Notion) -> None:
    if privacy.epsilon == 0:
        raise InvalidParameter(
            "at epsilon 0 the reports say nothing, and nothing can be estimated from them",
            parameter="epsilon",
            value=0,
            hint="Use ε > 0.",
        )


def _under_ldp(problem: Problem, utility: Workload, privacy: LDP) -> Solution:
    if utility.prior is None:
        return _minimax(problem, utility, privacy)
    prior = utility.prior.values
    if _alike(utility, prior):
        mechanism, method = symmetric_mechanism(utility.k, privacy, problem.inputs)
        if problem.max_outputs is None or mechanism.m <= problem.max_outputs or utility.k > SIZES.workload_patterns:
            return Solution(mechanism, math.nan, method, (symmetric_proof(utility.k),))
    groups = merged(utility.rows, prior)
    few = groups.prior.size <= SIZES.workload_patterns and (
        problem.max_outputs is not None or privacy.epsilon > MOST_ON_A_LINE
    )
    if utility.rows.shape[0] == 1 and not few:
        return _one_statistic(problem, utility, privacy, groups)
    if groups.prior.size <= SIZES.workload_patterns:
        return _all_patterns(problem, utility, privacy, groups)
    if groups.prior.size <= SIZES.workload_columns:
        return _by_columns(problem, utility, privacy, groups)
    if utility.k > SIZES.workload:
        raise InvalidParameter(
            f"this workload is designed for at most {SIZES.workload} different inputs",
            parameter="k",
            value=utility.k,
            hint="Group inputs into fewer bins, or ask for fewer thresholds or items.",
        )
    if isinstance(utility, Frequencies) and groups.whole:
        return many_shares(problem, utility, prior, privacy, *_seconds(problem, 0.4))
    return _ordered(problem, utility, prior, privacy)


def _alike(utility: Workload, prior: Floats) -> bool:
    return isinstance(utility, Frequencies) and utility.symmetric and len(set(prior.tolist())) == 1


def _spread(group: Any, whole: bool) -> Any:
    return None if whole else group


def _all_patterns(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    coordinates = Coordinates(groups.prior, groups.rows)
    sets = all_sets(groups.prior.size)
    points = coordinates.points(staircase_deviations(sets, groups.prior, math.expm1(privacy.epsilon)))
    found = optimal_design(points, coordinates.guarded)
    denominator = denominator_of(utility, groups)
    proof = listed_patterns(coordinates, found, denominator, groups.groups)
    theta = reduced(points, found.theta)
    mechanism = _staircase(problem, privacy, coordinates, sets, theta, groups)
    return Solution(mechanism, found.bound, _named("all patterns, interior point", groups), (proof,))


def _staircase(
    problem: Problem, privacy: LDP, coordinates: Coordinates, sets: Sets, theta: Floats, groups: Merged
) -> Mechanism:
    """The mechanism on these patterns, on fewer of them when `max_outputs` says so."""
    limit = problem.max_outputs
    if limit is not None and int((theta > 0).sum()) > limit:
        found = fewer_patterns(coordinates, sets, theta, math.expm1(privacy.epsilon), limit)
        if found is not None:
            sets, theta = found
    return staircase_mechanism(
        sets, theta, coordinates.prior, privacy, problem.inputs, _spread(groups.group, groups.whole)
    )


def _named(method: str, groups: Merged) -> str:
    return method if groups.whole else f"{method}; {groups.group.size} inputs merged into {groups.prior.size}"


def _by_columns(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    epsilon = privacy.epsilon
    coordinates = Coordinates(groups.prior, groups.rows)
    bound = best_inequality(coordinates, epsilon, *_seconds(problem, 0.3))
    if groups.whole and (response := _response(problem, utility, privacy, bound)) is not None:
        return response
    start = random_sets(coordinates, bound, epsilon, 40 * coordinates.k, np.random.default_rng(0))
    pool = generate(
        coordinates, math.expm1(epsilon), lambda: problem.out_of_time, problem.progress, extra=start, floor=bound.bound
    )
    points = coordinates.points(staircase_deviations(pool.sets, groups.prior, math.expm1(epsilon)))
    theta = reduced(points, pool.found.theta)
    mechanism = _staircase(problem, privacy, coordinates, pool.sets, theta, groups)
    proof = bound.proof(privacy, utility, groups.groups)
    return Solution(mechanism, bound.bound, _named("column generation", groups), (proof,))


def _response(problem: Problem, utility: Workload, privacy: LDP, bound: Inequality) -> Solution | None:
    """Randomised response where the bound says that nothing is better, as at large ε; else None."""
    mechanism = Mechanism.from_partition(range(utility.k), privacy, inputs=problem.inputs)
    if utility(mechanism) > bound.bound * (1 + AS_GOOD):
        return None
    return Solution(mechanism, bound.bound, "randomised response", (bound.proof(privacy, utility),))


def _ordered(problem: Problem, utility: Workload, prior: Floats, privacy: LDP) -> Solution:
    coordinates = Coordinates(prior, utility.rows)
    bound = best_inequality(coordinates, privacy.epsilon, *_seconds(problem, 0.4))
    if (response := _response(problem, utility, privacy, bound)) is not None:
        return response
    mixture = best_mixture(
        utility,
        prior,
        math.expm1(privacy.epsilon),
        lambda: problem.out_of_time,
        lambda gap: problem.progress("scales", gap),
    )
    mechanism = mixture_mechanism(mixture, privacy, problem.inputs)
    proof = bound.proof(privacy, utility)
    return Solution(mechanism, bound.bound, "random-scale subset selection", (proof,))


def _seconds(problem: Problem, share: float) -> tuple[float, None, Callable[[], float]]:
    """For `best_inequality`: a share of the time that is left, or seconds of the processor."""
    left = problem.seconds_left
    return (BOUND_SECONDS, None, time.process_time) if left is None else (share * left, None, time.monotonic)


def _one_statistic(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    epsilon = privacy.epsilon
    order = np.argsort(groups.rows[0], kind="stable")
    values, prior = groups.rows[0][order], groups.prior[order]
    place = np.argsort(order)[groups.group]  # of each input among the ascending values
    if values.size <= SIZES.values:
        design = one_statistic(values, prior, epsilon)
        matrix: Any = grid_columns(design, epsilon)[place]
        cells, levels, chosen = place, values, design
    else:
        grid = grid_for(values, prior, SIZES.values)
        above, shares = rounding(values, grid)
        design = one_statistic(grid, on_grid(prior, above, shares, grid.size), epsilon)
        coarse = Mechanism.from_matrix(grid_columns(design, epsilon), privacy=privacy)
        matrix = rounded(above, shares, coarse)[place]
        cell = cells_for(values, prior, CELLS)
        mass = np.asarray(np.bincount(cell, weights=prior), dtype=np.float64)
        levels = np.asarray(np.bincount(cell, weights=prior * values) / mass)
        chosen, cells = one_statistic(levels, mass, epsilon), cell[place]
    named = tuple(int(c) for c in cells)
    proof = sweep_proof(chosen, levels, groups=() if named == tuple(range(utility.k)) else named)
    mechanism = Mechanism.from_matrix(matrix, privacy=privacy, inputs=problem.inputs)
    return Solution(
        mechanism,
        chosen.bound,
        "intervals of values" if values.size <= SIZES.values else "rounding to a grid of values",
        (proof,),
    )


def _by_lifts(problem: Problem, utility: Workload, privacy: PML | LIP) -> Solution:
    if utility.prior is None or (isinstance(privacy, PML) and privacy.source.single is None):
        raise InvalidParameter(
            "under PML and LIP a workload is designed for one prior", parameter="prior", value=utility.source
        )
    prior = utility.prior.values
    if utility.k > SIZES.lift_columns or not privacy.prior.values.all() or not prior.all():
        raise InvalidParameter(
            f"under {privacy.name} a workload is designed for at most {SIZES.lift_columns} inputs, no prior zero",
            parameter="k",
            value=utility.k,
            hint="Group inputs into fewer bins, or use ex.LDP.",
        )
    columns = extreme_columns(privacy)
    lifts = columns / (prior @ columns)
    coordinates = Coordinates(prior, utility.rows)
    points = coordinates.points(lifts - 1)
    found = optimal_design(points, coordinates.guarded)
    theta = balanced(lifts, reduced(points, found.theta))
    matrix = lifts[:, theta > 0] * theta[theta > 0]
    mechanism = Mechanism.from_matrix(
        matrix / matrix.sum(axis=1, keepdims=True), privacy=privacy, inputs=problem.inputs
    )
    proof = listed_patterns(coordinates, found, Fraction(utility.exact_gram[1]))
    return Solution(mechanism, found.bound, "all extreme columns, interior point", (proof,))


def _minimax(problem: Problem, utility: Workload, privacy: LDP) -> Solution:
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
    if k > SIZES.minimax:
        raise InvalidParameter(
            f"the worst case over this class is designed for at most {SIZES.minimax} inputs",
            parameter="k",
            value=k,
            hint="Give one prior, group inputs, or ask for the frequencies over ex.SourceClass.simplex.",
        )
    found = saddle(utility.rows, source, privacy.epsilon, lambda: problem.out_of_time, problem.progress)
    points = found.coordinates.points(staircase_deviations(found.sets, found.prior, math.expm1(privacy.epsilon)))
    mechanism = staircase_mechanism(
        found.sets, reduced(points, found.found.theta), found.prior, privacy, problem.inputs
    )
    proof = listed_patterns(found.coordinates, found.found, Fraction(utility.exact_gram[1]))
    return Solution(mechanism, found.found.bound, "saddle point", (_at_prior(source, decimals(found.prior), proof),))


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


def _finished(problem: Problem, utility: Workload, solution: Solution) -> Solution:
    """At most `max_outputs` reports, or a clear refusal; and what the design means, for its summary."""
    limit = problem.max_outputs
    if limit is None or solution.mechanism.m <= limit:
        notes = (Precision(utility, solution.mechanism), People(utility, solution.mechanism))
        return replace(solution, notes=(*solution.notes, *notes))
    raise InvalidParameter(
        f"the best mechanism found for this workload has {solution.mechanism.m} reports",
        parameter="max_outputs",
        value=limit,
        hint="Ask for at least that many.",
    )
